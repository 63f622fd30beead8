"""Local neighborhoods (patches): Gram matrices of every row's neighbors, and what LLE's variants compute from them.

All local geometry is read off the inner products about the row itself, G (k, k), so that rows and given distances take
the same path. The small matrices are solved in native code, eight at a time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim import _native
from lowdim.data.validation import overflow_error
from lowdim.errors import BadInput
from lowdim.runtime.memory import require_memory
from lowdim.runtime.progress import report

__all__ = [
    "Neighborhoods",
    "local_grams",
    "local_grams_of_distances",
    "local_grams_of_sparse_rows",
    "reconstruction_weights",
    "sum_of_blocks",
]

Array = NDArray[Any]
Floats = NDArray[np.float64]

ROUNDING = 1e-12  # eigenvalues below this, relative to a neighborhood's largest, are rounding errors


@dataclass(frozen=True)
class Neighborhoods:
    """n neighborhoods: each row's neighbors, and their Gram matrices about the row."""

    indices: NDArray[np.int32]  # (n, k)
    grams: Floats  # (n, k, k)
    threads: int

    @property
    def n(self) -> int:
        """The number of rows, and of neighborhoods."""
        return int(self.indices.shape[0])

    @property
    def k(self) -> int:
        """The number of neighbors."""
        return int(self.indices.shape[1])

    @property
    def members(self) -> NDArray[np.int32]:
        """The row itself, then its neighbors, (n, k + 1)."""
        return np.column_stack([np.arange(self.n, dtype=np.int32), self.indices])

    def residual_operator(self, reg: float) -> sp.csr_array:
        """I - W, W the reconstruction weights: every row minus its reconstruction from its neighbors."""
        entries = np.column_stack([np.ones(self.n), -self.weights(reg)])
        starts = np.arange(self.n + 1, dtype=np.int32) * (self.k + 1)
        return sp.csr_array((entries.ravel(), self.members.ravel(), starts), shape=(self.n, self.n))

    def weights(self, reg: float) -> Floats:
        """The reconstruction weights of each row, (n, k)."""
        return reconstruction_weights(self.grams, reg, self.threads)

    def eigenpairs(self) -> tuple[Floats, Floats]:
        """Eigenvalues of G, descending, (n, k), and eigenvectors in columns, (n, k, k)."""
        return _batched_eigh(self.grams, self.threads)

    def tangent_coordinates(self, d: int) -> Floats:
        """Orthonormal coordinates of all members about their mean on the tangent space (local PCA), (n, k + 1, d).

        Where a neighborhood spans fewer than d dimensions, the others are 0. Coordinates are found among vectors that
        sum to zero.
        """
        balanced = scipy.linalg.helmert(self.k + 1).T  # (k + 1, k), orthonormal, columns that sum to zero
        inner = balanced[1:].T @ self.grams @ balanced[1:]  # the row itself is the origin
        values, vectors = _batched_eigh(np.ascontiguousarray(inner), self.threads)
        spanned = values[:, :d] > ROUNDING * np.maximum(values[:, :1], 0)
        return np.asarray(balanced @ (vectors[:, :, :d] * spanned[:, None, :]))


def local_grams(X: Array, centers: Array, indices: NDArray[np.int32], threads: int) -> Floats:
    """(x_a - c)·(x_b - c) for the neighbors a, b of every center c, (m, k, k)."""
    out = _allocate(indices)
    _native.local_grams(X, centers, indices, out, threads)
    if not np.isfinite(out).all():
        raise overflow_error()
    return out


def local_grams_of_sparse_rows(X: sp.csr_array, centers: sp.csr_array, indices: NDArray[np.int32]) -> Floats:
    """The same of sparse rows: each center and its neighbors are dense in the columns that one of them has."""
    out = _allocate(indices)
    for i, members in enumerate(indices):
        patch = sp.vstack([centers[[i]], X[members]], format="csr")
        used, columns = np.unique(patch.indices, return_inverse=True)
        near = np.zeros((len(members) + 1, max(len(used), 1)), dtype=X.dtype)
        near[np.repeat(np.arange(len(near)), np.diff(patch.indptr)), columns] = patch.data
        _native.local_grams(near[1:], near[:1], np.arange(len(members), dtype=np.int32)[None], out[i : i + 1], 1)
        report("Gram matrices of neighborhoods", i + 1, len(indices))
    if not np.isfinite(out).all():
        raise overflow_error()
    return out


def local_grams_of_distances(D: Array, center_distances: Array, indices: NDArray[np.int32]) -> Floats:
    """The same from distances: D (n, n) between the rows, `center_distances` (m, n) from the centers to them."""
    out = _allocate(indices)
    near = np.take_along_axis(center_distances, indices, axis=1).astype(np.float64) ** 2
    out[...] = D[indices[:, :, None], indices[:, None, :]]
    np.square(out, out=out)
    np.subtract(near[:, :, None] + near[:, None, :], out, out=out)
    out /= 2
    return np.asarray((out + out.transpose(0, 2, 1)) / 2)


def reconstruction_weights(grams: Floats, reg: float, threads: int) -> Floats:
    """Weights w = u / Σu, where (G + reg·trace(G) I) u = 1, (m, k)."""
    out = np.empty(grams.shape[:2])
    _native.reconstruction_weights(grams, reg, out, threads)
    return out


def sum_of_blocks(members: NDArray[np.int32], blocks: Floats, threads: int) -> sp.csr_array:
    """The alignment matrix Σᵢ Sᵢ Bᵢ Sᵢᵀ (n, n), sparse and sorted, with the same bits for any number of threads."""
    n = len(members)
    counts = np.empty(n, dtype=np.int32)
    _native.block_sum_counts(members, counts, threads)
    total = int(counts.sum(dtype=np.int64))
    if total >= 2**31:
        raise BadInput(
            f"{n} neighborhoods of {members.shape[1]} rows give {total} matrix entries, more than 2³¹. "
            "Use fewer rows or neighbors."
        )
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    columns, values = np.empty(total, dtype=np.int32), np.empty(total)
    _native.block_sum(members, np.ascontiguousarray(blocks), starts, columns, values, threads)
    return sp.csr_array((values, columns, starts), shape=(n, n))


def _batched_eigh(grams: Floats, threads: int) -> tuple[Floats, Floats]:
    """Descending eigenvalues (m, k) and eigenvectors in columns (m, k, k) of a stack of symmetric matrices."""
    values, vectors = np.empty(grams.shape[:2]), np.empty(grams.shape)
    _native.batched_eigh(grams, values, vectors, threads)
    return values, vectors.transpose(0, 2, 1)


def _allocate(indices: NDArray[np.int32]) -> Floats:
    """Memory for one Gram matrix per neighborhood, after a check that includes the blocks made of them."""
    m, k = indices.shape
    needed = 3 * 8 * m * (k + 1) ** 2
    require_memory(needed, f"{m} neighborhoods of {k} neighbors", "Use fewer neighbors, or fewer rows.")
    return np.empty((m, k, k))
