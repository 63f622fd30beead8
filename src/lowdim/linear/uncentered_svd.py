"""Largest singular values of rows as they are, without centering, by three solvers that agree to rounding.

| solver     | works on                        | suits                                               |
|------------|---------------------------------|-----------------------------------------------------|
| covariance | XᵀX (d, d), from Moments        | n > d; streams; one pass                            |
| svd        | R of X = QR by blocks, or X     | tiny singular values; n < d                         |
| krylov     | products with X (block Lanczos) | large or sparse rows, few components                |
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.data.fold import fold
from lowdim.data.rows import Block, Chunk, Rows
from lowdim.data.validation import overflow_error, underflow_error
from lowdim.decomposition.component_count import Spectrum, count_components, fixed_count, rank_limit
from lowdim.decomposition.principal_axes import SPARSE_COLUMNS, PCAOptions
from lowdim.decomposition.resolution import is_unresolved, variance_floor
from lowdim.errors import BadParameter
from lowdim.linalg import lapack
from lowdim.linalg.block_lanczos import block_lanczos
from lowdim.linalg.centered import Centered, column_means
from lowdim.linalg.dense_eigen import eigh_largest, fix_signs
from lowdim.linalg.dense_limits import COVARIANCE_ROWS
from lowdim.runtime.memory import require_memory
from lowdim.runtime.threads import interruptible
from lowdim.summaries.moments import Moments, moments_of

__all__ = ["SingularVectors", "singular_vectors", "vectors_from_moments"]

Array = NDArray[np.float64]

KRYLOV_TOL = {"float32": 1e-5, "float64": 1e-9}  # residuals of XᵀX, relative to its largest eigenvalue


@dataclass(frozen=True)
class SingularVectors:
    """Right singular vectors of rows, and what they explain."""

    values: Array  # (k,) singular values, descending
    vectors: Array  # (d, k)
    variances: Array  # (k,) of the scores
    total_variance: float  # of all columns
    n: float  # rows, or the sum of their weights
    solver: str
    n_iter: int = 1
    converged: bool = True


def singular_vectors(rows: Rows, weights: Array | None, options: PCAOptions, solver: str = "auto") -> SingularVectors:
    """Singular vectors of rows; where "auto" squared them and lost digits of the smallest, they are found again."""
    chosen = choose_svd_solver(rows, options) if solver == "auto" else solver
    if chosen == "covariance":
        found = vectors_from_moments(moments_of(rows, None, weights, options.threads), options)
        first, last = float(found.values[0]) ** 2, float(found.values[-1]) ** 2
        lost = first > 0 and is_unresolved(last, first, rows.d, rows.dtype)
        if solver != "auto" or not lost or rows.n is None or rows.sparse:
            return found
        chosen = "svd"
    n, mean = column_means(rows, weights, options.threads)
    roots = None if weights is None else np.sqrt(weights)
    plain = Centered(rows, np.zeros(rows.d), None, roots, options.threads)
    centered = Centered(rows, mean, None, roots, options.threads)
    total = float(centered.column_scatter(n)[0].sum()) / n
    sizes, vectors, n_iter, converged = (_by_svd if chosen == "svd" else _by_krylov)(plain, n, options)
    spread = np.einsum("dk,dk->k", vectors, centered.scatter_times(vectors)) / n
    _check_underflow(sizes, rows, options.threads)
    return SingularVectors(sizes, vectors, np.maximum(spread, 0), total, n, chosen, n_iter, converged)


def choose_svd_solver(rows: Rows, options: PCAOptions) -> str:
    """The cheapest solver for these rows."""
    if rows.n is None:
        return "covariance"
    small = min(rows.n, rows.d)
    fixed = _fixed(rows, options)
    few = fixed is not None and fixed <= small // 20
    if few and (small > COVARIANCE_ROWS or (rows.sparse and rows.d > SPARSE_COLUMNS)):
        return "krylov"
    return "covariance" if rows.d <= rows.n else "svd"


def vectors_from_moments(m: Moments, options: PCAOptions) -> SingularVectors:
    """Singular vectors from moments: XᵀX = T + n μμᵀ, a sum of positive semidefinite terms, which cancels nothing."""
    most = min(m.rows, m.d)
    fixed = fixed_count(options.n_components, most, rank_limit(m.rows, m.d))
    total = m.total
    squares = total + m.n * np.outer(m.mean, m.mean)
    if not np.isfinite(squares).all():
        raise overflow_error()
    found = eigh_largest(squares, fixed, rough=m.dtype == np.float32)
    floor = m.d * float(np.finfo(np.float64).eps) * max(float(found.values[0]), 0.0)
    values = np.where(found.values > floor, found.values, 0.0)
    k = fixed or _count(values[:most], m.n, m.d, options)
    V = np.ascontiguousarray(found.vectors[:, :k])
    if float(np.trace(squares)) < variance_floor(m.dtype) and np.abs(m.mean).max() + float(np.trace(total)) > 0:
        raise underflow_error()
    spread = np.maximum(np.einsum("dk,dk->k", V, total @ V), 0) / m.n
    return SingularVectors(np.sqrt(values[:k]), V, spread, float(np.trace(total)) / m.n, m.n, "covariance")


def _by_svd(plain: Centered, n: float, options: PCAOptions) -> tuple[Array, Array, int, bool]:
    """LAPACK's SVD of R of X = QR, block by block, or of X itself if it is wide."""
    rows = plain.rows
    copies = 6 if rows.count <= rows.d else 0
    require_memory(
        8 * (copies * rows.count * rows.d + 6 * min(rows.count, rows.d) * rows.d),
        f"the singular value decomposition of {rows.count} × {rows.d} values",
        "Use solver='krylov'.",
    )
    factor = np.asarray(_r_factor_of(plain), dtype=np.float64)
    if not np.isfinite(factor).all():
        raise overflow_error()
    _, sizes, right = interruptible(lambda: lapack.svd(factor))
    k = _fixed(rows, options) or _count(sizes**2, n, rows.d, options)
    return sizes[:k], fix_signs(right[:k].T), 1, True


def _r_factor_of(plain: Centered) -> NDArray[Any]:
    """R of X = QR, (≤ n, d), or X itself if it has no more rows than columns."""
    wide = plain.rows.count <= plain.rows.d

    def reduce(A: NDArray[Any]) -> NDArray[Any]:
        return A.copy() if wide else interruptible(lambda: lapack.r_factor(A))

    def summarize(chunk: Chunk, block: Block) -> NDArray[Any]:
        return reduce(plain.panel(chunk, block).astype(np.float64))

    return fold(plain.rows, summarize, lambda a, b: reduce(np.vstack([a, b])), plain.threads)


def _by_krylov(plain: Centered, n: float, options: PCAOptions) -> tuple[Array, Array, int, bool]:
    """Block Lanczos on XᵀX: products with the rows only, so that sparse rows stay sparse."""
    rows, k = plain.rows, _fixed(plain.rows, options)
    if k is None:
        raise BadParameter(
            "solver='krylov' finds a given number of components, not the whole spectrum, which "
            f"n_components={options.n_components!r} needs. Give a whole number, or use another solver."
        )
    unit = float(plain.column_sums_of_squares().sum())
    if not np.isfinite(unit):
        raise overflow_error()
    unit = unit or 1.0
    tol = options.tol or KRYLOV_TOL[rows.dtype.name]

    def scatter_times(V: Array) -> Array:
        return plain.scatter_times(V) / unit

    found = block_lanczos(scatter_times, rows.d, k, tol=tol, max_iter=options.max_iter, seed=options.seed)
    return np.sqrt(found.values * unit), found.vectors, found.n_iter, found.converged


def _fixed(rows: Rows, options: PCAOptions) -> int | None:
    most = min(rows.count, rows.d)
    return fixed_count(options.n_components, most, rank_limit(rows.n, rows.d))


def _count(squares: Array, n: float, d: int, options: PCAOptions) -> int:
    return count_components(options.n_components, Spectrum(squares / n, n, d, ddof=0))


def _check_underflow(sizes: Array, rows: Rows, threads: int) -> None:
    """Refuse rows that are not zero, but whose squares vanish."""
    if float(sizes[0]) >= np.sqrt(variance_floor(rows.dtype)):
        return
    largest: Callable[[Chunk, Block], float] = lambda _, block: float(abs(block).max())  # noqa: E731
    if fold(rows, largest, max, threads) > 0:
        raise underflow_error()
