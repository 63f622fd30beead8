"""A tour as a standalone animated HTML page that makes no network request.

The page's own script stands in `_tour_page.js`. Names and labels reach it as JSON, and it sets them as text; the
content security policy forbids every request and every other script.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files
from itertools import islice
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput
from lowdim.plot._colors import ABSENT, INK
from lowdim.plot._html_page import MOST_ENTRIES
from lowdim.plot._inputs import read_points, read_texts
from lowdim.plot._page_legend import viridis
from lowdim.plot._point_colors import Categories, PointColors, read_labels
from lowdim.plot._standalone_page import json_for_script, with_content_security_policy
from lowdim.plot._text import drawable, shorten
from lowdim.runtime.atomic_write import atomic_write

__all__ = ["tour"]

MOST_VALUES = 4_000_000  # of the rows in the page: 16 MB; more rows than that are thinned out
MOST_FRAMES = 20_000
FRAMES_PER_SECOND = 20
FRAMES_MEASURED = 30  # to see how far the rows reach
SHADES = 64  # of a color scale


def tour(  # noqa: PLR0913  (one per part of the page)
    X: Any,
    frames: Iterable[Any],
    labels: Any = None,
    *,
    names: Any = None,
    label_name: str | None = None,
    columns: Sequence[str] | None = None,
    seconds: float = 30.0,
    title: str = "",
    path: str | PathLike[str] | None = None,
) -> str:
    """Write a tour as one animated HTML file that works offline, and return its text.

    The page plays, pauses and goes to any position; the loadings of the columns are drawn as axes in a circle, and
    dragging the end of one turns the projection by hand.

    Parameters
    ----------
    X : table (n, d)
        Rows to be projected, X @ F; standardized or sphered ones, so that no column dominates.
    frames : iterable of arrays (d, 2)
        A tour: `lowdim.grand_tour`, `guided_tour`, `local_tour`, or frames of one's own.
    labels, names
        Colors, as for `scatter`.
    label_name : str, optional
        What the labels are, above the legend.
    columns : d names, optional
        Of the axes.
    seconds : float
        How long the animation takes at normal speed, at 20 frames per second, if the tour is long enough.
    title : str
        Of the page.
    path : path, optional
        Where to write it, atomically.

    """
    rows = read_points(X, "X", 2).astype(np.float32)
    n, d = rows.shape
    columns = read_texts([f"column {j + 1}" for j in range(d)] if columns is None else columns, d, "columns")
    colors, shown = read_labels(labels, n, names), _read_frames(frames, d, seconds)
    kept = np.arange(0, n, -(-n * d // MOST_VALUES))  # every so many-th row
    codes, palette, legend = _colors(colors, n)
    kept = kept[np.argsort(codes[kept], kind="stable")]
    payload = {
        "n": len(kept),
        "d": d,
        "rows": _base64(_centered(rows, shown)[kept]),
        "codes": _base64(codes[kept].astype(np.uint8)),
        "frames": _base64(shown),
        "framesPerSecond": FRAMES_PER_SECOND,
        "columns": [shorten(name, 24) for name in columns or ()],
        "palette": palette,
        "legend": legend,
        "legendTitle": shorten(label_name or ""),
    }
    note = "" if len(kept) == n else f"{len(kept):,} of {n:,} rows are shown"
    text = _page(payload, shorten(drawable(str(title)), 120) or "Tour", note)
    if path is not None:
        with atomic_write(path) as draft:
            draft.write_text(text, encoding="utf-8")
    return text


def _read_frames(frames: Iterable[Any], d: int, seconds: float) -> NDArray[np.float32]:
    """The frames that the seconds take, (m, d, 2)."""
    most = min(max(int(seconds * FRAMES_PER_SECOND) + 1, 2), MOST_FRAMES)
    found = [np.asarray(frame, dtype=np.float32) for frame in islice(frames, most)]
    wrong = next((frame.shape for frame in found if frame.shape != (d, 2) or not np.isfinite(frame).all()), None)
    if wrong is not None or not found:
        raise BadInput(f"frames must be finite arrays of shape ({d}, 2), one at least; got {wrong or 'none'}.")
    return np.stack(found)


def _centered(rows: NDArray[np.float32], frames: NDArray[np.float32]) -> NDArray[np.float32]:
    """Rows about their mean, in units of a radius that nearly all of them stay within when they are projected."""
    centered = rows.astype(np.float64) - rows.mean(axis=0, dtype=np.float64)
    some = frames[:: -(-len(frames) // FRAMES_MEASURED)]
    reach = max(float(np.quantile(np.linalg.norm(centered @ frame, axis=1), 0.99)) for frame in some)
    return (centered / (reach or 1.0)).astype(np.float32)


def _colors(colors: PointColors, n: int) -> tuple[NDArray[np.intp], list[str], list[dict[str, Any]]]:
    """The place of each row in the palette, (n,), the palette, and the entries of the legend."""
    if colors is None:
        return np.zeros(n, dtype=np.intp), [INK], []
    if isinstance(colors, Categories):
        colors = colors.at_most(MOST_ENTRIES)
        pairs = zip(colors.names, colors.colors, strict=True)
        legend = [{"name": shorten(name), "colors": [color]} for name, color in pairs]
        return np.asarray(colors.codes), list(colors.colors), legend
    shades = [viridis(i / (SHADES - 1)) for i in range(SHADES)]
    known = np.isfinite(colors.values)
    shares = (np.where(known, colors.values, colors.low) - colors.low) / (colors.high - colors.low)
    codes = np.where(known, np.rint(shares * (SHADES - 1)), SHADES).astype(np.intp)
    bar = {"name": f"{colors.low:.4g} – {colors.high:.4g}", "colors": shades[::7]}
    return codes, [*shades, ABSENT], [bar]


def _base64(array: NDArray[Any]) -> str:
    little = array.astype(array.dtype.newbyteorder("<"))
    return base64.b64encode(np.ascontiguousarray(little).tobytes()).decode()


def _page(payload: dict[str, Any], title: str, note: str) -> str:
    """The template with its parts. No text of the user's can end the element that it stands in."""
    folder = files("lowdim.plot")
    script = folder.joinpath("_tour_page.js").read_text(encoding="utf-8")
    data = json_for_script(payload)
    page = folder.joinpath("_tour_page.html").read_text(encoding="utf-8")
    head, rest = page.split("{{data}}")
    head = head.replace("{{note}}", escape(note)).replace("{{title}}", escape(title))
    return with_content_security_policy(head + data + rest.replace("{{script}}", script))
