"""Metric and nonmetric MDS against SMACOF of scikit-learn, and stochastic gradient descent for many rows."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

import numpy as np
from scipy.spatial.distance import pdist, squareform
from sklearn.isotonic import IsotonicRegression
from sklearn.manifold import smacof

from bench.case import Case, Contender, no_worse
from bench.data import mnist, mnist_or_synthetic
from lowdim import MDS, NonmetricMDS

ITERATIONS = 100


@cache
def distances(n: int) -> np.ndarray:
    """Euclidean distances between the first n rows of MNIST, float64."""
    return squareform(pdist(mnist()[:n].astype(np.float64)))


def ours(cls: type, **options: Any) -> Contender:
    def run(D: np.ndarray) -> np.ndarray:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a fixed number of iterations does not converge
            return cls(metric="precomputed", max_iter=ITERATIONS, tol=0.0, **options).fit(D).embedding_

    return Contender("lowdim", run, role="ours")


def sklearn_smacof(metric: bool) -> Contender:
    def run(D: np.ndarray) -> np.ndarray:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            options = {"n_init": 1, "max_iter": ITERATIONS, "eps": 0.0, "random_state": 0, "normalized_stress": False}
            return smacof(D, metric=metric, n_components=2, **options)[0]

    return Contender("scikit-learn smacof", run, "scikit-learn")


def metric_stress(D: np.ndarray, Z: np.ndarray) -> dict[str, float]:
    """Stress-1 relative to the given distances."""
    given, d = squareform(D, checks=False), pdist(Z)
    return {"stress-1": float(np.sqrt(((given - d) ** 2).sum() / (given**2).sum()))}


def nonmetric_stress(D: np.ndarray, Z: np.ndarray) -> dict[str, float]:
    """Kruskal's stress-1 with optimal disparities."""
    given, d = squareform(D, checks=False), pdist(Z)
    residuals = d - IsotonicRegression().fit_transform(given, d)
    return {"stress-1": float(np.sqrt((residuals @ residuals) / (d @ d)))}


def sgd(X: np.ndarray) -> np.ndarray:
    return MDS(solver="sgd").fit(X).embedding_


def sampled_stress(X: np.ndarray, Z: np.ndarray) -> dict[str, float]:
    """Stress-1 on about 2,000 rows."""
    sample = slice(None, None, max(1, len(X) // 2000))
    given, d = pdist(X[sample].astype(np.float64)), pdist(np.asarray(Z, dtype=np.float64)[sample])
    return {"stress-1": float(np.sqrt(((given - d) ** 2).sum() / (given**2).sum()))}


CASES = [
    Case(
        "mds",
        f"metric MDS, 2,000 × 2,000 distances, {ITERATIONS} iterations ({mnist_or_synthetic()})",
        lambda: distances(2000),
        (ours(MDS), sklearn_smacof(True)),
        metric_stress, bar=20, equal=no_worse(**{"stress-1": 0.01}), repeats=3,
    ),
    Case(
        "nonmetric-mds",
        f"nonmetric MDS, 2,000 × 2,000 distances, {ITERATIONS} iterations ({mnist_or_synthetic()})",
        lambda: distances(2000),
        (ours(NonmetricMDS), sklearn_smacof(False)),
        nonmetric_stress, bar=50, equal=no_worse(**{"stress-1": 0.01}), repeats=1, warm=False,
    ),
    Case(
        "mds-sgd",
        f"metric MDS by stochastic gradient descent, 20,000 × 784 → 2, in memory proportional to the rows "
        f"({mnist_or_synthetic()})",
        lambda: mnist()[:20_000],
        (Contender("lowdim", sgd, role="ours"),),
        sampled_stress, repeats=1,
    ),
]  # fmt: skip
