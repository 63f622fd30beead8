"""Disparities on a rising curve of the distance: a straight line, or a quadratic spline."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from typing import Any

import numpy as np
import scipy.interpolate
import scipy.optimize
from numpy.typing import NDArray

from lowdim import _native
from lowdim.distance.condensed import Pairs
from lowdim.mds.disparities import Disparities

__all__ = ["Curve", "bends"]

Array = NDArray[Any]

CHUNK = 1 << 14  # pairs: what is computed of them stays in the cache
SHARES = (0.2, 0.4, 0.6, 0.8)  # of the pairs, below the breaks of a spline
APART = 0.01  # breaks nearer than this to each other or to an end would only fit noise
CORNERS = 257  # that a spline is shown with


class Curve(Disparities):
    """A rising curve of the distance, not below zero.

    Such a curve is a sum of B-splines with coefficients 0 ≤ c₀ ≤ c₁ ≤ …, so of their sums from the m-th on with factors
    that are not negative. All of them are sums of 1, t, t² and (t - b)₊² for every break b, with t = 0 at the least
    distance and t = 1 at the largest: Σ w d times each of these is all that a fit must know of the pairs.
    """

    @staticmethod
    def bytes_a_pair(itemsize: int) -> int:
        """Targets; and in single precision, distances and targets."""
        return itemsize + 2 * (itemsize - 4)

    def __init__(self, pairs: Pairs, degree: int) -> None:
        self.pairs, self.straight = pairs, degree == 1
        present = pairs.distances if pairs.weights is None else pairs.distances[pairs.weights > 0]
        low, high = float(present.min()), float(present.max())
        self.low, self.width = low, high - low or 1.0
        self.breaks = np.empty(0) if self.straight else _breaks(np.quantile(present, SHARES), low, self.width)
        self.rising = np.eye(3, 2) if self.straight else _rising(self.breaks)  # (3 + breaks, m)
        self.targets = np.empty_like(pairs.distances)
        self.coefficients = self.rising.sum(axis=1)  # of 1, t, t² and the bends
        self._root, self._pull = self._normal_equations()

    def update(self, y: Array, threads: int) -> Array:
        """The nearest curve to the distances of the map."""
        given, where = self.pairs.distances, (self.breaks, self.low, self.width)
        moments = np.array(_native.bend_moments(y, given, self.pairs.weights, *where, self.targets, threads))
        factors = scipy.optimize.nnls(self._root, self._pull @ (self.rising.T @ moments))[0]
        squares = float(np.square(self._root @ factors).sum())  # Σ w d̂²
        if squares > 0:
            factors *= np.sqrt(self.pairs.sum_of_squares / squares)
        self.coefficients = self.rising @ factors
        _native.bend_curve(given, *where, self.coefficients, self.targets, threads)
        return self.targets

    def narrow(self, pairs: Pairs) -> Disparities:
        """The same breaks and normal equations."""
        out = copy(self)
        out.pairs, out.targets = pairs, np.empty_like(pairs.distances)
        return out

    def curve(self) -> Array | None:
        """From distance 0 to twice the largest for a straight line, which goes on as it is; else within the known."""
        t = np.linspace(0, 1, 2 if self.straight else CORNERS)
        values = np.maximum(self.coefficients @ bends(t, self.breaks), 0)
        x = self.low + self.width * t
        if self.straight:
            slope = (values[1] - values[0]) / self.width
            x = np.array([0.0, *x, 2 * x[1]])
            values = np.array([max(0.0, values[0] - slope * self.low), *values, values[1] + slope * x[-2]])
        return np.stack([x, values]) * self.pairs.unit

    def _normal_equations(self) -> tuple[Array, Array]:
        """R and S with |R g - S b|² the fit, g ≥ 0 the factors of the rising curves."""
        gram = np.zeros((self.rising.shape[1],) * 2)
        for t, weights in self._chunks():
            values = self.rising.T @ bends(t, self.breaks)  # (m, chunk)
            gram += values @ (values if weights is None else weights * values).T
        sizes, vectors = np.linalg.eigh(gram)
        kept = sizes > 1e-12 * sizes[-1]
        root = np.sqrt(sizes[kept])[:, None] * vectors[:, kept].T
        return root, vectors[:, kept].T / np.sqrt(sizes[kept])[:, None]

    def _chunks(self) -> Iterator[tuple[Array, Array | None]]:
        """Places from 0 to 1 of the distances, and their weights."""
        weights = self.pairs.weights
        for start in range(0, len(self.pairs.distances), CHUNK):
            part = slice(start, start + CHUNK)
            t = (self.pairs.distances[part].astype(np.float64) - self.low) / self.width
            yield np.clip(t, 0, 1), None if weights is None else weights[part].astype(np.float64)


def bends(t: Array, breaks: Array) -> Array:
    """1, t, t² and (t - b)₊² for every break b, (3 + breaks, n)."""
    return np.stack([np.ones_like(t), t, t * t, *(np.maximum(t - b, 0) ** 2 for b in breaks)])


def _breaks(quantiles: Array, low: float, width: float) -> Array:
    """Where the pieces of a spline meet, between 0 and 1."""
    kept = [0.0]
    for place in (np.asarray(quantiles, dtype=np.float64) - low) / width:
        if kept[-1] + APART < place < 1 - APART:
            kept.append(float(place))
    return np.array(kept[1:])


def _rising(breaks: Array) -> Array:
    """Sums of the quadratic B-splines from the m-th on, as coefficients (3 + breaks, m) of the functions of `bends`."""
    knots = np.concatenate([[0.0] * 3, breaks, [1.0] * 3])
    splines = scipy.interpolate.BSpline(knots, np.tri(len(knots) - 3), 2)
    edges = np.concatenate([[0.0], breaks, [1.0]])
    squares = splines.derivative(2)((edges[1:] + edges[:-1]) / 2) / 2  # the coefficient of t² in every piece
    return np.vstack([splines(0.0), splines.derivative()(0.0), squares[:1], np.diff(squares, axis=0)])
