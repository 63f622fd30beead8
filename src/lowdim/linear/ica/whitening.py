"""Whitening: the rotation and scaling after which the rows have mean zero and covariance I."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.data.rows import Rows
from lowdim.data.validation import underflow_error
from lowdim.decomposition.principal_axes import PCAOptions, PrincipalAxes, principal_axes
from lowdim.errors import NotEnoughData
from lowdim.linalg.centered import Centered
from lowdim.linalg.dense_eigen import eigh
from lowdim.linalg.projected_rows import projected_rows
from lowdim.summaries.moments import moments_of

__all__ = ["Whitening", "whiten", "whiten_again"]

Array = NDArray[np.float64]

# Deviations below this multiple of the rounding of the values are taken for rounding.
RANK_MARGIN = 8
PRECISE = 1e-8  # the error of a whitened covariance that needs no second whitening


@dataclass(frozen=True)
class Whitening:
    """z = K (x - mean), and x = mean + D z within the span of the components."""

    mean: Array  # (d,)
    matrix: Array  # K (k, d)
    inverse: Array  # D (d, k)
    total_variance: float  # of all columns
    n: float  # rows, or the sum of their weights
    rank: int  # numerical rank of the centered rows, of as many axes as were computed


def whiten(rows: Rows, weights: Array | None, options: PCAOptions) -> tuple[Whitening, Rows]:
    """The whitening of rows to `options.n_components` components, or fewer if None, and the whitened rows (n, k)."""
    axes = principal_axes(rows, weights, options)
    if axes.unit != 1:
        raise underflow_error()
    k, rank = _component_count(axes, rows, options.n_components)
    deviations = np.sqrt(axes.values[:k])
    vectors = axes.vectors[:, :k]
    found = Whitening(axes.mean, (vectors / deviations).T, vectors * deviations, axes.total, axes.n, rank)
    Z = _projected(rows, found, options.threads)
    error = float(np.finfo(rows.dtype).eps) * float(axes.values[0] / axes.values[k - 1])
    if error <= PRECISE:
        return found, Z
    second, Z = whiten_again(Z, weights, options.threads)
    mean = found.mean + found.inverse @ second.mean
    return replace(found, mean=mean, matrix=second.matrix @ found.matrix, inverse=found.inverse @ second.inverse), Z


def whiten_again(Z: Rows, weights: Array | None, threads: int) -> tuple[Whitening, Rows]:
    """The symmetric whitening of rows that are nearly white (n, k), as after rounding or resampling; and those rows."""
    moments = moments_of(Z, None, weights, threads)
    values, vectors = eigh(moments.covariance(ddof=0))
    if values[0] <= 0:
        raise NotEnoughData("the rows do not span all components. Ask for fewer components, or give more rows.")
    matrix, inverse = ((vectors * values**power) @ vectors.T for power in (-0.5, 0.5))
    found = Whitening(moments.mean, matrix, inverse, float(values.sum()), moments.n, len(values))
    return found, _projected(Z, found, threads)


def _projected(rows: Rows, whitening: Whitening, threads: int) -> Rows:
    """The whitened rows: kept if there is room for them and for the rows of a second whitening."""
    return projected_rows(Centered(rows, whitening.mean, None, None, threads), whitening.matrix.T)


def _component_count(axes: PrincipalAxes, rows: Rows, asked: Any) -> tuple[int, int]:
    """The number of components, and the numerical rank: no noise of rounding is blown up to unit variance."""
    k = axes.vectors.shape[1]
    rank = int((axes.values > _rounding_floor(axes, rows)).sum())
    if rank == 0:
        raise NotEnoughData("the rows do not vary (beyond rounding), so there is no component. Give rows that differ.")
    if asked is not None and k > rank:
        raise NotEnoughData(
            f"n_components={asked!r} gives {k} components, but the rows have the numerical rank {rank}. "
            f"Ask for at most {rank}, or for None, which takes as many as there are."
        )
    return min(k, rank), rank


def _rounding_floor(axes: PrincipalAxes, rows: Rows) -> float:
    """Variances up to this may be rounding: of the values, and of their squares where the axes come from those.

    Dense rows are solved again, by the SVD or in float64, where squares lose digits; sparse rows are not.
    Sparse rows are also centered within their products, which costs digits of the squared means.
    """
    eps = float(np.finfo(rows.dtype).eps)
    largest_square = float(axes.values[0]) + float(np.abs(axes.mean).max()) ** 2
    of_values = (RANK_MARGIN * eps) ** 2 * largest_square
    solved_again = rows.dtype == np.float32 and not rows.sparse and axes.solver != "krylov"
    if axes.solver == "svd" or solved_again:
        return of_values
    squares = axes.total + (float(axes.mean @ axes.mean) if rows.sparse else 0.0)
    return max(of_values, RANK_MARGIN * eps * squares)
