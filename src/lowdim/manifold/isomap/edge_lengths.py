"""Edge lengths of Isomap's neighbor graph: one connected graph, lengths of C-Isomap, a unit that fits float32."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.errors import BadInput
from lowdim.knn.boruvka import connect_components
from lowdim.knn.fitted import FittedNeighbors
from lowdim.knn.graph import component_labels, warn_of_components
from lowdim.knn.index import Neighbors

__all__ = ["connected_graph", "mean_neighbor_distances", "query_lengths", "scaled_lengths"]

Array = NDArray[Any]


def connected_graph(
    neighbors: FittedNeighbors, radius: float | None, metric: Any, join: bool, threads: int
) -> tuple[sp.csr_array, int]:
    """The symmetric graph of lengths, its components connected, and how many components there were."""
    matrix = _within_radius(neighbors.symmetric(), radius)
    labels = component_labels(matrix)
    components = int(labels.max(initial=-1)) + 1
    if components == 1:
        return matrix, components
    if not join:
        raise BadInput(
            f"the neighbor graph has {components} connected components. Use more neighbors (or a larger radius), "
            "embed the components one by one, or connect them with disconnected='join'."
        )
    if neighbors.table is None:
        raise BadInput(
            f"the given graph has {components} connected components, and connecting them needs the rows. "
            "Build the graph with more neighbors, or fit the rows."
        )
    joined = connect_components(matrix, neighbors.table, labels, metric, threads)
    warn_of_components(components, "joined by their shortest edges")
    return joined, components


def mean_neighbor_distances(neighbors: FittedNeighbors, radius: float | None) -> NDArray[np.float64]:
    """The mean distance of every row to its neighbors, (n,); where that is 0, the smallest positive one."""
    if neighbors.edges is None:
        return _mean_distances(neighbors.graph.distances, radius)
    within = _within_radius(neighbors.edges, radius)
    total = np.asarray(within.sum(axis=1, dtype=np.float64)).ravel()
    return _positive(total / np.maximum(np.diff(within.indptr), 1))


def scaled_lengths(matrix: sp.csr_array, mean_distances: Array | None) -> tuple[sp.csr_array, float]:
    """Lengths in float32 in units of a power of two near the longest, and that unit.

    With mean neighbor distances M (n,), each is first divided by √(M_i M_j): C-Isomap (de Silva and Tenenbaum 2003).
    """
    coo = matrix.tocoo()
    lengths = coo.data.astype(np.float64)
    if mean_distances is not None:
        lengths /= np.sqrt(mean_distances[coo.coords[0]]) * np.sqrt(mean_distances[coo.coords[1]])
    longest = float(lengths.max(initial=0.0))
    unit = float(2.0 ** np.round(np.log2(longest))) if longest > 0 else 1.0
    scaled = (lengths / unit).astype(np.float32)
    return sp.csr_array((scaled, coo.coords), shape=matrix.shape), unit


def query_lengths(
    neighbors: Neighbors, radius: float | None, mean_distances: Array | None, unit: float
) -> NDArray[np.float32]:
    """Scaled lengths of the edges from new rows to their neighbors; infinite beyond the radius, except the nearest."""
    lengths = neighbors.distances.astype(np.float64)
    if mean_distances is not None:
        own = _mean_distances(neighbors.distances, radius, float(mean_distances.min()))
        lengths /= np.sqrt(own)[:, None] * np.sqrt(mean_distances[neighbors.indices])
    scaled = (lengths / unit).astype(np.float32)
    if radius is not None:
        scaled[:, 1:][neighbors.distances[:, 1:] > radius] = np.inf
    return scaled


def _within_radius(matrix: sp.csr_array, radius: float | None) -> sp.csr_array:
    """The edges within the radius; an edge of length 0 stays stored."""
    if radius is None:
        return matrix
    kept = matrix.data <= radius
    starts = np.concatenate([[0], np.cumsum(kept)])[matrix.indptr]
    return sp.csr_array((matrix.data[kept], matrix.indices[kept], starts), shape=matrix.shape)


def _mean_distances(distances: Array, radius: float | None, floor: float | None = None) -> NDArray[np.float64]:
    wide = distances.astype(np.float64)
    within = np.ones(wide.shape, dtype=bool) if radius is None else wide <= radius
    mean = np.where(within, wide, 0.0).sum(axis=1) / np.maximum(within.sum(axis=1), 1)
    return _positive(mean, floor)


def _positive(mean: Array, floor: float | None = None) -> NDArray[np.float64]:
    """Means of at least `floor`; by default the smallest positive one."""
    if floor is None:
        positive = mean[mean > 0]
        floor = float(positive.min()) if len(positive) else 1.0
    return np.maximum(mean, floor) if floor > 0 else np.where(mean > 0, mean, 1.0)
