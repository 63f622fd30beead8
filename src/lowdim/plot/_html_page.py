"""A standalone interactive HTML page (Bokeh) that makes no network request.

Labels, names and titles are data and stay text. Bokeh escapes them in tooltips, the template in the page; formulas
($$…$$) would be fetched from elsewhere and are switched off by giving text as PlainText; and the page itself forbids,
by a content security policy, every request and every script but its own (`_html_page.js`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.resources import files
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput, MissingExtra
from lowdim.plot._inputs import read_points
from lowdim.plot._page_columns import page_columns
from lowdim.plot._page_figure import draw_rows, make_figure
from lowdim.plot._page_legend import legend_html
from lowdim.plot._point_colors import Categories, PointColors, read_labels, read_with_background
from lowdim.plot._points import strip_heights
from lowdim.plot._standalone_page import json_for_script, with_content_security_policy
from lowdim.plot._text import drawable, shorten
from lowdim.runtime.atomic_write import atomic_write

__all__ = ["MOST_ENTRIES", "page"]

Array = NDArray[Any]

MOST_ENTRIES = 60  # in the legend
MOST_COMPONENTS = 20  # to choose from
MOST_VALUES = 4_000_000  # of all components in the page: 16 MB


def page(  # noqa: PLR0913  (one argument per thing that is drawn)
    Z: Any,
    labels: Any = None,
    *,
    names: Any = None,
    ids: Any = None,
    hover: Mapping[str, Any] | None = None,
    images: Any = None,
    title: str = "",
    axis_names: Sequence[str] | None = None,
    label_name: str | None = None,
    colors: Mapping[str, str] | None = None,
    legend: bool = True,
    background: Any = None,
    background_labels: Any = None,
    path: str | PathLike[str] | None = None,
) -> str:
    """Write an embedding as one HTML file that works offline, and return its text.

    The page zooms and moves by mouse, touch and keys, selects by box and lasso, has a tooltip for every point, and a
    legend whose entries hide and show their category. Of more than two components, any two can be chosen.

    Parameters
    ----------
    Z : table (n, k)
        The embedding. A single column is drawn as a strip per category.
    labels, names, label_name, colors, legend
        Colors, as for `scatter`; up to 60 categories have legend entries.
    ids : n names of rows, optional
        Shown in the tooltip; without them, the number of the row, from 0.
    hover : mapping from name to n values, optional
        Further lines of the tooltip.
    images : array (n, height, width) or (n, height, width, 3), optional
        Thumbnails for the tooltip, for at most 5,000 rows.
    title : str
        Of the page and above the plot.
    axis_names : k texts, optional
        Of the components, as on the axes.
    background, background_labels
        Rows that these are drawn on, pale, as for `scatter`.
    path : path, optional
        Where to write it, atomically.

    """
    try:
        from bokeh.embed import file_html
        from bokeh.resources import Resources
        from jinja2 import Template  # comes with Bokeh
    except ImportError as error:
        raise MissingExtra("the interactive page needs Bokeh; install it with pip install 'lowdim[app]'.") from error

    whole = read_points(Z)
    n, k = whole.shape
    behind = None if background is None else _matching(read_points(background, "background"), k)
    given: dict[str, Any] = {"colors": colors, "title": label_name}
    point_colors, behind_colors = read_labels(labels, n, names, **given), None
    if behind is not None:
        point_colors, behind_colors = read_with_background(labels, n, background_labels, len(behind), **given)
    shown = _pooled(point_colors if point_colors is not None else behind_colors)
    kept = min(k, MOST_COMPONENTS, max(MOST_VALUES // n, 2))
    axes = _component_names(axis_names, kept)
    columns, lines = page_columns(_components(whole, kept, _pooled(point_colors)), axes, ids, hover, images)
    figure = make_figure(axes, shown if k == 1 else None)
    if behind is not None:
        back, _ = page_columns(_components(behind, kept, _pooled(behind_colors)), axes, None, None, None)
        draw_rows(figure, back, _pooled(behind_colors), None, pale=True)
    draw_rows(figure, columns, _pooled(point_colors), lines)
    heading = shorten(drawable(str(title)), 120)
    chooser = (
        "".join(f'<label>{a} <select id="{a}-component"></select></label>' for a in ("x", "y")) if kept > 2 else ""
    )
    folder = files("lowdim.plot")
    html = file_html(
        figure,
        Resources(mode="inline"),
        title=drawable(str(title)) or "Map",
        template=Template(folder.joinpath("_html_page.html").read_text(encoding="utf-8")),
        template_variables={
            "heading": heading,
            "note": _note(n, k, kept, behind),
            "controls": chooser,
            "legend": legend_html(shown) if legend and not (k == 1 and isinstance(shown, Categories)) else "",
            "components": json_for_script({"names": [shorten(name, 40) for name in axes], "axes": axes}),
            "script": folder.joinpath("_html_page.js").read_text(encoding="utf-8"),
        },
    )
    text = with_content_security_policy(html)
    if path is not None:
        with atomic_write(path) as draft:
            draft.write_text(text, encoding="utf-8")
    return text


def _matching(behind: Array, k: int) -> Array:
    if behind.shape[1] != k:
        raise BadInput(f"background must have the {k} dimensions of Z; got {behind.shape[1]}.")
    return behind


def _pooled(colors: PointColors) -> PointColors:
    return colors.at_most(MOST_ENTRIES) if isinstance(colors, Categories) else colors


def _components(points: Array, kept: int, colors: PointColors) -> Array:
    """The components that the page holds (n, kept); a single one has heights in a strip beside it."""
    shown = points[:, :kept].astype(np.float32)
    return shown if kept > 1 else np.column_stack([shown, strip_heights(len(points), colors)])


def _component_names(axis_names: Sequence[str] | None, kept: int) -> list[str]:
    if axis_names is not None and len(axis_names) < kept:
        raise BadInput(f"axis_names must have {kept} names for {kept} components; got {len(axis_names)}.")
    given = [f"axis {i + 1}" for i in range(kept)] if axis_names is None else axis_names[:kept]
    return [shorten(str(name), 60) for name in given]


def _note(n: int, k: int, kept: int, behind: Array | None) -> str:
    notes = [] if behind is None else [f"{n:,} rows on the map of {len(behind):,} others (pale)"]
    if kept < k:
        notes.append(f"the first {kept} of {k} components")
    return "; ".join(notes)
