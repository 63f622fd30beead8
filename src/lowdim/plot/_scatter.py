"""Scatter plots of an embedding, also of new rows on the map of others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput
from lowdim.plot._drawn_rows import DrawnRows, read_drawn_rows
from lowdim.plot._group_labels import label_groups
from lowdim.plot._inputs import read_pairs, read_texts
from lowdim.plot._label_placement import label_rows
from lowdim.plot._point_colors import Categories, PointColors
from lowdim.plot._points import (
    MANY,
    draw_background,
    draw_ellipses,
    draw_key,
    draw_lines,
    draw_points,
    equal_units,
    marker_size,
    strip_heights,
)
from lowdim.plot._text import shorten
from lowdim.plot._theme import axes_for, caption, name_axes, style_axes, themed

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["scatter"]

Array = NDArray[Any]


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
    label_name: str | None = None,
    colors: Mapping[str, str] | None = None,
    legend: bool = True,
    background: Any = None,
    background_labels: Any = None,
) -> Axes:
    """Draw an embedding, and return its axes.

    Two columns are drawn with equal units. One column becomes a strip plot with one strip per category. Of three
    or more the first two are drawn, and the plot says so, unless `ax` is three-dimensional. Above 20,000 rows, cells
    are shaded by the points inside, instead of markers that overplot, and categories are named where they are densest.

    Parameters
    ----------
    Z : table (n, k)
        The embedding.
    labels : n labels, optional
        Text, booleans, ordered categoricals, at most 30 distinct whole numbers and at most 12 dates are categories and
        get a legend, in which all but the largest 19 of many are pooled; other numbers and dates are values and get a
        color bar. Missing labels are gray.
    ax : matplotlib axes, optional
        Where to draw; None makes a new figure.
    title : str, optional
        Above the axes.
    names : mapping or sequence of texts, optional
        Names of the categories: by label, or in the order of the sorted labels.
    ids : n names of rows, optional
        Written beside the points wherever there is room, the most isolated first.
    axis_names : texts, optional
        One per column drawn.
    edges : pairs of rows (e, 2), optional
        Lines between rows, beneath the points, such as the `edges_` of UMAP, its neighbor graph.
    ellipses : bool
        Draw the ellipse of each category that holds 95% of a normal distribution of its mean and covariance. The
        scores of LDA have circles of one size if the classes share a covariance.
    label_name : str, optional
        The title of the legend or color bar; that of a pandas or polars series is its name.
    colors : mapping from category to color, optional
        As `category_colors` gives it for the labels of another picture.
    legend : bool
        Draw the legend or color bar.
    background : table (m, k), optional
        Rows that these are drawn on, pale: the map that new rows are placed on.
    background_labels : m labels, optional
        Their categories keep the colors that they have alone.

    """
    rows = read_drawn_rows(Z, labels, names, colors, label_name, background, background_labels)
    points, behind, shown = rows.points, rows.behind, rows.shown
    n, k = points.shape
    row_names = read_texts(ids, n, "ids")
    pairs = None if edges is None else read_pairs(edges, n)
    _check_plane(rows, pairs, ellipses)
    ax = axes_for(ax)
    style_axes(ax)
    drawn = k if k < 3 else 3 if ax.name == "3d" else 2
    if k == 1:
        points = np.column_stack([points[:, 0], strip_heights(n, rows.colors)])
        if behind is not None:
            behind = np.column_stack([behind[:, 0], strip_heights(len(behind), rows.behind_colors)])
        _strip_axis(ax, shown)
    points = points[:, : max(drawn, 2)]
    if behind is not None:
        draw_background(ax, behind[:, : max(drawn, 2)], rows.behind_colors)
    if pairs is not None:
        draw_lines(ax, points, pairs)
    draw_points(ax, points, rows.colors, square=k > 1)
    if legend and rows.has_key:
        draw_key(ax, shown)
    notes = [f"the first {drawn} of {k} dimensions"] if drawn < k else []
    if ellipses and drawn == 2 and isinstance(rows.colors, Categories):
        draw_ellipses(ax, points, rows.colors)
        notes.append("ellipses of 95% of each class")
    if k > 1:
        equal_units(ax)
    _label_axes(ax, axis_names, drawn, shown)
    caption(ax, title, "; ".join(notes + rows.background_note) or None)
    if drawn < 3:
        _label_points(ax, points, row_names, rows.colors if k > 1 else None)
    return ax


def _label_points(ax: Axes, points: Array, row_names: Any, colors: PointColors | None) -> None:
    """Names of rows, or of the categories of many points."""
    if row_names is not None:
        label_rows(ax, points, row_names, 0.5 * marker_size(len(points)) ** 0.5)
    elif len(points) > MANY and isinstance(colors, Categories):
        label_groups(ax, points, colors)


def _check_plane(rows: DrawnRows, pairs: Array | None, ellipses: bool) -> None:
    """Raise BadInput for what can't be drawn on a line."""
    line = rows.points.shape[1] == 1
    if ellipses and (line or not isinstance(rows.colors, Categories)):
        raise BadInput("ellipses need labels that are categories, and an embedding of at least 2 dimensions.")
    if line and pairs is not None:
        raise BadInput("edges need an embedding of at least 2 dimensions; Z has 1. Draw it without them.")


def _strip_axis(ax: Axes, shown: PointColors) -> None:
    """The names of the strips."""
    if isinstance(shown, Categories):
        ax.set_yticks(range(len(shown.names)))
        ax.set_yticklabels([shorten(name) for name in shown.names], parse_math=False)
        ax.invert_yaxis()
    else:
        ax.set_yticks([])
        ax.spines["left"].set_visible(False)


def _label_axes(ax: Axes, axis_names: Sequence[str] | None, drawn: int, shown: PointColors) -> None:
    if axis_names is not None and len(axis_names) < drawn:
        raise BadInput(f"axis_names must have {drawn} names for {drawn} axes; got {len(axis_names)}.")
    texts = [f"axis {i + 1}" for i in range(drawn)] if axis_names is None else [str(name) for name in axis_names]
    name_axes(ax, texts[0], texts[1] if drawn > 1 else shown.title if isinstance(shown, Categories) else "")
    if drawn == 3:
        ax.set_zlabel(shorten(texts[2], 60), parse_math=False)  # type: ignore[attr-defined]
