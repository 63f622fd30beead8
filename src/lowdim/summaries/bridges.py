"""The shortest edges that join the pieces of a graph."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.data.rows import open_rows
from lowdim.errors import BadInput
from lowdim.progress import report

__all__ = ["bridges", "joined"]

Array = NDArray[Any]


def joined(matrix: sp.csr_array, X: Any, labels: Array, metric: Any) -> sp.csr_array:
    """A symmetric matrix of lengths with the bridges that join its components `labels`, both ways."""
    row, column, length = bridges(X, labels, metric)
    if len(row) == 0:
        return matrix
    coo = matrix.tocoo()
    rows = np.concatenate([coo.coords[0], row, column])
    columns = np.concatenate([coo.coords[1], column, row])
    lengths = np.concatenate([coo.data, length, length]).astype(np.float32)
    return sp.csr_array((lengths, (rows, columns)), shape=matrix.shape)


def bridges(X: Any, labels: Array, metric: Any) -> tuple[Array, Array, Array]:
    """Rows, columns and lengths of edges that join the components `labels` into one.

    The smallest component is joined by its shortest bridge to the nearest row outside it, until one is left
    (Borůvka's rule, one component at a time): the edges belong to a shortest spanning tree of the components.
    """
    from lowdim.summaries.neighbors import NeighborIndex

    table = _selectable(X)
    if table.shape[0] != len(labels):
        raise BadInput(f"X must have the rows of the graph ({len(labels)}); got {table.shape[0]}.")
    _, labels = np.unique(labels, return_inverse=True)
    pieces = int(labels.max(initial=-1)) + 1
    row, column, length = [], [], []
    for left in range(pieces, 1, -1):
        sizes = np.bincount(labels, minlength=pieces)
        small = int(np.argmin(np.where(sizes > 0, sizes, len(labels) + 1)))
        inside, outside = np.flatnonzero(labels == small), np.flatnonzero(labels != small)
        if metric == "precomputed":
            index = NeighborIndex(np.zeros((len(outside), len(outside))), metric=metric)
            found = index.query(table[inside][:, outside], 1)
        else:
            found = NeighborIndex(table[outside], metric=metric, algorithm="exact").query(table[inside], 1)
        best = int(np.argmin(found.distances[:, 0]))
        far = int(outside[found.indices[best, 0]])
        row.append(int(inside[best]))
        column.append(far)
        length.append(float(found.distances[best, 0]))
        labels[inside] = labels[far]
        report("building bridges", pieces - left + 1, pieces - 1)
    return np.array(row, dtype=np.int64), np.array(column, dtype=np.int64), np.array(length, dtype=np.float32)


def _selectable(X: Any) -> Any:
    """X as something whose rows can be picked by number."""
    rows = open_rows(X)
    return rows.whole() if not hasattr(rows, "X") else rows.X
