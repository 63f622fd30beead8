"""Known rows: what a fitted map compares new rows with, and the neighbourhoods it was made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.data.duplicates import Distinct, Marks, distinct_rows, find_rows
from lowdim.data.rows import ArrayRows, Chunk, Rows, SparseRows, StreamRows, open_rows
from lowdim.data.validation import finite_error, read_rows
from lowdim.errors import BadInput, BadInputType
from lowdim.knn import blockwise as given
from lowdim.knn.graph import Graph
from lowdim.knn.index import Distance, Found, NeighborIndex
from lowdim.neighbor_embedding.tsne.affinities import Affinities
from lowdim.runtime.memory import require_memory
from lowdim.runtime.progress import report

__all__ = ["Known", "Neighborhood", "neighborhood_of", "table_of", "with_rows"]

Array = NDArray[Any]
Table = Any  # an array, or a CSR matrix without doubles and zeros

EXACT_WHOLE = 2  # bytes of whole numbers that float32 holds exactly
BYTES_AN_EDGE = 60  # of the graph, the fuzzy graph and the order in which it is worked off


@dataclass(frozen=True)
class Known:
    """Rows that are on a map: equal ones are found by their marks, near ones by a search.

    Without rows, what is asked for holds distances to all of them.
    """

    rows: Table | None
    n: int
    metric: Distance
    seed: int
    threads: int
    algorithm: str = "auto"

    def places_of(
        self, rows: Rows, places: NDArray[np.float32], k: int, settle: Callable[[Found], Array]
    ) -> NDArray[np.float32]:
        """Where rows stand on the map, the known ones being at `places`, (m, c).

        A row that equals a known one stands where that does; the others where `settle` puts them by their k nearest.
        """
        out = np.empty((rows.count, places.shape[1]), dtype=np.float32)
        for chunk in rows.chunks():
            block = _finite(rows, chunk)
            if self.rows is not None and rows.sparse:
                block = _canonical(block)
            out[chunk.start : chunk.stop] = self._places(block, places, min(k, self.n), settle)
            report("placing rows", chunk.stop, rows.count)
        return out

    def _places(self, block: Table, places: Array, k: int, settle: Callable[[Found], Array]) -> Array:
        which = self.equal_to(block)
        out = places[which]
        new = np.flatnonzero(which < 0)
        if len(new):
            found = self.near(block if len(new) == len(which) else block[new], k)
            settled = settle(found)
            if self.rows is None:  # at distance 0 stands a known row
                same = found.distances[:, 0] == 0
                settled[same] = places[found.indices[same, 0]]
            out[new] = settled
        return out

    def equal_to(self, X: Table) -> NDArray[np.int64]:
        """Which of the rows each row of X is, or -1."""
        if self.rows is None:
            return np.full(X.shape[0], -1)
        return find_rows(X, self.rows, self._marks, self.threads)

    def near(self, X: Table, k: int) -> Found:
        """The k nearest rows to each row of X."""
        if self.rows is not None:
            return self.index.query(X, k)
        if X.shape[1] != self.n:
            raise BadInput(
                f"metric='precomputed' needs distances to all {self.n} fitted rows; got {X.shape[1]} columns."
            )
        lists = given.chosen(open_rows(X), self.n, k, False, self.threads)
        return Found(lists.indices, lists.distances)

    @cached_property
    def index(self) -> NeighborIndex:
        """The rows, ready to be searched."""
        search = {"algorithm": self.algorithm, "random_state": self.seed, "n_jobs": self.threads}
        return NeighborIndex(self.rows, metric=self.metric, **search)

    @cached_property
    def _marks(self) -> Marks:
        return Marks.of(self.rows, self.threads)


@dataclass(frozen=True)
class Neighborhood:
    """The graph of the distinct rows of a table (None of a single one), and these rows."""

    graph: Graph | None
    known: Known
    distinct: Distinct
    dtype: np.dtype[Any]

    @property
    def k(self) -> int:
        """Neighbours of a row."""
        return 0 if self.graph is None else self.graph.k


def neighborhood_of(owner: Any, X: Any, k: int, metric: Distance, seed: int, threads: int) -> Neighborhood:
    """Of a table, of distances (metric="precomputed") or of a Graph; k counts the row itself."""
    if isinstance(X, Graph):
        known = Known(None, X.n, metric, seed, threads)
        return Neighborhood(X.nearest(min(k - 1, X.k)), known, Distinct.everyone(X.n), np.dtype(np.float32))
    if isinstance(X, Affinities):
        raise BadInputType("Affinities are for TSNE; a fuzzy graph is made of distances. Give lowdim.neighbors(X, k).")
    rows = read_rows(owner, X, fitting=True, min_rows=2)
    if isinstance(rows, StreamRows):
        raise BadInput("neighbours need all rows at once; give an array, a memory map or a dataframe.")
    n = rows.count
    require_memory(BYTES_AN_EDGE * n * min(k, n), "the fuzzy graph", "Use fewer neighbours or fewer rows.")
    if metric == "precomputed":
        if rows.sparse:  # what is stored are the neighbours
            graph = Graph.from_sparse(rows.whole(), min(k, n) - 1)
        else:
            graph = NeighborIndex(rows, metric=metric, random_state=seed, n_jobs=threads).graph(min(k, n) - 1)
        return Neighborhood(graph, Known(None, n, metric, seed, threads), Distinct.everyone(n), rows.dtype)
    table = table_of(rows)
    distinct = distinct_rows(table, threads)
    if not distinct.all_different:
        for chunk in rows.chunks():
            _finite(rows, chunk)  # here, where rows have the numbers that the user knows
        table = table[distinct.first]
    known = Known(table, table.shape[0], metric, seed, threads)
    return Neighborhood(graph_among(known, k), known, distinct, rows.dtype)


def with_rows(known: Known, distinct: Distinct, table: Table, k: int, dtype: np.dtype[Any]) -> Neighborhood:
    """The neighbourhood of known rows and those of a table; `distinct` says which of the known the earlier rows are."""
    which = known.equal_to(table)
    fresh = table[which < 0]
    others = distinct_rows(fresh, known.threads)
    rows = stacked(known.rows, fresh if others.all_different else fresh[others.first])
    more = Known(rows, rows.shape[0], known.metric, known.seed, known.threads)
    return Neighborhood(graph_among(more, k), more, distinct.followed_by(which, others), dtype)


def graph_among(known: Known, k: int) -> Graph | None:
    """The k - 1 nearest others of every row."""
    if known.n == 1:
        known.index.query(known.rows, 1)  # looks for values that are not finite
        return None
    return known.index.graph(min(k, known.n) - 1)


def table_of(rows: Rows) -> Table:
    """All rows in one table to be kept: whole numbers of up to 16 bits in float32, sparse rows without doubles."""
    source = rows.X if isinstance(rows, ArrayRows | SparseRows) else None
    short = source is not None and source.dtype.kind in "iub" and source.dtype.itemsize <= EXACT_WHOLE
    dtype = np.dtype(np.float32) if short else rows.dtype
    if isinstance(rows, SparseRows):
        return _canonical(rows.X.astype(dtype, copy=False))
    if source is None or source.dtype != dtype:
        require_memory(rows.count * rows.d * dtype.itemsize, "the table in memory", "Use fewer rows or columns.")
    return np.ascontiguousarray(source, dtype=dtype) if short else rows.whole()


def stacked(above: Table, below: Table) -> Table:
    """Both tables as one, as the first is: sparse, or not."""
    if sp.issparse(above):
        return _canonical(sp.csr_array(sp.vstack([above, sp.csr_array(below)], format="csr")))
    return np.vstack([above, below.toarray() if sp.issparse(below) else below])


def _finite(rows: Rows, chunk: Chunk) -> Any:
    """The block of a chunk, all of whose values are finite."""
    block = chunk.load()
    if not np.isfinite(block.data if rows.sparse else block).all():
        raise finite_error(rows, chunk)
    return block


def _canonical(X: Any) -> sp.csr_array:
    """Compressed rows with ascending columns, no column twice in a row, and no zeros."""
    if X.has_canonical_format and X.data.all():
        return sp.csr_array(X)
    own = sp.csr_array(X, copy=True)
    own.sum_duplicates()
    own.eliminate_zeros()
    return own
