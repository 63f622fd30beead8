"""Out-of-sample extension of MDS: each new row where its own loss against the fixed embedding is least."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim import _native
from lowdim.data.rows import Rows
from lowdim.data.validation import overflow_error
from lowdim.distance.condensed import binary_unit
from lowdim.errors import BadInput
from lowdim.knn.blockwise import Blocks
from lowdim.mds.disparities import apply_disparity_curve
from lowdim.runtime.blas import single_blas
from lowdim.runtime.progress import report

__all__ = ["MAX_ITER", "FixedEmbedding", "embed_new_rows", "squared_range_least_squares"]

Array = NDArray[Any]

MAX_ITER = 1000
N_NEAREST = 5  # fixed points whose weighted mean a new one starts from
BLOCK_VALUES = 1 << 22  # distances, or coordinates, in memory at once
BISECTIONS = 128  # far more than the digits of the root, which is tiny where only rounding acts
FLAT_RATIO = 1e-5  # of the largest singular value: the embedding does not fill its dimensions
SQUARE_TOL = 1e-13  # of a squared distance: rounding
STEP_TOL = {4: 1e-6, 8: 1e-9}  # by bytes, of the embedding's size: converged when a step is shorter


@dataclass(frozen=True)
class FixedEmbedding:
    """A fitted embedding, which does not change when new rows are added."""

    embedding: Array  # (n, k)
    curve: Array | None  # from distance to disparity
    loss: str


def embed_new_rows(rows: Rows, distances: Blocks, fixed: FixedEmbedding, threads: int) -> tuple[Array, int]:
    """Positions (m, k) of new rows at these distances from the fitted ones, and how many did not converge."""
    out, unconverged = np.empty((rows.count, fixed.embedding.shape[1]), dtype=rows.dtype), 0
    size = max(1, BLOCK_VALUES // len(fixed.embedding))
    with single_blas(), np.errstate(over="ignore", invalid="ignore", under="ignore"):
        for begin in range(0, rows.count, size):
            end = min(rows.count, begin + size)
            out[begin:end], moving = _embed_block(distances(begin, end), begin, fixed, threads)
            unconverged += moving
            report("embedding new rows", end, rows.count)
    if not np.isfinite(out).all():
        raise overflow_error()
    return out, unconverged


def _embed_block(distances: Array, first: int, fixed: FixedEmbedding, threads: int) -> tuple[Array, int]:
    """Positions of new rows, numbered from `first`; one at distance zero from a fitted row gets its position."""
    embedding, targets = fixed.embedding, apply_disparity_curve(distances, fixed.curve)
    known = ~np.isnan(targets)
    if not known.any(axis=1).all():
        i = first + int(np.argmin(known.any(axis=1)))
        raise BadInput(f"row {i} of the new ones has no known distance at all, so it can't be embedded.")
    to_fitted = np.where(known, distances, np.inf)
    positions, moving = np.empty((len(targets), embedding.shape[1])), np.zeros(len(targets), dtype=bool)
    units = np.array([binary_unit(largest) for largest in np.nanmax(np.abs(targets), axis=1).tolist()])
    for unit in np.unique(units):  # each row in its own, so that its position does not depend on the rows beside it
        own = units == unit
        ranges = np.where(known[own], targets[own], 0) / unit
        found = _in_unit(to_fitted[own], ranges.astype(targets.dtype), known[own], fixed, unit, threads)
        positions[own], moving[own] = found
    nearest = np.argmin(to_fitted, axis=1)
    coincident = to_fitted[np.arange(len(to_fitted)), nearest] == 0
    moving &= ~coincident
    out = positions.astype(embedding.dtype)
    out[coincident] = embedding[nearest[coincident]]
    return out, int(moving.sum())


def _in_unit(
    distances: Array, ranges: Array, known: Array, fixed: FixedEmbedding, unit: float, threads: int
) -> tuple[Array, Array]:
    """Positions of rows whose ranges to the fixed points are in this unit, and which of them did not converge."""
    points, squares = fixed.embedding.astype(np.float64) / unit, ranges.astype(np.float64) ** 2
    if fixed.loss == "sstress":
        return squared_range_least_squares(points, squares, known) * unit, np.zeros(len(ranges), dtype=bool)
    # From within a line that holds the whole embedding, majorization can't leave it.
    extent = np.linalg.svd(points - points.mean(axis=0), compute_uv=False)
    flat = len(extent) < points.shape[1] or extent[-1] <= FLAT_RATIO * extent[0]
    positions = squared_range_least_squares(points, squares, known) if flat else _nearest_means(distances, points)
    weights = None if known.all() else known.astype(ranges.dtype)
    moving = _majorize(positions, points, ranges, weights, threads)
    return positions * unit, moving


def _majorize(positions: Array, points: Array, ranges: Array, weights: Array | None, threads: int) -> Array:
    """SMACOF of each new row against the fixed points, in place; returns which rows did not converge."""
    Y = np.ascontiguousarray(points.T, dtype=ranges.dtype)
    converged = np.zeros(len(positions), dtype=np.uint8)
    tol = STEP_TOL[ranges.dtype.itemsize] * (float(np.abs(points).max(initial=0.0)) + 1)
    _native.mds_out_of_sample(Y, np.ascontiguousarray(ranges), weights, MAX_ITER, tol, positions, converged, threads)
    return converged == 0


def _nearest_means(distances: Array, points: Array) -> Array:
    """Means of the nearest fixed points, weighted by inverse distance; each row by itself."""
    count = min(N_NEAREST, distances.shape[1])
    near = np.argsort(distances, axis=1, kind="stable")[:, :count]
    d = np.take_along_axis(distances, near, axis=1).astype(np.float64)
    first = d[:, :1]
    weights = np.where(np.isfinite(d), (first + np.finfo(float).tiny) / (d + np.finfo(float).tiny), 0.0)
    return np.ascontiguousarray((weights[:, :, None] * points[near]).sum(axis=1) / weights.sum(axis=1)[:, None])


def squared_range_least_squares(points: Array, squares: Array, known: Array) -> Array:
    """Positions y (m, k) at the global minimum of Σ_j (|y - a_j|² - δ_j²)², over the known of the squares δ² (m, n)."""
    size = max(1, len(squares) if known.all() else BLOCK_VALUES // points.size)
    out = np.empty((len(squares), points.shape[1]))
    for start in range(0, len(squares), size):
        part = slice(start, start + size)
        out[part] = _squared_range_least_squares(points, squares[part], known[part])
    return out


def _squared_range_least_squares(points: Array, squares: Array, known: Array) -> Array:
    """SR-LS: the root of one decreasing function per row (Beck, Stoica and Li 2008).

    Relative to the mean of the n known points a_j, with c_j = |a_j|² - δ_j², the loss is a constant and
    n|y|⁴ + 2 yᵀ(2M + γ)y - 4 b·y, where M = Σ a_j a_jᵀ, γ = Σ c_j and b = Σ c_j a_j. It is least where (λ + 2M) y = b
    for the λ = γ + n|y|² that makes λ + 2M positive semidefinite.
    """
    weights = np.ones((1, len(points))) if known.all() else known.astype(np.float64)  # one M for all rows, or one each
    n = weights.sum(axis=1, keepdims=True)
    mean = weights @ points / n
    centered = weights[:, :, None] * (points - mean[:, None, :])
    excess = np.where(known, (centered**2).sum(axis=2) - squares, 0.0)  # c
    gamma = excess.sum(axis=1, keepdims=True)
    eigenvalues, axes = np.linalg.eigh(2 * np.matmul(centered.transpose(0, 2, 1), centered))
    lowest, above = eigenvalues[:, :1], eigenvalues - eigenvalues[:, :1]
    b = np.matmul(excess[:, None, :], np.matmul(centered, axes))[:, 0]  # along the axes

    def solution(root: Array) -> Array:
        """The y of λ = root - lowest, along the axes."""
        return np.divide(b, root + above, out=np.zeros_like(b), where=root + above > 0)

    def required_square(root: Array) -> Array:
        return (root - lowest - gamma) / n

    # The root is λ + lowest; beyond `upper`, |y|² is less than it would have to be.
    upper = np.maximum(2 * (gamma + lowest), np.cbrt(2 * n * (b**2).sum(axis=1, keepdims=True)))
    low, high = np.zeros_like(upper), upper
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        short = (solution(middle) ** 2).sum(axis=1, keepdims=True) > required_square(middle)
        low, high = np.where(short, middle, low), np.where(short, high, middle)
    y = solution(high)
    free = (high <= upper * 2.0 ** (8 - BISECTIONS))[:, 0]  # b vanishes along the lowest axis: either sign will do
    rest = required_square(high)[:, 0] - (y[:, 1:] ** 2).sum(axis=1)
    y[free, 0] = np.sqrt(np.where(rest > SQUARE_TOL * (1 + squares.max(axis=1)), rest, 0.0))[free]
    return np.matmul(axes, y[:, :, None])[:, :, 0] + mean
