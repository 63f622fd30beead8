"""Between a table and its UMAP map: new rows onto the map, and places of the map back to rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.solve.crowding import Agreement, table_radii
from lowdim.solve.umap_layout import Forces, Newcomers
from lowdim.summaries.fuzzy import smooth
from lowdim.summaries.neighbors import Found, NeighborIndex

__all__ = ["place", "rows_at"]

Array = NDArray[Any]


def place(
    found: Found,
    places: Array,
    connectivity: float,
    forces: Forces,
    epochs: int,
    threads: int,
    agreement: Agreement | None = None,
) -> Array:
    """New rows with these neighbours: from the weighted mean of their places, some epochs against the map."""
    weights = smooth(found.distances, connectivity, threads).weights
    share = weights / weights.sum(axis=1, keepdims=True)
    start = np.einsum("ij,ijc->ic", share, places[found.indices])
    m, k = weights.shape
    radii = None
    if agreement is not None:
        radii = table_radii(np.repeat(np.arange(m), k), weights.ravel(), found.distances.ravel(), m)
    edges = np.arange(m + 1) * k, found.indices.ravel(), weights.ravel()
    return Newcomers(*edges, places, forces, threads, agreement, radii).move(start, epochs)


def rows_at(Z: Array, places: Array, rows: Any, k: int, connectivity: float, threads: int) -> Array:
    """For places Z of the map, the mean of the k nearest fitted rows, each by how much it belongs there."""
    found = NeighborIndex(places, n_jobs=threads).query(Z, min(k, len(places)))
    belonging = smooth(found.distances, connectivity, threads).weights.astype(np.float64)
    belonging[found.distances[:, 0] == 0, 1:] = 0  # a fitted place is its row
    belonging /= belonging.sum(axis=1, keepdims=True)
    starts = np.arange(len(Z) + 1) * belonging.shape[1]
    shares = sp.csr_array((belonging.ravel(), found.indices.ravel(), starts), shape=(len(Z), len(places)))
    means = shares @ rows
    return np.asarray(means.toarray() if sp.issparse(means) else means, dtype=Z.dtype)
