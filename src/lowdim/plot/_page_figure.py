"""The figure of an interactive page: Bokeh's axes, markers and tools."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lowdim.plot._colors import ABSENT, FADED, INK, LIGHT, tint
from lowdim.plot._page_columns import Columns, Line
from lowdim.plot._page_legend import viridis
from lowdim.plot._point_colors import Categories, ColorScale, PointColors
from lowdim.plot._points import PALE
from lowdim.plot._text import shorten

__all__ = ["draw_empty_lines", "draw_row_names", "draw_rows", "make_figure"]


def make_figure(axes: Sequence[str], strips: PointColors) -> Any:
    """An empty figure with the names of its axes; of one component, with one strip per category."""
    from bokeh.models import PlainText
    from bokeh.plotting import figure

    one = len(axes) == 1
    made = figure(sizing_mode="stretch_both", match_aspect=not one, output_backend="webgl", tools="")
    made.toolbar.logo = None
    made.toolbar_location = "above"
    made.min_border = 12
    made.outline_line_color = None
    made.grid.grid_line_color = "#eeeeee"
    title = strips.title if isinstance(strips, Categories) else ""
    for axis, name in zip(made.axis, (axes[0], title if one else axes[1]), strict=True):
        axis.update(axis_line_color=LIGHT, major_tick_line_color=LIGHT, minor_tick_line_color=None)
        axis.update(major_label_text_color=FADED, axis_label_text_color=INK, axis_label_text_font_style="normal")
        axis.axis_label = PlainText(text=name) if name else None
    if one:
        _name_strips(made, strips)
    return made


def _name_strips(made: Any, strips: PointColors) -> None:
    from bokeh.models import PlainText

    if isinstance(strips, Categories):
        made.yaxis.ticker = list(range(len(strips.names)))
        made.yaxis.major_label_overrides = {i: PlainText(text=shorten(name)) for i, name in enumerate(strips.names)}
        made.y_range.flipped = True
    else:
        made.yaxis.visible = False
        made.y_range.range_padding = 1.0
    made.ygrid.grid_line_color = None


def draw_rows(figure: Any, columns: Columns, colors: PointColors, lines: list[Line] | None, pale: bool = False) -> None:
    """Draw markers, one renderer per category, so that the legend can hide it; with tooltips unless `lines` is None."""
    from bokeh.models import LinearColorMapper

    n = len(columns["x"])
    if isinstance(colors, Categories):
        drawn = []
        for code, (name, color) in enumerate(zip(colors.names, colors.colors, strict=True)):
            own = {key: column[colors.codes == code] for key, column in columns.items()}
            drawn.append(_markers(figure, own, n, tint(color, PALE) if pale else color, pale))
            drawn[-1].update(name=name, tags=[code])
        label = (shorten(colors.title) or "label", "$name")  # of the renderer: no text is repeated in every row
    elif isinstance(colors, ColorScale) and not pale:
        mapper = LinearColorMapper(
            palette=[viridis(i / 255) for i in range(256)], low=colors.low, high=colors.high, nan_color=ABSENT
        )
        columns = {**columns, "label": colors.values.astype(np.float32), "text": _value_texts(colors)}
        if not colors.dates:
            del columns["text"]
        drawn = [_markers(figure, columns, n, {"field": "label", "transform": mapper}, pale)]
        label = (shorten(colors.title) or "label", "@text" if colors.dates else "@label{%.6g}")
    else:
        drawn = [_markers(figure, columns, n, LIGHT if pale else INK, pale)]
        label = None
    if lines is not None:
        _add_tools(figure, [*lines[:1], *([label] if label else []), *lines[1:]], drawn)


def draw_row_names(figure: Any, n: int) -> None:
    """Names beside points and the lines that lead to them, both empty: `_row_names.js` places them."""
    from bokeh.models import ColumnDataSource
    from bokeh.models.annotations.labels import LabelSet

    size = 12 if n <= 40 else 11 if n <= 120 else 10  # pixels
    source = ColumnDataSource({name: [] for name in ("x", "y", "text", "dx", "dy")})
    style: dict[str, Any] = {"text_font_size": f"{size}px", "text_color": INK, "text_align": "center"}
    labels = LabelSet(x="x", y="y", text="text", x_offset="dx", y_offset="dy", source=source, **style)
    labels.update(name="row names", text_baseline="middle", tags=[size, _marker_size(n) / 2])
    figure.add_layout(labels)
    draw_empty_lines(figure, "names", "row names", line_color=LIGHT, line_width=0.8)


def draw_empty_lines(figure: Any, tag: str, name: str, **style: Any) -> Any:
    """Lines which a script fills."""
    from bokeh.models import ColumnDataSource

    empty: dict[str, Any] = {end: [] for end in ("x0", "y0", "x1", "y1")}
    drawn = figure.segment("x0", "y0", "x1", "y1", source=ColumnDataSource(empty), **style)
    drawn.update(name=name, tags=[f"lines-{tag}"])
    return drawn


def _marker_size(n: int) -> float:
    return float(np.clip(10 * (150 / n) ** 0.25, 2.5, 10))


def _value_texts(scale: ColorScale) -> Any:
    """Dates as text, for tooltips."""
    if not scale.dates:
        return None
    days = np.where(np.isnan(scale.values), np.nan, scale.values * 86400)
    moments = np.datetime64("1970-01-01T00:00", "s") + days.astype("timedelta64[s]")
    whole = bool((scale.values[~np.isnan(scale.values)] % 1 == 0).all())
    return np.asarray(np.datetime_as_string(moments, unit="D" if whole else "m"), dtype=object)


def _markers(figure: Any, columns: Columns, n: int, color: Any, pale: bool) -> Any:
    from bokeh.models import ColumnDataSource

    opacity = 0.8 if n <= 5000 else 0.65 if n <= 20_000 else 0.5
    return figure.scatter(
        "x",
        "y",
        source=ColumnDataSource(columns),
        size=_marker_size(n),
        color=color,
        fill_alpha=0.9 if pale else opacity,
        line_color=None,
        nonselection_fill_alpha=0.08,
        selection_fill_alpha=1.0,
    )


def _add_tools(figure: Any, lines: list[Line], drawn: list[Any]) -> None:
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
    printed: Any = {line[1].partition("{")[0]: "printf" for line in lines if "{%" in line[1]}
    hover = HoverTool(tooltips=lines, formatters=printed, point_policy="snap_to_data", limit=3, renderers=drawn)
    tools = [PanTool(), wheel, BoxZoomTool(match_aspect=True), BoxSelectTool(), LassoSelectTool()]
    figure.add_tools(*tools, hover, ResetTool(), SaveTool())
    figure.toolbar.active_scroll = wheel
