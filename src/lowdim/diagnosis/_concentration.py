"""Concentration of distances and hubness, beside those of Gaussian noise of the same shape."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lowdim.choose._null_spectra import bartlett, generator

__all__ = ["Concentration", "Hubness", "concentration", "hubness", "noise_rows", "normal_rows"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Concentration:
    """Concentration of distances: both numbers go to 0 as distances become equal."""

    relative_contrast: float  # median over rows, robust to a few close pairs, of (farthest - nearest) / nearest
    variation: float  # standard deviation of all distances over their mean


@dataclass(frozen=True)
class Hubness:
    """Hubness: how unevenly rows occur among the k nearest neighbors of others."""

    k: int
    skewness: float  # of the k-occurrence N_k; near 0 without hubs
    antihubs: float  # share of the rows that are nobody's neighbor
    largest: int  # k-occurrence of the largest hub; k on average
    hub: int  # its row, counted from 0


def concentration(far: Array, near: Array) -> Concentration | None:
    """From the distances (q, m) of q rows to all others, and those to the nearest, (q,)."""
    apart = near > 0
    if not apart.any():
        return None
    contrast = (far.max(axis=1)[apart] - near[apart]) / near[apart]
    return Concentration(float(np.median(contrast)), float(far.std() / far.mean()))


def hubness(neighbors: NDArray[np.intp], number: NDArray[np.int64]) -> Hubness:
    """From the k nearest of each row, (n, k), and the rows' numbers in the table, (n,)."""
    n, k = neighbors.shape
    occurrences = np.bincount(neighbors.ravel(), minlength=n)
    spread = float(occurrences.std())
    skewness = float(((occurrences - k) ** 3).mean()) / spread**3 if spread > 0 else 0.0
    hub = int(np.argmax(occurrences))
    return Hubness(k, skewness, float((occurrences == 0).mean()), int(occurrences[hub]), int(number[hub]))


def noise_rows(n: int, d: int, seed: int) -> Array:
    """Rows whose distances are those of n standard normal rows of d columns, in at most n coordinates."""
    random = generator(seed, 0)
    return random.standard_normal((n, d)) if d < n else bartlett(n, d, random)


def normal_rows(variances: Array, n: int, seed: int) -> Array:
    """N normal rows whose covariance has these eigenvalues, on its own axes: distances don't depend on the axes."""
    return generator(seed, 1).standard_normal((n, len(variances))) * np.sqrt(np.maximum(variances, 0))
