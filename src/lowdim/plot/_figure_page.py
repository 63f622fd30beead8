"""A figure as an offline HTML page: its own drawing as SVG, with tooltips, and a view that zooms and moves.

One route for every kind of figure: the page shows what the figure shows, and its tooltips what the plot noted while it
drew (`_tooltips.py`).
"""

from __future__ import annotations

from html import escape
from importlib.resources import files
from io import StringIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.plot._standalone_page import json_for_script, page_script, with_content_security_policy
from lowdim.plot._text import drawable, shorten
from lowdim.plot._tooltips import tooltips_of

__all__ = ["figure_page"]

POINTS_PER_INCH = 72  # the unit of SVG


def figure_page(figure: Any) -> str:
    """The text of a page that shows a figure of Matplotlib."""
    from matplotlib import rc_context

    figure.set_dpi(POINTS_PER_INCH)
    figure.draw_without_rendering()
    figure.set_layout_engine("none")  # nothing moves any more
    width, height = (float(side) for side in figure.get_size_inches() * POINTS_PER_INCH)
    tooltips = [_located(ax, noted, height) for ax in figure.axes for noted in tooltips_of(ax)]
    buffer = StringIO()
    with rc_context({"svg.hashsalt": "lowdim", "svg.fonttype": "path"}):
        figure.savefig(buffer, format="svg", dpi=POINTS_PER_INCH, metadata={"Date": None})
    drawing = buffer.getvalue()
    title = shorten(drawable(_title(figure)), 120) or "Figure"
    page = files("lowdim.plot").joinpath("_figure_page.html").read_text(encoding="utf-8")
    parts = {
        "title": escape(title),
        "drawing": drawing[drawing.index("<svg") :],
        "data": json_for_script({"width": width, "height": height, "tooltips": tooltips}),
        "script": page_script("figure_page"),
    }
    pieces = page.split("{{")
    rest = (piece.partition("}}") for piece in pieces[1:])
    return with_content_security_policy(pieces[0] + "".join(parts[name] + text for name, _, text in rest))


def _title(figure: Any) -> str:
    """The title of the figure, or else of its first axes."""
    texts = [figure.get_suptitle(), *(ax.get_title(loc="left") for ax in figure.axes)]
    return str(next(filter(None, texts), ""))


def _located(ax: Any, noted: Any, height: float) -> dict[str, Any]:
    """Places in the units of the drawing, whose y axis points down, and their texts."""
    corners = noted.places.reshape(-1, 2)
    at: NDArray[np.float64] = ax.transData.transform(corners)
    at[:, 1] = height - at[:, 1]
    places = np.round(at, 2).reshape(noted.places.shape).tolist()
    return {"places": places, "texts": [drawable(text) for text in noted.texts()]}
