"""Modes of the density of the rows: groups that are denser than what lies between them (ToMATo).

Chazal, Guibas, Oudot and Skraba (2013), Persistence-based clustering in Riemannian manifolds. Rows are visited from the
densest to the sparsest along the neighbor graph. A row without a denser neighbor begins a mode; a row between two modes
ends the lower one, whose prominence is how many times denser its peak is than this pass. Noise in the density makes
many shallow modes, which do not count.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["count_modes"]

PROMINENCE = 1.0  # logarithm of how many times denser a peak must be than the pass: e, in any dimension
FEWEST_ROWS, SMALLEST = 8, 0.03  # rows of a mode, and their share of all
FEWEST_MEASURED = 50  # rows from which a density can be estimated


def count_modes(neighbors: NDArray[np.intp], radius: NDArray[np.float64], dimension: float | None) -> int | None:
    """The number of prominent modes, from the neighbors of each row (n, k) and the distance of the last of them, (n,).

    The density of a row is k over the volume of the ball of that radius, in the intrinsic dimension. None for too few
    rows, or without a dimension.
    """
    n = len(neighbors)
    if n < FEWEST_MEASURED or dimension is None:
        return None
    density = -dimension * np.log(np.maximum(radius, np.finfo(np.float64).tiny))
    order = np.argsort(-density, kind="stable")
    rank = np.empty(n, dtype=np.intp)
    rank[order] = np.arange(n)
    adjacent = _symmetric(neighbors)
    fewest = max(FEWEST_ROWS, SMALLEST * n)
    peak: NDArray[np.intp] = np.arange(n)  # a forest whose roots are the peaks of the modes
    size: NDArray[np.intp] = np.ones(n, dtype=np.intp)
    count = 0
    for row in order.tolist():
        denser = {_root(peak, other) for other in adjacent[row] if rank[other] < rank[row]}
        highest, *lower = sorted(denser, key=lambda root: int(rank[root])) or [row]
        if highest != row:
            peak[row] = highest
            size[highest] += 1
        for root in lower:
            count += bool(density[root] - density[row] >= PROMINENCE and size[root] >= fewest)
            peak[root] = highest
            size[highest] += size[root]
    return count + int(((peak == np.arange(n)) & (size >= fewest)).sum())


def _symmetric(neighbors: NDArray[np.intp]) -> list[list[int]]:
    """The rows that each row is a neighbor of or has as one."""
    adjacent: list[list[int]] = neighbors.tolist()
    for row, nearest in enumerate(neighbors.tolist()):
        for other in nearest:
            adjacent[other].append(row)
    return adjacent


def _root(peak: NDArray[np.intp], row: int) -> int:
    while peak[row] != row:
        peak[row] = peak[peak[row]]
        row = int(peak[row])
    return row
