"""The spectral start of a map: the slowest vectors of its graph, each connected component laid out by itself."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.data.rows import chunk_rows, open_rows
from lowdim.decomposition.principal_axes import principal_scores
from lowdim.knn.graph import component_labels
from lowdim.linalg.components import interval_centers
from lowdim.linalg.subspace_iteration import laplacian_eigenvectors
from lowdim.neighbor_embedding.umap.fuzzy_graph import Fuzzy
from lowdim.runtime.progress import report
from lowdim.runtime.random import normal

__all__ = ["NOISE", "by_chance", "filled_up", "slow_vectors", "spectral"]

Array = NDArray[Any]

NOISE = 1e-4
STREAM_CHANCE, STREAM_CENTRES = 2, 4  # of the draws; laplacian_eigenvectors takes 3


def spectral(graph: Fuzzy, k: int, seed: int, threads: int, table: Any | None = None) -> Array:
    """The slowest vectors of the graph, (n, k); each connected component is laid out by itself.

    Along each axis every component gets an interval as long as its share of the rows, in the order of the principal
    scores of their means or, without a table, of chance: none covers another, one far off does not squeeze the rest.
    """
    labels = component_labels(graph.to_sparse())
    pieces = int(labels.max()) + 1
    if pieces == 1:
        return slow_vectors(graph, k, seed, threads)
    order = np.argsort(labels, kind="stable")
    bounds = np.searchsorted(labels[order], np.arange(pieces + 1))
    sizes = np.diff(bounds) / graph.n
    places = interval_centers(_middles(table, order, bounds, k, seed, threads), sizes)
    sorted_graph = graph.reordered(order)
    Z = np.empty((graph.n, k))
    for piece, (begin, end) in enumerate(pairwise(bounds.tolist())):
        if end - begin <= 2:
            part = by_chance(end - begin, k, seed, 1)
        else:
            part = slow_vectors(sorted_graph.part(begin, end), k, seed, threads)
        part = part - part.mean(axis=0)
        reach = float(np.abs(part).max(initial=0.0))
        Z[order[begin:end]] = places[piece] + part * (sizes[piece] / (2 * reach) if reach > 0 else 0.0)
        report("laying out components", piece + 1, pieces)
    return Z


def by_chance(n: int, k: int, seed: int, threads: int) -> Array:
    """Normal numbers."""
    return normal((n, k), seed, stream=STREAM_CHANCE, threads=threads)


def filled_up(axes: Array, k: int, seed: int, threads: int) -> Array:
    """All k axes (n, k): those that do not exist are a little chance."""
    n, found = axes.shape
    if found == k:
        return axes
    return np.column_stack([axes, NOISE * by_chance(n, k - found, seed, threads)])


def slow_vectors(graph: Fuzzy, k: int, seed: int, threads: int) -> Array:
    """Eigenvectors of the normalized Laplacian of a connected graph with the smallest nonzero eigenvalues, (n, k).

    Those that do not exist are left to chance.
    """
    return filled_up(laplacian_eigenvectors(graph.to_sparse(), k, seed, threads), k, seed, threads)


def _middles(table: Any | None, order: Array, bounds: Array, k: int, seed: int, threads: int) -> Array:
    """Where the components are, (c, k); the rows sorted by component, and where each begins."""
    pieces = len(bounds) - 1
    if table is None:
        return normal((pieces, k), seed, stream=STREAM_CENTRES)
    counts = np.diff(bounds)
    if sp.issparse(table):
        shares = sp.csr_array((np.repeat(1 / counts, counts), order, bounds), shape=(pieces, len(order)))
        means = sp.csr_array(shares @ table)
    else:
        means = _sums(table, order, np.repeat(np.arange(pieces), counts), pieces) / counts[:, None]
    return filled_up(principal_scores(open_rows(means), k, seed, threads), k, seed, threads)


def _sums(table: Array, order: Array, piece_of: Array, pieces: int) -> NDArray[np.float64]:
    """Sums of the rows of each component, a chunk at a time, since they are in double precision."""
    sums = np.zeros((pieces, table.shape[1]))
    step = chunk_rows(table.shape[1], 8)
    for start in range(0, len(order), step):
        mine = piece_of[start : start + step]
        first = np.flatnonzero(np.diff(mine, prepend=-1))
        sums[mine[first]] += np.add.reduceat(table[order[start : start + step]].astype(np.float64), first, axis=0)
    return sums
