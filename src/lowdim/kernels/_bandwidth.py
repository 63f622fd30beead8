"""The bandwidth of a kernel: γ as a number, or the inverse of a scale that is computed from the rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.data.validation import overflow_error
from lowdim.errors import BadInput
from lowdim.runtime.param import Choice, Either, Real

__all__ = ["GAMMA", "GAMMA_OR_SCALE", "POSITIVE", "inverse_scale", "variance_of_entries"]

Array = NDArray[Any]

POSITIVE = Real(0, open=True)
GAMMA_OR_SCALE = Either(POSITIVE, Choice("scale"))
GAMMA = Either(POSITIVE, Choice("scale", "median"))
BLOCK = 4096  # rows at a time, as a float64 copy of all of them could be too large


def inverse_scale(scale: float) -> float:
    """γ = 1 / scale; 1 where all rows are equal."""
    if not np.isfinite(scale):
        raise overflow_error()
    with np.errstate(over="ignore", divide="ignore"):
        gamma = np.divide(1.0, scale)
    return float(gamma) if np.isfinite(gamma) else 1.0


def variance_of_entries(rows: Array) -> float:
    """The variance of all entries of a matrix, without a float64 copy of it."""
    mean = float(rows.mean(dtype=np.float64))
    blocks = (rows[start : start + BLOCK] for start in range(0, len(rows), BLOCK))
    out = sum(float(np.square(block - mean, dtype=np.float64).sum()) for block in blocks) / rows.size
    if out < np.finfo(np.float64).tiny and rows.min() < rows.max():
        raise BadInput("the rows differ so little that their squares underflow. Rescale the columns, or give gamma.")
    return out
