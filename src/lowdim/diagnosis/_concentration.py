"""Do distances still tell rows apart? Concentration and hubness, beside those of pure noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lowdim.choose._null_spectra import bartlett, generator

__all__ = ["Concentration", "Hubness", "concentration", "hubness", "noise_rows"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Concentration:
    """How far distances from a row spread; both numbers go to 0 as they become all alike."""

    relative_contrast: float  # mean over rows of (farthest - nearest) / nearest
    median_contrast: float  # its median, which a few close pairs don't move
    variation: float  # standard deviation of all distances over their mean


@dataclass(frozen=True)
class Hubness:
    """How unevenly rows appear among the k nearest of others."""

    k: int
    skewness: float  # of the number of appearances N_k; near 0 without hubs
    antihubs: float  # share of the rows that appear nowhere
    largest: int  # appearances of the largest hub, k on average
    hub: int  # its row number


def concentration(far: Array, near: Array) -> Concentration | None:
    """From distances (q, m) of q rows to all others and the distances (q,) to the nearest."""
    apart = near > 0
    if not apart.any():
        return None
    contrast = (far.max(axis=1)[apart] - near[apart]) / near[apart]
    return Concentration(float(contrast.mean()), float(np.median(contrast)), float(far.std() / far.mean()))


def hubness(neighbours: NDArray[np.intp], number: NDArray[np.int64]) -> Hubness:
    """From the k nearest of each row, (n, k), and the rows' numbers in the table, (n,)."""
    n, k = neighbours.shape
    appears = np.bincount(neighbours.ravel(), minlength=n)
    spread = float(appears.std())
    skewness = float(((appears - k) ** 3).mean()) / spread**3 if spread > 0 else 0.0
    hub = int(np.argmax(appears))
    return Hubness(k, skewness, float((appears == 0).mean()), int(appears[hub]), int(number[hub]))


def noise_rows(n: int, d: int, seed: int) -> Array:
    """Rows whose distances are those of n standard normal rows of d columns, in at most n coordinates."""
    random = generator(seed, 0)
    return random.standard_normal((n, d)) if d < n else bartlett(n, d, random)
