"""Stress by stochastic descent, with distances measured when they are needed: memory grows with the rows alone.

In an epoch the rows are shuffled into parties, and every party meets some others in the rounds of a tournament. Two
rows that meet go towards their distance, both by the same share of the gap (Zheng, Pawar and Goodman 2018); the
share falls from epoch to epoch. Who meets whom depends on the seed alone, and no two threads touch one row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim import _native
from lowdim.distance.pairwise import PreparedRows
from lowdim.mds.smacof import Layout
from lowdim.runtime.progress import report

__all__ = ["Schedule", "descend", "measured_stress"]

Array = NDArray[Any]

PARTY = 64
MOST_ROUNDS = 12  # parties that a party meets in an epoch, at least as often for few rows
FIRST_SHARE = {"rough": 0.25, "good": 0.02}  # of the gap, by how good the start is
LAST_SHARE = 1.5  # over the meetings of a row in an epoch: the mean of its wishes, as in a step of majorisation
SETTLED = 0.02  # of the stress: an epoch that changes less has nothing more to gain
NOTHING = 1e-4  # of Σ d²: nobody sees such a change
LUCK = 3.0  # over the rows, of the stress: what it changes by who happens to meet whom
BLOCK_VALUES = 1 << 22


@dataclass(frozen=True)
class Schedule:
    """How many epochs, which seed, and whether the start is already a map ("good") or only points ("rough")."""

    epochs: int
    seed: int
    start: str


def descend(source: PreparedRows | Array, start: Array, schedule: Schedule, unit: float, threads: int) -> Layout:
    """The map that meetings reach from `start` (n, k). `source` is measured rows, or a square table of distances."""
    epochs, first_share = schedule.epochs, FIRST_SHARE[schedule.start]
    table, kernel, root, scale = _how(source)
    n = len(table)
    y = np.ascontiguousarray(start, dtype=table.dtype)
    size = min(PARTY, -(-n // 2))
    parties = -(-n // size)
    ring = parties + parties % 2 - 1
    rounds = min(ring, MOST_ROUNDS)
    shuffles = -(-MOST_ROUNDS // rounds)  # few rows meet often
    last_share = min(first_share, LAST_SHARE / (rounds * shuffles * size))
    rng = np.random.Generator(np.random.Philox(key=schedule.seed))
    path = []
    for epoch in range(epochs):
        share = first_share * (last_share / first_share) ** (epoch / max(epochs - 1, 1))
        met = 0.0
        for _ in range(shuffles):
            order = rng.permutation(n).astype(np.int32)
            for turn in rng.permutation(ring)[:rounds]:
                met += _native.meeting_round(
                    table, kernel, root, scale / unit, order, size, share, int(turn), y, threads
                )
        path.append(met * ring / (rounds * shuffles))
        report("meetings", epoch + 1, epochs, stress=met)
    points = y.astype(np.float64)
    points -= points.mean(axis=0)
    size_of_map = n * float((points**2).sum())  # Σ d² over all pairs
    changed = abs(path[-2] - path[-1]) if epochs > 1 else np.inf
    settled = changed <= max((SETTLED + LUCK / n) * path[-1], NOTHING * size_of_map)
    return Layout(points, path[-1], np.array(path), epochs, bool(settled))


def measured_stress(source: PreparedRows | Array, points: Array, unit: float, threads: int) -> tuple[Array, float]:
    """Σ_j (δ - d)² of every point, over all pairs, block by block; and Σ δ² over i < j."""
    table, kernel, root, scale = _how(source)
    n = len(table)
    by_point, total = np.zeros(n), 0.0
    size = max(1, BLOCK_VALUES // n)
    places = np.ascontiguousarray(points, dtype=np.float64)
    for begin in range(0, n, size):
        end = min(n, begin + size)
        mapped = np.empty((end - begin, n))
        _native.measure_rows(places[begin:end], places, 0, True, 1.0, mapped, threads)
        if kernel < 0:
            wanted = table[begin:end] / table.dtype.type(unit)
        else:
            wanted = np.empty((end - begin, n), dtype=table.dtype)
            _native.measure_rows(table[begin:end], table, kernel, root, scale / unit, wanted, threads)
        gaps = np.nan_to_num(mapped - wanted)  # NaN: the distance is not known
        by_point[begin:end] = np.einsum("ij,ij->i", gaps, gaps)
        total += float(np.nansum(wanted.astype(np.float64) ** 2)) / 2
        report("measuring stress", end, n)
    return by_point, total


def _how(source: PreparedRows | Array) -> tuple[Array, int, bool, float]:
    if isinstance(source, PreparedRows):
        assert source.kernel is not None
        return source.table, source.kernel, source.metric.root, source.scale
    return source, -1, False, 1.0
