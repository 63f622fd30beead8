"""New points among fixed ones, by majorisation of their own stress."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim import _native
from lowdim.errors import BadInput
from lowdim.summaries.pairs import binary_unit

__all__ = ["bend", "place"]

Array = NDArray[Any]

NEAREST = 5  # fixed points in whose middle a new one starts
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


def place(targets: Array, distances: Array, embedding: Array, loss: str, steps: int, threads: int) -> tuple[Array, int]:
    """Places (m, k) of rows with these targets (m, n), and how many of them had not come to rest."""
    known = ~np.isnan(targets)
    if not known.any(axis=1).all():
        i = int(np.argmin(known.any(axis=1)))
        raise BadInput(f"row {i} of the new ones has no known distance at all, so it has no place.")
    unit = binary_unit(float(np.nanmax(np.abs(targets), initial=0.0)))
    fixed = embedding.astype(np.float64) / unit
    wanted = np.where(known, targets, 0).astype(np.float64) / unit
    places = _middles(np.where(known, distances, np.inf), fixed)
    weights = None if known.all() else known.astype(targets.dtype)
    if loss == "sstress":
        moving = _descend_sstress(places, fixed, wanted, known, steps)
    else:
        moving = _majorise(places, fixed, wanted.astype(targets.dtype), weights, steps, threads)
    same = np.where(known, distances, np.inf)
    nearest = np.argmin(same, axis=1)
    on_it = same[np.arange(len(same)), nearest] == 0
    moving &= ~on_it
    out = (places * unit).astype(embedding.dtype)
    out[on_it] = embedding[nearest[on_it]]
    return out, int(moving.sum())


def _majorise(places: Array, fixed: Array, wanted: Array, weights: Array | None, steps: int, threads: int) -> Array:
    y = np.ascontiguousarray(fixed.T, dtype=wanted.dtype)
    settled = np.zeros(len(places), dtype=np.uint8)
    tol = REST[wanted.dtype.itemsize] * (float(np.abs(fixed).max(initial=0.0)) + 1)
    _native.place_rows(y, np.ascontiguousarray(wanted), weights, steps, tol, places, settled, threads)
    return settled == 0


def _middles(distances: Array, fixed: Array) -> Array:
    """The middle of the nearest fixed points, the nearer the heavier; each row by itself."""
    count = min(NEAREST, distances.shape[1])
    near = np.argsort(distances, axis=1, kind="stable")[:, :count]
    d = np.take_along_axis(distances, near, axis=1).astype(np.float64)
    first = d[:, :1]
    share = np.where(np.isfinite(d), (first + np.finfo(float).tiny) / (d + np.finfo(float).tiny), 0.0)
    return np.ascontiguousarray((share[:, :, None] * fixed[near]).sum(axis=1) / share.sum(axis=1)[:, None])


def _descend_sstress(places: Array, fixed: Array, wanted: Array, known: Array, steps: int) -> Array:
    """Damped Newton steps on Σ_j (|y - y_j|² - δ_j²)² of each row; `places` change. Returns who still moved."""
    moving = np.ones(len(places), dtype=bool)
    tol = REST[8] * (float(np.abs(fixed).max(initial=0.0)) + 1)
    identity = np.eye(fixed.shape[1])
    for i in range(len(places)):
        y, anchors, squares, damping = places[i], fixed[known[i]], wanted[i, known[i]] ** 2, 0.0

        def state(at: Array, anchors: Array = anchors, squares: Array = squares) -> tuple[float, Array, Array]:
            gaps = at - anchors
            excess = (gaps**2).sum(axis=1) - squares
            return float(excess @ excess), gaps, excess

        loss, gaps, excess = state(y)
        for _ in range(steps):
            gradient = 4 * excess @ gaps
            hessian = 8 * gaps.T @ gaps + 4 * excess.sum() * identity
            lift = max(0.0, 1e-9 * float(np.trace(gaps.T @ gaps)) - float(np.linalg.eigvalsh(hessian)[0])) + damping
            step = np.linalg.solve(hessian + (lift + 1e-300) * identity, -gradient)
            if np.linalg.norm(step) <= tol:
                moving[i] = False
                break
            new = state(y + step)
            if new[0] < loss:
                y, damping = y + step, damping / 4
                loss, gaps, excess = new
            else:
                damping = max(4 * damping, 1e-3 * float(np.trace(gaps.T @ gaps)))
        places[i] = y
    return moving
