"""SSTRESS, Σ w (d² - δ²)²: a polynomial of degree four in the map, and along every line.

Limited-memory BFGS gives the direction; the best step on it is the root of a cubic, so no step is guessed and
none raises the loss.
"""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim import _native
from lowdim.distance.condensed import Pairs
from lowdim.mds.smacof import Layout, Steps
from lowdim.runtime.progress import report

__all__ = ["minimise_sstress", "sstress_gradient"]

Array = NDArray[Any]

MEMORY = 12  # steps that the curvature is learnt from


def sstress_gradient(pairs: Pairs, points: Array, threads: int) -> tuple[float, Array]:
    """The loss of a map (n, k) and its gradient."""
    y = np.ascontiguousarray(points.T, dtype=pairs.distances.dtype)
    out = np.empty(points.shape)
    loss = _native.stress_pass(y, pairs.distances, pairs.weights, None, True, out, threads)[0]
    return loss, 4 * out


def minimise_sstress(pairs: Pairs, start: Array, steps: Steps) -> Layout:
    """The map that descent reaches from `start` (n, k)."""
    total = float(pairs.distances.astype(np.float64) ** 4 @ _weights(pairs))
    current = np.asarray(start, dtype=np.float64) - start.mean(axis=0)
    loss, gradient = sstress_gradient(pairs, current, steps.threads)
    path, seen, converged = [loss], deque[tuple[Array, Array, float]](maxlen=MEMORY), False
    for step in range(1, steps.max_iter + 1):
        direction = _direction(gradient, seen)
        move = _best_step(pairs, current, direction, steps.threads) * direction
        after, slope = sstress_gradient(pairs, current + move, steps.threads)
        report("descending SSTRESS", step, steps.max_iter, loss=after)
        if not after < loss:  # it can't be made smaller in this precision
            if not seen:
                converged = True
                break
            seen.clear()  # along the bare gradient, perhaps
            continue
        fell, turn = loss - after, slope - gradient
        curvature = float((move * turn).sum())
        if curvature > 0:
            seen.append((move, turn, curvature))
        current, loss, gradient = current + move, after, slope
        path.append(loss)
        if fell <= steps.tol * total:
            converged = True
            break
    return Layout(current, loss, np.array(path), step, converged)


def _direction(gradient: Array, seen: deque[tuple[Array, Array, float]]) -> Array:
    """Minus the inverse curvature times the gradient (the two-loop recursion of Nocedal)."""
    out, shares = -gradient, []
    for move, turn, curvature in reversed(seen):
        share = float((move * out).sum()) / curvature
        shares.append(share)
        out = out - share * turn
    if seen:
        move, turn, curvature = seen[-1]
        out = out * (curvature / float((turn * turn).sum()))
    for (move, turn, curvature), share in zip(seen, reversed(shares), strict=True):
        out = out + (share - float((turn * out).sum()) / curvature) * move
    return out


def _best_step(pairs: Pairs, points: Array, direction: Array, threads: int) -> float:
    """Where the loss is least on a line: the best real root of its derivative."""
    dtype = pairs.distances.dtype
    size = float(np.abs(direction).max()) or 1.0
    y, p = (np.ascontiguousarray(part.T, dtype=dtype) for part in (points, direction / size))
    line = np.polynomial.Polynomial(_native.sstress_line(y, p, pairs.distances, pairs.weights, threads))
    roots = line.deriv().roots()
    real = np.real(roots[np.abs(np.imag(roots)) <= 1e-8 * (1 + np.abs(roots))])
    return float(real[np.argmin(line(real))]) / size if len(real) else 0.0


def _weights(pairs: Pairs) -> Array:
    weights = np.ones(len(pairs.distances)) if pairs.weights is None else pairs.weights
    return weights.astype(np.float64, copy=False)
