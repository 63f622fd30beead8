"""The rows of a scatter plot or a page: points and colors, and those of the map behind them, checked once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from lowdim.errors import BadInput
from lowdim.plot._inputs import read_points
from lowdim.plot._point_colors import Categories, PointColors, read_labels, read_with_background

__all__ = ["DrawnRows", "read_drawn_rows"]

Array = NDArray[Any]


@dataclass(frozen=True)
class DrawnRows:
    """Rows (n, k) with their colors, and the rows (m, k) of the map that they are placed on."""

    points: Array
    colors: PointColors
    behind: Array | None
    behind_colors: PointColors

    @property
    def shown(self) -> PointColors:
        """What the legend shows: the colors of the rows, or else of those behind them."""
        return self.behind_colors if self.colors is None else self.colors

    @property
    def has_key(self) -> bool:
        """Whether colors need a legend or a color bar: the strips of one component are named by their axis."""
        return self.shown is not None and not (self.points.shape[1] == 1 and isinstance(self.shown, Categories))

    @property
    def background_note(self) -> list[str]:
        """What is pale, in words."""
        if self.behind is None:
            return []
        return [f"{len(self.points):,} rows on the map of {len(self.behind):,} others (pale)"]


def read_drawn_rows(
    Z: Any,
    labels: Any,
    names: Any,
    colors: Mapping[str, str] | None,
    label_name: str | None,
    background: Any,
    background_labels: Any,
) -> DrawnRows:
    """Points, labels and the map behind them, as `scatter` and `page` take them."""
    points = read_points(Z)
    n, k = points.shape
    if background is None:
        return DrawnRows(points, read_labels(labels, n, names, colors=colors, title=label_name), None, None)
    behind = read_points(background, "background")
    if behind.shape[1] != k:
        raise BadInput(f"background must have the {k} dimensions of Z; got {behind.shape[1]}.")
    given: dict[str, Any] = {"colors": colors, "title": label_name, "names": names}
    front_colors, behind_colors = read_with_background(labels, n, background_labels, len(behind), **given)
    return DrawnRows(points, front_colors, behind, behind_colors)
