"""Truncated singular value decomposition: latent semantic analysis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lowdim.base.estimator import SeedMixin, ThreadsMixin, estimator
from lowdim.base.fit_memory import FitMemory
from lowdim.base.linear import LinearProjection, check_moments
from lowdim.base.state import StateCheck
from lowdim.data.validation import check_weights, overflow_error, read_rows, read_rows_for_solver
from lowdim.decomposition.component_count import ComponentRule, component_domain
from lowdim.decomposition.principal_axes import PCAOptions
from lowdim.linear.uncentered_svd import SingularVectors, singular_vectors, vectors_from_moments
from lowdim.runtime.param import Choice, Integer, Maybe, Real, param
from lowdim.runtime.random import seed_of
from lowdim.runtime.threads import thread_count
from lowdim.summaries.moments import Moments, moments_of

__all__ = ["TruncatedSVD", "TruncatedSVDState"]

Array = NDArray[Any]


@dataclass(frozen=True)
class TruncatedSVDState:
    """What `partial_fit` continues from."""

    moments: Moments | None  # of all rows that partial_fit has seen; None after fit


@estimator(
    title="singular vectors without centering (LSA)",
    summary="moments",
    inverse=True,
    streaming=True,
    sparse=True,
    weights=True,
    own_scale=True,
)
class TruncatedSVD(ThreadsMixin, SeedMixin, LinearProjection):
    """Truncated singular value decomposition: the best approximation of the rows as they are, without centering.

        min ‖X - Z Vᵀ‖²  subject to  VᵀV = I,   X ≈ U S Vᵀ,   Z = X V = U S

    On TF-IDF weights of documents this is latent semantic analysis (LSA). Zeros stay zeros, so sparse rows are never
    made dense. The first component often points to the mean; PCA is the same with the mean taken off.

    `fit` takes an array, sparse matrix, memory map, dataframe, an iterator of chunks (in one pass), or
    `lowdim.moments(X)`.

    {parameters}

    Attributes
    ----------
    components_ : array (k, d)
        Right singular vectors in rows. The first entry of largest absolute value is positive.
    singular_values_ : array (k,)
        The largest singular values of X, of rows multiplied by the roots of their weights.
    explained_variance_, explained_variance_ratio_ : array (k,)
        Variance of each score (about its mean, divided by n), and its ratio to the variance of all columns. As in
        scikit-learn they need not descend: the first component of rows far from zero has little variance.
    n_components_ : int
        Number of components.
    n_samples_ : float
        Number of rows, or the sum of their weights.
    solver_, n_iter_, converged_ : str, int, bool
        The solver, its iterations, and whether they converged.

    """

    n_components: int | float | str | ComponentRule | None = param(
        2,
        component_domain,
        "Number of components; or the share of the sum of squares to exceed; or a rule that reads the squared singular "
        "values; or None for all.",
        kw_only=False,
    )
    solver: str = param(
        "auto",
        Choice("auto", "covariance", "svd", "krylov"),
        "Eigenvectors of XᵀX (n > d), SVD (tiny singular values, n < d), or block Krylov iteration (large or sparse). "
        "All find the same vectors; 'auto' takes the cheapest.",
    )
    tol: float | None = param(
        None, Maybe(Real(0, open=True)), "Convergence tolerance of krylov; None for a default by dtype."
    )
    max_iter: int = param(200, Integer(1), "Maximum number of iterations of krylov.")

    _fit_memory = FitMemory(scatters=1, squares=8, iterative=True)
    _state_classes = (TruncatedSVDState, Moments)

    @property
    def mean_(self) -> Array:  # type: ignore[override]
        """Zeros, (d,): nothing is taken off the columns."""
        return np.zeros(self.components_.shape[1], dtype=self.components_.dtype)

    scale_ = None

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the singular vectors. `sample_weight` is the multiplicity of each row."""
        with self._fitting():
            if isinstance(X, Moments):
                self._accept_moments(X, sample_weight, self.solver)
                return self._keep(vectors_from_moments(X, self._options()), X.dtype)
            rows = read_rows_for_solver(self, X, self.solver)
            weights = check_weights(sample_weight, rows.n)
            return self._keep(singular_vectors(rows, weights, self._options(), self.solver), rows.dtype)

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Add rows to those of earlier calls, and find the singular vectors of all of them."""
        with self._continuing():
            seen: Moments | None = self._state.moments if hasattr(self, "_state") else None
            if seen is None:
                self._forget()  # what fit found, which nothing can be added to
            rows = read_rows(self, X, fitting=seen is None)
            new = moments_of(rows, None, check_weights(sample_weight, rows.n), thread_count(self.n_jobs))
            total = new if seen is None else seen + new
            self._keep(vectors_from_moments(total, self._options()), rows.dtype)
            self._state = TruncatedSVDState(total)
            return self

    def _options(self) -> PCAOptions:
        threads, seed = thread_count(self.n_jobs), seed_of(self.random_state)
        return PCAOptions(self.n_components, 0, False, self.tol, self.max_iter, seed, threads)

    def _keep(self, found: SingularVectors, dtype: np.dtype[Any]) -> Self:
        if not np.isfinite(found.values.astype(dtype)).all() or not np.isfinite(found.variances.astype(dtype)).all():
            raise overflow_error()
        self.components_ = np.ascontiguousarray(found.vectors.T, dtype=dtype)
        self.singular_values_ = found.values.astype(dtype)
        self.explained_variance_ = found.variances.astype(dtype)
        total = found.total_variance
        ratios = found.variances / total if total > 0 else np.zeros_like(found.variances)
        self.explained_variance_ratio_ = ratios.astype(dtype)
        self.n_components_, self.n_samples_ = len(found.values), found.n
        self.solver_, self.n_iter_, self.converged_ = found.solver, found.n_iter, bool(found.converged)
        self._state = TruncatedSVDState(None)
        return self

    def _check_state(self, check: StateCheck) -> None:
        if check.instance("state.moments", Moments, optional=True) is not None:
            check_moments(check, "state.moments", check.sizes["d"])
        check.floats("components_", "k", "d")
        check.require(check.sizes["k"] > 0, "components_ must have a row")
        check.floats("singular_values_", "k", low=0)
        check.floats("explained_variance_", "k", low=0)
        check.floats("explained_variance_ratio_", "k", low=0)
        check.number("n_components_", Integer(check.sizes["k"], check.sizes["k"]))
        check.number("n_samples_", Real(0, open=True))
