"""densMAP: rows that are crowded in the table are to be crowded in the map.

The mean squared distance of a row to its neighbours, as a logarithm, is its radius; in the last part of the run, the
layout also climbs the correlation of the radii in the map with those in the table (Narayan, Berger and Cho 2021).
"""

from __future__ import annotations

from dataclasses import astuple, dataclass
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from lowdim import _native
from lowdim.knn.graph import Graph
from lowdim.neighbor_embedding.umap.fuzzy_graph import FuzzyGraph, smooth_knn_distances

__all__ = ["DensityCorrelation", "DensityTarget", "embedding_radii", "first_epoch", "original_radii"]

Array = NDArray[Any]


class Curve(Protocol):
    """The curve 1 / (1 + a d^2b) of a map."""

    @property
    def a(self) -> float: ...
    @property
    def b(self) -> float: ...


TINY = 1e-8
SHIFT = 0.1  # added to the variance of the radii, so that equal ones do not blow up
LAST_PART = 0.3  # of the epochs


@dataclass(frozen=True)
class DensityCorrelation:
    """How the radii r of a map go with those of its table, R: what a row, fitted or new, is to be moved by."""

    table_mean: float
    table_spread: float
    map_mean: float
    map_spread: float
    together: float  # the covariance of both, R being standardised
    strength: float
    least: float  # of R
    most: float

    @classmethod
    def of(cls, table: Array, radii: Array, strength: float) -> Self:
        """Of the rows of a map."""
        mean, spread = float(table.mean()), _spread(table)
        together = float(radii @ ((table - mean) / spread)) / max(len(radii) - 1, 1)
        extent = float(table.min()), float(table.max())
        return cls(mean, spread, float(radii.mean()), _spread(radii), together, strength, *extent)

    def to_array(self) -> NDArray[np.float64]:
        """All of it as plain numbers, to be kept; `DensityCorrelation(*array)` is the same again."""
        return np.array(astuple(self))

    def numbers(self, table: Array, shares: Array, radii: Array) -> NDArray[np.float32]:
        """Two numbers a row from which the kernel makes the slope of the correlation along an edge, (2 m,).

        The slope in a row's radius is s = (R - cov (r - mean r) / var) / std, and that of the radius in a squared
        distance φ / Σφ ((1 - b (1 - φ)) / e^r + t), t = a b d^(2b - 2) / (1 + a d^2b): the numbers are
        s / (Σφ e^r) and s / Σφ. An R beyond all that were seen counts as the outermost of them.
        """
        wanted = (np.clip(table, self.least, self.most) - self.table_mean) / self.table_spread
        slope = wanted - self.together * (radii - self.map_mean) / self.map_spread**2
        by_share = slope * (self.strength / self.map_spread) / np.maximum(shares, TINY)
        return np.column_stack([by_share * np.exp(-radii), by_share]).astype(np.float32).ravel()


@dataclass(frozen=True)
class DensityTarget:
    """The radii of the rows in the table, and how much they count."""

    radii: NDArray[np.float64]  # (n,)
    strength: float

    @classmethod
    def of(cls, graph: FuzzyGraph, strength: float) -> Self:
        """From a fuzzy graph with its lengths; the strength is relative to the sum of its weights."""
        radii = original_radii(graph.rows, graph.weights, graph.lengths, graph.n)
        return cls(radii, strength * float(graph.weights.sum(dtype=np.float64)) / 2 / max(graph.n, 1))

    def numbers(self, positions: Array, graph: FuzzyGraph, forces: Curve, threads: int) -> NDArray[np.float32]:
        """Those of `DensityCorrelation`, for a map of the graph."""
        shares, radii = embedding_radii(positions, None, graph.starts, graph.columns, forces, threads)
        return DensityCorrelation.of(self.radii, radii, self.strength).numbers(self.radii, shares, radii)

    def for_new_rows(
        self, positions: Array, graph: Graph, connectivity: float, forces: Curve, threads: int
    ) -> DensityCorrelation:
        """With a map that is done, by what new rows have as well: edges to their neighbours, none from them."""
        weights = smooth_knn_distances(graph.distances, connectivity, threads).weights
        rows, starts = np.repeat(np.arange(graph.n), graph.k), np.arange(graph.n + 1, dtype=np.int64) * graph.k
        table = original_radii(rows, weights.ravel(), graph.distances.ravel(), graph.n)
        radii = embedding_radii(positions, None, starts, graph.indices.ravel(), forces, threads)[1]
        return DensityCorrelation.of(table, radii, self.strength)


def first_epoch(total: int) -> int:
    """The epoch with which it begins."""
    return int(np.ceil(total * (1 - LAST_PART)))


def embedding_radii(
    positions: Array, among: Array | None, starts: Array, columns: Array, forces: Curve, threads: int
) -> tuple[Array, Array]:
    """Σφ, and the logarithms of the mean squared distances with weights φ = 1 / (1 + a d^2b), (m,).

    The edges lead to rows of `among`, or of the positions themselves.
    """
    m = len(positions)
    shares, spreads = np.empty(m, np.float32), np.empty(m, np.float32)
    _native.umap_radii(positions, among, starts, columns, forces.a, forces.b, shares, spreads, threads)
    wide = shares.astype(np.float64)
    return wide, np.log(TINY + spreads / np.maximum(wide, TINY))


def original_radii(rows: Array, weights: Array, lengths: Array, n: int) -> NDArray[np.float64]:
    """The logarithms of the mean squared lengths of each row's edges with these weights, (n,)."""
    wide = weights.astype(np.float64)
    squares = np.bincount(rows, wide * lengths.astype(np.float64) ** 2, minlength=n)
    return np.asarray(np.log(TINY + squares / np.maximum(np.bincount(rows, wide, minlength=n), TINY)))


def _spread(radii: Array) -> float:
    return float(np.sqrt(radii.var() + SHIFT))
