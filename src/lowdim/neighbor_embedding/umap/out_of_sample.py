"""Between a table and its UMAP map: new rows onto the map, and places of the map back to rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.data.duplicates import RowHashes, find_rows
from lowdim.data.rows import Rows
from lowdim.knn.fitted import FittedRows
from lowdim.knn.index import NeighborIndex, Neighbors
from lowdim.neighbor_embedding.umap.densmap import Agreement, table_radii
from lowdim.neighbor_embedding.umap.fuzzy_graph import smooth
from lowdim.neighbor_embedding.umap.optimizer import Forces, Newcomers

__all__ = ["Placing", "rows_at"]

Array = NDArray[Any]

WIDER = 4 / 3  # as many neighbours as the map was made of: a slope needs more of them than a mean
RIDGE = 5.0  # of the mean spread of the places along an axis: rows scatter around the map
AT_ONCE = 1 << 22  # numbers in the small matrices of a batch


@dataclass(frozen=True)
class Placing:
    """How new rows find their places on a map that stays as it is, each by itself."""

    known: FittedRows  # the rows of the map
    places: NDArray[np.float32]  # where they are, (m, c)
    neighbors: int
    connectivity: float
    forces: Forces
    epochs: int
    agreement: Agreement | None = None  # of densMAP

    def __call__(self, rows: Rows) -> NDArray[np.float32]:
        """Places of rows, (m, c); those that are known are where they were."""
        return self.known.embed(rows, self.places, self.neighbors, self._moved)

    def _moved(self, found: Neighbors) -> NDArray[np.float32]:
        """From the weighted mean of the neighbours' places, some epochs against the map."""
        threads = self.known.spec.threads
        weights = smooth(found.distances, self.connectivity, threads).weights
        share = weights / weights.sum(axis=1, keepdims=True)
        start = np.einsum("ij,ijc->ic", share, self.places[found.indices])
        m, k = weights.shape
        radii = None
        if self.agreement is not None:
            radii = table_radii(np.repeat(np.arange(m), k), weights.ravel(), found.distances.ravel(), m)
        edges = np.arange(m + 1) * k, found.indices.ravel(), weights.ravel()
        newcomers = Newcomers(*edges, self.places, self.forces, threads, self.agreement, radii)
        return newcomers.move(start, self.epochs)


def rows_at(Z: Array, places: Array, rows: Any, k: int, connectivity: float, threads: int) -> Array:
    """For places Z of a map of k neighbours, what the nearest fitted rows say there, each by how much it belongs.

    It is a regression of the rows on their places, linear around Z, with a ridge; a fitted place gives its row.
    """
    found = NeighborIndex(places, n_jobs=threads).query(Z, min(round(WIDER * k), len(places)))
    belonging = smooth(found.distances, connectivity, threads).weights.astype(np.float64)
    belonging /= belonging.sum(axis=1, keepdims=True)
    shares = np.empty_like(belonging)
    axes = places.shape[1]
    step = max(1, AT_ONCE // (axes * (axes + belonging.shape[1])))
    for start in range(0, len(Z), step):
        here = slice(start, start + step)
        shares[here] = _shares(Z[here].astype(np.float64), places[found.indices[here]], belonging[here])
    same = find_rows(Z, places, RowHashes.of(places, threads), threads)
    fitted = same >= 0
    indices = found.indices.copy()
    indices[fitted, 0], shares[fitted], shares[fitted, 0] = same[fitted], 0, 1
    starts = np.arange(len(Z) + 1) * shares.shape[1]
    parts = shares.ravel().astype(rows.dtype)  # a product of two dtypes would copy the rows
    matrix = sp.csr_array((parts, indices.ravel(), starts), shape=(len(Z), len(places)))
    made = matrix @ rows
    return np.asarray(made.toarray() if sp.issparse(made) else made, dtype=Z.dtype)


def _shares(Z: Array, around: Array, belonging: Array) -> Array:
    """How much of each neighbour, at places (m, k, c), the regression takes to make the row at Z, (m, k).

    w_i (1 + (z_i - z̄)ᵀ (C + λ)⁻¹ (z - z̄)), z̄ and C being the mean and the covariance of the places under the weights
    w. The regression does not go further from z̄ than the farthest of the neighbours.
    """
    middle = np.einsum("ij,ijc->ic", belonging, around)
    arms = around - middle[:, None]
    spread = np.einsum("ij,ijb,ijc->ibc", belonging, arms, arms)
    mean = np.trace(spread, axis1=1, axis2=2) / spread.shape[1]
    spread += np.where(mean > 0, RIDGE * mean, 1.0)[:, None, None] * np.eye(spread.shape[1])
    ahead = Z - middle
    length = np.sqrt((ahead**2).sum(axis=1))
    reach = np.sqrt((arms**2).sum(axis=2).max(axis=1))
    ahead *= (np.minimum(length, reach) / np.where(length > 0, length, 1.0))[:, None]
    slope = np.linalg.solve(spread, ahead[:, :, None])[:, :, 0]
    return np.asarray(belonging * (1 + np.einsum("ijc,ic->ij", arms, slope)))
