"""Projection of wide rows on their leading principal axes, where an approximate search is cheaper."""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

from lowdim.data.rows import ArrayRows
from lowdim.distance.metrics import SQUARES
from lowdim.knn.recall_sample import SAMPLED, RecallSample, stratified_sample, true_neighbors
from lowdim.knn.search_space import SearchSpace
from lowdim.linalg.centered import Centered
from lowdim.runtime.random import normal
from lowdim.runtime.threads import interruptible

__all__ = ["principal_projection"]

PROJECTED_COLUMNS = (64, 96, 128)  # of a projection; the first that keeps the neighbors of the sample near is taken
LEAST_SAVING = 1.5  # rows of less than so many times as many columns are searched as they are
PROJECTION_ROWS = 4096  # that the axes are found from
POWER_ITERATIONS = 3
OVERSAMPLING = 2  # lists are up to so many times longer in a projection, which blurs distances
MARGIN = 0.004  # by which the recall of an exact search in a projection must exceed the recall asked for
AXES = 3  # stream of random numbers


def principal_projection(
    space: SearchSpace, sample: RecallSample, target: float, seed: int
) -> tuple[SearchSpace | None, int]:
    """The rows projected on the leading principal axes of a sample of them, and how long lists must be there.

    None where that would save little, or where too many of the true neighbors of the sample are not near there.
    """
    n, d, k = space.n, space.work.shape[1], sample.truth.k
    most = [columns for columns in PROJECTED_COLUMNS if LEAST_SAVING * columns <= d]
    if space.kernel != SQUARES or not most:
        return None, k
    rows = stratified_sample(n, min(n, PROJECTION_ROWS), seed, SAMPLED)
    part = np.ascontiguousarray(space.work[rows], dtype=np.float32)
    mean = part.mean(axis=0, dtype=np.float64)
    part -= mean.astype(np.float32)
    start = normal((d, most[-1]), seed, AXES, np.float32)
    axes = interruptible(lambda: _leading_axes(part, start))
    whole = Centered(ArrayRows(space.work), mean, None, None, space.threads).times(axes)
    for columns in most:
        work = whole[:, :columns]
        projection = dataclasses.replace(space, work=work, source=work, shift=None)
        near = true_neighbors(projection, sample.rows, min(n - 1, OVERSAMPLING * k)).indices
        for length in range(k + max(1, k // 3), near.shape[1] + 1, max(1, k // 6)):
            if sample.contained(near[:, :length]) >= min(target + MARGIN, 1.0):
                return projection, length
    return None, k


def _leading_axes(P: NDArray[np.float32], V: NDArray[np.float32]) -> NDArray[np.float32]:
    """Rough leading eigenvectors of PᵀP, largest first, by orthogonal iteration from a start V."""
    for _ in range(POWER_ITERATIONS):
        V = np.linalg.qr(P.T @ (P @ V))[0]
    scores = P @ V
    return np.ascontiguousarray((V @ np.linalg.eigh(scores.T @ scores)[1])[:, ::-1])
