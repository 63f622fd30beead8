"""Laplacian eigenmaps and diffusion maps."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from lowdim.base.estimator import Estimator, estimator
from lowdim.data.validation import read_rows
from lowdim.distance.metrics import MetricLike
from lowdim.errors import BadInput, BadParameter, NotEnoughData
from lowdim.knn.fitted import FittedNeighbors, FittedRows, NeighborSpec, read_source
from lowdim.knn.graph import component_labels
from lowdim.knn.index import Distance
from lowdim.linalg.components import pack_components
from lowdim.manifold.laplacian.edge_weights import Edges, edges_of, evened, given_edges, given_weights, new_weights
from lowdim.manifold.laplacian.embedding import extended, slowest_waves
from lowdim.runtime.param import Choice, Either, Integer, Maybe, Real, SeedLike, param
from lowdim.runtime.random import Seed, seed_of
from lowdim.runtime.threads import thread_count

__all__ = ["LaplacianEigenmaps"]

Array = NDArray[Any]

TINY = 1e-9
# New rows name neighbours and nobody names them, so their degrees are smaller, and a rough wave's d - λ may be near 0.
SLACK = 0.25


@estimator(title="slowest waves on the neighbour graph", summary="graph", sparse=True)
class LaplacianEigenmaps(Estimator):
    """A map on which neighbours stay together: the slowest waves on the weighted graph of neighbours.

        min Σ w_ij (z_i - z_j)²,   that is   L z = λ D z,   L = D - W,   without the constant z

    `fit` takes an array, sparse matrix, memory map or dataframe, distances (metric="precomputed"), weights
    (affinity="precomputed"), or `lowdim.neighbors(X, k)`. With `diffusion_time` it is a diffusion map: waves are scaled
    by (1 - λ)^t. Each coordinate has mean square 1 before that. Where the graph falls into components, each is
    mapped by its own waves, and they are laid side by side along the first axis, sized by their share of the rows.

    New rows are continued from their neighbours (Nyström): z = Σ w_j z_j / (d (1 - λ)), d = Σ w_j, and for the
    unnormalized form Σ w_j z_j / (d - λ). A row of the fit with its own weights is thereby sent to itself; a new row
    that equals a fitted one gets its place.

    {parameters}

    Attributes
    ----------
    embedding_ : array (n, k)
        The map.
    eigenvalues_ : array (k,)
        Of the Laplacian, ascending, without the constant wave's 0; those of the largest component.
    component_eigenvalues_ : array (c, k)
        The same for every component.
    components_of_rows_, n_connected_components_ : array (n,), int
        The component of every row, and their number.
    X_fit_ : array (n, d) or None
        The fitted rows; None for distances, weights and a graph.
    gamma_ : float or None
        The γ of the weights, if there is one.

    """

    n_components: int = param(2, Integer(1), "Number of components.", kw_only=False)
    n_neighbors: int = param(10, Integer(1), "Neighbours of a row in the graph; in a small table, all others.")
    affinity: str = param(
        "heat",
        Choice("heat", "binary", "precomputed"),
        "Weights of edges: e^(-γ d²), or 1; or X holds the weights.",
    )
    gamma: float | str = param(
        "local",
        Either(Real(0, open=True), Choice("median", "local")),
        "γ of the heat weights; 'local' puts d² / (σ_i σ_j) for γ d², σ the distance to the last neighbour, and "
        "'median' is 1 / the median d² of the edges.",
    )
    laplacian: str = param(
        "random_walk",
        Choice("random_walk", "symmetric", "unnormalized"),
        "L z = λ D z, or the eigenvectors of D^-½ L D^-½, or those of L.",
    )
    diffusion_time: float | None = param(None, Maybe(Real(0)), "Scale waves by (1 - λ)^t: a diffusion map.")
    alpha: float = param(0.0, Real(0, 1), "Divide weights by (q_i q_j)^α, q their row sums; 1 cancels the density.")
    metric: Distance = param(
        "euclidean",
        MetricLike(),
        "How far two rows are apart; 'precomputed' takes X as distances.",
    )
    disconnected: str = param(
        "split", Choice("split", "error"), "Lay components of the graph side by side, or refuse them."
    )
    random_state: Seed = param(0, SeedLike(), "Seed of the first vectors and of approximate neighbours.")
    n_jobs: int | None = param(None, Maybe(Integer()), "Threads; the result has the same bits for any number.")

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the map."""
        with self._fitting():
            if self.diffusion_time is not None and self.laplacian == "unnormalized":
                raise BadParameter(
                    "diffusion_time needs laplacian='random_walk' or 'symmetric', whose 1 - λ are steps."
                )
            seed, threads = seed_of(self.random_state), thread_count(self.n_jobs)
            edges, rows, dtype = self._edges(X, seed, threads)
            W, density = evened(edges.matrix, self.alpha)
            if self.n_components >= W.shape[0]:
                raise NotEnoughData(
                    f"n_components must be less than the number of rows, {W.shape[0]}; got {self.n_components}."
                )
            labels = self._labels(W)
            waves = slowest_waves(W, labels, self.laplacian, self.n_components, seed, threads)
            Z = waves.Z
            if self.diffusion_time is not None:
                Z = Z * np.maximum(1 - waves.values, 0.0)[labels] ** self.diffusion_time
            Z, self.offsets_ = pack_components(Z, labels)
            self.embedding_ = Z.astype(dtype)
            self.component_eigenvalues_ = waves.values
            self.eigenvalues_ = waves.values[np.argmax(np.bincount(labels))]
            self.components_of_rows_, self.n_connected_components_ = labels, len(waves.values)
            self.densities_, self.degrees_ = density, np.asarray(W.sum(axis=1)).ravel()
            self.gamma_, self.sigma_ = edges.gamma, edges.sigma
            self.X_fit_, self.seed_ = rows, seed
            return self

    def fit_transform(self, X: Any, y: Any = None) -> Array:
        """Find the map and return it, (n, k)."""
        return self.fit(X).embedding_.copy()

    def transform(self, X: Any) -> Array:
        """Places of new rows on the fitted map, (m, k).

        X holds rows; with metric="precomputed", their distances to the fitted rows, (m, n); with
        affinity="precomputed", their weights to them; or it is what `NeighborIndex.query` found for them.
        """
        check_is_fitted(self, "embedding_")
        if self.affinity == "precomputed":
            rows = read_rows(self, X, fitting=False)
            blocks = (chunk.load() for chunk in rows.chunks())
            places = [self._continued(*given_weights(block), least=TINY) for block in blocks]
            return np.vstack(places).astype(rows.dtype)
        spec = NeighborSpec(self.n_neighbors, self.metric, self.seed_, thread_count(self.n_jobs))
        near, dtype = FittedRows.cached(self, self.X_fit_, len(self.embedding_), spec).neighbors_of(self, X)
        edges = Edges(sp.csr_array((0, 0)), self.gamma_, self.sigma_)
        weights = new_weights(near.distances, near.indices, edges, self.affinity)
        out = self._continued(weights, near.indices, least=SLACK).astype(dtype or self.embedding_.dtype)
        there = near.distances[:, 0] == 0
        out[there] = self.embedding_[near.indices[there, 0]]
        return out

    def _edges(self, X: Any, seed: int, threads: int) -> tuple[Edges, Array | None, np.dtype[Any]]:
        if self.affinity == "precomputed":
            given = read_rows(self, X, fitting=True, min_rows=2)
            return given_edges(given.whole()), None, given.dtype
        near = FittedNeighbors.of(read_source(self, X), NeighborSpec(self.n_neighbors, self.metric, seed, threads))
        self._cache = near.rows
        return edges_of(near.graph, self.affinity, self.gamma), near.rows.X, near.dtype

    def _labels(self, W: sp.csr_array) -> NDArray[np.int32]:
        labels = component_labels(W)
        pieces = int(labels.max(initial=-1)) + 1
        if pieces > 1 and self.disconnected == "error":
            raise BadInput(
                f"the neighbour graph falls into {pieces} components. Take more neighbours or a smaller gamma, or lay "
                "them side by side by disconnected='split'."
            )
        return labels

    def _continued(self, weights: Array, indices: Array, least: float) -> NDArray[np.float64]:
        """Nyström's formula within the component of the neighbour of greatest weight; the others play no part."""
        strongest = np.argmax(weights, axis=1)[:, None]
        weights = np.where(weights.sum(axis=1)[:, None] > 0, weights, np.arange(weights.shape[1]) == 0)
        labels = self.components_of_rows_[indices]  # (m, s)
        own = np.take_along_axis(labels, strongest, axis=1)
        weights = np.where(labels == own, weights, 0.0)
        if self.alpha > 0:
            q = weights.sum(axis=1)[:, None] * np.where(self.densities_ > 0, self.densities_, 1.0)[indices]
            weights = weights / q**self.alpha
        Z = self.embedding_.astype(np.float64)[indices]  # (m, s, k)
        Z[..., 0] -= self.offsets_[labels]
        degrees = np.where(self.degrees_ > 0, self.degrees_, 1.0)[indices]
        out = extended(weights, Z, degrees, self.component_eigenvalues_[own[:, 0]], self.laplacian, least)
        out[:, 0] += self.offsets_[own[:, 0]]
        return out

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])
