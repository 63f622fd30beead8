"""The one fold over chunks of rows: summarize several at a time, merge in the order of the rows.

A summary that is made by this fold works wherever rows live: arrays, files, streams, a cluster.
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
    """merge(… merge(merge(s₁, s₂), s₃) …, s_m) of the chunks' summaries, in the order of the rows."""

    def work(chunk: Chunk) -> tuple[int, Summary]:
        with np.errstate(over="ignore", invalid="ignore"):  # what overflows is found in the summary, and named
            return chunk.stop, summarize(chunk, chunk.load())

    total: Summary | None = None
    for stop, part in ordered_map(work, rows.chunks(), threads):
        total = part if total is None else merge(total, part)
        report(task, stop, rows.n)
    if total is None:
        raise BadInput("there are 0 sample(s) in the data while a minimum of 1 is required.")
    return total
