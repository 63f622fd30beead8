"""The bandwidth of a kernel: γ as a number, or the inverse of a scale that is computed from the rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.data.fold import fold
from lowdim.data.rows import Block, Chunk, open_rows
from lowdim.data.validation import overflow_error
from lowdim.errors import BadInput
from lowdim.runtime.param import Choice, Either, Real

__all__ = ["GAMMA", "GAMMA_OR_SCALE", "POSITIVE", "inverse_scale", "total_variance"]

Array = NDArray[Any]

TINY = np.finfo(np.float64).tiny
POSITIVE = Real(0, open=True)
GAMMA_OR_SCALE = Either(POSITIVE, Choice("scale"))
GAMMA = Either(POSITIVE, Choice("scale", "median"))


def inverse_scale(scale: float) -> float:
    """γ = 1 / scale; 1 where all rows are equal."""
    if not np.isfinite(scale):
        raise overflow_error()
    with np.errstate(over="ignore", divide="ignore"):
        gamma = np.divide(1.0, scale)
    return float(gamma) if np.isfinite(gamma) else 1.0


def total_variance(rows: Any) -> float:
    """The sum of the variances of the columns, in float64, chunk by chunk. Shifting a column does not change it."""
    if sp.issparse(rows):
        return _total_variance_of_sparse(rows)
    table = open_rows(rows)
    pivot = next(iter(table.chunks())).load().mean(axis=0, dtype=np.float64)  # near the mean, which is corrected for

    def summarize(chunk: Chunk, block: Block) -> Array:
        deviations = block - pivot
        return np.append(np.ones(len(deviations)) @ deviations, np.einsum("ij,ij->", deviations, deviations))

    *sums, squares = fold(table, summarize, np.add, 1)
    out = max(float(squares - np.square(sums).sum() / len(rows)) / len(rows), 0.0)
    return _above_underflow(out, out < TINY and (rows != rows[0]).any())


def _total_variance_of_sparse(rows: sp.csr_array) -> float:
    """Deviations of the stored values from the means of their columns, and the means themselves for the others."""
    n, d = rows.shape
    values, column = rows.data.astype(np.float64), rows.indices
    mean = np.bincount(column, values, minlength=d) / n
    stored = np.bincount(column, minlength=d)
    squares = np.square(values - mean[column]).sum() + (n - stored) @ np.square(mean)
    out = float(squares) / n
    return _above_underflow(out, out < TINY and (values != mean[column]).any())


def _above_underflow(variance: float, underflows: Any) -> float:
    if underflows:
        raise BadInput("the rows differ so little that their squares underflow. Rescale the columns, or give gamma.")
    return variance
