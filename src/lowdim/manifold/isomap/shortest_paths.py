"""Geodesics: lengths of the shortest ways through a graph."""

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

__all__ = ["Roads"]

Array = NDArray[Any]

QUERIES = 2048  # between two reports of progress


@dataclass(frozen=True)
class Roads:
    """The edges of a graph and their lengths, its nodes reordered so that neighbours lie near in memory.

    Node v of the reordered graph is row names[v] of the table.
    """

    starts: NDArray[np.int64]  # (n + 1,)
    columns: NDArray[np.int32]
    lengths: NDArray[np.float32]
    names: NDArray[np.int32]  # (n,)

    def __post_init__(self) -> None:
        sizes = [np.shape(part) for part in (self.starts, self.columns, self.lengths, self.names)]
        n = len(self.names)
        fits = sizes[0] == (n + 1,) and sizes[1] == sizes[2] and all(len(size) == 1 for size in sizes)
        if not (fits and self._sound()):
            raise BadInput("the parts of a graph of ways do not fit together; fit the model again.")

    def _sound(self) -> bool:
        """Whether the numbers make a graph: a model file may hold anything."""
        kinds = [part.dtype for part in (self.starts, self.columns, self.lengths, self.names)]
        if kinds != [np.int64, np.int32, np.float32, np.int32]:
            return False
        steps = np.diff(self.starts)
        return bool(
            self.starts[0] == 0
            and self.starts[-1] == len(self.columns)
            and (steps >= 0).all()
            and (self.columns >= 0).all()
            and (self.columns < self.n).all()
            and (np.isfinite(self.lengths) & (self.lengths >= 0)).all()
            and np.array_equal(np.sort(self.names), np.arange(self.n))
        )

    @classmethod
    def of(cls, matrix: sp.csr_array) -> Roads:
        """The ways along the stored entries of a symmetric matrix of lengths, 0 among them."""
        starts, columns = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32)
        lengths = np.ascontiguousarray(matrix.data, dtype=np.float32)
        n = matrix.shape[0]
        names = np.empty(n, dtype=np.int32)
        _native.locality_order(starts, columns, lengths, names)
        degrees = np.diff(starts)[names]
        moved = np.concatenate([[0], np.cumsum(degrees)])
        take = np.repeat(starts[:-1][names] - moved[:-1], degrees) + np.arange(len(columns))
        return cls(moved, _inverse(names)[columns[take]], lengths[take], names)

    @property
    def n(self) -> int:
        """The number of nodes."""
        return len(self.names)

    def from_rows(self, rows: Array, threads: int) -> NDArray[np.float32]:
        """Lengths of the shortest ways from these rows to all, (m, n)."""
        return self.from_seeds(rows[:, None], np.zeros((len(rows), 1), dtype=np.float32), threads)

    def require_room(self, m: int) -> None:
        """Raise MemoryTooSmall if the ways from m points to all rows do not fit."""
        require_memory(
            4 * m * self.n,
            f"{m} x {self.n} geodesic distances",
            "Use fewer rows, or Isomap(n_landmarks=…), which needs a few rows of them.",
        )

    def from_seeds(self, near: Array, lengths: Array, threads: int) -> NDArray[np.float32]:
        """The same from points beside the graph: point i is lengths[i, s] away from row near[i, s], (m, n)."""
        m = len(near)
        self.require_room(m)
        out = np.empty((m, self.n), dtype=np.float32)
        nodes = _inverse(self.names)[near]  # (m, s)
        # Points that stand near one another are found together.
        order = np.argsort(nodes[:, 0], kind="stable").astype(np.int32) if m else np.empty(0, dtype=np.int32)
        nodes, lengths = np.ascontiguousarray(nodes[order]), np.ascontiguousarray(lengths[order], dtype=np.float32)
        for start in range(0, m, QUERIES):
            part = slice(start, start + QUERIES)
            _native.shortest_paths(
                self.starts,
                self.columns,
                self.lengths,
                self.names,
                nodes[part],
                lengths[part],
                order[part],
                out,
                threads,
            )
            report("walking the graph", min(start + QUERIES, m), m)
        return out


def _inverse(names: NDArray[np.int32]) -> NDArray[np.int32]:
    places = np.empty_like(names)
    places[names] = np.arange(len(names), dtype=np.int32)
    return places
