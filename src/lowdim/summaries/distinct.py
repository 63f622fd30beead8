"""Rows that are there more than once, found by a mark of their values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim import _native
from lowdim.random import normal

__all__ = ["Distinct", "distinct_rows", "find_rows", "row_marks"]

Array = NDArray[Any]


@dataclass(frozen=True)
class Distinct:
    """Where each distinct row stands first, (m,), and which of them each row is, (n,)."""

    first: NDArray[np.int64]
    which: NDArray[np.int64]

    @property
    def all_different(self) -> bool:
        """Whether no row is there twice."""
        return len(self.first) == len(self.which)


def row_marks(X: Any, threads: int) -> NDArray[np.uint64]:
    """A 64-bit mark of every row's values, (n,); X may be sparse."""
    if sp.issparse(X):
        return _sparse_marks(X)
    marks = np.empty(len(X), dtype=np.uint64)
    _native.mark_rows(np.ascontiguousarray(X), marks, threads)
    return marks


def distinct_rows(X: Any, threads: int) -> Distinct:
    """The distinct rows of X, in the order in which they come."""
    n = X.shape[0]
    found, first, which = np.unique(row_marks(X, threads), return_index=True, return_inverse=True)
    if len(found) == n:
        everyone = np.arange(n)
        return Distinct(everyone, everyone)
    representative = first[which]
    again = np.flatnonzero(representative != np.arange(n))
    strangers = again[_differ(X[again], X[representative[again]])]  # another row with the same mark
    representative[strangers] = strangers
    first, which = np.unique(representative, return_inverse=True)
    return Distinct(first, which)


def find_rows(X: Any, among: Any, marks: Array, threads: int) -> NDArray[np.int64]:
    """For every row of X, the row of `among` (with these marks) that equals it, or -1."""
    order = np.argsort(marks, kind="stable")
    mine = row_marks(X, threads)
    place = np.minimum(np.searchsorted(marks[order], mine), len(marks) - 1)
    found = np.where(marks[order][place] == mine, order[place], -1)
    likely = np.flatnonzero(found >= 0)
    wrong = likely[_differ(X[likely], among[found[likely]])]
    found[wrong] = -1
    return found


def _differ(A: Any, B: Any) -> NDArray[np.bool_]:
    """Whether row i of A is another than row i of B, (m,)."""
    if not sp.issparse(A):
        return np.asarray((A != B).any(axis=1))
    return np.asarray((sp.csr_array(A) != sp.csr_array(B)).sum(axis=1)).ravel() > 0


def _sparse_marks(X: Any) -> NDArray[np.uint64]:
    """The bits of a random sum of every row's values, always added up in the order of the columns."""
    tidy = sp.csr_array(X, copy=True).astype(np.float64)
    tidy.sum_duplicates()
    sums = tidy @ normal((tidy.shape[1],), 0) + 0.0  # so that -0 is 0
    return np.asarray(sums, dtype=np.float64).view(np.uint64)
