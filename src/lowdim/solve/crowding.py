"""densMAP: rows that are crowded in the table are to be crowded in the map.

The mean squared distance of a row to its neighbours, as a logarithm, is its radius; in the last part of the run, the
layout also climbs the correlation of the radii in the map with those in the table (Narayan, Berger and Cho 2021).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lowdim import _native
from lowdim.summaries.fuzzy import Fuzzy

__all__ = ["Crowding", "map_radii", "table_radii"]

Array = NDArray[Any]

TINY = 1e-8
SHIFT = 0.1  # added to the variance of the radii, so that equal ones do not blow up
LAST_PART = 0.3  # of the epochs


@dataclass(frozen=True)
class Crowding:
    """The radii of the rows in the table, standardised, and how much they count."""

    radii: NDArray[np.float64]  # (n,) mean 0, variance 1
    strength: float

    @classmethod
    def of(cls, graph: Fuzzy, strength: float) -> Self:
        """From a fuzzy graph with its lengths; the strength is relative to the sum of its weights."""
        radii = table_radii(graph)
        scale = np.sqrt(radii.var() + SHIFT)
        total = float(graph.weights.sum(dtype=np.float64)) / 2
        return cls((radii - radii.mean()) / scale, strength * total / max(graph.n, 1))

    def first(self, total: int) -> int:
        """The epoch with which it begins."""
        return int(np.ceil(total * (1 - LAST_PART)))

    def active(self, epoch: int, total: int) -> bool:
        """Whether it counts in this epoch."""
        return epoch >= self.first(total)

    def numbers(self, positions: Array, graph: Fuzzy, a: float, b: float, threads: int) -> NDArray[np.float32]:
        """Two numbers a row from which the kernel makes the slope of the correlation along an edge, (2 n,).

        The slope in a row's radius is s = (R - cov (r - mean r) / var) / std, and that of the radius in a squared
        distance φ / Σφ ((1 - b (1 - φ)) / e^r + t), t = a b d^(2b - 2) / (1 + a d^2b): the numbers are
        s / (Σφ e^r) and s / Σφ.
        """
        shares, radii = map_radii(positions, graph, a, b, threads)
        spread = np.sqrt(radii.var() + SHIFT)
        together = float(radii @ self.radii) / max(graph.n - 1, 1)
        slope = (self.radii - together * (radii - radii.mean()) / spread**2) * (self.strength / spread)
        by_share = slope / np.maximum(shares, TINY)
        return np.column_stack([by_share * np.exp(-radii), by_share]).astype(np.float32).ravel()


def map_radii(positions: Array, graph: Fuzzy, a: float, b: float, threads: int) -> tuple[Array, Array]:
    """Σφ, and the logarithms of the mean squared distances with weights φ = 1 / (1 + a d^2b), (n,)."""
    shares, spreads = np.empty(graph.n, np.float32), np.empty(graph.n, np.float32)
    _native.umap_radii(positions, graph.starts, graph.columns, a, b, shares, spreads, threads)
    wide = shares.astype(np.float64)
    return wide, np.log(TINY + spreads / np.maximum(wide, TINY))


def table_radii(graph: Fuzzy) -> NDArray[np.float64]:
    """The logarithms of the mean squared lengths with the graph's weights, (n,)."""
    weights = graph.weights.astype(np.float64)
    squares = np.bincount(graph.rows, weights * graph.lengths.astype(np.float64) ** 2, minlength=graph.n)
    return np.asarray(np.log(TINY + squares / np.maximum(np.bincount(graph.rows, weights, minlength=graph.n), TINY)))
