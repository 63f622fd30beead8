"""Label placement without collisions: texts beside points, each where it covers nothing, or not at all.

Greedy, the most isolated points first. A candidate is a side and a gap; it is free if it lies inside the axes and
covers no marker, no label and no leader line, and if its own leader line crosses none. All is measured on the page, in
points of 1/72 inch.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lowdim.plot._colors import INK, LIGHT
from lowdim.plot._text import shorten
from lowdim.plot._theme import has_layout_engine

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["LabelPlacer", "isolation", "label_rows", "overlaps"]

Array = NDArray[Any]

GAPS = np.array([2.5, 6.0, 11.0, 17.0, 24.0, 33.0, 44.0, 58.0])  # between a marker and its label
NEAR = 8.0  # gaps beyond this get a leader line
ANGLES = np.radians([0, 180, 90, 270, 45, 315, 135, 225, 22, 338, 158, 202, 67, 292, 112, 248])  # preferred first
PADDING = 1.2  # around every label
MOST_TRIED, MOST_LABELS = 1500, 150
PATIENCE = 200  # labels in a row without room, after which the others, less isolated still, are not tried
NEIGHBORS = 4  # whose mean distance measures isolation


def label_rows(ax: Axes, points: Array, names: list[str], radius: float, placer: LabelPlacer | None = None) -> int:
    """Name as many rows as fit, the most isolated first; returns how many have a name."""
    placer = LabelPlacer(ax, points, radius) if placer is None else placer
    n = len(points)
    size = 8.5 if n <= 40 else 7.5 if n <= 120 else 6.5
    order = np.argsort(-isolation(placer.on_page(points)), kind="stable")[:MOST_TRIED]
    return placer.place(points[order], [names[i] for i in order], size=size, most=MOST_LABELS)


def isolation(places: Array) -> NDArray[np.float64]:
    """The mean distance of each place (n, 2) to its nearest neighbors, (n,); shared by rows in one place."""
    from scipy.spatial import cKDTree

    distinct, which, counts = np.unique(np.round(places, 1), axis=0, return_inverse=True, return_counts=True)
    k = min(NEIGHBORS, len(distinct) - 1)
    if k == 0:
        return np.zeros(len(places))
    apart = cKDTree(distinct).query(distinct, k + 1)[0][:, 1:].mean(axis=1)
    return np.asarray((apart / counts)[which.ravel()])


class LabelPlacer:
    """The labels of one pair of axes, and what they must not cover."""

    def __init__(self, ax: Axes, markers: Array, radius: float, lines: Array | None = None) -> None:
        """Labels keep `radius` away from the markers (m, 2), and off further places on lines (l, 2)."""
        self.ax = ax
        _finish_layout(ax)
        low, high = (self.on_page(np.array([corner]))[0] for corner in zip(ax.get_xlim(), ax.get_ylim(), strict=True))
        self.low, self.high = np.minimum(low, high), np.maximum(low, high)
        places = markers if lines is None else np.vstack([markers, lines])
        self.radius, self.covered = radius, _covered_counts(self.on_page(places) - self.low, self.high - self.low)
        self.boxes = np.empty((0, 4))  # x0, y0, x1, y1 of labels
        self.leaders = np.empty((0, 2, 2))

    def on_page(self, points: Array) -> Array:
        """Positions on the page, in points of 1/72 inch."""
        figure: Any = self.ax.get_figure(root=True)
        return np.asarray(self.ax.transData.transform(points) * (72.0 / figure.dpi))

    def place(
        self,
        points: Array,
        labels: list[str],
        *,
        size: float = 8.5,
        color: str = INK,
        outward: bool = False,
        over_markers: bool = False,
        most: int | None = None,
    ) -> int:
        """Label points (m, 2) in their order where there is room.

        `outward` prefers the side away from the origin; `over_markers` allows to cover markers, as few as possible.
        """
        anchors, placed = self.on_page(points), 0
        center = self.on_page(np.zeros((1, 2)))[0]
        failures = 0
        for point, anchor, label in zip(points, anchors, labels, strict=True):
            if placed == most or failures == PATIENCE:
                break
            if not label.strip():
                continue
            text = shorten(label)
            width, height, descent = _extent(text, size)
            away = anchor - center if outward else np.zeros(2)
            found = self._free_box(anchor, np.array([width, height]), away, over_markers)
            if found is None:
                failures += 1
                continue
            failures = 0
            box, leader = found
            self.boxes = np.vstack([self.boxes, box])
            if leader is not None:
                self.leaders = np.concatenate([self.leaders, leader[None]])
            self._write(text, point, box[:2] - anchor + np.array([PADDING, descent]), size, color, leader)
            placed += 1
        return placed

    def _free_box(
        self, anchor: Array, extent: Array, away: Array, over_markers: bool
    ) -> tuple[Array, Array | None] | None:
        """The best free box of a label, and its leader line if it is far from its anchor."""
        side = np.column_stack([np.cos(ANGLES), np.sin(ANGLES)])  # (a, 2)
        gaps = np.repeat(GAPS, len(side))
        sides = np.tile(side, (len(GAPS), 1))
        centers = anchor + (gaps + self.radius)[:, None] * sides + np.clip(1.42 * sides, -1, 1) * extent / 2
        boxes = np.hstack([centers - extent / 2, centers + extent / 2])  # (c, 4)
        markers = self.markers_under(boxes)
        preference = 0.15 * np.tile(np.arange(len(side)), len(GAPS))
        if away.any():
            preference = -6.0 * sides @ (away / np.linalg.norm(away))
        free = self._inside(boxes) & (over_markers | (markers == 0))
        order = np.argsort(gaps + preference + 8.0 * markers, kind="stable")
        kept = order[free[order]]  # best first
        kept = kept[~overlaps(boxes[kept], self.boxes).any(axis=1)]
        kept = kept[~_hit_by(self.leaders, boxes[kept]).any(axis=1)]
        ends = np.clip(anchor, boxes[kept, :2], boxes[kept, 2:])
        leaders = np.stack([np.broadcast_to(anchor, ends.shape), ends], axis=1)  # (kept, 2, 2)
        blocked = _hit_by(leaders, self.boxes).any(axis=0) | _crossings(leaders, self.leaders).any(axis=1)
        usable = np.flatnonzero((gaps[kept] <= NEAR) | ~blocked)
        if not len(usable):
            return None
        best = kept[usable[0]]
        return boxes[best], leaders[usable[0]] if gaps[best] > NEAR else None

    def _inside(self, boxes: Array) -> Array:
        return np.asarray(((boxes[:, :2] >= self.low + 1) & (boxes[:, 2:] <= self.high - 1)).all(axis=1))

    def markers_under(self, boxes: Array) -> Array:
        """Number of markers that each box would touch, from a summed-area table."""
        last = np.array(self.covered.shape) - 1
        x0, y0 = np.clip(np.floor(boxes[:, :2] - self.radius - self.low).astype(int), 0, last).T
        x1, y1 = np.clip(np.ceil(boxes[:, 2:] + self.radius - self.low).astype(int), 0, last).T
        sums = self.covered
        return np.asarray(sums[x1, y1] - sums[x0, y1] - sums[x1, y0] + sums[x0, y0])

    def _write(self, text: str, point: Array, offset: Array, size: float, color: str, leader: Array | None) -> None:
        from matplotlib.patheffects import withStroke

        place = (float(point[0]), float(point[1]))
        options: dict[str, Any] = {"textcoords": "offset points", "annotation_clip": False}
        if leader is not None:
            end = leader[1] - leader[0]
            line = {"arrowstyle": "-", "color": LIGHT, "linewidth": 0.6, "shrinkA": 0, "shrinkB": 1.5}
            drawn = self.ax.annotate("", place, xytext=(end[0], end[1]), arrowprops=line, zorder=3.5, **options)
            drawn.set_in_layout(False)
        stroke = [withStroke(linewidth=2, foreground="#ffffffcc")]
        options |= {"fontsize": size, "color": color, "parse_math": False, "path_effects": stroke, "zorder": 5}
        written = self.ax.annotate(text, place, xytext=(offset[0], offset[1]), ha="left", va="baseline", **options)
        written.set_in_layout(False)


def _finish_layout(ax: Axes) -> None:
    """Compute the final limits and layout: labels are placed by distances on the page."""
    figure: Any = ax.get_figure(root=True)
    if has_layout_engine(ax):
        figure.draw_without_rendering()
    ax.apply_aspect()


def _extent(text: str, size: float) -> tuple[float, float, float]:
    """Width, height and descent of a text with its padding."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a glyph that no font has; drawing will say so
        width, height, descent = text_to_path.get_text_width_height_descent(
            text, FontProperties(size=size), ismath=False
        )
    return width + 2 * PADDING, height + 2 * PADDING, descent + PADDING


def _covered_counts(places: Array, span: Array) -> Array:
    """The summed-area table of places over squares of one point, (width + 1, height + 1)."""
    cells = np.maximum(np.ceil(span).astype(int), 1)
    edges = [np.arange(cell + 1.0) for cell in cells]
    counts = np.histogram2d(places[:, 0], places[:, 1], bins=edges)[0]
    return np.pad(counts.cumsum(axis=0).cumsum(axis=1), ((1, 0), (1, 0)))


def overlaps(a: Array, b: Array) -> Array:
    """Whether boxes (i, 4) and (j, 4) share an area, (i, j)."""
    a, b = a[:, None], b[None]
    return np.asarray((np.minimum(a[..., 2:], b[..., 2:]) > np.maximum(a[..., :2], b[..., :2])).all(axis=-1))


def _hit_by(segments: Array, boxes: Array) -> Array:
    """Whether segments (s, 2, 2) go through boxes (b, 4), judged at 12 places along them: (b, s)."""
    steps = np.linspace(0, 1, 12)[:, None]
    places = segments[:, None, 0] * (1 - steps) + segments[:, None, 1] * steps  # (s, 12, 2)
    low, high = boxes[:, None, None, :2], boxes[:, None, None, 2:]
    return np.asarray(((places > low) & (places < high)).all(axis=-1).any(axis=-1)).reshape(len(boxes), len(segments))


def _crossings(a: Array, b: Array) -> Array:
    """Whether segments (i, 2, 2) and (j, 2, 2) cross, (i, j)."""
    a, b = a[:, None], b[None]

    def side(line: Array, place: Array) -> Array:
        along, toward = line[..., 1, :] - line[..., 0, :], place - line[..., 0, :]
        return np.sign(along[..., 0] * toward[..., 1] - along[..., 1] * toward[..., 0])

    apart = side(a, b[..., 0, :]) * side(a, b[..., 1, :]) < 0
    return np.asarray(apart & (side(b, a[..., 0, :]) * side(b, a[..., 1, :]) < 0))
