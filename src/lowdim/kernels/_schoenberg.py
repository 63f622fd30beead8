"""Schoenberg transforms, which map squared Euclidean distances to squared Euclidean distances, and radial kernels.

Φ(t) = ∫ (1 - e^{-λt}) / λ  g(λ) dλ with g ≥ 0: then Φ(0) = 0, and Φ' is completely monotone. A radial kernel
f(|x - y|²) is positive semidefinite in every dimension if and only if f is completely monotone (Schoenberg 1938).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput, BadParameter
from lowdim.kernels._kernel import Kernel
from lowdim.runtime.param import Flag, Real, Such, param, validate

__all__ = [
    "Transform",
    "exponential",
    "identity",
    "is_completely_monotone",
    "logarithm",
    "power",
    "radial",
    "ratio",
]

Array = NDArray[Any]
POSITIVE = Real(0, open=True)


@dataclass(frozen=True)
class Transform:
    """A Schoenberg transform Φ: squared distances of one Euclidean space become those of another."""

    def __post_init__(self) -> None:
        validate(self)

    def __call__(self, squares: Any) -> Array:
        """Φ of squared distances, entry by entry."""
        t = np.asarray(squares)
        t = t if t.dtype.kind == "f" else t.astype(np.float64)
        if not (t >= 0).all():
            raise BadInput("squared distances must be numbers of at least 0; some are negative or NaN.")
        return self._of(t)

    def _of(self, t: Array) -> Array:
        raise NotImplementedError


@dataclass(frozen=True)
class identity(Transform):
    """The identity, Φ(t) = t."""

    def _of(self, t: Array) -> Array:
        return t.copy()


@dataclass(frozen=True)
class exponential(Transform):
    """Φ(t) = (1 - e^{-at}) / a for a > 0: squared distances in a Gaussian kernel's feature space, up to a factor."""

    a: float = param(1.0, POSITIVE, "The rate at which it saturates.", kw_only=False)

    def _of(self, t: Array) -> Array:
        return -np.expm1(-self.a * t) / self.a


@dataclass(frozen=True)
class logarithm(Transform):
    """Φ(t) = ln(1 + t / a) for a > 0."""

    a: float = param(1.0, POSITIVE, "The scale of t.", kw_only=False)

    def _of(self, t: Array) -> Array:
        return np.log1p(t / self.a)


@dataclass(frozen=True)
class ratio(Transform):
    """Φ(t) = t / (a (a + t)) for a > 0."""

    a: float = param(1.0, POSITIVE, "The scale of t.", kw_only=False)

    def _of(self, t: Array) -> Array:
        return t / (self.a * (self.a + t))


@dataclass(frozen=True)
class power(Transform):
    """Φ(t) = t^p for 0 < p < 1."""

    p: float = param(0.5, Real(0, 1, open=True), "The exponent.", kw_only=False)

    def _of(self, t: Array) -> Array:
        return t**self.p


@dataclass(frozen=True)
class radial(Kernel):
    """Radial kernel f(|x - y|²) for a completely monotone f, or e^{-Φ(|x - y|²)} for a Schoenberg transform Φ.

    `radial(exponential(2.0))` is e^{-Φ}. `radial(lambda t: 1 / (1 + t))` is f itself; whether f is completely monotone
    is tested by the signs of its finite differences.
    """

    function: Transform | Callable[[Array], Array] = param(
        identity(),
        Such("a transform or a function of squared distances", callable),
        "Takes an array of squared distances and returns one of the same shape.",
        kw_only=False,
    )
    check: bool = param(
        True, Flag(), "Refuse a function whose finite differences show that it is not completely monotone."
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.check and not isinstance(self.function, Transform) and not is_completely_monotone(self.function):
            raise BadParameter(
                "radial: the function is not completely monotone (f ≥ 0, decreasing, convex, …, with differences that "
                "alternate in sign), so f(|x - y|²) is not positive semidefinite. check=False uses it nevertheless."
            )

    def evaluate(self, pairs: Any) -> Array:
        squares = pairs.squared_distances
        values = np.exp(-self.function(squares)) if isinstance(self.function, Transform) else self.function(squares)
        return np.asarray(values, dtype=squares.dtype)


def is_completely_monotone(function: Callable[[Array], Array], upto: float = 10.0, order: int = 6) -> bool:
    """Whether finite differences up to `order` alternate in sign on grids of [0, upto]: necessary, not sufficient."""
    for step in (upto / order, upto / 40):
        t = np.arange(0.0, upto + order * step, step)
        with np.errstate(all="ignore"):
            values = np.asarray(function(t), dtype=np.float64)
        if values.shape != t.shape or not np.isfinite(values).all():
            return False
        slack = 1e-12 * np.abs(values).max()
        for k in range(order + 1):
            if (np.diff(values, k) * (-1) ** k < -slack * comb(order, order // 2)).any():
                return False
    return True
