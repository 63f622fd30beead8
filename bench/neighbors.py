"""Nearest-neighbor search of dense rows against PyNNDescent and Faiss, and its scaling with the number of rows."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

import lowdim
from bench.case import Case, Contender, installed
from bench.clothes import clothes_images
from bench.data import gaussian_clusters, gene_counts, mixture, mnist, mnist_or_synthetic
from bench.worker import contender

K = 15
THREADS = lowdim.config()["threads"]
BEST = lowdim.config()["instruction set"]
LOWER_SETS = ("avx2",) if BEST == "avx512" else ()  # measured beside it, in processes of their own


@cache
def reduced() -> np.ndarray:
    """70,000 × 50: the principal components of MNIST."""
    return lowdim.PCA(50).fit_transform(mnist())


def log_counts() -> np.ndarray:
    """Logarithms of counts, as for single cells."""
    return np.log1p(gene_counts())


@cache
def _truth(rows: int, columns: int, address: int, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Exact neighbors of a sample of rows, by brute force in float64."""
    X = _arrays[address]
    sample = np.random.default_rng(0).choice(rows, 300, replace=False)
    lists = []
    for i in sample:
        distances = ((X - X[i]) ** 2).sum(axis=1, dtype=np.float64)
        distances[i] = np.inf
        lists.append(np.argpartition(distances, k)[:k])
    return sample, np.array(lists)


_arrays: dict[int, np.ndarray] = {}


def recall_at(k: int) -> Callable[[np.ndarray, np.ndarray], dict[str, float]]:
    """Recall on 300 rows; the lists of peers include the row itself."""

    def recall(X: np.ndarray, indices: np.ndarray) -> dict[str, float]:
        _arrays[id(X)] = X
        sample, truth = _truth(*X.shape, id(X), k)
        lists = (indices[i][indices[i] != i][:k] for i in sample)
        found = [len(np.intersect1d(one, true)) for one, true in zip(lists, truth, strict=True)]
        return {"recall": float(np.mean(found)) / k}

    return recall


def ours(algorithm: str, k: int = K) -> Contender:
    return Contender("lowdim", lambda X: lowdim.neighbors(X, k, algorithm=algorithm).indices, role="ours")


def faiss_flat(X: np.ndarray) -> np.ndarray:
    import faiss

    faiss.omp_set_num_threads(THREADS)
    index = faiss.IndexFlatL2(X.shape[1])
    index.add(np.ascontiguousarray(X))
    return index.search(np.ascontiguousarray(X), K + 1)[1]


def nn_descent(k: int, searched: int | None = None) -> Callable[[np.ndarray], np.ndarray]:
    """PyNNDescent as it is, or with longer lists, which is how its recall is raised."""

    def run(X: np.ndarray) -> np.ndarray:
        from pynndescent import NNDescent

        return NNDescent(X, n_neighbors=(searched or k) + 1, n_jobs=THREADS, random_state=0).neighbor_graph[0]

    return run


def peers(*wanted: tuple[str, str, str, Any]) -> tuple[Contender, ...]:
    return tuple(Contender(name, run, package) for name, module, package, run in wanted if installed(module))


FAISS = ("faiss flat", "faiss", "faiss-cpu", faiss_flat)


def descent(k: int, searched: int | None = None) -> tuple[str, str, str, Any]:
    name = "pynndescent" if searched is None else f"pynndescent, lists of {searched},"
    return name, "pynndescent", "pynndescent", nn_descent(k, searched)


def good(quality: dict[str, float]) -> bool:
    return quality.get("recall", 0.0) >= 0.985  # the target is 0.99, measured on a sample


def approximate(name: str, rows: Callable[[], np.ndarray], source: str, k: int = K, longer: int | None = None) -> Case:
    """One table; `longer` are lists with which PyNNDescent reaches the recall, where it misses it."""
    contenders = (descent(k),) if longer is None else (descent(k), descent(k, longer))
    sets = [contender(f"neighbors-{name}", one, BEST) for one in LOWER_SETS]
    return Case(
        f"neighbors-{name}",
        f"{k} neighbors, approximate: {source}",
        rows,
        (ours("approximate", k), *peers(*contenders), *sets),
        recall_at(k),
        quality_note="Peers with a recall below 0.985 are not compared with.",
        bar=2 if BEST == "avx512" else 1.5,
        good=good,
        repeats=3,
    )


def scaling(n: int) -> Case:
    return Case(
        f"neighbors-{n // 1000}k",
        f"{K} neighbors, {n:,} × 50 (synthetic), algorithm='auto': scaling",
        lambda: mixture(n),
        (ours("auto"),),
        recall_at(K),
        repeats=1,
    )


CASES = [
    Case(
        "neighbors-exact-50",
        f"{K} neighbors, 70,000 × 50, exact (PCA of {mnist_or_synthetic()})",
        reduced,
        (ours("exact"), *peers(FAISS)),
        recall_at(K),
        bar=2,
        repeats=2,
    ),
    approximate("50", reduced, f"70,000 × 50 (PCA of {mnist_or_synthetic()})"),
    approximate("784", mnist, f"70,000 × 784 ({mnist_or_synthetic()})"),
    approximate("clothes", clothes_images, "70,000 × 784 images of clothes (synthetic)"),
    approximate("gauss100", gaussian_clusters, "70,000 × 100, Gaussian clusters (synthetic)"),
    approximate("counts", gene_counts, "50,000 × 200 counts of genes (synthetic), heavy-tailed"),
    approximate("log-counts", log_counts, "50,000 × 200, logarithms of counts of genes (synthetic)", longer=30),
    approximate("k90", reduced, f"70,000 × 50 (PCA of {mnist_or_synthetic()})", k=90),
    scaling(10_000),
    scaling(100_000),
    scaling(1_000_000),
]
