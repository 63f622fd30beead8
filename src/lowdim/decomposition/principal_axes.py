"""Principal axes of centered rows, by four solvers that agree to rounding.

| solver     | works on                          | suits                                               |
|------------|-----------------------------------|-----------------------------------------------------|
| covariance | covariance matrix (d, d)          | n > d; streams; one pass                            |
| gram       | Gram matrix P Pᵀ (n, n)           | n < d: the nonzero eigenvalues are the same         |
| svd        | R of P = QR, by blocks            | tiny variances: the condition number is not squared |
| krylov     | products with P (block Lanczos)   | large or sparse rows, few components                |
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from lowdim.data.rows import Chunk, Rows
from lowdim.data.validation import overflow_error, underflow_error
from lowdim.decomposition.component_count import Spectrum, count_components, fixed_count
from lowdim.errors import BadParameter, NotEnoughData
from lowdim.linalg.block_lanczos import block_lanczos
from lowdim.linalg.centered import Centered, column_means
from lowdim.linalg.dense_eigen import eigh_largest, fix_signs
from lowdim.linalg.dense_limits import COVARIANCE_ROWS
from lowdim.runtime.random import normal
from lowdim.runtime.threads import interruptible
from lowdim.summaries.moments import Moments, moments_of, nonzero_scale

__all__ = [
    "PCAOptions",
    "PrincipalAxes",
    "axes_from_moments",
    "center_rows",
    "check_underflow",
    "choose_pca_solver",
    "principal_axes",
    "principal_scores",
]

Array = NDArray[np.float64]

SPARSE_COLUMNS = 500  # sparse rows with more columns than this go to the Krylov solver
# A covariance matrix holds λ_k to about eps λ₁. Below this multiple of it the axes come from the SVD instead.
PRECISION_LIMIT = 1e3


@dataclass(frozen=True)
class PCAOptions:
    """Parameters of the solvers."""

    n_components: Any
    ddof: int = 1
    standardize: bool = False
    tol: float | None = None
    max_iter: int = 100
    seed: int = 0
    threads: int = 1


@dataclass(frozen=True)
class PrincipalAxes:
    """Eigenpairs of a covariance or correlation matrix, and how they were found."""

    mean: Array  # (d,)
    scale: Array | None  # (d,) standard deviations if standardized
    values: Array  # (≥ k,) eigenvalues, descending: all of them, or k
    vectors: Array  # (d, k)
    total: float  # trace of the matrix: the total variance
    log_det: float  # of the matrix; -inf if singular, NaN where the solver does not know it
    n: float  # rows, or the sum of their weights
    solver: str
    n_iter: int = 1
    converged: bool = True


def principal_axes(rows: Rows, weights: Array | None, options: PCAOptions, solver: str = "auto") -> PrincipalAxes:
    """Principal axes of rows. Where "auto" chose a squared matrix and lost digits to it, the SVD replaces it."""
    chosen = choose_pca_solver(rows, options, solver)
    axes = SOLVERS[chosen](rows, weights, options)
    k = axes.vectors.shape[1]
    eps = np.finfo(np.float64).eps
    squared = chosen in ("covariance", "gram") and rows.dtype == np.float64
    lost = squared and 0 < axes.values[k - 1] < PRECISION_LIMIT * len(axes.vectors) * eps * axes.values[0]
    if solver == "auto" and lost and rows.n is not None and not rows.sparse:
        return solve_svd(rows, weights, replace(options, n_components=k))
    return axes


def choose_pca_solver(rows: Rows, options: PCAOptions, solver: str) -> str:
    """The given solver, or the cheapest one for these rows if it is "auto"."""
    if solver != "auto":
        return solver
    if rows.n is None:
        return "covariance"
    small = min(rows.n, rows.d)
    fixed = fixed_count(options.n_components, small, f"{rows.n} sample(s) and {rows.d} feature(s) span no more axes")
    few = fixed is not None and fixed <= small // 20
    if few and (small > COVARIANCE_ROWS or (rows.sparse and rows.d > SPARSE_COLUMNS)):
        return "krylov"
    return "covariance" if rows.d <= rows.n else "gram"


def check_underflow(axes: PrincipalAxes, rows: Rows) -> None:
    """Refuse rows whose variances underflow: they would seem constant."""
    limits = np.finfo(rows.dtype)
    if axes.scale is not None or axes.total >= float(limits.tiny / limits.eps):
        return
    if axes.total > 0:
        varying = axes.total > float(((limits.eps * axes.mean) ** 2).sum())  # more than a constant's rounding errors
    else:
        again = rows.n is not None and not rows.sparse  # whether they can be read once more
        varying = again and any((chunk.load() != rows.block(0, 1)).any() for chunk in rows.chunks())
    if varying:
        raise underflow_error()


def principal_scores(rows: Rows, k: int, seed: int, threads: int) -> Array:
    """Scores on at most k principal axes, divided by the largest: their squares neither overflow nor underflow."""
    axes = principal_axes(rows, None, PCAOptions(min(k, rows.count, rows.d), 0, False, None, 200, seed, threads))
    scores = Centered(rows, axes.mean, None, None, threads).times(axes.vectors).astype(np.float64)
    return scores / (float(np.abs(scores).max(initial=0.0)) or 1.0)


def axes_from_moments(m: Moments, options: PCAOptions, rows: Rows | None = None) -> PrincipalAxes:
    """Principal axes of the covariance or correlation matrix of moments."""
    scale = m.scale(options.ddof) if options.standardize else None
    C = m.covariance(options.ddof)
    variances = np.diagonal(C).copy()
    if scale is not None:
        C = C / np.outer(scale, scale)
    count = _component_counter(options, Spectrum(np.empty(0), m.n, m.d, variances=variances, rows=rows), m.rows)
    values, vectors = _solve_dense(C, count, m.dtype)
    return PrincipalAxes(m.mean, scale, values, vectors, float(np.trace(C)), _log_det(C), m.n, "covariance")


def solve_covariance(rows: Rows, weights: Array | None, options: PCAOptions) -> PrincipalAxes:
    """Eigenvectors of the covariance matrix, which takes one pass over the rows."""
    m = moments_of(rows, None, weights, options.threads)
    return axes_from_moments(m, options, rows if rows.n is not None else None)


def solve_gram(rows: Rows, weights: Array | None, options: PCAOptions) -> PrincipalAxes:
    """Eigenvectors of the Gram matrix (the dual): if P Pᵀ u = λ u then PᵀP (Pᵀu) = λ (Pᵀu)."""
    n, centered, scale = center_rows(rows, weights, options)
    K = _finite(centered.gram() / (n - options.ddof))
    total = float(np.trace(K))
    count = _component_counter(options, Spectrum(np.empty(0), n, rows.d, rows=rows), rows.count)
    values, U = _solve_dense(K, count, rows.dtype)
    images = centered.transpose_times(U)  # (d, k), columns of length √(λ (n - ddof))
    vectors = fix_signs(_orthonormal_axes(images, options.seed))
    return PrincipalAxes(centered.mean, scale, values, vectors, total, _log_product(values, rows.d), n, "gram")


def solve_svd(rows: Rows, weights: Array | None, options: PCAOptions) -> PrincipalAxes:
    """Singular value decomposition of the centered rows: small singular values keep their digits."""
    n, centered, scale = center_rows(rows, weights, options)
    if rows.count >= rows.d:
        P = centered.r_factor()
    else:
        whole = rows.whole()
        P = centered.panel(Chunk(0, rows.count, lambda: whole), whole)
    P = _finite(np.asarray(P, dtype=np.float64))
    _, sizes, right = interruptible(lambda: scipy.linalg.svd(P, full_matrices=False, check_finite=False))
    values = _finite(sizes**2 / (n - options.ddof))
    k = _component_counter(options, Spectrum(np.empty(0), n, rows.d, rows=rows), rows.count)(values)
    vectors, log_det = fix_signs(right[:k].T), _log_product(values, rows.d)
    return PrincipalAxes(centered.mean, scale, values, vectors, values.sum(), log_det, n, "svd")


def solve_krylov(rows: Rows, weights: Array | None, options: PCAOptions) -> PrincipalAxes:
    """Block Lanczos: products with the rows only, from a seeded random block."""
    n, centered, scale = center_rows(rows, weights, options)
    total = float(_finite(centered.column_sums_of_squares()).sum()) / (n - options.ddof)
    k = fixed_count(options.n_components, min(rows.count, rows.d), "there are no more axes")
    if k is None:
        raise BadParameter(
            "solver='krylov' finds a given number of axes, not the whole spectrum, which "
            f"n_components={options.n_components!r} needs. Give a whole number, or use another solver."
        )
    tol = options.tol or (1e-5 if rows.dtype == np.float32 else 1e-9)
    unit = (n - options.ddof) * (total or 1.0)  # the operator has trace 1, whatever the units of X
    found = block_lanczos(
        lambda V: centered.scatter_times(V) / unit, rows.d, k, tol=tol, max_iter=options.max_iter, seed=options.seed
    )
    return PrincipalAxes(
        centered.mean,
        scale,
        found.values * (total or 1.0),
        found.vectors,
        total,
        np.nan,
        n,
        "krylov",
        found.n_iter,
        found.converged,
    )


SOLVERS: dict[str, Callable[[Rows, Array | None, PCAOptions], PrincipalAxes]] = {
    "covariance": solve_covariance,
    "gram": solve_gram,
    "svd": solve_svd,
    "krylov": solve_krylov,
}


def center_rows(rows: Rows, weights: Array | None, options: PCAOptions) -> tuple[float, Centered, Array | None]:
    """The sum of the weights, the centered rows, and their standard deviations if they are standardized."""
    n, mean = column_means(rows, weights, options.threads)
    if n <= options.ddof:
        raise NotEnoughData(f"a variance with ddof={options.ddof} needs more than {options.ddof} sample(s); got {n:g}.")
    roots = None if weights is None else np.sqrt(weights)
    centered = Centered(rows, mean, None, roots, options.threads)
    if not options.standardize:
        return n, centered, None
    scale = nonzero_scale(np.sqrt(centered.column_scatter(n) / (n - options.ddof)), mean, rows.dtype)
    return n, replace(centered, scale=1 / scale), scale


def _component_counter(options: PCAOptions, known: Spectrum, n_rows: int) -> Callable[[Array | None], int | None]:
    """count(None): the number of components if it is fixed, else None; count(values): that of the whole spectrum."""
    most = min(n_rows, known.d)
    fixed = fixed_count(options.n_components, most, f"{n_rows} sample(s) and {known.d} feature(s) span no more axes")

    def count(values: Array | None) -> int | None:
        if fixed is not None or values is None:
            return fixed
        clipped = np.maximum(values[:most], 0)
        spectrum = replace(known, values=clipped, ddof=options.ddof, standardized=options.standardize)
        return count_components(options.n_components, spectrum)

    return count


def _solve_dense(C: Array, count: Callable[[Array | None], int | None], dtype: np.dtype[Any]) -> tuple[Array, Array]:
    """Eigenvalues (clipped at zero) and as many eigenvectors as there are components."""
    found = eigh_largest(C, count(None), rough=dtype == np.float32)
    values = np.maximum(found.values, 0)
    return values, np.ascontiguousarray(found.vectors[:, : count(values)])


def _finite(A: Array) -> Array:
    """The centered rows were finite, so infinite entries come from squaring them."""
    if not np.isfinite(A).all():
        raise overflow_error()
    return A


def _log_product(values: Array, d: int) -> float:
    """Log-determinant of a matrix with these eigenvalues; -inf if they are fewer than d."""
    if len(values) < d:
        return -np.inf
    return float(np.log(values).sum()) if values[-1] > 0 else -np.inf


def _log_det(C: Array) -> float:
    """Log-determinant by Cholesky decomposition; -inf if the matrix is singular."""
    if np.diagonal(C).min() <= 0:
        return -np.inf
    try:
        L = interruptible(lambda: np.linalg.cholesky(C))
    except np.linalg.LinAlgError:
        return -np.inf
    return 2 * float(np.log(np.diagonal(L)).sum())


def _orthonormal_axes(images: Array, seed: int) -> Array:
    """Unit columns. Those of (nearly) zero length are replaced by random ones orthogonal to the rest."""
    lengths = np.linalg.norm(images, axis=0)
    alive = lengths > np.sqrt(np.finfo(np.float64).eps) * lengths.max(initial=0.0)
    if alive.all() and lengths.min() > 1e-4 * lengths.max():
        return images / lengths
    axes = np.where(alive, images, normal(images.shape, seed)) / np.where(alive, lengths, 1.0)
    Q, R = np.linalg.qr(axes)
    return Q * np.where(np.diagonal(R) < 0, -1.0, 1.0)
