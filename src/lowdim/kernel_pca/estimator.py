"""Kernel principal component analysis."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from lowdim.base.estimator import Estimator, estimator
from lowdim.data.ownership import owned
from lowdim.data.rows import Rows, open_rows
from lowdim.data.validation import read_rows, read_scores
from lowdim.decomposition.gram_eigen import Components, choose_solver, components_of_gram
from lowdim.decomposition.landmarks import draw_landmarks
from lowdim.errors import BadInput, BadParameter, LowdimWarning, NotEnoughData
from lowdim.kernel_pca.nystrom import by_nystrom
from lowdim.kernel_pca.preimage import MAX_STEPS, Images, pre_images
from lowdim.kernels._bandwidth import WIDTHS
from lowdim.kernels._base import Kernel
from lowdim.kernels._dot_product import precomputed
from lowdim.kernels._names import as_kernel, kernel_domain
from lowdim.linalg.centered import Centered
from lowdim.runtime.param import Choice, Integer, Maybe, Real, SeedLike, param
from lowdim.runtime.random import Seed, seed_of
from lowdim.runtime.threads import thread_count
from lowdim.summaries.gram import Given, Gram, KernelRows, Source, finite_rows, kernel_table, square_rows

__all__ = ["KernelPCA"]

Array = NDArray[Any]

LANDMARKS = 1000  # unless another number is asked for
NYSTROM_FROM = 30_000  # rows from which the whole matrix is too much


@estimator(title="directions of greatest variance in a kernel's space", summary="gram", inverse=True)
class KernelPCA(Estimator):
    """Directions of greatest variance in the space of a kernel.

        G α* = λ α*,   G = K - 1K - K1 + 1K1,   α = α* / √λ,   score of x = Σ αᵢ k̃(x, xᵢ)

    `fit` takes rows, a kernel matrix with kernel="precomputed", or `lowdim.gram(X, kernel)`, with weights of rows if
    it has any. From 30,000 rows on, solver="auto" means Nyström's approximation: `solver_` says so, and
    `nystrom_error_` how much it can't see.

    {parameters}

    Attributes
    ----------
    eigenvalues_ : array (k,)
        Of the centred kernel matrix, descending; n times the variance along each component.
    explained_variance_ratio_ : array (k,)
        Their shares of the total variance in the kernel's space.
    alphas_, kernel_means_ : array (n, k), (n,)
        New rows y have the scores (k(y, X) - kernel_means_) alphas_.
    kernel_ : kernel
        With its scale found.
    X_fit_, scores_ : array (n, d), (n, k)
        The fitted rows (or the landmarks) and their scores; X_fit_ is None for a precomputed kernel.
    solver_, n_iter_, converged_
        How the components were found.
    nystrom_error_ : float
        Share of the kernel's trace that the landmarks can't see; 0 for the other solvers, and NaN for a kernel that is
        not known to be positive semidefinite, whose error has no such measure.

    """

    n_components: int | None = param(
        2, Maybe(Integer(1)), "Number of components; None for all that vary.", kw_only=False
    )
    kernel: Any = param("rbf", kernel_domain, "The kernel: a name, an object, or a slow function of two rows.")
    gamma: float | str | None = param(
        None, Maybe(WIDTHS), "The kernel's γ: a number, 'scale', 'median', or None for the kernel's own."
    )
    solver: str = param(
        "auto",
        Choice("auto", "dense", "lanczos", "nystrom"),
        "All eigenpairs, block Lanczos, or Nyström's approximation on landmarks; 'auto' takes the last from "
        f"{NYSTROM_FROM:,} rows.",
    )
    n_landmarks: int | None = param(
        None, Maybe(Integer(1)), f"Landmarks for solver='nystrom'; None for {LANDMARKS:,} (or all rows, if fewer)."
    )
    landmarks: str = param(
        "kmeans++", Choice("kmeans++", "uniform"), "How landmarks are drawn: far from one another, or evenly."
    )
    pre_image: str = param(
        "auto",
        Choice("auto", "fixed_point", "ridge"),
        "How inverse_transform finds rows: by fixed point (Gaussian kernels), or by regression on the scores.",
    )
    alpha: float = param(1.0, Real(0, open=True), "Ridge of pre_image='ridge'.")
    tol: float | None = param(None, Maybe(Real(0, open=True)), "Accuracy of Lanczos; None for what the dtype allows.")
    random_state: Seed = param(0, SeedLike(), "Seed of Lanczos's first block and of the landmarks.")
    n_jobs: int | None = param(None, Maybe(Integer()), "Threads; the result has the same bits for any number.")

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the components."""
        self._fit(X, scores=False)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Array:
        """Find the components, and the scores of the same rows, (n, k)."""
        return self._fit(X, scores=True)

    def transform(self, X: Any) -> Array:
        """Scores of rows (or of rows of kernel values, if precomputed) on the fitted components, (m, k)."""
        check_is_fitted(self, "alphas_")
        return self._scores(read_rows(self, X, fitting=False))

    def inverse_transform(self, Z: Any) -> Array:
        """Rows of the original space for scores Z (m, k): their images lie nearest to what the scores stand for."""
        check_is_fitted(self, "alphas_")
        if self.X_fit_ is None:
            raise BadInput("a precomputed kernel has no rows to go back to; fit the rows themselves.")
        Z = read_scores(Z, self.alphas_.shape[1])
        wide = (self.X_fit_, self.scores_, self.alphas_, self.mean_weights_)
        images = Images(*(part.astype(np.float64) for part in wide))
        found, restless = pre_images(Z.astype(np.float64), images, self.kernel_, self.pre_image, self.alpha)
        if restless:
            warnings.warn(
                f"{restless} of {len(Z)} pre-images still moved after {MAX_STEPS} steps, and may be rough. "
                "Keep more components, or use pre_image='ridge'.",
                LowdimWarning,
                stacklevel=2,
            )
        return found.astype(Z.dtype)

    def _fit(self, X: Any, scores: bool) -> Array:
        with self._fitting():
            if isinstance(X, Gram):
                return self._fit_gram(X)
            rows = read_rows(self, X, fitting=True, min_rows=1)
            kernel = as_kernel(self.kernel, self.gamma)
            threads = thread_count(self.n_jobs)
            if isinstance(kernel, precomputed):
                return self._fit_gram(Gram(Given(square_rows(rows, "a precomputed kernel")), None, threads))
            table = finite_rows(rows)
            kernel = kernel.resolve(table)
            if self.solver == "nystrom" or (self.solver == "auto" and len(table) >= NYSTROM_FROM):
                return self._fit_nystrom(table, kernel, scores)
            return self._fit_gram(Gram(KernelRows(owned(table, rows), kernel), None, threads))

    def _fit_gram(self, gram: Gram) -> Array:
        n, k = gram.n, self.n_components
        if k is not None and k > n:
            raise NotEnoughData(f"n_components={k} must be at most the number of rows, {n}. Ask for fewer.")
        if self.solver == "nystrom":
            raise BadParameter("solver='nystrom' needs the rows themselves, not a matrix.")
        self.solver_ = choose_solver(n, k or n, self.solver)
        found = components_of_gram(gram, k, solver=self.solver_, tol=self.tol, seed=seed_of(self.random_state))
        return self._keep(found, gram.source)

    def _fit_nystrom(self, table: Array, kernel: Kernel, scores: bool) -> Array:
        count = min(len(table), LANDMARKS) if self.n_landmarks is None else self.n_landmarks
        if self.n_components is not None and self.n_components > count:
            raise NotEnoughData(f"n_components={self.n_components} must be at most the number of landmarks, {count}.")
        drawn = draw_landmarks(table, kernel, count, self.landmarks, seed_of(self.random_state))
        source, rows = KernelRows(table[drawn], kernel), open_rows(table)
        self.solver_ = "nystrom"
        own = self._keep(by_nystrom(rows, source, self.n_components, thread_count(self.n_jobs)), source)
        return self._scores(rows) if scores else own

    def _keep(self, found: Components, source: Source) -> Array:
        """What was found, in the dtype of the rows; returns the scores of the source's rows."""
        dtype = source.dtype
        self.X_fit_: Array | None = source.points.rows if isinstance(source, KernelRows) else None
        self.kernel_: Kernel = source.kernel if isinstance(source, KernelRows) else precomputed()
        self.n_features_in_ = source.n if self.X_fit_ is None else self.X_fit_.shape[1]
        total = max(found.trace, float(found.values.sum()), np.finfo(float).tiny)  # an indefinite kernel may have less
        self.eigenvalues_ = found.values.astype(dtype)
        self.explained_variance_ratio_ = (found.values / total).astype(dtype)
        self.alphas_ = np.ascontiguousarray(found.alphas, dtype=dtype)
        self.kernel_means_, self.mean_weights_ = found.means.astype(np.float64), found.mean_weights.astype(dtype)
        self.scores_ = found.scores.astype(dtype)
        self.n_iter_, self.converged_, self.nystrom_error_ = found.n_iter, found.converged, found.error
        return self.scores_.copy()

    def _scores(self, rows: Rows) -> Array:
        table = rows if self.X_fit_ is None else kernel_table(rows, KernelRows(self.X_fit_, self.kernel_))
        return Centered(table, self.kernel_means_, None, None, thread_count(self.n_jobs)).times(self.alphas_)

    @property
    def _n_features_out(self) -> int:
        return self.alphas_.shape[1]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = isinstance(self.kernel, precomputed) or self.kernel == "precomputed"
        return tags
