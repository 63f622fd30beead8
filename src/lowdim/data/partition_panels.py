"""The fold over groups of columns of partitions: workers cut their rows into columns, and join those of a group.

For tables of more columns than rows, whose n × n summaries are sums over columns. A few groups are made in a pass, as
many as have `PASS_BYTES`; every pass reads the partitions again, so that the table is nowhere as a whole.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lowdim.data.rows import Chunk, Rows
from lowdim.data.rows.base import Array, DerivedRows
from lowdim.data.rows.dask import DaskRows, compute, partition_block
from lowdim.runtime.blas import single_blas
from lowdim.runtime.progress import report

__all__ = ["fold_columns"]

PASS_BYTES = 512 << 20  # of columns that are cut in one pass, by all workers together


def fold_columns(
    rows: Rows, width: int, summarize: Callable[[int, Array], Any], merge: Callable[[Any, Any], Any] | None
) -> Any:
    """merge(merge(s₀, s₁), s₂) … of summarize(start, columns start … start + width - 1 of all rows), dense.

    Without `merge`, a list of s₀, s₁, s₂ …
    """
    from dask.delayed import delayed

    work = ColumnWork(rows, summarize, merge)
    groups = range(0, rows.d, width)
    at_once = max(1, PASS_BYTES // (width * work.source.count * rows.dtype.itemsize))
    joined, merged = delayed(ColumnWork.summary, pure=False), delayed(ColumnWork.merged, pure=False)
    total: Any = None
    listed: list[Any] = []
    for first in range(0, len(groups), at_once):
        report("reading columns", groups[first], rows.d)
        shared = delayed(work, pure=False, traverse=False)
        starts = list(groups[first : first + at_once])
        cuts = [(start, min(start + width, rows.d)) for start in starts]
        pieces = [
            delayed(ColumnWork.cut, pure=False)(shared, part, int(low), int(high), cuts)
            for part, low, high in zip(work.source.parts, work.source.bounds[:-1], work.source.bounds[1:], strict=True)
            if low < high
        ]
        summaries = [joined(shared, start, [piece[i] for piece in pieces]) for i, start in enumerate(starts)]
        if merge is None:
            listed += compute(*summaries)
            continue
        for summary in summaries:
            total = summary if total is None else merged(shared, total, summary)
        (total,) = compute(total)
    report("reading columns", rows.d, rows.d)
    return listed if merge is None else total


class ColumnWork:
    """What workers do with columns of their partitions; it is sent to them without any rows."""

    def __init__(self, rows: Rows, summarize: Callable[[int, Array], Any], merge: Any) -> None:
        self.derivations: list[DerivedRows] = []
        source = rows
        while isinstance(source, DerivedRows):
            self.derivations.insert(0, source)
            source = source.source
        assert isinstance(source, DaskRows)
        self.source, self.dtype, self.size = source, rows.dtype, rows.chunk_rows
        self._summarize, self._merge = summarize, merge

    def cut(self, part: Any, low: int, high: int, cuts: list[tuple[int, int]]) -> list[Array]:
        """These columns of rows low … high - 1, which are a partition, a block of rows at a time."""
        found = [np.empty((high - low, stop - start), dtype=self.dtype) for start, stop in cuts]
        for at in range(low, high, self.size):
            block = partition_block(part, at, min(at + self.size, high), low, self.source)
            chunk = Chunk(at, at + block.shape[0], lambda block=block: block)  # type: ignore[misc]
            for derived in self.derivations:
                chunk = derived.derived(chunk)
            block = chunk.load()
            for columns, (start, stop) in zip(found, cuts, strict=True):
                columns[at - low : at - low + len(block)] = block[:, start:stop]
        return found

    def summary(self, start: int, pieces: list[Array]) -> Any:
        """The summary of the columns from `start` on, of which every partition gives some rows."""
        with single_blas(), np.errstate(over="ignore", invalid="ignore"):
            return self._summarize(start, np.concatenate(pieces))

    def merged(self, a: Any, b: Any) -> Any:
        """The sum of two summaries; what a scheduler keeps is never changed."""
        return self._merge(np.array(a), b)
