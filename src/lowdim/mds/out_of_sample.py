"""New points among fixed ones, each where its own loss is least."""

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
from lowdim.runtime.progress import report
from lowdim.runtime.threads import single_blas

__all__ = ["MOST_STEPS", "Ground", "bend", "least_sstress", "place_in_blocks"]

Array = NDArray[Any]

MOST_STEPS = 1000
NEAREST = 5  # fixed points in whose middle a new one starts
TABLE_VALUES = 1 << 22  # distances, or coordinates, that are held at once
HALVINGS = 128  # far more than the digits of the root, which is tiny where nothing but rounding pulls
FLAT = 1e-5  # of the longest extent of a map: it has no width
NOTHING = 1e-13  # of a square: rounding
REST = {4: 1e-6, 8: 1e-9}  # by bytes: a step shorter than this, of the map's size, is rest


def bend(distances: Array, curve: Array | None) -> Array:
    """Disparities of distances: on the curve between its corners, and in proportion beyond them."""
    if curve is None:
        return distances
    x, y = curve
    inside = np.interp(distances, x, y)
    below = y[0] * distances / x[0] if x[0] > 0 else y[0]
    beyond = y[-1] * distances / x[-1] if x[-1] > 0 else y[-1]
    out = np.where(distances < x[0], below, np.where(distances > x[-1], beyond, inside))
    return out.astype(distances.dtype)


@dataclass(frozen=True)
class Ground:
    """A fitted map that stays as it is."""

    embedding: Array  # (n, k)
    curve: Array | None  # from distance to disparity
    loss: str


def place_in_blocks(rows: Rows, distances: Blocks, ground: Ground, threads: int) -> tuple[Array, int]:
    """Places (m, k) of new rows at these distances, and how many of them had not come to rest."""
    out, restless = np.empty((rows.count, ground.embedding.shape[1]), dtype=rows.dtype), 0
    size = max(1, TABLE_VALUES // len(ground.embedding))
    with single_blas(), np.errstate(over="ignore", invalid="ignore", under="ignore"):
        for begin in range(0, rows.count, size):
            end = min(rows.count, begin + size)
            out[begin:end], moving = _place(distances(begin, end), begin, ground, threads)
            restless += moving
            report("placing rows", end, rows.count)
    if not np.isfinite(out).all():
        raise overflow_error()
    return out, restless


def _place(distances: Array, first: int, ground: Ground, threads: int) -> tuple[Array, int]:
    embedding, targets = ground.embedding, bend(distances, ground.curve)
    known = ~np.isnan(targets)
    if not known.any(axis=1).all():
        i = first + int(np.argmin(known.any(axis=1)))
        raise BadInput(f"row {i} of the new ones has no known distance at all, so it has no place.")
    unit = binary_unit(float(np.nanmax(np.abs(targets), initial=0.0)))
    fixed = embedding.astype(np.float64) / unit
    wanted = np.where(known, targets, 0).astype(np.float64) / unit
    weights = None if known.all() else known.astype(targets.dtype)
    if ground.loss == "sstress":
        places, moving = least_sstress(fixed, wanted**2, known), np.zeros(len(wanted), dtype=bool)
    else:
        # From within a line that holds the whole map, majorisation can't find the way to a place beside it.
        extent = np.linalg.svd(fixed - fixed.mean(axis=0), compute_uv=False)
        flat = len(extent) < fixed.shape[1] or extent[-1] <= FLAT * extent[0]
        near = np.where(known, distances, np.inf)
        places = least_sstress(fixed, wanted**2, known) if flat else _middles(near, fixed)
        moving = _majorise(places, fixed, wanted.astype(targets.dtype), weights, threads)
    same = np.where(known, distances, np.inf)
    nearest = np.argmin(same, axis=1)
    on_it = same[np.arange(len(same)), nearest] == 0
    moving &= ~on_it
    out = (places * unit).astype(embedding.dtype)
    out[on_it] = embedding[nearest[on_it]]
    return out, int(moving.sum())


def _majorise(places: Array, fixed: Array, wanted: Array, weights: Array | None, threads: int) -> Array:
    y = np.ascontiguousarray(fixed.T, dtype=wanted.dtype)
    settled = np.zeros(len(places), dtype=np.uint8)
    tol = REST[wanted.dtype.itemsize] * (float(np.abs(fixed).max(initial=0.0)) + 1)
    _native.mds_out_of_sample(y, np.ascontiguousarray(wanted), weights, MOST_STEPS, tol, places, settled, threads)
    return settled == 0


def _middles(distances: Array, fixed: Array) -> Array:
    """The middle of the nearest fixed points, the nearer the heavier; each row by itself."""
    count = min(NEAREST, distances.shape[1])
    near = np.argsort(distances, axis=1, kind="stable")[:, :count]
    d = np.take_along_axis(distances, near, axis=1).astype(np.float64)
    first = d[:, :1]
    share = np.where(np.isfinite(d), (first + np.finfo(float).tiny) / (d + np.finfo(float).tiny), 0.0)
    return np.ascontiguousarray((share[:, :, None] * fixed[near]).sum(axis=1) / share.sum(axis=1)[:, None])


def least_sstress(fixed: Array, squares: Array, known: Array) -> Array:
    """The places (m, k) where Σ_j (|y - y_j|² - δ_j²)², over the known of the squares δ² (m, n), is least of all."""
    size = max(1, len(squares) if known.all() else TABLE_VALUES // fixed.size)
    out = np.empty((len(squares), fixed.shape[1]))
    for start in range(0, len(squares), size):
        part = slice(start, start + size)
        out[part] = _least_sstress(fixed, squares[part], known[part])
    return out


def _least_sstress(fixed: Array, squares: Array, known: Array) -> Array:
    """By the root of one falling function a row (Beck, Stoica and Li 2008).

    Seen from the mean of the n known points a_j, with c_j = |a_j|² - δ_j², the loss is a constant and
    n|y|⁴ + 2 yᵀ(2M + γ)y - 4 b·y, where M = Σ a_j a_jᵀ, γ = Σ c_j and b = Σ c_j a_j. It is least where (λ + 2M) y = b
    for the λ = γ + n|y|² that leaves no direction of λ + 2M below zero.
    """
    weights = np.ones((1, len(fixed))) if known.all() else known.astype(np.float64)  # one M for all rows, or one each
    n = weights.sum(axis=1, keepdims=True)
    mean = weights @ fixed / n
    points = weights[:, :, None] * (fixed - mean[:, None, :])
    excess = np.where(known, (points**2).sum(axis=2) - squares, 0.0)
    level = excess.sum(axis=1, keepdims=True)
    spread, axes = np.linalg.eigh(2 * np.matmul(points.transpose(0, 2, 1), points))
    lowest, above = spread[:, :1], spread - spread[:, :1]
    pull = np.matmul(excess[:, None, :], np.matmul(points, axes))[:, 0]  # b along the axes

    def along_axes(root: Array) -> Array:
        return np.divide(pull, root + above, out=np.zeros_like(pull), where=root + above > 0)

    def wanted_square(root: Array) -> Array:
        return (root - lowest - level) / n

    # The root is λ + lowest; beyond `most`, |y|² is less than it would have to be.
    most = np.maximum(2 * (level + lowest), np.cbrt(2 * n * (pull**2).sum(axis=1, keepdims=True)))
    low, high = np.zeros_like(most), most
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        short = (along_axes(middle) ** 2).sum(axis=1, keepdims=True) > wanted_square(middle)
        low, high = np.where(short, middle, low), np.where(short, high, middle)
    y = along_axes(high)
    idle = (high <= most * 2.0 ** (8 - HALVINGS))[:, 0]  # nothing pulls along the lowest axis: either side will do
    left = wanted_square(high)[:, 0] - (y[:, 1:] ** 2).sum(axis=1)
    y[idle, 0] = np.sqrt(np.where(left > NOTHING * (1 + squares.max(axis=1)), left, 0.0))[idle]
    return np.matmul(axes, y[:, :, None])[:, :, 0] + mean
