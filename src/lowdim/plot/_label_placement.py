"""Label placement: texts beside points, with as little overlap as possible."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lowdim.plot._colors import INK, LIGHT
from lowdim.plot._text import shorten
from lowdim.plot._theme import has_layout_engine

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["place_labels"]

Array = NDArray[Any]

# Right, left, above, below and the corners: (dx, dy) as shares of the gap, and how the text is anchored.
_SIDES: tuple[tuple[float, float, str, str], ...] = (
    (1.0, 0.0, "left", "center"),
    (-1.0, 0.0, "right", "center"),
    (0.0, 1.0, "center", "bottom"),
    (0.0, -1.0, "center", "top"),
    (0.8, 0.8, "left", "bottom"),
    (0.8, -0.8, "left", "top"),
    (-0.8, 0.8, "right", "bottom"),
    (-0.8, -0.8, "right", "top"),
)
_GAPS = (5.0, 16.0)  # points between an anchor and its label; the farther one gets a leader line
_SHIFT = {"left": 0.0, "center": -0.5, "right": -1.0, "bottom": 0.0, "top": -1.0}


def place_labels(
    ax: Axes,
    points: Array,
    labels: list[str],
    *,
    size: float = 8.5,
    color: str = INK,
    outward: bool = False,
    others: Array | None = None,
) -> None:
    """Label a few points, each on the side where its text overlaps least (greedy, in order).

    `outward` prefers the side away from the origin, as for the tips of arrows; `others` are further positions that
    labels should avoid.
    """
    texts = [shorten(label) for label in labels]
    _finish_layout(ax)
    anchors = _in_points(ax, points)  # (m, 2)
    frame = _in_points(ax, np.array([(ax.get_xlim()[i], ax.get_ylim()[i]) for i in (0, 1)]))
    lengths = np.linalg.norm(points, axis=1, keepdims=True)
    away = points / np.where(lengths > 0, lengths, 1.0)
    taken = [_box(anchor, 3.0) for anchor in anchors]
    if others is not None:
        taken += [_box(place, 1.5) for place in _in_points(ax, others)]
    for point, anchor, text, direction in zip(points, anchors, texts, away, strict=True):
        extent = np.array([0.58 * size * max(len(text), 1), 1.15 * size])  # approximate size of the text
        candidates = []
        for rank, (gap, (dx, dy, ha, va)) in enumerate(product(_GAPS, _SIDES)):
            low = anchor + gap * np.array([dx, dy]) + extent * (_SHIFT[ha], -0.5 if va == "center" else _SHIFT[va])
            box = np.array([low, low + extent])
            covered = sum(_overlap(box, other) for other in taken)
            outside = float(np.prod(extent)) - _overlap(box, np.sort(frame, axis=0))
            preference = gap - 4.0 * float(direction @ (dx, dy)) if outward else rank
            candidates.append((covered + outside + 0.5 * preference, rank, box))
        _, best, box = min(candidates, key=lambda candidate: candidate[:2])
        taken.append(box)
        _write(ax, text, point, best, size, color)


def _write(ax: Axes, text: str, point: Array, side: int, size: float, color: str) -> None:
    from matplotlib.patheffects import withStroke

    gap, (dx, dy, ha, va) = list(product(_GAPS, _SIDES))[side]
    ax.annotate(
        text,
        (point[0], point[1]),
        xytext=(gap * dx, gap * dy),
        textcoords="offset points",
        ha=ha,
        va="center_baseline" if va == "center" else va,
        fontsize=size,
        color=color,
        parse_math=False,
        annotation_clip=False,
        arrowprops={"arrowstyle": "-", "color": LIGHT, "linewidth": 0.6} if gap > _GAPS[0] else None,
        path_effects=[withStroke(linewidth=2, foreground="#ffffffcc")],
        zorder=5,
    )


def _finish_layout(ax: Axes) -> None:
    """Compute the final limits and layout: labels are placed by distances on the page."""
    figure: Any = ax.get_figure(root=True)
    if has_layout_engine(ax):
        figure.draw_without_rendering()
    ax.apply_aspect()


def _in_points(ax: Axes, points: Array) -> Array:
    """Positions on the page in points of 1/72 inch."""
    figure: Any = ax.get_figure(root=True)
    return np.asarray(ax.transData.transform(points) * (72.0 / figure.dpi))


def _box(center: Array, half: float) -> Array:
    return np.array([center - half, center + half])


def _overlap(a: Array, b: Array) -> float:
    """The area that two boxes (low, high) share."""
    sides = np.minimum(a[1], b[1]) - np.maximum(a[0], b[0])
    return float(np.prod(np.maximum(sides, 0.0)))
