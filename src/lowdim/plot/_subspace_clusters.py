"""Subspace clusters: rows × dimensions as a heat map ordered by cluster, and small multiples of the subspaces."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lowdim.data.table import Table, default_names
from lowdim.errors import BadInput
from lowdim.plot._colors import FADED, INK, LIGHT, SEQUENTIAL, palette
from lowdim.plot._inputs import read_points
from lowdim.plot._text import shorten
from lowdim.plot._theme import SMALL, axes_for, caption, color_bar, name_axes, new_figure, style_axes, themed
from lowdim.runtime.display import count

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["ClusteredRows", "read_clusters", "sample_rows", "subspace_heatmap", "subspace_panels"]

Array = NDArray[Any]

MOST_ROWS = 1200  # of a heat map
LEAST_SHARE = 0.03  # of its rows, for the name of a cluster
MOST_NAMES = 60  # of columns below a heat map
LETTERS = 11  # of column names that fit into an inch


@dataclass(frozen=True, eq=False)
class ClusteredRows:
    """Rows with their subspace clusters, checked once."""

    X: NDArray[np.float64]  # (n, d)
    clusters: list[Any]
    labels: NDArray[np.int64]  # (n,) the first cluster that holds each row; -1 for none
    names: list[str]  # of the columns

    def scaled(self) -> NDArray[np.float64]:
        """Every column from 0 to 1; a constant one is 0.5."""
        low, span = self.X.min(axis=0), np.ptp(self.X, axis=0)
        return np.where(span > 0, (self.X - low) / np.where(span > 0, span, 1), 0.5)


def read_clusters(source: Any, X: Any) -> ClusteredRows:
    """Clusters of a fitted clusterer or of planted clusters, and the rows that they are clusters of."""
    clusters, labels = (getattr(source, f"{name}_", getattr(source, name, None)) for name in ("clusters", "labels"))
    if clusters is None or labels is None:
        raise BadInput(f"source must be a fitted subspace clusterer or planted clusters; got {type(source).__name__}.")
    names = getattr(source, "feature_names_in_", None)
    if isinstance(X, Table):
        X, names = X.array(), X.names
    elif names is None:
        names = getattr(X, "columns", None)
    points = read_points(X, "X").astype(np.float64)
    if len(points) != len(labels):
        raise BadInput(f"X must be the {len(labels)} rows that were clustered; got {len(points)}.")
    d = points.shape[1]
    if any(cluster.dimensions[-1] >= d for cluster in clusters):
        raise BadInput(f"X has {d} columns, fewer than the clusters. Give the table that was clustered.")
    words = default_names(d) if names is None or len(names) != d else names
    return ClusteredRows(points, list(clusters), np.asarray(labels), [str(name) for name in words])


def sample_rows(labels: NDArray[np.int64], most: int) -> NDArray[np.intp]:
    """Row indices ordered by cluster, those in none last; evenly thinned out if there are more than `most`."""
    order = np.argsort(np.where(labels < 0, labels.max() + 1, labels), kind="stable")
    return order[np.linspace(0, len(order) - 1, min(most, len(order))).astype(np.intp)]


@themed
def subspace_heatmap(source: Any, X: Any, *, ax: Axes | None = None, title: str | None = None) -> Axes:
    """Draw rows × columns as a heat map, ordered by cluster; outside of the dimensions of a cluster it is faded.

    Parameters
    ----------
    source : a fitted subspace clusterer, or planted clusters
        Rows are ordered by their labels, rows in no cluster last.
    X : table (n, d)
        The rows that were clustered. Every column is scaled to its range.
    ax : matplotlib axes, optional
        Where to draw; None makes a new figure.
    title : str, optional
        Above the axes.

    """
    read = read_clusters(source, X)
    order = sample_rows(read.labels, MOST_ROWS)
    shown = read.labels[order]
    d = read.X.shape[1]
    ax = axes_for(ax, min(4.2 + 0.3 * d, 14), 6.0)
    style_axes(ax)
    member = np.zeros((len(order), d), dtype=bool)
    for c in np.unique(shown[shown >= 0]):
        member[np.ix_(shown == c, read.clusters[c].dimensions)] = True
    values = read.scaled()[order]
    options: dict[str, Any] = {"aspect": "auto", "interpolation": "nearest", "cmap": SEQUENTIAL, "vmin": 0, "vmax": 1}
    ax.imshow(values, alpha=0.22, **options)
    mapped = ax.imshow(np.ma.masked_array(values, ~member), **options)
    _draw_blocks(ax, read, shown)
    if d <= MOST_NAMES:
        ax.set_xticks(range(d))
        labels = [shorten(name, 18) for name in read.names]
        turn = 90 if max(map(len, labels)) * d > LETTERS * (ax.bbox.width / ax.figure.dpi) else 0
        ax.set_xticklabels(labels, rotation=turn, parse_math=False)
    color_bar(ax, mapped, "value, relative to the range of the column")
    note = f"{len(read.labels)} rows" + (f", {len(order)} of them shown" if len(order) < len(read.labels) else "")
    caption(ax, title, note)
    return ax


def _draw_blocks(ax: Axes, read: ClusteredRows, shown: NDArray[np.int64]) -> None:
    """A frame around the dimensions of each cluster, and its name at the left."""
    from matplotlib.patches import Rectangle

    places, names = [], []
    for label in dict.fromkeys(shown.tolist()):
        rows = np.flatnonzero(shown == label)
        first, count = rows[0], len(rows)
        total = int((read.labels == label).sum())
        if count >= LEAST_SHARE * len(shown):  # else names would overlap
            places.append(first + count / 2 - 0.5)
            names.append(f"none ({total})" if label < 0 else f"cluster {label} ({total})")
        if first:
            ax.axhline(first - 0.5, color="white", linewidth=1.5)
        if label >= 0:
            for start, stop in _runs(read.clusters[label].dimensions):
                frame = Rectangle(
                    (start - 0.5, first - 0.5), stop - start, count, fill=False, edgecolor=INK, linewidth=1.1
                )
                ax.add_patch(frame)
    ax.set_yticks(places)
    ax.set_yticklabels(names)
    ax.tick_params(axis="y", length=0)


def _runs(indices: Array) -> list[tuple[int, int]]:
    """Runs of consecutive indices as (start, stop)."""
    parts = np.split(indices, np.flatnonzero(np.diff(indices) > 1) + 1)
    return [(int(part[0]), int(part[-1]) + 1) for part in parts]


@themed
def subspace_panels(
    source: Any, X: Any, *, most: int = 9, title: str | None = None, figure: Any = None
) -> NDArray[Any]:
    """Draw each cluster in two of its dimensions, one panel per cluster: small multiples of the subspaces.

    The two dimensions are those in which the cluster is narrowest relative to all rows. A cluster of one dimension is
    drawn as a histogram.

    Parameters
    ----------
    source : a fitted subspace clusterer, or planted clusters
        Its first clusters are drawn.
    X : table (n, d)
        The rows that were clustered.
    most : int
        Number of clusters to draw.
    title : str, optional
        Above the figure.
    figure : matplotlib figure, optional
        Where to draw; None makes a new figure.

    Returns
    -------
    array of axes (panels,)

    """
    read = read_clusters(source, X)
    if not read.clusters:
        raise BadInput("there are no clusters to draw. Lower the density threshold of the clusterer.")
    if most < 1:
        raise BadInput(f"most must be at least 1; got {most!r}.")
    shown = read.clusters[:most]
    columns = min(3, len(shown))
    lines = -(-len(shown) // columns)
    figure = new_figure(3.4 * columns, 3.1 * lines + 0.4 * (title is not None)) if figure is None else figure
    panels = [figure.add_subplot(lines, columns, i + 1) for i in range(len(shown))]
    for i, (ax, cluster, color) in enumerate(zip(panels, shown, palette(len(shown)), strict=True)):
        said = f"{count(cluster.size, 'row')}, {count(len(cluster.dimensions), 'dimension')}"
        _draw_panel(ax, read, cluster, color, f"cluster {i}: {said}")
    if title:
        figure.suptitle(shorten(title, 90), x=0.01, ha="left", fontweight="bold", parse_math=False)
    return np.array(panels)


def _draw_panel(ax: Axes, read: ClusteredRows, cluster: Any, color: str, text: str) -> None:
    style_axes(ax)
    own, scaled = np.asarray(cluster.dimensions), read.scaled()
    narrow = np.sort(own[np.argsort(scaled[cluster.rows][:, own].std(axis=0), kind="stable")[:2]])
    if len(narrow) == 1:
        values = read.X[:, narrow[0]]
        bins = np.histogram_bin_edges(values, 40).tolist()
        ax.hist(values, bins=bins, color=LIGHT)
        ax.hist(values[cluster.rows], bins=bins, color=color)
        name_axes(ax, read.names[narrow[0]], "rows")
    else:
        size = 200 / np.sqrt(max(len(read.X), 100))
        every = sample_rows(np.zeros(len(read.X), dtype=np.int64), 4000)
        for rows, shade in ((every, LIGHT), (cluster.rows, color)):
            x, y = read.X[rows][:, narrow].T
            ax.scatter(x, y, s=size, color=shade, linewidths=0, rasterized=len(rows) > 2000)
        name_axes(ax, read.names[narrow[0]], read.names[narrow[1]])
    ax.set_title(text, loc="left", fontsize=SMALL, fontweight="normal", color=FADED)
