"""Edge weights of a neighbor graph: the heat kernel, binary or precomputed weights, and density normalization."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.errors import BadInput
from lowdim.knn.graph import Graph

__all__ = [
    "EdgeWeights",
    "density_normalized",
    "edge_weights",
    "precomputed_query_weights",
    "precomputed_weights",
    "query_weights",
]

Array = NDArray[Any]

MAX_EXPONENT = 700.0  # e^-700 is the smallest that matters; beyond, weights are 0


@dataclass(frozen=True)
class EdgeWeights:
    """Symmetric weights (n, n) without a diagonal: e^(-γ d²) with γ, or e^(-d² / (σ_i σ_j)) with local scales σ."""

    matrix: sp.csr_array
    gamma: float | None = None
    sigma: NDArray[np.float64] | None = None


def edge_weights(graph: Graph, affinity: str, gamma: float | str) -> EdgeWeights:
    """Weights of the union of the k-nearest-neighbor edges: heat kernel or binary."""
    union = graph.symmetrize("union").tocoo()
    squares = np.square(union.data, dtype=np.float64)
    row, column = union.coords
    width: float | None = None
    sigma = None
    if affinity == "binary":
        values = np.ones(len(squares))
    elif gamma == "local":
        sigma = _local_scales(graph.distances)
        values = _heat_kernel(squares / (sigma[row] * sigma[column]))
    else:
        width = 1.0 / _median_square(squares) if isinstance(gamma, str) else float(gamma)
        values = _heat_kernel(width * squares)
    return EdgeWeights(_without_zeros(row, column, values, graph.n), width, sigma)


def precomputed_weights(W: Any) -> EdgeWeights:
    """Given weights, dense or sparse; the diagonal is left out."""
    coo = sp.coo_array(W)
    row, column = coo.coords
    values = coo.data.astype(np.float64)
    if coo.shape[0] != coo.shape[1]:
        raise BadInput(f"affinity='precomputed' needs a square matrix of weights; got shape {coo.shape}.")
    _require_weights(values)
    off = row != column
    matrix = _without_zeros(row[off], column[off], values[off], coo.shape[0])
    gap = abs(matrix - matrix.T)
    if gap.nnz and gap.max() > 1e-6 * matrix.max():
        raise BadInput("weights must be symmetric: W[i, j] = W[j, i]. Use (W + W.T) / 2.")
    return EdgeWeights(sp.csr_array((matrix + matrix.T) / 2))


def query_weights(
    distances: Array, indices: Array, affinity: str, gamma: float | None, sigma: Array | None
) -> NDArray[np.float64]:
    """Weights of new rows to their neighbors, (m, k), with the γ or the local scales of the fit."""
    squares = np.square(distances, dtype=np.float64)
    if affinity == "binary":
        return np.ones(squares.shape)
    if sigma is not None:
        return _heat_kernel(squares / (_local_scales(distances)[:, None] * sigma[indices]))
    assert gamma is not None
    return _heat_kernel(gamma * squares)


def precomputed_query_weights(block: Any) -> tuple[Array, Array]:
    """Weights of new rows to all fitted rows as (weights, indices), padded to the longest row."""
    csr = sp.csr_array(block).astype(np.float64)
    _require_weights(csr.data)
    counts = np.diff(csr.indptr)
    if (np.asarray(csr.sum(axis=1)).ravel() <= 0).any():
        raise BadInput("a new row has no positive weight to any fitted row, so it can't be embedded. Drop it.")
    shape = (len(counts), int(counts.max(initial=1)))
    row = np.repeat(np.arange(len(counts)), counts)
    position = np.arange(csr.nnz) - np.repeat(csr.indptr[:-1], counts)
    weights, indices = np.zeros(shape), np.zeros(shape, dtype=np.int64)
    weights[row, position], indices[row, position] = csr.data, csr.indices
    return weights, indices


def density_normalized(matrix: sp.csr_array, alpha: float) -> tuple[sp.csr_array, NDArray[np.float64]]:
    """Weights divided by (q_i q_j)^α, and q (n,), their row sums: the density (Coifman and Lafon 2006).

    At α = 1 the sampling density of the rows no longer counts.
    """
    density = np.asarray(matrix.sum(axis=1)).ravel()
    if alpha == 0:
        return matrix, density
    factor = np.where(density > 0, density, 1.0) ** -alpha
    coo = matrix.tocoo()
    values = coo.data * factor[coo.coords[0]] * factor[coo.coords[1]]
    return sp.csr_array((values, coo.coords), shape=matrix.shape), density


def _heat_kernel(exponents: Array) -> NDArray[np.float64]:
    return np.exp(-np.minimum(exponents, MAX_EXPONENT)) * (exponents < MAX_EXPONENT)


def _median_square(squares: Array) -> float:
    """The median squared length; the mean where more than half of the edges have length 0."""
    median = float(np.median(squares)) if len(squares) else 0.0
    return median or float(squares.mean() if len(squares) else 0.0) or 1.0


def _local_scales(distances: Array) -> NDArray[np.float64]:
    """Self-tuning σ per row (Zelnik-Manor and Perona 2004): the distance to the last neighbor, or 1 if that is 0."""
    last = distances[:, -1].astype(np.float64)
    return np.where(last > 0, last, 1.0)


def _require_weights(values: Array) -> None:
    if not np.isfinite(values).all() or (values < 0).any():
        raise BadInput("weights must be finite (no NaN or infinity) and nonnegative.")


def _without_zeros(row: Array, column: Array, values: Array, n: int) -> sp.csr_array:
    kept = values > 0
    return sp.csr_array((values[kept], (row[kept], column[kept])), shape=(n, n))
