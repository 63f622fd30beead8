"""Points on axes: markers, or shaded cells above 20,000 points, with their legend or color bar."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lowdim.plot._colors import ABSENT, FADED, INK, SEQUENTIAL
from lowdim.plot._density_shading import cell_edges, draw_raster, shade_cells
from lowdim.plot._inputs import MOST_IN_LEGEND, Categories, ColorScale, PointColors
from lowdim.plot._text import shorten
from lowdim.plot._theme import color_bar, has_layout_engine

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["MANY", "draw_ellipses", "draw_lines", "draw_points", "equal_units"]

Array = NDArray[Any]

MANY = 20_000  # above this, markers overplot
CHI_SQUARE_95 = 5.991464547107979  # the 95% quantile with two degrees of freedom


def draw_points(
    ax: Axes, points: Array, point_colors: PointColors, *, square: bool = True, legend: bool = True
) -> None:
    """Draw rows (n, 2), or (n, 3) on three-dimensional axes, with their legend or color bar."""
    if isinstance(point_colors, Categories) and legend:
        point_colors = point_colors.at_most(MOST_IN_LEGEND)
    if len(points) > MANY and points.shape[1] == 2:
        _shade(ax, points, point_colors, square)
    else:
        _draw_markers(ax, points, point_colors)
    if isinstance(point_colors, Categories) and legend:
        _legend(ax, point_colors)
    elif isinstance(point_colors, ColorScale):
        _color_bar(ax, point_colors)


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


def equal_units(ax: Axes) -> None:
    """Equal aspect: one unit is as long in x as in y, so that distances on the page are those of the embedding."""
    shared = any(len(group.get_siblings(ax)) > 1 for group in (ax.get_shared_x_axes(), ax.get_shared_y_axes()))
    ax.set_aspect("equal", adjustable="box" if shared else "datalim")


def _draw_markers(ax: Axes, points: Array, point_colors: PointColors) -> None:
    """One collection in row order, so that no category covers the others."""
    n = len(points)
    size = float(np.clip(36 * np.sqrt(150 / n), 1.5, 42))
    options: dict[str, Any] = {
        "s": size,
        "linewidths": 0.3 if n <= 3000 and not isinstance(point_colors, ColorScale) else 0,
        "edgecolors": "white",
    }
    options |= {"alpha": 0.9 if n <= 500 else 0.75, "rasterized": n > 2000}
    if isinstance(point_colors, Categories):
        options["c"] = point_colors.row_colors
    elif isinstance(point_colors, ColorScale):
        options |= {"c": point_colors.values, "cmap": _color_map(), "vmin": point_colors.low, "vmax": point_colors.high}
        options["plotnonfinite"] = True
    else:
        options["c"] = INK
    ax.scatter(*points.T, **options)


def _shade(ax: Axes, points: Array, point_colors: PointColors, square: bool) -> None:
    edges = cell_edges(points, square=square)
    draw_raster(ax, shade_cells(points, point_colors, edges), edges, interpolation="nearest")


def _color_map() -> Any:
    from matplotlib import colormaps

    return colormaps[SEQUENTIAL].with_extremes(bad=ABSENT)


def _legend(ax: Axes, categories: Categories) -> None:
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], marker="o", markersize=6, linestyle="", color=color) for color in categories.colors]
    outside: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0), "borderaxespad": 0.0}
    inside: dict[str, Any] = {"loc": "upper right", "frameon": True, "framealpha": 0.8, "edgecolor": "none"}
    # matplotlib drops labels that begin with _ and typesets $: the texts are set afterwards.
    legend = ax.legend(
        handles,
        [" "] * len(handles),
        handletextpad=0.2,
        labelspacing=0.35,
        **(outside if has_layout_engine(ax) else inside),
    )
    for text, name in zip(legend.get_texts(), categories.names, strict=True):
        text.set_parse_math(False)
        text.set_text(shorten(name))


def _color_bar(ax: Axes, scale: ColorScale) -> None:
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    color_bar(ax, ScalarMappable(Normalize(scale.low, scale.high), _color_map()))
