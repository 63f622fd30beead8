"""Static charts of the report as inline SVG: R_NX curves, scree plot, Shepard diagrams, loadings."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from copy import copy
from html import escape
from io import StringIO
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lowdim import plot
from lowdim.distance.pairwise import prepare_rows
from lowdim.plot._colors import FADED, LIGHT, palette
from lowdim.plot._theme import new_figure, style_axes, themed

if TYPE_CHECKING:
    from lowdim.report.comparison import MethodComparison

__all__ = ["loadings_chart", "r_nx_chart", "scree_chart", "shepard_chart", "shepard_sample"]

Array = NDArray[Any]

WHOLE, WIDE, NARROW, SMALL = 1130, 620, 358, 270  # widths in pixels: of the page, a column, a phone, one chart of four
SHEPARD_ROWS = 1000


def chart(draw: Callable[[Any], Any], width: int, height: int, name: str, description: str) -> str:
    """Draw on a figure of this size in pixels; its texts stay texts, in the page's own type."""
    import matplotlib
    from matplotlib import pyplot

    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": f"{name} {width}"}):
        figure = themed(lambda **_: new_figure(width / 72, height / 72))(figure=True)
        draw(figure)
        text = StringIO()
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
        pyplot.close(figure)
    svg = text.getvalue()
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg[svg.index("<svg") :], flags=re.DOTALL)
    svg = re.sub(r'(width|height)="([\d.]+)pt"', r'\1="\2"', svg, count=2)  # one unit is one pixel
    return svg.replace("<svg ", f'<svg role="img" aria-label="{escape(description)}" ', 1)


def r_nx_chart(result: MethodComparison, width: int) -> str:
    """The gain over a random map by the number of neighbors, with its 95% band, one line per map."""
    colors = palette(len(result.table.maps))

    def draw(figure: Any) -> None:
        ax = figure.add_subplot()
        style_axes(ax)
        for color, (name, quality) in zip(colors, result.table.maps.items(), strict=True):
            curve = quality.r_nx
            ax.plot(curve.ks, curve.values, color=color, linewidth=2, label=name)
            if curve.low is not None and curve.high is not None:
                ax.fill_between(curve.ks, curve.low, curve.high, color=color, alpha=0.2, linewidth=0)
        ax.axhline(0, color=LIGHT, linewidth=0.8)
        ax.axvline(quality.k, color=LIGHT, linewidth=0.8, linestyle=":")
        ax.set_xscale("log")
        ax.set_xlim(1, max(curve.ks))
        ax.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        ax.minorticks_off()
        ax.set_xlabel("number of neighbors", fontsize=13)
        ax.set_ylabel("gain over a random map, R_NX", fontsize=13, parse_math=False)
        ax.tick_params(labelsize=12, labelcolor=FADED)
        ax.legend(
            fontsize=13, frameon=False, loc="upper center", ncols=4 if width > 500 else 2, bbox_to_anchor=(0.5, 1.16)
        )
        for text in ax.get_legend().get_texts():
            text.set_parse_math(False)

    return chart(draw, width, 360 if width > 500 else 320, "r_nx", "R_NX curves of the maps, by number of neighbors")


def scree_chart(result: MethodComparison, width: int) -> str:
    """The scree plot with the null band of parallel analysis and every rule's choice."""

    def draw(figure: Any) -> None:
        plot.scree(result.choices, ax=figure.add_subplot(), title=None)
        for ax in figure.axes:
            _resize_texts(ax, 12)
            if ax.get_legend() is not None:
                for text in ax.get_legend().get_texts():
                    text.set_fontsize(12)

    return chart(draw, width, 540, "scree", "Scree plot: eigenvalues, cumulative shares, and the choice of every rule")


def shepard_sample(result: MethodComparison) -> tuple[Array, Array]:
    """Evenly spaced rows (m,), and the true distances between them, (m, m)."""
    from lowdim.data.rows import ArrayRows, SparseRows
    from lowdim.distance.metrics import metric_of

    rows, n = result.rows.rows, result.rows.rows.count
    chosen = np.unique(np.linspace(0, n - 1, min(n, SHEPARD_ROWS)).round().astype(np.intp))
    if result.rows.metric == "precomputed":
        return chosen, np.asarray(rows.whole())[np.ix_(chosen, chosen)]
    some = rows.whole()[chosen]
    part = SparseRows(some) if rows.sparse else ArrayRows(some)
    prepared = prepare_rows(part, metric_of(result.rows.metric).fitted(part), 1)
    D = np.asarray(prepared.distances_from(prepared), dtype=np.float64)
    return chosen, (D + D.T) / 2


def shepard_chart(name: str, Z: Array, D: Array) -> str:
    """Map distances, at their best scale, against true ones (m, m)."""
    from scipy.spatial.distance import pdist

    above = np.triu_indices(len(D), 1)
    drawn = pdist(np.asarray(Z, dtype=np.float64))
    squares = float(drawn @ drawn)
    scale = float(D[above] @ drawn) / squares if squares > 0 else 1.0

    def draw(figure: Any) -> None:
        ax = plot.shepard(D, np.asarray(Z, dtype=np.float64) * scale, ax=figure.add_subplot())
        for extra in figure.axes[1:]:
            extra.remove()  # the color bar: darker means more pairs in every one of these charts
        for note in list(ax.texts):
            note.remove()
        ax.set_xlabel("true distance", fontsize=12)
        ax.set_ylabel("map distance", fontsize=12)
        ax.tick_params(labelsize=11)

    return chart(draw, SMALL, 250, f"shepard {name}", f"Shepard diagram of {name}")


def loadings_chart(model: Any, names: Sequence[str], image_shape: tuple[int, ...] | None) -> str:
    """What the axes of a linear method mean: images of the components where rows are images, else loadings."""
    name = type(model).__name__
    if image_shape is not None and hasattr(model, "mean_"):

        def images(figure: Any) -> None:
            for ax in plot.eigenimages(model, image_shape, figure=figure).flat:
                _resize_texts(ax, 12)

        return chart(images, NARROW, 160, f"axes {name}", f"Axes of {name}")
    features = min(len(names), 14)
    named = copy(model)  # a method that was fitted to standardized rows has seen no names
    named.feature_names_in_ = np.asarray(names, dtype=object)

    def draw(figure: Any) -> None:
        plot.loadings(named, ax=figure.add_subplot(), n_components=2, n_features=features)
        for ax in figure.axes:
            _resize_texts(ax, 12)

    return chart(draw, NARROW, 90 + 22 * features, f"axes {name}", f"Loadings of {name}")


def _resize_texts(ax: Any, size: int) -> None:
    """One size for all texts of a chart, as large as the page's small type."""
    ax.tick_params(labelsize=size)
    for text in (ax.xaxis.label, ax.yaxis.label, ax.title, *ax.texts):
        text.set_fontsize(size)
