"""Rows as kernels read them: inner products and distances between two sets of rows, block by block."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.runtime.cached_property import cached_property

__all__ = ["DiagonalPairs", "PreparedRows", "RowPairs"]

Array = NDArray[Any]
SCIPY_NAMES = {"manhattan": "cityblock"}  # where they differ from ours


class PreparedRows:
    """Rows (n, d) with what kernels need of each one, computed once: unit rows and the factors of squared distances.

    Distances do not change when all rows are translated. About their mean they lose the fewest digits. With
    `centered`, inner products are taken about it as well.
    """

    def __init__(self, rows: Array, origin: Array | None = None, *, centered: bool = False) -> None:
        self.rows, self.centered = rows, centered
        self._origin = origin

    @cached_property
    def origin(self) -> Array:
        """The point that distances are computed about, (d,): the mean of the rows, unless it was given."""
        if self._origin is not None:
            return self._origin
        return self.rows.mean(axis=0, dtype=np.float64).astype(self.rows.dtype)

    @cached_property
    def inner_product_rows(self) -> Array:
        """The rows that inner products are taken of, (n, d)."""
        return self.rows - self.origin if self.centered else self.rows

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
    def unit_rows(self) -> Array:
        """Rows scaled to length one; a row of zeros stays, (n, d)."""
        largest = np.abs(self.rows).max(axis=1, keepdims=True)  # first, so that no square overflows or vanishes
        scaled = self.rows / np.where(largest > 0, largest, 1)
        lengths = np.linalg.norm(scaled, axis=1, keepdims=True)
        return scaled / np.where(lengths > 0, lengths, 1)


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
        return self._product(self.X.inner_product_rows, self.Y.inner_product_rows)

    @property
    def cosine_similarities(self) -> Array:
        """xᵀy / (|x| |y|)."""
        return self._product(self.X.unit_rows, self.Y.unit_rows)

    @property
    def squared_distances(self) -> Array:
        """|x - y|²; exactly zero from a row to itself."""
        if self.X is not self.Y:
            out = self._product(self.X.left_factor, self.Y.right_factor)
            return np.maximum(out, 0, out=out)
        out = self._product(*self.X.self_factors)
        np.maximum(out, 0, out=out)
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

        return -additive_chi2_kernel(self.X.rows[self.rows_X], self.Y.rows[self.rows_Y])

    @property
    def rows(self) -> tuple[Array, Array]:
        """The rows of both sides."""
        return self.X.rows[self.rows_X], self.Y.rows[self.rows_Y]

    def _product(self, left: Array, right: Array) -> Array:
        return left[self.rows_X] @ right[self.rows_Y].T

    def _cdist(self, metric: Any) -> Array:
        from scipy.spatial.distance import cdist

        return cdist(*self.rows, metric).astype(self.X.rows.dtype, copy=False)

    def _clear_diagonal(self, out: Array) -> None:
        n = len(self.X.rows)
        first, last, _ = self.rows_X.indices(n)
        start, stop, _ = self.rows_Y.indices(n)
        same = np.arange(max(first, start), min(last, stop))
        out[same - first, same - start] = 0


@dataclass(frozen=True)
class DiagonalPairs:
    """Every row against itself: the diagonal of `RowPairs(X, X)`, (n,)."""

    X: PreparedRows

    @property
    def inner_products(self) -> Array:
        """|x|²."""
        return np.einsum("ij,ij->i", self.X.inner_product_rows, self.X.inner_product_rows)

    @property
    def cosine_similarities(self) -> Array:
        """One, or zero for a row of zeros."""
        return self.X.rows.any(axis=1).astype(self.X.rows.dtype)

    @property
    def squared_distances(self) -> Array:
        """Zeros."""
        return np.zeros(len(self.X.rows), dtype=self.X.rows.dtype)

    manhattan_distances = chi2_distances = squared_distances

    def distances(self, metric: Any) -> Array:
        """Zeros."""
        return self.squared_distances


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
