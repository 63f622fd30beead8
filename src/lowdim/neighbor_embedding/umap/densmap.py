"""densMAP: local densities of the data are kept in the embedding (Narayan, Berger and Cho 2021).

The local radius of a row is the logarithm of the weighted mean of its squared distances to its neighbors. In the last
part of the run, the optimizer also maximizes the correlation between the local radii in the embedding, r, and those in
the original space, R.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lowdim import _native
from lowdim.knn.graph import Graph
from lowdim.knn.index import neighbors
from lowdim.neighbor_embedding.umap.fuzzy_graph import FuzzyGraph, fuzzy_simplicial_set, smooth_knn_distances

__all__ = [
    "DensityCorrelation",
    "DensityTarget",
    "embedded_radii",
    "embedding_radii",
    "first_density_epoch",
    "original_radii",
]

Array = NDArray[Any]

EPSILON = 1e-8
VAR_SHIFT = 0.1  # added to the variance of the radii, so that equal ones do not divide by zero
DENSITY_FRACTION = 0.3  # of the epochs, the last ones


@dataclass(frozen=True)
class DensityCorrelation:
    """Moments of the radii R and r of the fitted rows: the gradient of their correlation, for fitted and new rows."""

    original_mean: float
    original_std: float
    embedding_mean: float
    embedding_std: float
    covariance: float  # of r with the standardized R
    strength: float
    original_min: float
    original_max: float

    @classmethod
    def of(cls, original: Array, embedding: Array, strength: float) -> Self:
        """Those of the radii R and r of the fitted rows, each (n,)."""
        mean, std = float(original.mean()), _shifted_std(original)
        covariance = float(embedding @ ((original - mean) / std)) / max(len(embedding) - 1, 1)
        extremes = float(original.min()), float(original.max())
        return cls(mean, std, float(embedding.mean()), _shifted_std(embedding), covariance, strength, *extremes)

    def gradient_terms(self, original: Array, phi_sums: Array, embedding: Array) -> NDArray[np.float32]:
        """Two terms per row, from which the kernel forms the gradient of the correlation along an edge, (2 m,).

        The derivative in a row's radius is s = (R - cov (r - mean r) / var) / std, and that of the radius in a squared
        distance φ / Σφ ((1 - b (1 - φ)) / e^r + t), t = a b d^(2b - 2) / (1 + a d^2b): the terms are s / (Σφ e^r) and
        s / Σφ. An R outside the range of the fitted rows is clipped to it.
        """
        clipped = np.clip(original, self.original_min, self.original_max)
        standardized = (clipped - self.original_mean) / self.original_std
        slope = standardized - self.covariance * (embedding - self.embedding_mean) / self.embedding_std**2
        scaled = slope * (self.strength / self.embedding_std) / np.maximum(phi_sums, EPSILON)
        return np.column_stack([scaled * np.exp(-embedding), scaled]).astype(np.float32).ravel()


@dataclass(frozen=True)
class DensityTarget:
    """The local radii of the rows in the original space, and the strength of the density term."""

    radii: NDArray[np.float64]  # (n,)
    strength: float

    @classmethod
    def of(cls, graph: FuzzyGraph, dens_lambda: float) -> Self:
        """Those of a fuzzy graph; the strength is relative to the sum of its weights."""
        return cls(local_radii(graph), dens_lambda * float(graph.weights.sum(dtype=np.float64)) / 2 / max(graph.n, 1))

    def gradient_terms(
        self, positions: Array, graph: FuzzyGraph, a: float, b: float, threads: int
    ) -> NDArray[np.float32]:
        """Those of `DensityCorrelation`, for an embedding of the graph."""
        phi_sums, radii = embedding_radii(positions, None, graph.starts, graph.columns, a, b, threads)
        correlation = DensityCorrelation.of(self.radii, radii, self.strength)
        return correlation.gradient_terms(self.radii, phi_sums, radii)

    def for_new_rows(
        self, positions: Array, graph: Graph, local_connectivity: float, a: float, b: float, threads: int
    ) -> DensityCorrelation:
        """With the final embedding, over the edges that new rows have too: from each row to its neighbors, directed."""
        weights = smooth_knn_distances(graph.distances, local_connectivity, threads).weights
        rows, starts = np.repeat(np.arange(graph.n), graph.k), np.arange(graph.n + 1, dtype=np.int64) * graph.k
        original = original_radii(rows, weights.ravel(), graph.distances.ravel(), graph.n)
        radii = embedding_radii(positions, None, starts, graph.indices.ravel(), a, b, threads)[1]
        return DensityCorrelation.of(original, radii, self.strength)


def first_density_epoch(n_epochs: int) -> int:
    """The epoch with which the density term begins."""
    return int(np.ceil(n_epochs * (1 - DENSITY_FRACTION)))


def local_radii(graph: FuzzyGraph) -> NDArray[np.float64]:
    """Local radii of the rows of a fuzzy graph, (n,): log Σwd² / Σw over the edges of each."""
    return original_radii(graph.rows, graph.weights, graph.lengths, graph.n)


def embedded_radii(positions: Array, k: int, local_connectivity: float, threads: int) -> NDArray[np.float64]:
    """Local radii in an embedding, (n,), by the fuzzy graph of its own k nearest neighbors."""
    nearest = neighbors(positions, k, n_jobs=threads)
    return local_radii(fuzzy_simplicial_set(nearest, local_connectivity, 1.0, threads))


def embedding_radii(
    positions: Array, fixed: Array | None, starts: Array, columns: Array, a: float, b: float, threads: int
) -> tuple[Array, Array]:
    """Σφ and the local radii in the embedding, each (m,): log Σφd² / Σφ with weights φ = 1 / (1 + a d^2b).

    The edges lead to rows of `fixed`, or of the positions themselves.
    """
    m = len(positions)
    phi_sums, square_sums = np.empty(m, np.float32), np.empty(m, np.float32)
    _native.densmap_sums(positions, fixed, starts, columns, a, b, phi_sums, square_sums, threads)
    wide = phi_sums.astype(np.float64)
    return wide, np.log(EPSILON + square_sums / np.maximum(wide, EPSILON))


def original_radii(rows: Array, weights: Array, lengths: Array, n: int) -> NDArray[np.float64]:
    """Local radii in the original space, (n,): log Σwd² / Σw over the edges of each row."""
    wide = weights.astype(np.float64)
    squares = np.bincount(rows, wide * lengths.astype(np.float64) ** 2, minlength=n)
    return np.asarray(np.log(EPSILON + squares / np.maximum(np.bincount(rows, wide, minlength=n), EPSILON)))


def _shifted_std(radii: Array) -> float:
    return float(np.sqrt(radii.var() + VAR_SHIFT))
