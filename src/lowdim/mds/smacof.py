"""SMACOF: stress minimized by majorization, in one pass over the pairs per iteration (de Leeuw 1977).

An iteration moves to the Guttman transform of the embedding, V⁺ B(Y) Y, and as far again beyond it (the relaxed update
of de Leeuw and Heiser 1980), after the best change of scale, which costs no further pass. No iteration raises the
stress.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim import _native
from lowdim.distance.condensed import Pairs
from lowdim.errors import BadInput
from lowdim.linalg.dense_eigen import fix_signs
from lowdim.mds.disparities import Disparities
from lowdim.runtime.memory import require_memory
from lowdim.runtime.progress import report
from lowdim.runtime.threads import interruptible

__all__ = [
    "BLOCK_VALUES",
    "MDSOptions",
    "MDSResult",
    "guttman_solver",
    "majorize",
    "majorize_in_stages",
    "principal_orientation",
    "require_connected",
    "stress_per_point",
]

Array = NDArray[Any]
Solver = Callable[[Array], Array]

RISE_TOL = {4: 1e-6, 8: 1e-11}  # by bytes: relative rises of the stress that are rounding
MAX_HALVINGS = 10
BLOCK_VALUES = 1 << 19  # distances in memory at once
ONE_STAGE_ROWS = 512  # their pairs stay in the cache anyway
FLOAT32_TOL = 1e-7  # of Σ w δ²: smaller decreases are lost in single precision


@dataclass(frozen=True)
class MDSOptions:
    """When to stop, the number of threads, and whether to use relaxed updates (beyond the Guttman transform)."""

    max_iter: int
    tol: float
    threads: int
    relaxed: bool = True


@dataclass(frozen=True)
class MDSResult:
    """An embedding (n, k) in the unit of the pairs, its loss, and the loss of every iteration."""

    embedding: Array
    loss: float
    path: Array = field(default_factory=lambda: np.empty(0))
    n_iter: int = 0
    converged: bool = True
    disparities: Disparities | None = None  # that the loss was computed with


def majorize_in_stages(
    pairs: Pairs, start: Array, disparities: Disparities, options: MDSOptions, guttman: Solver
) -> MDSResult:
    """SMACOF in single precision first, for many pairs: half the memory traffic; double precision finishes it."""
    if pairs.distances.dtype == np.float32 or pairs.n <= ONE_STAGE_ROWS:
        return majorize(pairs, start, disparities, options, guttman)
    single, first_options = pairs.to_float32(), replace(options, tol=max(options.tol, FLOAT32_TOL))
    first = majorize(single, start, disparities.to_float32(single), first_options, guttman)
    left = options.max_iter - first.n_iter
    if left <= 0:
        return replace(first, converged=first.converged and options.tol >= FLOAT32_TOL)
    rest = majorize(pairs, first.embedding, disparities, replace(options, max_iter=left), guttman)
    path = np.concatenate([first.path, rest.path])
    return replace(rest, path=path, n_iter=first.n_iter + rest.n_iter)


def majorize(pairs: Pairs, start: Array, disparities: Disparities, options: MDSOptions, guttman: Solver) -> MDSResult:
    """SMACOF from `start` (n, k)."""
    dtype, total = pairs.distances.dtype, pairs.sum_of_squares
    current = np.asarray(start, dtype=np.float64) - start.mean(axis=0)
    product, last_move = np.empty_like(current), np.zeros_like(current)
    accepted, path, halvings, converged, relaxed = current, [np.inf], 0, False, False
    for iteration in range(1, options.max_iter + 1):
        Y = np.ascontiguousarray(current.T, dtype=dtype)
        targets = disparities.update(Y, options.threads)
        stress, squares, drift = _native.stress_pass(  # product = B(Y) Y
            Y, targets, pairs.weights, disparities.ranking, False, product, options.threads
        )
        if squares <= 0:  # all points coincide, and the Guttman transform leaves them there
            return MDSResult(current, stress, np.array([*path[1:], stress]), iteration, total <= 0)
        scale = max(1 - drift / squares, np.finfo(dtype).eps) if options.relaxed else 1.0  # the best scale
        stress = max(stress - (1 - scale) * (2 * drift - (1 - scale) * squares), 0.0)
        report("SMACOF", iteration, options.max_iter, stress=float(np.sqrt(stress / total)))
        if stress > path[-1] * (1 + RISE_TOL[dtype.itemsize]) and halvings < MAX_HALVINGS:
            current, halvings = (current + accepted) / 2, halvings + 1  # negative disparities, or rounding
            continue
        if stress > path[-1]:
            converged = True  # no decrease is possible in this precision
            break
        decrease = path[-1] - stress
        path.append(stress)
        accepted, halvings = scale * current, 0
        small = decrease <= options.tol * total
        if small and not relaxed:
            converged = True
            break
        # Where the Guttman transform reaches its fixed point in one step, as in one dimension, relaxed updates would
        # oscillate about it for ever: a step that turns back is not relaxed, and only an unrelaxed one can converge.
        move = guttman(product) - accepted
        relaxed = options.relaxed and not small and float((move * last_move).sum()) >= 0
        last_move = 2 * move if relaxed else move
        current = accepted + last_move
    return MDSResult(accepted, path[-1], np.array(path[1:]), iteration, converged)


def guttman_solver(pairs: Pairs) -> Solver:
    """V⁺, which takes B(Y) Y to the Guttman transform; V is the Laplacian of the weights, n H without weights."""
    n = pairs.n
    if pairs.weights is None:
        return lambda product: product / n
    require_memory(3 * 8 * n * n, f"the weights of all pairs of {n} rows", "Use fewer rows.")
    V = np.zeros((n, n))
    for i in range(n - 1):
        V[i, i + 1 :] = V[i + 1 :, i] = -pairs.weights[pairs.row(i)].astype(np.float64)
    require_connected(V != 0)
    mean = float(pairs.weights.mean())
    V[np.diag_indices(n)] = -V.sum(axis=1)
    try:
        factor = interruptible(lambda: scipy.linalg.cho_factor(V + mean, overwrite_a=True, check_finite=False))
    except scipy.linalg.LinAlgError as error:
        raise BadInput(
            "some rows are connected to the others by weights so small, relative to the largest, that rounding loses "
            "them. Increase these weights, or embed such rows separately."
        ) from error
    return lambda product: scipy.linalg.cho_solve(factor, product, check_finite=False)


def require_connected(known: Array) -> None:
    """Refuse known pairs (n, n) whose graph has several components: their mutual distances are undetermined."""
    count = sp.csgraph.connected_components(sp.csr_array(known), directed=False)[0]
    if count > 1:
        raise BadInput(
            f"the known distances connect the rows into {count} separate components, and nothing determines the "
            "distances between these. Give at least one distance between them, or embed each separately."
        )


def principal_orientation(embedding: Array) -> Array:
    """An embedding centered and rotated to its principal axes, signs by the shared rule."""
    centered = embedding - embedding.mean(axis=0)
    _, axes = np.linalg.eigh(centered.T @ centered)
    return fix_signs(centered @ axes[:, ::-1])


def stress_per_point(pairs: Pairs, embedding: Array, targets: Array, threads: int, squared: bool = False) -> Array:
    """Σ_j w (d̂ - d)² per point (`squared`: of their squares), in double precision; it sums to twice the loss."""
    Y, n = np.ascontiguousarray(embedding, dtype=np.float64), pairs.n
    size, out = max(1, BLOCK_VALUES // n), np.zeros(n)
    for i in range(n - 1):
        if i % size == 0:  # all distances at once would take more memory than the pairs themselves
            distances = np.empty((min(size, n - i), n))
            _native.cross_distances(Y[i : i + size], Y, 0, True, 1.0, distances, threads)
        row = pairs.row(i)
        residuals, target = distances[i % size, i + 1 :], targets[row]
        if squared:
            residuals *= residuals
            target = target.astype(np.float64) ** 2
        residuals -= target
        residuals *= residuals
        if pairs.weights is not None:
            residuals *= pairs.weights[row]
        out[i] += residuals.sum()
        out[i + 1 :] += residuals
    return out
