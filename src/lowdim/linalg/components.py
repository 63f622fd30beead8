"""Connected components of a graph: each is embedded by itself, and all are packed into one embedding.

Two layouts. `pack_components` puts components side by side along the first axis, for spectral embeddings, whose
coordinates have a common scale. `interval_centers` gives every component an interval of its own along each axis, for
initializations that an optimizer will move.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

__all__ = ["by_component", "component_members", "interval_centers", "pack_components", "submatrix"]

Array = NDArray[Any]

GAP = 0.5  # least gap between components side by side, in units of a coordinate's standard deviation
MIN_SHARE = 0.05  # of the rows: smaller components do not widen the gaps


def component_members(labels: Array) -> list[Array]:
    """The rows of every component, ascending."""
    return np.split(np.argsort(labels, kind="stable"), np.cumsum(np.bincount(labels))[:-1])


def submatrix(matrix: sp.csr_array, rows: Array) -> sp.csr_array:
    """The rows and columns of a square matrix that belong to these rows."""
    return matrix if len(rows) == matrix.shape[0] else sp.csr_array(matrix[rows][:, rows])


def by_component(
    labels: Array, k: int, solve: Callable[[Array, int], tuple[Array, Array]]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Coordinates (n, k) and eigenvalues (c, k), where solve(rows, m) gives m values and coordinates per component.

    A component of m rows has at most m - 1 coordinates; the others are 0.
    """
    members = component_members(labels)
    Z, values = np.zeros((len(labels), k)), np.zeros((len(members), k))
    for component, rows in enumerate(members):
        most = min(k, len(rows) - 1)
        if most > 0:
            values[component, :most], Z[rows, :most] = solve(rows, most)
    return Z, values


def pack_components(Z: Array, labels: Array) -> tuple[Array, NDArray[np.float64]]:
    """Components side by side along the first axis, scaled by √ of their share of the rows; also their offsets (c,).

    Every coordinate of Z has mean square 1 over the rows of its component. The gaps are so wide that k-means with one
    cluster per component finds the components: no row is nearer to another mean than to its own, and to merge two
    components of at least m rows adds m gap² / 2 to the sum of squares, more than splitting others could save.
    (Components below a twentieth of the rows are exceptions, for which the gaps would dwarf everything else.)
    """
    members = component_members(labels)
    offsets = np.zeros(len(members))
    if len(members) <= 1:
        return Z, offsets
    sizes = np.bincount(labels)
    share = np.sqrt(sizes / len(labels))
    Z = Z * share[labels, None]
    centered = [Z[rows] - Z[rows].mean(axis=0) for rows in members]
    scatter = sum(float(np.square(part).sum()) for part in centered)
    reach = max(float(np.abs(part[:, 0]).max()) for part in centered)
    apart = max(reach, float(np.sqrt(2 * scatter / max(int(sizes.min()), MIN_SHARE * len(labels)))))
    edge = 0.0
    for component, rows in enumerate(members):
        first = Z[rows, 0]
        offsets[component] = edge - float(first.min())
        edge += float(first.max() - first.min()) + max(GAP * float(share[component]), apart)
    Z[:, 0] += offsets[labels]
    return Z, offsets


def interval_centers(centroids: Array, sizes: Array) -> NDArray[np.float64]:
    """Centers (c, k) of adjacent intervals of these sizes (c,) along each axis, ordered as the centroids (c, k) are."""
    components, k = centroids.shape
    centers = np.empty((components, k))
    for axis in range(k):
        along = np.lexsort((np.arange(components), centroids[:, axis]))
        centers[along, axis] = np.cumsum(sizes[along]) - sizes[along] / 2
    return centers
