"""Isomap: distances along the data, kept as well as a plane can."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from lowdim.base.estimator import Estimator, estimator
from lowdim.distance.metrics import MetricLike
from lowdim.errors import BadInput, NotEnoughData
from lowdim.knn.fitted import FittedNeighbors, FittedRows, NeighborSpec, read_source
from lowdim.knn.index import Distance
from lowdim.manifold.isomap.edge_lengths import connected, edge_lengths, new_lengths, reaches
from lowdim.manifold.isomap.embedding import farthest_landmarks, map_all, map_by_landmarks, random_landmarks, ways_over
from lowdim.manifold.isomap.shortest_paths import Roads
from lowdim.runtime.param import Choice, Flag, Integer, Maybe, Real, SeedLike, param
from lowdim.runtime.random import Seed, seed_of
from lowdim.runtime.threads import single_blas, thread_count

__all__ = ["Isomap"]

Array = NDArray[Any]

NEW_ROWS = 1024  # new rows whose distances to all fitted ones are held at once


@estimator(title="distances along the data, laid flat", summary="graph", sparse=True)
class Isomap(Estimator):
    """A map that keeps distances along the data: geodesics through the graph of neighbours, then classical scaling.

        B = -½ J D² J,   Z = V Λ^½,   D the lengths of the shortest ways

    `fit` takes an array, sparse matrix, memory map or dataframe, distances (metric="precomputed"), or
    `lowdim.neighbors(X, k)`. Of a sparse table of distances, those that are stored are the neighbours: the nearest
    n_neighbors of each row, or all within the radius. With `n_landmarks`, only ways from so many rows are measured,
    and all rows are placed by their distances to them: memory and time grow with n instead of n². New rows are placed
    by Gower's formula, from their ways to the fitted rows through their neighbours, each by itself; fitted rows come
    back where they were.

    {parameters}

    Attributes
    ----------
    embedding_ : array (n, k)
        The map.
    eigenvalues_ : array (k,)
        Of the centred Gram matrix of the geodesics (of the landmarks alone, if there are any); 0 where the
        geodesics have no such direction.
    residual_variance_ : array (k,)
        1 - R² between geodesics and distances on the map with 1, 2 … k components: where it stops falling
        is the dimension of the data.
    n_connected_components_ : int
        Components of the neighbour graph before they were joined.
    X_fit_ : array (n, d) or None
        The fitted rows; None for distances and for a graph.
    landmarks_ : array (m,) or None
        The rows that serve as landmarks.

    """

    n_components: int = param(2, Integer(1), "Number of components.", kw_only=False)
    n_neighbors: int = param(5, Integer(1), "Neighbours of a row in the graph; in a small table, all others.")
    radius: float | None = param(
        None, Maybe(Real(0, open=True)), "Take all rows within this distance as neighbours, instead of n_neighbors."
    )
    metric: Distance = param(
        "euclidean",
        MetricLike(),
        "How far two rows are apart; 'precomputed' takes X as distances.",
    )
    n_landmarks: int | None = param(None, Maybe(Integer(2)), "Measure ways only from so many rows; None: from all.")
    landmarks: str = param(
        "random",
        Choice("random", "farthest"),
        "Landmarks drawn at random, or each as far as possible from those before it.",
    )
    conformal: bool = param(
        False, Flag(), "Divide each edge by the root of its ends' mean neighbour distances (C-Isomap)."
    )
    disconnected: str = param(
        "join", Choice("join", "error"), "Join the components of the graph by the shortest bridges, or refuse them."
    )
    random_state: Seed = param(0, SeedLike(), "Seed of the landmarks, the first vectors and approximate neighbours.")
    n_jobs: int | None = param(None, Maybe(Integer()), "Threads; the result has the same bits for any number.")

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the map."""
        with self._fitting():
            seed, threads = seed_of(self.random_state), thread_count(self.n_jobs)
            near = FittedNeighbors.of(read_source(self, X), self._spec(seed, threads))
            self._require_rows(near.n)
            matrix, components = connected(near, self.radius, self.metric, self.disconnected == "join", threads)
            self.reaches_ = reaches(near, self.radius) if self.conformal else None
            matrix, self.unit_ = edge_lengths(matrix, self.reaches_)
            self.roads_ = Roads.of(matrix)
            if self.n_landmarks is None:
                found = map_all(self.roads_, self.n_components, seed, threads)
            else:
                choose = farthest_landmarks if self.landmarks == "farthest" else random_landmarks
                chosen = choose(self.roads_, self.n_landmarks, seed, threads)
                found = map_by_landmarks(*chosen, self.n_components, seed, threads)
            self.embedding_ = (found.Z * self.unit_).astype(near.dtype)
            self.eigenvalues_ = (found.scaling.values * self.unit_**2).astype(near.dtype)
            self.residual_variance_, self.gram_square_ = found.residual_variance, found.gram_square
            self.scaling_, self.landmarks_, self.landmark_ways_ = found.scaling, found.landmarks, found.ways
            self.X_fit_, self.seed_, self.n_connected_components_ = near.rows.X, seed, components
            self._cache = near.rows
            return self

    def fit_transform(self, X: Any, y: Any = None) -> Array:
        """Find the map and return it, (n, k)."""
        return self.fit(X).embedding_.copy()

    def transform(self, X: Any) -> Array:
        """Places of new rows on the fitted map, (m, k).

        X holds rows; with metric="precomputed", their distances to the fitted rows, (m, n); or it is what
        `NeighborIndex.query` found for them.
        """
        check_is_fitted(self, "embedding_")
        threads = thread_count(self.n_jobs)
        fitted = FittedRows.cached(self, self.X_fit_, self.roads_.n, self._spec(self.seed_, threads))
        near, dtype = fitted.neighbors_of(self, X)
        lengths = new_lengths(near, self.radius, self.reaches_, self.unit_)  # (m, k)
        out = np.empty((len(lengths), self.embedding_.shape[1]))
        with single_blas():
            for start in range(0, len(out), NEW_ROWS):
                part = slice(start, start + NEW_ROWS)
                if self.landmark_ways_ is None:
                    ways = self.roads_.from_seeds(near.indices[part], lengths[part], threads)
                else:
                    ways = ways_over(self.landmark_ways_, near.indices[part], lengths[part])
                out[part] = self.scaling_.place(ways)
        return (out * self.unit_).astype(dtype or self.embedding_.dtype)

    def reconstruction_error(self) -> float:
        """‖B - Z Zᵀ‖ / n for the centred Gram matrix B of the geodesics (of the landmarks), as in scikit-learn."""
        check_is_fitted(self, "embedding_")
        missed = max(self.gram_square_ - float((self.scaling_.values**2).sum()), 0.0)
        return float(np.sqrt(missed) / len(self.scaling_.means) * self.unit_**2)

    def _spec(self, seed: int, threads: int) -> NeighborSpec:
        return NeighborSpec(self.n_neighbors, self.metric, seed, threads, self.radius)

    def _require_rows(self, n: int) -> None:
        if self.n_components > n:
            raise NotEnoughData(f"n_components must be at most the number of rows, {n}; got {self.n_components}.")
        if self.n_landmarks is not None and not self.n_components < self.n_landmarks <= n:
            raise BadInput(
                f"n_landmarks must be more than n_components = {self.n_components} and at most the number of rows, "
                f"{n}; got {self.n_landmarks}."
            )

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])
