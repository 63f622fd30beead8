"""Nearest-neighbor search of sparse rows against scikit-learn's brute force and PyNNDescent, at several fills."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import scipy.sparse as sp

import lowdim
from bench.case import Case, Contender, installed
from bench.data import sparse_counts

K = 15
THREADS = lowdim.config()["threads"]
Search = Callable[[Any], np.ndarray]


def ours(metric: str, algorithm: str) -> Search:
    return lambda X: lowdim.neighbors(X, K, metric=metric, algorithm=algorithm).indices


def brute_force(metric: str) -> Search:
    from sklearn.neighbors import NearestNeighbors

    def run(X: Any) -> np.ndarray:
        search = NearestNeighbors(n_neighbors=K, metric=metric, algorithm="brute", n_jobs=THREADS)
        return search.fit(X).kneighbors()[1]

    return run


def nn_descent(metric: str) -> Search:
    def run(X: Any) -> np.ndarray:
        from pynndescent import NNDescent

        rows = X.astype(np.float32)
        return NNDescent(rows, metric=metric, n_neighbors=K + 1, n_jobs=THREADS, random_state=0).neighbor_graph[0]

    return run


@cache
def _truth(n: int, d: int, fill: float, metric: str) -> tuple[np.ndarray, np.ndarray]:
    """The distances of 200 rows to all others, and the k-th smallest of each, in float64."""
    from sklearn.metrics import pairwise_distances

    X = sparse_counts(n, d, fill)
    rows = np.arange(0, n, n // 200)
    D = pairwise_distances(X[rows], X, metric=metric)
    D[np.arange(len(rows)), rows] = np.inf
    return rows, D


def recall(n: int, d: int, fill: float, metric: str) -> Callable[[Any, np.ndarray], dict[str, float]]:
    """The share of neighbors no farther than the k-th (distances of counts have many ties), on 200 rows."""

    def measure(_: Any, indices: np.ndarray) -> dict[str, float]:
        rows, D = _truth(n, d, fill, metric)
        limit = np.sort(D, axis=1)[:, K - 1] + 1e-6
        lists = [indices[i][indices[i] != i][:K] for i in rows]
        return {"recall": float(np.mean([(D[r, one] <= limit[r]).mean() for r, one in enumerate(lists)]))}

    return measure


def exact(name: str, n: int, d: int, fill: float, metric: str) -> Case:
    return Case(
        f"neighbors-sparse-{name}",
        f"{K} neighbors, exact, {metric}: {n:,} × {d:,} counts, {100 * fill:.2g}% filled (synthetic)",
        lambda: sparse_counts(n, d, fill),
        (
            Contender("lowdim", ours(metric, "exact"), role="ours"),
            Contender("scikit-learn brute force", brute_force(metric), "scikit-learn"),
        ),
        recall(n, d, fill, metric),
        bar=1,
        good=lambda quality: quality["recall"] > 0.999,
        repeats=3,
    )


def large(n: int, d: int, fill: float, metric: str) -> Case:
    descent = Contender("pynndescent", nn_descent(metric), "pynndescent")
    return Case(
        "neighbors-sparse-auto",
        f"{K} neighbors, {metric}: {n:,} × {d:,} counts, {100 * fill:.2g}% filled (synthetic), algorithm='auto'",
        lambda: sparse_counts(n, d, fill),
        (
            Contender("lowdim", ours(metric, "auto"), role="ours"),
            *((descent,) if installed("pynndescent") else ()),
        ),
        recall(n, d, fill, metric),
        bar=1,
        good=lambda quality: quality["recall"] >= 0.98,
        repeats=2,
    )


def diagnosis() -> Case:
    def run(X: sp.csr_matrix) -> None:
        lowdim.diagnose(X)

    return Case(
        "diagnose-sparse",
        "diagnose, 3,000 × 20,000 counts, 63 per row (synthetic)",
        lambda: sparse_counts(3000, 20_000, 63 / 20_000),
        (Contender("lowdim", run, role="ours"),),
        lambda data, result: {},
        quality_note="The aim is 5 seconds.",
        repeats=1,
    )


CASES = [
    exact("0.01", 10_000, 50_000, 0.0001, "cosine"),
    exact("0.1", 10_000, 10_000, 0.001, "euclidean"),
    exact("0.3", 6000, 20_000, 63 / 20_000, "cosine"),
    exact("1", 20_000, 5000, 0.01, "cosine"),
    exact("10", 5000, 2000, 0.1, "euclidean"),
    large(20_000, 5000, 0.01, "cosine"),
    diagnosis(),
]
