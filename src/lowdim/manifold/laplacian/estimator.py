"""Laplacian eigenmaps (Belkin and Niyogi 2003) and diffusion maps (Coifman and Lafon 2006)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from lowdim.base.estimator import EmbeddingMixin, Estimator, SeedMixin, ThreadsMixin, estimator
from lowdim.base.fit_memory import SYMMETRIZED_EDGE, FitMemory
from lowdim.base.metric_mixin import MetricMixin
from lowdim.base.state import StateCheck
from lowdim.data.validation import read_rows
from lowdim.errors import BadInput, BadParameter, NotEnoughData
from lowdim.knn.fitted import FittedNeighbors, FittedRows, NeighborSpec, read_source
from lowdim.knn.graph import component_labels, warn_of_components
from lowdim.linalg.components import pack_components
from lowdim.manifold.laplacian.edge_weights import (
    EdgeWeights,
    density_normalized,
    edge_weights,
    precomputed_query_weights,
    precomputed_weights,
    query_weights,
)
from lowdim.manifold.laplacian.embedding import laplacian_embedding, nystrom_extension
from lowdim.runtime.param import Choice, Either, Integer, Maybe, Real, Such, param
from lowdim.runtime.random import seed_of
from lowdim.runtime.threads import thread_count

__all__ = ["LaplacianEigenmaps", "LaplacianState"]

Array = NDArray[Any]

DEFAULT_NEIGHBORS = 10

# Floors of the Nyström divisor, relative to the degree. The graph is symmetric, but no fitted row has a new one as its
# neighbor: degrees of new rows are smaller, and d - λ of a large eigenvalue may be near 0.
PRECOMPUTED_FLOOR = 1e-9
NEIGHBORS_FLOOR = 0.25


@dataclass(frozen=True)
class LaplacianState:
    """What `transform` needs beside the public attributes."""

    sigma: Array | None  # (n,) local scales, for gamma="local"
    density: Array  # (n,) row sums of the weights before density normalization
    degrees: Array  # (n,) and after it
    offsets: Array  # (c,) of the connected components along the first axis
    seed: int


@estimator(
    title="eigenvectors of the graph Laplacian with the smallest eigenvalues",
    summary="graph",
    sparse=True,
)
class LaplacianEigenmaps(EmbeddingMixin, MetricMixin, SeedMixin, ThreadsMixin, Estimator):
    """Laplacian eigenmaps: eigenvectors of the Laplacian of the weighted neighbor graph with the smallest eigenvalues.

        min Σ w_ij (z_i - z_j)²,   that is   L z = λ D z,   L = D - W,   without the constant z

    `fit` takes an array, sparse matrix, memory map or dataframe, distances (metric="precomputed"), weights
    (affinity="precomputed"), or `lowdim.neighbors(X, k)`. With `diffusion_time` t it is a diffusion map: coordinates
    are scaled by (1 - λ)^t. Each coordinate has mean square 1 before that. Where the graph is disconnected, each
    connected component is embedded by itself, and they are packed side by side along the first axis, scaled by √ of
    their share of the rows.

    New rows are embedded by the Nyström extension: z = Σ w_j z_j / (d (1 - λ)), d = Σ w_j, and for the unnormalized
    Laplacian Σ w_j z_j / (d - λ). A fitted row with its own weights is thereby mapped to itself; a new row that equals
    a fitted one gets its position.

    {parameters}

    Attributes
    ----------
    embedding_ : array (n, k)
        The embedding of the fitted rows.
    eigenvalues_ : array (k,)
        Of the Laplacian, ascending, without the 0 of the constant eigenvector; those of the largest component.
    component_eigenvalues_ : array (c, k)
        The same for every connected component.
    component_labels_, n_connected_components_ : array (n,), int
        The connected component of every row, and their number.
    n_neighbors_ : int or None
        Neighbors of each row that were asked for; None for precomputed weights.
    metric_params_ : dict
        Parameters of the metric: those given, and what it takes from the fitted rows (variances, ranges, categories).
    X_fit_ : array or sparse matrix (n, d), or None
        The fitted rows; None for distances, weights, and a graph that does not know its rows.
    gamma_ : float or None
        γ of the heat kernel; None for local scales, binary and precomputed weights.

    """

    n_components: int = param(2, Integer(1), "Number of components.", kw_only=False)
    n_neighbors: int | None = param(
        None,
        Maybe(Integer(1)),
        f"Number of neighbors of each row, at most all others; None: {DEFAULT_NEIGHBORS}, or all those of a given "
        "graph.",
    )
    affinity: str = param(
        "heat",
        Choice("heat", "binary", "precomputed"),
        "Edge weights: the heat kernel e^(-γ d²), or 1; or X holds the weights.",
    )
    gamma: float | str = param(
        "local",
        Either(Real(0, open=True), Choice("median", "local")),
        "γ of the heat kernel. 'local': self-tuning, d² / (σ_i σ_j) in place of γ d², σ the distance to the last "
        "neighbor; 'median': 1 / the median d² of the edges.",
    )
    laplacian: str = param(
        "random_walk",
        Choice("random_walk", "symmetric", "unnormalized"),
        "Random-walk Laplacian L z = λ D z, symmetric normalized Laplacian D^-½ L D^-½, or L itself.",
    )
    diffusion_time: float | None = param(
        None, Maybe(Real(0)), "Diffusion map: scale coordinates by (1 - λ)^t; None does not."
    )
    alpha: float = param(
        0.0,
        Real(0, 1),
        "Density normalization: divide weights by (q_i q_j)^α, q their row sums; 1 removes the sampling density.",
    )
    disconnected: str = param(
        "split",
        Choice("split", "error"),
        "What to do with several connected components: embed them side by side, or raise an error.",
    )

    _fit_memory = FitMemory(keeps=True, search_tables=1, edges=SYMMETRIZED_EDGE)
    _default_neighbors = DEFAULT_NEIGHBORS
    _state_classes = (LaplacianState,)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Compute the embedding."""
        with self._fitting():
            self._require_random_walk()
            seed, threads = seed_of(self.random_state), thread_count(self.n_jobs)
            weights, dtype = self._weights(X, seed, threads)
            W, density = density_normalized(weights.matrix, self.alpha)
            self._require_rows(W.shape[0])
            labels = self._labels(W)
            found = laplacian_embedding(W, labels, self.laplacian, self.n_components, seed, threads)
            Z = found.Z
            if self.diffusion_time is not None:
                Z = Z * np.maximum(1 - found.values, 0.0)[labels] ** self.diffusion_time
            Z, offsets = pack_components(Z, labels)
            self.embedding_ = Z.astype(dtype)
            self.component_eigenvalues_ = found.values
            self.eigenvalues_ = found.values[np.argmax(np.bincount(labels))]
            self.component_labels_, self.n_connected_components_ = labels, len(found.values)
            self.gamma_ = weights.gamma
            degrees = np.asarray(W.sum(axis=1)).ravel()
            self._state = LaplacianState(weights.sigma, density, degrees, offsets, seed)
            return self

    def transform(self, X: Any) -> Array:
        """Embed new rows by the Nyström extension, (m, k).

        X holds rows; with metric="precomputed", their distances to the fitted rows, (m, n); with
        affinity="precomputed", their weights to them; or it is what `NeighborIndex.query` found for them.
        """
        check_is_fitted(self, "embedding_")
        if self.affinity == "precomputed":
            rows = read_rows(self, X, fitting=False)
            blocks = (precomputed_query_weights(chunk.load()) for chunk in rows.chunks())
            return self._finite(np.vstack([self._extend(*b, PRECOMPUTED_FLOOR) for b in blocks]).astype(rows.dtype))
        spec = NeighborSpec(self.n_neighbors_ or 1, self._fitted_metric, self._state.seed, thread_count(self.n_jobs))
        fitted = FittedRows.cached(self, self.X_fit_, len(self.embedding_), spec)
        neighbors, dtype = fitted.neighbors_of(self, X)
        distances, indices = neighbors.distances, neighbors.indices
        weights = query_weights(distances, indices, self.affinity, self.gamma_, self._state.sigma)
        out = self._extend(weights, indices, NEIGHBORS_FLOOR).astype(dtype or self.embedding_.dtype)
        equal = distances[:, 0] == 0
        out[equal] = self.embedding_[indices[equal, 0]]
        return self._finite(out)

    @property
    def _precomputed(self) -> bool:
        return self.affinity == "precomputed" or super()._precomputed

    def _weights(self, X: Any, seed: int, threads: int) -> tuple[EdgeWeights, np.dtype[Any]]:
        """The edge weights, and the dtype of the input."""
        if self.affinity == "precomputed":
            given = read_rows(self, X, fitting=True, min_rows=2)
            self.X_fit_ = self.n_neighbors_ = None
            self._fit_metric(None)
            return precomputed_weights(given.whole()), given.dtype
        source = read_source(self, X)
        self.n_neighbors_ = source.neighbor_count(self.n_neighbors, DEFAULT_NEIGHBORS)
        neighbors = FittedNeighbors.of(source, NeighborSpec(self.n_neighbors_, self._fitted_metric, seed, threads))
        neighbors.warn_if_fewer(self.n_neighbors)
        self.X_fit_, self._cache = neighbors.rows.X, neighbors.rows
        return edge_weights(neighbors.graph, self.affinity, self.gamma), neighbors.dtype

    def _labels(self, W: sp.csr_array) -> NDArray[np.int32]:
        labels = component_labels(W)
        components = int(labels.max(initial=-1)) + 1
        if components > 1 and self.disconnected == "error":
            raise BadInput(
                f"the neighbor graph has {components} connected components. Use more neighbors or a smaller gamma, or "
                "embed them side by side with disconnected='split'."
            )
        warn_of_components(components, "embedded one by one, side by side")
        return labels

    def _extend(self, weights: Array, indices: Array, floor: float) -> NDArray[np.float64]:
        """The Nyström extension within the component of the neighbor of largest weight; others do not count."""
        state: LaplacianState = self._state
        strongest = np.argmax(weights, axis=1)[:, None]
        weights = np.where(weights.sum(axis=1)[:, None] > 0, weights, np.arange(weights.shape[1]) == 0)
        labels = self.component_labels_[indices]  # (m, s)
        own = np.take_along_axis(labels, strongest, axis=1)
        weights = np.where(labels == own, weights, 0.0)
        if self.alpha > 0:
            q = weights.sum(axis=1)[:, None] * np.where(state.density > 0, state.density, 1.0)[indices]
            weights = weights / q**self.alpha
        Z = self.embedding_.astype(np.float64)[indices]  # (m, s, k)
        Z[..., 0] -= state.offsets[labels]
        degrees = np.where(state.degrees > 0, state.degrees, 1.0)[indices]
        values = self.component_eigenvalues_[own[:, 0]]
        out = nystrom_extension(weights, Z, degrees, values, self.laplacian, floor)
        out[:, 0] += state.offsets[own[:, 0]]
        return out

    def _require_random_walk(self) -> None:
        if self.diffusion_time is not None and self.laplacian == "unnormalized":
            raise BadParameter(
                "diffusion_time needs laplacian='random_walk' or 'symmetric': diffusion is a power of the random walk."
            )

    def _require_rows(self, n: int) -> None:
        if self.n_components >= n:
            raise NotEnoughData(f"n_components must be less than the number of rows, {n}; got {self.n_components}.")
        self._check_dimensions(n)

    def _check_state(self, check: StateCheck) -> None:
        check.floats("embedding_", "n", "k")
        check.floats("eigenvalues_", "k")
        check.floats("component_eigenvalues_", "c", "k")
        check.indices("component_labels_", "n", below="c")
        count = check.number("n_connected_components_", Integer(1))
        check.require(count == check.sizes["c"], f"n_connected_components_ must be {check.sizes['c']}")
        check.fitted_rows("n")
        given = self.affinity == "precomputed"
        check.number("n_neighbors_", Such("None", lambda value: value is None) if given else Integer(1))
        check.number("gamma_", Maybe(Real(0, open=True)))
        check.floats("state.sigma", "n", optional=True, low=0)
        check.floats("state.density", "n", low=0)
        check.floats("state.degrees", "n", low=0)
        check.floats("state.offsets", "c")
        check.number("state.seed", Integer(0, 2**64 - 1))
        heat = self.affinity == "heat"
        scaled = check.value("gamma_") is not None or check.value("state.sigma") is not None
        check.require(scaled or not heat, "heat weights need gamma_ or local scales")
