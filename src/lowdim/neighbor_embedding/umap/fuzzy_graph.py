"""The fuzzy graph of UMAP: a fuzzy simplicial set of nearest neighbors.

A neighbor at distance d belongs to its row with membership strength

    w = exp(-max(0, d - ρ) / σ),   Σ w = log2 k,

where ρ is the distance to the nearest neighbor and k counts the row itself. The strengths v and w of both directions of
an edge are combined into mix (v + w - v w) + (1 - mix) v w: the fuzzy union for mix = 1, the fuzzy intersection for 0.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim import _native
from lowdim.knn.fitted import FittedNeighbors, NeighborSource, NeighborSpec
from lowdim.knn.graph import Graph
from lowdim.runtime.memory import require_memory
from lowdim.runtime.warning import warn

__all__ = [
    "FuzzyGraph",
    "Memberships",
    "fuzzy_simplicial_set",
    "nearest_distinct_rows",
    "rows_in_order",
    "smooth_knn_distances",
    "symmetrize_fuzzy",
]

Array = NDArray[Any]

BYTES_PER_EDGE = 60  # of the k-NN graph, the fuzzy graph and the edge schedule


@dataclass(frozen=True)
class Memberships:
    """Membership strengths of the neighbors of m rows, (m, k), and their ρ and σ, (m,)."""

    weights: NDArray[np.float32]
    rhos: NDArray[np.float32]
    sigmas: NDArray[np.float32]


@dataclass(frozen=True)
class FuzzyGraph:
    """A symmetric graph in compressed sparse rows: membership strengths from 0 to 1, and the distances behind them."""

    starts: NDArray[np.int64]  # (n + 1,)
    columns: NDArray[np.int32]
    weights: NDArray[np.float32]
    lengths: NDArray[np.float32]

    @property
    def n(self) -> int:
        """The number of rows."""
        return len(self.starts) - 1

    @property
    def rows(self) -> NDArray[np.int32]:
        """The row of every entry."""
        return np.repeat(np.arange(self.n, dtype=np.int32), np.diff(self.starts))

    def to_sparse(self) -> sp.csr_array:
        """The weights as a SciPy sparse matrix."""
        return sp.csr_array((self.weights, self.columns, self.starts), shape=(self.n, self.n))

    def unique_edges(self) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """Each edge once: its endpoints, (e, 2), and its weight."""
        rows = self.rows
        forward = rows < self.columns
        return np.column_stack([rows[forward], self.columns[forward]]), self.weights[forward]

    def reordered(self, order: Array) -> FuzzyGraph:
        """The graph with new row r for old row order[r]; the columns of a row keep their order."""
        new_row = np.empty(self.n, dtype=np.int32)
        new_row[order] = np.arange(self.n, dtype=np.int32)
        starts, edges = rows_in_order(self.starts, order)
        return FuzzyGraph(starts, new_row[self.columns[edges]], self.weights[edges], self.lengths[edges])

    def subgraph(self, begin: int, end: int) -> FuzzyGraph:
        """The subgraph of rows begin … end - 1; no edge may leave it."""
        low, high = self.starts[begin], self.starts[end]
        inside = slice(low, high)
        columns = self.columns[inside] - np.int32(begin)
        return FuzzyGraph(self.starts[begin : end + 1] - low, columns, self.weights[inside], self.lengths[inside])

    def without_edges_from(self, distance: float) -> FuzzyGraph:
        """The graph without edges of this length or longer; rows that lose all of theirs are told of."""
        kept = self.lengths < distance
        starts = np.concatenate([[0], np.cumsum(kept)])[self.starts]
        alone = int((np.diff(starts) == 0).sum())
        if alone:
            warn(
                f"{alone} of {self.n} rows have no neighbor nearer than disconnection_distance={distance:g}: they stay "
                "where they start, and their positions mean nothing. Raise it, or leave these rows out."
            )
        return FuzzyGraph(starts, self.columns[kept], self.weights[kept], self.lengths[kept])

    @classmethod
    def single_row(cls) -> FuzzyGraph:
        """The graph of one row, without edges."""
        empty = np.empty(0, np.float32)
        return cls(np.zeros(2, np.int64), np.empty(0, np.int32), empty, empty)

    @classmethod
    def from_sparse(cls, weights: sp.csr_array, lengths: Array | None = None) -> FuzzyGraph:
        """The graph of a symmetric sparse matrix of weights; its entries must be sorted."""
        lengths = np.zeros(weights.nnz, dtype=np.float32) if lengths is None else lengths
        return cls(
            weights.indptr.astype(np.int64),
            weights.indices.astype(np.int32),
            weights.data.astype(np.float32),
            np.ascontiguousarray(lengths, dtype=np.float32),
        )


def smooth_knn_distances(distances: Array, local_connectivity: float, threads: int) -> Memberships:
    """Membership strengths of neighbors at ascending distances, (m, k), calibrated to sum to log2(k + 1)."""
    distances = np.ascontiguousarray(distances, dtype=np.float32)
    m, k = distances.shape
    out = Memberships(np.empty((m, k), np.float32), np.empty(m, np.float32), np.empty(m, np.float32))
    target = float(np.log2(k + 1))
    _native.smooth_knn(distances, target, float(local_connectivity), out.rhos, out.sigmas, out.weights, threads)
    return out


def fuzzy_simplicial_set(graph: Graph | None, local_connectivity: float, mix: float, threads: int) -> FuzzyGraph:
    """The fuzzy graph of a k-nearest-neighbor graph; without one, that of a single row."""
    if graph is None:
        return FuzzyGraph.single_row()
    memberships = smooth_knn_distances(graph.distances, local_connectivity, threads)
    directed = FuzzyGraph(
        np.arange(graph.n + 1, dtype=np.int64) * graph.k,
        graph.indices.ravel(),
        memberships.weights.ravel(),
        graph.distances.ravel(),
    )
    return symmetrize_fuzzy(directed, mix, threads)


def symmetrize_fuzzy(directed: FuzzyGraph, mix: float, threads: int) -> FuzzyGraph:
    """The fuzzy union (mix 1) or intersection (mix 0) of a directed fuzzy graph and its transpose."""
    parts = directed.starts, directed.columns, directed.weights, directed.lengths
    return FuzzyGraph(*_native.symmetrize_memberships(*parts, mix, threads))


def rows_in_order(starts: Array, order: Array) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Compressed sparse rows in another order: their new starts, and the old index of every entry."""
    counts = np.diff(starts)[order]
    new = np.concatenate([[0], np.cumsum(counts)])
    return new, np.repeat(starts[:-1][order] - new[:-1], counts) + np.arange(new[-1])


def nearest_distinct_rows(source: NeighborSource, spec: NeighborSpec) -> FittedNeighbors:
    """As many neighbors as the specification asks for, the row itself left out, or a warning that there are fewer."""
    asked = k = spec.k
    if source.graph is not None:
        k = min(k, source.graph.k)
    elif source.rows is not None:
        n = source.rows.count
        require_memory(BYTES_PER_EDGE * n * min(k + 1, n), "the fuzzy graph", "Use fewer neighbors or fewer rows.")
    fitted = FittedNeighbors.of(source, replace(spec, k=k), compact=True, unique=True)
    fitted.distinct.warn_of_shared_positions()
    if fitted.k < asked:
        what = "other rows are different" if source.graph is None else "neighbors are in the graph"
        warn(
            f"n_neighbors={asked + 1} was lowered to {fitted.k + 1} (the row itself included): no more {what}. "
            "Ask for fewer."
        )
    return fitted
