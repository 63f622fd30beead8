"""Upper tails of weighted sums of χ² variables, Q = Σ ω_i χ²(1), by a saddlepoint approximation (Kuonen 1999)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import chdtrc, ndtr

__all__ = ["weighted_chi2_sf"]

Array = NDArray[np.float64]

NEGLIGIBLE = 1e-10  # weights below this share of the largest are rounding errors
EQUAL = 1e-6  # weights within this relative difference make an exact χ²
CENTER = 1e-3  # standard deviations around the mean within which the formula, 0/0 at the mean, is interpolated


def weighted_chi2_sf(q: float, weights: Array) -> float:
    """P(Σ ω_i χ²(1) > q) for weights ω ≥ 0; exact if all weights are equal, else within about 1%."""
    weights = weights[weights > NEGLIGIBLE * weights.max(initial=0.0)]
    if len(weights) == 0:
        return 1.0 if q <= 0 else 0.0
    if q <= 0:
        return 1.0
    if weights.max() <= (1 + EQUAL) * weights.min():
        return float(chdtrc(len(weights), q / weights.mean()))
    scaled, q = weights / weights.max(), q / float(weights.max())
    mean, deviation = float(scaled.sum()), float(np.sqrt(2 * (scaled**2).sum()))
    offset = (q - mean) / deviation
    if abs(offset) < CENTER:
        low, high = (_lugannani_rice(mean + side * CENTER * deviation, scaled) for side in (-1, 1))
        return low + (high - low) * (offset + CENTER) / (2 * CENTER)
    return _lugannani_rice(q, scaled)


def _lugannani_rice(q: float, weights: Array) -> float:
    """The tail from the cumulant generating function K(t) = -½ Σ log(1 - 2 ω_i t), with max ω = 1, so t < ½."""

    def slope(t: float) -> float:
        return float((weights / (1 - 2 * weights * t)).sum()) - q

    # K' grows from 0 at -∞ to ∞ at ½. It is at most q/2 at the lower end, and its largest term above q at the upper.
    t = brentq(slope, -len(weights) / q, 0.5 - 0.25 / (q + 1), xtol=1e-15, rtol=1e-14)
    cumulant = -0.5 * float(np.log1p(-2 * weights * t).sum())
    curvature = 2 * float(((weights / (1 - 2 * weights * t)) ** 2).sum())
    w = float(np.sign(t)) * float(np.sqrt(max(2 * (t * q - cumulant), 0.0)))
    v = t * float(np.sqrt(curvature))
    return float(np.clip(ndtr(-(w + np.log(v / w) / w)), 0.0, 1.0))
