"""Maximization over orthonormal frames: the Stiefel manifold of A (r, k) with AᵀA = I.

With a gradient: steepest ascent along the tangent space with Barzilai-Borwein step sizes (Wen and Yin 2013) and a
monotone line search. Without one: random search along geodesics whose step size adapts to success.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count, islice

import numpy as np

from lowdim.linear.projection_pursuit.indices import Array, Objective
from lowdim.runtime.random import normal

__all__ = ["Ascent", "ascend", "maximize", "random_frame", "retract", "tangent"]

FIRST_ANGLE, MOST_ANGLE = 0.2, 1.0  # of a step, in radians
ARMIJO = 1e-4
TINY = float(np.finfo(float).tiny)
HALVINGS = 30
CALM_STEPS = 3  # with next to no gain, until it counts as converged
GROWTH, SHRINKAGE = 1.6, 0.85  # of the random search's step, after success and failure: steady at one success in four
TRIAL_STREAM = 1 << 50  # of random numbers: not that of a start, whose tangent is zero
TRIALS_PER_STEP = 20  # of the random search, for every step along a gradient


@dataclass(frozen=True)
class Ascent:
    """The frame that an ascent reached, the values on its way, and whether it converged."""

    frame: Array  # (r, k)
    path: Array  # (steps + 1,) values of the index
    converged: bool

    @property
    def value(self) -> float:
        """The value of the index."""
        return float(self.path[-1])


def random_frame(r: int, k: int, seed: int, stream: int) -> Array:
    """A uniformly distributed frame (r, k)."""
    return _orthonormalize(normal((r, k), seed, stream))


def tangent(A: Array, gradient: Array) -> Array:
    """The gradient's projection on the tangent space of the manifold at A: G - A sym(AᵀG)."""
    inner = A.T @ gradient
    return gradient - A @ ((inner + inner.T) / 2)


def retract(A: Array, step: Array) -> Array:
    """A + step, made orthonormal by QR."""
    return _orthonormalize(A + step)


def maximize(
    objective: Objective, start: Array, max_iter: int, tol: float, seed: int, told: Callable[[float], None]
) -> Ascent:
    """Ascend from a frame until it converges, or for max_iter steps (or 20 times as many random trials)."""
    limit = max_iter if objective(start)[1] is not None else max_iter * TRIALS_PER_STEP
    path, steps = [], ascend(objective, start, tol, seed)
    frame = start
    for frame, value in islice(steps, limit + 1):  # noqa: B007  (the last one is returned)
        path.append(value)
        told(value)
    return Ascent(frame, np.array(path), next(steps, None) is None)


def ascend(objective: Objective, start: Array, tol: float, seed: int) -> Iterator[tuple[Array, float]]:
    """Frames of an ascent and their values, from the start on.

    It ends when steps gain less than tol times the value, or when random trials have become too small to gain.
    """
    if objective(start)[1] is None:
        return _random_search(objective, start, tol, seed)
    return _gradient_ascent(objective, start, tol)


def _gradient_ascent(objective: Objective, A: Array, tol: float) -> Iterator[tuple[Array, float]]:
    value, gradient = objective(A)
    yield A, value
    assert gradient is not None
    D = tangent(A, gradient)
    step, calm = FIRST_ANGLE / max(_norm(D), TINY), 0
    while calm < CALM_STEPS:
        norm = _norm(D)
        if norm <= TINY:
            return
        step = min(step, MOST_ANGLE / norm)
        for _ in range(HALVINGS):
            B = retract(A, step * D)
            reached, gradient = objective(B)
            if reached >= value + ARMIJO * step * norm**2:
                break
            step /= 2
        else:
            return  # stationary, to rounding
        assert gradient is not None
        E = tangent(B, gradient)
        moved, turned = B - A, D - E
        curvature = float(np.vdot(moved, turned))
        step = float(np.vdot(moved, moved)) / curvature if curvature > 0 else 4 * step
        calm = calm + 1 if reached - value <= tol * abs(reached) else 0
        A, D, value = B, E, reached
        yield A, value


def _random_search(objective: Objective, A: Array, tol: float, seed: int) -> Iterator[tuple[Array, float]]:
    """Tries ± a random tangent direction; yields after every trial, until the angle of a step falls below √tol."""
    value, angle = objective(A)[0], FIRST_ANGLE
    yield A, value
    for trial in count():
        if angle < np.sqrt(tol):
            return
        D = tangent(A, normal(A.shape, seed, TRIAL_STREAM + trial))
        norm = _norm(D)
        if norm <= TINY:  # a single frame
            return
        tried = [retract(A, sign * angle / norm * D) for sign in (1.0, -1.0)]
        values = [objective(B)[0] for B in tried]
        best = int(values[1] > values[0])
        if values[best] > value:
            A, value, angle = tried[best], values[best], min(GROWTH * angle, MOST_ANGLE)
        else:
            angle *= SHRINKAGE
        yield A, value


def _norm(A: Array) -> float:
    return math.sqrt(float(np.vdot(A, A)))


def _orthonormalize(A: Array) -> Array:
    """Q of A = QR with a positive diagonal of R, by Gram and Schmidt: quicker than LAPACK for so few columns."""
    Q = A.copy()
    for j in range(A.shape[1]):
        q, before = Q[:, j], Q[:, :j]
        if j:
            q -= before @ (q @ before)
            q -= before @ (q @ before)
        norm = math.sqrt(float(q @ q))
        if norm <= TINY:
            return np.asarray(np.linalg.qr(A)[0])
        q /= norm
    return Q
