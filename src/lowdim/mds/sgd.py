"""Stress by stochastic gradient descent (Zheng, Pawar and Goodman 2018), in memory proportional to the rows alone.

Distances are computed when they are needed. In an epoch the rows are shuffled into blocks, and every block is paired
with some others in the rounds of a round-robin tournament. The two rows of a pair move towards their distance by the
same fraction of the residual, the step size, which decays from epoch to epoch. The pairs depend on the seed alone, and
no two threads update the same row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim import _native
from lowdim.distance.pairwise import MetricRows
from lowdim.mds.smacof import BLOCK_VALUES, MDSResult
from lowdim.runtime.progress import report

__all__ = ["SGDSchedule", "sgd", "sgd_converged", "stress_by_blocks"]

Array = NDArray[Any]

BLOCK = 64  # rows
MAX_ROUNDS = 12  # blocks that a block is paired with per epoch; a few rows are shuffled and paired again
FIRST_STEP_SIZE = {"random": 0.25, "informed": 0.02}  # of the residual, by the kind of start
LAST_STEP_SIZE = 1.5  # divided by the pairs of a row per epoch: about the mean update, as in an iteration of SMACOF
REL_TOL = 0.02  # of the stress: converged when the last epoch changes it by less
ABS_TOL = 1e-4  # of Σ d²: a change that can't be seen
SAMPLING_NOISE = 3.0  # divided by the rows, of the stress: how much the sampled pairs change its estimate


@dataclass(frozen=True)
class SGDSchedule:
    """Number of epochs, seed, and the kind of start: "random", or "informed" (near a solution already)."""

    n_epochs: int
    seed: int
    start: str


def sgd(source: MetricRows | Array, start: Array, schedule: SGDSchedule, unit: float, threads: int) -> MDSResult:
    """Stochastic gradient descent from `start` (n, k); `source` is rows with a metric, or a distance matrix."""
    n_epochs, first_step_size = schedule.n_epochs, FIRST_STEP_SIZE[schedule.start]
    table, kernel, root, scale, params = _native_source(source)
    n = len(table)
    Y = np.ascontiguousarray(start, dtype=table.dtype)
    size = min(BLOCK, -(-n // 2))
    blocks = -(-n // size)
    tournament = blocks + blocks % 2 - 1  # rounds in which every two blocks are paired once
    rounds = min(tournament, MAX_ROUNDS)
    shuffles = -(-MAX_ROUNDS // rounds)
    last_step_size = min(first_step_size, LAST_STEP_SIZE / (rounds * shuffles * size))
    rng = np.random.Generator(np.random.Philox(key=schedule.seed))
    path = []
    for epoch in range(n_epochs):
        step_size = first_step_size * (last_step_size / first_step_size) ** (epoch / max(n_epochs - 1, 1))
        sampled = 0.0  # stress of the sampled pairs
        for _ in range(shuffles):
            order = rng.permutation(n).astype(np.int32)
            for number in rng.permutation(tournament)[:rounds]:
                sampled += _native.mds_sgd_round(
                    table, kernel, root, scale / unit, order, size, step_size, int(number), Y, threads, params
                )
        path.append(sampled * tournament / (rounds * shuffles))
        report("stochastic gradient descent", epoch + 1, n_epochs, stress=sampled)
    embedding = Y.astype(np.float64)
    embedding -= embedding.mean(axis=0)
    return MDSResult(embedding, path[-1], np.array(path), n_epochs, sgd_converged(path, embedding))


def sgd_converged(path: list[float], embedding: Array) -> bool:
    """Whether the last epoch changed the stress by no more than what the choice of pairs may."""
    n = len(embedding)
    squares = n * float((embedding**2).sum())  # Σ d² over all pairs
    change = abs(path[-2] - path[-1]) if len(path) > 1 else np.inf
    return bool(change <= max((REL_TOL + SAMPLING_NOISE / n) * path[-1], ABS_TOL * squares))


def stress_by_blocks(source: MetricRows | Array, embedding: Array, unit: float, threads: int) -> tuple[Array, float]:
    """Σ_j (δ - d)² per point over all pairs, block by block; and Σ δ² over i < j."""
    table, kernel, root, scale, params = _native_source(source)
    n = len(table)
    per_point, total = np.zeros(n), 0.0
    size = max(1, BLOCK_VALUES // n)
    Y = np.ascontiguousarray(embedding, dtype=np.float64)
    for begin in range(0, n, size):
        end = min(n, begin + size)
        distances = np.empty((end - begin, n))
        _native.cross_distances(Y[begin:end], Y, 0, True, 1.0, distances, threads)
        if kernel < 0:
            dissimilarities = table[begin:end] / table.dtype.type(unit)
        else:
            dissimilarities = np.empty((end - begin, n), dtype=table.dtype)
            part = table[begin:end]
            _native.cross_distances(part, table, kernel, root, scale / unit, dissimilarities, threads, params)
        residuals = np.nan_to_num(distances - dissimilarities)  # NaN: a missing distance
        per_point[begin:end] = np.einsum("ij,ij->i", residuals, residuals)
        total += float(np.nansum(dissimilarities.astype(np.float64) ** 2)) / 2
        report("computing stress", end, n)
    return per_point, total


def _native_source(source: MetricRows | Array) -> tuple[Array, int, int, float, Array | None]:
    """Table, kernel (-1: the table holds distances), root, scale and parameters, as the native functions take them."""
    if isinstance(source, MetricRows):
        assert source.kernel is not None
        return source.table, source.kernel, source.metric.root, source.scale, source.params
    return source, -1, 0, 1.0, None
