"""Tests of single predictors: does any direction of the central subspace involve the column? (Cook 2004)"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.linear.sdr.weighted_chi2 import weighted_chi2_sf
from lowdim.runtime.display import TextDisplay, p_value

__all__ = ["PredictorTests", "predictor_tests", "ratio"]

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


def ratio(a: Any, b: Array) -> Array:
    """A / b, and 0 where b is: for a constant column."""
    return np.divide(a, b, out=np.zeros(np.shape(a)), where=b > 0)
