"""Rows as kernels read them: inner products and distances between two sets of rows, block by block.

Rows are dense or sparse. Those of a pair are of one kind: `PreparedRows.like` brings new rows into that of the fitted
ones. Inner products of sparse rows are products of sparse matrices, in double precision; what needs the values of every
column, such as χ² distances, makes a few rows dense at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.data.rows import chunk_rows
from lowdim.linalg.row_products import row_products
from lowdim.runtime.cached_property import cached_property

__all__ = ["DiagonalPairs", "PreparedRows", "RowPairs", "Table"]

Array = NDArray[Any]
Table = Any  # an array, or a canonical CSR matrix
SCIPY_NAMES = {"manhattan": "cityblock"}  # where they differ from ours


class PreparedRows:
    """Rows (n, d) with what kernels need of each one, computed once: unit rows and the factors of squared distances.

    Distances do not change when all rows are translated. About their mean they lose the fewest digits. With
    `centered`, inner products are taken about it as well. Sparse rows stay where they are, and their mean is
    subtracted from the products.
    """

    def __init__(self, rows: Table, origin: Array | None = None, *, centered: bool = False) -> None:
        self.rows, self.centered, self.sparse = rows, centered, sp.issparse(rows)
        self.n, self.dtype = rows.shape[0], rows.dtype
        self._origin = origin

    def like(self, new: Table) -> PreparedRows:
        """New rows, dense or sparse as these are, about the same origin."""
        if self.sparse and not sp.issparse(new):
            new = sp.csr_array(new)
        elif not self.sparse and sp.issparse(new):
            new = new.toarray()
        return PreparedRows(new, self.origin, centered=self.centered)

    @cached_property
    def origin(self) -> Array:
        """The point that distances are computed about, (d,): the mean of the rows, unless it was given."""
        if self._origin is not None:
            return self._origin
        return np.asarray(self.rows.mean(axis=0, dtype=np.float64)).ravel().astype(self.dtype)

    @cached_property
    def inner_product_rows(self) -> Array:
        """The dense rows that inner products are taken of, (n, d)."""
        return self.rows - self.origin if self.centered else self.rows

    @cached_property
    def wide(self) -> sp.csr_array:
        """Sparse rows in double precision."""
        return self.rows.astype(np.float64)

    @cached_property
    def squared_norms(self) -> NDArray[np.float64]:
        """|x|² of sparse rows, (n,)."""
        return np.asarray(self.wide.multiply(self.wide).sum(axis=1)).ravel()

    @cached_property
    def along_origin(self) -> NDArray[np.float64]:
        """xᵀo - |o|² / 2 of sparse rows x and the origin o, (n,): (x - o)ᵀ(y - o) is xᵀy less these two."""
        origin = self.origin.astype(np.float64)
        return np.asarray(self.wide @ origin - origin @ origin / 2)

    @cached_property
    def left_factor(self) -> Array:
        """(-2x, |x|², 1) about the origin: times the right factor it gives squared distances, (n, d + 2)."""
        there = self.__dict__.get("right_factor")  # new rows need the left factor alone
        return _left_factor(_right_factor(self.rows, self.origin) if there is None else there.copy())

    @cached_property
    def right_factor(self) -> Array:
        """(x, 1, |x|²) about the origin, (n, d + 2)."""
        return _right_factor(self.rows, self.origin)

    @cached_property
    def self_factors(self) -> tuple[Array, Array]:
        """Both factors for distances among these rows, without constant columns, which add nothing to them."""
        varying = (self.rows != self.rows[0]).any(axis=0)
        right = self.right_factor if varying.all() else _right_factor(self.rows[:, varying], self.origin[varying])
        return _left_factor(right.copy()), right

    @cached_property
    def unit_rows(self) -> Table:
        """Rows scaled to length one; a row of zeros stays, (n, d)."""
        if self.sparse:
            largest = _reciprocal(np.asarray(abs(self.wide).max(axis=1).toarray()).ravel())
            scaled = sp.diags_array(largest).tocsr() @ self.wide
            lengths = np.sqrt(np.asarray(scaled.multiply(scaled).sum(axis=1)).ravel())
            return sp.csr_array(sp.diags_array(_reciprocal(lengths)).tocsr() @ scaled)
        peaks = np.abs(self.rows).max(axis=1, keepdims=True)  # first, so that no square overflows or vanishes
        scaled = self.rows / np.where(peaks > 0, peaks, 1)
        norms = np.linalg.norm(scaled, axis=1, keepdims=True)
        return scaled / np.where(norms > 0, norms, 1)

    @cached_property
    def minimum(self) -> float:
        """The smallest value, and at most 0."""
        return float((self.rows.data if self.sparse else self.rows).min(initial=0))

    def dense(self, part: slice) -> Array:
        """Some of the rows as an array."""
        rows = self.rows[part]
        return np.asarray(rows.toarray() if self.sparse else rows)

    def dense_parts(self, part: slice) -> Iterator[tuple[slice, Array]]:
        """Some of the rows as arrays of a few megabytes, each with its place among them; dense rows as one array."""
        first, last, _ = part.indices(self.n)
        size = chunk_rows(self.rows.shape[1], 8) if self.sparse else max(1, last - first)
        for start in range(first, last, size):
            stop = min(start + size, last)
            yield slice(start - first, stop - first), self.dense(slice(start, stop))


@dataclass(frozen=True)
class RowPairs:
    """A block of pairs: some rows of X against some rows of Y. All results are (m, n) and computed at each call."""

    X: PreparedRows
    Y: PreparedRows
    rows_X: slice = field(default_factory=lambda: slice(None))
    rows_Y: slice = field(default_factory=lambda: slice(None))

    @property
    def inner_products(self) -> Array:
        """xᵀy."""
        if not self.X.sparse:
            return self._product(self.X.inner_product_rows, self.Y.inner_product_rows)
        out = self._sparse_product(self.X.wide, self.Y.wide)
        if self.X.centered:
            out -= self._sums(self.X.along_origin, self.Y.along_origin)
        return out.astype(self.X.dtype, copy=False)

    @property
    def cosine_similarities(self) -> Array:
        """xᵀy / (|x| |y|)."""
        if not self.X.sparse:
            return self._product(self.X.unit_rows, self.Y.unit_rows)
        return self._sparse_product(self.X.unit_rows, self.Y.unit_rows).astype(self.X.dtype, copy=False)

    @property
    def squared_distances(self) -> Array:
        """|x - y|²; exactly zero from a row to itself."""
        if self.X.sparse:
            wide = self._sparse_product(self.X.wide, self.Y.wide)
            wide *= -2
            wide += self._sums(self.X.squared_norms, self.Y.squared_norms)
            out = np.asarray(wide).astype(self.X.dtype, copy=False)
        elif self.X is not self.Y:
            out = self._product(self.X.left_factor, self.Y.right_factor)
        else:
            out = self._product(*self.X.self_factors)
        np.maximum(out, 0, out=out)
        if self.X is self.Y:
            self._clear_diagonal(out)
        return out

    @property
    def manhattan_distances(self) -> Array:
        """Σ |x - y|."""
        return self._cdist("cityblock")

    def distances(self, metric: Any) -> Array:
        """Distances by the name of a metric or by a function of two rows."""
        if isinstance(metric, str) and metric == "euclidean":
            return np.sqrt(self.squared_distances)
        return self._cdist(SCIPY_NAMES.get(metric, metric) if isinstance(metric, str) else metric)

    @property
    def chi2_distances(self) -> Array:
        """Σ (x - y)² / (x + y); zero where both are."""
        from sklearn.metrics.pairwise import additive_chi2_kernel

        return self.by_values(lambda x, y: -additive_chi2_kernel(x, y))

    def by_values(self, function: Callable[[Array, Array], Array]) -> Array:
        """function(x, y) of dense parts of both sides, which gives an array (m, n) for m and n rows."""
        first, last, _ = self.rows_X.indices(self.X.n)
        start, stop, _ = self.rows_Y.indices(self.Y.n)
        out = np.empty((max(0, last - first), max(0, stop - start)), dtype=self.X.dtype)
        for rows, x in self.X.dense_parts(self.rows_X):
            for columns, y in self.Y.dense_parts(self.rows_Y):
                out[rows, columns] = function(x, y)
        return out

    def _product(self, left: Array, right: Array) -> Array:
        if self.X is not self.Y:  # new rows, which must not depend on each other
            return row_products(left[self.rows_X], right[self.rows_Y].T)
        return left[self.rows_X] @ right[self.rows_Y].T

    def _sparse_product(self, left: Any, right: Any) -> NDArray[np.float64]:
        return np.asarray((left[self.rows_X] @ right[self.rows_Y].T.tocsr()).toarray())

    def _sums(self, left: Array, right: Array) -> Array:
        """One number per row on the left and one per row on the right, added for every pair."""
        return left[self.rows_X][:, None] + right[self.rows_Y]

    def _cdist(self, metric: Any) -> Array:
        from scipy.spatial.distance import cdist

        return self.by_values(lambda x, y: cdist(x, y, metric))

    def _clear_diagonal(self, out: Array) -> None:
        first, last, _ = self.rows_X.indices(self.X.n)
        start, stop, _ = self.rows_Y.indices(self.X.n)
        same = np.arange(max(first, start), min(last, stop))
        out[same - first, same - start] = 0


@dataclass(frozen=True)
class DiagonalPairs:
    """Every row against itself: the diagonal of `RowPairs(X, X)`, (n,)."""

    X: PreparedRows

    @property
    def inner_products(self) -> Array:
        """|x|²."""
        if not self.X.sparse:
            return np.einsum("ij,ij->i", self.X.inner_product_rows, self.X.inner_product_rows)
        squares = self.X.squared_norms - 2 * self.X.along_origin if self.X.centered else self.X.squared_norms
        return squares.astype(self.X.dtype)

    @property
    def cosine_similarities(self) -> Array:
        """One, or zero for a row of zeros."""
        return (self.X.squared_norms > 0 if self.X.sparse else self.X.rows.any(axis=1)).astype(self.X.dtype)

    @property
    def squared_distances(self) -> Array:
        """Zeros."""
        return np.zeros(self.X.n, dtype=self.X.dtype)

    manhattan_distances = chi2_distances = squared_distances

    def distances(self, metric: Any) -> Array:
        """Zeros."""
        return self.squared_distances


def _reciprocal(lengths: Array) -> NDArray[np.float64]:
    """1 / length, and 1 for a length of 0."""
    return 1 / np.where(lengths > 0, lengths, 1.0)


def _right_factor(rows: Array, origin: Array) -> Array:
    out = np.empty((len(rows), rows.shape[1] + 2), dtype=rows.dtype)
    centered = np.subtract(rows, origin, out=out[:, :-2])
    out[:, -2] = 1
    out[:, -1] = np.einsum("ij,ij->i", centered, centered)
    return out


def _left_factor(right: Array) -> Array:
    """The left factor in the memory of a right one."""
    np.multiply(right[:, :-2], -2, out=right[:, :-2])
    right[:, -2], right[:, -1] = right[:, -1], 1
    return right
