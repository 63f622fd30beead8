"""What a figure says of its points, bars and cells when it is written as a page: places in it, and their texts.

A plot notes them while it draws; texts are made only if a page is written. The first line of a text is its heading.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lowdim.plot._point_colors import Categories, ColorScale, PointColors

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Tooltips", "note_cells", "note_places", "note_rows", "number", "tooltips_of"]

Array = NDArray[Any]

NOTED = "_lowdim_tooltips"  # on the axes
MOST_ROWS = 20_000  # of which a page has texts


@dataclass(frozen=True)
class Tooltips:
    """Texts at places of some axes."""

    places: Array  # (m, 2) points, or (m, 4) cells from one corner to the other
    texts: Callable[[], Sequence[str]]


def note_places(ax: Axes, places: Any, texts: Callable[[], Sequence[str]]) -> None:
    """Note points (m, 2) of the axes and what makes their texts."""
    ax.__dict__.setdefault(NOTED, []).append(Tooltips(np.asarray(places, dtype=np.float64), texts))


def note_cells(ax: Axes, texts: Callable[[], Sequence[str]], shape: tuple[int, int]) -> None:
    """Note the cells of an image of this shape, row by row, and what makes their texts."""
    row, column = np.divmod(np.arange(shape[0] * shape[1]), shape[1])
    note_places(ax, np.column_stack([column - 0.5, row - 0.5, column + 0.5, row + 0.5]), texts)


def note_rows(
    ax: Axes,
    points: Array,
    axes: Sequence[str],
    names: Sequence[str] | None,
    colors: PointColors = None,
    columns: Mapping[str, Array] | None = None,
) -> None:
    """Note rows at points (n, 2): their names or numbers, labels and coordinates, and further columns of n numbers."""
    if len(points) > MOST_ROWS:
        return

    def texts() -> list[str]:
        heads = [f"row {i}" for i in range(len(points))] if names is None else list(names)
        labels = _label_lines(colors, len(points))
        said = [*axes, *(columns or {})]
        told = np.column_stack([points, *(columns or {}).values()])
        rows = zip(heads, labels, told.tolist(), strict=True)
        return [
            "\n".join([head, *label, *(f"{name}: {number(v)}" for name, v in zip(said, values, strict=True))])
            for head, label, values in rows
        ]

    note_places(ax, points, texts)


def tooltips_of(ax: Axes) -> list[Tooltips]:
    """What was noted on these axes."""
    return list(ax.__dict__.get(NOTED, ()))


def number(value: float) -> str:
    """Four digits, with a typographic minus."""
    return f"{value + 0.0:.4g}".replace("-", "−")


def _label_lines(colors: PointColors, n: int) -> list[list[str]]:
    if isinstance(colors, Categories):
        head = f"{colors.title}: " if colors.title else ""
        return [[f"{head}{colors.names[code]}"] for code in colors.codes]
    if isinstance(colors, ColorScale) and not colors.dates:
        return [[f"{colors.title or 'value'}: {number(value)}"] for value in colors.values]
    return [[] for _ in range(n)]
