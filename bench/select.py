"""Feature selection against skrebate's ReliefF, mrmr_selection and scikit-learn's mutual information."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from bench.case import Case, Contender, installed
from lowdim.select import MRMR, MutualInformation, ReliefF

N_NEIGHBORS = 10
K = 30
INFORMATIVE = 6  # of the first columns


@cache
def planted(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Normal columns; the classes depend on the first six, two of them only together."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    signal = X[:, 0] * X[:, 1] + X[:, 2:INFORMATIVE].sum(axis=1) + 0.5 * rng.standard_normal(n)
    return X, (signal > 0).astype(int)


@cache
def redundant(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Noisy copies of sixty columns, a third of which the classes depend on."""
    rng = np.random.default_rng(0)
    base = rng.standard_normal((n, 60))
    X = base[:, rng.integers(0, 60, d)] + 0.5 * rng.standard_normal((n, d))
    return X, (base[:, :20].sum(axis=1) > 0).astype(int)


def skrebate_relieff(data: Any) -> Any:
    import skrebate

    X, y = data
    return skrebate.ReliefF(n_neighbors=N_NEIGHBORS, n_jobs=-1).fit(X.copy(), y).feature_importances_


def mrmr_of_frames(data: Any) -> Any:
    import mrmr

    X, y = data
    return [int(j) for j in mrmr.mrmr_classif(X, y, K, show_progress=False)]


def relief_quality(data: Any, scores: Any) -> dict[str, float]:
    """The share of the informative columns among the first, and the largest difference from our own scores."""
    found = np.argsort(-np.asarray(scores))[:INFORMATIVE]
    ours = ReliefF(n_neighbors=N_NEIGHBORS).fit(*data).scores_
    return {"informative found": np.mean(found < INFORMATIVE), "difference": float(np.abs(scores - ours).max())}


def mrmr_quality(data: Any, order: Any) -> dict[str, float]:
    """The share of places with the same feature as ours."""
    ours = np.argsort(MRMR(K).fit(*data).ranking_)[:K]
    return {"same features": float(np.mean(ours == np.asarray(order)))}


def information_quality(data: Any, scores: Any) -> dict[str, float]:
    """The largest difference from our own estimates, in nats."""
    return {"difference": float(np.abs(scores - MutualInformation().fit(*data).scores_).max())}


def mutual_information_case(name: str, title: str, function: str, make: Any) -> Case:
    """The k-NN estimate of every column against y, all columns at once."""

    def theirs(data: Any) -> Any:
        from sklearn import feature_selection

        return getattr(feature_selection, function)(*data, discrete_features=False, random_state=0, n_jobs=-1)

    return Case(
        name, title, make,
        (
            Contender("lowdim", lambda data: MutualInformation().fit(*data).scores_, role="ours"),
            Contender("scikit-learn", theirs, "scikit-learn"),
        ),
        information_quality, "Both are the same estimates; scikit-learn adds noise of 1e-10 first.", bar=3, repeats=3,
    )  # fmt: skip


def response(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Normal columns, and a measurement that depends on the first six."""
    X, _ = planted(n, d)
    return X, X[:, 0] * X[:, 1] + X[:, 2:INFORMATIVE].sum(axis=1)


CASES = [
    mutual_information_case(
        "mutual-information",
        "mutual information by 3 neighbors (Kraskov), 10,000 × 50, y a measurement, float64 (synthetic)",
        "mutual_info_regression",
        lambda: response(10_000, 50),
    ),
    mutual_information_case(
        "mutual-information-classes",
        "mutual information by 3 neighbors (Ross), 10,000 × 50, 2 classes, float64 (synthetic)",
        "mutual_info_classif",
        lambda: planted(10_000, 50),
    ),
    Case(
        "relieff",
        f"ReliefF, 5,000 × 50, 2 classes, {N_NEIGHBORS} neighbors, float64 (synthetic)",
        lambda: planted(5000, 50),
        (
            Contender("lowdim", lambda data: ReliefF(n_neighbors=N_NEIGHBORS).fit(*data).scores_, role="ours"),
            *([Contender("skrebate", skrebate_relieff, "skrebate")] if installed("skrebate") else []),
        ),
        relief_quality, "Scores of both are the same numbers up to rounding.", bar=5, repeats=3, warm=False,
    ),
    Case(
        "mrmr",
        f"mRMR (F statistic, correlation, quotient), 10,000 × 500 → {K}, float64 (synthetic)",
        lambda: redundant(10_000, 500),
        (
            Contender("lowdim", lambda data: np.argsort(MRMR(K).fit(*data).ranking_)[:K], role="ours"),
            *(
                [
                    Contender(
                        "mrmr_selection", mrmr_of_frames, "mrmr_selection",
                        prepare=lambda data: (pd.DataFrame(data[0]), pd.Series(data[1])),
                    )
                ]
                if installed("mrmr")
                else []
            ),
        ),
        mrmr_quality, "Both select the same features in the same order.", bar=10, repeats=3,
    ),
]  # fmt: skip
