"""Lengths of the edges of a neighbour graph: connected, cut at a radius, evened out, in units that fit float32."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.errors import BadInput
from lowdim.knn.boruvka import connect_components
from lowdim.knn.fitted import FittedNeighbors
from lowdim.knn.graph import component_labels
from lowdim.knn.index import Neighbors

__all__ = ["connected", "edge_lengths", "new_lengths", "reaches"]

Array = NDArray[Any]


def connected(
    near: FittedNeighbors, radius: float | None, metric: Any, join: bool, threads: int
) -> tuple[sp.csr_array, int]:
    """The symmetric graph of lengths in one piece, and in how many pieces it was."""
    matrix = _shorter(near.symmetric(), radius)
    labels = component_labels(matrix)
    pieces = int(labels.max(initial=-1)) + 1
    if pieces > 1 and not join:
        raise BadInput(
            f"the neighbour graph falls into {pieces} components. Take more neighbours (or a larger radius), "
            "embed the components one by one, or join them by disconnected='join'."
        )
    if pieces > 1 and near.table is None:
        raise BadInput(
            f"the given graph falls into {pieces} components, and the bridges that would join them need the rows. "
            "Make the graph with more neighbours, or fit the rows."
        )
    return (connect_components(matrix, near.table, labels, metric, threads) if pieces > 1 else matrix), pieces


def reaches(near: FittedNeighbors, radius: float | None) -> NDArray[np.float64]:
    """The mean distance of every row to its neighbours, (n,); where that is 0, the smallest that is not."""
    if near.edges is None:
        return _mean_reach(near.graph.distances, radius)
    within = _shorter(near.edges, radius)
    total = np.asarray(within.sum(axis=1, dtype=np.float64)).ravel()
    return _above_zero(total / np.maximum(np.diff(within.indptr), 1))


def edge_lengths(matrix: sp.csr_array, reach: Array | None) -> tuple[sp.csr_array, float]:
    """Lengths divided by √(reach_i reach_j), if given, and by a unit (a power of two) near the longest of them."""
    coo = matrix.tocoo()
    lengths = coo.data.astype(np.float64)
    if reach is not None:
        lengths /= np.sqrt(reach[coo.coords[0]]) * np.sqrt(reach[coo.coords[1]])
    longest = float(lengths.max(initial=0.0))
    unit = float(2.0 ** np.round(np.log2(longest))) if longest > 0 else 1.0
    scaled = (lengths / unit).astype(np.float32)
    return sp.csr_array((scaled, coo.coords), shape=matrix.shape), unit


def new_lengths(near: Neighbors, radius: float | None, reach: Array | None, unit: float) -> NDArray[np.float32]:
    """The same for edges from new rows to their neighbours; infinite beyond the radius, but for the nearest."""
    lengths = near.distances.astype(np.float64)
    if reach is not None:
        own = _mean_reach(near.distances, radius, float(reach.min()))
        lengths /= np.sqrt(own)[:, None] * np.sqrt(reach[near.indices])
    scaled = (lengths / unit).astype(np.float32)
    if radius is not None:
        scaled[:, 1:][near.distances[:, 1:] > radius] = np.inf
    return scaled


def _shorter(matrix: sp.csr_array, radius: float | None) -> sp.csr_array:
    """Only the edges within the radius; one of length 0 stays an edge."""
    if radius is None:
        return matrix
    kept = matrix.data <= radius
    starts = np.concatenate([[0], np.cumsum(kept)])[matrix.indptr]
    return sp.csr_array((matrix.data[kept], matrix.indices[kept], starts), shape=matrix.shape)


def _mean_reach(distances: Array, radius: float | None, floor: float | None = None) -> NDArray[np.float64]:
    wide = distances.astype(np.float64)
    inside = np.ones(wide.shape, dtype=bool) if radius is None else wide <= radius
    mean = np.where(inside, wide, 0.0).sum(axis=1) / np.maximum(inside.sum(axis=1), 1)
    return _above_zero(mean, floor)


def _above_zero(mean: Array, floor: float | None = None) -> NDArray[np.float64]:
    if floor is None:
        positive = mean[mean > 0]
        floor = float(positive.min()) if len(positive) else 1.0
    return np.maximum(mean, floor) if floor > 0 else np.where(mean > 0, mean, 1.0)
