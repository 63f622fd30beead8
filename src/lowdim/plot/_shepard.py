"""The Shepard diagram: embedding distances against given distances, with the disparities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput, BadInputType, NotEnoughData
from lowdim.plot._colors import FADED, INK, PALETTE, visible_from_white
from lowdim.plot._density_shading import cell_edges, draw_raster
from lowdim.plot._inputs import read_points
from lowdim.plot._theme import SMALL, axes_for, caption, color_bar, name_axes, style_axes, themed
from lowdim.runtime.blas import single_blas

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["shepard"]

Array = NDArray[np.float64]

MOST_ROWS = 2000  # two million pairs, enough to show the relation
MANY_PAIRS = 5000
MOST_VERTICES = 2000  # vertices of the disparity curve


@themed
def shepard(
    D: Any,
    Z: Any,
    *,
    disparities: Any = None,
    weights: Any = None,
    ax: Axes | None = None,
    title: str | None = None,
) -> Axes:
    """Draw embedding distances against given distances (dissimilarities), one point per pair of rows.

    On the dashed line they are equal. Many pairs become shaded cells; of more than 2,000 rows evenly spaced ones are
    taken, and the plot says so.

    Parameters
    ----------
    D : array (n, n), or condensed (n (n - 1) / 2,) as in SciPy
        The given distances; NaN where one is missing.
    Z : table (n, k)
        The embedding; its distances are Euclidean.
    disparities : array of the shape of D, optional
        The disparities that the embedding was fitted to, drawn as a curve: `model.shepard(X).disparities`.
    weights : array of the shape of D, optional
        Weights of the pairs in the stress, those of the fit; pairs of weight 0 are left out.
    ax : matplotlib axes, optional
        Where to draw; None makes a new figure.
    title : str, optional
        Above the axes.

    """
    from scipy.spatial.distance import pdist

    points = read_points(Z).astype(np.float64)
    n = len(points)
    if n < 2:
        raise NotEnoughData("a Shepard diagram needs at least 2 rows, for one pair.")
    rows = np.unique(np.linspace(0, n - 1, min(n, MOST_ROWS)).round().astype(np.intp))
    given, mapped = _pairs(D, n, rows), pdist(points[rows])
    wanted = None if disparities is None else _pairs(disparities, n, rows, "disparities")
    counted = np.ones(len(given)) if weights is None else _pairs(weights, n, rows, "weights")
    known = ~np.isnan(given if wanted is None else given + wanted) & (counted > 0)
    if not known.any():
        raise BadInput("D has no distance: all are NaN or of weight 0.")
    given, mapped, counted = given[known], mapped[known], counted[known]
    wanted = None if wanted is None else wanted[known]
    ax = axes_for(ax, 5.6, 5.0)
    style_axes(ax)
    _draw(ax, given, mapped)
    if wanted is not None:
        order = np.lexsort((wanted, given))
        order = order[np.linspace(0, len(order) - 1, min(len(order), MOST_VERTICES)).astype(np.intp)]
        ax.set_ylim(0, 1.03 * float(max(mapped.max(), wanted.max())) or 1.0)
        ax.plot(given[order], wanted[order], color=PALETTE[5], linewidth=1.6, label="disparity")
        ax.legend(frameon=False, loc="upper left", fontsize=SMALL)
    name_axes(ax, "given distance", "embedding distance")
    with single_blas():
        note = _agreement(given, mapped, wanted, counted)
    if not known.all():
        note = f"{note}; {np.count_nonzero(~known)} of {len(known)} pairs are missing"
    caption(ax, title, note if len(rows) == n else f"{note}; {len(rows)} of {n} rows")
    return ax


def _pairs(D: Any, n: int, rows: NDArray[np.intp], name: str = "D") -> Array:
    """The given distances of the pairs of some rows, in condensed order; NaN where one is missing."""
    try:
        given = np.asarray(D)
        i, j = (rows[side] for side in np.triu_indices(len(rows), k=1))
        if given.shape == (n, n):
            out = given[i, j].astype(np.float64)
        elif given.shape == (n * (n - 1) // 2,):
            out = given[n * i - i * (i + 1) // 2 + j - i - 1].astype(np.float64)
        else:
            raise BadInput(
                f"{name} must hold the distances of the {n} rows of Z, as ({n}, {n}) or ({n * (n - 1) // 2},); "
                f"got shape {given.shape}."
            )
    except (TypeError, ValueError) as error:
        if isinstance(error, BadInput):
            raise
        raise BadInputType(f"{name} must hold numbers; {error}.") from error
    if np.isinf(out).any() or (out < 0).any():
        raise BadInput(
            f"{name} has a distance that is negative or infinite. Drop such rows, or use NaN for a missing one."
        )
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
        shown = draw_raster(ax, np.ma.masked_less(counts, 1), edges, cmap=visible_from_white(), norm=norm)
        color_bar(ax, shown, "pairs")
    ax.axline((0, 0), slope=1, color=FADED, linewidth=0.8, linestyle="--", zorder=1)
    ax.set_xlim(0, 1.03 * float(given.max()) or 1.0)
    ax.set_ylim(0, 1.03 * float(mapped.max()) or 1.0)
    ax.tick_params(labelsize=SMALL)


def _agreement(given: Array, mapped: Array, wanted: Array | None, weights: Array) -> str:
    """Pearson's r, and Kruskal's stress-1 for the disparities, or for the distances at their optimal scale."""
    squares = float(weights @ mapped**2)
    if squares == 0 or not given.any() or np.ptp(given) == 0 or np.ptp(mapped) == 0:
        return "the given or the embedding distances are constant"
    r = float(np.corrcoef(given, mapped)[0, 1])
    if wanted is not None and wanted.any():
        stress = float(np.sqrt(weights @ (wanted - mapped) ** 2 / (weights @ wanted**2)))
        return f"r = {r:.3f}, stress-1 = {stress:.3f}"
    scale = float(weights @ (given * mapped)) / squares
    stress = float(np.sqrt(weights @ (given - scale * mapped) ** 2 / (weights @ given**2)))
    return f"r = {r:.3f}, stress-1 = {stress:.3f} at the optimal scale"
