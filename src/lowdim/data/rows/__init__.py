"""Rows of any source: arrays, memory maps, sparse matrices, dataframes, streams of chunks.

`open_rows` turns each of them into `Rows`: n rows × d columns, read in C-ordered float32 or float64 blocks. Block sizes
depend on the number of columns and the dtype only, and the whole is never converted at once. Files are rows too
(`data/io`).
"""

from __future__ import annotations

from lowdim.data.rows.base import (
    Array,
    Block,
    Chunk,
    DerivedRows,
    Rows,
    chunk_rows,
    column_ends,
    first_nonfinite,
    float_dtype,
)
from lowdim.data.rows.checks import checked_csr, memory_aligned, number_kind, unmasked
from lowdim.data.rows.in_memory import ArrayRows, FrameRows, SparseRows, as_frame
from lowdim.data.rows.stream import CountedRows, StreamRows, is_stream, joined_blocks, open_rows

__all__ = [
    "Array",
    "ArrayRows",
    "Block",
    "Chunk",
    "CountedRows",
    "DerivedRows",
    "FrameRows",
    "Rows",
    "SparseRows",
    "StreamRows",
    "as_frame",
    "checked_csr",
    "chunk_rows",
    "column_ends",
    "first_nonfinite",
    "float_dtype",
    "is_stream",
    "joined_blocks",
    "memory_aligned",
    "number_kind",
    "open_rows",
    "unmasked",
]
