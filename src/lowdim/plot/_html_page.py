"""A standalone interactive HTML page (Bokeh) that makes no network request.

Labels, names and titles are data and stay text. Bokeh escapes them in the page and in tooltips; formulas
($$…$$) would be fetched from elsewhere and are switched off by giving text as PlainText; and the page
itself forbids, by a content security policy, every request and every script but its own.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping
from html import escape
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput, BadInputType, MissingExtra
from lowdim.plot._colors import ABSENT, FADED, INK, LIGHT
from lowdim.plot._inputs import read_points, read_texts
from lowdim.plot._point_colors import Categories, ColorScale, read_labels
from lowdim.plot._text import drawable, shorten
from lowdim.plot._thumbnails import thumbnails
from lowdim.runtime.atomic_write import atomic_write

__all__ = ["MOST_ENTRIES", "page", "with_content_security_policy"]

Array = NDArray[Any]
Columns = dict[str, Any]

MOST_ENTRIES = 60  # in the legend
ENTRIES_PER_COLUMN = 24


def page(
    Z: Any,
    labels: Any = None,
    *,
    names: Any = None,
    ids: Any = None,
    hover: Mapping[str, Any] | None = None,
    images: Any = None,
    title: str = "",
    path: str | PathLike[str] | None = None,
) -> str:
    """Write an embedding as one HTML file that works offline, and return its text.

    The page has zoom, box and lasso selection, a tooltip for every point, and a legend whose entries hide and show
    their category.

    Parameters
    ----------
    Z : table (n, k)
        The embedding; its first two columns are drawn; a single column is drawn as a line.
    labels, names
        Colors, as for `scatter`; up to 60 categories have legend entries.
    ids : n names of rows, optional
        Shown in the tooltip; without them, the number of the row.
    hover : mapping from name to n values, optional
        Further lines of the tooltip.
    images : array (n, height, width) or (n, height, width, 3), optional
        Thumbnails for the tooltip, for at most 5,000 rows.
    title : str
        Of the page and above the plot.
    path : path, optional
        Where to write it, atomically.

    """
    try:
        from bokeh.embed import file_html
        from bokeh.resources import Resources
    except ImportError as error:
        raise MissingExtra("the interactive page needs Bokeh; install it with pip install 'lowdim[app]'.") from error

    points = read_points(Z)[:, :2].astype(np.float32)
    n = len(points)
    if points.shape[1] == 1:
        points = np.column_stack([points, np.zeros(n, dtype=np.float32)])
    columns, lines = _columns(points, ids, hover, images)
    title = drawable(str(title))
    figure = _figure(title)
    point_colors = read_labels(labels, n, names)
    if isinstance(point_colors, Categories):
        point_colors = point_colors.at_most(MOST_ENTRIES)
        lines.insert(1, ("label", "$name"))  # the name of the renderer, so that no text is repeated in every row
        _draw_categories(figure, columns, point_colors)
    else:
        if point_colors is not None:
            columns["label"] = point_colors.values.astype(np.float32)
            lines.insert(1, ("label", "@label"))
        _draw_values(figure, columns, point_colors)
    _tools(figure, lines)
    text = with_content_security_policy(file_html(figure, Resources(mode="inline"), title=title or "Map"))
    if path is not None:
        with atomic_write(path) as draft:
            draft.write_text(text, encoding="utf-8")
    return text


def _columns(
    points: Array, ids: Any, hover: Mapping[str, Any] | None, images: Any
) -> tuple[Columns, list[tuple[str, str]]]:
    """The data of each point, and the tooltip lines that show it. Column names are ours, never the user's."""
    n = len(points)
    row_names = read_texts(ids, n, "ids")
    columns: Columns = {"x": points[:, 0], "y": points[:, 1]}
    columns["id"] = np.arange(n, dtype=np.int32) if row_names is None else np.asarray(row_names, dtype=object)
    lines = [("row" if row_names is None else "id", "@id"), ("x", "@x"), ("y", "@y")]
    if hover is not None and not isinstance(hover, Mapping):
        raise BadInputType(f"hover must map names to columns of values; got {type(hover).__name__}.")
    for i, (name, values) in enumerate((hover or {}).items()):
        columns[f"hover{i}"] = _hover_column(values, n, name)
        lines.append((shorten(str(name)), f"@hover{i}"))
    if images is not None:
        # These strings hold only base64 digits of an image made here, so they are safe as HTML.
        columns["image"] = np.asarray(thumbnails(images, n), dtype=object)
        lines.append(("", "@image{safe}"))
    return columns, lines


def _hover_column(values: Any, n: int, name: str) -> Array:
    column = np.asarray(values)
    if column.shape == (n,) and column.dtype.kind in "f":
        return column.astype(np.float32)
    if column.shape == (n,) and column.dtype.kind in "iu" and np.abs(column.astype(np.float64)).max() < 2**31:
        return column.astype(np.int32)
    return np.asarray(read_texts(values, n, f"hover[{name!r}]"), dtype=object)


def _figure(title: str) -> Any:
    from bokeh.models import PlainText
    from bokeh.models.annotations import Title
    from bokeh.plotting import figure

    made = figure(sizing_mode="stretch_both", match_aspect=True, output_backend="webgl", tools="")
    made.title = Title(text=PlainText(text=shorten(title, 120)), text_font_size="16px", text_color=INK)
    made.toolbar.logo = None
    made.min_border = 24
    made.outline_line_color = None
    made.grid.grid_line_color = "#eeeeee"
    for axis in made.axis:
        axis.update(axis_line_color=LIGHT, major_tick_line_color=LIGHT, minor_tick_line_color=None)
        axis.major_label_text_color = FADED
    return made


def _draw_categories(figure: Any, columns: Columns, categories: Categories) -> None:
    """One renderer per category, so that the legend can hide it."""
    from bokeh.models.annotations import Legend, LegendItem

    items = []
    for code, (name, color) in enumerate(zip(categories.names, categories.colors, strict=True)):
        rows = categories.codes == code
        drawn = _draw_markers(figure, {key: column[rows] for key, column in columns.items()}, len(rows), color)
        drawn.name = name
        items.append(LegendItem(label={"value": shorten(name)}, renderers=[drawn]))
    legend = Legend(
        items=items, click_policy="hide", border_line_color=None, ncols=-(-len(items) // ENTRIES_PER_COLUMN)
    )
    legend.update(label_text_color=INK, label_text_font_size="12px", spacing=1, padding=4, margin=4)
    figure.add_layout(legend, "right")


def _draw_values(figure: Any, columns: Columns, scale: ColorScale | None) -> None:
    from bokeh.models import LinearColorMapper
    from bokeh.models.annotations import ColorBar

    if scale is None:
        _draw_markers(figure, columns, len(columns["x"]), INK)
        return
    mapper = LinearColorMapper(palette="Viridis256", low=scale.low, high=scale.high, nan_color=ABSENT)
    _draw_markers(figure, columns, len(columns["x"]), {"field": "label", "transform": mapper})
    bar = ColorBar(color_mapper=mapper, width=10, padding=8, major_label_text_color=FADED, bar_line_color=None)
    figure.add_layout(bar, "right")


def _draw_markers(figure: Any, columns: Columns, n: int, color: Any) -> Any:
    from bokeh.models import ColumnDataSource

    return figure.scatter(
        "x",
        "y",
        source=ColumnDataSource(columns),
        size=float(np.clip(10 * (150 / n) ** 0.25, 2, 10)),
        color=color,
        fill_alpha=0.75 if n <= 20_000 else 0.45,
        line_color=None,
        nonselection_fill_alpha=0.08,
        selection_fill_alpha=1.0,
    )


def _tools(figure: Any, lines: list[tuple[str, str]]) -> None:
    from bokeh.models import (
        BoxZoomTool,
        HoverTool,
        LassoSelectTool,
        PanTool,
        ResetTool,
        SaveTool,
        WheelZoomTool,
    )
    from bokeh.models.tools import BoxSelectTool

    wheel = WheelZoomTool()
    hover = HoverTool(tooltips=lines, point_policy="snap_to_data", limit=3)
    tools = [PanTool(), wheel, BoxZoomTool(match_aspect=True), BoxSelectTool(), LassoSelectTool()]
    figure.add_tools(*tools, hover, ResetTool(), SaveTool())
    figure.toolbar.active_scroll = wheel


def with_content_security_policy(html: str) -> str:
    """The page under a content security policy: it may run its own scripts, known by their hashes, and load nothing."""
    scripts = re.findall(r"<script(?: type=\"text/javascript\")?>(.*?)</script>", html, re.DOTALL)
    digests = (base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts)
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests)
    policy = (
        f"default-src 'none'; script-src {allowed}; "
        "style-src 'unsafe-inline'; img-src data: blob:; font-src data:; base-uri 'none'; form-action 'none'"
    )
    meta = f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">'
    head, mark, rest = html.partition('<meta charset="utf-8">')
    if not mark:
        raise BadInput("this version of Bokeh writes pages without a character set; install bokeh 3.6 or later.")
    return f"{head}{mark}\n    {meta}{rest}"
