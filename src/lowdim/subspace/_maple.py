"""MaPle: all and only the maximal δ-pClusters, by depth-first search over sets of columns.

Rows O and columns T form a δ-pCluster if every 2 × 2 part has |(x_ia - x_ib) - (x_ja - x_jb)| ≤ δ. So for every pair
of columns, the differences x_a - x_b of the rows span at most δ: the rows lie in one window of the sorted differences.
The search extends a set of columns by later columns and keeps the maximal sets of rows: those of a set of columns, cut
by the windows of each new pair.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import SearchTooLarge
from lowdim.runtime.progress import report
from lowdim.subspace._windows import window_ends

__all__ = ["maximal_pclusters"]

Array = NDArray[Any]
RowSet = NDArray[np.intp]  # ascending
PCluster_ = tuple[RowSet, tuple[int, ...]]


class MapleSearch:
    """The search on one table."""

    def __init__(self, X: Array, delta: float, min_rows: int, min_columns: int, max_nodes: int) -> None:
        self.X, self.delta = X, delta
        self.min_rows, self.min_columns, self.max_nodes = min_rows, min_columns, max_nodes
        self.nodes = 0

    def run(self) -> Iterator[PCluster_]:
        """Every maximal δ-pCluster of at least min_rows × min_columns, once."""
        n, d = self.X.shape
        if n < self.min_rows or d < self.min_columns:
            return
        for first in range(d - self.min_columns + 1):
            yield from self._extend((first,), [np.arange(n)])

    def _extend(self, columns: tuple[int, ...], row_sets: list[RowSet]) -> Iterator[PCluster_]:
        """Maximal pClusters whose first columns are these; `row_sets` are the maximal sets of rows for them."""
        self._count_node(columns)
        later: dict[int, list[RowSet]] = {}
        for rows in row_sets:
            wider = {c: cut for c in range(columns[-1] + 1, self.X.shape[1]) if (cut := self._cut(rows, columns, c))}
            if len(columns) >= self.min_columns and not self._has_further_column(rows, columns):
                yield rows, columns
            if len(columns) + len(wider) < self.min_columns or self._is_covered(rows, columns, list(wider)):
                continue
            for c, cut in wider.items():
                later.setdefault(c, []).extend(cut)
        for c in sorted(later):
            yield from self._extend((*columns, c), _maximal_sets(later[c], len(self.X)))

    def _count_node(self, columns: tuple[int, ...]) -> None:
        self.nodes += 1
        report("MaPle: sets of columns", self.nodes, None, columns=len(columns))
        if self.nodes > self.max_nodes:
            raise SearchTooLarge(
                f"the search for δ-pClusters visited more than max_nodes={self.max_nodes} sets of columns. "
                "Lower delta, raise min_rows or min_columns, use fewer columns, or raise max_nodes."
            )

    def _cut(self, rows: RowSet, columns: tuple[int, ...], new: int) -> list[RowSet]:
        """The maximal parts of the rows that are a pCluster with one more column, of at least min_rows."""
        parts = [rows]
        for column in columns:
            parts = [cut for part in parts for cut in self._windows(part, column, new)]
        return parts

    def _windows(self, rows: RowSet, a: int, b: int) -> Iterator[RowSet]:
        """Maximal parts of the rows whose differences x_a - x_b span at most delta, of at least min_rows."""
        difference = self.X[rows, a] - self.X[rows, b]
        order = np.argsort(difference, kind="stable")
        ends = window_ends(difference[order], self.delta)
        longer = np.diff(ends, prepend=0) > 0  # not a part of the window before it
        for start in np.flatnonzero(longer & (ends - np.arange(len(ends)) >= self.min_rows)):
            yield np.sort(rows[order[start : ends[start]]])

    def _has_further_column(self, rows: RowSet, columns: tuple[int, ...]) -> bool:
        """Whether a column can be added: else the cluster is maximal, because no row can be added either.

        The sets of rows are maximal for their columns. One that is not, because a larger one was pruned, fits the
        earlier column for which that was pruned.
        """
        others = np.setdiff1d(np.arange(self.X.shape[1]), columns)
        return any(self._fits(rows, int(c), columns) for c in others)

    def _is_covered(self, rows: RowSet, columns: tuple[int, ...], possible: list[int]) -> bool:
        """Whether an earlier column fits these rows with their columns and with all that may follow.

        Then it fits every pCluster below, none of which is maximal.
        """
        earlier = (c for c in range(columns[-1]) if c not in columns)
        return any(self._fits(rows, c, (*columns, *possible)) for c in earlier)

    def _fits(self, rows: RowSet, new: int, columns: tuple[int, ...]) -> bool:
        """Whether the differences of a column from each of the others span at most delta."""
        for column in columns:
            difference = self.X[rows, new] - self.X[rows, column]
            if difference.max() - difference.min() > self.delta:
                return False
        return True


def maximal_pclusters(X: Array, delta: float, min_rows: int, min_columns: int, max_nodes: int) -> list[PCluster_]:
    """Rows and columns of every maximal δ-pCluster of at least min_rows × min_columns."""
    return list(MapleSearch(X, delta, min_rows, min_columns, max_nodes).run())


def _maximal_sets(row_sets: list[RowSet], n: int) -> list[RowSet]:
    """The sets that no other contains, each once."""
    kept: list[tuple[int, RowSet]] = []
    for rows in sorted(row_sets, key=len, reverse=True):
        mask = _bits(rows, n)
        if all(mask & ~other for other, _ in kept):
            kept.append((mask, rows))
    return [rows for _, rows in kept]


def _bits(rows: RowSet, n: int) -> int:
    flags = np.zeros(n, dtype=bool)
    flags[rows] = True
    return int.from_bytes(np.packbits(flags).tobytes(), "big")
