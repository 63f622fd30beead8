"""Names of groups: on a group that is larger than its name, where it is densest, and beside a smaller one.

A name stands where it covers few points and is nearest to its own group; a line leads to a name that is further away.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lowdim.plot._colors import ABSENT, FADED, INK
from lowdim.plot._label_placement import LabelPlacer, overlaps
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
RINGS = (14.0, 24.0, 38.0, 56.0, 80.0)  # distances from there that are tried, in points
TURNS = 2 * np.pi * np.arange(12) / 12
AROUND = np.vstack([ring * np.column_stack([1.4 * np.cos(TURNS), np.sin(TURNS)]) for ring in RINGS])
EXTENT = 0.05, 0.95  # quantiles between which a group lies
COVERED, STRAY = 40.0, 40.0  # what it costs to cover points, and to be as near to another group, in points of distance
SIDES = np.array([[0, 1], [0, -1], [1, 0], [-1, 0]])
NEAR = 8.0  # gap between a group and its name up to which there is no line
LONG = 30  # letters of a name


@dataclass(frozen=True)
class _Group:
    """A group on the page, in points of 1/72 inch."""

    place: Array  # (2,) where it is densest, in the units of the axes
    anchor: Array  # (2,) the same on the page
    box: Array  # (4,) left, bottom, right, top

    @classmethod
    def of(cls, own: Array, placer: LabelPlacer) -> _Group:
        place = densest_place(own)
        box = np.quantile(placer.on_page(own), EXTENT, axis=0).ravel()
        return cls(place, placer.on_page(place[None])[0], box)

    def gaps(self, boxes: Array) -> Array:
        """The gaps between boxes (c, 4) and the group, (c,)."""
        aside = np.maximum(boxes[:, :2] - self.box[2:], self.box[:2] - boxes[:, 2:])
        return np.asarray(np.linalg.norm(np.maximum(aside, 0), axis=1))


def label_groups(ax: Axes, points: Array, categories: Categories) -> int:
    """Write the name of every category on its points (n, 2), the largest first; returns how many found room."""
    categories = categories.at_most(MOST_IN_LEGEND)
    names = [shorten(name, LONG) for name in categories.names]
    size = 13.0 if max(map(len, names)) <= 4 else 10.5
    placer = LabelPlacer(ax, points, 0.0)
    counts = np.bincount(categories.codes, minlength=len(names))
    named = [code for code in np.argsort(-counts, kind="stable") if counts[code] and names[code].strip()]
    named = [code for code in named if categories.colors[code] != ABSENT]
    groups = {code: _Group.of(points[categories.codes == code], placer) for code in named}
    boxes = np.empty((0, 4))
    for code, group in groups.items():
        half = np.array([0.36 * size * len(names[code]) + 2, 0.72 * size])
        others = [other for other in groups.values() if other is not group]
        box = _first_free(_candidates(group, half, others, placer), boxes, placer)
        if box is not None:
            boxes = np.vstack([boxes, box])
            _write(ax, names[code], group, box, size)
    return len(boxes)


def _candidates(group: _Group, half: Array, others: list[_Group], placer: LabelPlacer) -> Array:
    """Boxes where the name of a group may stand, the best first, (c, 4)."""
    reach = (group.box[2:] - group.box[:2]) / 2
    inside = (reach >= half).all()
    beside = group.box[:2] + reach - group.anchor + (reach + half) * SIDES
    away = np.vstack([np.zeros((1, 2)) if inside else beside, AROUND])
    boxes = np.hstack([group.anchor + away - half, group.anchor + away + half])
    if inside:
        return boxes
    covered = np.minimum(placer.markers_under(boxes) / half.prod(), 1)  # all, from one point in four square ones
    nearest = np.min([other.gaps(boxes) for other in others], axis=0, initial=np.inf)
    cost = np.hypot(away[:, 0] / 1.4, away[:, 1]) + COVERED * covered + STRAY * (nearest <= group.gaps(boxes))
    return np.asarray(boxes[np.argsort(cost, kind="stable")])


def _first_free(candidates: Array, boxes: Array, placer: LabelPlacer) -> Array | None:
    """The first candidate that lies inside the axes and covers no other name."""
    inside = (candidates[:, :2] >= placer.low).all(axis=1) & (candidates[:, 2:] <= placer.high).all(axis=1)
    free = inside & ~overlaps(candidates, boxes).any(axis=1)
    return candidates[int(np.argmax(free))] if free.any() else None


def densest_place(own: Array) -> Array:
    """Where the points of a group (m, 2) are densest, on a grid over all of them, (2,)."""
    from scipy.ndimage import gaussian_filter

    if len(own) < 3:
        return np.asarray(own[0], dtype=np.float64)
    counts, x, y = np.histogram2d(own[:, 0], own[:, 1], bins=CELLS)
    i, j = np.unravel_index(int(np.argmax(gaussian_filter(counts, SPREAD, mode="constant"))), counts.shape)
    return np.array([(x[i] + x[i + 1]) / 2, (y[j] + y[j + 1]) / 2])


def _write(ax: Axes, name: str, group: _Group, box: Array, size: float) -> None:
    from matplotlib.patheffects import withStroke

    at: Any = (float(group.place[0]), float(group.place[1]))
    options: dict[str, Any] = {"textcoords": "offset points", "annotation_clip": False}
    end = np.clip(group.anchor, box[:2], box[2:]) - group.anchor
    if group.gaps(box[None])[0] > NEAR:
        line = {"arrowstyle": "-", "color": FADED, "linewidth": 0.7, "shrinkA": 0, "shrinkB": 0}
        ax.annotate("", at, xytext=tuple(end), arrowprops=line, zorder=5.5, **options).set_in_layout(False)
    halo = [withStroke(linewidth=3.2, foreground="#ffffffe6")]
    options |= {"fontsize": size, "fontweight": "bold", "color": INK, "parse_math": False, "path_effects": halo}
    offset = (box[:2] + box[2:]) / 2 - group.anchor
    text = ax.annotate(name, at, xytext=tuple(offset), ha="center", va="center", zorder=6, **options)
    text.set_in_layout(False)
