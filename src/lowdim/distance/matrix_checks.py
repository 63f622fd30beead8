"""Tables of distances at the door: one check for every method that takes them.

Distances that were computed carry rounding errors: 1 - a correlation of a row with itself can be 2e-16, or -2e-16.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput

__all__ = ["checked_distances", "checked_new_distances", "rounding_of"]

Array = NDArray[Any]

LEAST_SLACK = 1e-6  # many tables are float64 that were once something less
TILE = 256


def rounding_of(dtype: np.dtype[Any]) -> float:
    """What rounding may do to a distance, as a share of the largest: taken from squares, it loses half the digits."""
    return max(LEAST_SLACK, float(np.sqrt(np.finfo(dtype).eps)) if dtype.kind == "f" else 0.0)


def checked_distances(D: Array, *, missing: bool = False) -> Array:
    """A square table as distances: not negative, zero from a row to itself, the same both ways, up to rounding.

    What rounding left below zero or on the diagonal is set to zero, in a copy. NaN says that a distance is not
    known, where that may be (`missing`).
    """
    slack = _require_lengths(D, missing)
    diagonal = np.nan_to_num(np.diagonal(D))
    if (np.abs(diagonal) > slack).any():
        i = int(np.argmax(np.abs(diagonal)))
        raise BadInput(f"the distance of row {i} to itself is {D[i, i]} and must be 0. Are these similarities?")
    for a in range(0, len(D), TILE):
        for b in range(a, len(D), TILE):
            _require_symmetry(D, slice(a, a + TILE), slice(b, b + TILE), slack)
    if diagonal.any() or _lowest(D) < 0:
        D = np.maximum(D, 0)
        np.fill_diagonal(D, 0)
    return D


def checked_new_distances(D: Array, *, missing: bool = False, first: int = 0) -> Array:
    """Distances (m, n) of new rows, from number `first` on, to fitted ones, checked in the same way."""
    _require_lengths(D, missing, first)
    return np.maximum(D, 0) if _lowest(D) < 0 else D


def _require_lengths(D: Array, missing: bool, first: int = 0) -> float:
    """Refuse what is no length; returns what rounding may have done."""
    largest = float(np.fmax.reduce(D, axis=None, initial=0.0))
    slack = rounding_of(D.dtype) * largest
    lowest = _lowest(D)
    if not np.isfinite(largest) or lowest < -slack:
        i, j = (int(at) for at in np.argwhere(np.isinf(D) | (-slack > D))[0])
        raise BadInput(
            f"a distance must be finite and not negative{', or NaN where it is not known' if missing else ''}; from "
            f"row {first + i} to row {j} it is {D[i, j]}. Mend it, or give similarities to a method that takes them."
        )
    if not missing and np.isnan(D).any():
        i, j = (int(at) for at in np.argwhere(np.isnan(D))[0])
        raise BadInput(
            f"the distance from row {first + i} to row {j} is NaN, and every distance must be known here. Fill it "
            "in, or use MDS(metric='precomputed'), which copes with distances that are not known."
        )
    return slack


def _lowest(D: Array) -> float:
    return float(np.fmin.reduce(D, axis=None, initial=0.0))


def _require_symmetry(D: Array, rows: slice, columns: slice, slack: float) -> None:
    there, back = D[rows, columns], D[columns, rows].T
    with np.errstate(invalid="ignore"):
        apart = ~(np.abs(there - back) <= slack)
    if apart.any():
        apart &= ~(np.isnan(there) & np.isnan(back))
    if apart.any():
        i, j = (int(at) for at in np.argwhere(apart)[0])
        raise BadInput(
            f"the distances must be symmetric; from row {rows.start + i} to row {columns.start + j} it is "
            f"{there[i, j]} and back {back[i, j]}. Take the mean of both, (D + D.T) / 2."
        )
