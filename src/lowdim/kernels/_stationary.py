"""Kernels that decay with a distance, from one where two rows are equal."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput
from lowdim.kernels._bandwidth import POSITIVE, WIDTHS, inverse_of, variance
from lowdim.kernels._base import Kernel
from lowdim.kernels._row_blocks import Pair, Points
from lowdim.runtime.param import Choice, Either, param

__all__ = ["chi2", "laplacian", "rational_quadratic", "rbf"]

Array = NDArray[Any]

SAMPLE = 1000  # rows that a median is taken over


@dataclass(frozen=True)
class _Decaying(Kernel):
    """What they share: the unit 1 / γ of the distance, given or found on the rows."""

    gamma: float | str = param(
        "scale",
        WIDTHS,
        "A number; or 'scale' for 1 / (columns · variance); or 'median' for 1 / (median squared distance).",
        kw_only=False,
    )

    def _distances(self, pair: Any) -> Array:
        """What γ multiplies."""
        return pair.squares

    def _scale(self, rows: Array) -> float:
        """What "scale" takes for a typical distance."""
        return rows.shape[1] * variance(rows)

    def resolve(self, rows: Array) -> Self:
        if not isinstance(self.gamma, str):
            return self
        typical = self._scale(rows) if self.gamma == "scale" else self._median(rows)
        return replace(self, gamma=inverse_of(typical))

    def _median(self, rows: Array) -> float:
        """The median distance between distinct rows of an even sample."""
        sample = Points(np.ascontiguousarray(rows[:: max(1, -(-len(rows) // SAMPLE))], dtype=np.float64))
        if len(sample.rows) < 2:
            return 1.0
        return float(np.median(self._distances(Pair(sample, sample))[np.triu_indices(len(sample.rows), 1)]))

    def _exponent(self, pair: Any) -> Array:
        distances = self._distances(pair)
        with np.errstate(over="ignore"):
            factor = -distances.dtype.type(self.gamma)
        if not np.isfinite(factor):
            raise BadInput(
                f"gamma={self.gamma:g} is too large for {distances.dtype}: the rows differ by so little that their "
                "squares vanish. Rescale the columns."
            )
        distances *= factor
        return distances


@dataclass(frozen=True)
class rbf(_Decaying):
    """exp(-γ |x - y|²), the Gaussian."""

    def of(self, pair: Any) -> Array:
        exponent = self._exponent(pair)
        return np.exp(exponent, out=exponent)


@dataclass(frozen=True)
class rational_quadratic(_Decaying):
    """(1 + γ |x - y|² / α)^-α: Gaussians of many widths; the Gaussian itself as α grows."""

    alpha: float = param(1.0, POSITIVE, "How little weight the wide ones have.", kw_only=False)

    def of(self, pair: Any) -> Array:
        base = self._exponent(pair)
        base /= base.dtype.type(-self.alpha)
        base += 1
        return np.power(base, base.dtype.type(-self.alpha), out=base)


@dataclass(frozen=True)
class laplacian(_Decaying):
    """exp(-γ Σ|x - y|)."""

    gamma: float | str = param(
        "scale",
        WIDTHS,
        "A number; or 'scale' for 1 / (columns · standard deviation); or 'median' for 1 / (median distance).",
        kw_only=False,
    )

    def _distances(self, pair: Any) -> Array:
        return pair.magnitudes

    def _scale(self, rows: Array) -> float:
        return rows.shape[1] * variance(rows) ** 0.5

    def of(self, pair: Any) -> Array:
        return np.exp(self._exponent(pair))


@dataclass(frozen=True)
class chi2(_Decaying):
    """exp(-γ Σ (x - y)² / (x + y)) for counts and shares, which are not negative."""

    gamma: float | str = param(
        1.0, Either(POSITIVE, Choice("median")), "A number, or 'median' for 1 / (median distance).", kw_only=False
    )

    def _distances(self, pair: Any) -> Array:
        return pair.chi_squares

    def of(self, pair: Any) -> Array:
        if pair.a.rows.min(initial=0) < 0 or (isinstance(pair, Pair) and pair.b.rows.min(initial=0) < 0):
            raise BadInput("the chi2 kernel is for values that are not negative; shift them, or use another kernel.")
        return np.exp(self._exponent(pair))
