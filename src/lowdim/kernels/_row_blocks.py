"""Rows as kernels see them: what two sets of rows have in common is computed once, tile by tile."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Diagonal", "Pair", "Points"]

Array = NDArray[Any]
SCIPY_NAMES = {"manhattan": "cityblock"}  # where they differ from ours


class Points:
    """Rows (n, d) with what kernels ask of each: its length, itself about a common point, its direction.

    Distances do not change when all rows are moved; near their mean they cancel least.
    """

    def __init__(self, rows: Array, shift: Array | None = None) -> None:
        self.rows = rows
        self._shift = shift

    @cached_property
    def shift(self) -> Array:
        """The point that distances are computed about, (d,)."""
        if self._shift is not None:
            return self._shift
        return self.rows.mean(axis=0, dtype=np.float64).astype(self.rows.dtype)

    @cached_property
    def left(self) -> Array:
        """(-2x, |x|², 1) about the shift: its product with `right` is a squared distance, (n, d + 2)."""
        return _left(self.right)

    @cached_property
    def right(self) -> Array:
        """(x, 1, |x|²) about the shift, (n, d + 2)."""
        return _right(self.rows, self.shift)

    @cached_property
    def inward(self) -> tuple[Array, Array]:
        """Left and right for distances among these rows, to which columns that never change add nothing."""
        varying = (self.rows != self.rows[0]).any(axis=0)
        right = self.right if varying.all() else _right(self.rows[:, varying], self.shift[varying])
        return _left(right), right

    @cached_property
    def unit(self) -> Array:
        """Rows scaled to length one; a row of zeros stays, (n, d)."""
        largest = np.abs(self.rows).max(axis=1, keepdims=True)  # first, so that no square overflows or vanishes
        scaled = self.rows / np.where(largest > 0, largest, 1)
        lengths = np.linalg.norm(scaled, axis=1, keepdims=True)
        return scaled / np.where(lengths > 0, lengths, 1)


@dataclass(frozen=True)
class Pair:
    """Some rows of one set against some of another; everything is (m, n), computed anew at each call."""

    a: Points
    b: Points
    rows_a: slice = field(default_factory=lambda: slice(None))
    rows_b: slice = field(default_factory=lambda: slice(None))

    @property
    def dots(self) -> Array:
        """Inner products."""
        return self._product(self.a.rows, self.b.rows)

    @property
    def cosines(self) -> Array:
        """Inner products of the directions."""
        return self._product(self.a.unit, self.b.unit)

    @property
    def squares(self) -> Array:
        """Squared Euclidean distances; exactly zero from a row to itself."""
        if self.a is not self.b:
            out = self._product(self.a.left, self.b.right)
            return np.maximum(out, 0, out=out)
        out = self._product(*self.a.inward)
        np.maximum(out, 0, out=out)
        self._clear_diagonal(out)
        return out

    @property
    def magnitudes(self) -> Array:
        """Sums of absolute differences."""
        return self._cdist("cityblock")

    def distances(self, metric: Any) -> Array:
        """Distances by their name or by a function of two rows."""
        if isinstance(metric, str) and metric == "euclidean":
            return np.sqrt(self.squares)
        return self._cdist(SCIPY_NAMES.get(metric, metric) if isinstance(metric, str) else metric)

    @property
    def chi_squares(self) -> Array:
        """Σ (x - y)² / (x + y); zero where both are."""
        from sklearn.metrics.pairwise import additive_chi2_kernel

        return -additive_chi2_kernel(self.a.rows[self.rows_a], self.b.rows[self.rows_b])

    @property
    def each(self) -> tuple[Array, Array]:
        """The rows themselves."""
        return self.a.rows[self.rows_a], self.b.rows[self.rows_b]

    def _product(self, left: Array, right: Array) -> Array:
        return left[self.rows_a] @ right[self.rows_b].T

    def _cdist(self, metric: Any) -> Array:
        from scipy.spatial.distance import cdist

        return cdist(*self.each, metric).astype(self.a.rows.dtype, copy=False)

    def _clear_diagonal(self, out: Array) -> None:
        n = len(self.a.rows)
        first, last, _ = self.rows_a.indices(n)
        start, stop, _ = self.rows_b.indices(n)
        same = np.arange(max(first, start), min(last, stop))
        out[same - first, same - start] = 0


@dataclass(frozen=True)
class Diagonal:
    """Every row against itself: what a Pair has on its diagonal, (n,)."""

    a: Points

    @property
    def dots(self) -> Array:
        """Squared lengths."""
        return np.einsum("ij,ij->i", self.a.rows, self.a.rows)

    @property
    def cosines(self) -> Array:
        """One, or zero for a row of zeros."""
        return self.a.rows.any(axis=1).astype(self.a.rows.dtype)

    @property
    def squares(self) -> Array:
        """Zeros."""
        return np.zeros(len(self.a.rows), dtype=self.a.rows.dtype)

    magnitudes = chi_squares = squares

    def distances(self, metric: Any) -> Array:
        """Zeros."""
        return self.squares


def _right(rows: Array, shift: Array) -> Array:
    out = np.empty((len(rows), rows.shape[1] + 2), dtype=rows.dtype)
    centred = np.subtract(rows, shift, out=out[:, :-2])
    out[:, -2] = 1
    out[:, -1] = np.einsum("ij,ij->i", centred, centred)
    return out


def _left(right: Array) -> Array:
    out = np.empty_like(right)
    np.multiply(right[:, :-2], -2, out=out[:, :-2])
    out[:, -2], out[:, -1] = right[:, -1], 1
    return out
