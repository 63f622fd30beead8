"""Dot-product kernels: functions of xᵀy."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lowdim.kernels._bandwidth import GAMMA_OR_SCALE, inverse_scale, total_variance
from lowdim.kernels._kernel import Kernel
from lowdim.runtime.param import Integer, Real, param

__all__ = ["cosine", "linear", "polynomial", "sigmoid"]

Array = NDArray[Any]


@dataclass(frozen=True)
class linear(Kernel):
    """Linear kernel, xᵀy."""

    translation_invariant = True

    def evaluate(self, pairs: Any) -> Array:
        return pairs.inner_products


@dataclass(frozen=True)
class cosine(Kernel):
    """Cosine similarity, xᵀy / (|x| |y|); zero for a row of zeros."""

    def evaluate(self, pairs: Any) -> Array:
        return pairs.cosine_similarities


@dataclass(frozen=True)
class _AffineDotProduct(Kernel):
    """Shared by polynomial and sigmoid: γ xᵀy + c, with γ = 1 / (sum of the columns' variances) for "scale"."""

    def resolve(self, rows: Array) -> Self:
        gamma: Any = self.gamma  # type: ignore[attr-defined]
        if gamma != "scale":
            return self
        return replace(self, gamma=inverse_scale(total_variance(rows)))  # type: ignore[call-arg]

    def _affine(self, pairs: Any) -> Array:
        values = np.array(pairs.inner_products)
        values *= values.dtype.type(self.gamma)  # type: ignore[attr-defined]
        values += values.dtype.type(self.coef0)  # type: ignore[attr-defined]
        return values


@dataclass(frozen=True)
class polynomial(_AffineDotProduct):
    """Polynomial kernel, (γ xᵀy + c)^degree."""

    degree: int = param(3, Integer(1), "The degree.", kw_only=False)
    gamma: float | str = param(
        "scale", GAMMA_OR_SCALE, "A number, or 'scale' for 1 / (sum of the columns' variances).", kw_only=False
    )
    coef0: float = param(
        1.0, Real(0), "The constant c; with a negative one it would not be positive semidefinite.", kw_only=False
    )

    @property
    def translation_invariant(self) -> bool:  # type: ignore[override]
        """If it is a linear function of xᵀy."""
        return self.degree == 1

    def evaluate(self, pairs: Any) -> Array:
        values = self._affine(pairs)
        return values if self.degree == 1 else np.power(values, self.degree, out=values)


@dataclass(frozen=True)
class sigmoid(_AffineDotProduct):
    """Sigmoid kernel, tanh(γ xᵀy + c). It need not be positive semidefinite: `is_psd` tests a given matrix."""

    psd = None
    gamma: float | str = param(
        "scale", GAMMA_OR_SCALE, "A number, or 'scale' for 1 / (sum of the columns' variances).", kw_only=False
    )
    coef0: float = param(1.0, Real(), "The constant c.", kw_only=False)

    def evaluate(self, pairs: Any) -> Array:
        values = self._affine(pairs)
        return np.tanh(values, out=values)
