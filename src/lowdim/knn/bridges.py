"""The shortest edges that join the pieces of a graph."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.errors import BadInput
from lowdim.runtime.progress import report

__all__ = ["bridges", "joined"]

Array = NDArray[Any]


def joined(matrix: sp.csr_array, X: Any, labels: Array, metric: Any, n_jobs: int | None = None) -> sp.csr_array:
    """A symmetric matrix of lengths with the bridges that join its components `labels`, both ways."""
    row, column, length = bridges(X, labels, metric, n_jobs)
    if len(row) == 0:
        return matrix
    coo = matrix.tocoo()
    rows = np.concatenate([coo.coords[0], row, column])
    columns = np.concatenate([coo.coords[1], column, row])
    lengths = np.concatenate([coo.data, length, length]).astype(np.float32)
    return sp.csr_array((lengths, (rows, columns)), shape=matrix.shape)


def bridges(X: Any, labels: Array, metric: Any, n_jobs: int | None = None) -> tuple[Array, Array, Array]:
    """Rows, columns and lengths of edges that join the components `labels` into one.

    In each round every component but the largest is joined by the shortest bridge to a row outside it (Borůvka's
    rule), so that at most half of them are left: the edges belong to a shortest spanning tree of the components.
    """
    from lowdim.knn.index import NeighborIndex

    index = NeighborIndex(X, metric=metric, algorithm="exact", n_jobs=n_jobs)
    if index.n != len(labels):
        raise BadInput(f"X must have the rows of the graph ({len(labels)}); got {index.n}.")
    _, labels = np.unique(labels, return_inverse=True)
    pieces = int(labels.max(initial=0)) + 1
    edges: list[tuple[int, int, float]] = []
    while len(edges) < pieces - 1:
        found = index.strangers(labels)
        nearest_first = np.lexsort((found.nearest, found.rows, found.distances))
        _, first = np.unique(labels[found.rows[nearest_first]], return_index=True)
        shortest = nearest_first[np.sort(first)]
        ends = zip(found.rows[shortest], found.nearest[shortest], found.distances[shortest], strict=True)
        labels = _merged(labels, [(int(i), int(j), float(length)) for i, j, length in ends], edges)
        report("building bridges", len(edges), pieces - 1)
    row, column, length = (np.array([edge[part] for edge in edges]) for part in range(3))
    return row.astype(np.int64), column.astype(np.int64), length.astype(np.float32)


def _merged(labels: Array, offers: list[tuple[int, int, float]], edges: list[tuple[int, int, float]]) -> Array:
    """Labels after building the offered bridges, shortest first, but for those between rows that are joined already."""
    over = np.arange(int(labels.max()) + 1)  # the component that each has become

    def root(i: int) -> int:
        while over[i] != i:
            over[i] = over[over[i]]
            i = int(over[i])
        return i

    for row, column, length in offers:
        one, other = root(int(labels[row])), root(int(labels[column]))
        if one != other:
            over[one] = other
            edges.append((row, column, length))
    roots = np.array([root(i) for i in range(len(over))])
    return np.asarray(np.unique(roots[labels], return_inverse=True)[1])
