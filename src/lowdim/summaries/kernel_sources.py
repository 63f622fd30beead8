"""Where the entries of a kernel matrix come from: a kernel evaluated on rows, or a matrix that is given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from lowdim.data.ownership import canonical_csr, dense_table
from lowdim.data.rows import Chunk, Rows, chunk_rows, open_rows
from lowdim.data.validation import not_finite_error
from lowdim.errors import BadInput, BadInputType
from lowdim.kernels import Kernel
from lowdim.kernels._row_blocks import PreparedRows, RowPairs, Table
from lowdim.runtime.progress import report

__all__ = [
    "ComputedKernel",
    "KernelSource",
    "MappedRows",
    "PrecomputedKernel",
    "cross_kernel",
    "finite_rows",
    "symmetric_matrix",
]

Array = NDArray[Any]

BLOCK = 512  # rows at a time


class KernelSource(Protocol):
    """A symmetric (n, n) matrix, read by blocks."""

    n: int
    dtype: np.dtype[Any]

    def block(self, rows: slice, columns: slice) -> Array:
        """A fresh array of these entries."""

    def diagonal(self) -> Array:
        """All diagonal entries, (n,)."""


class ComputedKernel:
    """Entries k(xᵢ, xⱼ), computed when they are read. Every γ of the kernel is a number.

    Where a translation of all rows changes nothing once the matrix is centered, as with the linear kernel, the entries
    are those of the rows about their mean: those of the rows themselves lose eps times the square of an offset.
    """

    def __init__(self, rows: Table, kernel: Kernel, origin: Array | None = None) -> None:
        self.rows, self.kernel = PreparedRows(rows, origin, centered=kernel.translation_invariant), kernel
        self.n, self.dtype = self.rows.n, self.rows.dtype
        self.block(slice(0, 1), slice(0, 1))  # fills the caches of the rows before threads share them

    def block(self, rows: slice, columns: slice) -> Array:
        return self.kernel.evaluate(RowPairs(self.rows, self.rows, rows, columns))

    def cross(self, new: Table) -> Array:
        """The cross-kernel matrix k(Y, X) of new rows Y, (m, n)."""
        return self.kernel.evaluate(RowPairs(self.rows.like(new), self.rows))

    def diagonal(self) -> Array:
        return self.kernel.diagonal(self.rows)

    def diagonal_of(self, new: Table) -> Array:
        """k(y, y) of new rows Y, (m,)."""
        return self.kernel.diagonal(self.rows.like(new))


class PrecomputedKernel:
    """Entries of a given matrix, or an elementwise function of them."""

    def __init__(self, matrix: Array, function: Callable[[Array], Array] | None = None) -> None:
        self.matrix, self.function = matrix, function
        self.n, self.dtype = len(matrix), matrix.dtype

    def block(self, rows: slice, columns: slice) -> Array:
        part = self.matrix[rows, columns]
        return part if self.function is None else self.function(part)

    def diagonal(self) -> Array:
        entries = np.diagonal(self.matrix)
        return entries if self.function is None else self.function(entries)


class MappedRows(Rows):
    """Rows (m, width) that a function computes from blocks of rows (m, d) and the index of each block's first row."""

    def __init__(self, rows: Rows, width: int, function: Callable[[Any, int], Array], *, missing: bool = False) -> None:
        self._rows, self._function, self._missing = rows, function, missing
        self.n, self.d, self.dtype = rows.n, width, rows.dtype

    @property
    def chunk_rows(self) -> int:
        """The maximum number of rows in a block, before and after the function."""
        made_dense = chunk_rows(self._rows.d, self.dtype.itemsize)  # as sparse rows may have to be
        return min(super().chunk_rows, self._rows.chunk_rows, made_dense)

    def block(self, start: int, stop: int) -> Array:
        new = self._rows.block(start, stop)
        values = new.data if self._rows.sparse else new
        if np.isinf(values).any() or (np.isnan(values).any() and not self._missing):
            raise not_finite_error(self._rows, Chunk(start, stop, lambda: new))
        return np.ascontiguousarray(self._function(new, start), dtype=self.dtype)


def cross_kernel(rows: Rows, source: ComputedKernel) -> MappedRows:
    """The cross-kernel matrix k(Y, X) of rows Y, (m, n), read in chunks."""
    return MappedRows(rows, source.n, lambda new, _: source.cross(new.astype(source.dtype, copy=False)))


def finite_rows(rows: Rows, *, missing: bool = False) -> Table:
    """All rows as one finite array, or a canonical CSR matrix, without a copy where the given one will do.

    Values of an array may be `missing` (NaN).
    """
    whole = canonical_csr(rows.whole()) if rows.sparse else dense_table(rows)
    if not missing or rows.sparse or np.isinf(whole).any():
        _require_finite(whole, rows)
    if not whole.shape[0]:
        raise BadInput("the table has no rows. Give at least one row.")
    return whole


def _require_finite(whole: Table, rows: Rows) -> None:
    n = whole.shape[0]
    for chunk in open_rows(whole).chunks():
        part = whole[chunk.start : chunk.stop]
        if not np.isfinite(part.data if rows.sparse else part).all():
            raise not_finite_error(rows, Chunk(0, n, lambda: whole))
        report("checking rows", chunk.stop, n)


def symmetric_matrix(rows: Rows, name: str) -> Array:
    """All rows as one array, which must be a finite symmetric matrix."""
    if rows.sparse:
        raise BadInputType(f"{name} must be dense; got a sparse matrix. Give X.toarray().")
    if rows.n != rows.d:
        raise BadInput(f"{name} must be square; got {rows.n} × {rows.d}.")
    whole = rows.whole()
    _require_finite(whole, rows)
    slack = 1e-5 * max(float(whole.max(initial=0.0)), -float(whole.min(initial=0.0)))
    for start in range(0, len(whole), BLOCK):
        cut = slice(start, start + BLOCK)
        if np.abs(whole[cut] - whole[:, cut].T).max(initial=0.0) > slack:
            raise BadInput(f"{name} must be symmetric; it is not. Use (X + X.T) / 2 if that is what is meant.")
    return whole
