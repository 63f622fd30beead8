"""The fold (map-reduce) over blocks of rows: summarize blocks in parallel, merge the summaries by a fixed binary tree.

A summary made by this fold works for rows of any source: arrays, files, streams, and the partitions of a Dask
collection, where workers summarize and merge. Blocks are those of `chunk_rows`, and node (level, j) of the tree is the
sum of blocks j·2^level … (j + 1)·2^level - 1, so that the bits of the result depend on the rows alone: not on who cuts
them, on the number of threads, or on the order in which partitions are finished.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from lowdim.data.rows import Block, Chunk, Rows
from lowdim.data.rows.base import DerivedRows
from lowdim.errors import BadInput
from lowdim.runtime.progress import report
from lowdim.runtime.threads import ordered_map

__all__ = ["BinaryCounter", "fold", "is_partitioned"]

Summary = TypeVar("Summary")


class BinaryCounter:
    """Merges summaries of consecutive blocks as a binary counter carries: few of them are held at once.

    Blocks 0 … 5 become ((0 + 1) + (2 + 3)) + (4 + 5); at most one summary of every power of two blocks waits.
    """

    def __init__(self, merge: Callable[[Any, Any], Any]) -> None:
        self._merge = merge
        self._waiting: list[tuple[int, Any]] = []  # level and summary, of falling levels

    def add(self, summary: Any, level: int = 0) -> None:
        """Add the summary of the next 2^level blocks, which begin at a multiple of their number."""
        while self._waiting and self._waiting[-1][0] == level:
            summary = self._merge(self._waiting.pop()[1], summary)
            level += 1
        self._waiting.append((level, summary))

    def total(self) -> Any:
        """The summary of all blocks; None if there are none."""
        total = None
        while self._waiting:
            waiting = self._waiting.pop()[1]
            total = waiting if total is None else self._merge(waiting, total)
        return total


def is_partitioned(rows: Rows) -> bool:
    """Whether the rows, or those that they are made of, lie in partitions that workers read."""
    while isinstance(rows, DerivedRows):
        rows = rows.source
    return rows.partitioned


def fold(
    rows: Rows,
    summarize: Callable[[Chunk, Block], Summary],
    merge: Callable[[Summary, Summary], Summary],
    threads: int,
    task: str = "reading rows",
) -> Summary:
    """The merged summary of all blocks, neighbors first: merge(merge(s₀, s₁), merge(s₂, s₃)) …; merge may change s₀."""
    if is_partitioned(rows):
        from lowdim.data.partition_fold import partition_fold  # imports dask

        return partition_fold(rows, summarize, merge, task)

    def work(chunk: Chunk) -> tuple[int, Summary]:
        with np.errstate(over="ignore", invalid="ignore"):  # overflow is detected in the summary
            return chunk.stop, summarize(chunk, chunk.load())

    counter = BinaryCounter(merge)
    for stop, part in ordered_map(work, rows.chunks(), threads):
        counter.add(part)
        report(task, stop, rows.n)
    total: Summary | None = counter.total()
    if total is None:
        raise BadInput("the table has no rows. Give at least one row.")
    return total
