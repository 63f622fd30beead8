"""Stress by stochastic descent, with distances measured when they are needed: memory grows with the rows alone.

In an epoch the rows are shuffled into parties, and every party meets some others in the rounds of a tournament. Two
rows that meet go towards their distance, both by the same share of the gap (Zheng, Pawar and Goodman 2018); the
share falls from epoch to epoch. Who meets whom depends on the seed alone, and no two threads touch one row.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim import _native
from lowdim.progress import report
from lowdim.solve.smacof import Layout
from lowdim.summaries.pairs import Measure

__all__ = ["descend", "measured_stress"]

Array = NDArray[Any]

PARTY = 64
MOST_ROUNDS = 12  # parties that a party meets in an epoch
FIRST_SHARE = 0.25
SETTLED = 0.02  # of the stress: an epoch that gains less has nothing more to gain
BLOCK_VALUES = 1 << 22


def descend(source: Measure | Array, start: Array, epochs: int, seed: int, unit: float, threads: int) -> Layout:
    """The map that meetings reach from `start` (n, k). `source` is measured rows, or a square table of distances."""
    table, kernel, root, scale = _how(source)
    n = len(table)
    y = np.ascontiguousarray(start, dtype=table.dtype)
    size = min(PARTY, -(-n // 2))
    parties = -(-n // size)
    ring = parties + parties % 2 - 1
    rounds = min(ring, MOST_ROUNDS)
    last_share = min(FIRST_SHARE, 0.3 / (rounds * size))
    rng = np.random.Generator(np.random.Philox(key=seed))
    path = []
    for epoch in range(epochs):
        share = FIRST_SHARE * (last_share / FIRST_SHARE) ** (epoch / max(epochs - 1, 1))
        order = rng.permutation(n).astype(np.int32)
        met = 0.0
        for turn in rng.permutation(ring)[:rounds]:
            met += _native.meeting_round(
                table, kernel, root, scale / unit, order, size, share, int(turn), y, threads
            )
        path.append(met * ring / rounds)
        report("meetings", epoch + 1, epochs, stress=met)
    settled = len(path) > 1 and path[-2] - path[-1] <= SETTLED * path[-2]
    points = y.astype(np.float64)
    return Layout(points - points.mean(axis=0), path[-1], np.array(path), epochs, settled)


def measured_stress(source: Measure | Array, points: Array, unit: float, threads: int) -> tuple[Array, float]:
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


def _how(source: Measure | Array) -> tuple[Array, int, bool, float]:
    if isinstance(source, Measure):
        assert source.metric.kernel is not None
        return source.table, source.metric.kernel, source.metric.root, source.scale
    return source, -1, False, 1.0
