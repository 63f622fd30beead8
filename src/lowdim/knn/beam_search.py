"""Beam search for the neighbors of new rows: from the cells of an inverted file, along a k-NN graph, best first."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim import _native
from lowdim.data.duplicates import row_hashes
from lowdim.data.rows import Rows
from lowdim.knn.approximate import InvertedFile, nearest_centers
from lowdim.knn.exact import EMPTY, NeighborLists, exact_query, reported
from lowdim.knn.search_space import SearchSpace

__all__ = ["beam_search"]

Array = NDArray[Any]

BEAM_WIDTH = 32  # places in a query's list during its search
ENTRY_CELLS = 2  # cells that a query probes before it


def beam_search(space: SearchSpace, graph: Array, cells: InvertedFile, rows: Rows, k: int) -> NeighborLists:
    """The k nearest rows, from the nearest centers and their cells (which may be empty), along the graph (n, degree).

    What is found for a query does not depend on the others.
    """
    work, source = space.prepare(rows)
    hashes = row_hashes(work, space.threads)
    lists = NeighborLists.empty(len(work), min(space.n, max(2 * k, BEAM_WIDTH)))
    nearest = nearest_centers(space, work, cells.centers, min(ENTRY_CELLS, len(cells.centers), lists.k))
    lists.distances[:, : nearest.k], lists.indices[:, : nearest.k] = nearest.distances, cells.centers[nearest.indices]
    for step in range(nearest.k):
        cells.probe(space, work, lists, nearest.indices[:, step], hashes)
    params = space.kernel_params(np.float32)
    _native.graph_search_queries(
        work, space.work, graph, space.kernel, lists.distances, lists.indices, space.threads, params
    )
    out = reported(space, source, lists, k, None)
    short = np.flatnonzero(out.indices[:, -1] == EMPTY)  # where a component of the graph has fewer rows
    if len(short):
        whole = exact_query(space, np.ascontiguousarray(work[short]), np.ascontiguousarray(source[short]), k)
        out.distances[short], out.indices[short] = whole.distances, whole.indices
    return out
