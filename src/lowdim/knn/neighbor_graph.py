"""Vicinity: the neighbours of the rows of a fit, and those of new rows among them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.data.rows import Rows, StreamRows
from lowdim.data.validation import read_rows
from lowdim.distance.metrics import metric_of
from lowdim.errors import BadInput, NotEnoughData
from lowdim.knn import blockwise as given
from lowdim.knn.graph import Graph, both_ways
from lowdim.knn.index import Distance, Found, NeighborIndex
from lowdim.knn.sparse_distances import all_entries, distances_of
from lowdim.runtime.memory import require_memory

__all__ = ["Search", "Vicinity", "vicinity_of"]

Array = NDArray[Any]

FIRST_GUESS = 32  # neighbours asked for first in a search by radius


@dataclass(frozen=True)
class Search:
    """How neighbours are looked for: the k nearest, or all within a radius."""

    k: int
    radius: float | None
    metric: Distance
    seed: int
    threads: int

    def among(self, rows: Any) -> NeighborIndex:
        """An index of rows. All within a radius are found only exactly."""
        algorithm = "auto" if self.radius is None else "exact"
        return NeighborIndex(rows, metric=self.metric, algorithm=algorithm, random_state=self.seed, n_jobs=self.threads)

    def new(self, owner: Any, X: Any, rows: Array | None, n: int) -> tuple[Found, np.dtype[Any] | None]:
        """Neighbours of new rows among the n fitted ones, and their dtype; beyond the radius, only the nearest counts.

        X may be what `NeighborIndex.query` found for them, which has none; without rows (distances were given), X holds
        distances.
        """
        if isinstance(X, Found):
            return _checked(X, n), None
        if rows is None and not metric_of(self.metric).given:
            raise BadInput(
                "this model was fitted to a graph and has no rows to compare new ones with. "
                "Fit it to the rows, or give the neighbours that NeighborIndex.query finds."
            )
        asked = read_rows(owner, X, fitting=False)
        if rows is not None:
            index = self._kept(owner, rows)
            return self.enough(lambda k: index.query(asked, k), n), asked.dtype
        if asked.d != n:
            raise BadInput(
                f"metric='precomputed' takes the distances of new rows to the {n} fitted ones, a column each; "
                f"got {asked.d} columns."
            )
        if asked.sparse and self.radius is not None:
            return Found(*all_entries(asked.whole())), asked.dtype

        def select(k: int) -> Found:
            lists = given.chosen(asked, n, k, False, self.threads)
            return Found(lists.indices, lists.distances)

        return self.enough(select, n), asked.dtype

    def enough(self, ask: Callable[[int], Any], most: int) -> Any:
        """The k nearest, or all there are; with a radius, as many as make sure that nobody within it is missing."""
        if self.radius is None:
            return ask(min(self.k, most))
        k = min(FIRST_GUESS, most)
        while True:
            found = ask(k)
            if k == most or (found.distances[:, -1] > self.radius).all():
                return found
            k = min(4 * k, most)
            needed = 8 * len(found.distances) * k
            require_memory(needed, f"the neighbours within {self.radius:g}", "Give a smaller radius.")

    def _kept(self, owner: Any, rows: Array) -> NeighborIndex:
        """The index of the fitted rows, which the owner keeps until it is fitted again or another one is asked for."""
        index: NeighborIndex | None = getattr(owner, "_cache", None)
        wanted = self.among(rows)  # reads nothing yet
        if index is None or index.options != wanted.options or index.n != wanted.n:
            index = owner._cache = wanted
        return index


@dataclass(frozen=True)
class Vicinity:
    """Neighbours, the rows they were found among (None if distances or a graph were given), and their dtype."""

    lists: Graph | None  # None where each row has its own number of neighbours
    rows: Array | None
    source: Any  # what bridges between components are measured on
    dtype: np.dtype[Any]
    union: sp.csr_array | None = None  # in place of the lists

    @property
    def graph(self) -> Graph:
        """The k nearest of every row."""
        assert self.lists is not None
        return self.lists

    @property
    def n(self) -> int:
        """The number of rows."""
        return self.graph.n if self.union is None else int(self.union.shape[0])

    def symmetric(self) -> sp.csr_array:
        """The distances of all edges, both ways."""
        return self.graph.symmetrize("union") if self.union is None else self.union


def vicinity_of(owner: Any, X: Any, search: Search) -> Vicinity:
    """The neighbours among the rows of X, which may be a Graph already."""
    if isinstance(X, Graph):
        if search.radius is None and X.k < search.k:
            raise NotEnoughData(
                f"n_neighbors={search.k} needs a graph of as many neighbours; this one has {X.k}. "
                "Make it with more, or ask for fewer."
            )
        graph = X if search.radius is not None else X.nearest(search.k)
        return Vicinity(graph, None, None, np.dtype(np.float32))
    rows = read_rows(owner, X, fitting=True, min_rows=2)
    if isinstance(rows, StreamRows):
        raise BadInput("neighbours need all rows at once; give an array, a memory map or a dataframe.")
    index = search.among(rows)
    if index.metric.given and rows.sparse:
        return _stored(rows, search)
    graph = search.enough(index.graph, rows.count - 1)
    kept = _as_array(rows)
    if index.metric.given:
        return Vicinity(graph, None, kept, rows.dtype)
    owner._cache = search.among(kept)
    return Vicinity(graph, kept, kept, rows.dtype)


def _stored(rows: Rows, search: Search) -> Vicinity:
    """A sparse table of distances: what is stored are the neighbours. With a radius, all that are within it."""
    if search.radius is None:
        graph = Graph.from_sparse(rows.whole(), min(search.k, rows.count - 1))
        return Vicinity(graph, None, None, rows.dtype)
    stored = distances_of(rows.whole(), own=True).tocoo()
    row, column = stored.coords
    union = both_ways(row, column, stored.data, rows.count)
    return Vicinity(None, None, None, rows.dtype, union)


def _as_array(rows: Rows) -> Array:
    """All rows as an array: the given one where that is possible."""
    if not rows.sparse:
        return np.asarray(rows.whole())
    needed = rows.dtype.itemsize * rows.count * rows.d
    require_memory(needed, "the rows as a dense table", "Reduce the columns first, by PCA for instance.")
    whole: sp.csr_array = rows.whole()
    return np.asarray(whole.toarray())


def _checked(found: Found, n: int) -> Found:
    indices, distances = np.asarray(found.indices), np.asarray(found.distances, dtype=np.float32)
    if indices.ndim != 2 or indices.shape != distances.shape or indices.dtype.kind not in "iu":
        raise BadInput("neighbours of new rows need indices and distances of one shape (m, k).")
    if indices.size and not (indices.min() >= 0 and indices.max() < n):
        raise BadInput(f"the neighbours of new rows must be numbers from 0 to {n - 1}, rows of the fit.")
    if not np.isfinite(distances).all() or (distances < 0).any():
        raise BadInput("the distances of neighbours must be finite and not negative.")
    return Found(indices.astype(np.int32), distances)
