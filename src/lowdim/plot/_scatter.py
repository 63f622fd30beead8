"""Scatter plots of an embedding, and its density."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput
from lowdim.plot._colors import INK, SEQUENTIAL_FROM_WHITE
from lowdim.plot._density_shading import cell_edges, draw_raster
from lowdim.plot._inputs import Categories, PointColors, read_labels, read_pairs, read_points, read_texts
from lowdim.plot._label_placement import place_labels
from lowdim.plot._points import draw_ellipses, draw_lines, draw_points, equal_units
from lowdim.plot._text import shorten
from lowdim.plot._theme import SMALL, axes_for, caption, color_bar, name_axes, style_axes, themed

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["density", "density_cells", "scatter"]

Array = NDArray[Any]

FEW = 30  # row names that can be placed without clutter
GOLDEN = (np.sqrt(5) - 1) / 2


@themed
def scatter(  # noqa: PLR0913  (one argument per thing that is drawn)
    Z: Any,
    labels: Any = None,
    *,
    ax: Axes | None = None,
    title: str | None = None,
    names: Any = None,
    ids: Any = None,
    axis_names: Sequence[str] | None = None,
    edges: Any = None,
    ellipses: bool = False,
) -> Axes:
    """Draw an embedding, and return its axes.

    Two columns are drawn with equal units. One column becomes a strip plot with one strip per category. Of three
    or more the first two are drawn, and the plot says so, unless `ax` is three-dimensional. Above 20,000 rows, cells
    are shaded by the points inside, instead of markers that overplot.

    Parameters
    ----------
    Z : table (n, k)
        The embedding.
    labels : n labels, optional
        Text, booleans and at most 30 distinct whole numbers are categories and get a legend, in which
        all but the largest 11 of many are pooled; other numbers are values and get a color bar.
        Missing labels are gray.
    ax : matplotlib axes, optional
        Where to draw; None makes a new figure.
    title : str, optional
        Above the axes.
    names : mapping or sequence of texts, optional
        Names of the categories: by label, or in the order of the sorted labels.
    ids : n names of rows, optional
        Written beside the points if there are at most 30.
    axis_names : texts, optional
        One per column drawn.
    edges : pairs of rows (e, 2), optional
        Lines between rows, beneath the points, such as the `edges_` of UMAP, its neighbor graph.
    ellipses : bool
        Draw the ellipse of each category that holds 95% of a normal distribution of its mean and covariance. The
        scores of LDA have circles of one size if the classes share a covariance.

    """
    points = read_points(Z)
    n, k = points.shape
    point_colors, row_names = read_labels(labels, n, names), read_texts(ids, n, "ids")
    pairs = None if edges is None else read_pairs(edges, n)
    if ellipses and (k == 1 or not isinstance(point_colors, Categories)):
        raise BadInput("ellipses need labels that are categories, and an embedding of at least 2 dimensions.")
    ax = axes_for(ax)
    style_axes(ax)
    if k == 1:
        if pairs is not None:
            raise BadInput("edges need an embedding of at least 2 dimensions; Z has 1. Draw it without them.")
        points = _strip(ax, points, point_colors)
        draw_points(ax, points, point_colors, square=False, legend=False)
        drawn, note = 1, None
    else:
        drawn = 3 if ax.name == "3d" and k >= 3 else 2
        points = points[:, :drawn]
        if pairs is not None:
            draw_lines(ax, points, pairs)
        draw_points(ax, points, point_colors)
        if ellipses and drawn == 2 and isinstance(point_colors, Categories):
            draw_ellipses(ax, points, point_colors)
        equal_units(ax)
        notes = [] if drawn == k else [f"the first {drawn} of {k} dimensions"]
        if ellipses and drawn == 2:
            notes.append("ellipses of 95% of each class")
        note = "; ".join(notes) or None
    _label_axes(ax, axis_names, drawn)
    caption(ax, title, note)
    if row_names is not None and n <= FEW and drawn < 3:
        place_labels(ax, points, row_names)
    return ax


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


def _strip(ax: Axes, points: Array, point_colors: PointColors) -> Array:
    """One column as (n, 2): one strip per category, with deterministic jitter (golden ratio)."""
    n = len(points)
    strips = point_colors.codes if isinstance(point_colors, Categories) else np.zeros(n)
    offsets = 0.7 * ((np.arange(n) * GOLDEN) % 1.0 - 0.5)
    if isinstance(point_colors, Categories):
        ax.set_yticks(range(len(point_colors.names)))
        ax.set_yticklabels([shorten(name) for name in point_colors.names], parse_math=False)
        ax.invert_yaxis()
    else:
        ax.set_yticks([])
        ax.spines["left"].set_visible(False)
    return np.column_stack([points[:, 0], strips + offsets])


def _label_axes(ax: Axes, axis_names: Sequence[str] | None, drawn: int) -> None:
    if axis_names is not None and len(axis_names) < drawn:
        raise BadInput(f"axis_names must have {drawn} names for {drawn} axes; got {len(axis_names)}.")
    texts = [f"axis {i + 1}" for i in range(drawn)] if axis_names is None else [str(name) for name in axis_names]
    name_axes(ax, texts[0], texts[1] if drawn > 1 else "")
    if drawn == 3:
        ax.set_zlabel(shorten(texts[2], 60), parse_math=False)  # type: ignore[attr-defined]
