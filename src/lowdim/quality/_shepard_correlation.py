"""Spearman's correlation of the distances of pairs, in the original space and in a map (the Shepard diagram)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim import _native
from lowdim.quality._intervals import Resamples, RowSample
from lowdim.quality._rank_measures import Figure
from lowdim.quality._space_comparison import all_pairs

__all__ = ["shepard_correlation", "weighted_correlations"]

Array = NDArray[Any]
Floats = NDArray[np.float64]


def shepard_correlation(true: Array, drawn: Array, sample: RowSample, resamples: Resamples, threads: int) -> Figure:
    """Spearman's ρ of all pairs, or of sampled pairs with a bootstrap over the rows that they start from."""
    if all_pairs(sample):
        i, j = np.triu_indices(sample.n, 1)
        return Figure(float(weighted_correlations(true[i, j][None], drawn[i, j][None], np.ones((1, 1)), threads)[0]))
    assert resamples.counts is not None
    weights = np.concatenate([np.ones((1, len(true))), resamples.counts])
    value, *replicates = weighted_correlations(true, drawn, weights, threads)
    low, high = resamples.bounds(value, np.array(replicates))
    return Figure(float(value), float(low), float(high))


def weighted_correlations(true: Array, drawn: Array, weights: Floats, threads: int) -> Floats:
    """Spearman's ρ of pairs, (s, m) that start from s rows, for sets of weights of the rows, (b, s); (b,).

    A pair counts as often as its row; ties have the mean of their places; ρ is 0 if all distances are equal.
    """
    first, second = _groups(true), _groups(drawn)
    rows = np.repeat(np.arange(len(true), dtype=np.int32), true.shape[1])
    order = np.argsort(first, kind="stable")  # so that memory is read in order
    out = np.empty(len(weights))
    _native.rank_correlations(rows[order], first[order], second[order], weights, out, threads)
    return out


def _groups(distances: Array) -> NDArray[np.int32]:
    """Places of distances among the different ones, ascending."""
    return np.unique(distances, return_inverse=True)[1].ravel().astype(np.int32)
