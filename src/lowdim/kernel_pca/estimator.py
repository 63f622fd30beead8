"""Kernel principal component analysis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from lowdim.base.estimator import Estimator, SeedMixin, ThreadsMixin, estimator
from lowdim.base.fit_memory import FitMemory
from lowdim.base.state import StateCheck
from lowdim.data.ownership import dense_table, owned
from lowdim.data.rows import Rows, open_rows
from lowdim.data.validation import read_rows, read_scores
from lowdim.decomposition.gram_eigen import KernelComponents, choose_gram_solver, kernel_components
from lowdim.decomposition.landmarks import draw_landmarks
from lowdim.errors import BadInput, BadParameter, NotEnoughData
from lowdim.kernel_pca.nystrom import nystrom_bytes, nystrom_components
from lowdim.kernel_pca.preimage import MAX_STEPS, FeatureSpacePoints, pre_images
from lowdim.kernels import Kernel, precomputed
from lowdim.kernels._bandwidth import GAMMA
from lowdim.kernels._names import as_kernel, kernel_domain
from lowdim.linalg.centered import Centered
from lowdim.runtime.memory import require_memory
from lowdim.runtime.param import Choice, Integer, Maybe, Real, param
from lowdim.runtime.random import seed_of
from lowdim.runtime.threads import thread_count
from lowdim.runtime.warning import warn
from lowdim.summaries.gram import MEMORY_FRACTION, Gram
from lowdim.summaries.kernel_sources import (
    ComputedKernel,
    KernelSource,
    PrecomputedKernel,
    cross_kernel,
    finite_rows,
    symmetric_matrix,
)

__all__ = ["KernelPCA", "KernelPCAState"]

Array = NDArray[Any]

LANDMARKS = 1000  # default number
NYSTROM_ROWS = 30_000  # from this number of rows on, the whole kernel matrix is too expensive


@dataclass(frozen=True)
class KernelPCAState:
    """What `transform` and `inverse_transform` need beside the public attributes."""

    kernel_means: Array  # (m,) column means of the kernel matrix
    mean_weights: Array  # (m,): the mean in feature space is Σ mean_weightsᵢ φ(xᵢ)
    scores: Array  # (m, k) of the fitted rows or landmarks


@estimator(title="principal components in a kernel's feature space", summary="gram", inverse=True, sparse=True)
class KernelPCA(ThreadsMixin, SeedMixin, Estimator):
    """Kernel principal component analysis: principal components in a kernel's feature space.

        G α* = λ α*,   G = H K H,   α = α* / √λ,   score of x = Σ αᵢ (k(x, xᵢ) - mean of k(·, xᵢ))

    `fit` takes rows, a kernel matrix with kernel="precomputed", or `lowdim.gram(X, kernel)`, which may have row
    weights. Rows may be sparse: inner products and Euclidean distances are sparse products, and other kernels make a
    few rows dense at a time. From 30,000 rows on, solver="auto" means the Nyström approximation; `nystrom_error_`
    measures its error.

    {parameters}

    Attributes
    ----------
    eigenvalues_ : array (k,)
        Eigenvalues of the centered kernel matrix, descending: n times the variance along each component.
    explained_variance_ratio_ : array (k,)
        Ratios of the eigenvalues to the total variance in feature space: the sum of all positive eigenvalues. A kernel
        matrix that has negative ones and more than 1,000 rows has this sum estimated, to about 2%.
    alphas_ : array (m, k)
        Coefficients of the components: the unit vector Σ alphas_[i, j] φ(X_fit_[i]) in feature space is component j.
    X_fit_ : array or sparse matrix (m, d), or None
        The fitted rows, or the landmarks of the Nyström approximation; None for a precomputed kernel.
    kernel_ : kernel
        The kernel, with the value of γ that "scale" or "median" gave.
    solver_, n_iter_, converged_ : str, int, bool
        The solver, its iterations, and whether they converged.
    nystrom_error_ : float
        Trace of k(X, X) minus its Nyström approximation, relative to the trace of k(X, X), for a linear kernel that of
        the rows about the mean of the landmarks. 0 for the other solvers, and NaN for a kernel that is not known to be
        positive semidefinite.

    """

    n_components: int | None = param(
        2, Maybe(Integer(1)), "Number of components; None for all of positive variance.", kw_only=False
    )
    kernel: Any = param("rbf", kernel_domain, "The kernel: a name, a kernel object, or a (slow) function of two rows.")
    gamma: float | str | None = param(
        None, Maybe(GAMMA), "The kernel's γ: a number, 'scale', 'median', or None for the kernel's own."
    )
    solver: str = param(
        "auto",
        Choice("auto", "dense", "lanczos", "nystrom"),
        "Dense eigensolver, block Lanczos, or the Nyström approximation on landmarks; 'auto' takes the last from "
        f"{NYSTROM_ROWS:,} rows on.",
    )
    n_landmarks: int | None = param(
        None, Maybe(Integer(1)), f"Number of landmarks for solver='nystrom'; None for at most {LANDMARKS:,}."
    )
    landmarks: str = param(
        "kmeans++",
        Choice("kmeans++", "uniform"),
        "How landmarks are drawn: by k-means++ seeding in feature space, or uniformly.",
    )
    pre_image: str = param(
        "auto",
        Choice("auto", "fixed_point", "ridge"),
        "How inverse_transform finds pre-images: by fixed-point iteration (rbf kernel), or by kernel ridge regression.",
    )
    alpha: float = param(1.0, Real(0, open=True), "Ridge penalty of pre_image='ridge'.")
    tol: float | None = param(
        None, Maybe(Real(0, open=True)), "Convergence tolerance of Lanczos; None for a default by dtype."
    )

    _fit_memory = FitMemory(
        keeps=True,
        copies=2,
        pair_values=0.5,
        pairs_kept=MEMORY_FRACTION,
        advice="Use solver='nystrom' with few n_landmarks.",
    )
    _state_classes = (KernelPCAState,)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the components."""
        self._fit(X, scores=False)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Array:
        """Find the components, and return the scores of the fitted rows, (n, k)."""
        return self._fit(X, scores=True)

    def transform(self, X: Any) -> Array:
        """Scores of rows (or of rows of kernel values, if precomputed) on the components, (m, k)."""
        check_is_fitted(self, "alphas_")
        return self._finite(self._scores(read_rows(self, X, fitting=False)))

    def inverse_transform(self, Z: Any) -> Array:
        """Pre-images of scores Z, (m, d): rows whose images in feature space are nearest to the scores' points."""
        check_is_fitted(self, "alphas_")
        if self.X_fit_ is None:
            raise BadInput("a precomputed kernel has no rows, and so no pre-images; fit the rows themselves.")
        Z = read_scores(Z, self.alphas_.shape[1])
        parts = (dense_table(open_rows(self.X_fit_)), self._state.scores, self.alphas_, self._state.mean_weights)
        fitted = FeatureSpacePoints(*(part.astype(np.float64) for part in parts))
        found, unconverged = pre_images(Z.astype(np.float64), fitted, self.kernel_, self.pre_image, self.alpha)
        if unconverged:
            warn(
                f"{unconverged} of {len(Z)} pre-images did not converge within {MAX_STEPS} steps, and may be "
                "inaccurate. Keep more components, or use pre_image='ridge'.",
            )
        return self._finite(found.astype(Z.dtype))

    def _fit(self, X: Any, scores: bool) -> Array:
        with self._fitting():
            if isinstance(X, Gram):
                return self._fit_gram(X)
            rows = read_rows(self, X, fitting=True, min_rows=1)
            kernel = as_kernel(self.kernel, self.gamma)
            threads = thread_count(self.n_jobs)
            if isinstance(kernel, precomputed):
                matrix = symmetric_matrix(rows, "a precomputed kernel")
                return self._fit_gram(Gram(PrecomputedKernel(matrix), None, threads))
            table = finite_rows(rows)
            kernel = kernel.resolve(table)
            if self._is_nystrom(table.shape[0]):
                return self._fit_nystrom(table, kernel, scores)
            return self._fit_gram(Gram(ComputedKernel(owned(table, rows), kernel), None, threads))

    def _memory_model(self, rows: Rows) -> FitMemory | None:
        if not self._is_nystrom(rows.count):
            return self._fit_memory
        return FitMemory(
            other=nystrom_bytes(rows, min(rows.count, self.n_landmarks or LANDMARKS), thread_count(self.n_jobs))
        )

    def _is_nystrom(self, n: int) -> bool:
        return self.solver == "nystrom" or (self.solver == "auto" and n >= NYSTROM_ROWS)

    def _fit_gram(self, gram: Gram) -> Array:
        n, k = gram.n, self.n_components
        self._check_dimensions(n)
        if self.solver == "nystrom":
            raise BadParameter("solver='nystrom' needs the rows themselves, not a kernel matrix.")
        self.solver_ = choose_gram_solver(n, k or n, self.solver)
        found = kernel_components(gram, k, solver=self.solver_, tol=self.tol, seed=seed_of(self.random_state))
        return self._keep(found, gram.source)

    def _fit_nystrom(self, table: Any, kernel: Kernel, scores: bool) -> Array:
        n = table.shape[0]
        count = min(n, LANDMARKS) if self.n_landmarks is None else self.n_landmarks
        if self.n_components is not None and self.n_components > count:
            raise NotEnoughData(f"n_components={self.n_components} must be at most the number of landmarks, {count}.")
        rows = open_rows(table)
        needed = nystrom_bytes(rows, min(count, n), thread_count(self.n_jobs))
        require_memory(needed, f"the Nyström approximation on {count} landmarks", "Use a smaller n_landmarks.")
        drawn = draw_landmarks(table, kernel, count, self.landmarks, seed_of(self.random_state))
        landmarks = ComputedKernel(table[drawn], kernel)
        self.solver_ = "nystrom"
        found = nystrom_components(rows, landmarks, self.n_components, thread_count(self.n_jobs))
        landmark_scores = self._keep(found, landmarks)
        return self._scores(rows) if scores else landmark_scores

    def _keep(self, found: KernelComponents, source: KernelSource) -> Array:
        """Keep what was found in the dtype of the rows; returns the scores of the source's rows."""
        dtype = source.dtype
        self.X_fit_: Any = source.rows.rows if isinstance(source, ComputedKernel) else None
        self.kernel_: Kernel = source.kernel if isinstance(source, ComputedKernel) else precomputed()
        self.n_features_in_ = source.n if self.X_fit_ is None else self.X_fit_.shape[1]
        total = max(found.total, float(found.values.sum()), np.finfo(float).tiny)  # it may be an estimate
        self.eigenvalues_ = found.values.astype(dtype)
        self.explained_variance_ratio_ = (found.values / total).astype(dtype)
        self.alphas_ = np.ascontiguousarray(found.alphas, dtype=dtype)
        self.n_iter_, self.converged_, self.nystrom_error_ = found.n_iter, found.converged, found.error
        means, scores = found.means.astype(np.float64), found.scores.astype(dtype)
        self._state = KernelPCAState(means, found.mean_weights.astype(dtype), scores)
        return scores.copy()

    def _scores(self, rows: Rows) -> Array:
        K = rows if self.X_fit_ is None else cross_kernel(rows, ComputedKernel(self.X_fit_, self.kernel_))
        return Centered(K, self._state.kernel_means, None, None, thread_count(self.n_jobs)).times(self.alphas_)

    def _check_state(self, check: StateCheck) -> None:
        check.floats("alphas_", "m", "k")
        check.require(self.alphas_.size > 0, "alphas_ must not be empty")
        check.floats("eigenvalues_", "k", low=0)
        check.floats("explained_variance_ratio_", "k")
        X_fit = check.rows("X_fit_", "m", "d", optional=True)
        kernel = check.instance("kernel_", Kernel)
        check.require(
            isinstance(kernel, precomputed) == (X_fit is None), "X_fit_ must be there unless kernel_ is precomputed"
        )
        if X_fit is None:
            check.require(check.sizes["m"] == check.sizes["d"], "a precomputed kernel needs an alpha for every column")
        else:
            check.require(kernel == kernel.resolve(X_fit), "gamma of kernel_ must be a number")
        check.floats("state.kernel_means", "m")
        check.floats("state.mean_weights", "m")
        check.floats("state.scores", "m", "k")

    @property
    def _n_features_out(self) -> int:
        return self.alphas_.shape[1]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = isinstance(self.kernel, precomputed) or self.kernel == "precomputed"
        return tags
