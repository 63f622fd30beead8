"""Checks of distance matrices, the same for every method that takes them.

Distances that were computed carry rounding errors: 1 minus the correlation of a row with itself can be 2e-16 or -2e-16.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.data.rows import Rows
from lowdim.errors import BadInput

__all__ = [
    "checked_distances",
    "checked_new_distances",
    "precomputed_distances",
    "require_distances",
    "require_lengths",
    "require_zero_diagonal",
    "rounding_of",
]

Array = NDArray[Any]

MIN_SLACK = 1e-6  # many float64 matrices were once of lower precision
TILE = 256


def rounding_of(dtype: np.dtype[Any]) -> float:
    """Rounding error of a distance relative to the largest: computed from squares, it loses half the digits."""
    return max(MIN_SLACK, float(np.sqrt(np.finfo(dtype).eps)) if dtype.kind == "f" else 0.0)


def precomputed_distances(rows: Rows, *, missing: bool) -> Array:
    """The distance matrix that X holds with metric='precomputed', checked; NaN marks a missing distance."""
    n = rows.count
    if rows.sparse or rows.d != n:
        kind = "sparse" if rows.sparse else "dense"
        raise BadInput(
            f"metric='precomputed' needs a dense square matrix of distances; got a {kind} one of shape ({n}, {rows.d})."
        )
    return checked_distances(rows.whole(), missing=missing)


def checked_distances(D: Array, *, missing: bool = False) -> Array:
    """A distance matrix, as `require_distances` wants it; what rounding left below zero or on the diagonal is set to
    zero, in a copy.
    """
    require_distances(D, missing=missing)
    if np.nan_to_num(np.diagonal(D)).any() or _lowest(D) < 0:
        D = np.maximum(D, 0)
        np.fill_diagonal(D, 0)
    return D


def require_distances(D: Array, *, missing: bool = False) -> None:
    """Refuse a square matrix unless it is not negative, zero on the diagonal and symmetric, up to rounding.

    Similarities, triangles, raw tables and adjacency matrices are thereby told from distances. NaN marks a missing
    distance, where that is allowed (`missing`).
    """
    slack = _require_nonnegative(D, missing)
    require_zero_diagonal(np.nan_to_num(np.diagonal(D)), slack)
    for a in range(0, len(D), TILE):
        for b in range(a, len(D), TILE):
            _require_symmetry(D, slice(a, a + TILE), slice(b, b + TILE), slack)
    _require_alike_at_zero(D, slack)


def require_zero_diagonal(diagonal: Array, slack: float) -> None:
    """Refuse similarities, which are largest on the diagonal."""
    if (np.abs(diagonal) > slack).any():
        i = int(np.argmax(np.abs(diagonal)))
        raise BadInput(f"the distance of row {i} to itself is {diagonal[i]} and must be 0. Are these similarities?")


def require_lengths(stored: Array) -> None:
    """Refuse connectivities: stored entries of a sparse matrix, without its diagonal, that are all 1."""
    if len(stored) and (stored == 1).all():
        raise BadInput(
            "all stored distances are 1. Are these connectivities? Make the graph with mode='distance'. If the edges "
            "have no lengths, use Isomap(radius=1), which counts them, or LaplacianEigenmaps(affinity='precomputed')."
        )


def checked_new_distances(D: Array, *, missing: bool = False, first: int = 0) -> Array:
    """Distances (m, n) of new rows, numbered from `first`, to the fitted ones: not negative, up to rounding."""
    _require_nonnegative(D, missing, first)
    return np.maximum(D, 0) if _lowest(D) < 0 else D


def _require_nonnegative(D: Array, missing: bool, first: int = 0) -> float:
    """Refuse distances that are infinite or negative beyond rounding; returns the slack for rounding."""
    largest = float(np.fmax.reduce(D, axis=None, initial=0.0))
    slack = rounding_of(D.dtype) * largest
    lowest = _lowest(D)
    if not np.isfinite(largest) or lowest < -slack:
        i, j = (int(at) for at in np.argwhere(np.isinf(D) | (-slack > D))[0])
        raise BadInput(
            f"a distance must be finite and not negative{', or NaN where it is missing' if missing else ''}; from "
            f"row {first + i} to row {j} it is {D[i, j]}. Correct it, or use a method that takes similarities."
        )
    if not missing and np.isnan(D.min(initial=0.0)):
        i, j = (int(at) for at in np.argwhere(np.isnan(D))[0])
        raise BadInput(
            f"the distance from row {first + i} to row {j} is NaN, and no distance may be missing here. Fill it in, "
            "or use MDS(metric='precomputed'), which accepts missing distances."
        )
    return slack


def _require_alike_at_zero(D: Array, slack: float) -> None:
    """Refuse an adjacency matrix, most of whose zeros say "no edge": rows at distance 0 would have to be alike."""
    n, different = len(D), 0
    if 2 * np.count_nonzero(D) >= n * (n - 1):
        return
    for start in range(0, n, TILE):
        rows = D[start : start + TILE]
        zero = rows == 0
        zero[np.arange(len(rows)), start + np.arange(len(rows))] = False
        with np.errstate(invalid="ignore"):
            far = (np.abs(rows - D[zero.argmax(axis=1)]) > slack).any(axis=1)
        different += int(np.count_nonzero(far & zero.any(axis=1)))
    if 2 * different > n:
        raise BadInput(
            "most of the distances are 0, but rows at distance 0 have other distances to the rest. Are these "
            "connectivities or edge weights? Give distances, or a sparse matrix, whose stored entries are the edges."
        )


def _lowest(D: Array) -> float:
    return float(np.fmin.reduce(D, axis=None, initial=0.0))


def _require_symmetry(D: Array, rows: slice, columns: slice, slack: float) -> None:
    upper, lower = D[rows, columns], D[columns, rows].T
    with np.errstate(invalid="ignore"):
        differ = ~(np.abs(upper - lower) <= slack)
    if differ.any():
        differ &= ~(np.isnan(upper) & np.isnan(lower))
    if differ.any():
        i, j = (int(at) for at in np.argwhere(differ)[0])
        raise BadInput(
            f"the distances must be symmetric; from row {rows.start + i} to row {columns.start + j} it is "
            f"{upper[i, j]} and back {lower[i, j]}. Take the mean of both, (D + D.T) / 2."
        )
