"""Disparities d̂: the transformed dissimilarities that the distances of an embedding are fitted to.

Each kind projects the distances of an embedding onto the disparities that it allows, scaled so that Σ w d̂² = Σ w δ²:
without this constraint the embedding would shrink to a point, which fits everything. Here is the identity, for ratio
scaling; `monotone_spline` and `isotonic` transform the dissimilarities.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lowdim import _native
from lowdim.distance.condensed import Pairs
from lowdim.runtime.memory import require_memory

__all__ = ["Disparities", "RatioDisparities", "ShepardDiagram", "apply_disparity_curve", "shepard_diagram"]

Array = NDArray[Any]


class Disparities(ABC):
    """The disparities of all pairs, updated for each embedding."""

    ranking: _native.Ranking | None = None  # the order in which disparities are stored, if not that of the pairs

    @staticmethod
    @abstractmethod
    def bytes_per_pair(itemsize: int) -> int:
        """Memory per pair for distances of `itemsize` bytes, with the copies of the single-precision stage."""

    @classmethod
    def require_memory_of_starts(cls, method: str, n: int, itemsize: int, starts: int) -> None:
        """Raise MemoryTooSmall, before any distance is computed, if this many starts at once need too much."""
        require_memory(
            n * (n - 1) // 2 * (itemsize + starts * cls.bytes_per_pair(itemsize)),
            f"{method} of all pairs of {n} rows{f', {starts} starts at once,' if starts > 1 else ''}",
            "Use MDS(solver='sgd') on the data, fewer n_jobs, float32, or fewer rows.",
        )

    @abstractmethod
    def update(self, Y: Array, threads: int) -> Array:
        """Disparities for an embedding Y (k, n), in the order of `ranking`."""

    @abstractmethod
    def to_float32(self, pairs: Pairs) -> Disparities:
        """The same for pairs in single precision."""

    @abstractmethod
    def curve(self) -> Array | None:
        """The fitted transformation as vertices (2, m) of a rising polyline, distance to disparity; None: identity."""

    def of_pairs(self, embedding: Array, dtype: Any, threads: int) -> Array:
        """Disparities for an embedding (n, k), in the order of the pairs."""
        targets = self.update(np.ascontiguousarray(embedding.T, dtype=dtype), threads)
        return targets if self.ranking is None else targets[self.ranking.slots()]


class RatioDisparities(Disparities):
    """Ratio scaling: the disparities are the distances themselves."""

    @staticmethod
    def bytes_per_pair(itemsize: int) -> int:
        """No copy; in single precision, one of the distances."""
        return itemsize - 4

    def __init__(self, pairs: Pairs) -> None:
        self.targets = pairs.distances

    def update(self, Y: Array, threads: int) -> Array:
        """Always the distances."""
        return self.targets

    def to_float32(self, pairs: Pairs) -> Disparities:
        """The distances in single precision."""
        return RatioDisparities(pairs)

    def curve(self) -> Array | None:
        """The identity."""
        return None


def apply_disparity_curve(distances: Array, curve: Array | None) -> Array:
    """Disparities of distances: interpolated between the vertices of the curve, in proportion beyond them."""
    if curve is None:
        return distances
    x, y = curve
    inside = np.interp(distances, x, y)
    below = y[0] * distances / x[0] if x[0] > 0 else y[0]
    above = y[-1] * distances / x[-1] if x[-1] > 0 else y[-1]
    out = np.where(distances < x[0], below, np.where(distances > x[-1], above, inside))
    return out.astype(distances.dtype)


class ShepardDiagram(NamedTuple):
    """The three numbers of every pair i < j, in SciPy's condensed order; NaN where a distance is missing."""

    distances: Array
    disparities: Array
    mapped: Array


def shepard_diagram(pairs: Pairs, embedding: Array, fitted: Disparities, threads: int) -> ShepardDiagram:
    """Distances, disparities fitted to an embedding (n, k), and the distances in it.

    The disparities are fitted anew instead of read off the curve, which has one value for all pairs of a tie.
    """
    from scipy.spatial.distance import pdist

    distances = pairs.distances.astype(np.float64) * pairs.unit
    targets = fitted.of_pairs(embedding.astype(np.float64) / pairs.unit, pairs.distances.dtype, threads)
    disparities = targets.astype(np.float64) * pairs.unit
    if pairs.weights is not None:
        disparities = np.where(pairs.weights > 0, disparities, np.nan)
        distances = np.where(pairs.weights > 0, distances, np.nan)
    return ShepardDiagram(distances, disparities, pdist(embedding.astype(np.float64)))
