"""Kernels that decay with a distance, from 1 for equal rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.errors import BadInput
from lowdim.kernels._bandwidth import GAMMA, POSITIVE, inverse_scale, total_variance
from lowdim.kernels._kernel import Kernel
from lowdim.kernels._row_blocks import PreparedRows, RowPairs
from lowdim.runtime.param import Choice, Either, param

__all__ = ["chi2", "laplacian", "rational_quadratic", "rbf"]

Array = NDArray[Any]

MEDIAN_ROWS = 1000  # rows that a median distance is taken over


@dataclass(frozen=True)
class _FunctionOfDistance(Kernel):
    """A function of γ times a distance, with γ given or computed from the rows."""

    translation_invariant = True

    gamma: float | str = param(
        "scale",
        GAMMA,
        "A number; or 'scale' for 1 / (sum of the columns' variances); or 'median' for 1 / (median squared distance).",
        kw_only=False,
    )

    def _distances(self, pairs: Any) -> Array:
        """What γ multiplies."""
        return pairs.squared_distances

    def _scale(self, rows: Array) -> float:
        """The scale of distances that "scale" means."""
        return total_variance(rows)

    def resolve(self, rows: Array) -> Self:
        if not isinstance(self.gamma, str):
            return self
        scale = self._scale(rows) if self.gamma == "scale" else self._median_distance(rows)
        return replace(self, gamma=inverse_scale(scale))

    def _median_distance(self, rows: Array) -> float:
        """The median distance between the rows of an evenly spaced sample."""
        some = rows[:: max(1, -(-rows.shape[0] // MEDIAN_ROWS))].astype(np.float64)
        sample = PreparedRows(some if sp.issparse(some) else np.ascontiguousarray(some))
        if sample.n < 2:
            return 1.0
        return float(np.median(self._distances(RowPairs(sample, sample))[np.triu_indices(sample.n, 1)]))

    def _exponent(self, pairs: Any) -> Array:
        """-γ times the distances."""
        distances = self._distances(pairs)
        with np.errstate(over="ignore"):
            factor = -distances.dtype.type(self.gamma)
        if not np.isfinite(factor):
            raise BadInput(
                f"gamma={self.gamma:g} is too large for {distances.dtype}: the rows differ so little that their "
                "squares underflow. Rescale the columns."
            )
        distances *= factor
        return distances


@dataclass(frozen=True)
class rbf(_FunctionOfDistance):
    """Gaussian (radial basis function) kernel, exp(-γ |x - y|²)."""

    def evaluate(self, pairs: Any) -> Array:
        exponent = self._exponent(pairs)
        return np.exp(exponent, out=exponent)


@dataclass(frozen=True)
class rational_quadratic(_FunctionOfDistance):
    """Rational quadratic kernel, (1 + γ |x - y|² / α)^-α: a mixture of Gaussian kernels, and Gaussian as α → ∞."""

    alpha: float = param(1.0, POSITIVE, "The mixture parameter; small values weight wide kernels more.", kw_only=False)

    def evaluate(self, pairs: Any) -> Array:
        base = self._exponent(pairs)
        base /= base.dtype.type(-self.alpha)
        base += 1
        return np.power(base, base.dtype.type(-self.alpha), out=base)


@dataclass(frozen=True)
class laplacian(_FunctionOfDistance):
    """Laplacian kernel, exp(-γ Σ|x - y|)."""

    gamma: float | str = param(
        "scale",
        GAMMA,
        "A number; or 'scale' for 1 / √(columns · sum of their variances); or 'median' for 1 / (median distance).",
        kw_only=False,
    )

    def _distances(self, pairs: Any) -> Array:
        return pairs.manhattan_distances

    def _scale(self, rows: Array) -> float:
        return float((rows.shape[1] * total_variance(rows)) ** 0.5)

    def evaluate(self, pairs: Any) -> Array:
        return np.exp(self._exponent(pairs))


@dataclass(frozen=True)
class chi2(_FunctionOfDistance):
    """Exponential χ² kernel, exp(-γ Σ (x - y)² / (x + y)), for nonnegative data such as counts and histograms."""

    translation_invariant = False

    gamma: float | str = param(
        1.0, Either(POSITIVE, Choice("median")), "A number, or 'median' for 1 / (median distance).", kw_only=False
    )

    def _distances(self, pairs: Any) -> Array:
        return pairs.chi2_distances

    def evaluate(self, pairs: Any) -> Array:
        if pairs.X.minimum < 0 or (isinstance(pairs, RowPairs) and pairs.Y.minimum < 0):
            raise BadInput("the chi2 kernel needs nonnegative values; shift them, or use another kernel.")
        return np.exp(self._exponent(pairs))
