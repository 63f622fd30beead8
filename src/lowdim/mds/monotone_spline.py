"""Disparities by a monotone transformation of the distance: a line (interval scaling) or a quadratic I-spline."""

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

__all__ = ["SplineDisparities", "power_basis"]

Array = NDArray[Any]

CHUNK = 1 << 14  # pairs whose basis stays in the cache
KNOT_QUANTILES = (0.2, 0.4, 0.6, 0.8)  # of the distances: the interior knots
MIN_KNOT_GAP = 0.01  # knots closer than this to each other or to an end would only fit noise
CURVE_VERTICES = 257


class SplineDisparities(Disparities):
    """A nonnegative, nondecreasing spline of the distance, of degree 1 (one line) or 2.

    Such a spline is a sum of I-splines (Ramsay 1988), B-splines summed from the m-th on, with nonnegative coefficients.
    All of them lie in the truncated power basis 1, t, t² and (t - b)₊² for every knot b, with t = 0 at the least
    distance and t = 1 at the largest, so Σ w d times each of these functions is all that a fit needs of the pairs.
    """

    @staticmethod
    def bytes_per_pair(itemsize: int) -> int:
        """Disparities; and in single precision, distances and disparities."""
        return itemsize + 2 * (itemsize - 4)

    def __init__(self, pairs: Pairs, degree: int) -> None:
        self.pairs, self.linear = pairs, degree == 1
        present = pairs.distances if pairs.weights is None else pairs.distances[pairs.weights > 0]
        low, high = float(present.min()), float(present.max())
        self.low, self.width = low, high - low or 1.0
        self.knots = np.empty(0) if self.linear else _knots(np.quantile(present, KNOT_QUANTILES), low, self.width)
        self.i_splines = np.eye(3, 2) if self.linear else _i_splines(self.knots)  # (3 + knots, m)
        self.targets = np.empty_like(pairs.distances)
        self.coefficients = self.i_splines.sum(axis=1)  # in the power basis
        self._root, self._inverse_root = self._normal_equations()

    def update(self, Y: Array, threads: int) -> Array:
        """The least-squares spline through the distances in the embedding, by nonnegative least squares."""
        distances, where = self.pairs.distances, (self.knots, self.low, self.width)
        moments = np.array(_native.spline_moments(Y, distances, self.pairs.weights, *where, self.targets, threads))
        factors = scipy.optimize.nnls(self._root, self._inverse_root @ (self.i_splines.T @ moments))[0]
        squares = float(np.square(self._root @ factors).sum())  # Σ w d̂²
        if squares > 0:
            factors *= np.sqrt(self.pairs.sum_of_squares / squares)
        self.coefficients = self.i_splines @ factors
        _native.evaluate_spline(distances, *where, self.coefficients, self.targets, threads)
        return self.targets

    def to_float32(self, pairs: Pairs) -> Disparities:
        """The same knots and normal equations."""
        out = copy(self)
        out.pairs, out.targets = pairs, np.empty_like(pairs.distances)
        return out

    def curve(self) -> Array | None:
        """A spline between the least and the largest distance; a line from 0 to twice the largest."""
        t = np.linspace(0, 1, 2 if self.linear else CURVE_VERTICES)
        values = np.maximum(self.coefficients @ power_basis(t, self.knots), 0)
        x = self.low + self.width * t
        if self.linear:
            slope = (values[1] - values[0]) / self.width
            x = np.array([0.0, *x, 2 * x[1]])
            values = np.array([max(0.0, values[0] - slope * self.low), *values, values[1] + slope * x[-2]])
        return np.stack([x, values]) * self.pairs.unit

    def _normal_equations(self) -> tuple[Array, Array]:
        """R and S such that |R g - S b|² is the squared error for I-spline coefficients g and moments b."""
        gram = np.zeros((self.i_splines.shape[1],) * 2)
        for t, weights in self._chunks():
            values = self.i_splines.T @ power_basis(t, self.knots)  # (m, chunk)
            gram += values @ (values if weights is None else weights * values).T
        sizes, vectors = np.linalg.eigh(gram)
        kept = sizes > 1e-12 * sizes[-1]
        root = np.sqrt(sizes[kept])[:, None] * vectors[:, kept].T
        return root, vectors[:, kept].T / np.sqrt(sizes[kept])[:, None]

    def _chunks(self) -> Iterator[tuple[Array, Array | None]]:
        """The distances on the scale from 0 to 1, and their weights."""
        weights = self.pairs.weights
        for start in range(0, len(self.pairs.distances), CHUNK):
            part = slice(start, start + CHUNK)
            t = (self.pairs.distances[part].astype(np.float64) - self.low) / self.width
            yield np.clip(t, 0, 1), None if weights is None else weights[part].astype(np.float64)


def power_basis(t: Array, knots: Array) -> Array:
    """The truncated power basis 1, t, t² and (t - b)₊² for every knot b, (3 + knots, n)."""
    return np.stack([np.ones_like(t), t, t * t, *(np.maximum(t - b, 0) ** 2 for b in knots)])


def _knots(quantiles: Array, low: float, width: float) -> Array:
    """Interior knots between 0 and 1, at quantiles that are far enough apart."""
    kept = [0.0]
    for knot in (np.asarray(quantiles, dtype=np.float64) - low) / width:
        if kept[-1] + MIN_KNOT_GAP < knot < 1 - MIN_KNOT_GAP:
            kept.append(float(knot))
    return np.array(kept[1:])


def _i_splines(knots: Array) -> Array:
    """Quadratic I-splines, sums of B-splines from the m-th on, as coefficients (3 + knots, m) in the power basis."""
    padded = np.concatenate([[0.0] * 3, knots, [1.0] * 3])
    splines = scipy.interpolate.BSpline(padded, np.tri(len(padded) - 3), 2)
    edges = np.concatenate([[0.0], knots, [1.0]])
    squares = splines.derivative(2)((edges[1:] + edges[:-1]) / 2) / 2  # the coefficient of t² between two knots
    return np.vstack([splines(0.0), splines.derivative()(0.0), squares[:1], np.diff(squares, axis=0)])
