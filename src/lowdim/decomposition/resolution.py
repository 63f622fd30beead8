"""What the solvers of principal axes resolve: the smallest eigenvalues, and the smallest values.

A covariance or Gram matrix holds eigenvalues to about eps times the largest, the SVD of the rows to about eps² times.
Squares of values below about 1e-146 underflow (below 1e-15 in float32); in another unit, a power of two, they do not.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.data.fold import fold
from lowdim.data.rows import Block, Chunk, DerivedRows, Rows, column_ends
from lowdim.runtime.threads import interruptible
from lowdim.runtime.warning import warn

__all__ = [
    "ScaledRows",
    "is_unresolved",
    "log_det_of_covariance",
    "log_det_of_factor",
    "resolved",
    "rounding_floor",
    "unit_factors",
    "variance_floor",
    "warn_of_constant_columns",
]

Array = NDArray[np.float64]

# A covariance matrix of d columns holds λ_k to about eps λ₁ (measured: a third of it), and to d eps λ₁ at worst. Below
# this multiple of it, an eigenvalue has too few digits left. In float32 the worst case would condemn every table.
DOUBLE_MARGIN, SINGLE_MARGIN = 1e3, 1e2
MAX_EXPONENT = 1000  # of a unit, so that its inverse is a normal number too


class ScaledRows(DerivedRows):
    """Rows in float64 with every column multiplied by a factor; powers of two cost no digit."""

    def __init__(self, rows: Rows, factors: Array | None = None) -> None:
        self.source, self._factors = rows, factors
        self.n, self.d, self.sparse, self.dtype = rows.n, rows.d, rows.sparse, np.dtype(np.float64)

    def derive(self, block: Block) -> Block:
        block = block.astype(np.float64)
        if self._factors is None:
            return block
        return block @ sp.diags_array(self._factors) if sp.issparse(block) else block * self._factors


def is_unresolved(value: float, largest: float, d: int, dtype: np.dtype[Any]) -> bool:
    """Whether an eigenvalue of a covariance or Gram matrix of rows of this dtype has too few digits left."""
    return value < rounding_floor(d, dtype) * largest


def rounding_floor(d: int, dtype: np.dtype[Any]) -> float:
    """Eigenvalues below this multiple of the largest have too few digits left."""
    return (DOUBLE_MARGIN * d if dtype == np.float64 else SINGLE_MARGIN) * float(np.finfo(dtype).eps)


def resolved(values: Array, rank_bound: int, floor: float) -> Array:
    """Descending eigenvalues; those below `floor` times the largest, or beyond the bound of the rank, become zero."""
    out = np.where(values > floor * max(float(values[0]), 0.0), values, 0.0)
    out[max(rank_bound, 0) :] = 0.0
    return out


def log_det_of_factor(R: NDArray[Any]) -> float:
    """Log-determinant of RᵀR for a triangular R; -inf if a column depends linearly on others, to working precision."""
    pivots, sizes = np.abs(np.diagonal(R)).astype(np.float64), np.linalg.norm(R.astype(np.float64), axis=0)
    if (pivots <= len(R) * np.finfo(R.dtype).eps * sizes).any():
        return -np.inf
    return 2 * float(np.log(pivots).sum())


def log_det_of_covariance(C: Array, dtype: np.dtype[Any]) -> float:
    """Log-determinant of a covariance matrix of rows of this dtype, by Cholesky decomposition.

    -inf if a column is constant. NaN if a column depends so nearly linearly on others that the matrix does not hold by
    how little it differs: a pivot, relative to the variance of its column, is 1 - R² of a regression on the others.
    """
    variances = np.diagonal(C)
    if variances.min() <= 0:
        return -np.inf
    try:
        pivots = np.diagonal(interruptible(lambda: np.linalg.cholesky(C))) ** 2
    except np.linalg.LinAlgError:
        return np.nan
    if is_unresolved(float((pivots / variances).min()), 1.0, len(C), dtype):
        return np.nan
    return float(np.log(pivots).sum())


def variance_floor(dtype: np.dtype[Any]) -> float:
    """Variances below this may have lost digits to underflow."""
    limits = np.finfo(dtype)
    return float(limits.tiny / limits.eps)


def unit_factors(rows: Rows, variances: Array, mean: Array, threads: int) -> Array | None:
    """Factors, powers of two, that lift the columns whose variances underflow to a size of about one, (d,).

    None if no variance does: small ones are those of columns that are constant, or constant but for rounding.
    """
    suspects = variances < variance_floor(rows.dtype)
    if not suspects.any() or rows.n is None:
        return None

    def summarize(chunk: Chunk, block: Block) -> Array:
        return column_ends(block).astype(np.float64)

    def merge(a: Array, b: Array) -> Array:
        return np.stack([np.maximum(a[0], b[0]), np.minimum(a[1], b[1])])

    highest, lowest = fold(rows, summarize, merge, threads)
    ranges = highest - lowest
    # The variance of n rows is at least range² / 2n. A wider range than that of a small variance is one by rounding.
    widest = np.sqrt(2.0 * rows.n * variance_floor(rows.dtype))
    vanishing = suspects & (ranges > np.finfo(rows.dtype).eps * np.abs(mean)) & (ranges < widest)
    if not vanishing.any():
        return None
    exponents = np.clip(-np.frexp(np.where(vanishing, ranges, 1.0))[1], None, MAX_EXPONENT)
    return np.where(vanishing, np.ldexp(1.0, exponents), 1.0)


def warn_of_constant_columns(constant: int, d: int) -> None:
    """Say how many of d columns have no variance that standardizing could set to one."""
    if constant > 0:
        warn(f"{constant} of {d} columns are constant: standardized, they are 0 and have no effect. Drop them.")
