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
from lowdim.plot._drawn_rows import read_drawn_rows
from lowdim.plot._page_columns import page_columns
from lowdim.plot._page_figure import draw_row_names, draw_rows, make_figure
from lowdim.plot._page_legend import legend_html
from lowdim.plot._page_neighbors import EXPLAINED, TOO_MANY, PageNeighbors, draw_neighbor_lines, read_neighbors
from lowdim.plot._point_colors import Categories, PointColors
from lowdim.plot._points import strip_heights
from lowdim.plot._standalone_page import json_for_script, page_script, with_content_security_policy
from lowdim.plot._text import drawable, shorten
from lowdim.runtime.atomic_write import atomic_write

__all__ = ["MOST_ENTRIES", "page"]

Array = NDArray[Any]

SCRIPTS = ("label_boxes", "row_names", "html_page")  # in the order in which they use one another
MOST_ENTRIES = 60  # in the legend
MOST_COMPONENTS = 20  # to choose from
MOST_VALUES = 4_000_000  # of all components in the page: 16 MB


def page(  # noqa: PLR0913  (one argument per thing that is drawn)
    Z: Any,
    labels: Any = None,
    *,
    names: Any = None,
    ids: Any = None,
    show_ids: bool = True,
    hover: Mapping[str, Any] | None = None,
    images: Any = None,
    title: str = "",
    axis_names: Sequence[str] | None = None,
    label_name: str | None = None,
    colors: Mapping[str, str] | None = None,
    legend: bool = True,
    background: Any = None,
    background_labels: Any = None,
    neighbors: Any = None,
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
    show_ids : bool
        Write the ids beside the points as well, wherever there is room, the most isolated first.
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
    neighbors : two tables (n, k) of row numbers, optional
        The nearest rows of every row in the data and in the map, or what `quality.measure` returns. Lines lead from the
        point under the cursor to its true neighbors and, dashed, to the false ones, for at most 20,000 rows.
    path : path, optional
        Where to write it, atomically.

    """
    try:
        import bokeh.embed  # noqa: F401
    except ImportError as error:
        raise MissingExtra("the interactive page needs Bokeh; install it with pip install 'lowdim[app]'.") from error

    rows = read_drawn_rows(Z, labels, names, colors, label_name, background, background_labels)
    n, k = rows.points.shape
    front, back, shown = (_pooled(part) for part in (rows.colors, rows.behind_colors, rows.shown))
    kept = min(k, MOST_COMPONENTS, max(MOST_VALUES // n, 2))
    axes = _component_names(axis_names, kept)
    columns, lines = page_columns(_components(rows.points, kept, front), axes, ids, hover, images)
    figure = make_figure(axes, shown if k == 1 else None)
    if rows.behind is not None:
        behind, _ = page_columns(_components(rows.behind, kept, back), axes, None, None, None)
        draw_rows(figure, behind, back, None, pale=True)
    near = read_neighbors(neighbors, n)
    if near is not None:
        columns, lines = columns | near.columns(), [*lines, near.line()]
    _draw_front(figure, columns, lines, front, named=ids is not None and show_ids)
    notes = rows.background_note + ([f"the first {kept} of {k} components"] if kept < k else [])
    if near is not None:
        draw_neighbor_lines(figure)
    elif neighbors is not None:
        notes.append(TOO_MANY)
    key = legend_html(shown) if legend and rows.has_key else ""
    text = _render(figure, drawable(str(title)), "; ".join(notes), key, axes, near)
    if path is not None:
        with atomic_write(path) as draft:
            draft.write_text(text, encoding="utf-8")
    return text


def _draw_front(
    figure: Any, columns: dict[str, Any], lines: list[tuple[str, str]], colors: Any, *, named: bool
) -> None:
    """The rows of the map, with their names beside them if so many can be read."""
    if named:
        columns["name"] = np.array([shorten(name) for name in columns["id"]], dtype=object)
    draw_rows(figure, columns, colors, lines)
    if named:
        draw_row_names(figure, len(columns["name"]))


def _render(figure: Any, title: str, note: str, key: str, axes: list[str], near: PageNeighbors | None) -> str:
    """The page by its template, under its content security policy."""
    from bokeh.embed import file_html
    from bokeh.resources import Resources
    from jinja2 import Template  # comes with Bokeh

    template = files("lowdim.plot").joinpath("_html_page.html").read_text(encoding="utf-8")
    scripts = "\n".join(page_script(name) for name in SCRIPTS)
    chooser = (f'<label>{axis} <select id="{axis}-component"></select></label>' for axis in ("x", "y"))
    variables = {
        "heading": shorten(title, 120),
        "note": note,
        "controls": "".join(chooser) if len(axes) > 2 else "",
        "legend": key,
        "components": json_for_script({"names": [shorten(name, 40) for name in axes], "axes": axes}),
        "neighbors": json_for_script({} if near is None else near.for_script()),
        "explained": "" if near is None else EXPLAINED,
        "script": f'"use strict";\n(() => {{\n{scripts}\n}})();',
    }
    options = {"title": title or "Map", "template": Template(template), "template_variables": variables}
    return with_content_security_policy(file_html(figure, Resources(mode="inline"), **options))


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
