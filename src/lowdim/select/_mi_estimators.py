"""Estimators of mutual information between two columns, in nats.

Discrete with discrete: the plug-in estimate of the contingency table. Two measurements: Kraskov, Stögbauer and
Grassberger (2004), first estimator. One of each: Ross (2014). Tied values of a measurement are moved apart by 1e-10 of
its standard deviation, as Kraskov et al. advise, but by the same numbers always: equal tables have equal estimates.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma

from lowdim import _native
from lowdim.runtime.random import normal

__all__ = [
    "Column",
    "MutualInformationEstimate",
    "column_of",
    "distinct_codes",
    "ksg",
    "plug_in",
    "quantile_codes",
    "ross",
]

JITTER = 1e-10  # standard deviations that tied values are moved by

Floats = NDArray[np.float64]
Codes = NDArray[np.int32]
Order = NDArray[np.int32]

NO_ORDER = np.empty(0, dtype=np.int32)


@dataclass(frozen=True)
class Column:
    """A variable: codes from 0 if it is discrete, else numbers of standard deviation 1."""

    values: NDArray[Any]  # (n,)
    discrete: bool
    order: Order  # (n,) the rows in ascending order; empty if it is discrete


@dataclass(frozen=True)
class MutualInformationEstimate:
    """How mutual information is estimated: by k nearest neighbors, or by quantile bins."""

    estimator: str  # "knn" or "histogram"
    n_neighbors: int
    bins: int

    def __call__(self, a: Column, b: Column) -> float:
        """The estimate in nats, at least 0."""
        if a.discrete and b.discrete:
            return plug_in(a.values, b.values)
        if a.discrete:
            return ross(b, a, self.n_neighbors)
        if b.discrete:
            return ross(a, b, self.n_neighbors)
        return ksg(a, b, self.n_neighbors)


def column_of(values: NDArray[Any], discrete: bool, estimate: MutualInformationEstimate, stream: int) -> Column:
    """A column as the estimator needs it: codes, bins, or numbers scaled to standard deviation 1, without ties.

    `stream` is another number for every column, so that ties of two columns are broken independently.
    """
    if discrete:
        return Column(distinct_codes(values), True, NO_ORDER)
    if estimate.estimator == "histogram":
        return Column(quantile_codes(values, estimate.bins), True, NO_ORDER)
    values = np.asarray(values, dtype=np.float64)
    largest = np.abs(values - values[0]).max()
    if largest == 0:
        return Column(np.zeros(len(values)), False, np.arange(len(values), dtype=np.int32))
    shifted = (values - values[0]) / largest  # so that squares neither overflow nor underflow
    scaled = shifted / shifted.std()
    order = ascending(scaled)
    if (np.diff(scaled[order]) == 0).any():
        scaled += JITTER * normal((len(scaled),), 0, stream)
        order = ascending(scaled)
    return Column(scaled, False, order)


def plug_in(a: Codes, b: Codes) -> float:
    """Mutual information of the joint frequencies of two discrete variables."""
    width = int(b.max()) + 1
    joint = np.bincount(a.astype(np.int64) * width + b, minlength=(int(a.max()) + 1) * width).reshape(-1, width) / len(
        a
    )
    expected = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    there = joint > 0
    return max(0.0, float((joint[there] * np.log(joint[there] / expected[there])).sum()))


def ksg(x: Column, y: Column, k: int) -> float:
    """ψ(n) + ψ(k) - ⟨ψ(n_x + 1) + ψ(n_y + 1)⟩, with the neighbors closer than the k-th in the joint maximum norm."""
    n = len(x.values)
    k = min(k, n - 1)
    closer = np.empty((2, n), dtype=np.int32)
    _native.ksg_counts(x.values, y.values, x.order, y.order, k, closer[0], closer[1], 1)
    psi = digamma_table(n)
    return max(0.0, float(psi[n] + psi[k] - psi[closer[0]].mean() - psi[closer[1]].mean()))


def ross(x: Column, classes: Column, k: int) -> float:
    """ψ(n) + ⟨ψ(k)⟩ - ⟨ψ(n_c)⟩ - ⟨ψ(m)⟩, with the m points closer than the k-th neighbor of the same class.

    Points that are alone in their class are left out.
    """
    values, order, codes = x.values, x.order, classes.values
    counts = np.bincount(codes)
    kept = counts[codes] > 1
    if not kept.any():
        return 0.0
    if not kept.all():
        values, codes = values[kept], codes[kept]
        order = ascending(values)
    n = len(values)
    closer = np.empty(n, dtype=np.int32)
    _native.ross_counts(values, order, codes, min(len(counts), n), k, closer, 1)
    psi, sizes = digamma_table(n), counts[codes]
    means = [psi[part].mean() for part in (np.minimum(k, sizes - 1), sizes, closer)]
    return max(0.0, float(psi[n] + means[0] - means[1] - means[2]))


@lru_cache(maxsize=4)
def digamma_table(n: int) -> Floats:
    """ψ(0), …, ψ(n); the first is not used."""
    return np.asarray(digamma(np.maximum(np.arange(n + 1), 1)))


def ascending(values: Floats) -> Order:
    """The rows in ascending order, (n,)."""
    return np.argsort(values, kind="stable").astype(np.int32)


def distinct_codes(values: NDArray[Any]) -> Codes:
    """The number of each distinct value, from 0, (n,)."""
    return np.unique(values, return_inverse=True)[1].reshape(-1).astype(np.int32)


def quantile_codes(values: NDArray[Any], bins: int) -> Codes:
    """The bin of each value between quantiles, (n,); equal values share a bin."""
    edges = np.unique(np.quantile(values, np.arange(1, bins) / bins))
    return distinct_codes(np.searchsorted(edges, values, side="right"))
