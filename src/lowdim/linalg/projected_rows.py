"""Rows that are a projection of others: kept in memory, or made again whenever they are read."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.data.rows import ArrayRows, Block, Chunk, DerivedRows, Rows
from lowdim.linalg.centered import Centered
from lowdim.runtime.memory import available_bytes

__all__ = ["KEPT_SHARE", "KeptRows", "ProjectedRows", "projected_rows"]

Array = NDArray[Any]

KEPT_SHARE = 0.5  # of the free memory, up to which projected rows are kept


class ProjectedRows(DerivedRows):
    """P V (n, k) of centered rows P, made whenever they are read, in the blocks of the source."""

    def __init__(self, centered: Centered, V: Array, dtype: Any = None) -> None:
        self.source, self.n, self.d = centered.rows, centered.rows.n, V.shape[1]
        self.dtype = np.dtype(self.source.dtype if dtype is None else dtype)
        self._centered = replace(centered, threads=1)
        self._map = np.ascontiguousarray(V, dtype=self.source.dtype)

    @property
    def chunk_rows(self) -> int:
        """The number of rows in a block of the source."""
        return self.source.chunk_rows

    def derive(self, block: Block) -> Block:
        chunk = Chunk(0, block.shape[0], lambda: block)
        return self._centered.block_times(chunk, block, self._map).astype(self.dtype, copy=False)


class KeptRows(ArrayRows):
    """Rows made of those of a source and kept in memory, in the blocks of the source."""

    def __init__(self, Z: Array, source: Rows) -> None:
        super().__init__(Z)
        self._chunk_rows = source.chunk_rows

    @property
    def chunk_rows(self) -> int:
        """The number of rows in a block of the source."""
        return self._chunk_rows


def projected_rows(centered: Centered, V: Array, dtype: Any = None) -> Rows:
    """P V, kept if there is room for it twice; else every pass reads the rows again, on a cluster by its workers."""
    available, rows = available_bytes(), centered.rows
    itemsize = np.dtype(rows.dtype if dtype is None else dtype).itemsize
    if available is not None and 2 * rows.count * V.shape[1] * itemsize > KEPT_SHARE * available:
        return ProjectedRows(centered, V, dtype)
    return KeptRows(centered.times(V).astype(rows.dtype if dtype is None else dtype, copy=False), rows)
