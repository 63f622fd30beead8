"""Legends of categories and color bars of values: with the name of their column, and never on the points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lowdim.plot._colors import ABSENT, FADED, SEQUENTIAL
from lowdim.plot._point_colors import Categories, ColorScale
from lowdim.plot._text import wrapped
from lowdim.plot._theme import color_bar, has_layout_engine

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_legend", "draw_scale", "scale_color_map"]

ENTRIES_PER_COLUMN = 14
MOST_WIDTH = 0.5  # share of given axes that a legend may take


def draw_legend(ax: Axes, categories: Categories) -> None:
    """Entries in label order to the right of the axes; long names are wrapped, then truncated."""
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], marker="o", markersize=6, linestyle="", color=color) for color in categories.colors]
    many = len(handles) > ENTRIES_PER_COLUMN
    # matplotlib drops labels that begin with _ and typesets $: the texts are set afterwards.
    legend = ax.legend(
        handles,
        [" "] * len(handles),
        loc="upper left",
        bbox_to_anchor=(1.12 if ax.name == "3d" else 1.01, 1.0),
        borderaxespad=0.0,
        handletextpad=0.2,
        labelspacing=0.35,
        columnspacing=0.8,
        ncols=-(-len(handles) // ENTRIES_PER_COLUMN),
        frameon=False,
        fontsize=8.5 if many else 9.5,
        alignment="left",
    )
    for text, name in zip(legend.get_texts(), categories.names, strict=True):
        text.set_parse_math(False)
        text.set_text(wrapped(name, 18 if many else 24))
    if categories.title:
        legend.set_title(" ")
        title = legend.get_title()
        title.set(text=wrapped(categories.title), parse_math=False, color=FADED, fontsize=8.5 if many else 9.5)
    if not has_layout_engine(ax):
        _make_room(ax, legend)


def _make_room(ax: Axes, legend: Any) -> None:
    """Narrow given axes by the width of their legend, as color bars do, where no layout engine does it."""
    share = min((legend.get_window_extent().width + 8) / ax.get_window_extent().width, MOST_WIDTH)
    spec = ax.get_subplotspec()
    if spec is not None:
        ax.set_subplotspec(spec.subgridspec(1, 2, width_ratios=[1 - share, share], wspace=0)[0])
        return
    box = ax.get_position()
    ax.set_position((box.x0, box.y0, box.width * (1 - share), box.height))


def draw_scale(ax: Axes, scale: ColorScale) -> None:
    """The color bar of values; dates are written as dates."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    bar = color_bar(ax, ScalarMappable(Normalize(scale.low, scale.high), scale_color_map()), scale.title)
    if scale.dates:
        from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

        locator = AutoDateLocator(minticks=3, maxticks=8)  # type: ignore[no-untyped-call]
        bar.ax.yaxis.set_major_locator(locator)
        bar.ax.yaxis.set_major_formatter(ConciseDateFormatter(locator))  # type: ignore[no-untyped-call]


def scale_color_map() -> Any:
    """The sequential color map, gray where a value is missing."""
    from matplotlib import colormaps

    return colormaps[SEQUENTIAL].with_extremes(bad=ABSENT)
