"""Points on axes: markers, or shaded cells above 20,000 points, with their legend or color bar."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lowdim.plot._colors import ABSENT, FADED, INK, LIGHT, tint
from lowdim.plot._density_shading import cell_edges, draw_raster, shade_cells
from lowdim.plot._legend import draw_legend, draw_scale, scale_color_map
from lowdim.plot._point_colors import MOST_IN_LEGEND, Categories, ColorScale, PointColors

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "MANY",
    "draw_background",
    "draw_ellipses",
    "draw_key",
    "draw_lines",
    "draw_points",
    "equal_units",
    "marker_size",
    "strip_heights",
]

Array = NDArray[Any]

MANY = 20_000  # above this, markers overplot
GOLDEN = (np.sqrt(5) - 1) / 2
PALE = 0.42  # share of its color that a row of the background keeps
CHI_SQUARE_95 = 5.991464547107979  # the 95% quantile with two degrees of freedom


def draw_points(ax: Axes, points: Array, point_colors: PointColors, *, square: bool = True) -> None:
    """Draw rows (n, 2), or (n, 3) on three-dimensional axes."""
    if isinstance(point_colors, Categories):
        point_colors = point_colors.at_most(MOST_IN_LEGEND)
    if len(points) > MANY and points.shape[1] == 2:
        _shade(ax, points, point_colors, square)
    else:
        _draw_markers(ax, points, point_colors)


def draw_key(ax: Axes, point_colors: PointColors) -> None:
    """The legend of categories, or the color bar of values."""
    if isinstance(point_colors, Categories):
        draw_legend(ax, point_colors.at_most(MOST_IN_LEGEND))
    elif isinstance(point_colors, ColorScale):
        draw_scale(ax, point_colors)


def draw_background(ax: Axes, points: Array, point_colors: PointColors) -> None:
    """Rows (m, 2) that others are drawn on: pale, in the tints of their colors, without a legend."""
    if isinstance(point_colors, Categories):
        pale = replace(point_colors, colors=tuple(tint(color, PALE) for color in point_colors.colors))
    else:
        pale = Categories(("",), np.zeros(len(points), dtype=np.intp), (LIGHT,))
    if len(points) > MANY and points.shape[1] == 2:
        _shade(ax, points, pale, square=True)
    else:
        options: dict[str, Any] = {"s": marker_size(len(points)), "c": pale.row_colors, "linewidths": 0}
        ax.scatter(*points.T, **options, rasterized=len(points) > 2000, zorder=0.8)


def marker_size(n: int) -> float:
    """The area of a marker, in square points."""
    return float(np.clip(36 * np.sqrt(150 / n), 1.5, 42))


def draw_lines(ax: Axes, points: Array, pairs: Array) -> None:
    """Edges: thin lines between pairs (e, 2) of the points, drawn beneath them."""
    from matplotlib.collections import LineCollection

    ends: Any = points[pairs].astype(np.float64)  # (e, 2, axes)
    faint = float(np.clip(20 / np.sqrt(len(ends) + 1), 0.05, 0.6))
    options: dict[str, Any] = {"colors": FADED, "linewidths": 0.4, "alpha": faint, "rasterized": len(ends) > 2000}
    if ends.shape[2] == 3:
        from mpl_toolkits.mplot3d.art3d import Line3DCollection  # type: ignore[import-untyped]

        ax.add_collection3d(Line3DCollection(ends, **options))  # type: ignore[attr-defined]
    else:
        ax.add_collection(LineCollection(ends, zorder=0.5, **options))


def draw_ellipses(ax: Axes, points: Array, categories: Categories) -> None:
    """The ellipse of each category that holds 95% of a normal distribution with its mean and covariance.

    A category of fewer than three points, or of points on a line, has none.
    """
    from matplotlib.patches import Ellipse

    categories = categories.at_most(MOST_IN_LEGEND)
    for code, color in enumerate(categories.colors):
        own = points[categories.codes == code].astype(np.float64)
        if len(own) < 3 or color == ABSENT:
            continue
        variances, axes = np.linalg.eigh(np.cov(own.T))
        if variances[0] <= 1e-12 * variances[1]:
            continue
        width, height = 2 * np.sqrt(CHI_SQUARE_95 * variances)
        turn = float(np.degrees(np.arctan2(axes[1, 0], axes[0, 0])))
        center = own.mean(axis=0)
        ellipse = Ellipse((center[0], center[1]), width, height, angle=turn, fill=False, edgecolor=color, linewidth=1.3)
        ax.add_patch(ellipse)
        ax.update_datalim(ellipse.get_path().transformed(ellipse.get_patch_transform()).vertices)


def strip_heights(n: int, point_colors: PointColors) -> NDArray[np.float64]:
    """Heights of the rows of one component: one strip per category, with deterministic jitter (golden ratio)."""
    strips = point_colors.codes if isinstance(point_colors, Categories) else np.zeros(n)
    return np.asarray(strips + 0.7 * ((np.arange(n) * GOLDEN) % 1.0 - 0.5))


def equal_units(ax: Axes) -> None:
    """Equal aspect: one unit is as long in x as in y, so that distances on the page are those of the embedding."""
    if ax.name not in ("rectilinear", "3d"):  # maps of the globe have units of their own
        return
    shared = any(len(group.get_siblings(ax)) > 1 for group in (ax.get_shared_x_axes(), ax.get_shared_y_axes()))
    ax.set_aspect("equal", adjustable="box" if shared else "datalim")


def _draw_markers(ax: Axes, points: Array, point_colors: PointColors) -> None:
    """One collection in row order, so that no category covers the others."""
    n = len(points)
    options: dict[str, Any] = {
        "s": marker_size(n),
        "linewidths": 0.3 if n <= 3000 and not isinstance(point_colors, ColorScale) else 0,
        "edgecolors": "white",
    }
    options |= {"alpha": 0.9 if n <= 500 else 0.75, "rasterized": n > 2000}
    if isinstance(point_colors, Categories):
        options["c"] = point_colors.row_colors
    elif isinstance(point_colors, ColorScale):
        options |= {
            "c": point_colors.values,
            "cmap": scale_color_map(),
            "vmin": point_colors.low,
            "vmax": point_colors.high,
        }
        options["plotnonfinite"] = True
    else:
        options["c"] = INK
    ax.scatter(*points.T, **options)


def _shade(ax: Axes, points: Array, point_colors: PointColors, square: bool) -> None:
    edges = cell_edges(points, square=square)
    draw_raster(ax, shade_cells(points, point_colors, edges), edges, interpolation="antialiased")
