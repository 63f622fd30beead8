"""Rasterized density for many points: counts in small cells, shaded by the categories or values inside."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lowdim.plot._colors import ABSENT, INK, SEQUENTIAL, linear_light
from lowdim.plot._inputs import Categories, ColorScale, PointColors

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.image import AxesImage

__all__ = ["cell_edges", "draw_raster", "shade_cells"]

Array = NDArray[Any]

CELLS = 420  # along the longer side: about one cell per pixel at the usual size
FAINTEST = 0.38  # opacity of a cell with one point, so that outliers stay visible


def cell_edges(points: Array, *, square: bool, cells: int = CELLS) -> tuple[Array, Array]:
    """Edges of cells that cover the points with a small margin; square ones for equal units on both axes."""
    low, high = points.min(axis=0).astype(np.float64), points.max(axis=0).astype(np.float64)
    span = high - low
    widest = float(span.max())
    # A constant coordinate gets the span of the other one, or 1 if all points coincide.
    span = np.where(span > 0, span, widest if widest > 0 else np.maximum(np.abs(low), 1.0))
    center, span = (low + high) / 2, 1.04 * span
    counts = np.maximum(np.ceil(cells * span / span.max()), 8) if square else np.full(2, cells)
    x, y = (np.linspace(m - s / 2, m + s / 2, int(c) + 1) for m, s, c in zip(center, span, counts, strict=True))
    return x, y


def shade_cells(points: Array, point_colors: PointColors, edges: tuple[Array, Array]) -> Array:
    """RGBA of every cell, (rows, columns, 4): its points' colors mixed, more opaque where there are more."""
    if isinstance(point_colors, ColorScale):
        counts, colors = _mean_colors(points, point_colors, edges)
    else:
        counts, colors = _mixed_colors(points, point_colors, edges)
    filled = counts > 0
    strong = max(float(np.quantile(counts[filled], 0.995)), 2.0)
    alpha = FAINTEST + (1 - FAINTEST) * np.log(np.maximum(counts, 1)) / np.log(strong)
    return np.dstack([colors, np.where(filled, np.minimum(alpha, 1.0), 0.0)])


def draw_raster(ax: Axes, cells: Array, edges: tuple[Array, Array], **options: Any) -> AxesImage:
    """Draw the cells as an image in data coordinates; the aspect of the axes is kept."""
    x, y = edges
    extent = (float(x[0]), float(x[-1]), float(y[0]), float(y[-1]))
    return ax.imshow(cells, extent=extent, origin="lower", aspect=ax.get_aspect(), **options)


def _count(points: Array, edges: tuple[Array, Array], weights: Array | None = None) -> Array:
    return np.histogram2d(points[:, 1], points[:, 0], bins=(edges[1], edges[0]), weights=weights)[0]


def _mixed_colors(points: Array, categories: Categories | None, edges: tuple[Array, Array]) -> tuple[Array, Array]:
    """Colors of the categories, mixed in linear light by their counts."""
    from matplotlib.colors import to_rgb

    if categories is None:
        counts = _count(points, edges)
        return counts, np.broadcast_to(to_rgb(INK), (*counts.shape, 3))
    total: Array = np.zeros((len(edges[1]) - 1, len(edges[0]) - 1))
    light = np.zeros((*total.shape, 3))
    for code, color in enumerate(categories.colors):
        counts = _count(points[categories.codes == code], edges)
        total += counts
        light += counts[..., None] * linear_light(np.array(to_rgb(color)))
    light /= np.maximum(total, 1)[..., None]
    return total, _srgb(light)


def _mean_colors(points: Array, scale: ColorScale, edges: tuple[Array, Array]) -> tuple[Array, Array]:
    """The color of the mean value of each cell; gray where all are missing."""
    from matplotlib import colormaps
    from matplotlib.colors import to_rgb

    known = ~np.isnan(scale.values)
    share = (scale.values[known] - scale.low) / (scale.high - scale.low)
    counts = _count(points[known], edges)
    means = _count(points[known], edges, share) / np.maximum(counts, 1)
    colors = np.where(counts[..., None] > 0, colormaps[SEQUENTIAL](means)[..., :3], to_rgb(ABSENT))
    return _count(points, edges), colors


def _srgb(light: Array) -> Array:
    """The inverse of `linear_light`."""
    light = np.clip(light, 0, 1)
    return np.where(light <= 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055)
