"""FastICA (Hyvärinen, 1999): a fixed-point iteration for directions whose sources are farthest from Gaussian.

    w ← E[ψ(wᵀz) z] - E[ψ'(wᵀz)] w,  then orthonormalized

All directions at once with symmetric decorrelation ("parallel"), or one after the other ("deflation").
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lowdim.linear.ica.contrast import Unmixing, WhitenedRows, nearest_orthogonal
from lowdim.runtime.progress import report

__all__ = ["deflation", "fastica"]

Array = NDArray[np.float64]


def fastica(rows: WhitenedRows, W: Array, fun: str, tol: float, max_iter: int) -> Unmixing:
    """All directions at once from the start W (k, k), until no direction turns: 1 - |cos| ≤ tol."""
    for step in range(1, max_iter + 1):
        moments = rows.contrast(W, fun)
        new = nearest_orthogonal(moments.cross - moments.slope[:, None] * W)
        change = _change(new, W)
        W = new
        report("FastICA", step, max_iter, change=change)
        if change <= tol:
            return Unmixing(W, step, True)
    return Unmixing(W, max_iter, False)


def deflation(rows: WhitenedRows, W: Array, fun: str, tol: float, max_iter: int) -> Unmixing:
    """One direction after the other from the rows of W (k, k), each orthogonal to those before it."""
    k = len(W)
    found, steps, converged = np.zeros((k, k)), 0, True
    for i in range(k):
        w, used, settled = _direction(rows, W[i], found[:i], fun, tol, max_iter)
        found[i], steps, converged = w, max(steps, used), converged and settled
        report("FastICA by deflation", i + 1, k)
    return Unmixing(found, steps, converged)


def _direction(
    rows: WhitenedRows, start: Array, before: Array, fun: str, tol: float, max_iter: int
) -> tuple[Array, int, bool]:
    """One direction, its number of steps, and whether it converged."""
    w = _orthonormalized(start, before)
    for step in range(1, max_iter + 1):
        moments = rows.contrast(w[None], fun)
        new = _orthonormalized(moments.cross[0] - moments.slope[0] * w, before)
        change, w = _change(new[None], w[None]), new
        report("FastICA, one direction", step, max_iter, change=change)
        if change <= tol or len(before) == len(w) - 1:  # the last direction is what the others leave
            return w, step, True
    return w, max_iter, False


def _orthonormalized(w: Array, before: Array) -> Array:
    """W without its part in the span of earlier directions, of unit length."""
    for _ in range(2):  # the second time takes off what rounding left
        w = w - before.T @ (before @ w)
        length = float(np.linalg.norm(w))
        w = w / length if length > 0 else w
    return w


def _change(new: Array, old: Array) -> float:
    """The largest 1 - |cos| between the rows of two matrices."""
    return float(np.abs(np.abs(np.einsum("ij,ij->i", new, old)) - 1).max())
