"""Inverse transform of UMAP: local linear regression of the fitted rows on their positions."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.data.duplicates import RowHashes, find_rows
from lowdim.knn.index import NeighborIndex
from lowdim.neighbor_embedding.umap.fuzzy_graph import smooth_knn_distances

__all__ = ["inverse_rows"]

Array = NDArray[Any]

NEIGHBOR_FACTOR = 4 / 3  # of the fit's n_neighbors: a slope needs more neighbors than a mean
RIDGE = 5.0  # relative to the mean variance of the neighbors' positions: rows scatter around the embedding
BATCH_VALUES = 1 << 22  # numbers in the small matrices of a batch


def inverse_rows(Z: Array, positions: Array, rows: Any, k: int, local_connectivity: float, threads: int) -> Array:
    """Rows for the points Z of an embedding: a ridge regression of the fitted rows on their positions, around Z.

    Each neighbor is weighted by its membership strength in the embedding. The position of a fitted row gives that row.
    """
    found = NeighborIndex(positions, n_jobs=threads).query(Z, min(round(NEIGHBOR_FACTOR * k), len(positions)))
    memberships = smooth_knn_distances(found.distances, local_connectivity, threads).weights.astype(np.float64)
    memberships /= memberships.sum(axis=1, keepdims=True)
    weights = np.empty_like(memberships)
    axes = positions.shape[1]
    step = max(1, BATCH_VALUES // (axes * (axes + memberships.shape[1])))
    for start in range(0, len(Z), step):
        batch = slice(start, start + step)
        weights[batch] = _regression_weights(
            Z[batch].astype(np.float64), positions[found.indices[batch]], memberships[batch]
        )
    same = find_rows(Z, positions, RowHashes.of(positions, threads), threads)
    fitted = same >= 0
    indices = found.indices.copy()
    indices[fitted, 0], weights[fitted], weights[fitted, 0] = same[fitted], 0, 1
    starts = np.arange(len(Z) + 1) * weights.shape[1]
    values = weights.ravel().astype(rows.dtype)  # a product of two dtypes would copy the rows
    matrix = sp.csr_array((values, indices.ravel(), starts), shape=(len(Z), len(positions)))
    product = matrix @ rows
    return np.asarray(product.toarray() if sp.issparse(product) else product, dtype=Z.dtype)


def _regression_weights(Z: Array, around: Array, memberships: Array) -> Array:
    """The weight of each neighbor, at positions (m, k, c), in the regression's prediction at Z, (m, k).

    w_i (1 + (z_i - z̄)ᵀ (C + λ)⁻¹ (z - z̄)), with the weighted mean z̄ and covariance C of the positions. The prediction
    is not extrapolated beyond the distance of the farthest neighbor from z̄.
    """
    centroid = np.einsum("ij,ijc->ic", memberships, around)
    centered = around - centroid[:, None]
    covariance = np.einsum("ij,ijb,ijc->ibc", memberships, centered, centered)
    variance = np.trace(covariance, axis1=1, axis2=2) / covariance.shape[1]
    covariance += np.where(variance > 0, RIDGE * variance, 1.0)[:, None, None] * np.eye(covariance.shape[1])
    offset = Z - centroid
    length = np.sqrt((offset**2).sum(axis=1))
    farthest = np.sqrt((centered**2).sum(axis=2).max(axis=1))
    offset *= (np.minimum(length, farthest) / np.where(length > 0, length, 1.0))[:, None]
    slope = np.linalg.solve(covariance, offset[:, :, None])[:, :, 0]
    return np.asarray(memberships * (1 + np.einsum("ijc,ic->ij", centered, slope)))
