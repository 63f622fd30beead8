"""Biplots of linear methods: rows as points, features as arrows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput, BadParameter
from lowdim.plot._colors import palette
from lowdim.plot._inputs import (
    column_correlations,
    is_pca,
    plain_scores,
    read_texts,
    require_fitted,
    require_linear,
)
from lowdim.plot._label_placement import LabelPlacer, label_rows
from lowdim.plot._model_names import component_name, feature_names
from lowdim.plot._point_colors import read_labels
from lowdim.plot._points import draw_key, draw_points, equal_units, marker_size
from lowdim.plot._theme import axes_for, caption, name_axes, style_axes, themed
from lowdim.plot._tooltips import note_places, note_rows, number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["biplot", "biplot_coordinates"]

Array = NDArray[Any]

MOST_COLUMNS = 12  # in tooltips

# How rows and columns share the singular values: P = (U S^a)(V S^(1-a))ᵀ.
_SCALINGS = {
    "symmetric": "symmetric scaling: rows and columns share the singular values",
    "form": "form scaling: rows in principal coordinates, their distances are kept",
    "covariance": "covariance scaling: arrows in principal coordinates, cosines between them are correlations",
    "correlation": "rows at their scores; arrows are correlations of the columns with the axes",
}


def biplot_coordinates(model: Any, X: Any, scaling: str | None = None) -> tuple[Array, Array]:
    """Coordinates of rows (n, k) and columns (d, k), whose product approximates the centered (and scaled) X.

    With P = U S Vᵀ and all components, rows · columnsᵀ = P in every scaling of a PCA:

        form         rows U S,          columns V
        covariance   rows U √(n - 1),   columns V S / √(n - 1)
        symmetric    rows U S^½,        columns V S^½

    "correlation" is for every linear method, and the default of all but PCA: rows at their scores, and the correlations
    of columns and scores.
    """
    scaling = _scaling(model, scaling)
    if scaling == "correlation":
        require_linear(model)
        return np.asarray(model.transform(X), dtype=np.float64), column_correlations(model, X)
    require_fitted(model, "components_", "explained_variance_", "n_samples_")
    scores = plain_scores(model, X)  # (n, k)
    V = np.asarray(model.components_, dtype=np.float64).T  # (d, k)
    root = np.sqrt(np.maximum(np.asarray(model.explained_variance_, dtype=np.float64), 0.0))
    if scaling == "form":
        return scores, V
    # explained_variance_ is S² / (n - ddof), so `root` is S of the covariance scaling already.
    degrees = float(model.n_samples_) - getattr(model, "ddof", 1)
    share = root if scaling == "covariance" else np.sqrt(root * np.sqrt(degrees))
    # Scores on an axis without variance are rounding errors: they become 0.
    inverse = np.divide(1.0, share, out=np.zeros_like(share), where=share > 1e-12 * share.max(initial=0.0))
    return scores * inverse, V * share


def _scaling(model: Any, scaling: str | None) -> str:
    """The scaling, or that which suits the model: only the axes of PCA are those of the products U S Vᵀ."""
    if scaling is None:
        return "symmetric" if is_pca(model) else "correlation"
    if scaling not in _SCALINGS:
        raise BadParameter(f"scaling must be one of {', '.join(map(repr, _SCALINGS))}; got {scaling!r}.")
    return scaling


@themed
def biplot(  # noqa: PLR0913  (one argument per thing that is drawn)
    model: Any,
    X: Any,
    labels: Any = None,
    *,
    ax: Axes | None = None,
    scaling: str | None = None,
    n_arrows: int = 12,
    title: str | None = None,
    names: Any = None,
    ids: Any = None,
    label_name: str | None = None,
    colors: Mapping[str, str] | None = None,
    legend: bool = True,
) -> Axes:
    """Draw rows as points and features as arrows from the origin, on the first two components of a linear model.

    The scaling is stated on the plot; see `biplot_coordinates`. Arrows are multiplied by one common factor, also
    stated, to fill the plot; only the longest are drawn.

    Parameters
    ----------
    model : a fitted linear method
        With at least two components: PCA, LDA, ICA, TruncatedSVD, SIR, …. CA has `correspondence_biplot`, and MCA and
        FAMD have `category_map`.
    X : table (n, d)
        Rows to draw, usually those it was fitted on.
    labels, names, label_name, colors, legend
        Colors of the rows, as for `scatter`.
    ids : n names of rows, optional
        Written beside the points wherever there is room, the most isolated first.
    ax : matplotlib axes, optional
        Where to draw; None makes a new figure.
    scaling : "symmetric", "form", "covariance" or "correlation", optional
        Which side is in principal coordinates: both by half, the rows, or the columns. "correlation" draws scores, and
        correlations of the columns with them. None: "symmetric" of a PCA, "correlation" of another method.
    n_arrows : int
        Number of arrows to draw and label, the longest first.
    title : str, optional
        Above the axes.

    """
    scaling = _scaling(model, scaling)
    rows, columns = biplot_coordinates(model, X, scaling)
    if rows.shape[1] < 2:
        raise BadInput(f"a biplot needs a model with at least 2 components; this one has {rows.shape[1]}.")
    if n_arrows < 0:
        raise BadParameter(f"n_arrows must be 0 or more; got {n_arrows!r}.")
    rows, columns = rows[:, :2], columns[:, :2]
    ax = axes_for(ax, 6.8, 5.4)
    style_axes(ax)
    point_colors = read_labels(labels, len(rows), names, colors=colors, title=label_name)
    row_names = read_texts(ids, len(rows), "ids")
    draw_points(ax, rows, point_colors)
    if legend:
        draw_key(ax, point_colors)
    longest = np.argsort(-np.linalg.norm(columns, axis=1), kind="stable")[:n_arrows]
    factor = _arrow_scale(rows, columns)
    tips = factor * columns[longest]
    _frame(ax, tips)
    equal_units(ax)
    name_axes(ax, *(component_name(model, i) for i in (0, 1)))
    caption(ax, title, _SCALINGS[scaling] + (f"; arrows × {factor:.3g}" if len(longest) else ""))
    _arrows(ax, tips)
    axes = [component_name(model, i) for i in (0, 1)]
    note_rows(ax, rows, axes, row_names, point_colors, _few_columns(model, X))
    note_places(ax, tips, lambda: _arrow_texts(model, longest, columns, scaling))
    # Last, because labels need the final layout.
    radius = 0.5 * marker_size(len(rows)) ** 0.5
    shafts = np.vstack([share * tips for share in np.linspace(0, 0.97, 24)])
    placer = LabelPlacer(ax, rows, radius, shafts)
    named = [feature_names(model)[i] for i in longest]
    placer.place(tips, named, size=9.5, color="#8a3d00", outward=True, over_markers=True)
    if row_names is not None:
        label_rows(ax, rows, row_names, radius, placer)
    return ax


def _arrow_scale(rows: Array, columns: Array) -> float:
    """The factor that makes the longest arrow reach the 95% quantile of the rows; 1 if either is zero."""
    reach = float(np.quantile(np.linalg.norm(rows, axis=1), 0.95))
    longest = float(np.linalg.norm(columns, axis=1).max(initial=0.0))
    return reach / longest if reach > 0 and longest > 0 else 1.0


def _frame(ax: Axes, points: Array) -> None:
    """Extend the limits to arrows and origin, with a margin for labels."""
    ax.update_datalim([*points, (0.0, 0.0)])
    ax.margins(0.1)
    ax.autoscale_view()


def _few_columns(model: Any, X: Any) -> dict[str, Array]:
    """The columns of a table in memory by name, for tooltips, if they are few."""
    if not hasattr(X, "__array__") or getattr(X, "ndim", 2) != 2:
        return {}
    names, values = feature_names(model), np.asarray(X)
    few = len(names) == values.shape[1] <= MOST_COLUMNS and values.dtype.kind in "iufb"
    return dict(zip(names, values.astype(np.float64).T, strict=True)) if few else {}


def _arrow_texts(model: Any, kept: Array, columns: Array, scaling: str) -> list[str]:
    """The names of features, and the coordinates of their arrows before these were scaled."""
    what = "correlation with" if scaling == "correlation" else "coordinate on"
    axes, features = [component_name(model, i) for i in (0, 1)], feature_names(model)
    return [
        "\n".join([features[i], *(f"{what} {axis}: {number(v)}" for axis, v in zip(axes, columns[i], strict=True))])
        for i in kept
    ]


def _arrows(ax: Axes, tips: Array) -> None:
    if len(tips):
        zeros = np.zeros(len(tips))
        options: dict[str, Any] = {"angles": "xy", "scale_units": "xy", "scale": 1, "width": 0.0032}
        ax.quiver(zeros, zeros, *tips.T, **options, color=palette(6)[5], zorder=4)
