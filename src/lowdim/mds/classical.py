"""Classical (Torgerson) scaling, also known as principal coordinates analysis."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from lowdim.base.estimator import EmbeddingMixin, Estimator, SeedMixin, ThreadsMixin, estimator
from lowdim.base.fit_memory import FitMemory
from lowdim.base.metric_mixin import MetricMixin
from lowdim.base.state import StateCheck
from lowdim.data.ownership import owned
from lowdim.data.rows import Rows, open_rows
from lowdim.data.validation import check_weights, overflow_error, read_rows
from lowdim.decomposition import classical_scaling as scaling
from lowdim.decomposition.landmarks import uniform_landmarks
from lowdim.decomposition.principal_axes import PCAOptions, principal_axes
from lowdim.distance.matrix_checks import checked_distances, checked_new_distances, precomputed_distances
from lowdim.distance.metrics import MetricLike, metric_of
from lowdim.distance.pairwise import prepare_rows
from lowdim.errors import BadInputType
from lowdim.knn.blockwise import SPARSE_METRICS, sparse_distances
from lowdim.linalg.centered import Centered
from lowdim.runtime.memory import require_memory
from lowdim.runtime.param import Choice, Integer, Maybe, Real, param
from lowdim.runtime.random import seed_of
from lowdim.runtime.threads import thread_count
from lowdim.runtime.warning import warn
from lowdim.summaries.kernel_sources import MappedRows, finite_rows

__all__ = ["ClassicalMDS", "ClassicalMDSState"]

Array = NDArray[Any]


@dataclass(frozen=True)
class ClassicalMDSState:
    """The out-of-sample extension: a new row g lies at (g - means) axes · unit.

    g is the row itself for Euclidean distances, which makes this a projection; otherwise -½δ² with δ its corrected
    distances, in this unit, to the rows that the embedding was computed from (Gower's formula).
    """

    means: Array  # (m,)
    axes: Array  # (m, k)
    unit: float
    constant: float  # of the correction, in this unit


@estimator(
    title="classical (Torgerson) scaling: principal coordinates of a distance matrix",
    summary="gram",
    sparse=True,
    weights=True,
)
class ClassicalMDS(EmbeddingMixin, MetricMixin, SeedMixin, ThreadsMixin, Estimator):
    """Classical (Torgerson) scaling: principal coordinates of a distance matrix.

        B = -½ H D² Hᵀ = V Λ Vᵀ,   Z = V Λ^½

    The inner products of the embedding Z are the best approximation of B. Euclidean distances of rows are never formed:
    their embedding is that of PCA, at its cost. New rows, given as rows or as distances to the fitted ones, are
    embedded by Gower's formula, which changes nothing fitted. Sparse rows stay sparse for the metrics euclidean,
    sqeuclidean and cosine; the others need them as a dense table.

    {parameters}

    Attributes
    ----------
    embedding_ : array (n, k)
        The embedding. A dimension whose eigenvalue is not positive is all zeros.
    eigenvalues_ : array
        Of B (after the correction), descending: all of them where they were computed, negative ones too; for large
        matrices the k largest and the smallest.
    goodness_of_fit_ : array (2,)
        The sum of the k largest eigenvalues over the sum of the absolute values of all, and over that of the positive.
        Of more than 1,000 distances that are not Euclidean, these sums are estimated to about 2%.
    correction_constant_ : float
        The constant that Lingoes's or Cailliez's correction added; 0 where the distances are Euclidean.
    landmarks_ : array of int, or None
        Indices of the rows that the embedding was computed from, if not all.
    converged_ : bool
        Whether the eigenvalue iteration for large matrices converged.
    metric_params_ : dict
        Parameters of the metric: those given, and what it takes from the fitted rows (variances, ranges, categories).
    X_fit_ : array or sparse matrix (m, d), or None
        The rows that `transform` measures new ones against, all fitted rows or the landmarks; None for
        metric="euclidean", which needs only the principal axes, and for precomputed distances.

    """

    # All distances, beside half of the matrix of their squares.
    _fit_memory = FitMemory(keeps=True, pair_values=1.5, advice="Use ClassicalMDS(n_landmarks=1000).")
    _state_classes = (ClassicalMDSState,)

    n_components: int | None = param(
        2, Maybe(Integer(1)), "Number of dimensions; None: all with a positive eigenvalue.", kw_only=False
    )
    correction: str | None = param(
        None,
        Choice(None, "lingoes", "cailliez"),
        "For distances that are not Euclidean: the constant that makes them so, added to their squares (Lingoes) or to "
        "the distances themselves (Cailliez).",
    )
    n_landmarks: int | None = param(
        None, Maybe(Integer(1)), "Number of random landmarks to compute the embedding from; None uses all rows."
    )

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the embedding. `sample_weight` are the weights of the rows; those of weight zero are only embedded."""
        with self._fitting():
            rows = read_rows(self, X, fitting=True)
            self._fit_metric(rows)
            weights, self.landmarks_ = self._select(rows, check_weights(sample_weight, rows.n))
            if self._euclidean:
                self._fit_principal_axes(rows, weights)
            else:
                self._fit_distances(rows, weights)
        return self

    def transform(self, X: Any) -> Array:
        """Positions (m, k) of new rows, or of rows of distances to all fitted rows if precomputed."""
        check_is_fitted(self, "embedding_")
        return self._finite(self._embed(read_rows(self, X, fitting=False)))

    def _select(self, rows: Rows, weights: Array | None) -> tuple[Array | None, Array | None]:
        """Weights and indices of the rows that the embedding is computed from; None for all of them."""
        n = rows.count
        indices = np.arange(n) if weights is None else np.flatnonzero(weights)
        if self.n_landmarks is not None:
            indices = indices[uniform_landmarks(len(indices), self.n_landmarks, seed_of(self.random_state))]
        if len(indices) == n:
            return weights, None
        return None if weights is None else weights[indices], indices

    def _fit_principal_axes(self, rows: Rows, weights: Array | None) -> None:
        """Euclidean distances: the embedding is that of PCA."""
        own = rows if self.landmarks_ is None else open_rows(rows.whole()[self.landmarks_])
        most, k = min(own.count, own.d), self.n_components
        self._check_dimensions(own.count)
        seed, threads = seed_of(self.random_state), thread_count(self.n_jobs)
        plan = PCAOptions(None if k is None else min(k, most), ddof=0, seed=seed, threads=threads)
        found = principal_axes(own, weights, plan)
        k = max(1, int((found.values > 0).sum())) if k is None else k
        axes = np.where(found.values[: found.vectors.shape[1]] > 0, found.vectors, 0.0)[:, :k]
        axes = np.pad(axes, ((0, 0), (0, k - axes.shape[1])))  # rows of few columns have no more dimensions
        self._state = ClassicalMDSState(found.mean, np.ascontiguousarray(axes, dtype=rows.dtype), 1.0, 0.0)
        values = np.pad(found.values, (0, max(0, k - len(found.values))))
        self.eigenvalues_ = (values * found.n * np.float64(found.unit) ** 2).astype(rows.dtype)
        explained = float(values[:k].sum()) / found.total if found.total > 0 else 1.0
        self.goodness_of_fit_ = np.minimum([explained, explained], 1.0)
        self.correction_constant_, self.converged_ = 0.0, found.converged
        self.X_fit_: Any = None
        if not found.converged:
            warn(
                f"the last of the {k} dimensions did not converge within {found.n_iter} passes over the rows. "
                "Ask for fewer, or use PCA, which takes tol and max_iter.",
            )
        self.embedding_ = self._embed(rows)

    def _fit_distances(self, rows: Rows, weights: Array | None) -> None:
        """Other distances: the eigenpairs of the double-centered matrix."""
        threads, seed = thread_count(self.n_jobs), seed_of(self.random_state)
        D = self._distances(rows, threads)
        k = self.n_components
        self._check_dimensions(len(D))
        found = scaling.scale_distances(D, k, weights=weights, correction=self.correction, threads=threads, seed=seed)
        axes = np.ascontiguousarray(found.alphas, dtype=D.dtype)
        self._state = ClassicalMDSState(found.means, axes, found.unit, found.constant)
        self.eigenvalues_ = (found.values * np.float64(found.unit) ** 2).astype(D.dtype)
        if not np.isfinite(self.eigenvalues_).all():
            raise overflow_error()
        self.goodness_of_fit_ = scaling.goodness_of_fit(found, found.points.shape[1])
        self.correction_constant_ = found.constant * found.unit ** (2 if self.correction == "lingoes" else 1)
        self.converged_ = found.converged
        points = np.ascontiguousarray(found.points * found.unit, dtype=D.dtype)
        self.embedding_ = points if self.landmarks_ is None else self._embed(rows)

    def _distances(self, rows: Rows, threads: int) -> Array:
        """Distances between the rows that the embedding is computed from; sets X_fit_."""
        indices = self.landmarks_
        if self._precomputed:
            self.X_fit_ = None
            D = precomputed_distances(rows, missing=False)
            return D if indices is None else np.ascontiguousarray(D[np.ix_(indices, indices)])
        table = finite_rows(rows, missing=self._mixed)
        kept = owned(table, rows) if indices is None else table[indices]
        self.X_fit_, n = kept, kept.shape[0]
        require_memory(3 * 8 * n * n, f"distances between {n} rows", "Use n_landmarks, or metric='euclidean'.")
        D = self._distances_to_fitted(threads)(self.X_fit_)
        if self._fitted_metric.function is not None or rows.sparse:
            return checked_distances(D)
        np.fill_diagonal(D, 0)  # russellrao has other values there
        return D

    def _distances_to_fitted(self, threads: int) -> Callable[[Any], Array]:
        """A function that gives the distances of rows to those that the embedding was computed from, (m, n)."""
        metric, X = self._fitted_metric, self.X_fit_
        if sp.issparse(X) and metric.name in SPARSE_METRICS:
            return lambda new: sparse_distances(new, X, metric)
        fitted = prepare_rows(open_rows(X), metric, threads)
        return lambda new: fitted.distances_from(
            fitted if new is X else prepare_rows(open_rows(new), metric, threads, fitted)
        )

    def _embed(self, rows: Rows) -> Array:
        """Positions (m, k) of rows, by projection or by Gower's formula."""
        state = self._state
        table = (
            rows
            if self._euclidean
            else MappedRows(rows, len(state.axes), self._minus_half_squares(), missing=self._mixed)
        )
        positions = Centered(table, state.means, None, None, thread_count(self.n_jobs)).times(state.axes)
        return positions if state.unit == 1 else positions * positions.dtype.type(state.unit)

    def _minus_half_squares(self) -> Callable[[Array, int], Array]:
        """-½δ² of a block of new rows, δ their corrected distances to the rows that the embedding was computed from."""
        state, indices = self._state, self.landmarks_
        measure = None if self._precomputed else self._distances_to_fitted(1)  # blocks are computed in parallel already

        def minus_half_squares(new: Any, first: int) -> Array:
            if measure is None:
                if sp.issparse(new):
                    raise BadInputType("a sparse matrix lacks most distances; give all of them, as an array.")
                distances = checked_new_distances(new if indices is None else new[:, indices], first=first)
            else:
                distances = measure(new)
            return scaling.corrected_squares(distances, state.unit, self.correction, state.constant)

        return minus_half_squares

    @property
    def _euclidean(self) -> bool:
        return MetricLike().accepts(self.metric) and metric_of(self.metric).name == "euclidean"

    def _memory_model(self, rows: Rows) -> FitMemory | None:
        """Euclidean distances need the moments alone."""
        return FitMemory(scatters=1, iterative=True, scores=8) if self._euclidean else self._fit_memory

    def _check_state(self, check: StateCheck) -> None:
        embedding = check.floats("embedding_", "n", "k")
        check.require(embedding is not None and embedding.size > 0, "embedding_ must not be empty")
        landmarks = check.indices("landmarks_", "m", below="n", optional=True)
        check.require(landmarks is None or (np.diff(landmarks) > 0).all(), "landmarks_ must be ascending")
        check.sizes.setdefault("m", check.sizes["n"])
        check.rows("X_fit_", "m", "d", optional=self._euclidean or self._precomputed)
        if self._euclidean or self._precomputed:
            check.require(self.X_fit_ is None, f"X_fit_ must be None for metric={self.metric!r}")
        if self._precomputed:
            check.number("n_features_in_", Integer(check.sizes["n"], check.sizes["n"]))
        columns = "d" if self._euclidean else "m"
        check.floats("state.means", columns)
        check.floats("state.axes", columns, "k")
        check.number("state.unit", Real(0, open=True))
        constant = check.number("state.constant", Real(0))
        check.require(constant == 0 or self.correction is not None, "state.constant must be 0 without a correction")
        values = check.value("eigenvalues_")
        whole = isinstance(values, np.ndarray) and values.ndim == 1 and values.dtype in (np.float32, np.float64)
        check.require(whole and not np.isnan(values).any(), "eigenvalues_ must be one axis of numbers")
        check.floats("goodness_of_fit_", 2, low=0)
        check.number("correction_constant_", Real(0))
        check.instance("converged_", bool)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = not self._precomputed
        return tags
