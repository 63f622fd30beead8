"""Spearman's correlation of the distances of pairs, in the original space and in a map (the Shepard diagram)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.quality._intervals import Resamples, RowSample
from lowdim.quality._rank_measures import Figure
from lowdim.quality._space_comparison import all_pairs

__all__ = ["DistanceOrder", "shepard_correlation"]

Array = NDArray[Any]
Floats = NDArray[np.float64]


class DistanceOrder:
    """Distances of pairs by their order: ties are one group, whose rank is the mean of its places."""

    def __init__(self, distances: Array) -> None:
        self.values, self.groups = np.unique(distances, return_inverse=True)
        self.groups = self.groups.ravel()

    def ranks(self, weights: Floats | None = None) -> Floats:
        """Mid-ranks, where each pair counts as often as its weight says, (P,)."""
        sizes = np.bincount(self.groups, weights, minlength=len(self.values))
        middle: Floats = np.cumsum(sizes) - sizes / 2
        return middle[self.groups]


def shepard_correlation(true: Array, drawn: Array, sample: RowSample, resamples: Resamples) -> Figure:
    """Spearman's ρ of all pairs, or of sampled pairs with a bootstrap over the rows that they start from."""
    if all_pairs(sample):
        i, j = np.triu_indices(sample.n, 1)
        return Figure(_correlation(DistanceOrder(true[i, j]), DistanceOrder(drawn[i, j]), None))
    a, b = DistanceOrder(true), DistanceOrder(drawn)
    value = _correlation(a, b, None)
    assert resamples.counts is not None
    m = true.shape[1]
    replicates = np.array([_correlation(a, b, np.repeat(counts, m)) for counts in resamples.counts])
    low, high = resamples.bounds(value, replicates)
    return Figure(value, float(low), float(high))


def _correlation(a: DistanceOrder, b: DistanceOrder, weights: Floats | None) -> float:
    """Pearson's correlation of the ranks; 0 if all distances are equal."""
    u, v = a.ranks(weights), b.ranks(weights)
    w = np.ones(len(u)) if weights is None else weights
    u, v = u - w @ u / w.sum(), v - w @ v / w.sum()
    norm = np.sqrt((w @ u**2) * (w @ v**2))
    return float(w @ (u * v) / norm) if norm > 0 else 0.0
