"""Principal component analysis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from lowdim.base.estimator import SeedMixin, ThreadsMixin, estimator
from lowdim.base.fit_memory import FitMemory
from lowdim.base.linear import check_moments
from lowdim.base.state import StateCheck
from lowdim.data.rows import ArrayRows, Rows
from lowdim.data.validation import (
    check_weights,
    has_missing,
    overflow_error,
    read_rows,
    read_rows_for_solver,
    underflow_error,
)
from lowdim.decomposition.component_count import ComponentRule, component_domain
from lowdim.decomposition.ppca_em import PPCAModel, axes_by_em, impute
from lowdim.decomposition.principal_axes import (
    PCAOptions,
    PrincipalAxes,
    axes_from_moments,
    principal_axes,
)
from lowdim.decomposition.resolution import warn_of_constant_columns
from lowdim.errors import ModelFileError
from lowdim.linear.probabilistic_pca import ProbabilisticPCAMixin
from lowdim.runtime.param import Choice, Flag, Integer, Maybe, Real, param
from lowdim.runtime.random import seed_of
from lowdim.runtime.threads import thread_count
from lowdim.summaries.moments import Moments, moments_of

__all__ = ["PCA", "PCAState"]

Array = NDArray[Any]


@dataclass(frozen=True)
class PCAState:
    """What `partial_fit` continues from, and what correlation loadings need."""

    moments: Moments | None  # of all rows that partial_fit has seen; None after fit
    variances: Array | None = None  # (d,) of the centered and scaled columns; None in files of an earlier lowdim


@estimator(
    title="directions of greatest variance",
    summary="moments",
    inverse=True,
    streaming=True,
    sparse=True,
    weights=True,
)
class PCA(ThreadsMixin, SeedMixin, ProbabilisticPCAMixin):
    """Principal component analysis: orthogonal directions of greatest variance.

        max tr(Vᵀ C V)  subject to  VᵀV = I,   C = Σ (x - μ)(x - μ)ᵀ / (n - ddof)

    `fit` takes an array, sparse matrix, memory map, dataframe, file, Dask collection, a function that returns a new
    iterator of chunks, or `lowdim.moments(X)`, and chooses the same solver for all of them. An iterator is read once:
    of no fewer rows than columns by the covariance matrix; fewer are held. Workers of Dask make the Gram matrix of
    fewer rows than columns; only solver="svd", and rows in float64 that need it, are gathered there.

    {parameters}

    Attributes
    ----------
    components_ : array (k, d)
        Principal axes in rows. The first entry of largest absolute value is positive.
    explained_variance_, explained_variance_ratio_ : array (k,)
        Variance along each axis, and its ratio to the total variance.
    singular_values_ : array (k,)
        Singular values of the centered rows that belong to the axes.
    correlation_loadings_ : array (d, k)
        Correlations between the columns and the scores; 0 for constant columns.
    spectrum_ : array (≥ k,)
        The eigenvalues of the covariance matrix that the solver found: all of them, or only k. One that is too small to
        be told from rounding errors is 0. Relative to the largest, the covariance and Gram matrices resolve about 2e-16
        (1e-7 in float32), the SVD about 1e-30. solver="auto" goes on to the SVD where it is needed, if the rows are
        dense and can be read again; a stream, Moments and sparse rows can't.
    total_variance_ : float
        Trace of the covariance (or correlation) matrix.
    log_generalized_variance_ : float
        Its log-determinant. -inf for a singular matrix, as that of a constant column or of no more rows than columns.
        NaN where the solver does not find it: krylov, and the covariance matrix if columns are so nearly collinear
        that it does not hold by how little they differ; solver="svd" tells.
    noise_variance_ : float
        Mean variance of the axes left out: σ² of probabilistic PCA.
    mean_, scale_ : array (d,)
        Means of the columns; their standard deviations if standardized, else None.
    n_components_ : int
        Number of components.
    n_samples_ : float
        Number of rows, or the sum of their weights.
    solver_, n_iter_, converged_ : str, int, bool
        The solver ("em" for rows with missing values), its iterations, and whether they converged.

    """

    n_components: int | float | str | ComponentRule | None = param(
        2,
        component_domain,
        "Number of components; or the explained variance ratio to exceed; or a rule; or None for all.",
        kw_only=False,
    )
    solver: str = param(
        "auto",
        Choice("auto", "covariance", "gram", "svd", "krylov"),
        "Eigenvectors of the covariance matrix, of the Gram matrix (n < d), SVD (tiny variances), or block Krylov "
        "iteration (large or sparse). All find the same axes; 'auto' takes the cheapest.",
    )
    standardize: bool = param(False, Flag(), "Divide every column by its standard deviation first.")
    whiten: bool = param(False, Flag(), "Scale every score to unit variance.")
    ddof: int = param(1, Choice(0, 1), "Variances divide by n - ddof.")
    missing: str = param(
        "error", Choice("error", "em"), "NaN is an error, or missing values are handled by EM in fit and transform."
    )
    tol: float | None = param(
        None, Maybe(Real(0, open=True)), "Convergence tolerance of krylov and EM; None for a default by dtype."
    )
    max_iter: int = param(200, Integer(1), "Maximum number of iterations of krylov and EM.")

    _axis = "PC"
    _fit_memory = FitMemory(scatters=1, iterative=True)
    _state_classes = (PCAState, Moments)

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the principal axes. `sample_weight` is the multiplicity of each row."""
        with self._fitting():
            if isinstance(X, Moments):
                self._accept_moments(X, sample_weight, self.solver)
                return self._keep(axes_from_moments(X, self._options()), X.dtype)
            rows = read_rows_for_solver(self, X, self.solver, min_rows=self.ddof + 1)
            weights = check_weights(sample_weight, rows.n)
            if self.missing == "em" and _has_missing(rows):
                return self._keep(axes_by_em(rows, weights, self._options()), rows.dtype)
            axes = principal_axes(rows, weights, self._options(), self.solver)
            if axes.unit != 1:  # the axes are known, but their variances would vanish
                raise underflow_error()
            if self.standardize:  # every other column has a variance of one
                warn_of_constant_columns(rows.d - round(axes.total), rows.d)
            return self._keep(axes, rows.dtype)

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Add rows to those of earlier calls, and find the principal axes of all of them."""
        with self._continuing():
            seen: Moments | None = self._state.moments if hasattr(self, "_state") else None
            if seen is None:
                self._forget()  # what fit found, which nothing can be added to
            rows = read_rows(self, X, fitting=seen is None)
            new = moments_of(rows, None, check_weights(sample_weight, rows.n), thread_count(self.n_jobs))
            total = new if seen is None else seen + new
            if total.rows > self.ddof:  # a single row has no variance yet; it is kept for the next call
                self._keep(axes_from_moments(total, self._options()), rows.dtype)
            self._state = PCAState(total, self._state.variances if hasattr(self, "_state") else None)
            return self

    def transform(self, X: Any) -> Array:
        """Scores of rows on the principal axes, (n, k). With missing='em', NaN are imputed first."""
        check_is_fitted(self, "components_")
        return super().transform(self._imputed(X))

    @property
    def correlation_loadings_(self) -> Array:
        """Correlations between the columns and the scores of the fitted rows, (d, k): V √λ / σ."""
        check_is_fitted(self, "components_")
        if self._state.variances is None:
            raise ModelFileError("a model file of an earlier lowdim holds no correlation loadings. Fit it again.")
        deviations = np.sqrt(np.where(self._state.variances > 0, self._state.variances, np.inf))
        products = self.components_.T * np.sqrt(self.explained_variance_.astype(np.float64))
        return np.clip(products / deviations[:, None], -1, 1).astype(self.components_.dtype)

    def reconstruction_error(self, X: Any) -> Array:
        """Squared distance of each row to its reconstruction, in the fitted units, (n,).

        Its mean over the fitted rows is the sum of the variances left out (times (n - ddof) / n).
        """
        norms, scores = self._norms_and_scores(X)
        return self._finite(np.maximum(norms - (scores**2).sum(axis=1), 0).astype(self.components_.dtype))

    def _options(self) -> PCAOptions:
        threads = thread_count(self.n_jobs)
        seed = seed_of(self.random_state)
        return PCAOptions(self.n_components, self.ddof, self.standardize, self.tol, self.max_iter, seed, threads)

    def _keep(self, axes: PrincipalAxes, dtype: np.dtype[Any]) -> Self:
        k = axes.vectors.shape[1]
        values = axes.values[:k]
        if not np.isfinite(values.astype(dtype)).all():
            raise overflow_error()
        self.mean_ = axes.mean.astype(dtype)
        self.scale_ = None if axes.scale is None else axes.scale.astype(dtype)
        if self.scale_ is not None and self.scale_.min() < np.finfo(dtype).tiny:  # its inverse would overflow
            raise underflow_error()
        self.components_ = np.ascontiguousarray(axes.vectors.T, dtype=dtype)
        self.explained_variance_ = values.astype(dtype)
        ratios = values / axes.total if axes.total > 0 else np.zeros(k)
        self.explained_variance_ratio_ = ratios.astype(dtype)
        self.singular_values_ = np.sqrt(values * (axes.n - self.ddof)).astype(dtype)
        self.spectrum_ = axes.values.astype(dtype)
        self.total_variance_ = axes.total
        self.log_generalized_variance_ = axes.log_det
        self.noise_variance_ = PPCAModel.from_axes(axes).noise
        self.n_components_, self.n_samples_ = k, axes.n
        self.solver_, self.n_iter_, self.converged_ = axes.solver, axes.n_iter, axes.converged
        self._state = PCAState(None, axes.variances)
        return self

    def _check_state(self, check: StateCheck) -> None:
        moments = check.instance("state.moments", Moments, optional=True)
        if moments is not None:
            check_moments(check, "state.moments", check.sizes["d"])
        if moments is not None and moments.rows <= self.ddof and not hasattr(self, "components_"):
            return  # partial_fit has seen too few rows for axes
        super()._check_state(check)
        check.floats("explained_variance_", "k")
        check.floats("explained_variance_ratio_", "k")
        check.floats("singular_values_", "k")
        check.floats("spectrum_", None)
        check.require(len(self.spectrum_) >= check.sizes["k"], "spectrum_ must have an eigenvalue for every component")
        check.number("n_components_", Integer(check.sizes["k"], check.sizes["k"]))
        check.number("noise_variance_", Real(0))
        check.floats("state.variances", "d", optional=True, low=0)

    def _score_deviations(self) -> Array:
        """Standard deviations of the scores; infinite where they are zero, so that those scores whiten to zero."""
        values = self.explained_variance_.astype(np.float64)
        # Scores have rounding errors of about eps times the largest one; a smaller deviation would only amplify them.
        floor = (8 * np.finfo(self.components_.dtype).eps) ** 2 * values.max(initial=0.0)
        return np.sqrt(np.where(values > floor, values, np.inf))

    def _projection(self) -> Array:
        return self.components_.T / self._score_deviations() if self.whiten else self.components_.T

    def _reconstruction(self) -> Array:
        if not self.whiten:
            return self.components_
        deviations = self._score_deviations()
        return np.where(np.isfinite(deviations), deviations, 0.0)[:, None] * self.components_

    def _imputed(self, X: Any) -> Any:
        """X with NaN replaced by their expectation under probabilistic PCA if missing='em'; else X itself."""
        if self.missing != "em":
            return X
        rows = read_rows(self, X, fitting=False)
        if not _has_missing(rows):
            return X
        values, scale = np.array(rows.whole(), dtype=np.float64), 1.0 if self.scale_ is None else self.scale_
        deviations = np.sqrt(np.maximum(self.explained_variance_ - self.noise_variance_, 0.0))
        W = self.components_.T.astype(np.float64) * deviations
        imputed = impute((values - self.mean_) / scale, PPCAModel(np.zeros(rows.d), W, self.noise_variance_))
        return ArrayRows((imputed * scale + self.mean_).astype(rows.dtype))  # of checked features, so without names

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing == "em"
        return tags


def _has_missing(rows: Rows) -> bool:
    """Whether rows in memory have NaN; raises BadInput if one has nothing else."""
    if rows.n is None or rows.sparse:
        return False
    return has_missing(rows)
