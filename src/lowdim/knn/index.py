"""NeighborIndex: exact or approximate k-NN search among the rows of a table, and for queries."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lowdim.data.categories import categorical_rows
from lowdim.data.ownership import dense_table
from lowdim.data.rows import Rows, StreamRows
from lowdim.data.rows.dask import DaskRows
from lowdim.data.validation import FeatureRecord, read_rows
from lowdim.distance.gower_distance import undefined_gower_error
from lowdim.distance.matrix_checks import require_distances
from lowdim.distance.metric_params import MetricParams
from lowdim.distance.metrics import Metric, MetricOrFitted, MetricSpec, metric_of
from lowdim.errors import BadInput, BadParameter, NotEnoughData
from lowdim.knn import blockwise
from lowdim.knn.approximate import InvertedFile, approximate
from lowdim.knn.beam_search import beam_search
from lowdim.knn.exact import EMPTY, NeighborLists, all_pairs, exact_query, reported
from lowdim.knn.graph import Graph
from lowdim.knn.search_space import SearchSpace, require_finite_distances, search_space_of
from lowdim.knn.sparse_search import (
    SparseSpace,
    has_inverted_index,
    is_long_search,
    sparse_all_pairs,
    sparse_query,
    sparse_space_of,
)
from lowdim.runtime.cached_property import cached_property
from lowdim.runtime.param import Choice, Integer, Maybe, Real, SeedLike, param, validate
from lowdim.runtime.random import Seed, seed_of
from lowdim.runtime.threads import thread_count

__all__ = ["NeighborIndex", "Neighbors", "SearchOptions", "neighbors"]

Array = NDArray[Any]

EXACT_ROWS = 12_000  # up to so many, comparing all pairs is as fast as an approximate search
ROWS_PER_NEIGHBOR = 20  # with fewer rows than this times k, an approximate search saves nothing
GRAPH_DEGREE = 16  # neighbors per row in the graph that queries are searched on
BRUTE_FORCE_VALUES = 1 << 22  # in a table of no more, a query is compared with all rows: it takes a millisecond


@dataclasses.dataclass(frozen=True)
class SearchOptions:
    """The options of a neighbor search."""

    metric: MetricSpec | Metric = param("euclidean", MetricOrFitted(), "Distance between two rows.")
    metric_params: Mapping[str, Any] | None = param(None, MetricParams(), "Parameters of the metric, by name.")
    algorithm: str = param(
        "auto",
        Choice("auto", "exact", "approximate"),
        "'exact' compares all pairs; 'approximate' is an inverted file and NN-descent; 'auto' takes the faster.",
    )
    recall: float = param(0.99, Real(0, 1), "Share of the true neighbors at which an approximate search may stop.")
    random_state: Seed = param(0, SeedLike(), "Seed of the approximate search.")
    n_jobs: int | None = param(None, Maybe(Integer()), "Threads; the result has the same bits for any number.")


class Neighbors(NamedTuple):
    """The neighbors of queries, nearest first: `indices` and `distances`, (m, k)."""

    indices: NDArray[np.int32]
    distances: NDArray[np.float32]


def neighbors(
    X: Any,
    k: int,
    *,
    metric: MetricSpec = "euclidean",
    metric_params: Mapping[str, Any] | None = None,
    algorithm: str = "auto",
    recall: float = 0.99,
    random_state: Seed = 0,
    n_jobs: int | None = None,
) -> Graph:
    """The k nearest neighbors of every row, as a Graph; a row is not its own neighbor.

    Parameters
    ----------
    X : array, sparse matrix, memory map or dataframe
        n rows of d columns; with metric="precomputed", n × n distances: all of them, or a sparse matrix whose
        stored entries are the neighbors. It is never changed.
    k : int
        Neighbors per row, at most n - 1.
    metric : str or function of two rows
        "euclidean", "sqeuclidean", "manhattan", "chebyshev", "minkowski" (p); "seuclidean" (V) and "mahalanobis" (V or
        VI), whose variances are those of X unless they are given; "cosine", "correlation"; "canberra", "braycurtis";
        "hellinger" between shares of a whole; "haversine" of latitude and longitude in radians; "hamming" of any
        values; "jaccard", "dice", "russellrao", "rogerstanimoto", "sokalmichener", "sokalsneath" and "yule" on values 0
        and 1; "gower" of numbers, categories and missing values; "precomputed". A zero row (for correlation, a constant
        one) is at cosine distance 1 from all others and 0 from other such rows.
    metric_params : dict, optional
        Parameters of the metric, such as {"p": 3}. For "gower": `weights` of the columns; which of them (numbers, names
        or flags) are `categorical`, `ordinal` or `asymmetric`; the `range` of numbers, if it is not that of X. Text and
        category columns of a dataframe are categorical by themselves.
    algorithm : "auto", "exact" or "approximate"
        Exact means that no neighbor is missing and that equal distances (in float32) are ordered by index.
    recall : float
        The share of true neighbors at which the approximate search may stop. Its estimate for the result, from a
        sample of rows searched exactly, is the graph's `recall`. Where the search falls short of it, as on data
        without structure, "auto" compares all pairs and "approximate" returns what it has.
    random_state : int, generator or None
        Seed of the approximate search: the same seed gives the same bits for any number of threads.
    n_jobs : int, optional
        Threads.

    """
    index = NeighborIndex(
        X,
        metric=metric,
        metric_params=metric_params,
        algorithm=algorithm,
        recall=recall,
        random_state=random_state,
        n_jobs=n_jobs,
    )
    return index.graph(k)


class NeighborIndex:
    """Rows kept for searching: `graph(k)` among themselves, `query(Y, k)` for new ones."""

    def __init__(self, X: Any, **options: Any) -> None:
        try:
            self.options = SearchOptions(**options)
        except TypeError as error:
            raise BadParameter(f"NeighborIndex: {error}.") from None
        validate(self.options)
        self.metric = metric_of(self.options.metric, self.options.metric_params)
        self._threads = thread_count(self.options.n_jobs)
        self._seed = seed_of(self.options.random_state)
        self._features = FeatureRecord()  # remembers the columns of X for the checks of queries
        X = self._encoded(X)
        self._rows = _read(self._features, X, fitting=True)
        if not isinstance(X, Rows):  # the graph remembers these rows, and a model fitted to it their columns
            self._rows.feature_names = getattr(self._features, "feature_names_in_", None)  # type: ignore[attr-defined]
        if self._rows.count > EMPTY - 1:
            raise BadInput(f"at most {EMPTY - 1} rows can be indexed; got {self._rows.count}.")
        if self.metric.precomputed and self._rows.count != self._rows.d:
            shape = (self._rows.count, self._rows.d)
            raise BadInput(f"metric='precomputed' needs a square table of distances; got shape {shape}.")
        if self.metric.precomputed and not self._rows.sparse:
            require_distances(dense_table(self._rows))
        self.metric = self.metric.fitted(self._rows)
        self._query_graph: tuple[Graph, InvertedFile] | None = None

    @property
    def n(self) -> int:
        """The number of rows."""
        return self._rows.count

    def graph(self, k: int) -> Graph:
        """The k nearest neighbors of every row."""
        self._check_k(k, self.n - 1, "other rows")
        if isinstance(self._rows, DaskRows):
            return self._partitioned(self._rows, k)
        if self._is_approximate(k):
            found = self._approximate(k, or_exact=self.options.algorithm == "auto")
            if found is not None:
                return found[0]
            # Data without structure: the search would miss too much, and "auto" keeps the recall it was asked for.
        return self._as_graph(self._exact(k), "exact", 1.0)

    def query(self, Y: Any, k: int) -> Neighbors:
        """The k nearest rows to each row of Y (for metric="precomputed", Y holds distances to the rows).

        What is found for a row does not depend on the other queries. "auto" compares each with all rows of a small
        table; of a large one it makes a k-NN graph at the first query, keeps it, and runs a beam search on it.
        """
        self._check_k(k, self.n, "rows in the index")
        rows = _read(self._features, self._encoded(Y), fitting=False)
        if rows.d != self._rows.d:
            raise BadInput(f"Y has {rows.d} columns, but the index was made of rows with {self._rows.d}.")
        lists = self._beam_search(rows, k) if self._uses_graph(k) else self._exact(k, rows)
        self._require_finite(lists)
        return Neighbors(lists.indices, lists.distances)

    def _is_approximate(self, k: int) -> bool:
        """Whether to search approximately."""
        possible = self.metric.kernel is not None and not blockwise.is_wide(self._rows) and self.n > 2
        if self.options.algorithm == "approximate":
            if not possible:
                raise BadParameter(
                    f"algorithm='approximate' does not know metric {self.metric.name!r} on these rows; "
                    "use algorithm='exact'."
                )
            return True
        worthwhile = self.n > EXACT_ROWS and k * ROWS_PER_NEIGHBOR < self.n
        if self.options.algorithm != "auto" or not possible or not worthwhile:
            return False
        return not self._is_inverted or is_long_search(self._rows)

    def _uses_graph(self, k: int) -> bool:
        """Whether queries are searched on a graph. It must not depend on their number, or their neighbors would."""
        large = self.n * self._rows.d > BRUTE_FORCE_VALUES or self.options.algorithm == "approximate"
        return self._is_approximate(k) and large

    @cached_property
    def _space(self) -> SearchSpace:
        return search_space_of(self._rows, self.metric, self._threads)

    @property
    def _is_inverted(self) -> bool:
        return has_inverted_index(self._rows, self.metric)

    @cached_property
    def _sparse_space(self) -> SparseSpace:
        return sparse_space_of(self._rows, self.metric, self._threads)

    def _exact(self, k: int, queries: Rows | None = None) -> NeighborLists:
        """The k nearest rows of queries, or of every row: by an inverted index, blocks of distances, or tiles."""
        if self._is_inverted:
            space = self._sparse_space
            return sparse_all_pairs(space, k) if queries is None else sparse_query(space, space.prepare(queries), k)
        if self.metric.kernel is None or self.metric.by_pairs or blockwise.is_wide(self._rows):
            return self._blockwise(self._rows if queries is None else queries, k, own=queries is None)
        tiles = self._space
        return all_pairs(tiles, k) if queries is None else exact_query(tiles, *tiles.prepare(queries), k)

    def _blockwise(self, queries: Rows, k: int, own: bool) -> NeighborLists:
        """Neighbors by blocks of distances, for the metrics and rows that have no native kernel."""
        metric = self.metric
        if metric.precomputed:
            return blockwise.nearest_given(queries, self.n, k, own, self._threads)
        blocks = blockwise.distance_blocks(queries, self._rows, metric, self._threads)
        threads = 1 if metric.function is not None else self._threads
        size = blockwise.block_rows(self.n, self._rows.d, metric)
        return blockwise.nearest_in_blocks(
            blocks, queries.count, self.n, k, own, threads, undefined=metric.missing, size=size
        )

    def _approximate(self, k: int, *, or_exact: bool = False) -> tuple[Graph, InvertedFile] | None:
        """The graph and the cells it was found with; None if its recall is too low and all pairs can be compared."""
        space = self._space
        lists, recall, cells = approximate(space, k, self.options.recall, self._seed, or_exact=or_exact)
        if or_exact and recall < self.options.recall:
            return None
        own = np.arange(self.n, dtype=np.int32)
        found = reported(space, space.source, lists, k, own, cells.members)
        return self._as_graph(found, "approximate", recall), cells

    def _partitioned(self, rows: DaskRows, k: int) -> Graph:
        """The graph of rows that lie in partitions, by workers; they stay there, and the graph does not keep them."""
        from lowdim.knn.partition_search import partitioned_neighbors  # imports dask

        options = self.options
        found = partitioned_neighbors(rows, self.metric, k, options.algorithm, options.recall, self._seed)
        return dataclasses.replace(self._as_graph(*found), rows=None, measure=None)

    def _beam_search(self, rows: Rows, k: int) -> NeighborLists:
        space = self._space
        if self._query_graph is None:
            self._query_graph = self._approximate(min(GRAPH_DEGREE, self.n - 1))
            assert self._query_graph is not None
        graph, cells = self._query_graph
        return beam_search(space, graph.indices, cells, rows, k)

    def _as_graph(self, lists: NeighborLists, algorithm: str, recall: float) -> Graph:
        self._require_finite(lists)
        measure = None if self.metric.function is not None else self.metric  # functions may not be pickled
        return Graph(lists.indices, lists.distances, self.metric.name, algorithm, recall, self._rows, measure)

    def _require_finite(self, lists: NeighborLists) -> None:
        if self.metric.missing and np.isinf(lists.distances).any():
            raise undefined_gower_error()
        require_finite_distances(lists.distances)

    def _encoded(self, X: Any) -> Any:
        """Rows with codes in the place of text, if the metric compares categories."""
        return categorical_rows(X, self.metric.params.get("categories"), coded=True) if self.metric.missing else X

    def _check_k(self, k: int, most: int, what: str) -> None:
        if not Integer(1).accepts(k):
            raise BadParameter(f"k must be an integer of at least 1; got {k!r}.")
        if k > most:
            raise NotEnoughData(
                f"k must be at most {most}, the number of {what}; got {k}. Ask for fewer neighbors, or give more rows."
            )


def _read(features: FeatureRecord, X: Any, *, fitting: bool) -> Rows:
    rows = read_rows(features, X, fitting=fitting)
    if isinstance(rows, StreamRows):
        raise BadInput("a neighbor search needs all rows at once; give an array, a memory map or a dataframe.")
    if rows.count == 0:
        raise NotEnoughData("a neighbor search needs at least 1 row; got 0.")
    return rows
