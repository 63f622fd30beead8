"""Rows scaled to unit length, for cosine, correlation and Hellinger distances, computed block by block."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.data.rows import Block, Chunk, Rows, chunk_rows
from lowdim.data.validation import not_finite_error
from lowdim.distance.metrics import Metric
from lowdim.errors import BadInput
from lowdim.runtime.memory import require_memory
from lowdim.runtime.progress import report
from lowdim.runtime.threads import ordered_map

__all__ = ["dense_parts", "negative_shares_error", "table_of_blocks", "unit_rows"]

Array = NDArray[Any]


def unit_rows(rows: Rows, metric: Metric, threads: int, dtype: Any = np.float32) -> Array:
    """Rows scaled to unit length, with one more column that is 1 for a row without a direction and 0 for the others.

    A row without a direction (all zeros; for correlations, constant) is then at distance 1 from every row that has one,
    and at distance 0 from others without. For Hellinger distances, rows are replaced by their square roots first.
    """

    def normalize(block: Array) -> Array:
        wide = block.astype(np.float64)
        largest = np.abs(wide).max(axis=1, initial=0)
        wide /= np.where(largest > 0, largest, 1)[:, None]  # so that no square overflows
        if metric.root_rows:
            if (wide < 0).any():
                raise negative_shares_error()
            np.sqrt(wide, out=wide)
        if metric.centered_rows:
            wide -= wide.mean(axis=1, keepdims=True)
        length = np.sqrt(np.einsum("ij,ij->i", wide, wide))
        null = length <= 8 * np.finfo(np.float64).eps * np.sqrt(wide.shape[1])
        wide /= np.where(null, 1, length)[:, None]
        wide[null] = 0
        return np.column_stack([wide, null])

    return table_of_blocks(rows, rows.d + 1, threads, normalize, dtype)


def negative_shares_error() -> BadInput:
    """The error for values that are no shares."""
    return BadInput(
        "metric 'hellinger' compares shares of a whole, so that no value may be negative. Shift the columns, or choose "
        "another metric."
    )


def table_of_blocks(
    rows: Rows,
    columns: int,
    threads: int,
    convert: Callable[[Array], Array],
    dtype: Any = np.float32,
    *,
    missing: bool = False,
) -> Array:
    """A dense table (n, columns) of convert(block), computed block by block; NaN passes if values may be `missing`."""
    needed = np.dtype(dtype).itemsize * rows.count * columns
    require_memory(needed, f"a table of {rows.count} x {columns} values", "Use fewer rows or columns.")
    out = np.empty((rows.count, columns), dtype=dtype)

    def fill(chunk: Chunk) -> int:
        for start, dense in dense_parts(chunk.load()):
            if not (missing or np.isfinite(dense).all()) or np.isinf(dense).any():
                raise not_finite_error(rows, chunk)
            converted = convert(dense)
            if not (missing or np.isfinite(converted).all()):
                raise not_finite_error(rows, chunk)
            out[chunk.start + start : chunk.start + start + len(dense)] = converted
        return chunk.stop

    with np.errstate(over="ignore", invalid="ignore"):  # overflow is found, and named
        for stop in ordered_map(fill, rows.chunks(), threads):
            report("reading rows", stop, rows.n)
    return out


def dense_parts(block: Block) -> Iterator[tuple[int, Array]]:
    """A block as dense parts, each with its first row: a chunk of sparse rows may be far too long to be made dense."""
    if not sp.issparse(block):
        yield 0, np.asarray(block)
        return
    size = chunk_rows(block.shape[1], 8)
    for start in range(0, block.shape[0], size):
        yield start, np.asarray(block[start : start + size].toarray())
