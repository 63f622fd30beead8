"""Rows that are there more than once, found by a mark of their values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim import _native

__all__ = ["Distinct", "Marks", "distinct_rows", "find_rows", "row_marks"]

Array = NDArray[Any]

COMPARED = 1 << 22  # values at a time


@dataclass(frozen=True)
class Distinct:
    """Where each distinct row stands first, (m,), ascending, and which of them each row is, (n,)."""

    first: NDArray[np.int64]
    which: NDArray[np.int64]

    @classmethod
    def everyone(cls, n: int) -> Self:
        """N rows, each of its own."""
        all_rows = np.arange(n)
        return cls(all_rows, all_rows)

    @property
    def all_different(self) -> bool:
        """Whether no row is there twice."""
        return len(self.first) == len(self.which)

    def followed_by(self, known: Array, others: Distinct) -> Distinct:
        """With more rows: those that are `known` here (else -1), and the `others` among the rest."""
        m, n, new = len(self.first), len(self.which), np.flatnonzero(known < 0)
        which = known.copy()
        which[new] = m + others.which
        return Distinct(np.concatenate([self.first, n + new[others.first]]), np.concatenate([self.which, which]))


def row_marks(X: Any, threads: int) -> NDArray[np.uint64]:
    """A 64-bit mark of every row's values, (n,): the same for a dense row and a sparse one without doubles."""
    marks = np.empty(X.shape[0], dtype=np.uint64)
    if sp.issparse(X):
        _native.hash_sparse_rows(X.indptr, X.indices, X.data, marks, threads)
    else:
        _native.hash_rows(np.ascontiguousarray(X), marks, threads)
    return marks


def distinct_rows(X: Any, threads: int) -> Distinct:
    """The distinct rows of X, in the order in which they come."""
    n = X.shape[0]
    found, first, which = np.unique(row_marks(X, threads), return_index=True, return_inverse=True)
    if len(found) == n:
        return Distinct.everyone(n)
    representative = first[which]
    again = np.flatnonzero(representative != np.arange(n))
    strangers = again[_differ(X, again, X, representative[again])]  # another row with the same mark
    representative[strangers] = strangers
    first, which = np.unique(representative, return_inverse=True)
    return Distinct(first, which)


@dataclass(frozen=True)
class Marks:
    """Marks of rows in ascending order, and which rows have them."""

    values: NDArray[np.uint64]
    rows: NDArray[np.int64]

    @classmethod
    def of(cls, X: Any, threads: int) -> Self:
        """Those of the rows of X."""
        marks = row_marks(X, threads)
        order = np.argsort(marks, kind="stable")
        return cls(marks[order], order)


def find_rows(X: Any, among: Any, marks: Marks, threads: int) -> NDArray[np.int64]:
    """For every row of X, the row of `among` (with these marks) that equals it, or -1."""
    mine = row_marks(X, threads)
    place = np.minimum(np.searchsorted(marks.values, mine), len(marks.values) - 1)
    found = np.where(marks.values[place] == mine, marks.rows[place], -1)
    likely = np.flatnonzero(found >= 0)
    found[likely[_differ(X, likely, among, found[likely])]] = -1
    return found


def _differ(A: Any, of_a: Array, B: Any, of_b: Array) -> NDArray[np.bool_]:
    """Whether rows of_a of A are other than rows of_b of B, some at a time; either may be sparse."""
    out = np.empty(len(of_a), dtype=bool)
    filled = -(-A.nnz // max(A.shape[0], 1)) if sp.issparse(A) else A.shape[1]
    step = max(1, COMPARED // max(filled, 1))
    for start in range(0, len(out), step):
        here = slice(start, start + step)
        a, b = A[of_a[here]], B[of_b[here]]
        if sp.issparse(a) != sp.issparse(b):
            a, b = sp.csr_array(a), sp.csr_array(b)
        out[here] = np.asarray((a != b).sum(axis=1)).ravel() > 0
    return out
