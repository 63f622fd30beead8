"""Geodesic distances: lengths of the shortest paths through a weighted graph (Dijkstra)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim import _native
from lowdim.errors import BadInput
from lowdim.runtime.memory import require_memory
from lowdim.runtime.progress import report

__all__ = ["GeodesicGraph"]

Array = NDArray[Any]

QUERIES_PER_REPORT = 2048


@dataclass(frozen=True)
class GeodesicGraph:
    """A graph with edge lengths, its nodes reordered so that neighbors lie close together in memory.

    Node v of the reordered graph is row order[v] of the data.
    """

    starts: NDArray[np.int64]  # (n + 1,)
    columns: NDArray[np.int32]
    lengths: NDArray[np.float32]
    order: NDArray[np.int32]  # (n,)

    def __post_init__(self) -> None:
        sizes = [np.shape(part) for part in (self.starts, self.columns, self.lengths, self.order)]
        n = len(self.order)
        fits = sizes[0] == (n + 1,) and sizes[1] == sizes[2] and all(len(size) == 1 for size in sizes)
        if not (fits and self._is_valid()):
            raise BadInput("the parts of a geodesic graph do not fit together; fit the model again.")

    def _is_valid(self) -> bool:
        """Whether the arrays form a graph: a model file may hold anything."""
        dtypes = [part.dtype for part in (self.starts, self.columns, self.lengths, self.order)]
        if dtypes != [np.int64, np.int32, np.float32, np.int32]:
            return False
        return bool(
            self.starts[0] == 0
            and self.starts[-1] == len(self.columns)
            and (np.diff(self.starts) >= 0).all()
            and (self.columns >= 0).all()
            and (self.columns < self.n).all()
            and (np.isfinite(self.lengths) & (self.lengths >= 0)).all()
            and np.array_equal(np.sort(self.order), np.arange(self.n))
        )

    @classmethod
    def from_sparse(cls, matrix: sp.csr_array) -> GeodesicGraph:
        """The graph of a symmetric matrix of lengths; every stored entry is an edge, also one of length 0."""
        starts, columns = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32)
        lengths = np.ascontiguousarray(matrix.data, dtype=np.float32)
        order = np.empty(matrix.shape[0], dtype=np.int32)
        _native.locality_order(starts, columns, lengths, order)
        degrees = np.diff(starts)[order]
        new_starts = np.concatenate([[0], np.cumsum(degrees)])
        taken = np.repeat(starts[:-1][order] - new_starts[:-1], degrees) + np.arange(len(columns))
        return cls(new_starts, _inverse(order)[columns[taken]], lengths[taken], order)

    def is_connected(self) -> bool:
        """Whether there is a path between any two nodes, as long as the one back."""
        matrix = sp.csr_array((self.lengths, self.columns, self.starts), shape=(self.n, self.n))
        pattern = sp.csr_array((np.ones_like(self.lengths), self.columns, self.starts), shape=(self.n, self.n))
        if (abs(matrix - matrix.T).nnz, abs(pattern - pattern.T).nnz) != (0, 0):
            return False
        return int(sp.csgraph.connected_components(pattern, directed=False)[0]) == 1

    @property
    def n(self) -> int:
        """The number of nodes."""
        return len(self.order)

    def geodesics_from_rows(self, rows: Array, threads: int) -> NDArray[np.float32]:
        """Geodesic distances from these rows to all, (m, n)."""
        return self.geodesics_from_points(rows[:, None], np.zeros((len(rows), 1), dtype=np.float32), threads)

    def geodesics_from_points(self, neighbors: Array, lengths: Array, threads: int) -> NDArray[np.float32]:
        """Geodesic distances from new points to all rows, (m, n): edge (i, s) to neighbors[i, s] has lengths[i, s]."""
        m = len(neighbors)
        self.require_memory_for(m)
        out = np.empty((m, self.n), dtype=np.float32)
        nodes = _inverse(self.order)[neighbors]  # (m, s)
        # Points close to one another are taken together, because they visit the same part of the graph.
        order = np.argsort(nodes[:, 0], kind="stable").astype(np.int32) if m else np.empty(0, dtype=np.int32)
        nodes, lengths = np.ascontiguousarray(nodes[order]), np.ascontiguousarray(lengths[order], dtype=np.float32)
        graph = self.starts, self.columns, self.lengths, self.order
        for start in range(0, m, QUERIES_PER_REPORT):
            part = slice(start, start + QUERIES_PER_REPORT)
            _native.shortest_paths(*graph, nodes[part], lengths[part], order[part], out, threads)
            report("shortest paths", min(start + QUERIES_PER_REPORT, m), m)
        return out

    def require_memory_for(self, m: int) -> None:
        """Raise MemoryTooSmall if the geodesic distances from m points to all rows do not fit."""
        require_memory(
            4 * m * self.n,
            f"{m} x {self.n} geodesic distances",
            "Use fewer rows, or Isomap(n_landmarks=…), which keeps those from the landmarks alone.",
        )


def _inverse(order: NDArray[np.int32]) -> NDArray[np.int32]:
    """The inverse permutation."""
    nodes = np.empty_like(order)
    nodes[order] = np.arange(len(order), dtype=np.int32)
    return nodes
