"""Disparities of nonmetric scaling: only the order of the given distances counts."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim import _native
from lowdim.distance.condensed import Pairs
from lowdim.mds.disparities import Disparities
from lowdim.runtime.threads import uninterrupted

__all__ = ["MOST_RANKED", "Ranks"]

Array = NDArray[Any]

MOST_RANKED = 65_536  # rows whose pairs can be numbered in 32 bits


class Ranks(Disparities):
    """Any rising sequence: only the order of the distances counts (Kruskal).

    The pairs are sorted once, and what belongs to them is held by buckets of neighbouring ranks (`Ranking`).
    Ties: "primary" pairs may part in any order, "secondary" ones must stay equal, of "tertiary" ones the means must
    rise.
    """

    ranking: _native.Ranking

    @staticmethod
    def bytes_a_pair(itemsize: int) -> int:
        """Three tables of places, three of levels, and four of distances while they are sorted."""
        return 3 * 4 + 3 * 8 + 4 * itemsize

    def __init__(self, pairs: Pairs, ties: str) -> None:
        self.pairs, self.ties = pairs, ties
        wanted = pairs.distances
        if pairs.weights is not None:  # pairs that don't count stand behind all others
            wanted = np.where(pairs.weights > 0, wanted, np.inf).astype(wanted.dtype)
        order = uninterrupted(lambda: np.argsort(wanted)).astype(np.int32)  # seconds, for millions of pairs
        self.ranking = _native.Ranking(order, pairs.n)
        ranked = wanted[order]
        edges = np.flatnonzero(ranked[1:] != ranked[:-1]) + 1
        self.starts = np.concatenate([[0], edges]).astype(np.int64)
        self.ends = np.concatenate([edges, [len(ranked)]]).astype(np.int64)
        tied = self.ends - self.starts > 1
        self.tied = self.starts[tied], self.ends[tied]
        self.weights = None
        if pairs.weights is not None:
            self.weights = np.empty_like(pairs.weights)
            self.weights[self.ranking.slots()] = pairs.weights
        self.levels = ranked[self.starts]  # the different distances
        self.mapped = np.empty_like(pairs.distances)
        self.targets = np.empty_like(pairs.distances)

    def update(self, y: Array, threads: int) -> Array:
        """The nearest rising sequence to the distances of the map, by slot."""
        _native.map_distances(y, self.ranking, self.mapped, threads)
        any_ties = len(self.tied[0]) > 0
        if any_ties and self.ties != "primary":
            self._fit_groups(threads)
        else:
            if any_ties:
                _native.sort_ties(*self.tied, self.mapped, self.ranking, threads)
            _native.isotonic(self.mapped, self.weights, self.ranking, self.pairs.sum_of_squares, self.targets, threads)
        return self.targets

    def narrow(self, pairs: Pairs) -> Disparities:
        """The same order."""
        out = copy(self)
        out.pairs, out.targets, out.mapped = pairs, np.empty_like(pairs.distances), np.empty_like(pairs.distances)
        out.weights = None if self.weights is None else self.weights.astype(np.float32)
        out.ranking = self.ranking.copy()  # ties trade ranks
        return out

    def curve(self) -> Array | None:
        """A corner at both ends of every level (where pairs are tied, their mean)."""
        fitted = self.targets[self.ranking.places].astype(np.float64)
        known = np.isfinite(self.levels)
        starts, sizes = self.starts[known], (self.ends - self.starts)[known]
        x = self.levels[known].astype(np.float64)
        y = np.add.reduceat(fitted[: int(self.ends[known][-1])], starts) / sizes
        edge = np.concatenate([[True], y[1:] != y[:-1]])
        corner = edge | np.concatenate([edge[1:], [True]])
        return np.stack([x[corner], np.maximum.accumulate(y[corner])]) * self.pairs.unit

    def _fit_groups(self, threads: int) -> None:
        """Means of tied pairs that rise."""
        places = self.ranking.places
        values = self.mapped[places].astype(np.float64)
        heavy = np.ones(len(values)) if self.weights is None else self.weights[places].astype(np.float64)
        mass = np.add.reduceat(heavy, self.starts)
        means = np.add.reduceat(values * heavy, self.starts) / np.where(mass > 0, mass, 1)
        levels = np.empty_like(means)
        _native.isotonic(means, mass, None, 0.0, levels, threads)
        sizes = self.ends - self.starts
        fitted = np.repeat(levels, sizes)
        if self.ties == "tertiary":
            fitted += values - np.repeat(means, sizes)
        squares = float((fitted * fitted) @ heavy)
        self.targets[places] = fitted * np.sqrt(self.pairs.sum_of_squares / squares) if squares > 0 else fitted
