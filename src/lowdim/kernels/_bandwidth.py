"""How wide a kernel is: γ, given as a number or found on the rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.data.validation import overflow_error
from lowdim.errors import BadInput
from lowdim.runtime.param import Choice, Either, Real

__all__ = ["POSITIVE", "SCALES", "WIDTHS", "inverse_of", "variance"]

Array = NDArray[Any]

POSITIVE = Real(0, open=True)
SCALES = Either(POSITIVE, Choice("scale"))
WIDTHS = Either(POSITIVE, Choice("scale", "median"))
BLOCK = 4096  # rows at a time: a wide copy of all of them would be too much


def inverse_of(typical: float) -> float:
    """γ for a typical distance; 1 where all rows are equal."""
    if not np.isfinite(typical):
        raise overflow_error()
    with np.errstate(over="ignore", divide="ignore"):
        gamma = np.divide(1.0, typical)
    return float(gamma) if np.isfinite(gamma) else 1.0


def variance(rows: Array) -> float:
    """The variance of all numbers in a table, without a wide copy of it."""
    mean = float(rows.mean(dtype=np.float64))
    blocks = (rows[start : start + BLOCK] for start in range(0, len(rows), BLOCK))
    out = sum(float(np.square(block - mean, dtype=np.float64).sum()) for block in blocks) / rows.size
    if out < np.finfo(np.float64).tiny and rows.min() < rows.max():
        raise BadInput("the rows differ by so little that their squares vanish. Rescale the columns, or give gamma.")
    return out
