"""Shepard's diagram: distances in the map against those that it should show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput, BadInputType, NotEnoughData
from lowdim.plot.colors import FADED, INK, RISING
from lowdim.plot.inputs import read_points
from lowdim.plot.shading import cell_edges, draw_cells
from lowdim.plot.theme import SMALL, axes_for, caption, color_bar, dress, name_axes, themed
from lowdim.threads import single_blas

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["shepard"]

Array = NDArray[np.float64]

MOST_ROWS = 2000  # two million pairs say what fifty million would
MANY_PAIRS = 5000


@themed()
def shepard(D: Any, Z: Any, *, ax: Axes | None = None, title: str | None = None) -> Axes:
    """Draw the distances of the map against the given ones, a dot for each pair of rows.

    On the line, a distance is shown as it is. Many pairs become shaded cells, and of more than
    2,000 rows evenly spaced ones are taken, which the picture says.

    Parameters
    ----------
    D : array (n, n), or (n (n - 1) / 2,) as SciPy condenses it
        The distances to be shown.
    Z : table (n, k)
        The map; its distances are Euclidean.
    ax : matplotlib axes, optional
        Where to draw; a new figure without it.
    title : str, optional
        Above the axes.

    """
    from scipy.spatial.distance import pdist

    points = read_points(Z).astype(np.float64)
    n = len(points)
    if n < 2:
        raise NotEnoughData("a Shepard diagram needs at least 2 rows: there is no pair in one.")
    rows = np.unique(np.linspace(0, n - 1, min(n, MOST_ROWS)).round().astype(np.intp))
    given, mapped = _pairs(D, n, rows), pdist(points[rows])
    ax = axes_for(ax, 5.6, 5.0)
    dress(ax)
    _draw(ax, given, mapped)
    name_axes(ax, "given distance", "distance in the map")
    with single_blas():
        note = _agreement(given, mapped)
    caption(ax, title, note if len(rows) == n else f"{note}; {len(rows)} of {n} rows")
    return ax


def _pairs(D: Any, n: int, rows: NDArray[np.intp]) -> Array:
    """The given distances of the pairs of some rows, in SciPy's order."""
    try:
        given = np.asarray(D)
        i, j = (rows[side] for side in np.triu_indices(len(rows), k=1))
        if given.shape == (n, n):
            out = given[i, j].astype(np.float64)
        elif given.shape == (n * (n - 1) // 2,):
            out = given[n * i - i * (i + 1) // 2 + j - i - 1].astype(np.float64)
        else:
            raise BadInput(
                f"D must hold the distances of the {n} rows of Z, as ({n}, {n}) or ({n * (n - 1) // 2},); "
                f"got shape {given.shape}."
            )
    except (TypeError, ValueError) as error:
        if isinstance(error, BadInput):
            raise
        raise BadInputType(f"D must hold numbers; {error}.") from error
    if not np.isfinite(out).all() or (out < 0).any():
        raise BadInput("D has a distance that is negative or not finite. Drop such rows, or fill them.")
    return out


def _draw(ax: Axes, given: Array, mapped: Array) -> None:
    from matplotlib.colors import LogNorm

    both = np.column_stack([given, mapped])
    if len(both) <= MANY_PAIRS:
        size = float(np.clip(800 / len(both), 3, 30))
        ax.scatter(given, mapped, s=size, c=INK, alpha=0.6, linewidths=0)
    else:
        edges = cell_edges(both, square=False, cells=160)
        counts = np.histogram2d(mapped, given, bins=(edges[1], edges[0]))[0]
        norm = LogNorm(1, max(counts.max(), 2))
        shown = draw_cells(ax, np.ma.masked_less(counts, 1), edges, cmap=_visible(), norm=norm)
        color_bar(ax, shown, "pairs")
    ax.axline((0, 0), slope=1, color=FADED, linewidth=0.8, linestyle="--", zorder=1)
    ax.set_xlim(0, 1.03 * float(given.max()) or 1.0)
    ax.set_ylim(0, 1.03 * float(mapped.max()) or 1.0)
    ax.tick_params(labelsize=SMALL)


def _visible() -> Any:
    """The rising map from where a single pair can be seen."""
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap

    return ListedColormap(colormaps[RISING](np.linspace(0.22, 1, 256)))


def _agreement(given: Array, mapped: Array) -> str:
    """Pearson's correlation, and Kruskal's stress-1 after the best common scale."""
    squares = float(mapped @ mapped)
    if squares == 0 or not given.any() or np.ptp(given) == 0 or np.ptp(mapped) == 0:
        return "one of the two distances does not vary"
    r = float(np.corrcoef(given, mapped)[0, 1])
    scale = float(given @ mapped) / squares
    stress = float(np.sqrt(((given - scale * mapped) ** 2).sum() / (given**2).sum()))
    return f"r = {r:.3f}, stress-1 = {stress:.3f} at the best scale"
