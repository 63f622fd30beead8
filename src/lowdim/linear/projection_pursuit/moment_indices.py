"""Indices that are means over the rows: kurtosis, skewness, the moment index, negentropy, holes, central mass.

Z are scores of sphered rows: columns of mean 0 and variance 1, uncorrelated.
"""

from __future__ import annotations

import numpy as np

from lowdim.linear.projection_pursuit.indices import Array, ScoreIndex

__all__ = ["CentralMass", "Holes", "Kurtosis", "Moment", "Negentropy", "Skewness"]

# Hyvärinen's factors, for which both terms are the squares of projections on orthonormal functions.
ODD_FACTOR = 36 / (8 * np.sqrt(3) - 9)
EVEN_FACTOR = 24 / (16 * np.sqrt(3) - 27)
EVEN_NORMAL = np.sqrt(0.5)  # E exp(-z²/2) of a standard normal z


class Kurtosis(ScoreIndex):
    """Squared excess kurtosis, (E z⁴ - 3)²: 0 for a normal z, 1.44 for a uniform one, 4 for two equal points."""

    dimensions = 1

    def measure(self, Z: Array) -> tuple[float, Array]:
        excess = float(np.mean(Z**4)) - 3.0
        return excess**2, (8 * excess / len(Z)) * Z**3


class Skewness(ScoreIndex):
    """Squared skewness, (E z³)²: 0 for a symmetric z, 4 for an exponential one."""

    dimensions = 1

    def measure(self, Z: Array) -> tuple[float, Array]:
        skew = float(np.mean(Z**3))
        return skew**2, (6 * skew / len(Z)) * Z**2


class Moment(ScoreIndex):
    """Jones and Sibson's moment index, (κ₃² + κ₄² / 4) / 12 with κ₃ = E z³ and κ₄ = E z⁴ - 3."""

    dimensions = 1

    def measure(self, Z: Array) -> tuple[float, Array]:
        (skewness, by_skewness), (kurtosis, by_kurtosis) = Skewness().measure(Z), Kurtosis().measure(Z)
        return (skewness + kurtosis / 4) / 12, (by_skewness + by_kurtosis / 4) / 12


class Negentropy(ScoreIndex):
    """Hyvärinen's approximation, k₁ (E z exp(-z²/2))² + k₂ (E exp(-z²/2) - √½)².

    k₁ = 36 / (8√3 - 9) and k₂ = 24 / (16√3 - 27). The first term measures asymmetry, the second how far the density is
    bimodal or peaked; outliers hardly count.
    """

    dimensions = 1

    def measure(self, Z: Array) -> tuple[float, Array]:
        bell = np.exp(-0.5 * Z**2)
        odd, even = float(np.mean(Z * bell)), float(np.mean(bell)) - EVEN_NORMAL
        slope = (2 * ODD_FACTOR * odd) * (1 - Z**2) - (2 * EVEN_FACTOR * even) * Z
        return float(ODD_FACTOR * odd**2 + EVEN_FACTOR * even**2), slope * bell / len(Z)


class Holes(ScoreIndex):
    """(1 - mean exp(-‖z‖²/2)) / (1 - exp(-k/2)) for k columns: large if few rows lie near the center."""

    sign = 1.0

    def measure(self, Z: Array) -> tuple[float, Array]:
        k = Z.shape[1]
        bell = np.exp(-0.5 * np.einsum("ij,ij->i", Z, Z))
        holes = (1 - float(bell.mean())) / (1 - np.exp(-k / 2))
        slope = (self.sign / (len(Z) * (1 - np.exp(-k / 2)))) * bell[:, None] * Z
        return float(holes if self.sign > 0 else 1 - holes), slope


class CentralMass(Holes):
    """(mean exp(-‖z‖²/2) - exp(-k/2)) / (1 - exp(-k/2)) = 1 - holes: large if many rows lie near the center."""

    sign = -1.0
