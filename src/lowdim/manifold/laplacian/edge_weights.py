"""Weights of the edges of a neighbour graph: how much two rows have to do with one another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.errors import BadInput
from lowdim.knn.graph import Graph

__all__ = ["Edges", "edges_of", "evened", "given_edges", "given_weights", "new_weights"]

Array = NDArray[Any]


@dataclass(frozen=True)
class Edges:
    """Symmetric weights (n, n) without a diagonal, and what made them: e^(-γ d²), or e^(-d²/(σ_i σ_j)), or 1."""

    matrix: sp.csr_array
    gamma: float | None = None
    sigma: NDArray[np.float64] | None = None


def edges_of(graph: Graph, affinity: str, gamma: float | str) -> Edges:
    """Weights of the edges that one of their two rows names."""
    union = graph.symmetrize("union").tocoo()
    squares = np.square(union.data, dtype=np.float64)
    row, column = union.coords
    width: float | None = None
    sigma = None
    if affinity == "binary":
        values = np.ones(len(squares))
    elif gamma == "local":
        sigma = _own_widths(graph.distances)
        values = _heat(squares / (sigma[row] * sigma[column]))
    else:
        width = 1.0 / _typical(squares) if isinstance(gamma, str) else float(gamma)
        values = _heat(width * squares)
    return Edges(_without_zeros(row, column, values, graph.n), width, sigma)


def given_edges(W: Any) -> Edges:
    """Weights that are given, dense or sparse; self-weights are left out."""
    coo = sp.coo_array(W)
    row, column = coo.coords
    values = coo.data.astype(np.float64)
    if coo.shape[0] != coo.shape[1]:
        raise BadInput(f"affinity='precomputed' needs a square table of weights; got shape {coo.shape}.")
    if not np.isfinite(values).all() or (values < 0).any():
        raise BadInput("weights must be finite (no NaN or infinity) and not negative.")
    off = row != column
    matrix = _without_zeros(row[off], column[off], values[off], coo.shape[0])
    gap = abs(matrix - matrix.T)
    if gap.nnz and gap.max() > 1e-6 * matrix.max():
        raise BadInput("weights must be symmetric: W[i, j] = W[j, i]. Give (W + W.T) / 2.")
    return Edges(sp.csr_array((matrix + matrix.T) / 2))


def new_weights(distances: Array, indices: Array, edges: Edges, affinity: str) -> NDArray[np.float64]:
    """Weights of new rows to their neighbours, (m, k), made as those of the fitted rows were."""
    squares = np.square(distances, dtype=np.float64)
    if affinity == "binary":
        return np.ones(squares.shape)
    if edges.sigma is not None:
        return _heat(squares / (_own_widths(distances)[:, None] * edges.sigma[indices]))
    assert edges.gamma is not None
    return _heat(edges.gamma * squares)


def given_weights(block: Any) -> tuple[Array, Array]:
    """Rows of weights to all fitted rows as (weights, indices), as wide as the fullest row."""
    csr = sp.csr_array(block).astype(np.float64)
    if not np.isfinite(csr.data).all() or (csr.data < 0).any():
        raise BadInput("weights must be finite (no NaN or infinity) and not negative.")
    counts = np.diff(csr.indptr)
    if (np.asarray(csr.sum(axis=1)).ravel() <= 0).any():
        raise BadInput("a new row has no weight to any fitted row, and so no place on the map. Drop it.")
    shape = (len(counts), int(counts.max(initial=1)))
    row = np.repeat(np.arange(len(counts)), counts)
    place = np.arange(csr.nnz) - np.repeat(csr.indptr[:-1], counts)
    weights, indices = np.zeros(shape), np.zeros(shape, dtype=np.int64)
    weights[row, place], indices[row, place] = csr.data, csr.indices
    return weights, indices


def evened(matrix: sp.csr_array, alpha: float) -> tuple[sp.csr_array, NDArray[np.float64]]:
    """Weights divided by (q_i q_j)^α, q their row sums: at α = 1 the density of the rows no longer counts."""
    density = np.asarray(matrix.sum(axis=1)).ravel()
    if alpha == 0:
        return matrix, density
    factor = np.where(density > 0, density, 1.0) ** -alpha
    coo = matrix.tocoo()
    values = coo.data * factor[coo.coords[0]] * factor[coo.coords[1]]
    return sp.csr_array((values, coo.coords), shape=matrix.shape), density


def _heat(exponents: Array) -> NDArray[np.float64]:
    return np.exp(-np.minimum(exponents, 700.0)) * (exponents < 700.0)


def _typical(squares: Array) -> float:
    """The median squared length; the mean where more than half of the edges have none."""
    middle = float(np.median(squares)) if len(squares) else 0.0
    return middle or float(squares.mean() if len(squares) else 0.0) or 1.0


def _own_widths(distances: Array) -> NDArray[np.float64]:
    """σ of each row: the distance to its last neighbour; 1 where all neighbours lie at the same place."""
    last = distances[:, -1].astype(np.float64)
    return np.where(last > 0, last, 1.0)


def _without_zeros(row: Array, column: Array, values: Array, n: int) -> sp.csr_array:
    kept = values > 0
    return sp.csr_array((values[kept], (row[kept], column[kept])), shape=(n, n))
