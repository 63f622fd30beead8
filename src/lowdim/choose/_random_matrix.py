"""Rules that know how the singular values of pure noise spread: Marchenko and Pastur's law.

For centered noise of variance σ² with m = n - 1 independent rows and d columns, let β be the smaller of m/d and
d/m. The squared singular values, divided by the larger of m and d, fill (1 ± √β)² σ², and their median is
μ_β σ². The median of the data's own eigenvalues therefore tells σ², as long as less than half of them are signal.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from lowdim.choose._rules import Rule, Verdict, axes, degrees_of_freedom, leading, rounding
from lowdim.decomposition.component_count import Spectrum

__all__ = ["gavish_donoho", "marchenko_pastur", "optimal_coefficient", "pastur_median"]


@dataclass(frozen=True)
class marchenko_pastur(Rule):
    """The components above the upper edge of the Marchenko–Pastur bulk of pure noise: σ² (1 + √γ)²."""

    def verdict(self, spectrum: Spectrum) -> Verdict:
        beta, median = _bulk(spectrum)
        edge = median * (1 + np.sqrt(beta)) ** 2 / pastur_median(beta)
        k = leading(axes(spectrum) > max(edge, rounding(spectrum)))
        return self._answer(k, f"eigenvalues above {edge:.4g}, the Marchenko–Pastur edge of noise")


@dataclass(frozen=True)
class gavish_donoho(Rule):
    """The singular values above ω(β) times their median: the optimal hard threshold for unknown noise.

    It is stricter than the edge of the bulk: a component just above the edge is so noisy that keeping it adds more
    squared error than it removes.
    """

    def verdict(self, spectrum: Spectrum) -> Verdict:
        beta, median = _bulk(spectrum)
        omega = optimal_coefficient(beta)
        limit = omega**2 * median  # eigenvalues are squares of singular values
        k = leading(axes(spectrum) > max(limit, rounding(spectrum)))
        return self._answer(k, f"singular values above {omega:.3f} times their median (β = {beta:.3g})")


def optimal_coefficient(beta: float) -> float:
    """ω(β) = λ*(β) / √μ_β of Gavish and Donoho (2014)."""
    root = np.sqrt(beta * beta + 14 * beta + 1)
    return float(np.sqrt((2 * (beta + 1) + 8 * beta / (beta + 1 + root)) / pastur_median(beta)))


@lru_cache(maxsize=256)
def pastur_median(beta: float) -> float:
    """The median μ_β of Marchenko and Pastur's law with unit variance and 0 < β ≤ 1.

    With t = (1 - √β)² + 4√β h, h = sin²(θ/2), the law has the smooth density (2/π) sin²θ / t on 0 ≤ θ ≤ π.
    """
    from scipy.integrate import quad
    from scipy.optimize import brentq

    root = np.sqrt(beta)

    def place(angle: float) -> float:
        return float((1 - root) ** 2 + 4 * root * np.sin(angle / 2) ** 2)

    def below(angle: float) -> float:
        return float(quad(lambda a: np.sin(a) ** 2 / place(a), 0, angle, epsabs=1e-12, limit=200)[0])

    return place(brentq(lambda angle: 2 / np.pi * below(angle) - 0.5, 0.1, np.pi, xtol=1e-12))


def _bulk(spectrum: Spectrum) -> tuple[float, float]:
    """β and the median eigenvalue."""
    m, d = degrees_of_freedom(spectrum), spectrum.d
    return min(m, d) / max(m, d), float(np.median(axes(spectrum)))
