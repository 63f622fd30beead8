"""Principal component analysis."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from lowdim.base.estimator import estimator
from lowdim.base.linear import Linear
from lowdim.data.rows import Rows
from lowdim.data.validation import check_weights, overflow_error, read_rows
from lowdim.decomposition.component_count import ComponentRule, component_domain
from lowdim.decomposition.ppca_em import LowRank, axes_with_gaps, fill_gaps
from lowdim.decomposition.principal_axes import Axes, Plan, from_moments, principal_axes, require_size
from lowdim.errors import BadInput, BadParameter, NotEnoughData
from lowdim.runtime.param import Choice, Flag, Integer, Maybe, Real, SeedLike, param
from lowdim.runtime.random import Seed, seed_of
from lowdim.runtime.threads import thread_count
from lowdim.summaries.moments import Moments, moments_of

__all__ = ["PCA"]

Array = NDArray[Any]


@estimator(
    title="directions of greatest variance",
    summary="moments",
    inverse=True,
    streaming=True,
    sparse=True,
    weights=True,
)
class PCA(Linear):
    """Directions of greatest variance.

        max tr(Vᵀ C V)  subject to  VᵀV = I,   C = Σ (x - μ)(x - μ)ᵀ / (n - ddof)

    `fit` takes an array, sparse matrix, memory map, dataframe, an iterator of chunks (in one pass),
    or `lowdim.moments(X)`.

    {parameters}

    Attributes
    ----------
    components_ : array (k, d)
        The axes, in rows, with signs fixed by one rule: the first of the largest entries is positive.
    explained_variance_, explained_variance_ratio_ : array (k,)
        Variance along each axis, and its share of the total.
    spectrum_ : array (≥ k,)
        The eigenvalues that the solver found: all of them, or only k.
    total_variance_, log_generalized_variance_ : float
        Trace and log-determinant of the covariance (or correlation) matrix.
    noise_variance_ : float
        Mean variance of the axes left out: σ² of probabilistic PCA.
    mean_, scale_ : array (d,)
        Means; standard deviations if standardised, else None.
    solver_, n_iter_, converged_
        How the axes were found.

    """

    n_components: int | float | ComponentRule | None = param(
        2,
        component_domain,
        "Number of components; or the share of variance to exceed; or a rule; or None for all.",
        kw_only=False,
    )
    solver: str = param(
        "auto",
        Choice("auto", "covariance", "gram", "svd", "krylov"),
        "Route to the axes: by covariance, by the dual Gram matrix (n < d), by SVD (tiny variances), or by "
        "block Krylov iteration (large or sparse). All give the same axes; 'auto' takes the cheapest.",
    )
    standardize: bool = param(False, Flag(), "Divide every column by its standard deviation first.")
    whiten: bool = param(False, Flag(), "Scale every score to unit variance.")
    ddof: int = param(1, Choice(0, 1), "Variances divide by n - ddof.")
    missing: str = param("error", Choice("error", "em"), "NaN is an error, or handled by EM in fit and transform.")
    tol: float | None = param(None, Maybe(Real(0, open=True)), "Accuracy of the iterations (krylov, em).")
    max_iter: int = param(200, Integer(1), "Most steps of the iterations (krylov, em).")
    random_state: Seed = param(0, SeedLike(), "Seed of krylov's first block.")
    n_jobs: int | None = param(None, Maybe(Integer()), "Threads; the result has the same bits for any number.")

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the axes. `sample_weight` says how often each row counts."""
        with self._fitting():
            if isinstance(X, Moments):
                return self._keep(self._from_moments(X, sample_weight), X.dtype)
            rows = read_rows(self, X, fitting=True, min_rows=self.ddof + 1)
            weights = check_weights(sample_weight, rows.n)
            if self.missing == "em" and _has_gaps(rows):
                return self._keep(axes_with_gaps(rows, weights, self._plan()), rows.dtype)
            axes = principal_axes(rows, weights, self._plan(), self.solver)
            require_size(axes, rows)
            return self._keep(axes, rows.dtype)

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Add rows to what has been seen, and find the axes of all of it."""
        seen: Moments | None = getattr(self, "moments_", None)
        if seen is None:
            with self._fitting():
                rows = read_rows(self, X, fitting=True)
        else:
            rows = read_rows(self, X, fitting=False)
        new = moments_of(rows, None, check_weights(sample_weight, rows.n), thread_count(self.n_jobs))
        total = new if seen is None else seen + new
        if total.rows <= self.ddof:
            self.moments_ = total  # one row has no variance yet; keep it for the next call
            return self
        self._keep(from_moments(total, self._plan()), rows.dtype)
        self.moments_ = total
        return self

    def transform(self, X: Any) -> Array:
        """Scores of rows on the fitted axes, (n, k). With missing='em', NaN are filled from what is there."""
        check_is_fitted(self, "components_")
        if self.missing == "em":
            X = self._completed(X)
        return super().transform(X)

    def reconstruction_error(self, X: Any) -> Array:
        """Squared distance of each row to the fitted plane, in the fitted units, (n,).

        Its mean over the fitted rows is the sum of the variances left out (times (n - ddof) / n).
        """
        lengths, scores = self._split(X)
        return np.maximum(lengths - (scores**2).sum(axis=1), 0).astype(self.components_.dtype)

    def score_samples(self, X: Any) -> Array:
        """Log-likelihood of each row under probabilistic PCA, (n,)."""
        d, k = self.n_features_in_, self.n_components_
        lengths, scores = self._split(X)
        variances, noise = self.explained_variance_.astype(np.float64), self.noise_variance_
        if variances[-1] <= 0 or (k < d and noise <= 0):
            raise NotEnoughData(
                "the fitted rows lie in a plane, and a density on it has no value elsewhere. "
                "Ask for fewer components, or give more rows."
            )
        inside = (scores**2 / variances).sum(axis=1)
        outside = np.maximum(lengths - (scores**2).sum(axis=1), 0) / noise if k < d else 0.0
        log_det = np.log(variances).sum() + ((d - k) * np.log(noise) if k < d else 0.0)
        if self.scale_ is not None:  # a density in the units of X
            log_det += 2 * np.log(self.scale_.astype(np.float64)).sum()
        return -0.5 * (d * np.log(2 * np.pi) + log_det + inside + outside)

    def score(self, X: Any, y: Any = None) -> float:
        """Mean log-likelihood of the rows under probabilistic PCA."""
        return float(self.score_samples(X).mean())

    def get_covariance(self) -> Array:
        """Covariance of probabilistic PCA in the units of X: V (Λ - σ²I) Vᵀ + σ²I, (d, d)."""
        check_is_fitted(self, "components_")
        V, noise = self.components_.astype(np.float64), self.noise_variance_
        C = (V.T * np.maximum(self.explained_variance_ - noise, 0)) @ V + noise * np.eye(V.shape[1])
        return C if self.scale_ is None else C * np.outer(self.scale_, self.scale_)

    def get_precision(self) -> Array:
        """Inverse of `get_covariance()`, (d, d)."""
        C = self.get_covariance()
        try:
            return np.linalg.inv(C)
        except np.linalg.LinAlgError as error:
            raise NotEnoughData("the covariance is singular; ask for fewer components.") from error

    def _plan(self) -> Plan:
        threads = thread_count(self.n_jobs)
        seed = seed_of(self.random_state)
        return Plan(self.n_components, self.ddof, self.standardize, self.tol, self.max_iter, seed, threads)

    def _from_moments(self, m: Moments, sample_weight: Any) -> Axes:
        if sample_weight is not None:
            raise BadInput("Moments carry their weights; give sample_weight to lowdim.moments instead.")
        if self.solver not in ("auto", "covariance"):
            raise BadParameter(f"solver={self.solver!r} needs the rows; Moments allow 'auto' or 'covariance'.")
        self.n_features_in_ = m.d
        if m.feature_names is not None:
            self.feature_names_in_ = m.feature_names
        return from_moments(m, self._plan())

    def _keep(self, axes: Axes, dtype: np.dtype[Any]) -> Self:
        k = axes.vectors.shape[1]
        values = axes.values[:k]
        if not np.isfinite(values.astype(dtype)).all():
            raise overflow_error()
        self.mean_ = axes.mean.astype(dtype)
        self.scale_ = None if axes.scale is None else axes.scale.astype(dtype)
        self.components_ = np.ascontiguousarray(axes.vectors.T, dtype=dtype)
        self.explained_variance_ = values.astype(dtype)
        shares = values / axes.total if axes.total > 0 else np.zeros(k)
        self.explained_variance_ratio_ = shares.astype(dtype)
        self.singular_values_ = np.sqrt(values * (axes.n - self.ddof)).astype(dtype)
        self.spectrum_ = axes.values.astype(dtype)
        self.total_variance_ = axes.total
        self.log_generalized_variance_ = axes.log_det
        self.noise_variance_ = LowRank.of(axes).noise
        self.n_components_, self.n_samples_ = k, axes.n
        self.solver_, self.n_iter_, self.converged_ = axes.route, axes.n_iter, axes.converged
        return self

    def _root(self) -> Array:
        """Standard deviations of the scores; infinite where there is none, so that they whiten to zero."""
        values = self.explained_variance_.astype(np.float64)
        floor = np.finfo(self.components_.dtype).eps * values.max(initial=0.0)
        return np.sqrt(np.where(values > floor, values, np.inf))

    def _forward(self) -> Array:
        return self.components_.T / self._root() if self.whiten else self.components_.T

    def _backward(self) -> Array:
        root = self._root()
        return np.where(np.isfinite(root), root, 0.0)[:, None] * self.components_ if self.whiten else self.components_

    def _split(self, X: Any) -> tuple[Array, Array]:
        """Squared lengths of the centred rows, (n,), and their unwhitened scores, (n, k)."""
        check_is_fitted(self, "components_")
        centred = self._centred(self._completed(X) if self.missing == "em" else X)
        scores = centred.times(self.components_.T).astype(np.float64)
        return centred.squared_norms(), scores

    def _completed(self, X: Any) -> Any:
        """X with its gaps filled by their expectation under the fitted model; X itself without gaps."""
        rows = read_rows(self, X, fitting=False)
        if not _has_gaps(rows):
            return X
        values, scale = np.array(rows.whole(), dtype=np.float64), 1.0 if self.scale_ is None else self.scale_
        k = self.n_components_
        spread = np.sqrt(np.maximum(self.explained_variance_[:k] - self.noise_variance_, 0.0))
        model = LowRank(np.zeros(rows.d), self.components_.T.astype(np.float64) * spread, self.noise_variance_)
        filled, _ = fill_gaps((values - self.mean_) / scale, model)
        return (filled * scale + self.mean_).astype(rows.dtype)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing == "em"
        return tags


def _has_gaps(rows: Rows) -> bool:
    """Whether a table held in memory has NaN."""
    if rows.n is None or rows.sparse:
        return False
    return any(np.isnan(chunk.load()).any() for chunk in rows.chunks())
