"""Estimators of mutual information between two columns, in nats.

Discrete with discrete: the plug-in estimate of the contingency table. Two measurements: Kraskov, Stögbauer and
Grassberger (2004), first estimator. One of each: Ross (2014). Tied values of a measurement are moved apart by 1e-10 of
its standard deviation, as Kraskov et al. advise, but by the same numbers always: equal tables have equal estimates.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree
from scipy.special import digamma

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
Codes = NDArray[np.intp]


@dataclass(frozen=True)
class Column:
    """A variable: codes from 0 if it is discrete, else numbers of standard deviation 1."""

    values: NDArray[Any]  # (n,)
    discrete: bool


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
            return ross(b.values, a.values, self.n_neighbors)
        if b.discrete:
            return ross(a.values, b.values, self.n_neighbors)
        return ksg(a.values, b.values, self.n_neighbors)


def column_of(values: NDArray[Any], discrete: bool, estimate: MutualInformationEstimate, stream: int) -> Column:
    """A column as the estimator needs it: codes, bins, or numbers scaled to standard deviation 1, without ties.

    `stream` is another number for every column, so that ties of two columns are broken independently.
    """
    if discrete:
        return Column(distinct_codes(values), True)
    if estimate.estimator == "histogram":
        return Column(quantile_codes(values, estimate.bins), True)
    values = np.asarray(values, dtype=np.float64)
    largest = np.abs(values - values[0]).max()
    if largest == 0:
        return Column(np.zeros(len(values)), False)
    shifted = (values - values[0]) / largest  # so that squares neither overflow nor underflow
    scaled = shifted / shifted.std()
    if len(np.unique(scaled)) < len(scaled):
        scaled += JITTER * normal((len(scaled),), 0, stream)
    return Column(scaled, False)


def plug_in(a: Codes, b: Codes) -> float:
    """Mutual information of the joint frequencies of two discrete variables."""
    width = int(b.max()) + 1
    joint = np.bincount(a * width + b, minlength=(int(a.max()) + 1) * width).reshape(-1, width) / len(a)
    expected = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    there = joint > 0
    return max(0.0, float((joint[there] * np.log(joint[there] / expected[there])).sum()))


def ksg(x: Floats, y: Floats, k: int) -> float:
    """ψ(n) + ψ(k) - ⟨ψ(n_x + 1) + ψ(n_y + 1)⟩, with the neighbors closer than the k-th in the joint maximum norm."""
    n = len(x)
    k = min(k, n - 1)
    joint = np.column_stack([x, y])
    # Two columns: a k-d tree is exact in double precision, and several times faster than a search by blocks.
    tree = KDTree(joint, balanced_tree=False, compact_nodes=False)
    radii = tree.query(joint, k + 1, p=np.inf)[0][:, -1]  # the first is the point itself
    near = [np.mean(digamma(_closer(part, part, radii))) for part in (x, y)]
    return max(0.0, float(digamma(n) + digamma(k) - near[0] - near[1]))


def ross(x: Floats, codes: Codes, k: int) -> float:
    """ψ(n) + ⟨ψ(k)⟩ - ⟨ψ(n_c)⟩ - ⟨ψ(m)⟩, with the m points closer than the k-th neighbor of the same class.

    Points that are alone in their class are left out.
    """
    counts = np.bincount(codes)
    kept = counts[codes] > 1
    x, codes = x[kept], codes[kept]
    if len(x) == 0:
        return 0.0
    radii, neighbors = np.empty(len(x)), np.empty(len(x))
    for label in np.flatnonzero(counts > 1):
        members = np.flatnonzero(codes == label)
        neighbors[members] = own = min(k, len(members) - 1)
        radii[members] = _kth_neighbor(x[members], own)
    closer = _closer(x, x, radii)
    means = [np.mean(digamma(part)) for part in (neighbors, counts[codes], closer)]
    return max(0.0, float(digamma(len(x)) + means[0] - means[1] - means[2]))


def _kth_neighbor(x: Floats, k: int) -> Floats:
    """Distance to the k-th nearest other point on a line, (n,): the best of the k + 1 windows around each."""
    order = np.argsort(x, kind="stable")
    s, n = x[order], len(x)
    nearest = np.full(n, np.inf)
    for before in range(k + 1):  # neighbors on the left
        i = np.arange(before, n - k + before)
        nearest[i] = np.minimum(nearest[i], np.maximum(s[i] - s[i - before], s[i - before + k] - s[i]))
    out = np.empty(n)
    out[order] = nearest
    return out


def _closer(x: Floats, centers: Floats, radii: Floats) -> NDArray[np.int64]:
    """Points of x closer than each radius to each center; those that coincide with it if the radius is 0, (m,)."""
    values, counts = np.unique(x, return_counts=True)
    below = np.concatenate([[0], np.cumsum(counts)])
    last = len(values) - 1
    # A search by sums is right up to rounding; the differences, which are what distances are, have the last word.
    right = np.searchsorted(values, centers + radii)
    while (more := (right <= last) & (values[np.minimum(right, last)] - centers < radii)).any():
        right += more
    while (less := (right > 0) & (values[np.maximum(right - 1, 0)] - centers >= radii)).any():
        right -= less
    left = np.searchsorted(values, centers - radii)
    while (less := (left > 0) & (centers - values[np.maximum(left - 1, 0)] < radii)).any():
        left -= less
    while (more := (left <= last) & (centers - values[np.minimum(left, last)] >= radii)).any():
        left += more
    own = np.searchsorted(values, centers)
    left, right = np.where(radii > 0, left, own), np.where(radii > 0, right, own + 1)
    return below[right] - below[left]


def distinct_codes(values: NDArray[Any]) -> Codes:
    """The number of each distinct value, from 0, (n,)."""
    return np.unique(values, return_inverse=True)[1].reshape(-1)


def quantile_codes(values: NDArray[Any], bins: int) -> Codes:
    """The bin of each value between quantiles, (n,); equal values share a bin."""
    edges = np.unique(np.quantile(values, np.arange(1, bins) / bins))
    return distinct_codes(np.searchsorted(edges, values, side="right"))
