"""The neighbour search: which rows are nearest to which, exactly or nearly so."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from lowdim import _native
from lowdim.data.duplicates import row_hashes
from lowdim.data.rows import Rows, StreamRows
from lowdim.data.validation import read_rows
from lowdim.distance.metrics import SQUARES, Metric, MetricLike, metric_of
from lowdim.errors import BadInput, BadParameter, NotEnoughData
from lowdim.knn import blockwise as given
from lowdim.knn.approximate import Cells, approximate, nearest_centres
from lowdim.knn.exact import NOBODY, Lists, all_pairs, from_queries, refined
from lowdim.knn.graph import Graph
from lowdim.knn.search_space import Space, require_finite_distances, space_of
from lowdim.runtime.param import Choice, Integer, Maybe, Real, SeedLike, param, validate
from lowdim.runtime.random import Seed, seed_of
from lowdim.runtime.threads import thread_count

__all__ = ["NeighborIndex", "Neighbors", "SearchOptions", "neighbors"]

Array = NDArray[Any]
Distance = str | Callable[[Any, Any], float]

EXACT_ROWS = 12_000  # below, comparing all pairs is as fast as any shortcut
LONG_LIST = 20  # lists of more than n / 20 places leave nothing to save
LINKS = 16  # neighbours in the graph that queries walk on
BEAM = 32  # places in a query's list while it walks
ENTRIES = 2  # cells in which a query looks before it walks
SCANNED = 1 << 22  # values; a query is compared with all rows that have no more: a millisecond, and no graph to make


@dataclasses.dataclass(frozen=True)
class SearchOptions:
    """What a neighbour search can be told."""

    metric: Distance = param("euclidean", MetricLike(), "How far two rows are apart.")
    algorithm: str = param(
        "auto",
        Choice("auto", "exact", "approximate"),
        "'exact' compares all pairs; 'approximate' looks where neighbours are likely; 'auto' takes the faster.",
    )
    recall: float = param(0.99, Real(0, 1), "Share of the true neighbours at which an approximate search may stop.")
    random_state: Seed = param(0, SeedLike(), "Seed of the approximate search.")
    n_jobs: int | None = param(None, Maybe(Integer()), "Threads; the result has the same bits for any number.")


class Neighbors(NamedTuple):
    """The neighbours of queries, nearest first: `indices` and `distances`, (m, k)."""

    indices: NDArray[np.int32]
    distances: NDArray[np.float32]


def neighbors(
    X: Any,
    k: int,
    *,
    metric: Distance = "euclidean",
    algorithm: str = "auto",
    recall: float = 0.99,
    random_state: Seed = 0,
    n_jobs: int | None = None,
) -> Graph:
    """The k nearest neighbours of every row, as a Graph; a row is not its own neighbour.

    Parameters
    ----------
    X : array, sparse matrix, memory map or dataframe
        n rows of d columns; with metric="precomputed", n × n distances: all of them, or a sparse matrix whose
        stored entries are the neighbours. It is never changed.
    k : int
        Neighbours of each row, at most n - 1.
    metric : str or function of two rows
        "euclidean", "sqeuclidean", "cosine", "correlation", "manhattan", "chebyshev"; "hamming" and "jaccard"
        on values 0 and 1; "precomputed". A row without a direction (zero; constant, for correlation) is at
        cosine distance 1 from all others and 0 from its like.
    algorithm : "auto", "exact" or "approximate"
        Exact means that no neighbour is missing and that equal distances (in float32) are ordered by index.
    recall : float
        The share of true neighbours at which the approximate search may stop. Its estimate for the result,
        from a sample of rows searched exactly, is `recall`. Where the shortcuts fall short of it, as on data
        without structure, "auto" compares all pairs and "approximate" returns what it has.
    random_state : int, generator or None
        Seed of the approximate search: the same seed gives the same bits for any number of threads.
    n_jobs : int, optional
        Threads.

    """
    index = NeighborIndex(
        X, metric=metric, algorithm=algorithm, recall=recall, random_state=random_state, n_jobs=n_jobs
    )
    return index.graph(k)


class _Door(BaseEstimator):  # type: ignore[misc]
    """Remembers the columns of X for the checks of later rows."""


class NeighborIndex:
    """Rows kept for searching: `graph(k)` among themselves, `query(Y, k)` for new ones."""

    def __init__(self, X: Any, **options: Any) -> None:
        try:
            self.options = SearchOptions(**options)
        except TypeError as error:
            raise BadParameter(f"NeighborIndex: {error}.") from None
        validate(self.options)
        self.metric = metric_of(self.options.metric)
        self._threads = thread_count(self.options.n_jobs)
        self._seed = seed_of(self.options.random_state)
        self._door = _Door()
        self._rows = _read(self._door, X, fitting=True)
        if self._rows.count > NOBODY - 1:
            raise BadInput(f"at most {NOBODY - 1} rows can be indexed; got {self._rows.count}.")
        if self.metric.given and self._rows.count != self._rows.d:
            shape = (self._rows.count, self._rows.d)
            raise BadInput(f"metric='precomputed' needs a square table of distances; got shape {shape}.")
        self._spaces: dict[bool, Space] = {}
        self._links: tuple[Graph, Cells] | None = None

    @property
    def n(self) -> int:
        """The number of rows."""
        return self._rows.count

    def graph(self, k: int) -> Graph:
        """The k nearest neighbours of every row."""
        self._check_k(k, self.n - 1, "besides itself")
        if self._nearly(k):
            graph = self._approximate(k)[0]
            if graph.recall >= self.options.recall or self.options.algorithm == "approximate":
                return graph
            # Data without structure: shortcuts miss too much, and "auto" keeps the recall it was asked for.
        lists = self._blockwise(self._rows, k, own=True)
        if lists is None:
            lists = all_pairs(self._space(nearly=False), k)
        return self._as_graph(lists, "exact", 1.0)

    def query(self, Y: Any, k: int) -> Neighbors:
        """The k nearest rows to each row of Y (for metric="precomputed", Y holds distances to the rows).

        What is found for a row does not depend on the rows beside it. "auto" compares each with all rows of a small
        table; of a large one it makes a graph at the first query, keeps it, and walks on it.
        """
        self._check_k(k, self.n, "in the index")
        rows = _read(self._door, Y, fitting=False)
        if rows.d != self._rows.d:
            raise BadInput(f"Y has {rows.d} columns, but the index was made of rows with {self._rows.d}.")
        lists = self._blockwise(rows, k, own=False)
        if lists is None:
            lists = self._query_nearly(rows, k) if self._walks(k) else self._query_exactly(rows, k)
        require_finite_distances(lists.distances)
        return Neighbors(lists.indices, lists.distances)

    def _nearly(self, k: int) -> bool:
        """Whether to search approximately."""
        possible = self.metric.name == "hamming" or (self.metric.kernel is not None and not self.metric.bits)
        possible = possible and not given.wide(self._rows) and self.n > 2
        if self.options.algorithm == "approximate":
            if not possible:
                raise BadParameter(
                    f"algorithm='approximate' does not know metric {self.metric.name!r} on these rows; "
                    "use algorithm='exact'."
                )
            return True
        worthwhile = self.n > EXACT_ROWS and k * LONG_LIST < self.n and not self.metric.bits
        return self.options.algorithm == "auto" and possible and worthwhile

    def _walks(self, k: int) -> bool:
        """Whether queries walk on a graph; this must not depend on how many come, for then their answers would."""
        large = self.n * self._rows.d > SCANNED or self.options.algorithm == "approximate"
        return self._nearly(k) and large

    def _space(self, nearly: bool) -> Space:
        nearly = nearly and self.metric.bits
        if nearly not in self._spaces:
            metric = self.metric
            if nearly:  # on 0 and 1 the share of columns that differ is a mean of squares
                space_of(self._rows, metric, self._threads)
                metric = Metric(metric.name, SQUARES, scale=1 / self._rows.d)
            self._spaces[nearly] = space_of(self._rows, metric, self._threads)
        return self._spaces[nearly]

    def _blockwise(self, queries: Rows, k: int, own: bool) -> Lists | None:
        """Neighbours by blocks of distances, for the metrics and rows that have no kernel."""
        blocks: given.Blocks
        if self.metric.given:
            return given.chosen(queries, self.n, k, own, self._threads)
        if self.metric.function is not None:
            base = _dense_whole(self._rows)
            blocks = given.of_function(base if own else _dense_whole(queries), base, self.metric.function)
        elif given.wide(self._rows):
            blocks = given.of_sparse(queries.whole(), self._rows.whole(), self.metric)
        else:
            return None
        threads = 1 if self.metric.function is not None else self._threads
        return given.select(blocks, queries.count, self.n, k, own, threads)

    def _approximate(self, k: int) -> tuple[Graph, Cells]:
        space = self._space(nearly=True)
        lists, recall, cells = approximate(space, k, self.options.recall, self._seed)
        names = np.arange(self.n, dtype=np.int32)
        return self._as_graph(refined(space, space.source, lists.indices, k, names), "approximate", recall), cells

    def _query_exactly(self, rows: Rows, k: int) -> Lists:
        space = self._space(nearly=False)
        return from_queries(space, *space.enter(rows), k)

    def _query_nearly(self, rows: Rows, k: int) -> Lists:
        """From the nearest centres and their cells (which may be empty), along the graph."""
        space = self._space(nearly=True)
        if self._links is None:
            self._links = self._approximate(min(LINKS, self.n - 1))
        graph, cells = self._links
        work, source = space.enter(rows)
        marks = row_hashes(work, self._threads)
        lists = Lists.empty(len(work), min(self.n, max(2 * k, BEAM)))
        nearest = nearest_centres(space, work, cells.centres, min(ENTRIES, len(cells.centres), lists.k))
        lists.distances[:, : nearest.k], lists.indices[:, : nearest.k] = (
            nearest.distances,
            cells.centres[nearest.indices],
        )
        for step in range(nearest.k):
            cells.probe(space, work, lists, nearest.indices[:, step], marks)
        _native.walk_queries(
            work, space.work, graph.indices, space.kernel, lists.distances, lists.indices, space.threads
        )
        out = refined(space, source, lists.indices, k, None)
        short = np.flatnonzero(out.indices[:, -1] == NOBODY)  # where a piece of the graph has fewer rows
        if len(short):
            whole = from_queries(space, np.ascontiguousarray(work[short]), np.ascontiguousarray(source[short]), k)
            out.distances[short], out.indices[short] = whole.distances, whole.indices
        return out

    def _as_graph(self, lists: Lists, algorithm: str, recall: float) -> Graph:
        require_finite_distances(lists.distances)
        return Graph(lists.indices, lists.distances, self.metric.name, algorithm, recall, self._rows)

    def _check_k(self, k: int, most: int, where: str) -> None:
        if not Integer(1).accepts(k):
            raise BadParameter(f"k must be a whole number of at least 1; got {k!r}.")
        if k > most:
            raise NotEnoughData(
                f"k must be at most {most}, because a row has {most} other(s) {where}; got {k}. "
                "Ask for fewer neighbours, or give more rows."
            )


def _read(door: _Door, X: Any, *, fitting: bool) -> Rows:
    rows = read_rows(door, X, fitting=fitting)
    if isinstance(rows, StreamRows):
        raise BadInput("a neighbour search needs all rows at once; give an array, a memory map or a dataframe.")
    if rows.count == 0:
        raise NotEnoughData("a neighbour search needs at least 1 row; got 0.")
    return rows


def _dense_whole(rows: Rows) -> Array:
    whole = rows.whole()
    return np.asarray(whole.toarray() if rows.sparse else whole)
