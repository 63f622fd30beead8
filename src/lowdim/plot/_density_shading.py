"""Rasterized density for many points: counts in small cells, shaded by the categories or values inside."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lowdim.plot._colors import ABSENT, INK, SEQUENTIAL, SEQUENTIAL_FROM_WHITE, linear_light, srgb
from lowdim.plot._point_colors import Categories, ColorScale, PointColors

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.image import AxesImage

__all__ = ["cell_edges", "draw_raster", "shade_cells"]

Array = NDArray[Any]

CELLS = 800  # along the longer side: more than one cell per pixel at the usual size, so that none shows
SPREAD = 1.4  # standard deviation of the Gaussian that a point is spread by, in cells
FAINTEST = 0.7  # opacity at the middle of a lone point, so that outliers stay visible
DEEPEST = 0.55  # share of its light that a color keeps where points are densest


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


def shade_cells(points: Array, point_colors: PointColors, edges: tuple[Array, Array], spread: float = SPREAD) -> Array:
    """RGBA of every cell, (rows, columns, 4): its points' colors mixed, more opaque and deeper where there are more.

    Opacity and depth grow with the mean of the logarithm of the density and its rank among all cells (histogram
    equalization), so that neither outliers nor the inside of clusters vanish.
    """
    if isinstance(point_colors, ColorScale):
        density, colors = _mean_colors(points, point_colors, edges, spread)
    else:
        density, colors = _mixed_colors(points, point_colors, edges, spread)
    density = density / (1 / (2 * np.pi * spread**2) if spread else 1.0)  # 1 in the middle of a lone point
    filled = density > 1e-3
    strength = _strength(np.maximum(density, 1.0), filled)
    if point_colors is None:
        colors = _shades(strength)
    alpha = (FAINTEST + (1 - FAINTEST) * strength) * np.minimum(density, 1.0)
    depth = 1 - (1 - DEEPEST) * strength**2
    deep = srgb(linear_light(colors) * depth[..., None])
    return np.dstack([deep, np.where(filled, np.minimum(alpha, 1.0), 0.0)])


def _strength(density: Array, filled: Array) -> Array:
    """From 0 for a lone point to 1 for the densest cells."""
    values = density[filled]
    order = np.unique(values, return_inverse=True, return_counts=True)
    rank = (np.cumsum(order[2]) - order[2])[order[1]] / max(len(values) - 1, 1)
    top = max(float(np.quantile(values, 0.999)), 2.0)
    out = np.zeros(density.shape)
    # Equal densities, and none below a lone point's, have the rank 0.
    out[filled] = 0.65 * np.minimum(np.log(values) / np.log(top), 1.0) + 0.35 * np.where(values > 1, rank, 0.0)
    return out


def _shades(strength: Array) -> Array:
    """The colors of rows without labels, (rows, columns, 3)."""
    from matplotlib import colormaps

    return np.asarray(colormaps[SEQUENTIAL_FROM_WHITE](0.55 + 0.45 * strength)[..., :3])


def draw_raster(ax: Axes, cells: Array, edges: tuple[Array, Array], **options: Any) -> AxesImage:
    """Draw the cells as an image in data coordinates; the aspect of the axes is kept."""
    x, y = edges
    extent = (float(x[0]), float(x[-1]), float(y[0]), float(y[-1]))
    return ax.imshow(cells, extent=extent, origin="lower", aspect=ax.get_aspect(), **options)


def _count(points: Array, edges: tuple[Array, Array], spread: float, weights: Array | None = None) -> Array:
    """Numbers of points in cells, or sums of their weights, spread by a Gaussian."""
    from scipy.ndimage import gaussian_filter

    counts = np.histogram2d(points[:, 1], points[:, 0], bins=(edges[1], edges[0]), weights=weights)[0]
    return np.asarray(gaussian_filter(counts, spread, mode="constant", truncate=4.0)) if spread else counts


def _mixed_colors(
    points: Array, categories: Categories | None, edges: tuple[Array, Array], spread: float
) -> tuple[Array, Array]:
    """Colors of the categories, mixed in linear light by their densities."""
    from matplotlib.colors import to_rgb

    if categories is None:
        counts = _count(points, edges, spread)
        return counts, np.broadcast_to(to_rgb(INK), (*counts.shape, 3))
    total: Array = np.zeros((len(edges[1]) - 1, len(edges[0]) - 1))
    light = np.zeros((*total.shape, 3))
    for code, color in enumerate(categories.colors):
        counts = _count(points[categories.codes == code], edges, spread)
        total += counts
        light += counts[..., None] * linear_light(np.array(to_rgb(color)))
    light /= np.where(total > 0, total, 1.0)[..., None]
    return total, srgb(light)


def _mean_colors(points: Array, scale: ColorScale, edges: tuple[Array, Array], spread: float) -> tuple[Array, Array]:
    """The color of the mean value around each cell; gray where all are missing."""
    from matplotlib import colormaps
    from matplotlib.colors import to_rgb

    known = ~np.isnan(scale.values)
    share = (scale.values[known] - scale.low) / (scale.high - scale.low)
    counts = _count(points[known], edges, spread)
    means = _count(points[known], edges, spread, share) / np.where(counts > 0, counts, 1.0)
    colors = np.where(counts[..., None] > 1e-9, colormaps[SEQUENTIAL](means)[..., :3], to_rgb(ABSENT))
    return _count(points, edges, spread), colors
