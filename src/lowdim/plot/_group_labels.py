"""Names of groups, written on them: where each is densest if there is room, else beside it with a line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lowdim.plot._colors import ABSENT, FADED, INK
from lowdim.plot._label_placement import LabelPlacer
from lowdim.plot._point_colors import MOST_IN_LEGEND, Categories
from lowdim.plot._text import shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["densest_place", "label_groups"]

Array = NDArray[Any]

CELLS, SPREAD = (
    60,
    1.6,
)  # along each side of a group, and the standard deviation in cells that finds where it is densest
RINGS = (0.0, 14.0, 24.0, 38.0, 56.0, 80.0)  # distances from there that are tried, in points
TURNS = 12
LONG = 30  # letters of a name


def label_groups(ax: Axes, points: Array, categories: Categories) -> int:
    """Write the name of every category on its points (n, 2), the largest first; returns how many found room."""
    categories = categories.at_most(MOST_IN_LEGEND)
    names = [shorten(name, LONG) for name in categories.names]
    size = 13.0 if max(map(len, names)) <= 4 else 10.5
    placer = LabelPlacer(ax, points[:1], 0.0)
    boxes = np.empty((0, 4))
    counts = np.bincount(categories.codes, minlength=len(names))
    for code in np.argsort(-counts, kind="stable"):
        if not counts[code] or categories.colors[code] == ABSENT or not names[code].strip():
            continue
        place = densest_place(points[categories.codes == code])
        anchor = placer.on_page(place[None])[0]
        half = np.array([0.36 * size * len(names[code]) + 2, 0.72 * size])
        center = _free_center(anchor, half, boxes, placer.low, placer.high)
        if center is not None:
            boxes = np.vstack([boxes, np.hstack([center - half, center + half])])
            _write(ax, names[code], place, center - anchor, size)
    return len(boxes)


def densest_place(own: Array) -> Array:
    """Where the points of a group (m, 2) are densest, on a grid over all of them, (2,)."""
    from scipy.ndimage import gaussian_filter

    if len(own) < 3:
        return np.asarray(own[0], dtype=np.float64)
    counts, x, y = np.histogram2d(own[:, 0], own[:, 1], bins=CELLS)
    i, j = np.unravel_index(int(np.argmax(gaussian_filter(counts, SPREAD, mode="constant"))), counts.shape)
    return np.array([(x[i] + x[i + 1]) / 2, (y[j] + y[j + 1]) / 2])


def _free_center(anchor: Array, half: Array, boxes: Array, low: Array, high: Array) -> Array | None:
    """The nearest center around the anchor whose box lies inside the axes and covers no other."""
    for ring in RINGS:
        for turn in range(TURNS if ring else 1):
            angle = 2 * np.pi * turn / TURNS
            center = anchor + ring * np.array([1.4 * np.cos(angle), np.sin(angle)])
            below, above = center - half, center + half
            apart = (boxes[:, :2] >= above).any(axis=1) | (boxes[:, 2:] <= below).any(axis=1)
            if (below >= low).all() and (above <= high).all() and apart.all():
                return np.asarray(center)
    return None


def _write(ax: Axes, name: str, place: Array, offset: Array, size: float) -> None:
    from matplotlib.patheffects import withStroke

    at: Any = (float(place[0]), float(place[1]))
    options: dict[str, Any] = {"textcoords": "offset points", "annotation_clip": False}
    if np.abs(offset).max() > 0:
        line = {"arrowstyle": "-", "color": FADED, "linewidth": 0.7, "shrinkA": 0, "shrinkB": 0}
        ax.annotate("", at, xytext=tuple(offset), arrowprops=line, zorder=5.5, **options).set_in_layout(False)
    halo = [withStroke(linewidth=3.2, foreground="#ffffffe6")]
    options |= {"fontsize": size, "fontweight": "bold", "color": INK, "parse_math": False, "path_effects": halo}
    text = ax.annotate(name, at, xytext=tuple(offset), ha="center", va="center", zorder=6, **options)
    text.set_in_layout(False)
