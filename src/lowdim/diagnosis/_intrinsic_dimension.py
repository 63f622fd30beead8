"""Intrinsic dimension: two-NN, Levina–Bickel (maximum likelihood) and correlation dimension."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["IntrinsicDimension", "correlation_dimension", "levina_bickel", "two_nn"]

Array = NDArray[np.float64]

# The shares of pairs between which the correlation integral is measured: small enough to avoid boundary effects.
LOWEST, HIGHEST = 1e-3, 2e-2
FEWEST_PAIRS = 10
# Distances whose logarithms differ by less are equal: on a lattice there is no slope to measure.
EQUAL = 1e-9


@dataclass(frozen=True)
class IntrinsicDimension:
    """Estimates of the dimension of the manifold on which the rows lie; None where one can't be made."""

    two_nn: float | None
    levina_bickel: float | None
    correlation: float | None

    @property
    def typical(self) -> float | None:
        """The median of the estimates that could be made."""
        known = [value for value in (self.two_nn, self.levina_bickel, self.correlation) if value is not None]
        return float(np.median(known)) if known else None


def two_nn(near: Array, discard: float = 0.1) -> float | None:
    """Facco et al. (2017): log(1 - F(μ)) = -d log μ for the ratio μ of the second to the nearest distance.

    The line through the origin is fitted without the share `discard` of largest ratios.
    """
    if near.shape[1] < 2:
        return None
    near = near[near[:, 0] > 0]
    n = len(near)
    kept = int(n * (1 - discard))
    x = np.sort(np.log(near[:, 1] / near[:, 0]))[:kept]
    if kept == n or x.max(initial=0.0) <= EQUAL:
        return None
    y = -np.log1p(-np.arange(1, kept + 1) / n)
    return float(x @ y) / float(x @ x)


def levina_bickel(near: Array) -> float | None:
    """Levina and Bickel (2004), averaging inverse estimates (MacKay and Ghahramani)."""
    near = near[near[:, 0] > 0]
    if near.size == 0 or near.shape[1] < 2:
        return None
    inverse = float(np.log(near[:, -1:] / near[:, :-1]).mean())
    return 1 / inverse if inverse > EQUAL else None


def correlation_dimension(far: Array) -> float | None:
    """Grassberger and Procaccia (1983): the slope of log C(r), C(r) the share of pairs nearer than r."""
    pairs = np.sort(far[far > 0])
    if len(pairs) < 10 * FEWEST_PAIRS:
        return None
    lowest = max(LOWEST, FEWEST_PAIRS / len(pairs))
    shares = np.geomspace(lowest, max(HIGHEST, 5 * lowest), 12)
    radii = np.log(pairs[(shares * len(pairs)).astype(int) - 1])
    width = radii - radii.mean()
    return float(width @ np.log(shares)) / float(width @ width) if np.ptp(width) > EQUAL else None
