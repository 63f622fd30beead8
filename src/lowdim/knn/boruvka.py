"""Borůvka's algorithm: the shortest edges that connect the components of a graph.

In each round every component but the largest is connected by its shortest edge to a row outside it. At most half of the
components are left after a round, and all edges belong to a minimum spanning tree of the components.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.data.categories import categorical_rows
from lowdim.data.rows import ArrayRows, Rows, StreamRows, open_rows
from lowdim.data.validation import FeatureRecord, read_rows
from lowdim.distance.gower_distance import undefined_gower_error
from lowdim.distance.matrix_checks import precomputed_distances
from lowdim.distance.metrics import Metric, metric_of
from lowdim.errors import BadInput
from lowdim.knn import blockwise
from lowdim.knn.exact import NeighborLists, exact_query
from lowdim.knn.search_space import SearchSpace, require_finite_distances, search_space_of
from lowdim.runtime.memory import require_memory
from lowdim.runtime.progress import report
from lowdim.runtime.threads import ordered_map, thread_count

__all__ = ["OtherComponentNeighbors", "boruvka_edges", "connect_components"]

Array = NDArray[Any]
Edge = tuple[int, int, float]  # row, row and length

DIRECT_ROWS = 512  # rows that are compared with one another at once, whatever their components


class OtherComponentNeighbors(NamedTuple):
    """Rows, the nearest row to each in another component, and its distance, (m,) each."""

    rows: NDArray[np.int64]
    nearest: NDArray[np.int64]
    distances: NDArray[np.float32]


def connect_components(
    matrix: sp.csr_array, X: Any, labels: Array, metric: Any, n_jobs: int | None = None
) -> sp.csr_array:
    """A symmetric matrix of lengths with the edges, in both directions, that connect its components `labels`."""
    row, column, length = boruvka_edges(X, labels, metric, n_jobs)
    if len(row) == 0:
        return matrix
    coo = matrix.tocoo()
    rows = np.concatenate([coo.coords[0], row, column])
    columns = np.concatenate([coo.coords[1], column, row])
    lengths = np.concatenate([coo.data, length, length]).astype(np.float32)
    return sp.csr_array((lengths, (rows, columns)), shape=matrix.shape)


def boruvka_edges(X: Any, labels: Array, metric: Any, n_jobs: int | None = None) -> tuple[Array, Array, Array]:
    """Rows, columns and lengths of a minimum spanning tree of the components `labels` of the rows of X."""
    measure = metric_of(metric)
    if measure.missing:
        X = categorical_rows(X, measure.params.get("categories"), coded=True)
    rows = read_rows(FeatureRecord(), X, fitting=True)
    if isinstance(rows, StreamRows):
        raise BadInput("a neighbor search needs all rows at once; give an array, a memory map or a dataframe.")
    if rows.count != len(labels):
        raise BadInput(f"X must have the rows of the graph ({len(labels)}); got {rows.count}.")
    if measure.precomputed:
        rows = ArrayRows(precomputed_distances(rows, missing=False))
    _, labels = np.unique(labels, return_inverse=True)
    components = int(labels.max(initial=0)) + 1
    if components == 1:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float32)
    search = _other_component_search(rows, measure, thread_count(n_jobs))
    edges: list[Edge] = []
    while len(edges) < components - 1:
        found = search(labels)
        nearest_first = np.lexsort((found.nearest, found.rows, found.distances))
        _, first = np.unique(labels[found.rows[nearest_first]], return_index=True)
        shortest = nearest_first[np.sort(first)]
        ends = zip(found.rows[shortest], found.nearest[shortest], found.distances[shortest], strict=True)
        labels = _merge(labels, [(int(i), int(j), float(length)) for i, j, length in ends], edges)
        report("connecting components", len(edges), components - 1)
    row, column, length = (np.array([edge[part] for edge in edges]) for part in range(3))
    return row.astype(np.int64), column.astype(np.int64), length.astype(np.float32)


def _merge(labels: Array, candidates: list[Edge], edges: list[Edge]) -> Array:
    """Labels after adding the candidates to the edges, shortest first, but for those that would close a cycle."""
    parent = np.arange(int(labels.max()) + 1)  # union-find over the components

    def root(i: int) -> int:
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = int(parent[i])
        return i

    for row, column, length in candidates:
        one, other = root(int(labels[row])), root(int(labels[column]))
        if one != other:
            parent[one] = other
            edges.append((row, column, length))
    roots = np.array([root(i) for i in range(len(parent))])
    return np.asarray(np.unique(roots[labels], return_inverse=True)[1])


def _other_component_search(rows: Rows, metric: Metric, threads: int) -> Callable[[Array], OtherComponentNeighbors]:
    """The exact search, for labels, for the nearest row of another label."""
    metric = metric.fitted(rows)
    if metric.kernel is None or metric.by_pairs or blockwise.is_wide(rows):
        return lambda labels: _search_blockwise(rows, metric, labels, threads)
    space = search_space_of(rows, metric, threads)

    def search(labels: Array) -> OtherComponentNeighbors:
        found = _search_space(space, labels)
        require_finite_distances(found.distances)
        return found

    return search


def _query_rows(labels: Array) -> NDArray[np.int64]:
    """The rows of all components but the largest, which the others find."""
    return np.flatnonzero(labels != np.argmax(np.bincount(labels)))


def _search_space(space: SearchSpace, labels: Array) -> OtherComponentNeighbors:
    """By the native kernels.

    The components are laid side by side and split in halves: all on the left are compared with all on the right, then
    each half within itself in the same way, until few rows are left. Nothing is copied but the table, once.
    """
    sizes = np.bincount(labels)
    ranks = np.argsort(np.argsort(sizes, kind="stable"))  # the largest comes last
    order = np.argsort(ranks[labels], kind="stable")
    bounds = np.concatenate([[0], np.cumsum(np.sort(sizes))])
    needed = order.size * space.work.shape[1] * (4 + (0 if space.source is space.work else space.source.itemsize))
    require_memory(needed, "the rows, component by component", "Take more neighbors, for fewer components.")
    search = _OrderedSearch(space, order, ranks[labels][order], int(bounds[-2]))
    halves = [(0, len(sizes))]
    while halves:
        low, high = halves.pop()
        middle = (low + high) // 2
        left, right = slice(int(bounds[low]), int(bounds[middle])), slice(int(bounds[middle]), int(bounds[high]))
        if left.start == left.stop:
            continue
        if right.stop - left.start <= DIRECT_ROWS:
            search.compare_all(slice(left.start, right.stop))
            continue
        search.compare(left, right)
        search.compare(right, left)
        halves += [(low, middle), (middle, high)]
    return search.result()


class _OrderedSearch:
    """Rows in the order of their components, and the nearest row of another component so far."""

    def __init__(self, space: SearchSpace, order: Array, component: Array, queries: int) -> None:
        self._space, self._order, self._component, self._queries = space, order, component, queries
        self._work = space.work[order]
        self._source = self._work if space.source is space.work else space.source[order]
        self._nearest = np.full(queries, len(order), dtype=np.int64)
        self._distances = np.full(queries, np.inf, dtype=np.float32)

    def compare(self, rows: slice, others: slice) -> None:
        """Rows with others that are all of other components; the largest component asks for nothing."""
        rows = slice(rows.start, min(rows.stop, self._queries))
        if rows.start < rows.stop:
            found = self._query(rows, others, 1)
            self._keep_nearer(rows.start, found.distances[:, 0], others.start + found.indices[:, 0])

    def compare_all(self, rows: slice) -> None:
        """Few rows with one another: so many neighbors that one of another component must be among them."""
        component = self._component[rows]
        k = int(np.bincount(component - component[0]).max())
        found = self._query(rows, rows, k, np.arange(len(component), dtype=np.int32))
        first = (component[found.indices] != component[:, None]).argmax(axis=1)[:, None]
        length, place = (np.take_along_axis(part, first, axis=1)[:, 0] for part in (found.distances, found.indices))
        count = max(0, min(rows.stop, self._queries) - rows.start)
        self._keep_nearer(rows.start, length[:count], rows.start + place[:count])

    def result(self) -> OtherComponentNeighbors:
        """In the numbers of the rows."""
        return OtherComponentNeighbors(self._order[: self._queries], self._nearest, self._distances)

    def _query(self, rows: slice, others: slice, k: int, own: Array | None = None) -> NeighborLists:
        work, source = self._work, self._source
        part = work[others]
        side = replace(self._space, work=part, source=part if source is work else source[others])
        return exact_query(side, work[rows], work[rows] if source is work else source[rows], k, own)

    def _keep_nearer(self, start: int, length: Array, place: Array) -> None:
        """Keep what is nearer than before; of equally near rows, the one of the lower number."""
        rows, number = slice(start, start + len(length)), self._order[place]
        nearest, distances = self._nearest[rows], self._distances[rows]
        nearer = (length < distances) | ((length == distances) & (number < nearest))
        distances[nearer], nearest[nearer] = length[nearer], number[nearer]


def _search_blockwise(rows: Rows, metric: Metric, labels: Array, threads: int) -> OtherComponentNeighbors:
    """By blocks of distances, for the metrics and rows that have no kernel."""
    queries = _query_rows(labels)
    whole = rows.whole()
    blocks: blockwise.Blocks
    if metric.precomputed:
        blocks = blockwise.precomputed_blocks(whole, queries)
    else:
        blocks = blockwise.distance_blocks(open_rows(whole[queries]), rows, metric, threads)
        threads = 1 if metric.function is not None else threads
    m, n = len(queries), len(labels)
    size = blockwise.block_rows(n, rows.d, metric)
    nearest, distances = np.empty(m, dtype=np.int64), np.empty(m, dtype=np.float32)

    def work(start: int) -> int:
        stop = min(start + size, m)
        block = blockwise.nonnegative_float32(blocks(start, stop), queries[start:stop], undefined=metric.missing)
        block = np.where(labels[queries[start:stop], None] == labels, np.inf, block)  # not the own component
        nearest[start:stop] = block.argmin(axis=1)
        distances[start:stop] = block.min(axis=1)
        return stop

    for stop in ordered_map(work, range(0, m, size), threads):
        report("comparing components", stop, m)
    if metric.missing and np.isinf(distances).any():
        raise undefined_gower_error()
    return OtherComponentNeighbors(queries, nearest, distances)
