"""Principal axes of centred rows, by four routes that agree to rounding.

| route      | forms                   | good for                                           |
|------------|-------------------------|----------------------------------------------------|
| covariance | Moments (d, d)          | n > d; streams; one pass                           |
| gram       | P Pᵀ (n, n)             | n < d: it has the same eigenvalues                 |
| svd        | R of P = QR, by blocks  | axes of tiny variance: no squared condition number |
| krylov     | nothing: products only  | large and sparse, few components                   |
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
from lowdim.runtime.threads import uninterrupted
from lowdim.summaries.moments import Moments, moments_of, spread_or_one

__all__ = [
    "Axes",
    "Plan",
    "centre",
    "choose_route",
    "from_moments",
    "principal_axes",
    "principal_scores",
    "require_size",
]

Array = NDArray[np.float64]

# The covariance holds λ_k to about eps λ₁; below this share of λ₁ the axes come from the SVD instead.
SQUARED_LIMIT = 1e3


@dataclass(frozen=True)
class Plan:
    """What is asked of the axes."""

    n_components: Any
    ddof: int = 1
    standardize: bool = False
    tol: float | None = None
    max_iter: int = 100
    seed: int = 0
    threads: int = 1


@dataclass(frozen=True)
class Axes:
    """The answer: eigenvalues that are known (at least k), k axes in columns, and what goes with them."""

    mean: Array  # (d,)
    scale: Array | None  # (d,) standard deviations if standardised
    values: Array  # (≥ k,) of the covariance (or correlation), descending
    vectors: Array  # (d, k)
    total: float  # the trace of the covariance
    log_det: float  # of the covariance; -inf if singular, NaN where the route does not know it
    n: float  # rows, or the sum of their weights
    route: str
    n_iter: int = 1
    converged: bool = True


def choose_route(rows: Rows, plan: Plan, wish: str) -> str:
    """The route for these rows: the one wished for, or the cheapest that fits."""
    if wish != "auto":
        return wish
    if rows.n is None:
        return "covariance"
    small = min(rows.n, rows.d)
    fixed = fixed_count(plan.n_components, small, f"{rows.n} sample(s) and {rows.d} feature(s) span no more axes")
    few = fixed is not None and fixed <= small // 20
    if small > COVARIANCE_ROWS and few:
        return "krylov"
    if rows.sparse and few and rows.d > 500:
        return "krylov"
    return "covariance" if rows.d <= rows.n else "gram"


def principal_axes(rows: Rows, weights: Array | None, plan: Plan, wish: str = "auto") -> Axes:
    """Axes of rows by the chosen route; an automatic choice that lost digits is made again by SVD."""
    route = choose_route(rows, plan, wish)
    axes = ROUTES[route](rows, weights, plan)
    k = axes.vectors.shape[1]
    eps = np.finfo(np.float64).eps
    squared = route in ("covariance", "gram") and rows.dtype == np.float64
    lost = squared and 0 < axes.values[k - 1] < SQUARED_LIMIT * len(axes.vectors) * eps * axes.values[0]
    if wish == "auto" and lost and rows.n is not None and not rows.sparse:
        return by_svd(rows, weights, replace(plan, n_components=k))
    return axes


def require_size(axes: Axes, rows: Rows) -> None:
    """Refuse rows whose variances are lost among the smallest numbers: they would seem constant."""
    limits = np.finfo(rows.dtype)
    if axes.scale is not None or axes.total >= float(limits.tiny / limits.eps):
        return
    if axes.total > 0:
        varying = axes.total > float(((limits.eps * axes.mean) ** 2).sum())  # more than rounding leaves of a constant
    else:
        again = rows.n is not None and not rows.sparse  # whether they can be looked at once more
        varying = again and any((chunk.load() != rows.block(0, 1)).any() for chunk in rows.chunks())
    if varying:
        raise underflow_error()


def principal_scores(rows: Rows, k: int, seed: int, threads: int) -> Array:
    """Scores on at most k principal axes, the largest scaled to 1: their squares neither overflow nor vanish."""
    axes = principal_axes(rows, None, Plan(min(k, rows.count, rows.d), 0, False, None, 200, seed, threads))
    scores = Centered(rows, axes.mean, None, None, threads).times(axes.vectors).astype(np.float64)
    return scores / (float(np.abs(scores).max(initial=0.0)) or 1.0)


def from_moments(m: Moments, plan: Plan, rows: Rows | None = None) -> Axes:
    """Axes of a covariance or correlation matrix."""
    scale = m.scale(plan.ddof) if plan.standardize else None
    C = m.covariance(plan.ddof)
    variances = np.diagonal(C).copy()
    if scale is not None:
        C = C / np.outer(scale, scale)
    pick = _picker(plan, Spectrum(np.empty(0), m.n, m.d, variances=variances, rows=rows), m.rows)
    values, vectors = _solve_dense(C, pick, m.dtype)
    return Axes(m.mean, scale, values, vectors, float(np.trace(C)), _log_det(C), m.n, "covariance")


def by_covariance(rows: Rows, weights: Array | None, plan: Plan) -> Axes:
    """One pass to the Moments, then their axes."""
    return from_moments(moments_of(rows, None, weights, plan.threads), plan, rows if rows.n is not None else None)


def by_gram(rows: Rows, weights: Array | None, plan: Plan) -> Axes:
    """The dual: if P Pᵀ u = λ u then PᵀP (Pᵀu) = λ (Pᵀu) (lecture 1)."""
    n, centred, scale = centre(rows, weights, plan)
    K = _finite(centred.gram() / (n - plan.ddof))
    total = float(np.trace(K))
    values, U = _solve_dense(K, _picker(plan, Spectrum(np.empty(0), n, rows.d, rows=rows), rows.count), rows.dtype)
    long = centred.transpose_times(U)  # (d, k), columns of length √(λ (n - ddof))
    vectors = fix_signs(_orthonormal_axes(long, values, plan.seed))
    return Axes(centred.mean, scale, values, vectors, total, _log_product(values, rows.d), n, "gram")


def by_svd(rows: Rows, weights: Array | None, plan: Plan) -> Axes:
    """Singular values of P itself, so that small ones keep their digits."""
    n, centred, scale = centre(rows, weights, plan)
    if rows.count >= rows.d:
        P = centred.r_factor()
    else:
        whole = rows.whole()
        P = centred.panel(Chunk(0, rows.count, lambda: whole), whole)
    P = _finite(np.asarray(P, dtype=np.float64))
    _, sizes, right = uninterrupted(lambda: scipy.linalg.svd(P, full_matrices=False, check_finite=False))
    values = _finite(sizes**2 / (n - plan.ddof))
    k = _picker(plan, Spectrum(np.empty(0), n, rows.d, rows=rows), rows.count)(values)
    return Axes(
        centred.mean,
        scale,
        values,
        fix_signs(right[:k].T),
        values.sum(),
        _log_product(values, rows.d),
        n,
        "svd",
    )


def by_krylov(rows: Rows, weights: Array | None, plan: Plan) -> Axes:
    """Products with the rows only: block Lanczos from a seeded random block."""
    n, centred, scale = centre(rows, weights, plan)
    total = float(_finite(centred.column_sums_of_squares()).sum()) / (n - plan.ddof)
    k = fixed_count(plan.n_components, min(rows.count, rows.d), "there are no more axes")
    if k is None:
        raise BadParameter(
            "solver='krylov' finds a given number of axes and never sees the whole spectrum; "
            f"n_components={plan.n_components!r} needs it. Give a number, or another solver."
        )
    tol = plan.tol or (1e-5 if rows.dtype == np.float32 else 1e-9)
    unit = (n - plan.ddof) * (total or 1.0)  # an operator of trace 1, whatever the units of X
    found = block_lanczos(
        lambda V: centred.scatter_times(V) / unit, rows.d, k, tol=tol, max_iter=plan.max_iter, seed=plan.seed
    )
    values = found.values * (total or 1.0)
    return Axes(centred.mean, scale, values, found.vectors, total, np.nan, n, "krylov", found.n_iter, found.converged)


ROUTES: dict[str, Callable[[Rows, Array | None, Plan], Axes]] = {
    "covariance": by_covariance,
    "gram": by_gram,
    "svd": by_svd,
    "krylov": by_krylov,
}


def _picker(plan: Plan, known: Spectrum, rows_seen: int) -> Callable[[Array | None], int | None]:
    """pick(None): the count if it is fixed, else None; pick(values): the count on the whole spectrum."""
    most = min(rows_seen, known.d)
    what = f"{rows_seen} sample(s) and {known.d} feature(s) span no more axes"
    fixed = fixed_count(plan.n_components, most, what)

    def pick(values: Array | None) -> int | None:
        if fixed is not None or values is None:
            return fixed
        spectrum = replace(known, values=np.maximum(values[:most], 0), ddof=plan.ddof, standardized=plan.standardize)
        return count_components(plan.n_components, spectrum)

    return pick


def _solve_dense(C: Array, pick: Callable[[Array | None], int | None], dtype: np.dtype[Any]) -> tuple[Array, Array]:
    """Values (clipped at zero) and the picked vectors; only those when their number is known before."""
    found = eigh_largest(C, pick(None), rough=dtype == np.float32)
    values = np.maximum(found.values, 0)
    return values, np.ascontiguousarray(found.vectors[:, : pick(values)])


def centre(rows: Rows, weights: Array | None, plan: Plan) -> tuple[float, Centered, Array | None]:
    """The sum of the weights, the centred rows, and the standard deviations if they are to be divided by."""
    n, mean = column_means(rows, weights, plan.threads)
    if n <= plan.ddof:
        raise NotEnoughData(f"a variance with ddof={plan.ddof} needs more than {plan.ddof} sample(s); got {n:g}.")
    roots = None if weights is None else np.sqrt(weights)
    centred = Centered(rows, mean, None, roots, plan.threads)
    if not plan.standardize:
        return n, centred, None
    scale = spread_or_one(np.sqrt(centred.column_scatter(n) / (n - plan.ddof)), mean, rows.dtype)
    return n, replace(centred, scale=1 / scale), scale


def _finite(A: Array) -> Array:
    """The centred rows were finite, so what is not comes from squaring them."""
    if not np.isfinite(A).all():
        raise overflow_error()
    return A


def _log_product(values: Array, d: int) -> float:
    """Log det from a spectrum: unknown if it is cut short, -inf if the rows span less than d axes."""
    if len(values) < d:
        return -np.inf
    return float(np.log(values).sum()) if values[-1] > 0 else -np.inf


def _log_det(C: Array) -> float:
    if np.diagonal(C).min() <= 0:
        return -np.inf
    try:
        L = uninterrupted(lambda: np.linalg.cholesky(C))
    except np.linalg.LinAlgError:
        return -np.inf
    return 2 * float(np.log(np.diagonal(L)).sum())


def _orthonormal_axes(long: Array, values: Array, seed: int) -> Array:
    """Unit columns; those of (nearly) no length are replaced by something orthogonal to the rest."""
    lengths = np.linalg.norm(long, axis=0)
    alive = lengths > np.sqrt(np.finfo(np.float64).eps) * lengths.max(initial=0.0)
    if alive.all() and lengths.min() > 1e-4 * lengths.max():
        return long / lengths
    axes = np.where(alive, long, normal(long.shape, seed)) / np.where(alive, lengths, 1.0)
    Q, R = np.linalg.qr(axes)
    return Q * np.where(np.diagonal(R) < 0, -1.0, 1.0)
