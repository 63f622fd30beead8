"""Disparities: what the distances of a map should be, given how far the wanted ones may be bent.

Each kind gives, for a map, the nearest values that it allows (a projection on a cone), scaled so that Σ w d̂² stays
Σ w δ²: without that the map would shrink to a point, which fits everything. `curve` and `ranks` hold the kinds that
bend.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from numpy.typing import NDArray

from lowdim import _native
from lowdim.distance.condensed import Pairs
from lowdim.runtime.memory import require_memory

__all__ = ["Disparities", "Ratio"]

Array = NDArray[Any]


class Disparities(ABC):
    """The targets of the pairs."""

    ranking: _native.Ranking | None = None  # where the target of a pair stands, if not at the pair

    @staticmethod
    @abstractmethod
    def bytes_a_pair(itemsize: int) -> int:
        """Memory that it takes, for distances of so many bytes, with what single precision adds for a while."""

    @classmethod
    def require_room(cls, method: str, n: int, itemsize: int, starts: int) -> None:
        """Refuse what so many starts at once would need for the pairs of n rows, before anything is measured."""
        require_memory(
            n * (n - 1) // 2 * (itemsize + starts * cls.bytes_a_pair(itemsize)),
            f"{method} of all pairs of {n} rows{f', {starts} starts at once,' if starts > 1 else ''}",
            "Use MDS(solver='sgd') on the data, fewer n_jobs, float32, or fewer rows.",
        )

    @abstractmethod
    def update(self, y: Array, threads: int) -> Array:
        """Targets for a map (k, n)."""

    @abstractmethod
    def narrow(self, pairs: Pairs) -> Disparities:
        """The same of pairs in single precision."""

    @abstractmethod
    def curve(self) -> Array | None:
        """The fitted bend as corners (2, m) of a rising line from distance to disparity; None if there is none."""


class Ratio(Disparities):
    """The distances themselves."""

    @staticmethod
    def bytes_a_pair(itemsize: int) -> int:
        """The distances are there already."""
        return itemsize - 4

    def __init__(self, pairs: Pairs) -> None:
        self.targets = pairs.distances

    def update(self, y: Array, threads: int) -> Array:
        """Always the same."""
        return self.targets

    def narrow(self, pairs: Pairs) -> Disparities:
        """Those of the narrow pairs."""
        return Ratio(pairs)

    def curve(self) -> Array | None:
        """No bend."""
        return None
