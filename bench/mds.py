"""Metric and nonmetric scaling against scikit-learn's SMACOF, and stochastic gradient descent on many rows."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

import numpy as np
from scipy.spatial.distance import pdist, squareform
from sklearn.isotonic import IsotonicRegression
from sklearn.manifold import smacof

from bench.case import Case, Contender, no_worse
from bench.data import mnist, mnist_or_made
from lowdim import MDS, NonmetricMDS

STEPS = 100


@cache
def distances(n: int) -> np.ndarray:
    """Euclidean distances of the first rows of MNIST, float64."""
    return squareform(pdist(mnist()[:n].astype(np.float64)))


def ours(cls: type, **options: Any) -> Contender:
    def run(D: np.ndarray) -> np.ndarray:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the steps are counted, not awaited
            return cls(metric="precomputed", max_iter=STEPS, tol=0.0, **options).fit(D).embedding_

    return Contender("lowdim", run, role="ours")


def sklearn_smacof(metric: bool) -> Contender:
    def run(D: np.ndarray) -> np.ndarray:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            options = {"n_init": 1, "max_iter": STEPS, "eps": 0.0, "random_state": 0, "normalized_stress": False}
            return smacof(D, metric=metric, n_components=2, **options)[0]

    return Contender("scikit-learn smacof", run, "scikit-learn")


def metric_stress(D: np.ndarray, Z: np.ndarray) -> dict[str, float]:
    """Stress-1 over the distances, at the map's own scale."""
    wanted, d = squareform(D, checks=False), pdist(Z)
    return {"stress-1": float(np.sqrt(((wanted - d) ** 2).sum() / (wanted**2).sum()))}


def nonmetric_stress(D: np.ndarray, Z: np.ndarray) -> dict[str, float]:
    """Kruskal's stress-1 of the best disparities."""
    wanted, d = squareform(D, checks=False), pdist(Z)
    gaps = d - IsotonicRegression().fit_transform(wanted, d)
    return {"stress-1": float(np.sqrt((gaps @ gaps) / (d @ d)))}


def by_sgd(X: np.ndarray) -> np.ndarray:
    return MDS(solver="sgd").fit(X).embedding_


def sampled_stress(X: np.ndarray, Z: np.ndarray) -> dict[str, float]:
    """Stress-1 on 2,000 of the rows."""
    some = slice(None, None, max(1, len(X) // 2000))
    wanted, d = pdist(X[some].astype(np.float64)), pdist(np.asarray(Z, dtype=np.float64)[some])
    return {"stress-1": float(np.sqrt(((wanted - d) ** 2).sum() / (wanted**2).sum()))}


CASES = [
    Case(
        "mds",
        f"metric MDS of 2,000 × 2,000 distances, {STEPS} steps ({mnist_or_made()})",
        lambda: distances(2000),
        (ours(MDS), sklearn_smacof(True)),
        metric_stress, bar=20, equal=no_worse(**{"stress-1": 0.01}), repeats=3,
    ),
    Case(
        "nonmetric-mds",
        f"nonmetric MDS of 2,000 × 2,000 distances, {STEPS} steps ({mnist_or_made()})",
        lambda: distances(2000),
        (ours(NonmetricMDS), sklearn_smacof(False)),
        nonmetric_stress, bar=50, equal=no_worse(**{"stress-1": 0.01}), repeats=1, warm=False,
    ),
    Case(
        "mds-sgd",
        f"metric MDS of 20,000 × 784 rows by stochastic descent, memory of the rows alone ({mnist_or_made()})",
        lambda: mnist()[:20_000],
        (Contender("lowdim", by_sgd, role="ours"),),
        sampled_stress, repeats=1,
    ),
]  # fmt: skip
