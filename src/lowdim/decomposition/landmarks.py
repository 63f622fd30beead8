"""Landmarks: a sample of rows, drawn uniformly or by k-means++ in a kernel's feature space."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import NotEnoughData
from lowdim.kernels import Kernel
from lowdim.kernels._row_blocks import Table
from lowdim.runtime.blas import single_blas
from lowdim.summaries.kernel_sources import ComputedKernel

__all__ = ["draw_landmarks", "uniform_landmarks"]

Indices = NDArray[np.int64]

ROUNDS = 32  # the landmarks of a round are compared with the candidates in one product
CANDIDATES = 8  # per landmark


def draw_landmarks(rows: Table, kernel: Kernel, count: int, how: str, seed: int) -> Indices:
    """Indices of `count` rows, ascending: "uniform", or "kmeans++", which draws rows far from one another."""
    if how == "uniform":
        return uniform_landmarks(rows.shape[0], count, seed)
    return kmeans_plus_plus_landmarks(rows, kernel, count, seed)


def uniform_landmarks(n: int, count: int, seed: int) -> Indices:
    """Indices of `count` of n rows, drawn uniformly without replacement, ascending."""
    if count > n:
        raise NotEnoughData(f"n_landmarks={count} must be at most the number of rows, {n}. Ask for fewer.")
    return np.sort(np.random.default_rng(seed).choice(n, count, replace=False))


def kmeans_plus_plus_landmarks(rows: Table, kernel: Kernel, count: int, seed: int) -> Indices:
    """Indices of rows drawn by k-means++ seeding: with probability ∝ squared distance to the nearest landmark.

    Distances are those of the feature space. Landmarks are drawn in rounds, from a uniform sample of candidates.
    """
    n = rows.shape[0]
    sample = uniform_landmarks(n, max(count, min(n, CANDIDATES * count)), seed)
    rng = np.random.default_rng([seed % 2**63, 1])
    candidates = ComputedKernel(rows[sample], kernel)
    diagonal = candidates.diagonal().astype(np.float64)
    nearest = np.full(len(sample), np.inf)  # squared distance to the nearest landmark
    drawn = [int(rng.integers(len(sample)))]
    last = drawn
    with single_blas():
        while len(drawn) < count:
            inner = candidates.cross(candidates.rows.rows[last]).astype(np.float64)  # (landmarks, candidates)
            squares = diagonal + diagonal[last, None] - 2 * inner
            nearest = np.minimum(nearest, np.maximum(squares, 0).min(axis=0))
            nearest[drawn] = 0
            size = min(count - len(drawn), max(1, count // ROUNDS))
            last = _draw(nearest, size, drawn, rng)
            drawn = drawn + last
    return np.sort(sample[drawn])


def _draw(weights: NDArray[np.float64], size: int, taken: list[int], rng: np.random.Generator) -> list[int]:
    """Distinct indices with probabilities ∝ weights; where too few are positive, the others uniformly."""
    possible = np.flatnonzero(weights)
    if len(possible) >= size:
        return [int(i) for i in rng.choice(len(weights), size, replace=False, p=weights / weights.sum())]
    others = np.setdiff1d(np.arange(len(weights)), np.concatenate([possible, taken]).astype(np.int64))
    rest = rng.choice(others, size - len(possible), replace=False)
    return [int(i) for i in (*possible, *rest)]
