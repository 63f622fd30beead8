"""Tests of single predictors: does any direction of the central subspace involve the column? (Cook 2004)

α is the whitened unit vector of a column. A column that does not matter, given all others, has αᵀm_h = 0 for the means
and αᵀS_hα = 1 for the covariances of all slices of whitened rows: SIR tests the first, SAVE the second (Shao, Cook and
Weisberg 2007), and directional regression both, which for normal columns are independent. For principal Hessian
directions Hα = 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.linear.sdr.weighted_chi2 import weighted_chi2_sf
from lowdim.runtime.display import TextDisplay, p_value

__all__ = ["PredictorTests", "covariance_statistics", "mean_statistics", "predictor_tests", "ratio"]

Array = NDArray[np.float64]


@dataclass(frozen=True, repr=False)
class PredictorTests(TextDisplay):
    """One test per column. Its hypothesis is that the column does not matter, given all others."""

    names: tuple[str, ...]
    statistics: Array  # (d,)
    p_values: Array  # (d,)

    def to_dict(self) -> dict[str, Any]:
        """Plain lists."""
        return {"names": list(self.names), "statistics": self.statistics.tolist(), "p_values": self.p_values.tolist()}

    def __str__(self) -> str:
        width = max(len(name) for name in self.names)
        lines = [f"{'':{width}}  statistic   p-value"]
        for name, statistic, p in zip(self.names, self.statistics, self.p_values, strict=True):
            lines.append(f"{name:{width}}  {statistic:9.4g}  {p_value(p):>8}")
        return "\n".join(lines)


def predictor_tests(names: Sequence[str], statistics: Array, weights: Array) -> PredictorTests:
    """P-values of statistics that are Σ ω_i χ²(1) if a column does not matter."""
    p_values = np.array([weighted_chi2_sf(float(statistic), weights) for statistic in statistics])
    return PredictorTests(tuple(names), statistics, p_values)


def mean_statistics(V: Array, B: Array, n: float, slices: int) -> tuple[Array, Array]:
    """Wald statistics n αᵀBα, (d,), sums of χ² with weights 1 - λ, for SIR's B with eigenvalues λ.

    Rows of V (d, r) are the columns in whitened coordinates, α up to its length.
    """
    values = np.linalg.eigvalsh(B)[::-1]
    weights = np.ones(slices - 1)
    kept = min(slices - 1, len(values))
    weights[:kept] = np.clip(1 - values[:kept], 0.0, 1.0)
    return n * ratio(np.einsum("di,di->d", V @ B, V), (V**2).sum(axis=1)), weights


def covariance_statistics(V: Array, apart: Array, shares: Array, n: float) -> tuple[Array, Array]:
    """½ n Σ p_h (αᵀE_hα)², (d,), χ² with H - 1 degrees of freedom, for differences E_h (H, r, r) of covariances."""
    inside = ratio(np.einsum("di,hij,dj->hd", V, apart, V), (V**2).sum(axis=1))
    return n / 2 * (shares @ inside**2), np.ones(len(apart) - 1)


def ratio(a: Any, b: Array) -> Array:
    """A / b, and 0 where b is: for a constant column."""
    return np.divide(a, b, out=np.zeros(np.shape(a)), where=b > 0)
