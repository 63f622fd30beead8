"""Classical multidimensional scaling."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from lowdim.base.estimator import Estimator, estimator
from lowdim.data.ownership import owned
from lowdim.data.rows import Rows, open_rows
from lowdim.data.validation import check_weights, overflow_error, read_rows
from lowdim.decomposition import classical_scaling as scaling
from lowdim.decomposition.landmarks import uniform_landmarks
from lowdim.decomposition.principal_axes import Plan, principal_axes
from lowdim.distance.condensed import Measure, given_table, measure_of
from lowdim.distance.matrix_checks import checked_distances, checked_new_distances
from lowdim.distance.metrics import metric_of
from lowdim.errors import LowdimWarning, NotEnoughData
from lowdim.linalg.centered import Centered
from lowdim.mds.base import metric_domain
from lowdim.runtime.memory import require_memory
from lowdim.runtime.param import Choice, Integer, Maybe, SeedLike, param
from lowdim.runtime.random import Seed, seed_of
from lowdim.runtime.threads import thread_count
from lowdim.summaries.gram import Mapped, finite_rows

__all__ = ["ClassicalMDS"]

Array = NDArray[Any]


@estimator(
    title="a map whose inner products are nearest to what the distances say", summary="gram", sparse=True, weights=True
)
class ClassicalMDS(Estimator):
    """Points whose inner products are nearest to what given distances say (principal coordinates).

        B = -½ H D² Hᵀ = V Λ Vᵀ,   Z = V Λ^½

    Euclidean distances of data are never formed: their map is that of PCA, at its price. New rows, given
    as data or as distances to the fitted rows, are placed by Gower's formula, which moves nothing.

    {parameters}

    Attributes
    ----------
    embedding_ : array (n, k)
        The map. A dimension whose eigenvalue is not positive is all zeros.
    eigenvalues_ : array
        Of B (of the corrected one), descending: all of them where they were found, negative ones too; of large
        matrices the k largest and the smallest.
    goodness_of_fit_ : array (2,)
        Share of the k largest in the sum of the sizes of all eigenvalues, and in the sum of the positive ones.
    correction_constant_ : float
        What Lingoes's or Cailliez's correction added; 0 where distances are Euclidean.
    landmarks_ : array of int, or None
        Places of the rows that the map was found from, if not all.
    X_fit_ : array (n, d)
        The rows (or the landmarks) that new ones are compared with; not there for metric="euclidean", whose axes
        place new rows, and for "precomputed".
    converged_ : bool
        Whether the iteration for large tables had settled.

    """

    n_components: int | None = param(
        2, Maybe(Integer(1)), "Number of dimensions; None for all that vary.", kw_only=False
    )
    metric: str | Callable[[Any, Any], float] = param(
        "euclidean",
        metric_domain,
        "The distance between rows; with 'precomputed', X holds distances (not their squares).",
    )
    correction: str | None = param(
        None,
        Choice(None, "lingoes", "cailliez"),
        "For distances that are not Euclidean: add a constant to their squares, or to themselves, so that they are.",
    )
    n_landmarks: int | None = param(
        None, Maybe(Integer(1)), "Find the map from so many rows, and place the others on it; None for all rows."
    )
    random_state: Seed = param(0, SeedLike(), "Seed of the landmarks and of the iteration for large matrices.")
    n_jobs: int | None = param(None, Maybe(Integer()), "Threads; the result has the same bits for any number.")

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the map. `sample_weight` says how often each row counts; those of weight zero are only placed."""
        with self._fitting():
            rows = read_rows(self, X, fitting=True)
            weights, chosen = self._choose(rows, check_weights(sample_weight, rows.n))
            self.landmarks_ = chosen
            if self._is("euclidean"):
                self._fit_axes(rows, weights)
            else:
                self._fit_distances(rows, weights)
        return self

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> Array:
        """Find the map of the rows, (n, k)."""
        return self.fit(X, y, sample_weight).embedding_.copy()

    def transform(self, X: Any) -> Array:
        """Place rows, or rows of distances to all fitted rows if precomputed, on the map, (m, k)."""
        check_is_fitted(self, "embedding_")
        return self._place(read_rows(self, X, fitting=False))

    def _choose(self, rows: Rows, weights: Array | None) -> tuple[Array | None, Array | None]:
        """Weights and places of the rows that the map is found from; None for all of them."""
        n = rows.count
        able = np.arange(n) if weights is None else np.flatnonzero(weights)
        if self.n_landmarks is not None:
            able = able[uniform_landmarks(len(able), self.n_landmarks, seed_of(self.random_state))]
        if len(able) == n:
            return weights, None
        return None if weights is None else weights[able], able

    def _fit_axes(self, rows: Rows, weights: Array | None) -> None:
        threads = thread_count(self.n_jobs)
        own = rows if self.landmarks_ is None else open_rows(rows.whole()[self.landmarks_])
        plan = Plan(self.n_components, ddof=0, seed=seed_of(self.random_state), threads=threads)
        axes = principal_axes(own, weights, plan)
        k, dtype = axes.vectors.shape[1], rows.dtype
        self.mean_, self.components_ = axes.mean, np.ascontiguousarray(axes.vectors.T, dtype=dtype)
        self.eigenvalues_ = (axes.values * axes.n).astype(dtype)
        share = float(axes.values[:k].sum()) / axes.total if axes.total > 0 else 1.0
        self.goodness_of_fit_ = np.minimum([share, share], 1.0)
        self.correction_constant_, self.converged_ = 0.0, axes.converged
        if not axes.converged:
            warnings.warn(
                f"{axes.n_iter} passes over the rows did not settle all {k} dimensions: the last ones may be rough. "
                "Ask for fewer, or use PCA, which takes tol and max_iter.",
                LowdimWarning,
                stacklevel=3,
            )
        self.embedding_ = self._place(rows)

    def _fit_distances(self, rows: Rows, weights: Array | None) -> None:
        threads, seed = thread_count(self.n_jobs), seed_of(self.random_state)
        D = self._distances(rows, threads)
        k, n = self.n_components, len(D)
        if k is not None and k > n:
            raise NotEnoughData(f"n_components={k} must be at most the number of rows, {n}. Ask for fewer.")
        found = scaling.scale_distances(D, k, weights=weights, correction=self.correction, threads=threads, seed=seed)
        self.unit_, self.constant_, self.converged_ = found.unit, found.constant, found.converged
        self.alphas_, self.kernel_means_ = np.ascontiguousarray(found.alphas, dtype=D.dtype), found.means
        self.eigenvalues_ = (found.values * np.float64(found.unit) ** 2).astype(D.dtype)
        if not np.isfinite(self.eigenvalues_).all():
            raise overflow_error()
        self.goodness_of_fit_ = scaling.goodness_of_fit(found, found.points.shape[1])
        self.correction_constant_ = found.constant * found.unit ** (2 if self.correction == "lingoes" else 1)
        points = np.ascontiguousarray(found.points * found.unit, dtype=D.dtype)
        self.embedding_ = points if self.landmarks_ is None else self._place(rows)

    def _distances(self, rows: Rows, threads: int) -> Array:
        """Distances between the rows that the map is found from."""
        chosen = self.landmarks_
        if self._is("precomputed"):
            D = given_table(rows, missing=False)
            return D if chosen is None else np.ascontiguousarray(D[np.ix_(chosen, chosen)])
        table = finite_rows(rows)
        self.X_fit_ = owned(table, rows) if chosen is None else table[chosen]
        n = len(self.X_fit_)
        require_memory(3 * 8 * n * n, f"distances between {n} rows", "Use n_landmarks, or metric='euclidean'.")
        measure = self._measure(threads)
        return checked_distances(measure.to(measure))

    def _measure(self, threads: int) -> Measure:
        return measure_of(open_rows(self.X_fit_), metric_of(self.metric), threads)

    def _place(self, rows: Rows) -> Array:
        threads = thread_count(self.n_jobs)
        if self._is("euclidean"):  # Gower's formula is then a projection
            return Centered(rows, self.mean_, None, None, threads).times(self.components_.T)
        table = Mapped(rows, len(self.alphas_), self._inner_products())
        places = Centered(table, self.kernel_means_, None, None, threads).times(self.alphas_)
        return places if self.unit_ == 1 else places * places.dtype.type(self.unit_)

    def _inner_products(self) -> Callable[[Array, int], Array]:
        """-½δ² of new rows, δ their distances to the rows that the map was found from, in the unit of the fit."""
        given, chosen = self._is("precomputed"), self.landmarks_
        fitted = None if given else self._measure(1)  # several chunks of new rows are measured at once already

        def inner_products(new: Array, first: int) -> Array:
            if fitted is None:
                distances = checked_new_distances(new if chosen is None else new[:, chosen], first=first)
            else:
                distances = fitted.to(measure_of(open_rows(new), fitted.metric, 1, fitted))
            return scaling.corrected_squares(distances, self.unit_, self.correction, self.constant_)

        return inner_products

    def _is(self, metric: str) -> bool:
        return isinstance(self.metric, str) and self.metric == metric

    @property
    def _n_features_out(self) -> int:
        return self.embedding_.shape[1]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._is("precomputed")
        tags.input_tags.sparse = self._is("euclidean")
        return tags
