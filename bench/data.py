"""Benchmark data: MNIST if it is available, otherwise synthetic data of the same shape."""

from __future__ import annotations

import os
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
import scipy.sparse as sp

MNIST = Path(os.environ.get("LOWDIM_MNIST", Path(__file__).parents[2] / "shared" / "data" / "mnist.npz"))


@cache
def mnist() -> np.ndarray:
    """MNIST, 70,000 × 784, float32, values in 0…1."""
    if MNIST.exists():
        with np.load(MNIST) as archive:
            return archive["X"].astype(np.float32) / np.float32(255)
    return low_rank(70_000, 784)


def mnist_or_synthetic() -> str:
    return "MNIST" if MNIST.exists() else "synthetic data"


@cache
def low_rank(n: int, d: int, rank: int = 200, seed: int = 0) -> np.ndarray:
    """A low-rank matrix with a decaying spectrum plus noise, float32."""
    rng = np.random.default_rng(seed)
    left = rng.standard_normal((n, rank), dtype=np.float32) * (0.97 ** np.arange(rank, dtype=np.float32) * 3)
    X = left @ rng.standard_normal((rank, d), dtype=np.float32)
    X += rng.standard_normal((n, d), dtype=np.float32)
    return X + rng.standard_normal(d, dtype=np.float32)


@cache
def sparse_counts(n: int, d: int, density: float, seed: int = 0) -> sp.csr_matrix:
    """Word counts of documents drawn from a few topics; most entries are zero."""
    rng = np.random.default_rng(seed)
    topics = rng.gamma(0.1, size=(60, d))
    topics /= topics.sum(axis=1, keepdims=True)
    words = int(density * d)
    rows = [rng.choice(d, words, p=topics[t]) for t in rng.integers(0, 60, n)]
    indptr = np.arange(0, n * words + 1, words)
    counts = sp.csr_matrix((np.ones(n * words), np.concatenate(rows), indptr), shape=(n, d))
    counts.sum_duplicates()
    return counts


@cache
def tfidf(n: int, d: int, density: float) -> sp.csr_matrix:
    """TF-IDF weights of such documents, each of unit length."""
    from sklearn.feature_extraction.text import TfidfTransformer

    return TfidfTransformer().fit_transform(sparse_counts(n, d, density))


@cache
def mixture(n: int, d: int = 50, clusters: int = 100, seed: int = 0) -> np.ndarray:
    """A mixture of clusters near 8-dimensional subspaces, float32."""
    rng = np.random.default_rng(seed)
    centers = 5 * rng.standard_normal((clusters, d), dtype=np.float32)
    subspaces = rng.standard_normal((clusters, 8, d), dtype=np.float32)
    assigned = rng.integers(0, clusters, n)
    X = 0.3 * rng.standard_normal((n, d), dtype=np.float32)
    for cluster in range(clusters):
        rows = np.flatnonzero(assigned == cluster)
        X[rows] += centers[cluster] + rng.standard_normal((len(rows), 8), dtype=np.float32) @ subspaces[cluster]
    return X


@cache
def gaussian_clusters(n: int = 70_000, d: int = 100, clusters: int = 50, seed: int = 0) -> np.ndarray:
    """Gaussian clusters, each with a covariance of its own whose spectrum decays, float32."""
    rng = np.random.default_rng(seed)
    centers = 3 * rng.standard_normal((clusters, d), dtype=np.float32)
    scales = 0.3 * 0.93 ** np.arange(d, dtype=np.float32)[:, None]
    assigned = rng.integers(0, clusters, n)
    X = np.empty((n, d), dtype=np.float32)
    for cluster in range(clusters):
        rows = np.flatnonzero(assigned == cluster)
        axes = scales * rng.standard_normal((d, d), dtype=np.float32)
        X[rows] = centers[cluster] + rng.standard_normal((len(rows), d), dtype=np.float32) @ axes
    return X


@cache
def cells(n: int = 50_000, d: int = 200, types: int = 30, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Counts of genes in cells: a base rate per gene, types of cells, programs, and depths; 64% are 0. float32.

    With the types, (n,).
    """
    rng = np.random.default_rng(seed)
    base, by_type = rng.lognormal(-1, 1.5, d), rng.lognormal(0, 1, (types, d))
    programs = rng.gamma(0.3, 1, (8, d))
    strength = rng.gamma(0.7, 1, (n, 8))
    assigned = rng.integers(0, types, n)
    rates = base * by_type[assigned] * np.exp(0.25 * strength @ (programs - programs.mean(axis=0)))
    rates *= rng.lognormal(6, 0.5, (n, 1)) / rates.sum(axis=1, keepdims=True)
    return rng.poisson(rates * rng.gamma(3, 1 / 3, (n, d))).astype(np.float32), assigned


def gene_counts(n: int = 50_000, d: int = 200) -> np.ndarray:
    """The counts alone."""
    return cells(n, d)[0]


def memory_map(gigabytes: float, d: int = 784) -> np.ndarray:
    """A read-only memory map of synthetic rows; the file is written once and kept in the temporary folder."""
    n = int(gigabytes * 2**30 / (4 * d))
    path = Path(tempfile.gettempdir()) / f"lowdim-bench-{n}x{d}.npy"
    if not path.exists():
        out = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(n, d))
        block = low_rank(20_000, d)
        for start in range(0, n, len(block)):
            rows = block[: min(len(block), n - start)]
            out[start : start + len(rows)] = rows + np.float32(start % 7) / 100
        out.flush()
        del out
    return np.load(path, mmap_mode="r")
