"""Ranks of all rows by their distance from one, in two spaces, and what their comparison says of that row.

The rank of row j for row i is one more than the number of other rows that are nearer to i; of equally near ones, the
one with the smaller number is nearer. Row i itself has rank 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["RankScale", "compare_ranks", "concordance", "nearest_of_ranks", "rank_rows"]

Array = NDArray[Any]
Ranks = NDArray[np.int32]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RankScale:
    """What ranks from 1 to n - 1 weigh: in the AUC of R_NX, and the numbers of neighbors of its curve."""

    n: int
    k: int
    ks: NDArray[np.int64]  # (g,) ascending
    weights: Floats  # (n,) W(m) = Σ_{K ≥ m} (n - 1) / (K² (n - 1 - K)); of rank 0, the row itself, 0
    chance: float  # Σ_K 1 / (n - 1 - K)
    harmonic: float  # Σ_K 1 / K

    @classmethod
    def of(cls, n: int, k: int, points: int = 64) -> RankScale:
        """The scale of n rows; the curve has about so many points, even in the logarithm, and k among them."""
        K = np.arange(1, n - 1, dtype=np.float64)  # up to n - 2: beyond, every map has all neighbors
        terms = (n - 1) / (K**2 * (n - 1 - K))
        weights = np.zeros(n)
        weights[1 : n - 1] = np.cumsum(terms[::-1])[::-1]
        ks = np.unique(np.append(np.geomspace(1, n - 2, min(points, n - 2)).round().astype(np.int64), min(k, n - 2)))
        return cls(n, k, ks, weights, float((1 / (n - 1 - K)).sum()), float((1 / K).sum()))


def rank_rows(distances: Array, own: NDArray[np.intp], threads: int) -> Ranks:
    """Ranks of all rows by their distances from some rows, (b, n); `own` are the numbers of these, (b,)."""
    ranks = np.empty(distances.shape, dtype=np.int32)
    for i, row in enumerate(distances):
        order = np.argsort(row, kind="stable")
        order = order[order != own[i]]
        ranks[i, order] = np.arange(1, len(row), dtype=np.int32)
        ranks[i, own[i]] = 0
    return ranks


def nearest_of_ranks(ranks: Ranks, k: int) -> Ranks:
    """The k nearest rows by their ranks, nearest first, (b, k)."""
    rows, columns = np.nonzero((ranks >= 1) & (ranks <= k))
    out = np.empty((len(ranks), k), dtype=np.int32)
    out[rows, ranks[rows, columns] - 1] = columns
    return out


def compare_ranks(true: Ranks, drawn: Ranks, scale: RankScale, threads: int) -> tuple[Floats, NDArray[np.int64]]:
    """Of every row, sums over others (b, 6), and how many are within K neighbors in both spaces, (b, g).

    The sums: ranks beyond k of the k nearest in the map; the same with the spaces swapped; how many of the k nearest
    are shared; Σ W(max of both ranks); Σ |ρ - r| / r over the k nearest in the map; Σ |ρ - r| / ρ over the k true ones.
    """
    k = scale.k
    near, near_drawn = (true <= k) & (true > 0), (drawn <= k) & (drawn > 0)
    both = np.maximum(true, drawn)
    gap = np.abs(true.astype(np.int64) - drawn)
    with np.errstate(divide="ignore", invalid="ignore"):
        sums = np.column_stack(
            [
                np.where(near_drawn, np.maximum(true - k, 0), 0).sum(axis=1),
                np.where(near, np.maximum(drawn - k, 0), 0).sum(axis=1),
                (near & near_drawn).sum(axis=1),
                scale.weights[both].sum(axis=1),
                np.where(near_drawn, gap / drawn, 0.0).sum(axis=1),
                np.where(near, gap / true, 0.0).sum(axis=1),
            ]
        ).astype(np.float64)
    counts = np.stack([np.searchsorted(np.sort(row), scale.ks, side="right") - 1 for row in both])
    return sums, counts


def concordance(true: Ranks, drawn: Ranks, partners: Array | None, threads: int) -> Floats:
    """Of every row, the share of pairs of others (all, or its `partners`, (b, m)) that both spaces order alike."""
    from scipy.stats import kendalltau

    out = np.empty(len(true))
    for i in range(len(true)):
        some = np.flatnonzero(true[i]) if partners is None else np.unique(partners[i])
        out[i] = (1 + kendalltau(true[i, some], drawn[i, some]).statistic) / 2
    return out
