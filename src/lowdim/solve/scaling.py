"""Classical scaling: from distances to points, with what may be done where distances are not Euclidean."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput
from lowdim.memory import require_memory
from lowdim.solve.gram import choose_solver, smallest_of_gram, top_of_gram
from lowdim.summaries.gram import Given, Gram
from lowdim.threads import uninterrupted

__all__ = [
    "Scaling",
    "cailliez_constant",
    "check_distances",
    "corrected_squares",
    "goodness_of_fit",
    "gram_of_distances",
    "lengthened",
    "minus_half_squares",
    "scale",
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
    constant: float  # of the correction
    complete: bool  # whether all eigenvalues are known


def scale(gram: Gram, k: int | None, correction: str | None, seed: int) -> Scaling:
    """Classical scaling of a matrix of -½d²; all dimensions that vary if k is None.

    Lingoes's d² + 2c makes the centred matrix B + cH: the same vectors, and every eigenvalue but that of
    the constant vector raised by c = -λ_min. (Cailliez's constant has gone into the distances already.)
    """
    n = gram.n
    dense = choose_solver(n, n if k is None else k) == "dense"
    if dense:
        found = top_of_gram(gram, n, solver="dense")
        values, vectors = found.values, found.vectors
    else:
        assert k is not None
        found = top_of_gram(gram, k, solver="lanczos", seed=seed)
        values = np.append(found.values, smallest_of_gram(gram, float(found.values[0]), seed))
        vectors = found.vectors
    constant = max(0.0, -float(values[-1])) if correction == "lingoes" else 0.0
    if constant:
        values, vectors = _raised(values, vectors, constant, gram, dense)
    wanted = values[: max(1, int((values > gram.rounding).sum())) if k is None else k]
    sizes = np.where(wanted > gram.rounding, wanted, 0.0)
    roots = np.sqrt(sizes)
    axes = vectors[:, : len(sizes)]
    weights = np.ones(n) if gram.weights is None else gram.weights
    counted = np.sqrt(weights)[:, None]
    points = axes * roots / counted
    alphas = np.divide(axes * counted, roots, out=np.zeros_like(axes), where=roots > 0)
    alphas -= gram.shares[:, None] * alphas.sum(axis=0)  # zero but for rounding
    return Scaling(points, values, alphas, gram.means, gram.trace + constant * (n - 1), constant, dense)


def _raised(values: Array, vectors: Array, constant: float, gram: Gram, dense: bool) -> tuple[Array, Array]:
    """Eigenpairs of B + cH: the constant vector, which H sends to zero, keeps its zero and moves to its place."""
    raised = values + constant
    if dense:
        still = int(np.argmax(np.abs(np.sqrt(gram.shares) @ vectors)))
        raised[still] = 0.0
        order = np.argsort(-raised, kind="stable")
        return raised[order], vectors[:, order]
    return raised, vectors


def cailliez_constant(distances: Array) -> float:
    """The least c for which d + c between different rows is Euclidean: an eigenvalue of a 2n × 2n matrix."""
    n = len(distances)
    require_memory(3 * 8 * (2 * n) ** 2, f"Cailliez's constant for {n} rows", "Use correction='lingoes'.")
    plain, squared = (_double_centred(distances**p) for p in (1, 2))
    M = np.block([[np.zeros((n, n)), 2 * squared], [-np.eye(n), -4 * plain]])
    values = uninterrupted(lambda: np.linalg.eigvals(M))
    return max(0.0, float(values.real[np.abs(values.imag) <= 1e-8 * np.abs(values).max()].max()))


def corrected_squares(distances: Array, correction: str | None, constant: float) -> Array:
    """-½d² of new rows as the fitted map understands d; a row at no distance from another is that row itself."""
    if not constant:
        return minus_half_squares(distances)
    if correction == "lingoes":
        out = minus_half_squares(distances) - distances.dtype.type(constant)
    else:
        out = minus_half_squares(distances + distances.dtype.type(constant))
    return np.where(distances > 0, out, 0)


def lengthened(distances: Array, constant: float) -> Array:
    """D + c between different rows (Cailliez)."""
    out = distances + distances.dtype.type(constant)
    np.fill_diagonal(out, 0)
    return out


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


def check_distances(D: Array) -> Array:
    """Distances that are not negative, and zero from each row to itself."""
    if (D < 0).any():
        raise BadInput("distances must not be negative; give distances, not their negatives or similarities.")
    if np.diagonal(D).any():
        raise BadInput("a distance from a row to itself must be zero; the diagonal has other values.")
    return D


def gram_of_distances(D: Array, weights: Array | None, threads: int) -> Gram:
    """The Gram whose centred form is classical scaling's matrix."""
    return Gram(Given(D, minus_half_squares), weights, threads)


def _double_centred(A: Array) -> Array:
    means = A.mean(axis=0)
    return -0.5 * (A - means - means[:, None] + means.mean())
