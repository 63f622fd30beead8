"""How far maps can be trusted: R_NX curves, the co-ranking matrix, and maps colored by the quality of their points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lowdim.errors import BadInput, BadInputType, BadParameter
from lowdim.plot._colors import FADED, INK, PALETTE, palette, visible_from_white
from lowdim.plot._inputs import read_points
from lowdim.plot._point_colors import ColorScale
from lowdim.plot._points import draw_key, draw_points, equal_units, strip_heights
from lowdim.plot._text import shorten
from lowdim.plot._theme import SMALL, axes_for, caption, color_bar, name_axes, style_axes, themed
from lowdim.quality._measure import BASELINE_NAMES, DEFINITIONS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from lowdim.quality._quality import Quality
    from lowdim.quality._rank_measures import RnxCurve

__all__ = ["co_ranking", "point_quality", "r_nx"]

DASHES = ((0, (5, 2)), (0, (1, 1.5)), (0, (5, 1.5, 1, 1.5)))  # of baselines, which are gray


@themed
def r_nx(
    quality: Any, *, baselines: bool = True, ax: Axes | None = None, title: str | None = None, legend: bool = True
) -> Axes:
    """Draw R_NX against the number of neighbors: 1 keeps all of them, 0 is what a random map keeps.

    Small numbers of neighbors, on the left, are the local structure; large ones are the arrangement of the whole.
    Bands are 95% intervals, where rows were sampled. The area under a curve, in the legend, weighs all scales evenly
    in ln k.

    Parameters
    ----------
    quality : Quality, QualityTable, or mapping from name to Quality
        What `lowdim.quality.measure` or `table` found.
    baselines : bool
        Draw the curves of the baselines, in gray; that of a random map is the line at 0.
    ax : matplotlib axes, optional
        Where to draw; None makes a new figure.
    title : str, optional
        Above the axes.
    legend : bool
        Draw the legend.

    """
    maps = _read_maps(quality)
    first = next(iter(maps.values()))
    ax = axes_for(ax, 6.8, 4.4)
    style_axes(ax)
    ax.axhline(0, color=FADED, linewidth=0.9, zorder=1)
    ax.axvline(first.k, color=FADED, linewidth=0.8, linestyle=":", zorder=1)
    others = {name: curve for name, curve in first.baseline_curves.items() if name != "random"} if baselines else {}
    for dash, (name, curve) in zip(DASHES, others.items(), strict=False):
        _draw_curve(ax, curve, _legend_text(f"baseline: {BASELINE_NAMES[name]}", first, name), FADED, dash)
    for color, (name, found) in zip(palette(len(maps)), maps.items(), strict=True):
        _draw_curve(ax, found.r_nx, _legend_text(name, found), color)
    _scale(ax, first)
    if legend:
        handles, texts = ax.get_legend_handles_labels()
        drawn = ax.legend(handles, texts, frameon=False, fontsize=SMALL, loc="best", handlelength=2.4)
        for text in drawn.get_texts():
            text.set_parse_math(False)
    compared = "all rows" if first.exact else f"{len(first.rows):,} sampled rows against all, with 95% bands"
    caption(ax, title, f"1 keeps all neighbors, 0 is chance; {first.n:,} rows, {compared}")
    return ax


@themed
def co_ranking(
    matrix: Any, *, k: int | None = 15, ax: Axes | None = None, title: str | None = None, legend: bool = True
) -> Axes:
    """Draw the co-ranking matrix: how often a neighbor of one true rank has another rank in the map.

    A map that keeps all ranks has the diagonal alone. Counts below it are true neighbors that are drawn too near, above
    it those drawn too far away. Colors are logarithmic; cells without a pair are white.

    Parameters
    ----------
    matrix : CoRanking
        What `lowdim.quality.co_ranking` found.
    k : int, optional
        A number of neighbors to mark: within the square in the corner they are neighbors in both spaces.
    ax : matplotlib axes, optional
        Where to draw; None makes a new figure.
    title : str, optional
        Above the axes.
    legend : bool
        Draw the color bar.

    """
    from matplotlib.colors import LogNorm

    from lowdim.quality._co_ranking import CoRanking  # loads scikit-learn

    if not isinstance(matrix, CoRanking):
        raise BadInputType(f"matrix must be what lowdim.quality.co_ranking returns; got {type(matrix).__name__}.")
    n, edges = matrix.n, matrix.edges - 0.5
    if k is not None and not (isinstance(k, int | np.integer) and 1 <= k <= n - 1):
        raise BadParameter(f"k must be a number of neighbors from 1 to {n - 1}, or None; got {k!r:.60}.")
    ax = axes_for(ax, 5.8, 5.0)
    style_axes(ax)
    widths = np.diff(edges)
    shares = matrix.matrix.T / (matrix.rows * np.outer(widths, widths))  # (map ranks, true ranks), per pair of ranks
    there = shares[shares > 0]
    low, high = float(there.min()), float(there.max())
    norm = LogNorm(low, high if high > low else 2 * low)
    cells = np.ma.masked_less_equal(shares, 0)
    shown = ax.pcolormesh(edges, edges, cells, cmap=visible_from_white(), norm=norm, rasterized=True)
    ax.plot(edges[[0, -1]], edges[[0, -1]], color=INK, linewidth=0.7, alpha=0.5)
    if k is not None:
        _mark_square(ax, k, n)
    ax.set_aspect("equal")
    ax.set_xlim(edges[0], edges[-1])
    ax.set_ylim(edges[0], edges[-1])
    name_axes(ax, "rank in the data", "rank in the map")
    if legend:
        color_bar(ax, shown, "share of rows, per pair of ranks")
    bins = "" if matrix.full else f", {len(matrix.matrix)} bins of ranks"
    compared = f"{n:,} rows" if matrix.rows == n else f"{matrix.rows:,} of {n:,} rows"
    caption(ax, title, f"{compared}{bins}")
    return ax


@themed
def point_quality(
    quality: Any,
    measure: str = "neighbor_recall",
    *,
    ax: Axes | None = None,
    title: str | None = None,
    axis_names: Sequence[str] | None = None,
    legend: bool = True,
) -> Axes:
    """Draw a map with its points colored by one measure of each: where can it be trusted, and where not?

    Points whose value is not known, because they were not sampled, are light gray.

    Parameters
    ----------
    quality : Quality
        What `lowdim.quality.measure` found.
    measure : str
        A name in `quality.point_values`, such as "neighbor_recall", "trustworthiness", "continuity" or "stress".
    ax : matplotlib axes, optional
        Where to draw; None makes a new figure.
    title : str, optional
        Above the axes.
    axis_names : texts, optional
        One per column of the map drawn.
    legend : bool
        Draw the color bar.

    """
    from lowdim.quality._quality import Quality  # loads scikit-learn

    if not isinstance(quality, Quality):
        raise BadInputType(f"quality must be what lowdim.quality.measure returns; got {type(quality).__name__}.")
    if measure not in quality.point_values:
        raise BadParameter(
            f"measure must be one of {', '.join(quality.point_values)}, which are known of points; got {measure!r:.60}."
        )
    values = np.asarray(quality.point_values[measure], dtype=np.float64)
    known = values[np.isfinite(values)]
    if not len(known):
        raise BadInput(f"{measure} is not known of any point, so there is nothing to color by.")
    scale = ColorScale(values, *_range(known), measure_title(measure))
    points = read_points(quality.embedding)
    ax = axes_for(ax)
    style_axes(ax)
    _draw_map(ax, points, scale, axis_names)
    if legend:
        draw_key(ax, scale)
    sampled = "" if len(known) == quality.n else f"; known of {len(known):,} of {quality.n:,} points"
    columns = "" if points.shape[1] < 3 else f"; the first 2 of {points.shape[1]} dimensions"
    best = f" (best {DEFINITIONS[measure].best:g})" if measure in DEFINITIONS else ""
    caption(ax, title, f"mean {known.mean():.3f}{best}, from {known.min():.3f} to {known.max():.3f}{sampled}{columns}")
    return ax


def measure_title(name: str) -> str:
    """What a measure of points is called."""
    return DEFINITIONS[name].title if name in DEFINITIONS else name.replace("_", " ")


def _read_maps(quality: Any) -> dict[str, Quality]:
    from lowdim.quality._quality import Quality
    from lowdim.quality._quality_table import QualityTable

    if isinstance(quality, Quality):
        return {"this map": quality}
    maps = quality.maps if isinstance(quality, QualityTable) else quality
    if not isinstance(maps, Mapping) or not maps or not all(isinstance(one, Quality) for one in maps.values()):
        raise BadInputType(
            "quality must be what lowdim.quality.measure or table returns, or a mapping from name to Quality; "
            f"got {type(quality).__name__}."
        )
    return {str(name): one for name, one in maps.items()}


def _legend_text(name: str, quality: Quality, baseline: str | None = None) -> str:
    """The name of a curve, and the area under it."""
    area = quality["r_nx_auc"]
    value = area.value if baseline is None else area.baselines.get(baseline)
    return shorten(name) if value is None else f"{shorten(name)}, AUC {value:.2f}"


def _draw_curve(ax: Axes, curve: RnxCurve, name: str, color: str, dash: Any = "-") -> None:
    line: dict[str, Any] = {"linewidth": 2.0 if dash == "-" else 1.2, "zorder": 3 if dash == "-" else 2}
    ax.plot(curve.ks, curve.values, color=color, linestyle=dash, label=f"\N{ZERO WIDTH SPACE}{name}", **line)  # _ hides
    if curve.low is not None and curve.high is not None and dash == "-":
        ax.fill_between(curve.ks, curve.low, curve.high, color=color, alpha=0.18, linewidth=0, zorder=2)


def _scale(ax: Axes, quality: Quality) -> None:
    from matplotlib.ticker import FuncFormatter, NullFormatter

    ax.set_xscale("log")
    ax.set_xlim(1, max(int(quality.r_nx.ks[-1]), 2))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    ax.xaxis.set_minor_formatter(NullFormatter())
    low, high = ax.get_ylim()
    ax.set_ylim(min(low, -0.04), max(high, 0.1))
    style: dict[str, Any] = {"textcoords": "offset points", "fontsize": SMALL, "color": FADED}
    axes = ("data", "axes fraction"), ("axes fraction", "data")
    ax.annotate(f"k = {quality.k}", (quality.k, 0.98), (3, 0), xycoords=axes[0], va="top", **style)
    ax.annotate("a random map", (0.01, 0), (0, 2), xycoords=axes[1], va="bottom", **style)
    name_axes(ax, "number of neighbors k", "R_NX(k), gain over a random map")


def _mark_square(ax: Axes, k: int, n: int) -> None:
    """The corner of ranks up to k in both spaces."""
    side = k + 0.5
    ax.plot([0.5, side, side], [side, side, 0.5], color=PALETTE[5], linewidth=1.3, clip_on=True)
    ax.annotate(f"k = {k}", (side, side), xytext=(3, 2), textcoords="offset points", fontsize=SMALL, color=PALETTE[5])


def _range(known: Any) -> tuple[float, float]:
    """The range of the color scale; a single value gets the middle."""
    low, high = float(known.min()), float(known.max())
    return (low, high) if low < high else (low - 0.5, low + 0.5)


def _draw_map(ax: Axes, points: Any, scale: ColorScale, axis_names: Sequence[str] | None) -> None:
    names = ["axis 1", "axis 2"] if axis_names is None else [str(name) for name in axis_names]
    drawn = min(points.shape[1], 2)
    if len(names) < drawn:
        raise BadInput(f"axis_names must have {drawn} names for {drawn} axes; got {len(names)}.")
    if drawn == 1:
        points = np.column_stack([points[:, 0], strip_heights(len(points), scale)])
        ax.set_yticks([])
        ax.spines["left"].set_visible(False)
    draw_points(ax, points[:, :2], scale, square=drawn > 1)
    if drawn > 1:
        equal_units(ax)
    name_axes(ax, names[0], names[1] if drawn > 1 else "")
