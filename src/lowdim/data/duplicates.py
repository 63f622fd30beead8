"""Duplicate rows: found by a hash of their values, told apart by the values, and moved together in an embedding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim import _native
from lowdim.runtime.warning import warn

__all__ = ["DistinctRows", "RowHashes", "TiedRows", "average_tied", "distinct_rows", "find_rows", "row_hashes"]

Array = NDArray[Any]

COMPARED_VALUES = 1 << 22  # values compared at a time


@dataclass(frozen=True)
class DistinctRows:
    """The first occurrence of each distinct row, (m,), ascending, and the distinct row that each row is, (n,).

    These are the index and the inverse of `numpy.unique`, in the order in which the rows come.
    """

    first: NDArray[np.int64]
    inverse: NDArray[np.int64]

    @classmethod
    def all_of(cls, n: int) -> Self:
        """N rows that are all distinct."""
        numbers = np.arange(n)
        return cls(numbers, numbers)

    @property
    def all_distinct(self) -> bool:
        """Whether no row occurs twice."""
        return len(self.first) == len(self.inverse)

    def warn_of_shared_positions(self) -> None:
        """Say so if more than half of the rows are repeated: each distinct row has one position, however many it is."""
        m, n = len(self.first), len(self.inverse)
        if 2 * m < n:
            warn(
                f"{n - m} of {n} rows repeat another row and share its position: the embedding has {m} different "
                "points. Draw them with sizes or jitter, or drop the repeated rows."
            )

    def extended(self, known: Array, others: DistinctRows) -> DistinctRows:
        """With more rows: those that are `known` here (else -1), and the `others` among the rest."""
        m, n, new = len(self.first), len(self.inverse), np.flatnonzero(known < 0)
        inverse = known.copy()
        inverse[new] = m + others.inverse
        return DistinctRows(
            np.concatenate([self.first, n + new[others.first]]), np.concatenate([self.inverse, inverse])
        )


def row_hashes(X: Any, threads: int) -> NDArray[np.uint64]:
    """A 64-bit hash of every row's values, (n,): the same for a dense row and for a sparse one in canonical format."""
    hashes = np.empty(X.shape[0], dtype=np.uint64)
    if sp.issparse(X):
        _native.hash_sparse_rows(X.indptr, X.indices, X.data, hashes, threads)
    else:
        _native.hash_rows(np.ascontiguousarray(X), hashes, threads)
    return hashes


def distinct_rows(X: Any, threads: int) -> DistinctRows:
    """The distinct rows of X, in the order in which they come."""
    n = X.shape[0]
    hashes, first, inverse = np.unique(row_hashes(X, threads), return_index=True, return_inverse=True)
    if len(hashes) == n:
        return DistinctRows.all_of(n)
    representative = first[inverse]
    repeated = np.flatnonzero(representative != np.arange(n))
    collisions = repeated[_differ(X, repeated, X, representative[repeated])]  # other rows of the same hash
    representative[collisions] = collisions
    first, inverse = np.unique(representative, return_inverse=True)
    return DistinctRows(first, inverse)


@dataclass(frozen=True)
class RowHashes:
    """Hashes of rows in ascending order, and the rows that have them."""

    values: NDArray[np.uint64]
    rows: NDArray[np.int64]

    @classmethod
    def of(cls, X: Any, threads: int) -> Self:
        """Those of the rows of X."""
        hashes = row_hashes(X, threads)
        order = np.argsort(hashes, kind="stable")
        return cls(hashes[order], order)


def find_rows(X: Any, among: Any, hashes: RowHashes, threads: int) -> NDArray[np.int64]:
    """For every row of X, the row of `among` (with these hashes) that equals it, or -1."""
    own = row_hashes(X, threads)
    place = np.minimum(np.searchsorted(hashes.values, own), len(hashes.values) - 1)
    found = np.where(hashes.values[place] == own, hashes.rows[place], -1)
    likely = np.flatnonzero(found >= 0)
    found[likely[_differ(X, likely, among, found[likely])]] = -1
    return found


@dataclass(frozen=True)
class TiedRows:
    """Rows that occur more than once: their numbers, (t,), the group of each, (t,), and its size, (t,)."""

    rows: NDArray[np.int64]
    group: NDArray[np.int64]
    size: NDArray[np.int64]

    @classmethod
    def of(cls, inverse: NDArray[np.int64]) -> TiedRows | None:
        """Those among rows of which row i is the distinct row inverse[i]; None if there are none."""
        sizes = np.bincount(inverse)[inverse]
        rows = np.flatnonzero(sizes > 1)
        if not len(rows):
            return None
        return cls(rows, np.unique(inverse[rows], return_inverse=True)[1], sizes[rows])

    def average(self, values: NDArray[np.float32]) -> None:
        """Give every row the mean of its group, in place."""
        for axis in range(values.shape[1]):
            sums = np.bincount(self.group, values[self.rows, axis])
            values[self.rows, axis] = sums[self.group] / self.size


def average_tied(positions: NDArray[np.float32], inverse: NDArray[np.int64]) -> None:
    """Put rows that are one distinct row at one position, their mean, in place."""
    tied = TiedRows.of(inverse)
    if tied is not None:
        tied.average(positions)


def _differ(A: Any, of_a: Array, B: Any, of_b: Array) -> NDArray[np.bool_]:
    """Whether rows of_a of A differ from rows of_b of B, some at a time; either may be sparse."""
    out = np.empty(len(of_a), dtype=bool)
    filled = -(-A.nnz // max(A.shape[0], 1)) if sp.issparse(A) else A.shape[1]
    step = max(1, COMPARED_VALUES // max(filled, 1))
    for start in range(0, len(out), step):
        here = slice(start, start + step)
        a, b = A[of_a[here]], B[of_b[here]]
        if sp.issparse(a) != sp.issparse(b):
            a, b = sp.csr_array(a), sp.csr_array(b)
        different = a != b
        if not sp.issparse(a):
            different &= ~(np.isnan(a) & np.isnan(b))  # two missing values are equal
        out[here] = np.asarray(different.sum(axis=1)).ravel() > 0
    return out
