"""Disparities of nonmetric MDS: isotonic regression on the rank order of the dissimilarities (Kruskal 1964)."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim import _native
from lowdim.distance.condensed import Pairs
from lowdim.mds.disparities import Disparities
from lowdim.runtime.threads import interruptible

__all__ = ["MAX_RANKED_ROWS", "IsotonicDisparities"]

Array = NDArray[Any]

MAX_RANKED_ROWS = 65_536  # their pairs can be numbered in 32 bits


class IsotonicDisparities(Disparities):
    """Monotone disparities: only the rank order of the dissimilarities counts.

    The pairs are sorted once, and everything that belongs to them is stored in buckets of adjacent ranks (`Ranking`).
    Ties: with "primary", tied pairs may be ordered in any way; with "secondary", they get equal disparities; with
    "tertiary", only the means of ties are monotone.
    """

    ranking: _native.Ranking

    @staticmethod
    def bytes_per_pair(itemsize: int) -> int:
        """Three tables of positions, three of levels, and four of distances during the sort."""
        return 3 * 4 + 3 * 8 + 4 * itemsize

    def __init__(self, pairs: Pairs, ties: str) -> None:
        self.pairs, self.ties = pairs, ties
        dissimilarities = pairs.distances
        if pairs.weights is not None:  # pairs without weight are ranked behind all others
            dissimilarities = np.where(pairs.weights > 0, dissimilarities, np.inf).astype(dissimilarities.dtype)
        order = interruptible(lambda: np.argsort(dissimilarities)).astype(np.int32)  # seconds, for millions of pairs
        self.ranking = _native.Ranking(order, pairs.n)
        ranked = dissimilarities[order]
        edges = np.flatnonzero(ranked[1:] != ranked[:-1]) + 1
        self.starts = np.concatenate([[0], edges]).astype(np.int64)
        self.ends = np.concatenate([edges, [len(ranked)]]).astype(np.int64)
        tied = self.ends - self.starts > 1
        self.tied = self.starts[tied], self.ends[tied]
        self.weights = None
        if pairs.weights is not None:
            self.weights = np.empty_like(pairs.weights)
            self.weights[self.ranking.slots()] = pairs.weights
        self.levels = ranked[self.starts]  # the distinct dissimilarities
        self.embedded = np.empty_like(pairs.distances)  # distances in the embedding
        self.targets = np.empty_like(pairs.distances)

    def update(self, Y: Array, threads: int) -> Array:
        """Isotonic regression of the distances in the embedding on the ranks."""
        _native.map_distances(Y, self.ranking, self.embedded, threads)
        any_ties = len(self.tied[0]) > 0
        if any_ties and self.ties != "primary":
            self._fit_tie_means(threads)
        else:
            if any_ties:
                _native.sort_ties(*self.tied, self.embedded, self.ranking, threads)
            total = self.pairs.sum_of_squares
            _native.isotonic_regression(self.embedded, self.weights, self.ranking, total, self.targets, threads)
        return self.targets

    def to_float32(self, pairs: Pairs) -> Disparities:
        """The same ranks."""
        out = copy(self)
        out.pairs, out.targets, out.embedded = pairs, np.empty_like(pairs.distances), np.empty_like(pairs.distances)
        out.weights = None if self.weights is None else self.weights.astype(np.float32)
        out.ranking = self.ranking.copy()  # primary ties are reordered in place
        return out

    def curve(self) -> Array | None:
        """A vertex at both ends of every block of equal disparities (for ties, their mean)."""
        fitted = self.targets[self.ranking.positions].astype(np.float64)
        known = np.isfinite(self.levels)
        starts, sizes = self.starts[known], (self.ends - self.starts)[known]
        x = self.levels[known].astype(np.float64)
        y = np.add.reduceat(fitted[: int(self.ends[known][-1])], starts) / sizes
        edge = np.concatenate([[True], y[1:] != y[:-1]])
        vertex = edge | np.concatenate([edge[1:], [True]])
        return np.stack([x[vertex], np.maximum.accumulate(y[vertex])]) * self.pairs.unit

    def _fit_tie_means(self, threads: int) -> None:
        """Isotonic regression of the means of ties: all that secondary and tertiary ties need."""
        slots = self.ranking.positions
        values = self.embedded[slots].astype(np.float64)
        weights = np.ones(len(values)) if self.weights is None else self.weights[slots].astype(np.float64)
        mass = np.add.reduceat(weights, self.starts)
        means = np.add.reduceat(values * weights, self.starts) / np.where(mass > 0, mass, 1)
        levels = np.empty_like(means)
        _native.isotonic_regression(means, mass, None, 0.0, levels, threads)
        sizes = self.ends - self.starts
        fitted = np.repeat(levels, sizes)
        if self.ties == "tertiary":
            fitted += values - np.repeat(means, sizes)
        squares = float((fitted * fitted) @ weights)
        self.targets[slots] = fitted * np.sqrt(self.pairs.sum_of_squares / squares) if squares > 0 else fitted
