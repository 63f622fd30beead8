"""Parallel coordinates: one axis per column, one line per row, with the ranges of each subspace cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lowdim.plot._colors import ABSENT, FADED, LIGHT, palette
from lowdim.plot._subspace_clusters import ClusteredRows, read_clusters, sample_rows
from lowdim.plot._text import shorten
from lowdim.plot._theme import axes_for, caption, style_axes, themed

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["parallel_coordinates"]

MOST_LINES = 600
MOST_CLUSTERS = 8  # with a color of their own


@themed
def parallel_coordinates(source: Any, X: Any, *, ax: Axes | None = None, title: str | None = None) -> Axes:
    """Draw rows as lines over parallel axes, colored by cluster, with a bar for its range at each of its dimensions.

    Lines are strong between neighboring axes that both belong to the subspace of their cluster, and faint elsewhere.

    Parameters
    ----------
    source : a fitted subspace clusterer, or planted clusters
        The first eight clusters have colors of their own.
    X : table (n, d)
        The rows that were clustered. Every column is scaled to its range, whose ends are written at its axis.
    ax : matplotlib axes, optional
        Where to draw; None makes a new figure.
    title : str, optional
        Above the axes.

    """
    from matplotlib.lines import Line2D

    read = read_clusters(source, X)
    d = read.X.shape[1]
    ax = axes_for(ax, min(3 + 0.75 * d, 15), 4.6)
    style_axes(ax)
    some = np.sort(sample_rows(read.labels, MOST_LINES))
    drawn = [c for c in np.unique(read.labels[read.labels >= 0]).tolist() if c < MOST_CLUSTERS]
    colors = dict(zip(drawn, palette(len(drawn)), strict=True))
    _draw_lines(ax, read, some, colors)
    for i, c in enumerate(drawn):
        _draw_ranges(ax, read, c, colors[c], (i - (len(drawn) - 1) / 2) * 0.05)
    for axis in range(d):
        ax.axvline(axis, color=LIGHT, linewidth=0.8, zorder=0)
        for place, value, align in ((-0.03, read.X[:, axis].min(), "top"), (1.03, read.X[:, axis].max(), "bottom")):
            ax.text(axis, place, f"{value:.4g}", ha="center", va=align, fontsize=7.5, color=FADED)
    ax.set_xticks(range(d))
    names = [shorten(name, 18) for name in read.names]
    ax.set_xticklabels(names, rotation=90 if max(map(len, names)) > 9 else 0, parse_math=False)
    ax.tick_params(axis="x", length=0, pad=12)
    ax.set_yticks([])
    ax.spines[["left", "bottom"]].set_visible(False)
    ax.set_xlim(-0.3, d - 0.7)
    handles = [Line2D([], [], color=colors[c], linewidth=3, label=f"cluster {c}") for c in drawn]
    if (read.labels < 0).any():
        handles.append(Line2D([], [], color=ABSENT, linewidth=3, label="none"))
    if handles:
        ax.legend(handles=handles, loc="upper left", bbox_to_anchor=(1.01, 1))
    caption(ax, title, None)
    if title:
        ax.set_title(ax.get_title(loc="left"), loc="left", pad=20, parse_math=False)
    return ax


def _draw_lines(ax: Axes, read: ClusteredRows, rows: NDArray[np.intp], colors: dict[int, str]) -> None:
    """Every segment of every line, in two layers: faint, and strong where both ends are in the row's subspace."""
    from matplotlib.collections import LineCollection

    scaled, d = read.scaled()[rows], read.X.shape[1]
    labels = read.labels[rows]
    ends = np.stack([np.broadcast_to(np.arange(d, dtype=float), scaled.shape), scaled], axis=2)  # (rows, d, 2)
    faint = [colors.get(int(label), ABSENT) for label in labels]
    ax.add_collection(LineCollection(list(ends), colors=faint, linewidths=0.5, alpha=0.12, zorder=1))
    strong, shades = [], []
    for line, label in zip(ends, labels.tolist(), strict=True):
        if label not in colors:
            continue
        inside = np.isin(np.arange(d), read.clusters[label].dimensions)
        for j in np.flatnonzero(inside[:-1] & inside[1:]):
            strong.append(line[j : j + 2])
            shades.append(colors[label])
    ax.add_collection(LineCollection(strong, colors=shades, linewidths=0.7, alpha=0.45, zorder=2))


def _draw_ranges(ax: Axes, read: ClusteredRows, c: int, color: str, shift: float) -> None:
    """The range from the 5% to the 95% quantile of the rows of a cluster, at each of its dimensions."""
    cluster = read.clusters[c]
    for j in cluster.dimensions:
        low, high = np.quantile(read.scaled()[cluster.rows, j], [0.05, 0.95])
        ax.plot(
            [j + shift] * 2, [low, max(high, low + 0.01)], color=color, linewidth=4.5, zorder=3, solid_capstyle="butt"
        )
