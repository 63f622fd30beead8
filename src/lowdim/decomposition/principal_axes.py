"""Principal axes of centered rows, by four solvers that agree to rounding.

| solver     | works on                          | suits                                               |
|------------|-----------------------------------|-----------------------------------------------------|
| covariance | covariance matrix (d, d)          | n > d; streams; one pass                            |
| gram       | Gram matrix P Pᵀ (n, n)           | n < d: the nonzero eigenvalues are the same         |
| svd        | R of P = QR, by blocks            | tiny variances: the condition number is not squared |
| krylov     | products with P (block Lanczos)   | large or sparse rows, few components                |
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from lowdim.data.rows import Rows
from lowdim.decomposition.component_count import fixed_count, rank_limit
from lowdim.decomposition.pca_solvers import (
    SOLVERS,
    PCAOptions,
    PrincipalAxes,
    axes_from_moments,
    center_rows,
    memory_needed,
    solve_svd,
)
from lowdim.decomposition.resolution import ScaledRows, is_unresolved, unit_factors, variance_floor
from lowdim.linalg.centered import Centered
from lowdim.linalg.dense_limits import COVARIANCE_ROWS
from lowdim.runtime.memory import available_bytes

__all__ = [
    "SPARSE_COLUMNS",
    "PCAOptions",
    "PrincipalAxes",
    "axes_from_moments",
    "center_rows",
    "choose_pca_solver",
    "principal_axes",
    "principal_scores",
]

Array = NDArray[np.float64]

SPARSE_COLUMNS = 500  # sparse rows with more columns than this go to the Krylov solver


def principal_axes(rows: Rows, weights: Array | None, options: PCAOptions, solver: str = "auto") -> PrincipalAxes:
    """Principal axes of rows. Where "auto" chose a squared matrix and lost digits to it, they are found again.

    Rows whose squares underflow are solved in another unit, which the result names.
    """
    chosen = choose_pca_solver(rows, options, solver)
    axes = SOLVERS[chosen](rows, weights, options)
    factors = _safe_factors(axes, rows, options)
    if factors is not None:
        axes = principal_axes(ScaledRows(rows, factors), weights, options, solver)
        scale = None if axes.scale is None else axes.scale / factors
        unit = 1.0 if options.standardize else 1 / float(factors[0])
        return replace(axes, mean=axes.mean / factors, scale=scale, unit=unit)
    if solver != "auto" or rows.n is None or rows.sparse or chosen == "krylov":
        return axes
    k = min(axes.vectors.shape[1], axes.rank_bound)
    if k and is_unresolved(float(axes.values[k - 1]), float(axes.values[0]), rows.d, rows.dtype):
        return _solved_again(axes, rows, weights, options)
    return _with_rest(axes, rows, weights, options)


def _solved_again(axes: PrincipalAxes, rows: Rows, weights: Array | None, options: PCAOptions) -> PrincipalAxes:
    """Axes with more digits: from products of float32 rows in float64, else by the SVD, where it fits into memory."""
    options = replace(options, n_components=axes.vectors.shape[1])
    if rows.dtype == np.float32:
        return _with_rest(SOLVERS[axes.solver](ScaledRows(rows), weights, options), rows, weights, options)
    return solve_svd(rows, weights, options) if _fits("svd", rows, options.threads) else axes


def _with_rest(axes: PrincipalAxes, rows: Rows, weights: Array | None, options: PCAOptions) -> PrincipalAxes:
    """Axes that know the variance left out, read off the rows where the difference of total and values lost it."""
    k = axes.vectors.shape[1]
    rest = axes.total - float(axes.values[:k].sum())
    if k >= axes.rank_bound or not is_unresolved(rest, axes.total, rows.d, rows.dtype):
        return axes
    n, centered, _ = center_rows(rows, weights, options)
    return replace(axes, rest=centered.residual_scatter(axes.vectors, n) / (n - options.ddof))


def _safe_factors(axes: PrincipalAxes, rows: Rows, options: PCAOptions) -> Array | None:
    """Factors for the columns of rows whose squares underflow; None if they do not."""
    if axes.scale is not None:  # constant columns have the scale 1
        variances = np.where(axes.scale == 1, 0.0, axes.scale**2)
        return unit_factors(rows, variances, axes.mean, options.threads)
    if axes.total >= variance_floor(rows.dtype):
        return None
    factors = unit_factors(rows, np.zeros(rows.d), axes.mean, options.threads)
    return None if factors is None else np.full(rows.d, factors[factors != 1].min())


def choose_pca_solver(rows: Rows, options: PCAOptions, solver: str) -> str:
    """The given solver, or the cheapest one for these rows if it is "auto"."""
    if solver != "auto":
        return solver
    if rows.n is None:
        return "covariance"
    small = min(rows.n, rows.d)
    fixed = fixed_count(options.n_components, small, rank_limit(rows.n, rows.d))
    few = fixed is not None and fixed <= small // 20
    if few and (small > COVARIANCE_ROWS or (rows.sparse and rows.d > SPARSE_COLUMNS)):
        return "krylov"
    chosen = "covariance" if rows.d <= rows.n else "gram"
    return "krylov" if fixed is not None and fixed < small and not _fits(chosen, rows, options.threads) else chosen


def _fits(solver: str, rows: Rows, threads: int) -> bool:
    available = available_bytes()
    return available is None or memory_needed(solver, rows, threads) <= available


def principal_scores(rows: Rows, k: int, seed: int, threads: int) -> Array:
    """Scores on at most k principal axes, divided by the largest: their squares neither overflow nor underflow."""
    axes = principal_axes(rows, None, PCAOptions(min(k, rows.count, rows.d), 0, False, None, 200, seed, threads))
    scores = Centered(rows, axes.mean, None, None, threads).times(axes.vectors).astype(np.float64)
    return scores / (float(np.abs(scores).max(initial=0.0)) or 1.0)
