"""What a Shepard diagram shows: the three numbers of every pair."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lowdim.distance.condensed import Pairs
from lowdim.mds.out_of_sample import bend

__all__ = ["Shepard", "shepard_of"]

Array = NDArray[Any]


class Shepard(NamedTuple):
    """The three numbers of every pair i < j, in SciPy's order: NaN where there is no distance."""

    distances: Array
    disparities: Array
    mapped: Array


def shepard_of(pairs: Pairs, embedding: Array, curve: Array | None) -> Shepard:
    """Of given pairs, the map (n, k) of their rows, and the curve from distance to disparity."""
    from scipy.spatial.distance import pdist

    given = pairs.distances.astype(np.float64) * pairs.unit
    disparities = bend(given, curve)
    if pairs.weights is not None:
        disparities = np.where(pairs.weights > 0, disparities, np.nan)
        given = np.where(pairs.weights > 0, given, np.nan)
    return Shepard(given, disparities, pdist(embedding.astype(np.float64)))
