"""Codes of values: the place of each among the distinct values of a column, small enough to be exact in float32."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["codes_of", "distinct_values"]

Array = NDArray[Any]


def distinct_values(column: Array) -> NDArray[np.float64]:
    """The distinct values, ascending; missing ones (NaN) are left out."""
    return np.unique(column[~np.isnan(column)]).astype(np.float64)


def codes_of(values: Array, levels: Array) -> NDArray[np.float64]:
    """The place of each value among the levels; one more than the last for any other value, NaN for NaN."""
    if len(levels) == 0:
        return np.where(np.isnan(values), np.nan, 0.0)
    place = np.minimum(np.searchsorted(levels, values), len(levels) - 1)
    codes = np.where(levels[place] == values, place, len(levels)).astype(np.float64)
    return np.where(np.isnan(values), np.nan, codes)
