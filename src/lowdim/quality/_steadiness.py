"""Steadiness and cohesiveness: groups of the map that are none in the data, and groups of the data that the map tears.

Random walks over shared nearest neighbors find groups in one space; HDBSCAN clusters each of them in the other space.
Where two clusters of a group are further apart there than the walk's space shows, the group is false (steadiness: walks
in the map) or missing (cohesiveness: walks in the data). 1 means that no such distortion was found (Jeon, Ko, Jo, Kim
and Seo 2021).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim import _native
from lowdim.quality._distance_source import DistanceSource
from lowdim.quality._intervals import CONFIDENCE, REPLICATES
from lowdim.quality._rank_comparison import rank_rows
from lowdim.quality._rank_measures import Figure
from lowdim.runtime.progress import report

__all__ = ["GroupReliability", "MapGroups", "SharedNeighborSpace", "group_reliability", "map_groups"]

Array = NDArray[Any]
Floats = NDArray[np.float64]

MOST_ROWS = 2000  # of a larger table a random sample of so many: similarities are (m, m)
WALKS = 150
VISITS = 0.3  # of a walk, as a share of the rows
ALPHA = 0.1  # a distance is 1 / (similarity + ALPHA)


@dataclass(frozen=True, eq=False)
class SharedNeighborSpace:
    """Similarities of rows by the nearest neighbors that they share, and these neighbors."""

    similarity: NDArray[np.float32]  # (m, m) from 0 to 1; 0 of a row with itself
    neighbors: NDArray[np.int32]  # (m, k)

    @classmethod
    def of(cls, source: DistanceSource, rows: NDArray[np.intp]) -> SharedNeighborSpace:
        """Of these rows of a space, with k = √m: Σ (k + 1 - a)(k + 1 - b) over shared neighbors of ranks a and b."""
        import scipy.sparse as sp

        m = len(rows)
        k = max(1, int(np.sqrt(m)))
        nearest = rank_rows(source.blocks(rows, rows)(0, m), np.arange(m), k, source.threads)[1]
        weights = np.tile(np.arange(k + 1, 1, -1, dtype=np.float64), m)  # ranks from 0, as the authors' program has it
        W = sp.csr_array((weights, nearest.ravel(), np.arange(0, m * k + 1, k)), shape=(m, m))
        similarity = (W @ W.T).toarray()
        np.fill_diagonal(similarity, 0)
        most = similarity.max()
        return cls((similarity / (most or 1.0)).astype(np.float32), nearest)


@dataclass(frozen=True, eq=False)
class GroupReliability:
    """One of the two measures, of the map and of its rows."""

    figure: Figure
    points: Floats  # (m,) NaN of rows that were in no distorted pair of clusters, or in no group
    weights: Floats  # (m,) by which the values of points average to that of the map


@dataclass(frozen=True, eq=False)
class MapGroups:
    """Both measures of every map, and the rows that they were measured with."""

    rows: NDArray[np.intp]  # (m,) ascending; all of a small table
    maps: list[dict[str, GroupReliability]]  # by the name of the measure


def map_groups(original: DistanceSource, maps: list[DistanceSource], seed: int, threads: int) -> MapGroups:
    """Steadiness and cohesiveness of every map of one table."""
    rows = group_rows(original.n, seed)
    true = SharedNeighborSpace.of(original, rows)
    found = []
    for i, source in enumerate(maps):
        drawn = SharedNeighborSpace.of(source, rows)
        found.append(
            {
                "steadiness": group_reliability(drawn, true, seed, threads),
                "cohesiveness": group_reliability(true, drawn, seed, threads),
            }
        )
        report("random walks for groups", i + 1, len(maps))
    return MapGroups(rows, found)


def group_rows(n: int, seed: int) -> NDArray[np.intp]:
    """The rows that groups are looked for in, ascending."""
    if n <= MOST_ROWS:
        return np.arange(n)
    generator = np.random.Generator(np.random.Philox(key=[seed % 2**64, 0x5C]))
    return np.sort(generator.choice(n, MOST_ROWS, replace=False))


def group_reliability(
    walked: SharedNeighborSpace, clustered: SharedNeighborSpace, seed: int, threads: int
) -> GroupReliability:
    """Steadiness, if groups are walked in the map and clustered in the data; cohesiveness, the other way round."""
    m = len(walked.neighbors)
    worst = float(np.max(1 / (clustered.similarity + ALPHA) - 1 / (walked.similarity + ALPHA)))
    if worst <= 0:  # no two rows are further apart in the other space
        return GroupReliability(Figure(1.0, 1.0, 1.0), np.ones(m), np.ones(m))
    above, below = np.empty((WALKS, m)), np.empty((WALKS, m))
    visits = max(1, int(VISITS * m))
    spaces = walked.similarity, clustered.similarity, walked.neighbors
    _native.group_distortions(*spaces, visits, ALPHA, worst, seed % 2**64, above, below, threads)
    point_above, point_below = above.sum(axis=0), below.sum(axis=0)
    points = 1 - np.divide(point_above, point_below, out=np.full(m, np.nan), where=point_below > 0)
    return GroupReliability(_interval(above.sum(axis=1), below.sum(axis=1), seed), points, point_below)


def _interval(above: Floats, below: Floats, seed: int) -> Figure:
    """1 - Σ distortion / Σ weight over the walks, with a bootstrap over these."""
    generator = np.random.Generator(np.random.Philox(key=[seed % 2**64, 0x5C1]))
    counts = generator.multinomial(len(above), np.full(len(above), 1 / len(above)), size=REPLICATES)
    weights = counts @ below
    drawn = 1 - np.divide(counts @ above, weights, out=np.zeros(REPLICATES), where=weights > 0)
    low, high = np.quantile(drawn, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    total = float(below.sum())
    value = 1 - float(above.sum()) / total if total > 0 else 1.0
    return Figure(value, min(float(low), value), max(float(high), value))
