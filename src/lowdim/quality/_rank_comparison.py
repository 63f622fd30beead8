"""Ranks of all rows by their distance from one, in two spaces, and what their comparison says of that row.

The rank of row j for row i is one more than the number of other rows that are nearer to i; of equally near ones, the
one with the smaller number is nearer. Row i itself has rank 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim import _native

__all__ = ["RankScale", "compare_ranks", "concordance", "rank_rows", "squared_sums"]

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


def rank_rows(distances: Array, own: NDArray[np.intp], k: int, threads: int) -> tuple[Ranks, Ranks]:
    """Ranks of all rows by their distances from some rows, (b, n), and the k nearest of these, nearest first, (b, k).

    `own` are the numbers of these rows, (b,).
    """
    ranks = np.empty(distances.shape, dtype=np.int32)
    nearest = np.empty((len(distances), k), dtype=np.int32)
    _native.rank_rows(np.ascontiguousarray(distances), own.astype(np.int32), ranks, nearest, threads)
    return ranks, nearest


def compare_ranks(true: Ranks, drawn: Ranks, scale: RankScale, threads: int) -> tuple[Floats, NDArray[np.int64]]:
    """Of every row, sums over others (b, 6), and how many are within K neighbors in both spaces, (b, g).

    The sums: ranks beyond k of the k nearest in the map; the same with the spaces swapped; how many of the k nearest
    are shared; Σ W(max of both ranks); Σ |ρ - r| / r over the k nearest in the map; Σ |ρ - r| / ρ over the k true ones.
    """
    sums = np.empty((len(true), 6))
    counts = np.empty((len(true), len(scale.ks)), dtype=np.int64)
    _native.compare_ranks(true, drawn, scale.weights, scale.ks, scale.k, sums, counts, threads)
    return sums, counts


def concordance(true: Ranks, drawn: Ranks, partners: Array | None, threads: int) -> Floats:
    """Of every row, the share of pairs of others (all, or its `partners`, (b, m)) that both spaces order alike."""
    out = np.empty(len(true))
    if partners is None:
        _native.concordance(true, drawn, out, threads)
    else:
        _native.partner_concordance(true, drawn, partners.astype(np.int32), out, threads)
    return out


def squared_sums(d: Array, flat: Array, own: NDArray[np.intp], threads: int) -> Floats:
    """Σ d², Σ d δ and Σ δ² over all others, (b, 3)."""
    out = np.empty((len(d), 3))
    _native.squared_sums(np.ascontiguousarray(d), np.ascontiguousarray(flat), own.astype(np.int32), out, threads)
    return out
