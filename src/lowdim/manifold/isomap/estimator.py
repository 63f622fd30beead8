"""Isomap (Tenenbaum, de Silva and Langford 2000), with landmarks (L-Isomap) and conformal lengths (C-Isomap)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from lowdim.base.estimator import EmbeddingMixin, Estimator, SeedMixin, ThreadsMixin, estimator
from lowdim.base.fit_memory import SYMMETRIZED_EDGE, UNION, FitMemory
from lowdim.base.metric_mixin import MetricMixin
from lowdim.base.state import StateCheck
from lowdim.decomposition.gower import BLOCK_ENTRIES, GowerProjection
from lowdim.errors import BadInput
from lowdim.knn.fitted import FittedNeighbors, FittedRows, NeighborSpec, read_source
from lowdim.manifold.isomap.edge_lengths import connected_graph, mean_neighbor_distances, query_lengths, scaled_lengths
from lowdim.manifold.isomap.embedding import (
    GeodesicEmbedding,
    embed_all,
    embed_by_landmarks,
    farthest_landmarks,
    project_points,
    random_landmarks,
)
from lowdim.manifold.isomap.shortest_paths import GeodesicGraph
from lowdim.runtime.blas import single_blas
from lowdim.runtime.param import Choice, Flag, Integer, Maybe, Real, param
from lowdim.runtime.random import seed_of
from lowdim.runtime.threads import thread_count
from lowdim.runtime.warning import warn

__all__ = ["Isomap", "IsomapState"]

Array = NDArray[Any]

DEFAULT_NEIGHBORS = 5


@dataclass(frozen=True)
class IsomapState:
    """What `transform` needs beside the public attributes; lengths are in `unit`."""

    graph: GeodesicGraph
    projection: GowerProjection
    unit: float
    mean_neighbor_distances: Array | None  # (n,), of C-Isomap
    landmark_geodesics: Array | None  # (m, n)
    gram_norm_squared: float
    seed: int


@estimator(title="classical scaling of geodesic distances", summary="graph", sparse=True)
class Isomap(EmbeddingMixin, MetricMixin, SeedMixin, ThreadsMixin, Estimator):
    """Isomap: classical scaling of geodesic distances, the lengths of shortest paths through the neighbor graph.

        B = -½ J D² J,   Z = V Λ^½,   D the geodesic distances

    `fit` takes an array, sparse matrix, memory map or dataframe, distances (metric="precomputed"), or
    `lowdim.neighbors(X, k)`. The stored entries of a sparse distance matrix are the neighbors: the n_neighbors nearest
    of each row, or all within the radius. With `n_landmarks`, geodesic distances are computed from the landmarks alone
    and all rows are projected by their distances to them: memory and time grow with n instead of n². New rows are
    projected by Gower's formula from their geodesic distances through their neighbors, each independently; fitted rows
    get their own positions.

    {parameters}

    Attributes
    ----------
    embedding_ : array (n, k)
        The embedding of the fitted rows.
    eigenvalues_ : array (k,)
        Eigenvalues of the double-centered matrix of squared geodesic distances (between the landmarks, if there are
        any); 0 for dimensions without positive variance.
    residual_variance_ : array (k,)
        1 - R² between geodesic distances and distances in the embedding with 1, 2 … k components: where it stops
        falling is the intrinsic dimension.
    n_connected_components_ : int
        Connected components of the neighbor graph before they were joined.
    n_neighbors_ : int
        Neighbors of each row that were asked for.
    metric_params_ : dict
        Parameters of the metric: those given, and what it takes from the fitted rows (variances, ranges, categories).
    X_fit_ : array or sparse matrix (n, d), or None
        The fitted rows; None for distances, and for a graph that does not know its rows.
    landmarks_ : array (m,) or None
        Indices of the landmarks.

    """

    n_components: int = param(2, Integer(1), "Number of components.", kw_only=False)
    n_neighbors: int | None = param(
        None,
        Maybe(Integer(1)),
        f"Number of neighbors of each row, at most all others; None: {DEFAULT_NEIGHBORS}, or all those of a given "
        "graph.",
    )
    radius: float | None = param(
        None, Maybe(Real(0, open=True)), "Use all rows within this distance as neighbors, instead of n_neighbors."
    )
    n_landmarks: int | None = param(None, Maybe(Integer(2)), "Number of landmarks; None uses all rows.")
    landmarks: str = param(
        "random",
        Choice("random", "farthest"),
        "How landmarks are chosen: at random, or by farthest-point sampling.",
    )
    conformal: bool = param(
        False,
        Flag(),
        "C-Isomap: divide each edge by the geometric mean of its ends' mean neighbor distances.",
    )
    disconnected: str = param(
        "join",
        Choice("join", "error"),
        "What to do with several connected components: connect them by their shortest edges, or raise an error.",
    )

    _fit_memory = FitMemory(
        keeps=True,
        search_tables=1,
        graph_edges=SYMMETRIZED_EDGE,
        rows=100,  # positions, axes, labels and orders of rows
        edges=8 + 32 * UNION,  # the neighbors; the graph (8 per entry), its transpose and what compares them (24)
        pairs=4,  # geodesic distances
        other=16 * BLOCK_ENTRIES,  # two blocks of Gower's formula
        advice="Use Isomap(n_landmarks=1000): n × n_landmarks numbers, not n².",
    )
    _default_neighbors = DEFAULT_NEIGHBORS
    _state_classes = (IsomapState, GeodesicGraph, GowerProjection)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Compute the embedding."""
        with self._fitting():
            seed, threads = seed_of(self.random_state), thread_count(self.n_jobs)
            source = read_source(self, X)
            self.n_neighbors_ = source.neighbor_count(self.n_neighbors, DEFAULT_NEIGHBORS)
            neighbors = FittedNeighbors.of(source, self._spec(seed, threads))
            neighbors.warn_if_fewer(self.n_neighbors)
            self._require_rows(neighbors.n)
            join = self.disconnected == "join"
            matrix, components = connected_graph(neighbors, self.radius, self._fitted_metric, join, threads)
            means = mean_neighbor_distances(neighbors, self.radius) if self.conformal else None
            lengths, unit = scaled_lengths(matrix, means)
            graph = GeodesicGraph.from_sparse(lengths)
            found = self._embed(graph, seed, threads)
            self.embedding_ = (found.Z * unit).astype(neighbors.dtype)
            self.eigenvalues_ = (found.projection.values * unit**2).astype(neighbors.dtype)
            self.residual_variance_, self.landmarks_ = found.residual_variance, found.landmarks
            self.X_fit_, self.n_connected_components_ = neighbors.rows.X, components
            self._cache = neighbors.rows
            self._state = IsomapState(
                graph, found.projection, unit, means, found.landmark_geodesics, found.gram_norm_squared, seed
            )
            return self

    def transform(self, X: Any) -> Array:
        """Embed new rows by Gower's formula, (m, k).

        X holds rows; with metric="precomputed", their distances to the fitted rows, (m, n); or it is what
        `NeighborIndex.query` found for them.
        """
        check_is_fitted(self, "embedding_")
        state: IsomapState = self._state
        threads = thread_count(self.n_jobs)
        rows = FittedRows.cached(self, self.X_fit_, state.graph.n, self._spec(state.seed, threads))
        neighbors, dtype = rows.neighbors_of(self, X)
        lengths = query_lengths(neighbors, self.radius, state.mean_neighbor_distances, state.unit)  # (m, s)
        with single_blas():
            Z = project_points(
                state.graph, state.projection, state.landmark_geodesics, neighbors.indices, lengths, threads
            )
        return self._finite((Z * state.unit).astype(dtype or self.embedding_.dtype))

    def reconstruction_error(self) -> float:
        """‖B - Z Zᵀ‖ / n for the double-centered matrix B of geodesics (of the landmarks), as in scikit-learn."""
        check_is_fitted(self, "embedding_")
        state: IsomapState = self._state
        missed = max(state.gram_norm_squared - float((state.projection.values**2).sum()), 0.0)
        return float(np.sqrt(missed) / len(state.projection.means) * state.unit**2)

    def _embed(self, graph: GeodesicGraph, seed: int, threads: int) -> GeodesicEmbedding:
        if self.n_landmarks is None:
            return embed_all(graph, self.n_components, seed, threads)
        choose = farthest_landmarks if self.landmarks == "farthest" else random_landmarks
        landmarks, geodesics = choose(graph, self.n_landmarks, seed, threads)
        return embed_by_landmarks(landmarks, geodesics, self.n_components, seed, threads)

    def _spec(self, seed: int, threads: int) -> NeighborSpec:
        return NeighborSpec(self.n_neighbors_, self._fitted_metric, seed, threads, self.radius)

    def _require_rows(self, n: int) -> None:
        if self.radius is not None and self.n_neighbors is not None:
            warn(
                f"radius={self.radius:g} was used, and n_neighbors={self.n_neighbors} ignored: neighbors are all rows "
                "within the radius. Give one of the two."
            )
        self._check_dimensions(n)
        if self.n_landmarks is not None and not self.n_components < self.n_landmarks <= n:
            raise BadInput(
                f"n_landmarks must be more than n_components = {self.n_components} and at most the number of rows, "
                f"{n}; got {self.n_landmarks}."
            )

    def _check_state(self, check: StateCheck) -> None:
        check.floats("embedding_", "n", "k")
        check.floats("eigenvalues_", "k", low=0)
        check.floats("residual_variance_", "k")
        check.number("n_connected_components_", Integer(1, check.sizes["n"]))
        check.number("n_neighbors_", Integer(1))
        check.fitted_rows("n")
        landmarks = check.indices("landmarks_", "m", below="n", optional=True)
        geodesics = check.floats("state.landmark_geodesics", "m", "n", optional=True, low=0)
        check.require((landmarks is None) == (geodesics is None), "landmarks_ and their geodesic distances go together")
        n, k = check.sizes["n"], check.sizes["k"]
        graph = check.instance("state.graph", GeodesicGraph)
        check.require(graph.n == n, f"the geodesic graph must have {n} rows")
        check.require(graph.is_connected(), "the geodesic graph must be symmetric and connected")
        check.require(graph.lengths.max(initial=0) <= 2, "the geodesic graph must have lengths of at most 2 units")
        projection = check.instance("state.projection", GowerProjection)
        shape = (n if landmarks is None else len(landmarks), k)
        check.require(projection.axes.shape == shape, f"the projection must be of shape {shape}")
        means = check.floats("state.mean_neighbor_distances", "n", optional=True)
        check.require(means is None or (means > 0).all(), "state.mean_neighbor_distances must be positive")
        check.number("state.unit", Real(2.0**-300, 2.0**300))  # distances are float32, and means of them
        check.number("state.gram_norm_squared", Real(0))
        check.number("state.seed", Integer(0, 2**64 - 1))
