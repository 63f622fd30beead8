"""The connected pieces of a graph: each is solved by itself, and all are laid side by side."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

__all__ = ["by_pieces", "inside", "side_by_side"]

Array = NDArray[Any]

GAP = 0.5  # between pieces laid side by side, in units of a coordinate's spread


def members(labels: Array) -> list[Array]:
    """The rows of every piece, ascending."""
    return np.split(np.argsort(labels, kind="stable"), np.cumsum(np.bincount(labels))[:-1])


def inside(matrix: sp.csr_array, rows: Array) -> sp.csr_array:
    """The part of a matrix that concerns these rows."""
    return matrix if len(rows) == matrix.shape[0] else sp.csr_array(matrix[rows][:, rows])


def by_pieces(
    labels: Array, k: int, solve: Callable[[Array, int], tuple[Array, Array]]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Coordinates (n, k) and values (c, k), where solve(rows, m) gives m values and coordinates for a piece.

    A piece of fewer than k + 1 rows has no more than one coordinate less than rows; the others are 0.
    """
    pieces = members(labels)
    Z, values = np.zeros((len(labels), k)), np.zeros((len(pieces), k))
    for piece, rows in enumerate(pieces):
        most = min(k, len(rows) - 1)
        if most > 0:
            values[piece, :most], Z[rows, :most] = solve(rows, most)
    return Z, values


def side_by_side(Z: Array, labels: Array) -> tuple[Array, NDArray[np.float64]]:
    """Pieces laid out along the first axis, their size by their share of the rows; also where each begins (c,).

    Every coordinate has mean square 1 over the rows of its piece.
    """
    pieces = members(labels)
    offsets = np.zeros(len(pieces))
    if len(pieces) <= 1:
        return Z, offsets
    share = np.sqrt(np.bincount(labels) / len(labels))
    Z = Z * share[labels, None]
    edge = 0.0
    for piece, rows in enumerate(pieces):
        first = Z[rows, 0]
        offsets[piece] = edge - float(first.min())
        edge += float(first.max() - first.min()) + GAP * float(share[piece])
    Z[:, 0] += offsets[labels]
    return Z, offsets
