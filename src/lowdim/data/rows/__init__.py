"""Rows, wherever they live: arrays, memory maps, sparse matrices, dataframes, streams of chunks.

`open_rows` turns any of them into `Rows`: n rows of d columns that come in blocks of a size that depends on their shape
alone, as C-ordered float32 or float64, never as one converted copy of the whole. Files are rows too (`data/io`).
"""

from __future__ import annotations

from lowdim.data.rows.base import Array, Block, Chunk, Rows, chunk_rows, first_nonfinite, float_dtype
from lowdim.data.rows.in_memory import ArrayRows, FrameRows, SparseRows
from lowdim.data.rows.stream import StreamRows, is_stream, open_rows

__all__ = [
    "Array",
    "ArrayRows",
    "Block",
    "Chunk",
    "FrameRows",
    "Rows",
    "SparseRows",
    "StreamRows",
    "chunk_rows",
    "first_nonfinite",
    "float_dtype",
    "is_stream",
    "open_rows",
]
