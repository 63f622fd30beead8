"""Lecture 2's transforms: functions that turn squared distances into squared distances, and their kernels.

Φ(t) = ∫ (1 - e^{-λt}) / λ  g(λ) dλ with g ≥ 0: then Φ(0) = 0, and Φ' is completely monotone. A radial
kernel f(|x - y|²) is positive semidefinite in every dimension if and only if f is completely monotone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput, BadParameter
from lowdim.kernels._base import Kernel
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
    """Φ, applied to a matrix of *squared* distances, gives squared distances of another Euclidean space."""

    def __post_init__(self) -> None:
        validate(self)

    def __call__(self, squares: Any) -> Array:
        """Φ of squared distances, entry by entry."""
        t = np.asarray(squares)
        t = t if t.dtype.kind == "f" else t.astype(np.float64)
        if not (t >= 0).all():
            raise BadInput("squared distances must be numbers of at least 0; there is a negative one or NaN.")
        return self._of(t)

    def _of(self, t: Array) -> Array:
        raise NotImplementedError


@dataclass(frozen=True)
class identity(Transform):
    """Φ₀(t) = t."""

    def _of(self, t: Array) -> Array:
        return t.copy()


@dataclass(frozen=True)
class exponential(Transform):
    """Φ₁(t) = (1 - e^{-at}) / a for a > 0: what a Gaussian kernel does to distances, up to a factor."""

    a: float = param(1.0, POSITIVE, "How fast it levels off.", kw_only=False)

    def _of(self, t: Array) -> Array:
        return -np.expm1(-self.a * t) / self.a


@dataclass(frozen=True)
class logarithm(Transform):
    """Φ₂(t) = ln(1 + t / a) for a > 0."""

    a: float = param(1.0, POSITIVE, "Where it begins to bend.", kw_only=False)

    def _of(self, t: Array) -> Array:
        return np.log1p(t / self.a)


@dataclass(frozen=True)
class ratio(Transform):
    """Φ₃(t) = t / (a (a + t)) for a > 0."""

    a: float = param(1.0, POSITIVE, "Where it begins to bend.", kw_only=False)

    def _of(self, t: Array) -> Array:
        return t / (self.a * (self.a + t))


@dataclass(frozen=True)
class power(Transform):
    """Φ₄(t) = t^p for 0 < p < 1."""

    p: float = param(0.5, Real(0, 1, open=True), "The exponent.", kw_only=False)

    def _of(self, t: Array) -> Array:
        return t**self.p


@dataclass(frozen=True)
class radial(Kernel):
    """A kernel of the squared distance alone: f(|x - y|²) for a completely monotone f, or e^{-Φ(|x - y|²)}.

    `radial(exponential(2.0))` is Schoenberg's e^{-Φ}; `radial(lambda t: 1 / (1 + t))` takes f itself,
    and looks whether finite differences of f alternate as they must.
    """

    function: Transform | Callable[[Array], Array] = param(
        identity(),
        Such("a transform or a function of squared distances", callable),
        "Takes an array of squared distances and returns one of the same shape.",
        kw_only=False,
    )
    check: bool = param(True, Flag(), "Refuse a function that is visibly not completely monotone.")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.check and not isinstance(self.function, Transform) and not is_completely_monotone(self.function):
            raise BadParameter(
                "radial: the function is not completely monotone (its differences must alternate in sign: f ≥ 0, "
                "falling, convex, …), so f(|x - y|²) would be no kernel. Give check=False to use it nevertheless."
            )

    def of(self, pair: Any) -> Array:
        squares = pair.squares
        values = np.exp(-self.function(squares)) if isinstance(self.function, Transform) else self.function(squares)
        return np.asarray(values, dtype=squares.dtype)


def is_completely_monotone(function: Callable[[Array], Array], upto: float = 10.0, order: int = 6) -> bool:
    """Whether differences up to `order` alternate in sign on grids of [0, upto]: necessary, not a proof."""
    for width in (upto / order, upto / 40):
        t = np.arange(0.0, upto + order * width, width)
        with np.errstate(all="ignore"):
            values = np.asarray(function(t), dtype=np.float64)
        if values.shape != t.shape or not np.isfinite(values).all():
            return False
        slack = 1e-12 * np.abs(values).max()
        for k in range(order + 1):
            if (np.diff(values, k) * (-1) ** k < -slack * comb(order, order // 2)).any():
                return False
    return True
