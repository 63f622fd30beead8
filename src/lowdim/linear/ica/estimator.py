"""Independent component analysis."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from lowdim.base.estimator import SeedMixin, ThreadsMixin, estimator
from lowdim.base.fit_memory import FitMemory
from lowdim.base.linear import LinearProjection
from lowdim.base.state import StateCheck
from lowdim.data.validation import check_weights, overflow_error, read_rows
from lowdim.decomposition.component_count import ComponentRule, component_domain
from lowdim.decomposition.principal_axes import PCAOptions
from lowdim.errors import BadParameter
from lowdim.linalg.dense_eigen import fix_signs
from lowdim.linalg.projected_rows import KEPT_SHARE
from lowdim.linear.ica.contrast import CONTRASTS, Unmixing, WhitenedRows, random_rotation
from lowdim.linear.ica.fastica import deflation, fastica
from lowdim.linear.ica.likelihood import FreeLikelihood, OrthogonalLikelihood
from lowdim.linear.ica.picard import picard
from lowdim.linear.ica.stability import ICAStability, estimate_stability
from lowdim.linear.ica.whitening import Whitening, whiten
from lowdim.runtime.blas import single_blas
from lowdim.runtime.param import Choice, Flag, Integer, Maybe, Real, param, validate
from lowdim.runtime.random import seed_of
from lowdim.runtime.threads import interruptible_product, thread_count
from lowdim.runtime.warning import warn

__all__ = ["ICA"]

Array = NDArray[Any]


@estimator(title="statistically independent sources", summary="moments", inverse=True, streaming=True,
           sparse=True, weights=True)  # fmt: skip
class ICA(ThreadsMixin, SeedMixin, LinearProjection):
    """Independent component analysis: sources that are as independent, and so as far from Gaussian, as possible.

        x = μ + A s,   s = U (x - μ),   E[s sᵀ] = I

    The rows are whitened, z = K (x - μ); then Picard-O and FastICA find the rotation W, U = W K, that makes the
    contrasts E[ρ(s_i)] extremal. Picard drops the constraint on W and maximizes the likelihood

        log |det W| + Σ E[log p_i(s_i)]

    Sources are found up to order and sign. Here they are in the order of the variance that they explain, largest first,
    and the first entry of largest absolute value in each column of `mixing_` is positive. At most one source may be
    Gaussian; others that are can't be separated.

    `fit` takes an array, sparse matrix, memory map, dataframe, file, Dask collection, or a function that returns a new
    iterator of chunks, with the same bits from all of them. The whitened rows (n, k) are kept if they take less than
    half of the free memory; else every pass reads the rows and whitens them again.

    {parameters}

    Attributes
    ----------
    components_ : array (k, d)
        Unmixing matrix U: its rows turn a centered row into sources of unit variance.
    mixing_ : array (d, k)
        Mixing matrix A, the pseudo-inverse of U.
    whitening_ : array (k, d)
        Whitening matrix K.
    mean_ : array (d,)
        Means of the columns.
    scale_ : None
        Columns are not scaled: sources do not depend on the units of the columns.
    explained_variance_, explained_variance_ratio_ : array (k,)
        Variance of X that each source explains, the squared length of its column of `mixing_`; its ratio to the total.
    kurtosis_ : array (k,)
        Excess kurtosis of each source: above 0 for super-Gaussian (peaked) ones, below for sub-Gaussian (flat) ones.
    rank_ : int
        Numerical rank of the centered rows, as far as it was computed. `n_components=None` takes no more components.
    n_components_ : int
        Number of components.
    n_samples_ : float
        Number of rows, or the sum of their weights.
    n_iter_, converged_ : int, bool
        Number of iterations (of the slowest component by deflation), and whether they converged.

    """

    n_components: int | float | str | ComponentRule | None = param(
        None,
        component_domain,
        "Number of components; or the explained variance ratio to exceed; or a rule; or None for all.",
        kw_only=False,
    )
    algorithm: str = param(
        "picard-o",
        Choice("picard-o", "picard", "fastica", "deflation"),
        "Picard-O (uncorrelated sources), Picard (maximum likelihood), FastICA (parallel), or FastICA by deflation.",
    )
    fun: str = param("logcosh", Choice(*CONTRASTS), "Contrast function. Picard without constraint takes 'logcosh'.")
    extended: bool = param(
        True,
        Flag(),
        "Picard and Picard-O: adapt to super- and sub-Gaussian sources. False: all sources are of the kind for which "
        "the contrast has a minimum (super-Gaussian for 'logcosh'). FastICA always adapts.",
    )
    tol: float | None = param(
        None,
        Maybe(Real(0, open=True)),
        "Largest entry of the relative gradient (Picard), or largest 1 - |cos| between directions of two steps "
        "(FastICA). None: 1e-7 (1e-5 in float32) for Picard, 1e-4 for FastICA.",
    )
    max_iter: int = param(500, Integer(1), "Maximum number of iterations.")

    _axis = "IC"

    _fit_memory = FitMemory(scatters=1, iterative=True, scores=13, scores_kept=KEPT_SHARE)

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the sources. `sample_weight` is the multiplicity of each row."""
        with self._fitting():
            rows, whitening = self._whitened(X, sample_weight, fitting=True)
            found = self._unmix(rows, seed_of(self.random_state))
            self._keep(whitening, rows, found)
        if not self.converged_:
            warn(
                f"ICA did not converge within max_iter={self.max_iter} iterations of {self.algorithm!r}. Raise "
                "max_iter or tol; if that does not help, several sources may be Gaussian: ask for fewer components.",
            )
        return self

    def stability(
        self, X: Any, n_runs: int = 20, *, bootstrap: bool = False, sample_weight: Any = None
    ) -> ICAStability:
        """How often each fitted component returns from other random starts, as Icasso (Himberg et al., 2004).

        Parameters
        ----------
        X : table (n, d)
            The fitted rows.
        n_runs : int
            Number of runs, each from a random start of its own.
        bootstrap : bool
            Each run also resamples the rows, with replacement.
        sample_weight : array (n,), optional
            The weights of the fit.

        """
        check_is_fitted(self, "components_")
        validate(self)
        if not Integer(2).accepts(n_runs):
            raise BadParameter(f"ICA: n_runs must be {Integer(2).text}; got {n_runs!r:.200}.")
        with single_blas(), np.errstate(over="ignore", invalid="ignore"):
            rows, whitening = self._whitened(X, sample_weight, fitting=False)
            fitted = self.components_.astype(np.float64) @ whitening.inverse
            return estimate_stability(rows, fitted, self._unmix, int(n_runs), bootstrap, seed_of(self.random_state))

    def _whitened(self, X: Any, sample_weight: Any, *, fitting: bool) -> tuple[WhitenedRows, Whitening]:
        self._check_parameters()
        table = read_rows(self, X, fitting=fitting, min_rows=2, several_passes=True)
        weights, threads = check_weights(sample_weight, table.n), thread_count(self.n_jobs)
        count = self.n_components if fitting else self.n_components_
        options = PCAOptions(count, ddof=0, max_iter=200, seed=seed_of(self.random_state), threads=threads)
        whitening, Z = whiten(table, weights, options)
        return WhitenedRows(Z, weights, threads), whitening

    def _check_parameters(self) -> None:
        if self.algorithm == "picard" and self.fun != "logcosh":
            raise BadParameter(
                f"ICA: algorithm='picard' maximizes a likelihood, and fun={self.fun!r} is no log-density. "
                "Use fun='logcosh', or algorithm='picard-o'."
            )

    def _unmix(self, rows: WhitenedRows, seed: int, stream: int = 0) -> Unmixing:
        """W (k, k) from a random start."""
        start = random_rotation(rows.Z.d, seed, stream)
        if self.algorithm in ("fastica", "deflation"):
            solve = fastica if self.algorithm == "fastica" else deflation
            return solve(rows, start, self.fun, self.tol or 1e-4, self.max_iter)
        likelihood = OrthogonalLikelihood if self.algorithm == "picard-o" else FreeLikelihood
        tol = self.tol or (1e-5 if rows.Z.dtype == np.float32 else 1e-7)
        return picard(rows, start, likelihood(self.fun, self.extended), tol, self.max_iter)

    def _keep(self, whitening: Whitening, rows: WhitenedRows, found: Unmixing) -> None:
        dtype = rows.Z.dtype
        W = found.W / np.linalg.norm(found.W, axis=1)[:, None]  # unit variance, since the covariance of z is I
        mixing = whitening.inverse @ interruptible_product(lambda: np.linalg.inv(W), len(W) ** 3)  # (d, k)
        order = np.argsort(-(mixing**2).sum(axis=0), kind="stable")
        W, mixing = W[order], mixing[:, order]
        signed = fix_signs(mixing)
        W = W * np.where((signed * mixing).sum(axis=0) < 0, -1.0, 1.0)[:, None]
        variances = (signed**2).sum(axis=0)
        self.components_ = np.ascontiguousarray(W @ whitening.matrix, dtype=dtype)
        self.mixing_ = np.ascontiguousarray(signed, dtype=dtype)
        self.whitening_ = np.ascontiguousarray(whitening.matrix, dtype=dtype)
        self.mean_, self.scale_ = whitening.mean.astype(dtype), None
        self.explained_variance_ = variances.astype(dtype)
        self.explained_variance_ratio_ = (variances / whitening.total_variance).astype(dtype)
        self.kurtosis_ = rows.excess_kurtosis(W).astype(dtype)
        fitted = (self.components_, self.mixing_, self.whitening_, self.mean_, self.explained_variance_, self.kurtosis_)
        if not all(np.isfinite(part).all() for part in fitted):
            raise overflow_error()
        self.rank_, self.n_components_, self.n_samples_ = whitening.rank, len(W), whitening.n
        self.n_iter_, self.converged_ = found.n_iter, bool(found.converged)

    def _reconstruction(self) -> Array:
        return self.mixing_.T

    def _check_state(self, check: StateCheck) -> None:
        super()._check_state(check)
        check.floats("mixing_", "d", "k")
        check.floats("whitening_", "k", "d")
        check.floats("explained_variance_", "k", low=0)
        check.floats("explained_variance_ratio_", "k", low=0)
        check.floats("kurtosis_", "k")
        check.number("n_components_", Integer(check.sizes["k"], check.sizes["k"]))
        check.number("rank_", Integer(check.sizes["k"]))
        check.number("n_samples_", Real(0, open=True))
        check.number("n_iter_", Integer(0))
        check.instance("converged_", bool)
