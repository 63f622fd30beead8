"""Classical (Torgerson) scaling of distances, with Lingoes's and Cailliez's corrections for non-Euclidean ones."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lowdim.decomposition.gram_eigen import (
    choose_gram_solver,
    gram_scores,
    largest_of_gram,
    positive_sum,
    smallest_of_gram,
)
from lowdim.distance.condensed import safe_factor
from lowdim.linalg.double_centering import double_center
from lowdim.runtime.memory import require_memory
from lowdim.runtime.threads import interruptible
from lowdim.summaries.gram import Gram
from lowdim.summaries.kernel_sources import PrecomputedKernel

__all__ = ["ClassicalScaling", "corrected_squares", "goodness_of_fit", "scale_distances"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class ClassicalScaling:
    """Principal coordinates of a distance matrix, and the coefficients of Gower's formula for new rows."""

    points: Array  # (n, k)
    values: Array  # eigenvalues: all by the dense solver, else the k largest and the smallest
    alphas: Array  # (n, k): a new row with g = -½δ² has the coordinates (g - means) alphas (Gower's formula)
    means: Array  # (n,)
    trace: float
    total: float  # the sum of the positive eigenvalues
    converged: bool
    unit: float = 1.0  # of the distances in all of these: a power of two in which squares do not overflow or vanish
    constant: float = 0.0  # the additive constant of the correction, in this unit


def scale_distances(
    D: Array, k: int | None, *, weights: Array | None, correction: str | None, threads: int, seed: int
) -> ClassicalScaling:
    """Classical scaling of distances (n, n), corrected first if asked for and they are not Euclidean."""
    factor = safe_factor(D)
    D, constant = _corrected(D if factor == 1 else D * D.dtype.type(factor), correction, threads, seed)
    found = _scale_gram(_gram_of_distances(D, weights, threads), k, seed)
    return replace(found, unit=1 / factor, constant=constant)


def _scale_gram(gram: Gram, k: int | None, seed: int) -> ClassicalScaling:
    """Classical scaling of a matrix of -½d²; all dimensions of positive variance if k is None."""
    n = gram.n
    dense = choose_gram_solver(n, n if k is None else k) == "dense"
    if dense:
        found = largest_of_gram(gram, n, solver="dense")
        values = found.values
    else:
        assert k is not None
        found = largest_of_gram(gram, k, solver="lanczos", seed=seed)
        values = np.append(found.values, smallest_of_gram(gram, float(found.values[0]), seed))
    wanted = values[: max(1, int((values > gram.rounding).sum())) if k is None else k]
    positive = np.where(wanted > gram.rounding, wanted, 0.0)
    points, alphas = gram_scores(gram, positive, found.vectors[:, : len(positive)])
    total = positive_sum(gram, found.values, seed)
    return ClassicalScaling(points, values, alphas, gram.means, gram.trace, total, found.converged)


def _corrected(D: Array, correction: str | None, threads: int, seed: int) -> tuple[Array, float]:
    """Distances made Euclidean by an additive constant between different rows, and the constant (0 if they are).

    Lingoes's √(d² + 2c) turns the double-centered matrix B into B + cH, so c is minus its smallest eigenvalue. Rows are
    not weighted here: whether distances are Euclidean does not depend on weights.
    """
    if correction is None:
        return D, 0.0
    deficit = _negative_eigenvalue(_gram_of_distances(D, None, threads), seed)
    if not deficit:
        return D, 0.0
    constant = deficit if correction == "lingoes" else cailliez_constant(D.astype(np.float64))
    out = _add_constant(D, correction, constant)
    np.fill_diagonal(out, 0)
    return out, constant


def _negative_eigenvalue(gram: Gram, seed: int) -> float:
    """Minus the smallest eigenvalue, or zero if it is negative by rounding only."""
    if choose_gram_solver(gram.n, 1) == "dense":
        values = largest_of_gram(gram, gram.n, solver="dense").values
        largest, smallest = float(values[0]), float(values[-1])
    else:
        largest = float(largest_of_gram(gram, 1, solver="lanczos", seed=seed).values[0])
        smallest = smallest_of_gram(gram, largest, seed)
    rounding = gram.n * float(np.finfo(gram.dtype).eps) * max(largest, -smallest)
    return -smallest if smallest < -rounding else 0.0


def cailliez_constant(distances: Array) -> float:
    """The least c for which d + c between different rows is Euclidean: the largest real eigenvalue of a 2n × 2n matrix.

    Cailliez (1983).
    """
    n = len(distances)
    require_memory(3 * 8 * (2 * n) ** 2, f"Cailliez's constant for {n} rows", "Use correction='lingoes'.")
    plain, squared = (double_center(distances**p) for p in (1, 2))
    M = np.block([[np.zeros((n, n)), 2 * squared], [-np.eye(n), -4 * plain]])
    values = interruptible(lambda: np.linalg.eigvals(M))
    return max(0.0, float(values.real[np.abs(values.imag) <= 1e-8 * np.abs(values).max()].max()))


def corrected_squares(distances: Array, unit: float, correction: str | None, constant: float) -> Array:
    """-½d² of new rows with the fitted correction. A row at distance zero from a fitted one coincides with it.

    Of several fitted rows at distance zero it coincides with the first: the correction has moved them apart. All but
    the distances is in the unit of the fit.
    """
    distances = distances if unit == 1 else distances / distances.dtype.type(unit)
    if not constant:
        return _minus_half_squares(distances)
    out = _minus_half_squares(_add_constant(distances, correction, constant))
    rows, nearest = np.arange(len(distances)), np.argmin(distances, axis=1)
    rounding = 8 * np.finfo(distances.dtype).eps * distances.max(axis=1, initial=0.0)
    coincides = distances[rows, nearest] <= rounding
    out[rows[coincides], nearest[coincides]] = 0
    return out


def _add_constant(distances: Array, correction: str | None, constant: float) -> Array:
    if correction == "lingoes":
        return np.sqrt(np.square(distances) + distances.dtype.type(2 * constant))
    return distances + distances.dtype.type(constant)


def goodness_of_fit(found: ClassicalScaling, k: int) -> Array:
    """Sum of the k largest eigenvalues relative to that of all absolute values, and to that of the positive ones.

    Mardia (1978). For large matrices the sum of the positive ones is an estimate; the trace gives that of the others.
    """
    kept = float(np.maximum(found.values[:k], 0).sum())
    positive = max(found.total, kept)
    absolute = max(2 * positive - found.trace, positive)
    return np.array([kept / absolute if absolute > 0 else 1.0, kept / positive if positive > 0 else 1.0])


def _minus_half_squares(distances: Array) -> Array:
    """-½d², entry by entry."""
    out = np.square(distances)
    out *= out.dtype.type(-0.5)
    return out


def _gram_of_distances(D: Array, weights: Array | None, threads: int) -> Gram:
    """The Gram matrix of classical scaling, -½ H D² H, centered implicitly."""
    return Gram(PrecomputedKernel(D, _minus_half_squares), weights, threads)
