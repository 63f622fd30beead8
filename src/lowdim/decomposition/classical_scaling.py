"""Classical scaling: from distances to points, with what may be done where distances are not Euclidean."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lowdim.decomposition.gram_eigen import choose_solver, scores_of_gram, smallest_of_gram, top_of_gram
from lowdim.distance.condensed import safe_factor
from lowdim.linalg.double_centering import double_center
from lowdim.runtime.memory import require_memory
from lowdim.runtime.threads import uninterrupted
from lowdim.summaries.gram import Given, Gram

__all__ = [
    "Scaling",
    "cailliez_constant",
    "corrected_squares",
    "goodness_of_fit",
    "gram_of_distances",
    "minus_half_squares",
    "scale",
    "scale_distances",
]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Scaling:
    """Points whose inner products are nearest to what the distances say, and how to place others."""

    points: Array  # (n, k)
    values: Array  # eigenvalues that are known: all by the dense way, else the k largest and the smallest
    alphas: Array  # (n, k): a new row with g = -½δ² lies at (g - means) alphas (Gower's formula)
    means: Array  # (n,)
    trace: float
    complete: bool  # whether all eigenvalues are known
    converged: bool
    unit: float = 1.0  # of the distances behind all of these: a power of two in which their squares are safe
    constant: float = 0.0  # of the correction, in this unit


def scale_distances(
    D: Array, k: int | None, *, weights: Array | None, correction: str | None, threads: int, seed: int
) -> Scaling:
    """Classical scaling of distances (n, n), corrected if that is wished for and they are not Euclidean."""
    factor = safe_factor(D)
    D, constant = _corrected(D if factor == 1 else D * D.dtype.type(factor), correction, threads, seed)
    found = scale(gram_of_distances(D, weights, threads), k, seed)
    return replace(found, unit=1 / factor, constant=constant)


def scale(gram: Gram, k: int | None, seed: int) -> Scaling:
    """Classical scaling of a matrix of -½d²; all dimensions that vary if k is None."""
    n = gram.n
    dense = choose_solver(n, n if k is None else k) == "dense"
    if dense:
        found = top_of_gram(gram, n, solver="dense")
        values = found.values
    else:
        assert k is not None
        found = top_of_gram(gram, k, solver="lanczos", seed=seed)
        values = np.append(found.values, smallest_of_gram(gram, float(found.values[0]), seed))
    wanted = values[: max(1, int((values > gram.rounding).sum())) if k is None else k]
    sizes = np.where(wanted > gram.rounding, wanted, 0.0)
    points, alphas = scores_of_gram(gram, sizes, found.vectors[:, : len(sizes)])
    return Scaling(points, values, alphas, gram.means, gram.trace, dense, found.converged)


def _corrected(D: Array, correction: str | None, threads: int, seed: int) -> tuple[Array, float]:
    """Distances made Euclidean by a constant between different rows, and the constant: none if they are already.

    Lingoes's √(d² + 2c) makes the centred matrix B + cH, so c is minus its smallest eigenvalue. Rows count once,
    whatever their weights: whether distances are Euclidean does not depend on them.
    """
    if correction is None:
        return D, 0.0
    lacking = _negative_part(gram_of_distances(D, None, threads), seed)
    if not lacking:
        return D, 0.0
    constant = lacking if correction == "lingoes" else cailliez_constant(D.astype(np.float64))
    out = _lengthened(D, correction, constant)
    np.fill_diagonal(out, 0)
    return out, constant


def _negative_part(gram: Gram, seed: int) -> float:
    """Minus the smallest eigenvalue, or zero if that is what rounding makes of zero."""
    if choose_solver(gram.n, 1) == "dense":
        values = top_of_gram(gram, gram.n, solver="dense").values
        largest, smallest = float(values[0]), float(values[-1])
    else:
        largest = float(top_of_gram(gram, 1, solver="lanczos", seed=seed).values[0])
        smallest = smallest_of_gram(gram, largest, seed)
    rounding = gram.n * float(np.finfo(gram.dtype).eps) * max(largest, -smallest)
    return -smallest if smallest < -rounding else 0.0


def cailliez_constant(distances: Array) -> float:
    """The least c for which d + c between different rows is Euclidean: an eigenvalue of a 2n × 2n matrix."""
    n = len(distances)
    require_memory(3 * 8 * (2 * n) ** 2, f"Cailliez's constant for {n} rows", "Use correction='lingoes'.")
    plain, squared = (double_center(distances**p) for p in (1, 2))
    M = np.block([[np.zeros((n, n)), 2 * squared], [-np.eye(n), -4 * plain]])
    values = uninterrupted(lambda: np.linalg.eigvals(M))
    return max(0.0, float(values.real[np.abs(values.imag) <= 1e-8 * np.abs(values).max()].max()))


def corrected_squares(distances: Array, unit: float, correction: str | None, constant: float) -> Array:
    """-½d² of new rows as the fitted map understands d: a row at no distance from a fitted one is that row itself.

    Of several fitted rows at no distance the first one counts, for they are apart on the map. All but the distances is
    in the unit of the map.
    """
    distances = distances if unit == 1 else distances / distances.dtype.type(unit)
    if not constant:
        return minus_half_squares(distances)
    out = minus_half_squares(_lengthened(distances, correction, constant))
    rows, nearest = np.arange(len(distances)), np.argmin(distances, axis=1)
    nothing = 8 * np.finfo(distances.dtype).eps * distances.max(axis=1, initial=0.0)
    itself = distances[rows, nearest] <= nothing
    out[rows[itself], nearest[itself]] = 0
    return out


def _lengthened(distances: Array, correction: str | None, constant: float) -> Array:
    if correction == "lingoes":
        return np.sqrt(np.square(distances) + distances.dtype.type(2 * constant))
    return distances + distances.dtype.type(constant)


def goodness_of_fit(found: Scaling, k: int) -> Array:
    """Share of the k largest eigenvalues in the sum of the sizes of all, and in the sum of the positive ones.

    Where only some are known, what the trace says of the rest makes both figures upper bounds.
    """
    values = found.values
    kept = float(np.maximum(values[:k], 0).sum())
    rest = 0.0 if found.complete else found.trace - float(values.sum())
    sizes = float(np.abs(values).sum()) + abs(rest)
    positive = float(np.maximum(values, 0).sum()) + max(rest, 0.0)
    return np.array([kept / sizes if sizes > 0 else 1.0, kept / positive if positive > 0 else 1.0])


def minus_half_squares(distances: Array) -> Array:
    """-½d², entry by entry."""
    out = np.square(distances)
    out *= out.dtype.type(-0.5)
    return out


def gram_of_distances(D: Array, weights: Array | None, threads: int) -> Gram:
    """The Gram whose centred form is classical scaling's matrix."""
    return Gram(Given(D, minus_half_squares), weights, threads)
