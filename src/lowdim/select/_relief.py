"""Relief: how much a feature differs between a row and its near misses, less how much between it and its near hits.

The difference of two values is 0 or 1 for a discrete feature, and a share of its range for a measurement; distances are
sums of differences. Classes are weighted as by Kononenko (1994), measurements as in RReliefF (Robnik-Šikonja and
Kononenko 2003).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from lowdim.data.validation import overflow_error
from lowdim.knn.index import NeighborIndex
from lowdim.runtime.progress import report
from lowdim.runtime.threads import ordered_map
from lowdim.select._mi_estimators import distinct_codes
from lowdim.select._target import Target

__all__ = ["Differences", "differences", "nearest_per_class", "relief_scores", "rows_within"]

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
Neighborhoods = Callable[[int, int], Iterator[Indices]]  # of rows start … stop, nearest first

BLOCK_ROWS = 128  # rows per item of work


@dataclass(frozen=True)
class Differences:
    """A table in which the difference of two values is min(|a - b|, 1), and the same as a Manhattan space."""

    values: Floats  # (n, d): shares of the range, or codes of discrete values
    space: Floats  # (n, D): the same distances as sums of |a - b|, discrete values in halves of indicators

    @property
    def n(self) -> int:
        """The number of rows."""
        return len(self.values)

    def mean_distance(self) -> float:
        """The mean distance between two rows, by sorting each column."""
        n = self.n
        weights = 2.0 * np.arange(n) - (n - 1)
        return float((weights @ np.sort(self.space, axis=0)).sum() * 2 / (n * (n - 1)))


def differences(X: NDArray[Any], discrete: NDArray[np.bool_]) -> Differences:
    """The table of differences of X, with these columns discrete."""
    values = np.empty(X.shape)
    indicators = []
    for j in np.flatnonzero(discrete):
        values[:, j] = codes = distinct_codes(X[:, j])
        indicators.append(0.5 * (codes[:, None] == np.arange(codes.max() + 1)))
    numeric = X[:, ~discrete].astype(np.float64)
    low = numeric.min(axis=0)
    spread = numeric.max(axis=0) - low
    if not np.isfinite(spread).all():
        raise overflow_error()
    values[:, ~discrete] = (numeric - low) / np.where(spread > 0, spread, 1.0)
    return Differences(values, np.ascontiguousarray(np.hstack([values[:, ~discrete], *indicators])))


def nearest_per_class(table: Differences, codes: NDArray[np.int32], k: int, n_jobs: int | None) -> list[Indices]:
    """For each row the k nearest other rows of every class, by class, as one array of indices per row."""
    groups: list[list[Any]] = [[] for _ in range(table.n)]
    for label in range(int(codes.max()) + 1):
        members = np.flatnonzero(codes == label)
        others = np.flatnonzero(codes != label)
        index = NeighborIndex(table.space[members], metric="manhattan", algorithm="exact", n_jobs=n_jobs)
        if len(members) > 1:
            for i, found in zip(members, index.graph(min(k, len(members) - 1)).indices, strict=True):
                groups[i].append(members[found])
        if len(others):
            for i, found in zip(others, index.query(table.space[others], min(k, len(members))).indices, strict=True):
                groups[i].append(members[found])
    return [np.concatenate(parts) for parts in groups]


def rows_within(table: Differences, radius: Callable[[Floats], Floats]) -> Neighborhoods:
    """Rows nearer than a radius, which may depend on the distances of a row to all others."""

    def find(start: int, stop: int) -> Iterator[Indices]:
        distances = cdist(table.space[start:stop], table.space, "cityblock")
        own = (np.arange(stop - start), np.arange(start, stop))
        others = distances[~_mask(distances.shape, own)].reshape(stop - start, -1)
        limits = radius(others)
        distances[own] = np.inf
        for row, limit in zip(distances, limits, strict=True):
            yield np.flatnonzero(row < limit)

    return find


def relief_scores(
    table: Differences, target: Target, neighborhoods: Neighborhoods, rank_decay: float | None, threads: int
) -> Floats:
    """Scores of the features, (d,): the weighted differences between rows and their neighborhoods.

    `rank_decay` is RReliefF's σ, by which neighbors count less from rank to rank; None counts them equally.
    """
    weigh = _class_weights(target) if target.is_discrete else _response_weights(target, rank_decay)

    def work(start: int) -> tuple[int, Floats, Floats]:
        stop = min(start + BLOCK_ROWS, table.n)
        sums, constants = np.zeros((2, table.values.shape[1])), np.zeros(2)
        for i, found in zip(range(start, stop), neighborhoods(start, stop), strict=True):
            if len(found):
                weights = weigh(i, found)  # (2, m)
                sums += weights @ np.minimum(np.abs(table.values[found] - table.values[i]), 1.0)
                constants += weights.sum(axis=1)
        return stop, sums, constants

    sums, constants = np.zeros((2, table.values.shape[1])), np.zeros(2)
    for stop, part, constant in ordered_map(work, range(0, table.n, BLOCK_ROWS), threads):
        sums += part
        constants += constant
        report("Relief", stop, table.n)
    if target.is_discrete:
        return (sums[1] - sums[0]) / table.n
    return _rrelieff(sums[0], sums[1], constants[0], constants[1])


def _class_weights(target: Target) -> Callable[[int, Indices], Floats]:
    """Hits share 1 in the first row; the misses of class c share P(c) / (1 - P(own)) in the second."""
    assert target.codes is not None
    codes = target.codes
    priors = np.bincount(codes) / len(codes)

    def weigh(i: int, found: Indices) -> Floats:
        labels, own = codes[found], codes[i]
        shares = priors / np.maximum(1 - priors[own], np.finfo(float).tiny)
        shares[own] = 1.0
        weights = (shares / np.maximum(np.bincount(labels, minlength=len(priors)), 1))[labels]
        return np.where(np.stack([labels == own, labels != own]), weights, 0.0)

    return weigh


def _response_weights(target: Target, rank_decay: float | None) -> Callable[[int, Indices], Floats]:
    """RReliefF's weights of the neighbors, which sum to 1, and the same times the difference of the response."""
    assert target.response is not None
    y = target.response / np.abs(target.response).max()
    y = (y - y.min()) / (y.max() - y.min())

    def weigh(i: int, found: Indices) -> Floats:
        ranks = np.arange(1, len(found) + 1)
        weights = np.ones(len(found)) if rank_decay is None else np.exp(-((ranks / rank_decay) ** 2))
        weights /= weights.sum()
        return np.stack([weights, weights * np.abs(y[found] - y[i])])

    return weigh


def _rrelieff(different: Floats, both: Floats, rows: float, response: float) -> Floats:
    """P(feature differs | response differs) - P(feature differs | response is the same), each by a sum of weights."""
    if not 0 < response < rows:  # all neighbors have the same response, or the opposite one
        return np.zeros_like(different)
    return both / response - (different - both) / (rows - response)


def _mask(shape: tuple[int, ...], places: tuple[Any, Any]) -> NDArray[np.bool_]:
    out = np.zeros(shape, dtype=bool)
    out[places] = True
    return out
