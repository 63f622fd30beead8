"""Kernels of inner products, and those that come from elsewhere: a matrix, a function, a distance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lowdim.distance.metrics import METRICS
from lowdim.errors import BadInput, BadParameter
from lowdim.kernels._bandwidth import SCALES, inverse_of, variance
from lowdim.kernels._base import Kernel
from lowdim.kernels._row_blocks import Pair
from lowdim.runtime.param import Choice, Either, Integer, Real, Such, param

__all__ = [
    "cosine",
    "from_distance",
    "from_function",
    "linear",
    "polynomial",
    "precomputed",
    "sigmoid",
]

Array = NDArray[Any]


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
        return self if gamma != "scale" else replace(self, gamma=inverse_of(rows.shape[1] * variance(rows)))  # type: ignore[call-arg]

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
class precomputed(Kernel):
    """The input is the kernel matrix itself."""

    psd = None

    def of(self, pair: Any) -> Array:
        raise BadParameter("precomputed values can't be computed from rows; give the matrix, or name a kernel.")


@dataclass(frozen=True)
class from_function(Kernel):
    """f(x, y) for a function of two rows: slow, and as positive semidefinite as f makes it."""

    psd = None
    function: Callable[[Array, Array], float] = param(
        np.dot, Such("a function of two rows", callable), "Returns a number for two rows.", kw_only=False
    )

    def of(self, pair: Any) -> Array:
        if not isinstance(pair, Pair):
            return self._checked([self.function(x, x) for x in pair.a.rows], pair.a.rows.dtype)
        left, right = pair.each
        values = self._checked([[self.function(x, y) for y in right] for x in left], left.dtype)
        return values.reshape(len(left), len(right))

    def _checked(self, given: list[Any], dtype: np.dtype[Any]) -> Array:
        values = np.array(given, dtype=dtype)
        if not np.isfinite(values).all():
            bad = values[~np.isfinite(values)][0]
            raise BadInput(f"the kernel must give a finite number for any two rows; for two of them it gave {bad}.")
        return values


@dataclass(frozen=True)
class from_distance(Kernel):
    """-d(x, y)² / 2. Centred, it is a matrix of inner products if and only if d is Euclidean (lecture 2)."""

    psd = None
    metric: Any = param(
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
