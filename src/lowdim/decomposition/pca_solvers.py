"""The four solvers of principal axes, which agree to rounding: covariance, gram, svd and krylov."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.data.rows import Rows
from lowdim.data.validation import overflow_error, underflow_error
from lowdim.decomposition.component_count import Spectrum, count_components, fixed_count, rank_limit
from lowdim.decomposition.resolution import log_det_of_covariance, log_det_of_factor, resolved, variance_floor
from lowdim.errors import BadParameter, NotEnoughData
from lowdim.linalg import lapack
from lowdim.linalg.block_lanczos import block_lanczos
from lowdim.linalg.centered import Centered, column_means, nonzero_scale
from lowdim.linalg.dense_eigen import eigh_largest, fix_signs, orthonormal
from lowdim.runtime.display import count
from lowdim.runtime.memory import require_memory
from lowdim.runtime.random import normal
from lowdim.runtime.threads import interruptible
from lowdim.summaries.moments import Moments, moments_of, scatter_bytes

__all__ = ["SOLVERS", "PCAOptions", "PrincipalAxes", "axes_from_moments", "center_rows", "memory_needed", "solve_svd"]

Array = NDArray[np.float64]

EPS = float(np.finfo(np.float64).eps)
DIGITS = 1e3  # of a difference of sums: above this multiple of rounding it has enough of them


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
    values: Array  # (≥ k,) eigenvalues, descending: all of them, or k; 0 for those that the solver can't resolve
    vectors: Array  # (d, k)
    total: float  # trace of the matrix: the total variance
    log_det: float  # of the matrix; -inf if singular, NaN where the solver does not know it
    n: float  # rows, or the sum of their weights
    solver: str
    n_iter: int = 1
    converged: bool = True
    rank_bound: int = 0  # at most so many eigenvalues can be other than zero, by the numbers of rows and columns
    rest: float | None = None  # the sum of the eigenvalues left out, where total - values would have lost its digits
    unit: float = 1.0  # of the rows, in which values, total, rest and log_det are; not 1 where squares would underflow
    variances: Array | None = None  # (d,) the diagonal of the matrix; 0 for columns that are constant up to rounding

    @property
    def variance_left_out(self) -> float:
        """The sum of the eigenvalues beyond the k components; 0 if it is no more than rounding."""
        d, k = self.vectors.shape
        if self.rest is not None or k == d:
            return self.rest or 0.0
        rest = self.total - float(self.values[:k].sum())
        if rest > DIGITS * d * EPS * self.total:
            return rest
        if len(self.values) > k:
            return float(self.values[k:].sum())
        return rest if rest > d * EPS * self.total else 0.0


def memory_needed(solver: str, rows: Rows, threads: int) -> int:
    """Bytes that a solver needs beside the rows."""
    n, d = rows.count, rows.d
    if solver == "covariance":
        return scatter_bytes(d, threads, n)
    if solver == "gram":
        return 8 * n * n * (4 + threads)  # the sum, the parts of the threads, and LAPACK's copies
    return 8 * d * d * (6 + 2 * threads) if n > d else 8 * (4 * n * d + n * n)


def axes_from_moments(
    m: Moments, options: PCAOptions, rows: Rows | None = None, rank: int | None = None
) -> PrincipalAxes:
    """Principal axes of the covariance or correlation matrix of moments; `rows` are those that can be read again.

    The rank of the matrix is at most n - 1, unless it is given, as for moments that are more than those of n rows.
    """
    scale = m.scale(options.ddof) if options.standardize else None
    C = m.covariance(options.ddof)
    variances = np.diagonal(C).copy()
    rounding = (float(np.finfo(m.dtype).eps) * m.mean) ** 2  # what a constant column seems to vary by
    if rows is None:
        _check_underflow(variances, rounding, options.standardize, m.dtype)
    if scale is not None:
        C = C / np.outer(scale, scale)
    count = _component_counter(options, Spectrum(np.empty(0), m.n, m.d, variances=variances, rows=rows), m.rows)
    rank_bound = min(m.rows - 1 if rank is None else rank, int((variances > rounding).sum()))
    values, vectors = _solve_dense(C, count, m.dtype, rank_bound)
    log_det = -np.inf if rank_bound < m.d else log_det_of_covariance(C, m.dtype)
    total = float(np.trace(C))
    axes = PrincipalAxes(m.mean, scale, values, vectors, total, log_det, m.n, "covariance", rank_bound=rank_bound)
    return replace(axes, variances=np.where(variances > rounding, np.diagonal(C), 0.0))


def _check_underflow(variances: Array, rounding: Array, standardize: bool, dtype: np.dtype[Any]) -> None:
    """Refuse variances that underflow, where the rows can't be read again in another unit."""
    small = variances < variance_floor(dtype) if standardize else variances.sum() < variance_floor(dtype)
    if (small & (variances > rounding)).any():
        raise underflow_error()


def solve_covariance(rows: Rows, weights: Array | None, options: PCAOptions) -> PrincipalAxes:
    """Eigenvectors of the covariance matrix, which takes one pass over the rows."""
    m = moments_of(rows, None, weights, options.threads)
    return axes_from_moments(m, options, rows if rows.n is not None else None)


def solve_gram(rows: Rows, weights: Array | None, options: PCAOptions) -> PrincipalAxes:
    """Eigenvectors of the Gram matrix (the dual): if P Pᵀ u = λ u then PᵀP (Pᵀu) = λ (Pᵀu)."""
    require_memory(
        memory_needed("gram", rows, options.threads),
        f"the Gram matrix of {rows.count} rows",
        "Use solver='auto', 'covariance' or 'krylov'.",
    )
    n, centered, scale = center_rows(rows, weights, options)
    K = _finite(centered.gram() / (n - options.ddof))
    total = float(np.trace(K))
    count = _component_counter(options, Spectrum(np.empty(0), n, rows.d, rows=rows), rows.count)
    rank_bound = min(rows.count - 1, rows.d)
    values, U = _solve_dense(K, count, rows.dtype, rank_bound)
    images = centered.transpose_times(U)  # (d, k), columns of length √(λ (n - ddof))
    vectors = fix_signs(_orthonormal_axes(images, options.seed))
    unknown = -np.inf if rank_bound < rows.d else np.nan
    axes = PrincipalAxes(centered.mean, scale, values, vectors, total, unknown, n, "gram", rank_bound=rank_bound)
    return replace(axes, variances=_column_variances(centered, n, options))


def solve_svd(rows: Rows, weights: Array | None, options: PCAOptions) -> PrincipalAxes:
    """Singular value decomposition of the centered rows: small singular values keep their digits."""
    require_memory(
        memory_needed("svd", rows, options.threads),
        f"the singular value decomposition of {rows.count} × {rows.d} values",
        "Use solver='auto' or 'krylov'.",
    )
    n, centered, scale = center_rows(rows, weights, options)
    tall = rows.count > rows.d
    factor = centered.r_factor() if tall else centered.dense(n)
    P = _finite(np.asarray(factor, dtype=np.float64))
    _, sizes, right = interruptible(lambda: lapack.svd(P))
    rank_bound = min(rows.count - 1, rows.d)
    floor = (min(rows.count, rows.d) * EPS) ** 2
    values = resolved(_finite(sizes**2 / (n - options.ddof)), rank_bound, floor)
    k = _component_counter(options, Spectrum(np.empty(0), n, rows.d, rows=rows), rows.count)(values)
    vectors, total = fix_signs(right[:k].T), float(values.sum())
    log_det = log_det_of_factor(factor) - rows.d * np.log(n - options.ddof) if tall else -np.inf
    axes = PrincipalAxes(centered.mean, scale, values, vectors, total, log_det, n, "svd", rank_bound=rank_bound)
    return replace(axes, variances=_column_variances(centered, n, options))


def solve_krylov(rows: Rows, weights: Array | None, options: PCAOptions) -> PrincipalAxes:
    """Block Lanczos: products with the rows only, from a seeded random block."""
    n, centered, scale = center_rows(rows, weights, options)
    scatter, rests = centered.column_scatter(n)
    total = float(_finite(scatter).sum()) / (n - options.ddof)
    k = fixed_count(options.n_components, min(rows.count, rows.d), "there are no more axes")
    if k is None:
        raise BadParameter(
            "solver='krylov' finds a given number of axes, not the whole spectrum, which "
            f"n_components={options.n_components!r} needs. Give a whole number, or use another solver."
        )
    tol = options.tol or (1e-5 if rows.dtype == np.float32 else 1e-9)
    unit = (n - options.ddof) * (total or 1.0)  # the operator has trace 1, whatever the units of X

    def scatter_times(V: Array) -> Array:  # about the true means: the given ones are rounded
        return (centered.scatter_times(V) - np.outer(rests, rests @ V / n)) / unit

    found = block_lanczos(scatter_times, rows.d, k, tol=tol, max_iter=options.max_iter, seed=options.seed)
    values, rank_bound = found.values * (total or 1.0), min(rows.count - 1, rows.d)
    return PrincipalAxes(
        centered.mean,
        scale,
        values,
        found.vectors,
        total,
        -np.inf if rank_bound < rows.d else np.nan,
        n,
        "krylov",
        found.n_iter,
        found.converged,
        rank_bound,
        variances=_varying(scatter / (n - options.ddof), centered),
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
        raise NotEnoughData(
            f"a variance with ddof={options.ddof} needs more than {count(options.ddof, 'row')}; got {n:g}."
        )
    roots = None if weights is None else np.sqrt(weights)
    centered = Centered(rows, mean, None, roots, options.threads)
    if not options.standardize:
        return n, centered, None
    scale = nonzero_scale(np.sqrt(centered.column_scatter(n)[0] / (n - options.ddof)), mean, rows.dtype)
    if not np.isfinite(scale).all():
        raise overflow_error()
    return n, replace(centered, scale=1 / scale), scale


def _column_variances(centered: Centered, n: float, options: PCAOptions) -> Array:
    return _varying(centered.column_scatter(n)[0] / (n - options.ddof), centered)


def _varying(variances: Array, centered: Centered) -> Array:
    """Variances of the columns of centered rows, (d,), with 0 for those that are constant up to rounding."""
    factors = 1.0 if centered.scale is None else centered.scale
    rounding = (float(np.finfo(centered.rows.dtype).eps) * centered.mean * factors) ** 2
    return np.where(variances > rounding, variances, 0.0)


def _component_counter(options: PCAOptions, known: Spectrum, n_rows: int) -> Callable[[Array | None], int | None]:
    """count(None): the number of components if it is fixed, else None; count(values): that of the whole spectrum."""
    most = min(n_rows, known.d)
    fixed = fixed_count(options.n_components, most, rank_limit(n_rows, known.d))

    def count(values: Array | None) -> int | None:
        if fixed is not None or values is None:
            return fixed
        clipped = np.maximum(values[:most], 0)
        spectrum = replace(known, values=clipped, ddof=options.ddof, standardized=options.standardize)
        return count_components(options.n_components, spectrum)

    return count


def _solve_dense(
    C: Array, count: Callable[[Array | None], int | None], dtype: np.dtype[Any], rank_bound: int
) -> tuple[Array, Array]:
    """Eigenvalues, with zeros for those that are not resolved, and as many eigenvectors as there are components."""
    found = eigh_largest(C, count(None), rough=dtype == np.float32)
    values = resolved(found.values, rank_bound, float(np.finfo(dtype).eps))
    return values, np.ascontiguousarray(found.vectors[:, : count(values)])


def _finite(A: Array) -> Array:
    """The centered rows were finite, so infinite entries come from squaring them."""
    if not np.isfinite(A).all():
        raise overflow_error()
    return A


def _orthonormal_axes(images: Array, seed: int) -> Array:
    """Unit columns. Those of (nearly) zero length are replaced by random ones orthogonal to the rest."""
    lengths = np.linalg.norm(images, axis=0)
    alive = lengths > np.sqrt(np.finfo(np.float64).eps) * lengths.max(initial=0.0)
    if alive.all() and lengths.min() > 1e-4 * lengths.max():
        return images / lengths
    axes = np.where(alive, images, normal(images.shape, seed)) / np.where(alive, lengths, 1.0)
    return orthonormal(axes)
