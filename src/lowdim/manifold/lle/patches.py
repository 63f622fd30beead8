"""Patches: every row with its neighbours, what their small matrices give, and the sparse sum of one block a patch.

All local geometry is read off inner products taken from the row itself, G (k, k), so rows and given distances
go the same way. Small matrices are solved in native code, eight side by side.
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

__all__ = ["Patches", "add_blocks", "grams_of_distances", "grams_of_rows", "weights_of"]

Array = NDArray[Any]
Floats = NDArray[np.float64]

NOISE = 1e-12  # eigenvalues below this share of a patch's largest are rounding errors


@dataclass(frozen=True)
class Patches:
    """n patches: G (n, k, k) of the neighbours of each row, and who they are."""

    indices: NDArray[np.int32]  # (n, k)
    grams: Floats  # (n, k, k)
    threads: int

    @property
    def n(self) -> int:
        """The number of rows, and of patches."""
        return int(self.indices.shape[0])

    @property
    def k(self) -> int:
        """The number of neighbours."""
        return int(self.indices.shape[1])

    @property
    def members(self) -> NDArray[np.int32]:
        """The row itself, then its neighbours, (n, k + 1)."""
        return np.column_stack([np.arange(self.n, dtype=np.int32), self.indices])

    def root(self, reg: float) -> sp.csr_array:
        """I - W, W the weights: every row less what its neighbours make of it."""
        entries = np.column_stack([np.ones(self.n), -self.weights(reg)])
        starts = np.arange(self.n + 1, dtype=np.int32) * (self.k + 1)
        return sp.csr_array((entries.ravel(), self.members.ravel(), starts), shape=(self.n, self.n))

    def weights(self, reg: float) -> Floats:
        """The weights that make each row of its neighbours, (n, k)."""
        return weights_of(self.grams, reg, self.threads)

    def spectra(self) -> tuple[Floats, Floats]:
        """Eigenvalues of G, descending, (n, k), and eigenvectors in columns, (n, k, k)."""
        return eigen_of(self.grams, self.threads)

    def coordinates(self, d: int) -> Floats:
        """Orthonormal coordinates of all members about their mean, along the d widest directions, (n, k + 1, d).

        Where a patch has fewer directions than d, the others are 0. All are found among vectors that sum to zero.
        """
        balanced = scipy.linalg.helmert(self.k + 1).T  # (k + 1, k), orthonormal, columns that sum to zero
        inner = balanced[1:].T @ self.grams @ balanced[1:]  # the row itself stands at the origin
        values, vectors = eigen_of(np.ascontiguousarray(inner), self.threads)
        wide = values[:, :d] > NOISE * np.maximum(values[:, :1], 0)
        return np.asarray(balanced @ (vectors[:, :, :d] * wide[:, None, :]))


def grams_of_rows(X: Array, centres: Array, indices: NDArray[np.int32], threads: int) -> Floats:
    """(x_a - c)·(x_b - c) for the neighbours a, b of every centre, (m, k, k)."""
    out = _room(indices)
    _native.local_grams(X, centres, indices, out, threads)
    if not np.isfinite(out).all():
        raise overflow_error()
    return out


def grams_of_distances(D: Array, own: Array, indices: NDArray[np.int32]) -> Floats:
    """The same from distances: D (n, n) between the rows, `own` (m, n) from the centres to them."""
    out = _room(indices)
    near = np.take_along_axis(own, indices, axis=1).astype(np.float64) ** 2
    out[...] = D[indices[:, :, None], indices[:, None, :]]
    np.square(out, out=out)
    np.subtract(near[:, :, None] + near[:, None, :], out, out=out)
    out /= 2
    return np.asarray((out + out.transpose(0, 2, 1)) / 2)


def weights_of(grams: Floats, reg: float, threads: int) -> Floats:
    """Weights u / Σu, where (G + reg·trace(G)) u = 1, (m, k)."""
    out = np.empty(grams.shape[:2])
    _native.reconstruction_weights(grams, reg, out, threads)
    return out


def eigen_of(grams: Floats, threads: int) -> tuple[Floats, Floats]:
    """Descending eigenvalues (m, k) and eigenvectors in columns (m, k, k) of a stack of symmetric matrices."""
    values, vectors = np.empty(grams.shape[:2]), np.empty(grams.shape)
    _native.batched_eigh(grams, values, vectors, threads)
    return values, vectors.transpose(0, 2, 1)


def add_blocks(members: NDArray[np.int32], blocks: Floats, threads: int) -> sp.csr_array:
    """Σ over patches of the block on its members: (n, n), sparse, sorted, the same bits for any number of threads."""
    n = len(members)
    counts = np.empty(n, dtype=np.int32)
    _native.block_sum_counts(members, counts, threads)
    total = int(counts.sum(dtype=np.int64))
    if total >= 2**31:
        raise BadInput(f"{n} patches of {members.shape[1]} rows give {total} entries; use fewer rows or neighbours.")
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    columns, values = np.empty(total, dtype=np.int32), np.empty(total)
    _native.block_sum(members, np.ascontiguousarray(blocks), starts, columns, values, threads)
    return sp.csr_array((values, columns, starts), shape=(n, n))


def _room(indices: NDArray[np.int32]) -> Floats:
    """Memory for one matrix a patch, asked for with room for the blocks that are made of it."""
    m, k = indices.shape
    require_memory(3 * 8 * m * (k + 1) ** 2, f"{m} patches of {k} neighbours", "Use fewer neighbours, or fewer rows.")
    return np.empty((m, k, k))
