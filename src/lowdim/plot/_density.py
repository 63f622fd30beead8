"""The density of an embedding, estimated by a Gaussian kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lowdim.plot._colors import INK, SEQUENTIAL_FROM_WHITE
from lowdim.plot._density_shading import cell_edges, draw_raster
from lowdim.plot._inputs import read_points
from lowdim.plot._points import equal_units
from lowdim.plot._theme import SMALL, axes_for, caption, color_bar, name_axes, style_axes, themed

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["density", "density_cells"]

Array = NDArray[Any]


@themed
def density(Z: Any, *, ax: Axes | None = None, title: str | None = None) -> Axes:
    """Kernel density estimate of a two-dimensional embedding, with the regions that hold 50% and 90% of the points.

    A Gaussian kernel with Scott's bandwidth for each axis; the density integrates to 1.
    """
    points = read_points(Z, columns=2)[:, :2]
    ax = axes_for(ax)
    style_axes(ax)
    edges, heights = density_cells(points)
    equal_units(ax)
    shown = draw_raster(ax, np.ma.masked_less(heights, 0.002 * heights.max()), edges, cmap=SEQUENTIAL_FROM_WHITE)
    _regions(ax, edges, heights)
    color_bar(ax, shown, "density")
    name_axes(ax, "axis 1", "axis 2")
    caption(ax, title)
    return ax


def density_cells(points: Array, cells: int = 256) -> tuple[tuple[Array, Array], Array]:
    """Cell edges, and the density of each cell (rows, columns); the sum times the area of a cell is 1."""
    from scipy.ndimage import gaussian_filter

    spread = points.std(axis=0, dtype=np.float64) * len(points) ** (-1 / 6)  # Scott's rule in two dimensions
    low, high = points.min(axis=0), points.max(axis=0)
    corners = np.vstack([low - 3.0 * spread, high + 3.0 * spread])
    edges = cell_edges(corners, square=True, cells=cells)
    counts = np.histogram2d(points[:, 1], points[:, 0], bins=(edges[1], edges[0]))[0]
    steps = np.array([np.diff(edge[:2])[0] for edge in edges])
    # Without any spread the estimate is the histogram.
    smooth = gaussian_filter(counts, (spread / steps)[::-1], mode="constant", truncate=6.0)
    return edges, smooth / (smooth.sum() * steps.prod())


def _regions(ax: Axes, edges: tuple[Array, Array], heights: Array) -> None:
    """Contours of the smallest regions that hold 50% and 90% of the mass (highest density regions)."""
    ordered = np.sort(heights, axis=None)[::-1]
    mass = np.cumsum(ordered) / ordered.sum()
    levels = [float(ordered[np.searchsorted(mass, share)]) for share in (0.9, 0.5)]
    if not 0 < levels[0] < levels[1] < ordered[0]:
        return
    x, y = ((edge[:-1] + edge[1:]) / 2 for edge in edges)
    lines = ax.contour(x, y, heights, levels=levels, colors=INK, linestyles=["--", "-"], linewidths=0.8)
    ax.clabel(lines, fmt={levels[0]: "90%", levels[1]: "50%"}, fontsize=SMALL)
