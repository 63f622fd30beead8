"""Ownership of fitted rows: a model keeps a copy of its rows, unless nobody can change them.

Rows that a model keeps to embed new ones must not change when the caller later writes into X. So they are copied, once.
Two kinds of rows stay where they are: arrays that are read-only all the way down (the array and every array that it is
a view of), and memory maps, which may be larger than memory.
"""

from __future__ import annotations

import mmap
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.data.rows import ArrayRows, Rows, SparseRows
from lowdim.runtime.memory import require_memory

__all__ = ["canonical_csr", "compact_table", "dense_table", "frozen", "is_immutable", "owned"]

Array = NDArray[Any]
Table = Any  # an array, or a canonical CSR matrix

EXACT_BYTES = 2  # float32 holds integers of so many bytes exactly


def owned(table: Table, rows: Rows) -> Table:
    """The table of these rows as a model may keep it: itself, or a copy if the caller could write into it."""
    if sp.issparse(table):
        shared = isinstance(rows, SparseRows) and not rows.converted and np.may_share_memory(table.data, rows.X.data)
        fixed = all(is_immutable(part) for part in _parts(table))
    else:
        shared = table.base is not None or table is getattr(rows, "X", None)  # else it was made by a conversion
        fixed = is_immutable(table)
    if fixed or not shared:
        return frozen(table)
    needed = sum(part.nbytes for part in _parts(table))
    require_memory(needed, "a copy of the fitted rows", "Fit a read-only array or a memory map, which is not copied.")
    return frozen(table.copy())


def frozen(table: Table) -> Table:
    """A table of lowdim's own; the indices of a sparse one, which were checked, become read-only."""
    if sp.issparse(table):
        table.indices.flags.writeable = table.indptr.flags.writeable = False
    return table


def is_immutable(array: Array) -> bool:
    """Whether an array is a memory map, or read-only together with every array that it is a view of."""
    part: Any = array
    writable = False
    while isinstance(part, np.ndarray):
        writable = writable or part.flags.writeable
        part = part.base
    if isinstance(part, mmap.mmap):
        return True
    return not writable and (part is None or _is_read_only(part))


def dense_table(rows: Rows) -> Array:
    """All rows as one dense array of their dtype: where they lie if that is possible, else converted."""
    there = _in_place(rows, rows.dtype)
    if there is not None:
        return there
    needed = rows.count * rows.d * rows.dtype.itemsize
    require_memory(needed, f"a dense table of {rows.count} x {rows.d} values", "Reduce the columns by PCA first.")
    whole = rows.whole()
    return np.asarray(whole.toarray() if rows.sparse else whole)


def compact_table(rows: Rows) -> Table:
    """All rows as one table: integers of up to 16 bits in float32, sparse rows as canonical CSR."""
    source = rows.X if isinstance(rows, ArrayRows | SparseRows) else None
    short = source is not None and source.dtype.kind in "iub" and source.dtype.itemsize <= EXACT_BYTES
    dtype = np.dtype(np.float32) if short else rows.dtype
    if isinstance(rows, SparseRows):
        return canonical_csr(rows.X.astype(dtype, copy=False))
    there = _in_place(rows, dtype)
    if there is not None:
        return there
    require_memory(rows.count * rows.d * dtype.itemsize, "the table in memory", "Use fewer rows or columns.")
    return np.ascontiguousarray(source, dtype=dtype) if short else np.asarray(rows.whole())


def canonical_csr(X: Any) -> sp.csr_array:
    """Compressed sparse rows with ascending columns, each at most once per row, and no stored zeros."""
    if X.has_canonical_format and X.data.all():
        return sp.csr_array(X)
    own = sp.csr_array(X, copy=True)
    own.sum_duplicates()
    own.eliminate_zeros()
    return own


def _in_place(rows: Rows, dtype: np.dtype[Any]) -> Array | None:
    """The rows where they lie, if they are a C-ordered array of this dtype."""
    if not isinstance(rows, ArrayRows) or rows.X.dtype != dtype or not rows.X.flags.c_contiguous:
        return None
    return np.asarray(rows.X)


def _parts(table: Table) -> tuple[Array, ...]:
    return (table.data, table.indices, table.indptr) if sp.issparse(table) else (table,)


def _is_read_only(buffer: Any) -> bool:
    try:
        return memoryview(buffer).readonly
    except TypeError:  # an object that shows its memory through the array interface alone, as read-only
        return True
