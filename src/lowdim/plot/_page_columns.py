"""The data of an interactive page: one column per thing that a tooltip shows, and its lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInputType
from lowdim.plot._inputs import read_texts
from lowdim.plot._text import shorten
from lowdim.plot._thumbnails import thumbnails

__all__ = ["Columns", "Line", "page_columns"]

Array = NDArray[Any]
Columns = dict[str, Any]
Line = tuple[str, str]  # a name, and the column with its format

MOST_IN_TOOLTIP = 4  # components


def page_columns(
    points: Array, axes: Sequence[str], ids: Any, hover: Mapping[str, Any] | None, images: Any
) -> tuple[Columns, list[Line]]:
    """The data of each point, and the tooltip lines that show it. Column names are ours, never the user's."""
    n = len(points)
    row_names = read_texts(ids, n, "ids")
    columns: Columns = {"x": points[:, 0], "y": points[:, 1]}
    if len(axes) > 2:  # to choose from: x and y hold two of them
        columns |= {f"c{i}": np.ascontiguousarray(points[:, i]) for i in range(len(axes))}
    columns["id"] = np.arange(n, dtype=np.int32) if row_names is None else np.asarray(row_names, dtype=object)
    lines = [("row" if row_names is None else "id", "@id")]
    for i, name in enumerate(axes[:MOST_IN_TOOLTIP]):
        lines.append((name, f"@{f'c{i}' if len(axes) > 2 else 'xy'[i]}{{%.4g}}"))
    if hover is not None and not isinstance(hover, Mapping):
        raise BadInputType(f"hover must map names to columns of values; got {type(hover).__name__}.")
    for i, (name, values) in enumerate((hover or {}).items()):
        columns[f"hover{i}"] = _hover_column(values, n, name)
        number = columns[f"hover{i}"].dtype.kind == "f"
        lines.append((shorten(str(name)), f"@hover{i}{{%.6g}}" if number else f"@hover{i}"))
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
    if column.shape == (n,) and column.dtype.kind == "M":
        return np.asarray(np.datetime_as_string(column, unit="auto"), dtype=object)
    return np.asarray(read_texts(values, n, f"hover[{name!r}]"), dtype=object)
