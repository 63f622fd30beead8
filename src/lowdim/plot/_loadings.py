"""Loadings of linear methods: a heat map, also of rotated components, and the correlation circle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput, BadParameter
from lowdim.plot._colors import DIVERGING, INK, LIGHT, palette
from lowdim.plot._inputs import column_correlations, require_fitted, require_linear
from lowdim.plot._label_placement import LabelPlacer
from lowdim.plot._model_names import component_name, feature_names
from lowdim.plot._text import shorten
from lowdim.plot._theme import SMALL, axes_for, caption, color_bar, name_axes, style_axes, themed
from lowdim.plot._tooltips import note_cells, note_places, number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["correlation_circle", "loadings"]

Array = NDArray[Any]

MOST_NUMBERS = 150  # cells that are large enough for their value


@themed
def loadings(
    model: Any,
    *,
    ax: Axes | None = None,
    n_components: int | None = None,
    n_features: int = 30,
    rotation: str | None = None,
    title: str | None = None,
) -> Axes:
    """Draw loadings as a heat map, one row per feature, one column per component.

    Colors are symmetric about zero. Of more than `n_features` features, those with the largest absolute
    loading in any component drawn are kept, and the plot says so.

    Parameters
    ----------
    model : a fitted linear method
        Its coefficients; of CA principal coordinates of the columns, of MCA and FAMD squared correlations.
    ax : matplotlib axes, optional
        Where to draw; None makes a new figure.
    n_components : int, optional
        Number of components to draw; None draws at most 8.
    n_features : int
        Number of features to draw.
    rotation : "varimax", "quartimax" or None
        None draws the coefficients of the components. Else the correlation loadings of a PCA, rotated, with features
        in the order of the component that they load on most.
    title : str, optional
        Above the axes.

    """
    if not hasattr(model, "eta_squared_") and not hasattr(model, "column_coordinates_"):
        require_fitted(model, "components_")
    if n_features < 1 or (n_components is not None and n_components < 1):
        raise BadParameter(f"n_features and n_components must be at least 1; got {n_features!r}, {n_components!r}.")
    V, components, unit = _loadings(model, rotation)  # (d, k)
    V = V[:, : 8 if n_components is None else n_components]
    d, k = V.shape
    kept = np.sort(np.argsort(-np.abs(V).max(axis=1), kind="stable")[:n_features])
    if rotation is not None:
        kept = kept[np.lexsort((-np.abs(V[kept]).max(axis=1), np.abs(V[kept]).argmax(axis=1)))]
    shown = V[kept]
    ax = axes_for(ax, max(2.6 + 0.62 * k, 4.4), 1.2 + 0.25 * len(kept))
    style_axes(ax)
    limit = float(np.abs(shown).max()) or 1.0
    image = ax.imshow(shown, cmap=DIVERGING, vmin=-limit, vmax=limit, aspect="auto")
    _write_numbers(ax, shown, limit)
    features = feature_names(model)
    note_cells(
        ax,
        lambda: [f"{features[kept[i]]}\n{components[j]}\n{unit}: {number(v)}" for (i, j), v in np.ndenumerate(shown)],
        (len(kept), k),
    )
    ax.set_xticks(range(k))
    ax.set_xticklabels([name.replace(" (", "\n(") for name in components[:k]], parse_math=False)
    ax.set_yticks(range(len(kept)))
    ax.set_yticklabels([shorten(features[i]) for i in kept], parse_math=False)
    for spine in ax.spines.values():
        spine.set_visible(False)
    ax.tick_params(length=0, labelcolor=INK)
    color_bar(ax, image, unit)
    notes = [] if rotation is None else [f"rotated by {rotation}"]
    if len(kept) < d:
        notes.append(f"the {len(kept)} largest of {d} features")
    caption(ax, title, "; ".join(notes) or None)
    return ax


def _loadings(model: Any, rotation: str | None) -> tuple[Array, list[str], str]:
    """Loadings (d, k), the names of their components, and what the numbers are."""
    if rotation is None:
        if hasattr(model, "eta_squared_"):  # of MCA and FAMD
            V, unit = np.asarray(model.eta_squared_, dtype=np.float64), "squared correlation (r² or η²)"
        elif hasattr(model, "column_coordinates_"):  # of CA
            V, unit = np.asarray(model.column_coordinates_, dtype=np.float64), "principal coordinate"
        else:
            V, unit = np.asarray(model.components_, dtype=np.float64).T, "coefficient"
        return V, [component_name(model, i) for i in range(V.shape[1])], unit
    from lowdim.linear.rotation import rotate_components  # scikit-learn comes with it

    require_fitted(model, "correlation_loadings_")
    rotated = rotate_components(model, rotation)
    shares = rotated.explained_variance_ratio
    names = [f"RC{i + 1} ({share:.1%})" for i, share in enumerate(shares)]
    return np.asarray(rotated.loadings, dtype=np.float64), names, "correlation"


def _write_numbers(ax: Axes, shown: Array, limit: float) -> None:
    if shown.size > MOST_NUMBERS:
        return
    for (row, column), value in np.ndenumerate(shown):
        color = "white" if abs(value) > 0.62 * limit else INK
        ax.text(column, row, _number(value), ha="center", va="center_baseline", fontsize=SMALL - 0.5, color=color)


def _number(value: float) -> str:
    """Two decimals with a typographic minus, and no negative zero."""
    return f"{round(value, 2) + 0.0:.2f}".replace("-", "−")


@themed
def correlation_circle(
    model: Any,
    X: Any = None,
    *,
    components: tuple[int, int] = (0, 1),
    ax: Axes | None = None,
    n_arrows: int = 40,
    title: str | None = None,
) -> Axes:
    """Draw the correlations between features and two components as arrows in the unit circle.

    An arrow that reaches the circle belongs to a feature that the two components explain wholly. Correlated features
    point the same way, uncorrelated ones are at right angles, if both arrows are long.

    Parameters
    ----------
    model : a fitted linear method
        PCA has the correlations of the rows that it was fitted to; other methods need rows.
    X : table (n, d), optional
        Rows whose correlations are drawn.
    components : two whole numbers
        Which components, from 0.
    ax : matplotlib axes, optional
        Where to draw; None makes a new figure.
    n_arrows : int
        Number of arrows to draw, the longest first.
    title : str, optional
        Above the axes.

    """
    correlations = _correlations(model, X)  # (d, k)
    d, k = correlations.shape
    if len(components) != 2 or not all(0 <= i < k for i in components) or n_arrows < 1:
        if k < 2:
            raise BadInput(f"a correlation circle needs a model with at least 2 components; this one has {k}.")
        raise BadParameter(f"components must be two numbers from 0 to {k - 1}, and n_arrows at least 1.")
    tips = correlations[:, list(components)]
    longest = np.argsort(-np.linalg.norm(tips, axis=1), kind="stable")[:n_arrows]
    tips = tips[longest]
    ax = axes_for(ax, 5.8, 5.8)
    style_axes(ax)
    _draw_circle(ax)
    zeros = np.zeros(len(tips))
    options: dict[str, Any] = {"angles": "xy", "scale_units": "xy", "scale": 1, "width": 0.004}
    ax.quiver(zeros, zeros, *tips.T, **options, color=palette(1)[0], zorder=4)
    name_axes(ax, *(component_name(model, i) for i in components))
    caption(ax, title, f"the {len(tips)} longest of {d} arrows" if len(tips) < d else None)
    # Labels keep off the arrows.
    shafts = np.vstack([share * tips for share in np.linspace(0, 0.97, 24)])
    names = _circle_names(model, d)
    axes = [component_name(model, i) for i in components]
    note_places(ax, tips, lambda: _tip_texts([names[i] for i in longest], axes, tips))
    LabelPlacer(ax, tips, 1.0, shafts).place(tips, [names[i] for i in longest], size=9, outward=True, over_markers=True)
    return ax


def _tip_texts(features: list[str], axes: list[str], tips: Array) -> list[str]:
    rows = zip(features, tips.tolist(), strict=True)
    return [
        "\n".join([name, *(f"correlation with {axis}: {number(v)}" for axis, v in zip(axes, tip, strict=True))])
        for name, tip in rows
    ]


def _correlations(model: Any, X: Any) -> Array:
    if X is None:
        require_fitted(model, "correlation_loadings_")
        return np.asarray(model.correlation_loadings_, dtype=np.float64)
    require_linear(model)
    return column_correlations(model, X)


def _circle_names(model: Any, d: int) -> list[str]:
    """Names of the columns with correlations: of a FAMD, its numbers."""
    names = feature_names(model)
    return names if len(names) == d else [names[j] for j in model._state.coding.number_columns]


def _draw_circle(ax: Axes) -> None:
    from matplotlib.patches import Circle

    ax.add_patch(Circle((0, 0), 1, fill=False, edgecolor=LIGHT, linewidth=1))
    ax.axhline(0, color=LIGHT, linewidth=0.6, zorder=0)
    ax.axvline(0, color=LIGHT, linewidth=0.6, zorder=0)
    ax.set(xlim=(-1.2, 1.2), ylim=(-1.2, 1.2), xticks=[-1, -0.5, 0, 0.5, 1], yticks=[-1, -0.5, 0, 0.5, 1])
    ax.set_aspect("equal", adjustable="box")
