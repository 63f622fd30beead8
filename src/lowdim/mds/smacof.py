"""SMACOF: stress made smaller by majorisation, in one pass over the pairs a step (de Leeuw 1977).

A step goes to the Guttman transform of the map, V⁺ B(Y) Y, and as far again beyond it (de Leeuw and Heiser 1980),
after the best change of scale, which a pass tells for nothing. No such step raises the stress.
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
from lowdim.runtime.threads import uninterrupted

__all__ = [
    "Layout",
    "Steps",
    "along_axes",
    "majorise",
    "majorise_in_stages",
    "require_connected",
    "stress_by_point",
    "weight_solver",
]

Array = NDArray[Any]
Solver = Callable[[Array], Array]

SLACK = {4: 1e-6, 8: 1e-11}  # by bytes: rises of the stress that are rounding
MOST_HALVINGS = 10
FEW_ROWS = 512  # their pairs are read from the cache anyway
ROUGH_TOL = 1e-7  # of Σ w δ²: smaller gains drown in single precision


@dataclass(frozen=True)
class Steps:
    """When to stop, on how many threads to work, and whether to go beyond the Guttman transform."""

    max_iter: int
    tol: float
    threads: int
    relaxed: bool = True


@dataclass(frozen=True)
class Layout:
    """A map (n, k) in the unit of the pairs, its loss, and the loss of every step on the way."""

    points: Array
    loss: float
    path: Array = field(default_factory=lambda: np.empty(0))
    n_iter: int = 0
    converged: bool = True
    fit: Disparities | None = None  # that the loss was taken against


def majorise_in_stages(pairs: Pairs, start: Array, disparities: Disparities, steps: Steps, solve: Solver) -> Layout:
    """The same, of many pairs in single precision first: half the memory to read, and the last steps put it right."""
    if pairs.distances.dtype == np.float32 or pairs.n <= FEW_ROWS:
        return majorise(pairs, start, disparities, steps, solve)
    rough, rough_steps = pairs.to_float32(), replace(steps, tol=max(steps.tol, ROUGH_TOL))
    first = majorise(rough, start, disparities.narrow(rough), rough_steps, solve)
    left = steps.max_iter - first.n_iter
    if left <= 0:
        return replace(first, converged=first.converged and steps.tol >= ROUGH_TOL)
    rest = majorise(pairs, first.points, disparities, replace(steps, max_iter=left), solve)
    path = np.concatenate([first.path, rest.path])
    return replace(rest, path=path, n_iter=first.n_iter + rest.n_iter)


def majorise(pairs: Pairs, start: Array, disparities: Disparities, steps: Steps, solve: Solver) -> Layout:
    """The map that majorisation reaches from `start` (n, k)."""
    dtype, total = pairs.distances.dtype, pairs.sum_of_squares
    current = np.asarray(start, dtype=np.float64) - start.mean(axis=0)
    pulled, moved = np.empty_like(current), np.zeros_like(current)
    kept, path, halvings, converged, beyond = current, [np.inf], 0, False, False
    for step in range(1, steps.max_iter + 1):
        y = np.ascontiguousarray(current.T, dtype=dtype)
        targets = disparities.update(y, steps.threads)
        stress, squares, drift = _native.pull_pairs(
            y, targets, pairs.weights, disparities.ranking, False, pulled, steps.threads
        )
        if squares <= 0:  # all points in one place: nothing pulls
            return Layout(current, stress, np.array([*path[1:], stress]), step, total <= 0)
        scale = max(1 - drift / squares, np.finfo(dtype).eps) if steps.relaxed else 1.0
        stress = max(stress - (1 - scale) * (2 * drift - (1 - scale) * squares), 0.0)
        report("majorising stress", step, steps.max_iter, stress=float(np.sqrt(stress / total)))
        if stress > path[-1] * (1 + SLACK[dtype.itemsize]) and halvings < MOST_HALVINGS:
            current, halvings = (current + kept) / 2, halvings + 1  # disparities below zero, or rounding
            continue
        if stress > path[-1]:
            converged = True  # it can't be made smaller in this precision
            break
        fell = path[-1] - stress
        path.append(stress)
        kept, halvings = scale * current, 0
        rested = fell <= steps.tol * total
        if rested and not beyond:
            converged = True
            break
        # Where the transform leaps to its goal, as on a line, going beyond it swings about it for ever: no step that
        # turns back goes beyond, and rest is believed only after one that does not.
        move = solve(pulled) - kept
        beyond = steps.relaxed and not rested and float((move * moved).sum()) >= 0
        moved = 2 * move if beyond else move
        current = kept + moved
    return Layout(kept, path[-1], np.array(path[1:]), step, converged)


def weight_solver(pairs: Pairs) -> Solver:
    """What takes B(Y) Y to the Guttman transform: V⁺, or 1 / n without weights."""
    n = pairs.n
    if pairs.weights is None:
        return lambda pulled: pulled / n
    require_memory(3 * 8 * n * n, f"the weights of all pairs of {n} rows", "Use fewer rows.")
    V = np.zeros((n, n))
    for i in range(n - 1):
        V[i, i + 1 :] = V[i + 1 :, i] = -pairs.weights[pairs.row(i)].astype(np.float64)
    require_connected(V != 0)
    mean = float(pairs.weights.mean())
    V[np.diag_indices(n)] = -V.sum(axis=1)
    try:
        factor = uninterrupted(lambda: scipy.linalg.cho_factor(V + mean, overwrite_a=True, check_finite=False))
    except scipy.linalg.LinAlgError as error:
        raise BadInput(
            "some rows are tied to the others by weights so small, beside the largest, that rounding loses them. "
            "Raise these weights, or map such rows by themselves."
        ) from error
    return lambda pulled: scipy.linalg.cho_solve(factor, pulled, check_finite=False)


def require_connected(known: Array) -> None:
    """Refuse pairs (n, n) that say nothing of how far some groups of rows are from the others."""
    groups = sp.csgraph.connected_components(sp.csr_array(known), directed=False)[0]
    if groups > 1:
        raise BadInput(
            f"the pairs that have a distance fall apart into {groups} groups of rows, and nothing says how far these "
            "are from each other. Give at least one distance between them, or map each by itself."
        )


def along_axes(points: Array) -> Array:
    """A map turned onto its principal axes, its middle at the origin, signs by the shared rule."""
    centred = points - points.mean(axis=0)
    _, axes = np.linalg.eigh(centred.T @ centred)
    return fix_signs(centred @ axes[:, ::-1])


def stress_by_point(pairs: Pairs, points: Array, targets: Array, threads: int, squared: bool = False) -> Array:
    """Σ_j w (d̂ - d)² of every point (or of their squares), in double precision; it sums to twice the loss."""
    parts = np.empty(len(targets))
    _native.map_distances(np.ascontiguousarray(points.T, dtype=np.float64), None, parts, threads)
    out = np.zeros(pairs.n)
    for i in range(pairs.n - 1):
        at = pairs.row(i)
        gaps, wanted = parts[at], targets[at]
        if squared:
            gaps *= gaps
            wanted = wanted.astype(np.float64) ** 2
        gaps -= wanted
        gaps *= gaps
        if pairs.weights is not None:
            gaps *= pairs.weights[at]
        out[i] += gaps.sum()
        out[i + 1 :] += gaps
    return out
