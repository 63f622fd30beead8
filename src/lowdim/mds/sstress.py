"""SSTRESS, Σ w (d² - δ²)², minimized by L-BFGS: a polynomial of degree four along every line.

Limited-memory BFGS gives the direction. The exact step along it is a root of a cubic, so no step size is guessed and
no iteration raises the loss.
"""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim import _native
from lowdim.distance.condensed import Pairs
from lowdim.mds.smacof import MDSOptions, MDSResult
from lowdim.runtime.progress import report

__all__ = ["minimize_sstress", "sstress_gradient"]

Array = NDArray[Any]
Corrections = deque[tuple[Array, Array, float]]  # (s, y, s·y): step, change of the gradient, curvature

MEMORY = 12  # correction pairs of L-BFGS


def sstress_gradient(pairs: Pairs, embedding: Array, threads: int) -> tuple[float, Array]:
    """SSTRESS of an embedding (n, k) and its gradient."""
    Y = np.ascontiguousarray(embedding.T, dtype=pairs.distances.dtype)
    out = np.empty(embedding.shape)
    loss = _native.stress_pass(Y, pairs.distances, pairs.weights, None, True, out, threads)[0]
    return loss, 4 * out


def minimize_sstress(pairs: Pairs, start: Array, options: MDSOptions) -> MDSResult:
    """L-BFGS from `start` (n, k)."""
    total = float(pairs.distances.astype(np.float64) ** 4 @ _weights(pairs))
    current = np.asarray(start, dtype=np.float64) - start.mean(axis=0)
    loss, gradient = sstress_gradient(pairs, current, options.threads)
    path, memory, converged = [loss], Corrections(maxlen=MEMORY), False
    for iteration in range(1, options.max_iter + 1):
        direction = _direction(gradient, memory)
        step = _exact_step(pairs, current, direction, options.threads) * direction
        new_loss, new_gradient = sstress_gradient(pairs, current + step, options.threads)
        report("L-BFGS", iteration, options.max_iter, loss=new_loss)
        if not new_loss < loss:  # no decrease is possible in this precision
            if not memory:
                converged = True
                break
            memory.clear()  # along the gradient itself, perhaps
            continue
        decrease, change = loss - new_loss, new_gradient - gradient
        curvature = float((step * change).sum())
        if curvature > 0:
            memory.append((step, change, curvature))
        current, loss, gradient = current + step, new_loss, new_gradient
        path.append(loss)
        if decrease <= options.tol * total:
            converged = True
            break
    return MDSResult(current, loss, np.array(path), iteration, converged)


def _direction(gradient: Array, memory: Corrections) -> Array:
    """Minus the approximate inverse Hessian times the gradient, by Nocedal's two-loop recursion."""
    out, alphas = -gradient, []
    for step, change, curvature in reversed(memory):
        alpha = float((step * out).sum()) / curvature
        alphas.append(alpha)
        out = out - alpha * change
    if memory:
        step, change, curvature = memory[-1]
        out = out * (curvature / float((change * change).sum()))
    for (step, change, curvature), alpha in zip(memory, reversed(alphas), strict=True):
        out = out + (alpha - float((change * out).sum()) / curvature) * step
    return out


def _exact_step(pairs: Pairs, embedding: Array, direction: Array, threads: int) -> float:
    """The minimum of the loss along a line: the best real root of the derivative of a quartic."""
    dtype = pairs.distances.dtype
    size = float(np.abs(direction).max()) or 1.0
    Y, P = (np.ascontiguousarray(part.T, dtype=dtype) for part in (embedding, direction / size))
    line = np.polynomial.Polynomial(_native.sstress_line(Y, P, pairs.distances, pairs.weights, threads))
    roots = line.deriv().roots()
    real = np.real(roots[np.abs(np.imag(roots)) <= 1e-8 * (1 + np.abs(roots))])
    return float(real[np.argmin(line(real))]) / size if len(real) else 0.0


def _weights(pairs: Pairs) -> Array:
    weights = np.ones(len(pairs.distances)) if pairs.weights is None else pairs.weights
    return weights.astype(np.float64, copy=False)
