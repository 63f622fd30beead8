"""Sources of independent component analysis: each as a signal over the rows, and its distribution."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput, BadParameter
from lowdim.plot._colors import INK, palette
from lowdim.plot._inputs import require_linear
from lowdim.plot._text import shorten
from lowdim.plot._theme import SMALL, caption, new_figure, style_axes, themed
from lowdim.plot._tooltips import note_places, number
from lowdim.runtime.param import Integer

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["sources"]

Array = NDArray[np.float64]

MOST_VERTICES = 1500  # of a line; more rows become the band between their extremes
MOST_BINS = 36
WIDE = 6.0  # standard deviations that a histogram covers
NORMAL_WIDTH = 2.5  # standard deviations that an axis shows at least, for the normal density


@themed
def sources(
    model: Any,
    X: Any,
    *,
    window: tuple[int, int] | None = None,
    most: int = 10,
    title: str | None = None,
    figure: Any = None,
) -> NDArray[Any]:
    """Draw the sources of rows: each as a signal over the row number, and its histogram beside the normal density.

    The excess kurtosis is above 0 for a super-Gaussian (peaked) source, below 0 for a sub-Gaussian (flat) one, and near
    0 for one that looks Gaussian. Where rows outnumber pixels, a band shows the smallest and the largest of neighbors.

    Parameters
    ----------
    model : a fitted ICA
        Or any fitted method with `components_` and `transform`.
    X : table (n, d)
        Rows in their order, as in time.
    window : (start, stop), optional
        Rows to draw as signals; None draws all. The histograms are always of all rows.
    most : int
        Number of sources to draw, the first ones.
    title : str, optional
        Above the figure.
    figure : matplotlib figure, optional
        Where to draw; None makes a new figure.

    Returns
    -------
    array of axes (sources, 2)
        Signals on the left, histograms on the right.

    """
    require_linear(model)
    if not Integer(1).accepts(most):
        raise BadParameter(f"most must be {Integer(1).text}; got {most!r:.60}.")
    Y = np.asarray(model.transform(X), dtype=np.float64)[:, : int(most)]
    start, stop = _window(window, len(Y))
    k = Y.shape[1]
    if figure is None:
        figure = new_figure(9.0, 0.92 * k + 0.9)
    axes: NDArray[Any] = figure.subplots(k, 2, squeeze=False, sharey="row", gridspec_kw={"width_ratios": [5, 1]})
    shares = getattr(model, "explained_variance_ratio_", None)
    for i in range(k):
        color = palette(k)[i] if k <= 6 else palette(1)[0]
        extent = max(float(np.abs(Y[:, i]).max()), NORMAL_WIDTH * float(Y[:, i].std())) or 1.0
        _draw_signal(axes[i, 0], Y[start:stop, i], start, extent, color)
        _note_signal(axes[i, 0], Y[start:stop, i], start, f"source {i + 1}")
        _draw_histogram(axes[i, 1], Y[:, i], color)
        share = "" if shares is None else f"{float(shares[i]):.0%} of the variance, "
        if i < k - 1:
            axes[i, 0].tick_params(labelbottom=False)
        caption(axes[i, 0], None, f"source {i + 1}: {share}{_kurtosis_text(Y[:, i])}")
    axes[-1, 0].set_xlabel("row")
    axes[-1, 1].set_xlabel("density\n(dashed: normal)", fontsize=SMALL)
    hidden = len(model.components_) - k
    note = f" (the first {k} of {k + hidden} sources)" if hidden else ""
    if title or note:
        text = shorten(f"{title or 'Sources'}{note}", 90)
        figure.suptitle(text, x=0.01, ha="left", fontweight="bold", parse_math=False)
    return axes


def _window(window: tuple[int, int] | None, n: int) -> tuple[int, int]:
    if window is None:
        return 0, n
    try:
        start, stop = (int(end) for end in window)
    except (TypeError, ValueError):
        raise BadParameter(f"window must be (start, stop), two row numbers; got {window!r:.60}.") from None
    if not 0 <= start < stop <= n:
        raise BadInput(f"window must satisfy 0 ≤ start < stop ≤ {n}, the number of rows; got {(start, stop)}.")
    return start, stop


def _draw_signal(ax: Axes, y: Array, start: int, extent: float, color: str) -> None:
    style_axes(ax)
    if len(y) <= 2 * MOST_VERTICES:
        ax.plot(np.arange(start, start + len(y)), y, color=color, linewidth=0.8 if len(y) > 300 else 1.2)
    else:
        edges = np.linspace(0, len(y), MOST_VERTICES + 1).astype(np.intp)
        low, high = np.minimum.reduceat(y, edges[:-1]), np.maximum.reduceat(y, edges[:-1])
        ax.fill_between(start + (edges[:-1] + edges[1:]) / 2, low, high, color=color, linewidth=0.3)
    ax.set_xlim(start, start + max(len(y) - 1, 1))
    ax.set_ylim(-1.08 * extent, 1.08 * extent)
    ax.tick_params(labelsize=SMALL)


def _note_signal(ax: Axes, y: Array, start: int, name: str) -> None:
    """What a page says of a signal that is drawn row by row."""
    if len(y) <= 2 * MOST_VERTICES:
        rows = np.arange(start, start + len(y))
        texts = lambda: [f"row {row}\n{name}: {number(v)}" for row, v in zip(rows, y, strict=True)]  # noqa: E731
        note_places(ax, np.column_stack([rows, y]), texts)


def _draw_histogram(ax: Axes, y: Array, color: str) -> None:
    """The histogram lies on its side, so that it shares the axis of the signal."""
    style_axes(ax)
    deviation = float(y.std()) or 1.0
    reach = min(float(np.abs(y).max(initial=0.0)), WIDE * deviation) or 1.0
    bins = int(np.clip(np.sqrt(len(y)), 8, MOST_BINS))
    edges = np.linspace(-reach, reach, bins + 1)
    counts = np.histogram(y, edges)[0] / (len(y) * np.diff(edges))
    ax.stairs(counts, edges, orientation="horizontal", fill=True, color=color, alpha=0.75)
    at = np.linspace(-4 * deviation, 4 * deviation, 200)
    normal = np.exp(-0.5 * ((at - y.mean()) / deviation) ** 2) / (deviation * np.sqrt(2 * np.pi))
    ax.plot(normal, at, color=INK, linewidth=0.9, linestyle="--")
    ax.set_xlim(0, 1.05 * max(float(counts.max()), 0.4 / deviation))
    ax.set_xticks([])  # the normal density gives the scale
    ax.tick_params(labelsize=SMALL, labelleft=False)


def _kurtosis_text(y: Array) -> str:
    spread = float(y.var())
    if spread == 0:
        return "constant"
    kurtosis = float(((y - y.mean()) ** 4).mean() / spread**2 - 3)
    return f"excess kurtosis {kurtosis:+.2f}".replace("-", "−")
