"""FittedNeighbors: from X, a Graph or distances to neighbors, and to the neighbors of new rows among the fitted ones.

`NeighborSource` is what a fit was given, `NeighborSpec` says what is asked for, `FittedNeighbors` is what a fit reads,
and `FittedRows` is what a fitted model keeps: it answers queries for new rows, and finds those that equal a fitted one
by a hash of their values.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.data.duplicates import DistinctRows, distinct_rows
from lowdim.data.ownership import canonical_csr, compact_table, dense_table, frozen, owned
from lowdim.data.rows import Rows, StreamRows
from lowdim.data.validation import read_rows
from lowdim.distance.metrics import metric_of
from lowdim.errors import BadInput, NotEnoughData
from lowdim.knn.fitted_rows import FittedRows, NeighborSpec, finite_block
from lowdim.knn.graph import Graph, symmetrized_edges
from lowdim.knn.index import NeighborIndex
from lowdim.knn.sparse_distances import stored_distances
from lowdim.runtime.warning import warn

__all__ = ["FittedNeighbors", "FittedRows", "NeighborSource", "NeighborSpec", "is_comparable", "read_source"]

Array = NDArray[Any]
Table = Any  # an array, or a canonical CSR matrix


@dataclass(frozen=True)
class NeighborSource:
    """What a fit was given: rows (or distances), a graph of them, or both."""

    rows: Rows | None
    graph: Graph | None = None

    def neighbor_count(self, asked: int | None, default: int) -> int:
        """The neighbors of each row: as many as were asked for; by default, all of a given graph, or `default`."""
        if asked is not None:
            return asked
        return default if self.graph is None else self.graph.k


@dataclass(frozen=True)
class FittedNeighbors:
    """The neighbors of the fitted rows, and these rows."""

    knn_graph: Graph | None  # None of a single distinct row, and where `edges` stands in its place
    rows: FittedRows
    table: Table  # what distances can be measured on: the rows, or all distances; None of a graph
    dtype: np.dtype[Any]
    distinct: DistinctRows  # which row of `rows` each fitted row is
    edges: sp.csr_array | None = None  # symmetric distances, where each row has its own number of neighbors

    @classmethod
    def of(
        cls, source: NeighborSource, spec: NeighborSpec, *, compact: bool = False, unique: bool = False
    ) -> FittedNeighbors:
        """The neighbors that `spec` asks for; a graph of the rows saves the search.

        Sparse rows stay sparse; `compact` keeps short integers in float32, and `unique` keeps equal rows once, and
        searches the distinct ones, unless their graph is given.
        """
        rows, graph = source.rows, source.graph
        if rows is None:
            assert graph is not None
            return cls._plain(_nearest(graph, spec), None, None, spec, np.dtype(np.float32))
        if spec.metric.precomputed:
            return cls._of_distances(rows, spec, graph)
        table = compact_table(rows) if compact or rows.sparse else dense_table(rows)
        if unique and graph is None:
            return cls._of_distinct(rows, table, spec)
        kept = owned(table, rows)
        found = _search(rows, spec) if graph is None else _given(graph, rows, spec)
        return cls._plain(found, kept, kept, spec, rows.dtype)

    @classmethod
    def _plain(cls, graph: Graph, X: Table | None, table: Table | None, spec: NeighborSpec, dtype: Any) -> Self:
        return cls(graph, FittedRows(X, graph.n, spec), table, dtype, DistinctRows.all_of(graph.n))

    @classmethod
    def _of_distances(cls, D: Rows, spec: NeighborSpec, graph: Graph | None) -> FittedNeighbors:
        """From a table of distances; of a sparse one, the stored entries are the neighbors."""
        n = D.count
        if not D.sparse:
            index = spec.index(D)  # refuses what are not distances
            found = _search(D, spec, index) if graph is None else _given(graph, D, spec)
            return cls._plain(found, None, dense_table(D), spec, D.dtype)
        if spec.radius is None:
            return cls._plain(Graph.from_sparse(D.whole(), min(spec.k, n - 1)), None, None, spec, D.dtype)
        spec.index(D)  # refuses a table that is not square
        stored = stored_distances(D.whole(), own=True).tocoo()
        row, column = stored.coords
        edges = symmetrized_edges(row, column, stored.data, n)
        return cls(None, FittedRows(None, n, spec), None, D.dtype, DistinctRows.all_of(n), edges)

    @classmethod
    def _of_distinct(cls, rows: Rows, table: Table, spec: NeighborSpec) -> FittedNeighbors:
        distinct = distinct_rows(table, spec.threads)
        if distinct.all_distinct:
            kept = owned(table, rows)
        else:
            for chunk in rows.chunks():
                finite_block(rows, chunk, spec.metric)  # here, where rows have the numbers that the user knows
            kept = frozen(table[distinct.first])
        return cls._among(FittedRows(kept, kept.shape[0], spec), spec.k, distinct, rows.dtype)

    @classmethod
    def _among(cls, rows: FittedRows, k: int, distinct: DistinctRows, dtype: np.dtype[Any]) -> FittedNeighbors:
        """The k nearest neighbors among distinct rows."""
        graph = None
        if rows.n == 1:
            rows.query(rows.X, 1)  # refuses values that are not finite
        else:
            graph = rows.index.graph(min(k, rows.n - 1))
        return cls(graph, rows, rows.X, dtype, distinct)

    @classmethod
    def extended(
        cls, fitted: FittedRows, distinct: DistinctRows, new: Rows, k: int, dtype: np.dtype[Any]
    ) -> FittedNeighbors:
        """The k nearest neighbors among distinct fitted rows and new ones; `distinct` says which of them each is."""
        table = compact_table(new)
        which = fitted.equal_to(table)
        fresh = table[which < 0]
        others = distinct_rows(fresh, fitted.spec.threads)
        X = _stacked(fitted.X, fresh if others.all_distinct else fresh[others.first])
        return cls._among(FittedRows(X, X.shape[0], fitted.spec), k, distinct.extended(which, others), dtype)

    @property
    def graph(self) -> Graph:
        """The k nearest neighbors of every row."""
        assert self.knn_graph is not None
        return self.knn_graph

    @property
    def n(self) -> int:
        """The number of rows that have neighbors."""
        return self.rows.n

    @property
    def k(self) -> int:
        """Neighbors per row."""
        return 0 if self.knn_graph is None else self.knn_graph.k

    def warn_if_fewer(self, asked: int | None) -> None:
        """Say so if the rows have fewer neighbors than were asked for; None asked for no number."""
        if asked is not None and self.rows.spec.radius is None and self.k < asked:
            warn(f"n_neighbors={asked} was lowered to {self.k}, the other rows that there are. Ask for fewer.")

    def symmetric(self) -> sp.csr_array:
        """The distances of all edges, in both directions."""
        return self.graph.symmetrize("union") if self.edges is None else self.edges


def read_source(owner: Any, X: Any, graph: Any = None) -> NeighborSource:
    """What an estimator is fitted to: rows or distances, with their graph if that is given, or a Graph.

    The rows that a Graph remembers are read as well, if new rows can be compared with them.
    """
    if isinstance(X, Graph):
        _warn_of_another_metric(X, owner)
        known = _read(owner, X.rows) if is_comparable(X, owner) else None
        if known is not None and known.count != X.n:
            raise BadInput(
                f"the graph has {X.n} rows, and the rows that it was given {known.count}. Give its own rows."
            )
        owner._fit_metric(known)
        return NeighborSource(known, X)
    rows = _read(owner, X)
    owner._fit_metric(rows)
    if graph is not None and (not isinstance(graph, Graph) or graph.n != rows.count):
        raise BadInput(f"graph must be a Graph of the {rows.count} rows of X; got {graph!r:.60}.")
    return NeighborSource(rows, graph)


def _warn_of_another_metric(graph: Graph, owner: Any) -> None:
    name = metric_of(owner.metric, owner.metric_params).name
    if graph.rows is not None and name not in (graph.metric, "precomputed"):
        warn(
            f"the graph was made by metric={graph.metric!r}, and its distances are used; the model's metric={name!r} "
            f"is not, and it can't embed new rows. Set metric={graph.metric!r}."
        )


def is_comparable(made: Any, owner: Any) -> bool:
    """Whether what was made of rows, a Graph for instance, still has them, and by the metric of an estimator."""
    wanted = metric_of(owner.metric, owner.metric_params)
    if made.rows is None or made.metric != wanted.name or wanted.precomputed:
        return False
    return made.measure is None or made.measure.key == wanted.fitted(made.rows).key


def _read(owner: Any, X: Any) -> Rows:
    rows = read_rows(owner, X, fitting=True, min_rows=2)
    if isinstance(rows, StreamRows):
        raise BadInput("a neighbor search needs all rows at once; give an array, a memory map or a dataframe.")
    return rows


def _search(rows: Rows, spec: NeighborSpec, index: NeighborIndex | None = None) -> Graph:
    found: Graph = spec.search((index or spec.index(rows)).graph, rows.count - 1)
    return found


def _given(graph: Graph, rows: Rows, spec: NeighborSpec) -> Graph:
    """A graph that spares the search, which would have looked at every value."""
    for chunk in rows.chunks():
        finite_block(rows, chunk, spec.metric)
    return _nearest(graph, spec)


def _nearest(graph: Graph, spec: NeighborSpec) -> Graph:
    if spec.radius is not None:
        return graph.nearest(graph.k)
    if graph.k < spec.k:
        raise NotEnoughData(
            f"n_neighbors={spec.k} needs a graph of as many neighbors; this one has {graph.k}. "
            "Make it with more, or ask for fewer."
        )
    return graph.nearest(spec.k)


def _stacked(above: Table, below: Table) -> Table:
    """Both tables as one: sparse if the first is."""
    if sp.issparse(above):
        return canonical_csr(sp.csr_array(sp.vstack([above, sp.csr_array(below)], format="csr")))
    return np.vstack([above, below.toarray() if sp.issparse(below) else below])
