"""Maps of correspondence analysis: rows and columns of counts, categories, and columns of a mixed table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lowdim.base.axis_names import axis_names
from lowdim.errors import BadInput, BadParameter
from lowdim.plot._colors import FADED, INK, LIGHT, palette
from lowdim.plot._inputs import require_fitted
from lowdim.plot._label_placement import LabelPlacer
from lowdim.plot._point_colors import PointColors, read_labels
from lowdim.plot._points import draw_key, draw_points, equal_units
from lowdim.plot._theme import axes_for, caption, name_axes, style_axes, themed
from lowdim.plot._tooltips import note_rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["category_map", "correspondence_biplot", "variable_map"]

Array = NDArray[Any]

MOST_LABELS = 60  # texts beside points; of more, those that the axes show best


@themed
def correspondence_biplot(
    model: Any,
    X: Any,
    *,
    row_names: Any = None,
    axes: tuple[int, int] = (0, 1),
    ax: Axes | None = None,
    title: str | None = None,
) -> Axes:
    """Draw the symmetric biplot of a correspondence analysis: rows and columns in principal coordinates.

    Rows near each other have similar profiles, and so have columns. A row and a column on the same side of the origin
    occur together more often than by chance; their distance has no meaning.

    Parameters
    ----------
    model : a fitted CA
        With at least two components.
    X : table of counts (n, d)
        Rows to draw, usually those it was fitted on.
    row_names : n texts, optional
        Names of the rows; by default the index of a pandas dataframe, if it has one of text.
    axes : two whole numbers
        The axes to draw, counted from 0.
    ax : matplotlib axes, optional
        Where to draw; None makes a new figure.
    title : str, optional
        Above the axes.

    """
    require_fitted(model, "column_coordinates_")
    pair = _pair(model, axes)
    rows, columns = np.asarray(model.transform(X), dtype=np.float64)[:, pair], model.column_coordinates_[:, pair]
    cos2 = np.asarray(model.row_cos2(X))[:, pair].sum(axis=1)
    names = _row_names(row_names, X, len(rows))
    features = [str(name) for name in getattr(model, "feature_names_in_", [f"x{j}" for j in range(len(columns))])]
    ax = _prepared(ax, model, pair)
    row_color, column_color = palette(6)[0], palette(6)[5]
    ax.scatter(
        rows[:, 0], rows[:, 1], s=22, color=row_color, alpha=0.9 if len(rows) <= 300 else 0.4, zorder=3, label="rows"
    )
    ax.scatter(columns[:, 0], columns[:, 1], s=34, color=column_color, marker="^", zorder=4, label="columns")
    ax.legend(frameon=False, loc="best", fontsize=9)
    ax.margins(0.12)
    equal_units(ax)
    caption(ax, title, "symmetric biplot: rows and columns in principal coordinates")
    everything = np.vstack([rows, columns])
    placer = LabelPlacer(ax, everything, 3.0)
    _label(placer, columns, features, model.column_cos2_[:, pair].sum(axis=1), column_color)
    note_rows(ax, columns, _axis_titles(model, pair), features)
    note_rows(ax, rows, _axis_titles(model, pair), names)
    if names is not None:
        _label(placer, rows, names, cos2, row_color)
    return ax


@themed
def category_map(
    model: Any,
    X: Any = None,
    labels: Any = None,
    *,
    axes: tuple[int, int] = (0, 1),
    ax: Axes | None = None,
    title: str | None = None,
    names: Any = None,
    label_name: str | None = None,
) -> Axes:
    """Draw the categories of an MCA or FAMD, colored by their column, over the rows if X is given.

    Parameters
    ----------
    model : a fitted MCA or FAMD
        With at least two components.
    X : table (n, d), optional
        Rows to draw beneath the categories.
    labels, names, label_name
        Colors of the rows, as for `scatter`.
    axes : two whole numbers
        The axes to draw, counted from 0.
    ax : matplotlib axes, optional
        Where to draw; None makes a new figure.
    title : str, optional
        Above the axes.

    """
    require_fitted(model, "category_coordinates_")
    if not len(model.category_names_):
        raise BadInput("the model was fitted to numbers alone, so there is no category to draw. Use variable_map.")
    pair = _pair(model, axes)
    places = np.asarray(model.category_coordinates_[:, pair], dtype=np.float64)
    ax = _prepared(ax, model, pair)
    if X is not None:
        rows = np.asarray(model.transform(X), dtype=np.float64)[:, pair]
        point_colors = read_labels(labels, len(rows), names, title=label_name)
        _draw_rows(ax, rows, point_colors)
        note_rows(ax, rows, _axis_titles(model, pair), None, point_colors)
    owners = np.asarray(model._state.coding.category_columns)
    columns = np.unique(owners)
    colors = palette(max(6, len(columns))) if labels is None else [INK]  # the colors of the rows are taken
    ax.margins(0.12)
    cos2 = np.asarray(model.category_cos2_)[:, pair].sum(axis=1)
    note_rows(ax, places, _axis_titles(model, pair), [str(name) for name in model.category_names_])
    for place, column in enumerate(columns):
        mine = owners == column
        ax.scatter(
            places[mine][:, 0],
            places[mine][:, 1],
            s=40,
            color=colors[place % len(colors)],
            marker="D",
            zorder=4,
            linewidths=0,
        )
    equal_units(ax)
    kind = "means of the scores of their rows" if hasattr(model, "correlation_loadings_") else "principal coordinates"
    caption(ax, title, f"categories: {kind}" + ("; a color per column" if labels is None else ""))
    placer = LabelPlacer(ax, places, 3.5)
    for place, column in enumerate(columns):
        mine = owners == column
        texts = [str(name) for name in model.category_names_[mine]]
        _label(placer, places[mine], texts, cos2[mine], colors[place % len(colors)])
    return ax


@themed
def variable_map(
    model: Any, *, axes: tuple[int, int] = (0, 1), ax: Axes | None = None, title: str | None = None
) -> Axes:
    """Draw how strongly each column of a FAMD or MCA belongs to two axes: r² of numbers, η² of categories.

    A column at (1, 0) is told by the first axis alone; one near the origin by neither.
    """
    require_fitted(model, "eta_squared_")
    pair = _pair(model, axes)
    places = np.asarray(model.eta_squared_[:, pair], dtype=np.float64)
    features = [str(name) for name in getattr(model, "feature_names_in_", [f"x{j}" for j in range(len(places))])]
    numbers = np.zeros(len(places), dtype=bool)
    numbers[np.asarray(model._state.coding.number_columns)] = True
    ax = _prepared(ax, model, pair)
    colors = palette(6)
    for mine, color, marker, label in (
        (numbers, colors[0], "o", "numbers (r²)"),
        (~numbers, colors[5], "D", "categories (η²)"),
    ):
        if mine.any():
            ax.scatter(
                places[mine][:, 0],
                places[mine][:, 1],
                s=38,
                color=color,
                marker=marker,
                zorder=4,
                label=label,
                linewidths=0,
            )
    ax.set_xlim(-0.03, max(1.0, 1.05 * places[:, 0].max()))
    ax.set_ylim(-0.03, max(1.0, 1.05 * places[:, 1].max()))
    ax.set_aspect("equal")
    ax.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.01, 1.0), fontsize=9)
    caption(ax, title, "squared correlations of columns and axes")
    placer = LabelPlacer(ax, places, 3.5)
    for mine, color in ((numbers, colors[0]), (~numbers, colors[5])):
        _label(placer, places[mine], [features[j] for j in np.flatnonzero(mine)], places[mine].sum(axis=1), color)
    return ax


def _draw_rows(ax: Axes, rows: Array, point_colors: PointColors) -> None:
    """Rows beneath the categories, small and gray unless they have labels."""
    if point_colors is None:
        ax.scatter(rows[:, 0], rows[:, 1], s=9, color=FADED, alpha=0.7 if len(rows) <= 2000 else 0.2, zorder=1)
    else:
        draw_points(ax, rows, point_colors)
        draw_key(ax, point_colors)


def _pair(model: Any, axes: tuple[int, int]) -> list[int]:
    """The two axes to draw, if the model has them."""
    pair = [int(axis) for axis in axes]
    if model.n_components_ < 2:
        raise BadInput(f"a map needs a model with at least 2 components; this one has {model.n_components_}.")
    if len(pair) != 2 or min(pair) < 0 or max(pair) >= model.n_components_:
        raise BadParameter(f"axes must be two numbers from 0 to {model.n_components_ - 1}; got {axes!r}.")
    return pair


def _prepared(ax: Axes | None, model: Any, pair: list[int]) -> Axes:
    ax = axes_for(ax, 6.8, 5.4)
    style_axes(ax)
    for line in (ax.axhline, ax.axvline):
        line(0.0, color=LIGHT, linewidth=0.8, zorder=0.5)
    name_axes(ax, *_axis_titles(model, pair))
    return ax


def _axis_titles(model: Any, pair: list[int]) -> list[str]:
    shares, names = model.explained_variance_ratio_, axis_names(model, max(pair) + 1)
    return [f"{names[i]} ({float(shares[i]):.1%} of the inertia)" for i in pair]


def _row_names(given: Any, X: Any, n: int) -> list[str] | None:
    if given is None:
        index = getattr(X, "index", None)
        given = None if index is None or callable(index) or getattr(index, "dtype", None) == np.int64 else list(index)
    if given is None:
        return None
    if len(given) != n:
        raise BadInput(f"row_names must have one name per row ({n}); got {len(given)}.")
    return [str(name) for name in given]


def _label(placer: LabelPlacer, points: Array, texts: list[str], shown: Array, color: str) -> None:
    """Names beside the points, of many those that the axes show best."""
    best = np.argsort(-shown, kind="stable")
    placer.place(points[best], [texts[i] for i in best], color=color, over_markers=True, most=MOST_LABELS)
