"""Disparities: what the distances of a map should be, given how far the wanted ones may be bent.

Each kind gives, for a map, the nearest values that it allows (a projection on a cone), scaled so that Σ w d̂² stays
Σ w δ²: without that the map would shrink to a point, which fits everything.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import copy
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.interpolate
import scipy.optimize
from numpy.typing import NDArray

from lowdim import _native
from lowdim.summaries.pairs import Pairs
from lowdim.threads import uninterrupted

__all__ = ["MOST_RANKED", "Curve", "Disparities", "Ranks", "Ratio"]

Array = NDArray[Any]

CHUNK = 1 << 20
INTERIOR_KNOTS = 4
MOST_RANKED = 65_536  # rows whose pairs can be numbered in 32 bits


class Disparities(ABC):
    """The targets of the pairs."""

    ranking: _native.Ranking | None = None  # where the target of a pair stands, if not at the pair

    @staticmethod
    @abstractmethod
    def bytes_a_pair(itemsize: int) -> int:
        """Memory that it takes, for distances of so many bytes, with what single precision adds for a while."""

    @abstractmethod
    def update(self, y: Array, threads: int) -> Array:
        """Targets for a map (k, n)."""

    @abstractmethod
    def narrow(self, pairs: Pairs) -> Disparities:
        """The same of pairs in single precision."""

    @abstractmethod
    def curve(self) -> Array | None:
        """The fitted bend as corners (2, m) of a rising line from distance to disparity; None if there is none."""


class Ratio(Disparities):
    """The distances themselves."""

    @staticmethod
    def bytes_a_pair(itemsize: int) -> int:
        """The distances are there already."""
        return itemsize - 4

    def __init__(self, pairs: Pairs) -> None:
        self.targets = pairs.distances

    def update(self, y: Array, threads: int) -> Array:
        """Always the same."""
        return self.targets

    def narrow(self, pairs: Pairs) -> Disparities:
        """Those of the narrow pairs."""
        return Ratio(pairs)

    def curve(self) -> Array | None:
        """No bend."""
        return None


class Curve(Disparities):
    """A rising curve of the distance, not below zero: a straight line, or a quadratic spline.

    In B-splines such a curve has coefficients 0 ≤ c₀ ≤ c₁ ≤ …, and on every interval between knots it is a
    polynomial: Σ w d δᵖ by interval is all that a fit must know of the pairs.
    """

    @staticmethod
    def bytes_a_pair(itemsize: int) -> int:
        """Targets and mapped distances."""
        return 2 * itemsize + 3 * (itemsize - 4)

    def __init__(self, pairs: Pairs, degree: int) -> None:
        self.pairs = pairs
        present = pairs.distances if pairs.weights is None else pairs.distances[pairs.weights > 0]
        low, high = float(present.min()), float(present.max())
        self.low, self.width = low, high - low or 1.0
        shares = np.linspace(0, 1, (INTERIOR_KNOTS if degree > 1 else 0) + 2)[1:-1]
        knots = np.unique((np.quantile(present, shares) - low) / self.width)
        self.breaks = np.concatenate([[0.0], knots[(knots > 0.01) & (knots < 0.99)], [1.0]])
        self.pieces = _pieces(self.breaks, degree)  # (intervals, degree + 1, m): coefficients of each B-spline
        self.targets = np.empty_like(pairs.distances)
        self.mapped = np.empty_like(pairs.distances)
        self._root, self._pull = self._normal_equations(degree)
        self.coefficients = np.linspace(0, 1, self.pieces.shape[2])

    def update(self, y: Array, threads: int) -> Array:
        """The nearest curve to the distances of the map."""
        _native.map_distances(y, None, self.mapped, threads)
        moments = self._moments(self.pieces.shape[1], self.mapped)
        right = np.einsum("spm,sp->m", self.pieces, moments)
        steps = scipy.optimize.nnls(self._root, self._pull @ np.cumsum(right[::-1])[::-1])[0]
        self.coefficients = np.cumsum(steps)
        squares = self._write()
        if squares > 0:
            factor = np.sqrt(self.pairs.total / squares)
            self.coefficients *= factor
            self.targets *= self.targets.dtype.type(factor)
        return self.targets

    def narrow(self, pairs: Pairs) -> Disparities:
        """The same knots and normal equations."""
        out = copy(self)
        out.pairs, out.targets, out.mapped = pairs, np.empty_like(pairs.distances), np.empty_like(pairs.distances)
        return out

    def curve(self) -> Array | None:
        """From distance 0 to twice the largest."""
        t = np.linspace(0, 1, 2 if self.pieces.shape[1] == 2 else 257)
        values = self._at(t)
        x = self.low + self.width * t
        if self.pieces.shape[1] == 2:  # a straight line goes on as it is
            slope = (values[1] - values[0]) / self.width
            x = np.array([0.0, *x, 2 * x[1]])
            values = np.array([max(0.0, values[0] - slope * self.low), *values, values[1] + slope * x[-2]])
        return np.stack([x, values]) * self.pairs.unit

    def _at(self, t: Array) -> Array:
        """The curve at places from 0 to 1."""
        polynomials = self.pieces @ self.coefficients  # (intervals, degree + 1)
        where = self._interval(t)
        out = np.zeros_like(t)
        for power in range(polynomials.shape[1] - 1, -1, -1):
            out = out * t + polynomials[where, power].astype(t.dtype)
        return np.maximum(out, 0)

    def _interval(self, t: Array) -> NDArray[np.intp]:
        return np.searchsorted(self.breaks[1:-1], t, side="right")

    def _chunks(self) -> list[slice]:
        count = len(self.pairs.distances)
        return [slice(start, min(start + CHUNK, count)) for start in range(0, count, CHUNK)]

    def _place(self, part: slice) -> Array:
        return (self.pairs.distances[part].astype(np.float64) - self.low) / self.width

    def _moments(self, powers: int, values: Array | None) -> Array:
        """Σ w value tᵖ by interval, (intervals, powers)."""
        intervals = len(self.breaks) - 1
        out = np.zeros((intervals, powers))
        for part in self._chunks():
            t = self._place(part)
            where = self._interval(t)
            mass = np.ones_like(t) if values is None else values[part].astype(np.float64)
            if self.pairs.weights is not None:
                mass = mass * self.pairs.weights[part]
            for power in range(powers):
                out[:, power] += np.bincount(where, weights=mass, minlength=intervals)
                mass = mass * t
        return out

    def _normal_equations(self, degree: int) -> tuple[Array, Array]:
        """R and S with |R g - S b|² the fit, g ≥ 0 the steps between the coefficients."""
        moments = self._moments(2 * degree + 1, None)
        powers = np.arange(degree + 1)
        hankel = moments[:, powers[:, None] + powers[None, :]]  # (intervals, degree + 1, degree + 1)
        gram = np.einsum("spm,spq,sqn->mn", self.pieces, hankel, self.pieces)
        gram = np.cumsum(np.cumsum(gram[::-1, ::-1], axis=0), axis=1)[::-1, ::-1]  # of the cumulative basis
        values, vectors = np.linalg.eigh(gram)
        kept = values > 1e-12 * values[-1]
        root = np.sqrt(values[kept])[:, None] * vectors[:, kept].T
        return root, vectors[:, kept].T / np.sqrt(values[kept])[:, None]

    def _write(self) -> float:
        """Fills the targets; returns Σ w d̂²."""
        squares = 0.0
        for part in self._chunks():
            values = self._at(self._place(part))
            if self.pairs.weights is not None:
                present = self.pairs.weights[part]
                values = np.where(present > 0, values, 0.0)
                squares += float((values**2) @ present)
            else:
                squares += float(values @ values)
            self.targets[part] = values
        return squares


class Ranks(Disparities):
    """Any rising sequence: only the order of the distances counts (Kruskal).

    The pairs are sorted once, and what belongs to them is held by buckets of neighbouring ranks (`Ranking`).
    Ties: "primary" pairs may part in any order,
    "secondary" ones must stay equal, of "tertiary" ones the means must rise.
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
            _native.isotonic(self.mapped, self.weights, self.ranking, self.pairs.total, self.targets, threads)
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
        self.targets[places] = fitted * np.sqrt(self.pairs.total / squares) if squares > 0 else fitted


def _pieces(breaks: Array, degree: int) -> Array:
    """Coefficients (intervals, degree + 1, m) of the B-splines as polynomials between the breaks."""
    knots = np.concatenate([[0.0] * degree, breaks, [1.0] * degree])
    count = len(knots) - degree - 1
    out = np.zeros((len(breaks) - 1, degree + 1, count))
    for m in range(count):
        spline = scipy.interpolate.BSpline(knots, np.eye(count)[m], degree)
        for s, (a, b) in enumerate(pairwise(breaks)):
            t = a + (b - a) * np.linspace(0.1, 0.9, degree + 1)
            out[s, :, m] = np.polynomial.polynomial.polyfit(t, spline(t), degree)
    return out
