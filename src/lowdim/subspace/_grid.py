"""Grids: the columns in intervals, of equal width (CLIQUE) or by the histogram (MAFIA), and rows as their intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput

__all__ = ["Grid", "adaptive_grid", "uniform_grid"]

Array = NDArray[Any]
Edges = NDArray[np.float64]

# MAFIA's histogram: so many rows per bin on average, and so many bins and windows at most.
ROWS_PER_BIN, MOST_BINS, MOST_WINDOWS, FEWEST_BINS = 50, 1000, 100, 10
MOST_INTERVALS = 2**15 - 1  # of a column: codes have 16 bits


@dataclass(frozen=True, eq=False)
class Grid:
    """Intervals of the columns that vary. An interval holds its lower edge, and the last one also its upper edge."""

    columns: NDArray[np.int32]  # (a,) the columns that vary
    edges: tuple[Edges, ...]  # ascending, one more than intervals, for each of them
    least: NDArray[np.int64]  # (items,) rows that make an interval, and units in it, dense

    @property
    def starts(self) -> NDArray[np.int32]:
        """Where the items of each column start, (a + 1,): an item is one interval of one column."""
        return np.concatenate([[0], np.cumsum([len(edges) - 1 for edges in self.edges])]).astype(np.int32)

    @property
    def axis_of(self) -> NDArray[np.int32]:
        """The axis of each item, an index into `columns`."""
        return np.repeat(np.arange(len(self.edges), dtype=np.int32), [len(edges) - 1 for edges in self.edges])

    def codes(self, block: Array) -> NDArray[np.int16]:
        """The interval of each value, (a, m); -1 outside of the grid."""
        out = np.empty((len(self.edges), len(block)), dtype=np.int16)
        for axis, (column, edges) in enumerate(zip(self.columns, self.edges, strict=True)):
            values = np.ascontiguousarray(block[:, column], dtype=np.float64)
            out[axis] = np.searchsorted(edges[1:-1], values, side="right")
            out[axis][(values < edges[0]) | (values > edges[-1])] = -1
        return out

    def _validate(self) -> None:
        """What a model file must hold."""
        ascending = all(
            isinstance(edges, np.ndarray)
            and edges.dtype == np.float64
            and edges.ndim == 1
            and 2 <= len(edges) <= MOST_INTERVALS
            and np.isfinite(edges).all()
            and (np.diff(edges) > 0).all()
            for edges in self.edges
        )
        columns = self.columns.dtype == np.int32 and (np.diff(self.columns) > 0).all()
        if not (ascending and columns and len(self.edges) == len(self.columns)):
            raise BadInput("edges must ascend, for ascending columns")
        if self.least.dtype != np.int64 or len(self.least) != self.starts[-1]:
            raise BadInput("there must be one threshold per interval")


def uniform_grid(low: Array, high: Array, xi: int, tau: float, n: int) -> Grid:
    """`xi` intervals of equal width per column; a unit is dense with more than tau n rows."""
    columns = np.flatnonzero(low < high).astype(np.int32)
    edges = tuple(_equal_intervals(float(low[j]), float(high[j]), xi) for j in columns)
    items = sum(len(edge) - 1 for edge in edges)
    return Grid(columns, edges, np.full(items, int(np.floor(tau * n)) + 1, dtype=np.int64))


def histogram_bins(n: int) -> int:
    """The number of bins of MAFIA's histogram of n rows."""
    return int(np.clip(n // ROWS_PER_BIN, FEWEST_BINS, MOST_BINS))


def adaptive_grid(low: Array, high: Array, histograms: Array, xi: int, alpha: float, beta: float) -> Grid:
    """MAFIA's grid, from histograms (d, bins) of equal bins: neighboring windows of similar height are merged.

    A unit is dense with more than alpha times the rows that a uniform distribution would put into each of its
    intervals. A column of one height is divided into `xi` intervals.
    """
    columns = np.flatnonzero(low < high).astype(np.int32)
    edges, least = [], []
    for j in columns:
        fine = _equal_intervals(float(low[j]), float(high[j]), histograms.shape[1])
        apart = len(fine) == histograms.shape[1] + 1  # else rounding merged the bins already
        own = fine[_merge_windows(histograms[j], beta)] if apart else fine
        if len(own) == 2:
            own = _equal_intervals(float(low[j]), float(high[j]), xi)
        edges.append(own)
        share = np.diff(own) / (own[-1] - own[0])
        least.append(np.floor(alpha * share * histograms[j].sum()).astype(np.int64) + 1)
    return Grid(columns, tuple(edges), np.concatenate([np.zeros(0, dtype=np.int64), *least]))


def _equal_intervals(low: float, high: float, count: int) -> Edges:
    """Edges of intervals of equal width; fewer intervals if rounding does not tell all of them apart."""
    edges = low + (high - low) * (np.arange(count + 1) / count)
    edges[-1] = high
    return np.unique(np.clip(edges, low, high))


def _merge_windows(histogram: Array, beta: float) -> NDArray[np.intp]:
    """The bins at which intervals begin, and the number of bins.

    A window is as high as the highest of its bins, and an interval as its windows on average. From left to right, a
    window joins the interval before it if their heights differ by at most beta times the greater.
    """
    bins = len(histogram)
    size = -(-bins // MOST_WINDOWS)
    begins = np.arange(0, bins, size)
    heights = np.maximum.reduceat(histogram, begins)
    cuts, height, windows = [0], float(heights[0]), 1
    for begin, other in zip(begins[1:].tolist(), heights[1:].tolist(), strict=True):
        if abs(other - height) <= beta * max(other, height):
            windows += 1
            height += (other - height) / windows
        else:
            cuts.append(begin)
            height, windows = other, 1
    return np.array([*cuts, bins])
