"""The index path: a projection index along the ascents of projection pursuit, and what noise would reach."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lowdim.errors import BadInput
from lowdim.plot._colors import FADED, INK, LIGHT, palette
from lowdim.plot._theme import SMALL, axes_for, caption, name_axes, style_axes, themed
from lowdim.plot._tooltips import note_places, number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["index_path"]

NULL_QUANTILE = 0.95


@themed
def index_path(model: Any, *, ax: Axes | None = None, title: str | None = None) -> Axes:
    """Draw the projection index against the steps of every ascent, the best ascent in bold.

    A dashed line marks what the best ascents on noise reached (their 95% quantile).

    Parameters
    ----------
    model : a fitted ProjectionPursuit
        With several searches, one for each component, each has its own color.
    ax : matplotlib axes, optional
        Where to draw; None makes a new figure.
    title : str, optional
        Above the axes.

    """
    from matplotlib.ticker import MaxNLocator

    if not hasattr(model, "restart_paths_"):
        kind = type(model).__name__
        way_out = "Call fit first." if kind == "ProjectionPursuit" else "Only projection pursuit climbs an index."
        raise BadInput(f"model must be a fitted ProjectionPursuit; got {kind}. {way_out}")
    ax = axes_for(ax, 6.6, 4.2)
    colors = palette(len(model.restart_paths_))
    for i, (color, paths, best) in enumerate(zip(colors, model.restart_paths_, model.index_path_, strict=True)):
        for path in paths:
            ax.plot(path, color=color if len(colors) > 1 else LIGHT, linewidth=0.8, alpha=0.55, zorder=1)
        ax.plot(best, color=color, linewidth=2.4, zorder=3)
        ax.plot(len(best) - 1, best[-1], "o", color=color, markersize=5, zorder=4)
        _note_steps(ax, best, i)
        label = f"component {i + 1}" if len(colors) > 1 else "best ascent"
        _annotate(ax, label, (len(best) - 1, best[-1]), color, above=True)
    if len(model.null_index_):
        _draw_null(ax, float(np.quantile(model.null_index_, NULL_QUANTILE)))
    style_axes(ax)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.margins(x=0.06, y=0.12)
    name = model.index if isinstance(model.index, str) else getattr(model.index, "__name__", "index")
    name_axes(ax, "step", f"{name.replace('_', ' ')} index")
    caption(ax, title, model.verdict_ if len(colors) == 1 else None)
    return ax


def _note_steps(ax: Axes, best: Any, component: int) -> None:
    steps = list(enumerate(np.asarray(best, dtype=np.float64)))
    head = f"best ascent of component {component + 1}"
    note_places(ax, steps, lambda: [f"{head}\nstep {step}\nindex: {number(value)}" for step, value in steps])


def _draw_null(ax: Axes, level: float) -> None:
    from matplotlib.patheffects import withStroke

    ax.axhline(level, color=FADED, linewidth=1, linestyle=(0, (5, 3)), zorder=2)
    ax.annotate(
        "95% of noise stays below",
        (1, level),
        xycoords=("axes fraction", "data"),
        xytext=(0, 3),
        textcoords="offset points",
        ha="right",
        fontsize=SMALL,
        color=FADED,
        path_effects=[withStroke(linewidth=2.5, foreground="white")],  # ascents pass behind it
        zorder=5,
    )


def _annotate(ax: Axes, text: str, point: tuple[float, float], color: str, *, above: bool) -> None:
    ax.annotate(
        text,
        point,
        xytext=(0, 7 if above else -12),
        textcoords="offset points",
        ha="right",
        fontsize=SMALL,
        color=color if color != LIGHT else INK,
    )
