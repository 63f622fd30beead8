"""Condensed distances: those of all pairs of rows, packed in one triangle as SciPy condenses them.

They are held in a unit (a power of two) in which the largest is about one, so that squares of huge or tiny distances
neither overflow nor underflow.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.data.validation import overflow_error
from lowdim.errors import BadInput
from lowdim.runtime.cached_property import cached_property
from lowdim.runtime.memory import require_memory

__all__ = [
    "Pairs",
    "binary_unit",
    "condensed_weights",
    "in_binary_unit",
    "pairs_of_matrix",
    "require_memory_of_pairs",
    "safe_factor",
]

Array = NDArray[Any]

SAFE_RANGE = {4: (1e-15, 1e15), 8: (1e-140, 1e140)}  # by bytes: within these, sums of squares are safe
MAX_POWER = {4: 2.0**126, 8: 2.0**1000}  # powers of two that are normal numbers
BLOCK = 1 << 18


@dataclass(frozen=True)
class Pairs:
    """Condensed distances (times `unit`) of all pairs of n rows, with weights.

    The weight is 0 where a distance is missing; `weights` None means that all are 1.
    """

    n: int
    distances: Array  # (n (n - 1) / 2,)
    weights: Array | None
    unit: float

    @cached_property
    def sum_of_squares(self) -> float:
        """Σ w δ²"""
        out = 0.0
        for start in range(0, len(self.distances), BLOCK):
            part = self.distances[start : start + BLOCK].astype(np.float64)
            out += float(part @ (part if self.weights is None else part * self.weights[start : start + BLOCK]))
        return out

    def to_float32(self) -> Pairs:
        """The same in single precision."""
        weights = None if self.weights is None else self.weights.astype(np.float32)
        return Pairs(self.n, self.distances.astype(np.float32), weights, self.unit)

    def row(self, i: int) -> slice:
        """The slice of the pairs (i, i + 1), (i, i + 2) …"""
        start = i * self.n - i * (i + 1) // 2
        return slice(start, start + self.n - i - 1)


def pairs_of_matrix(D: Array, weights: Any) -> Pairs:
    """Condensed distances of a checked square matrix, in which NaN marks a missing distance."""
    n, dtype = len(D), D.dtype
    require_memory_of_pairs(n, D.itemsize)
    out = np.empty(n * (n - 1) // 2, dtype=dtype)
    whole = Pairs(n, out, None, 1.0)
    for i in range(n - 1):
        out[whole.row(i)] = D[i, i + 1 :]
    missing = np.isnan(out)
    condensed = condensed_weights(weights, n, dtype)
    if missing.any():
        out[missing] = 0
        condensed = np.ones(len(out), dtype=dtype) if condensed is None else condensed
        condensed[missing] = 0
    return in_binary_unit(n, out, condensed)


def condensed_weights(weights: Any, n: int, dtype: np.dtype[Any]) -> Array | None:
    """Weights of all pairs, condensed from a symmetric matrix (n, n)."""
    if weights is None:
        return None
    W = np.asarray(weights)
    if W.shape != (n, n) or W.dtype.kind not in "fiub":
        raise BadInput(f"weights must be a matrix of numbers of shape ({n}, {n}), one per pair; got shape {W.shape}.")
    off_diagonal = ~np.eye(n, dtype=bool)
    if not np.isfinite(W[off_diagonal]).all() or (W[off_diagonal] < 0).any() or not np.allclose(W, W.T, equal_nan=True):
        raise BadInput("weights must be finite, symmetric and not negative; a pair of weight 0 does not count.")
    wide = W[np.triu_indices(n, 1)]
    if not wide.any():
        raise BadInput("weights are zero for every pair; at least one pair must count.")
    with np.errstate(over="ignore", under="ignore"):
        out = np.asarray(wide, dtype=dtype)
    if not np.isfinite(out).all() or ((out == 0) != (wide == 0)).any():
        raise BadInput(
            f"weights are too large or too small for {dtype}. Rescale them: the embedding depends on their ratios."
        )
    return out


def require_memory_of_pairs(n: int, itemsize: int) -> None:
    """Raise MemoryTooSmall before the distances of all pairs of n rows are allocated."""
    require_memory(
        n * (n - 1) // 2 * itemsize * 2,
        f"the distances of all pairs of {n} rows",
        "Use MDS(solver='sgd') on the data, float32, or fewer rows.",
    )


def in_binary_unit(n: int, distances: Array, weights: Array | None) -> Pairs:
    """Pairs whose distances are divided, in place, by a power of two near the largest."""
    largest = float(distances.max(initial=0.0))
    if not np.isfinite(largest) or np.isnan(distances).any():
        raise overflow_error()
    unit = binary_unit(largest)
    with np.errstate(under="ignore"):
        np.divide(distances, distances.dtype.type(unit), out=distances)
    return Pairs(n, distances, weights, unit)


def binary_unit(largest: float) -> float:
    """The power of two nearest to a number: dividing by it changes no bit of the significand."""
    return float(2.0 ** np.clip(np.round(np.log2(largest)), -1000, 1000)) if largest > 0 else 1.0


def safe_factor(table: Array) -> float:
    """The factor that brings numbers to a size at which sums of their squares are safe: 1, or a power of two."""
    largest = max(float(table.max(initial=0.0)), -float(table.min(initial=0.0)))  # without a second table
    low, high = SAFE_RANGE[table.dtype.itemsize]
    if largest == 0 or low < largest < high:
        return 1.0
    return min(1.0 / binary_unit(largest), MAX_POWER[table.dtype.itemsize])  # subnormal numbers would need more
