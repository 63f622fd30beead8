"""The sufficient summary plot: the response against the directions of a sufficient reduction (Cook 1998)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput, BadParameter
from lowdim.plot._colors import INK, LIGHT, PALETTE
from lowdim.plot._density_shading import cell_edges, draw_raster, shade_cells
from lowdim.plot._inputs import read_points, require_linear
from lowdim.plot._point_colors import Categories, read_labels
from lowdim.plot._points import MANY
from lowdim.plot._text import shorten
from lowdim.plot._theme import axes_for, caption, name_axes, split_below, style_axes, themed
from lowdim.plot._tooltips import note_places, number
from lowdim.runtime.blas import single_blas

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["local_linear", "sufficient_summary"]

Array = NDArray[np.float64]

GRID = 120  # places at which the smooth is computed
MOST_SMOOTHED = 4000  # rows that it reads: evenly spaced ones of more
MOST_CLASSES = 30


@themed
def sufficient_summary(
    model: Any,
    X: Any,
    y: Any,
    *,
    directions: int | None = None,
    span: float | None = 0.4,
    ax: Axes | None = None,
    title: str | None = None,
    response: str | None = None,
) -> Axes:
    """Draw the response against the scores on the first directions, one panel for each, with a smooth.

    If the reduction is sufficient, the panels show all that X tells of y. The edges of the slices are thin lines, and
    the mean score of each slice is a diamond. Classes are rows of points.

    Parameters
    ----------
    model : a fitted SIR, SAVE, PHD, DirectionalRegression, LSIR or another linear method
        Its first scores are drawn.
    X : table (n, d)
        Rows, those of the fit or new ones.
    y : array (n,)
        Their response: numbers or classes.
    directions : int, optional
        Number of panels; None draws two, or one if the model has only one.
    span : float, optional
        Share of the rows in each local fit of the smooth; None draws none. Classes have none.
    ax : matplotlib axes, optional
        Where to draw; None makes a new figure.
    title : str, optional
        Above the axes.
    response : str, optional
        The name of the response; None takes that of y, if it has one.

    """
    require_linear(model)
    count = min(2, len(model.components_)) if directions is None else directions
    if not 1 <= count <= len(model.components_):
        raise BadParameter(f"directions must be from 1 to {len(model.components_)}; got {directions!r}.")
    if span is not None and not 0 < span <= 1:
        raise BadParameter(f"span must be a share of the rows, above 0 and at most 1, or None; got {span!r}.")
    Z = read_points(np.asarray(model.transform(X)), "X")[:, :count].astype(np.float64)
    values, classes = _response(y, len(Z))
    name = response or str(getattr(y, "name", None) or "response")
    ax = axes_for(ax, 6.4, 1.0 + 3.0 * count)
    panels = [ax, *split_below(ax, [1.0] * count)] if count > 1 else [ax]
    for j, panel in enumerate(panels):
        style_axes(panel)
        heights = _draw_rows(panel, Z[:, j], values, classes)
        answers = [number(value) for value in values] if classes is None else [classes.names[i] for i in classes.codes]
        _note_rows(panel, np.column_stack([Z[:, j], heights]), f"score on direction {j + 1}", name, answers)
        sliced = _draw_slices(panel, model, Z[:, j], values, classes)
        note = f"direction {j + 1}, {_strength(model, j)}" if _strength(model, j) else f"direction {j + 1}"
        if classes is None and span is not None:
            note += _draw_smooth(panel, Z[:, j], values, span)
        note += sliced if j == 0 else ""
        name_axes(panel, f"score on direction {j + 1}", name)
        caption(panel, title if j == 0 else None, note)
    return ax


def local_linear(x: Array, y: Array, at: Array, span: float) -> Array:
    """Local linear regression (loess) of y on x at some places, with tricube weights over the nearest share of rows.

    A place whose rows all have one x gets their mean.
    """
    count = max(2, min(len(x), int(np.ceil(span * len(x)))))
    apart = at[:, None] - x  # (places, n)
    radius = np.partition(np.abs(apart), count - 1, axis=1)[:, count - 1 : count]
    weights = np.clip(1 - (np.abs(apart) / np.maximum(radius * 1.0001, np.finfo(float).tiny)) ** 3, 0, None) ** 3
    total = weights.sum(axis=1)
    mean_x, mean_y = (weights * apart).sum(axis=1) / total, weights @ y / total
    shifted = apart - mean_x[:, None]
    spread = (weights * shifted**2).sum(axis=1)
    slope = np.divide(
        (weights * shifted) @ y, spread, out=np.zeros(len(at)), where=spread > 1e-12 * total * radius[:, 0] ** 2
    )
    return np.asarray(mean_y - slope * mean_x)


def _response(y: Any, n: int) -> tuple[Array, Categories | None]:
    """The heights of the rows, and their classes if the response is no number."""
    colors = read_labels(y, n)
    if isinstance(colors, Categories):
        values = np.asarray(y)
        if values.dtype.kind in "iuf" and np.isfinite(values).all() and len(colors.names) > 2:
            return values.astype(np.float64), None  # few whole numbers are still numbers
        if len(colors.names) > MOST_CLASSES:
            raise BadInput(f"y has {len(colors.names)} classes, more than {MOST_CLASSES} rows of points can show.")
        return colors.codes.astype(np.float64), colors
    if colors is None or not np.isfinite(colors.values).all():
        raise BadInput("y must have a finite number or a class for every row.")
    return colors.values, None


def _note_rows(ax: Axes, places: Array, score: str, response: str, answers: list[str]) -> None:
    """What a page says of the rows, if they are few enough to be drawn one by one."""
    if len(places) <= MANY:
        rows = list(zip(places[:, 0].tolist(), answers, strict=True))
        told = [f"row {i}\n{score}: {number(at)}\n{response}: {answer}" for i, (at, answer) in enumerate(rows)]
        note_places(ax, places, lambda: told)


def _draw_rows(ax: Axes, scores: Array, values: Array, classes: Categories | None) -> Array:
    """Draw the rows, and return the heights at which they are drawn."""
    n = len(scores)
    heights = values
    if classes is not None:  # spread by the golden ratio, so that no two neighbors cover each other
        heights = values + 0.5 * ((np.arange(n) * 0.6180339887) % 1 - 0.5)
        ax.set_yticks(range(len(classes.names)), [shorten(name, 24) for name in classes.names])
    if n > MANY:
        points = np.column_stack([scores, heights])
        edges = cell_edges(points, square=False)
        draw_raster(ax, shade_cells(points, classes, edges), edges, interpolation="antialiased")
        return heights
    size = float(np.clip(30 * np.sqrt(150 / n), 2, 36))
    color = INK if classes is None else classes.row_colors
    ax.scatter(scores, heights, s=size, c=color, alpha=0.55, linewidths=0, rasterized=n > 2000, zorder=2)
    return heights


def _draw_slices(ax: Axes, model: Any, scores: Array, values: Array, classes: Categories | None) -> str:
    """Edges of the slices, and the mean of each, of the rows that are drawn; what the diamonds are, in words."""
    edges = getattr(model, "slice_edges_", None)
    if classes is not None:
        codes = values.astype(np.intp)
    elif edges is not None:
        codes = np.searchsorted(edges, values)
        for edge in np.asarray(edges):
            ax.axhline(edge, color=LIGHT, linewidth=0.6, zorder=1)
    else:
        return ""
    counts = np.bincount(codes)
    there = counts > 0
    x, height = ((np.bincount(codes, weights=part)[there] / counts[there]) for part in (scores, values))
    color = PALETTE[1] if classes is None else INK
    ax.scatter(x, height, s=34, marker="D", color=color, edgecolors="white", linewidths=0.8, zorder=4)
    return "; ◆ means of slices" if classes is None else "; ◆ means of classes"


def _draw_smooth(ax: Axes, scores: Array, values: Array, span: float) -> str:
    """The smooth, and how much of the variance of the response it explains, in words."""
    low, high = np.quantile(scores, [0.005, 0.995])
    if not low < high:
        return ""
    some = np.unique(np.linspace(0, len(scores) - 1, min(len(scores), MOST_SMOOTHED)).astype(np.intp))
    at = np.linspace(low, high, GRID)
    with single_blas():
        smooth = local_linear(scores[some], values[some], at, span)
    ax.plot(at, smooth, color=PALETTE[5], linewidth=2, zorder=3)
    inside = (scores >= low) & (scores <= high)
    spread = float(np.var(values[inside]))
    left = float(np.mean((values[inside] - np.interp(scores[inside], at, smooth)) ** 2))
    return "" if spread == 0 else f"; the smooth explains {max(0.0, 1 - left / spread):.0%} of the variance"


def _strength(model: Any, j: int) -> str:
    values = getattr(model, "eigenvalues_", None)
    return "" if values is None else f"eigenvalue {float(values[j]):.3g}"
