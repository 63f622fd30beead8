"""The fold (map-reduce) over chunks of rows: summarize chunks in parallel, merge the summaries in row order.

A summary made by this fold works for rows of any source: arrays, files, streams.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from lowdim.data.rows import Block, Chunk, Rows
from lowdim.errors import BadInput
from lowdim.runtime.progress import report
from lowdim.runtime.threads import ordered_map

__all__ = ["fold"]

Summary = TypeVar("Summary")


def fold(
    rows: Rows,
    summarize: Callable[[Chunk, Block], Summary],
    merge: Callable[[Summary, Summary], Summary],
    threads: int,
    task: str = "reading rows",
) -> Summary:
    """merge(… merge(merge(s₁, s₂), s₃) …, s_m) of the summaries of the chunks, in row order."""

    def work(chunk: Chunk) -> tuple[int, Summary]:
        with np.errstate(over="ignore", invalid="ignore"):  # overflow is detected in the summary
            return chunk.stop, summarize(chunk, chunk.load())

    total: Summary | None = None
    for stop, part in ordered_map(work, rows.chunks(), threads):
        total = part if total is None else merge(total, part)
        report(task, stop, rows.n)
    if total is None:
        raise BadInput("there are 0 sample(s) in the data while a minimum of 1 is required.")
    return total
