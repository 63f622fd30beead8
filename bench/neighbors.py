"""Nearest-neighbor search against PyNNDescent and Faiss, and its scaling with the number of rows."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

import lowdim
from bench.case import Case, Contender, installed
from bench.data import mixture, mnist, mnist_or_synthetic

K = 15
THREADS = lowdim.config()["threads"]


@cache
def reduced() -> np.ndarray:
    """70,000 × 50: the principal components of MNIST."""
    return lowdim.PCA(50).fit_transform(mnist())


@cache
def _truth(rows: int, columns: int, address: int) -> tuple[np.ndarray, np.ndarray]:
    """Exact neighbors of a sample of rows, by brute force in float64."""
    X = _arrays[address]
    sample = np.random.default_rng(0).choice(rows, 300, replace=False)
    lists = []
    for i in sample:
        distances = ((X - X[i]) ** 2).sum(axis=1, dtype=np.float64)
        distances[i] = np.inf
        lists.append(np.argpartition(distances, K)[:K])
    return sample, np.array(lists)


_arrays: dict[int, np.ndarray] = {}


def recall(X: np.ndarray, indices: np.ndarray) -> dict[str, float]:
    """Recall on 300 rows; the lists of peers include the row itself."""
    _arrays[id(X)] = X
    sample, truth = _truth(*X.shape, id(X))
    lists = (indices[i][indices[i] != i][:K] for i in sample)
    found = [len(np.intersect1d(one, true)) for one, true in zip(lists, truth, strict=True)]
    return {"recall": float(np.mean(found)) / K}


def ours(algorithm: str) -> Contender:
    return Contender("lowdim", lambda X: lowdim.neighbors(X, K, algorithm=algorithm).indices, role="ours")


def faiss_flat(X: np.ndarray) -> np.ndarray:
    import faiss

    faiss.omp_set_num_threads(THREADS)
    index = faiss.IndexFlatL2(X.shape[1])
    index.add(np.ascontiguousarray(X))
    return index.search(np.ascontiguousarray(X), K + 1)[1]


def pynndescent(X: np.ndarray) -> np.ndarray:
    from pynndescent import NNDescent

    return NNDescent(X, n_neighbors=K + 1, n_jobs=THREADS, random_state=0).neighbor_graph[0]


def peers(*wanted: tuple[str, str, str, Any]) -> tuple[Contender, ...]:
    return tuple(Contender(name, run, package) for name, module, package, run in wanted if installed(module))


FAISS = ("faiss flat", "faiss", "faiss-cpu", faiss_flat)
DESCENT = ("pynndescent", "pynndescent", "pynndescent", pynndescent)


def good(quality: dict[str, float]) -> bool:
    return quality.get("recall", 0.0) >= 0.985  # the target is 0.99, measured on a sample


def approximate(d: int, source: str, rows: Callable[[], np.ndarray]) -> Case:
    return Case(
        f"neighbors-{d}",
        f"{K} neighbors, 70,000 × {d}, approximate ({source})",
        rows,
        (ours("approximate"), *peers(DESCENT)),
        recall,
        bar=1,
        good=good,
        repeats=3,
    )


def scaling(n: int) -> Case:
    return Case(
        f"neighbors-{n // 1000}k",
        f"{K} neighbors, {n:,} × 50 (synthetic), algorithm='auto': scaling",
        lambda: mixture(n),
        (ours("auto"),),
        recall,
        repeats=1,
    )


CASES = [
    Case(
        "neighbors-exact-50",
        f"{K} neighbors, 70,000 × 50, exact (PCA of {mnist_or_synthetic()})",
        reduced,
        (ours("exact"), *peers(FAISS)),
        recall,
        bar=2,
        repeats=2,
    ),
    approximate(50, f"PCA of {mnist_or_synthetic()}", reduced),
    approximate(784, mnist_or_synthetic(), mnist),
    scaling(10_000),
    scaling(300_000),
    scaling(1_000_000),
]
