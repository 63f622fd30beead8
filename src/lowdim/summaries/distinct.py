"""Rows that are there more than once, found by a mark of their values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim import _native

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


def row_marks(X: Array, threads: int) -> NDArray[np.uint64]:
    """A 64-bit mark of every row's values, (n,)."""
    marks = np.empty(len(X), dtype=np.uint64)
    _native.mark_rows(np.ascontiguousarray(X), marks, threads)
    return marks


def distinct_rows(X: Array, threads: int) -> Distinct:
    """The distinct rows of X, in the order in which they come."""
    found, first, which = np.unique(row_marks(X, threads), return_index=True, return_inverse=True)
    if len(found) == len(X):
        everyone = np.arange(len(X))
        return Distinct(everyone, everyone)
    representative = first[which]
    again = np.flatnonzero(representative != np.arange(len(X)))
    strangers = again[(X[again] != X[representative[again]]).any(axis=1)]  # another row with the same mark
    representative[strangers] = strangers
    first, which = np.unique(representative, return_inverse=True)
    return Distinct(first, which)


def find_rows(X: Array, among: Array, marks: Array, threads: int) -> NDArray[np.int64]:
    """For every row of X, the row of `among` (with these marks) that equals it, or -1."""
    order = np.argsort(marks, kind="stable")
    mine = row_marks(X, threads)
    place = np.minimum(np.searchsorted(marks[order], mine), len(marks) - 1)
    found = np.where(marks[order][place] == mine, order[place], -1)
    likely = np.flatnonzero(found >= 0)
    wrong = likely[(X[likely] != among[found[likely]]).any(axis=1)]
    found[wrong] = -1
    return found
