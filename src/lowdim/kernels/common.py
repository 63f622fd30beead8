"""The kernels of lecture 1 and their kin."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lowdim.check import overflow_error
from lowdim.distances import METRICS
from lowdim.errors import BadInput, BadParameter
from lowdim.kernels.base import Kernel
from lowdim.kernels.points import Pair, Points, variance
from lowdim.param import Choice, Either, Integer, Real, Such, param

__all__ = [
    "chi2",
    "cosine",
    "from_distance",
    "from_function",
    "laplacian",
    "linear",
    "polynomial",
    "precomputed",
    "rational_quadratic",
    "rbf",
    "sigmoid",
]

Array = NDArray[Any]

POSITIVE = Real(0, open=True)
SCALES = Either(POSITIVE, Choice("scale"))
WIDTHS = Either(POSITIVE, Choice("scale", "median"))
SAMPLE = 1000  # rows that a median is taken over


@dataclass(frozen=True)
class linear(Kernel):
    """xᵀy."""

    def of(self, pair: Any) -> Array:
        return pair.dots


@dataclass(frozen=True)
class cosine(Kernel):
    """xᵀy / (|x| |y|); zero beside a row of zeros."""

    def of(self, pair: Any) -> Array:
        return pair.cosines


@dataclass(frozen=True)
class _Dotted(Kernel):
    """What polynomial and sigmoid share: γ xᵀy + c, with γ = 1 / (d · variance) for "scale"."""

    def resolve(self, rows: Array) -> Self:
        gamma: Any = self.gamma  # type: ignore[attr-defined]
        return self if gamma != "scale" else replace(self, gamma=_inverse(rows.shape[1] * variance(rows)))  # type: ignore[call-arg]

    def _inner(self, pair: Any) -> Array:
        values = np.array(pair.dots)
        values *= values.dtype.type(self.gamma)  # type: ignore[attr-defined]
        values += values.dtype.type(self.coef0)  # type: ignore[attr-defined]
        return values


@dataclass(frozen=True)
class polynomial(_Dotted):
    """(γ xᵀy + c)^degree."""

    degree: int = param(3, Integer(1), "The power.", kw_only=False)
    gamma: float | str = param("scale", SCALES, "A number, or 'scale' for 1 / (columns · variance).", kw_only=False)
    coef0: float = param(1.0, Real(0), "The constant c; a negative one would make it no kernel.", kw_only=False)

    def of(self, pair: Any) -> Array:
        inner = self._inner(pair)
        return inner if self.degree == 1 else np.power(inner, self.degree, out=inner)


@dataclass(frozen=True)
class sigmoid(_Dotted):
    """tanh(γ xᵀy + c). It need not be positive semidefinite: `is_psd` tells of a given matrix."""

    psd = None
    gamma: float | str = param("scale", SCALES, "A number, or 'scale' for 1 / (columns · variance).", kw_only=False)
    coef0: float = param(1.0, Real(), "The constant c.", kw_only=False)

    def of(self, pair: Any) -> Array:
        inner = self._inner(pair)
        return np.tanh(inner, out=inner)


@dataclass(frozen=True)
class _Decaying(Kernel):
    """What kernels of a distance share: its unit 1 / γ, given or found on the rows."""

    def _distances(self, pair: Any) -> Array:
        """What γ multiplies."""
        return pair.squares

    def _scale(self, rows: Array) -> float:
        """What "scale" takes for a typical distance."""
        return rows.shape[1] * variance(rows)

    def resolve(self, rows: Array) -> Self:
        gamma: Any = self.gamma  # type: ignore[attr-defined]
        if not isinstance(gamma, str):
            return self
        typical = self._scale(rows) if gamma == "scale" else self._median(rows)
        return replace(self, gamma=_inverse(typical))  # type: ignore[call-arg]

    def _median(self, rows: Array) -> float:
        """The median distance between distinct rows of an even sample."""
        sample = Points(np.ascontiguousarray(rows[:: max(1, -(-len(rows) // SAMPLE))], dtype=np.float64))
        if len(sample.rows) < 2:
            return 1.0
        return float(np.median(self._distances(Pair(sample, sample))[np.triu_indices(len(sample.rows), 1)]))

    def _exponent(self, pair: Any) -> Array:
        distances = self._distances(pair)
        distances *= distances.dtype.type(-self.gamma)  # type: ignore[attr-defined]
        return distances


@dataclass(frozen=True)
class rbf(_Decaying):
    """exp(-γ |x - y|²), the Gaussian."""

    gamma: float | str = param(
        "scale",
        WIDTHS,
        "A number; or 'scale' for 1 / (columns · variance); or 'median' for 1 / (median squared distance).",
        kw_only=False,
    )

    def of(self, pair: Any) -> Array:
        exponent = self._exponent(pair)
        return np.exp(exponent, out=exponent)


@dataclass(frozen=True)
class rational_quadratic(_Decaying):
    """(1 + γ |x - y|² / α)^-α: Gaussians of many widths; the Gaussian itself as α grows."""

    gamma: float | str = param("scale", WIDTHS, "A number, 'scale' or 'median', as in rbf.", kw_only=False)
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


@dataclass(frozen=True)
class precomputed(Kernel):
    """The input is the kernel matrix itself."""

    psd = None

    def of(self, pair: Any) -> Array:
        raise BadParameter("precomputed values can't be computed from rows; give the matrix, or name a kernel.")


@dataclass(frozen=True)
class from_function(Kernel):
    """f(x, y) for a function of two rows: slow, and as positive semidefinite as f makes it."""

    psd = None
    function: Callable[[Array, Array], float] = param(  # noqa: RUF009 (a field, not a value)
        np.dot, Such("a function of two rows", callable), "Returns a number for two rows.", kw_only=False
    )

    def of(self, pair: Any) -> Array:
        if not isinstance(pair, Pair):
            return np.array([self.function(x, x) for x in pair.a.rows], dtype=pair.a.rows.dtype)
        left, right = pair.each
        return np.array([[self.function(x, y) for y in right] for x in left], dtype=left.dtype).reshape(
            len(left), len(right)
        )


@dataclass(frozen=True)
class from_distance(Kernel):
    """-d(x, y)² / 2. Centred, it is a matrix of inner products if and only if d is Euclidean (lecture 2)."""

    psd = None
    metric: Any = param(  # noqa: RUF009 (a field, not a value)
        "euclidean",
        Either(
            Choice(*(name for name, metric in METRICS.items() if not metric.given)),
            Such("a function of two rows", lambda v: callable(v) and not isinstance(v, type)),
        ),
        "The distance d.",
        kw_only=False,
    )

    def of(self, pair: Any) -> Array:
        euclidean = isinstance(self.metric, str) and self.metric == "euclidean"
        squares = pair.squares if euclidean else np.square(pair.distances(self.metric))
        squares *= squares.dtype.type(-0.5)
        return squares


def _inverse(typical: float) -> float:
    """γ for a typical distance; 1 where all rows are equal."""
    if not np.isfinite(typical):
        raise overflow_error()
    with np.errstate(over="ignore", divide="ignore"):
        gamma = np.divide(1.0, typical)
    return float(gamma) if np.isfinite(gamma) else 1.0
