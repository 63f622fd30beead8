"""Distances between rows of a sample, exact and block by block."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lowdim.runtime.threads import ordered_map

__all__ = ["distances", "nearest"]

Array = NDArray[np.float64]

BLOCK_BYTES = 64 << 20


def distances(A: Array, B: Array) -> Array:
    """Euclidean distances, (len(A), len(B)), good to about 1e-8 of the rows' lengths."""
    return np.sqrt(_squared(A, B))


def nearest(X: Array, k: int, threads: int) -> tuple[NDArray[np.intp], Array]:
    """Numbers and distances of every row's k nearest others, nearest first; ties by number, (n, k) each."""
    n, d = X.shape
    wide = min(n - 1, k + 4)  # a few more, so that rounding of the products does not cost a neighbor
    size = max(1, min(256, BLOCK_BYTES // (8 * (d * wide + n))))

    def search(start: int) -> tuple[NDArray[np.intp], Array]:
        queries = X[start : start + size]
        rough = _squared(queries, X)
        rough[np.arange(len(queries)), np.arange(start, start + len(queries))] = np.inf
        found = np.sort(np.argpartition(rough, wide - 1, axis=1)[:, :wide], axis=1)
        # Differences keep the digits of small distances that products lose.
        apart = queries[:, None, :] - X[found]
        exact = np.sqrt(np.einsum("ijk,ijk->ij", apart, apart))
        order = np.argsort(exact, axis=1, kind="stable")[:, :k]
        return np.take_along_axis(found, order, axis=1), np.take_along_axis(exact, order, axis=1)

    parts = list(ordered_map(search, range(0, n, size), threads))
    return np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts])


def _squared(A: Array, B: Array) -> Array:
    lengths = np.einsum("ij,ij->i", A, A)[:, None] + np.einsum("ij,ij->i", B, B)
    squares: Array = np.maximum(lengths - 2 * (A @ B.T), 0)
    return squares
