"""The scree plot: eigenvalues, their cumulative share, and the number of components by each rule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lowdim.base.state import fitted_names
from lowdim.errors import BadInput
from lowdim.plot._colors import FADED, INK, LIGHT, palette
from lowdim.plot._text import shorten
from lowdim.plot._theme import SMALL, axes_for, caption, name_axes, split_below, style_axes, themed
from lowdim.plot._tooltips import note_places, number
from lowdim.runtime.display import count

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["scree"]

Array = NDArray[np.float64]

SMALLEST = 1e-12  # relative to the largest: what rounding leaves
SHOWN = 40  # eigenvalues, unless a rule keeps more


@dataclass(frozen=True)
class _Scree:
    """What a scree plot shows, whatever it was read from."""

    values: Array
    shares: Array
    verdicts: Sequence[Any] = ()  # each with .rule and .k
    parallel: Any = None  # with .mean, .band and .quantile


@themed
def scree(
    source: Any,
    *,
    ax: Axes | None = None,
    title: str | None = "Scree plot",
    log: bool = False,
    most: int | None = None,
) -> Axes:
    """Draw eigenvalues, their cumulative share of the variance, and the choices of rules.

    The area of `ax` is split: the axes returned hold the eigenvalues, and a panel below them the cumulative shares. If
    rules are known, a third panel has one line per rule, with a dot at its number of components.

    Parameters
    ----------
    source : a fitted PCA, `lowdim.choose.table(X)`, or an array of eigenvalues
        An array is sorted, and its shares refer to its positive part.
    ax : matplotlib axes, optional
        Where to draw; None makes a new figure.
    title : str, optional
        Above the axes.
    log : bool
        Draw eigenvalues on a logarithmic axis; those below 1e-12 of the largest, which are rounding, are left out.
    most : int, optional
        Number of eigenvalues to show; None shows 40, or as many as the rules need.

    """
    from matplotlib.ticker import MaxNLocator

    read = _read(source)
    shown = _shown(read, most)
    heights = [3.0, 1.3] + ([0.35 + 0.24 * len(read.verdicts)] if read.verdicts else [])
    ax = axes_for(ax, 6.6, 1.1 * sum(heights) + 0.6)
    panels = split_below(ax, heights)
    _draw_values(ax, read, shown, log)
    _draw_shares(panels[0], read.shares[:shown])
    if read.verdicts:
        _draw_choices(panels[1], read.verdicts, shown)
    left = 0.5 if all(verdict.k > 0 for verdict in read.verdicts) else -0.5
    ax.set_xlim(left, shown + 0.5)
    ax.xaxis.set_major_locator(MaxNLocator(steps=[1, 2, 5, 10], integer=True))
    for upper in (ax, *panels)[:-1]:
        upper.tick_params(labelbottom=False)
    panels[-1].set_xlabel("component")
    caption(ax, title, _note(read, shown, log))
    _note_texts((ax, *panels), read, shown)
    return ax


def _note_texts(panels: Sequence[Axes], read: _Scree, shown: int) -> None:
    """What a page says of eigenvalues, shares and rules."""
    values, shares, at = read.values[:shown], read.shares[:shown], np.arange(1, shown + 1)
    total = np.cumsum(shares)

    def texts() -> list[str]:
        rows = zip(at, values, shares, total, strict=True)
        return [
            f"component {i}\neigenvalue: {number(v)}\nshare: {own:.1%}\ncumulative share: {up_to:.1%}"
            for i, v, own, up_to in rows
        ]

    note_places(panels[0], np.column_stack([at, values]), texts)
    note_places(panels[1], np.column_stack([at - 0.36, 0 * total, at + 0.36, total]), texts)
    if read.verdicts:
        ordered = sorted(read.verdicts, key=lambda verdict: verdict.k)
        dots = [(min(verdict.k, shown), line) for line, verdict in enumerate(ordered)]
        note_places(panels[2], dots, lambda: [f"{v.rule}\n{count(v.k, 'component')}" for v in ordered])


def _note(read: _Scree, shown: int, log: bool) -> str | None:
    notes = [] if shown == len(read.values) else [f"the first {shown} of {len(read.values)}"]
    tiny = int((read.values[:shown] <= SMALLEST * read.values.max()).sum())
    if log and tiny:
        notes.append(f"{tiny} that {'is' if tiny == 1 else 'are'} zero but for rounding left out")
    return "; ".join(notes) or None


def _read(source: Any) -> _Scree:
    if hasattr(source, "verdicts") and hasattr(source, "spectrum"):
        spectrum = source.spectrum
        verdicts = tuple(source.verdicts)
        return _Scree(_values(spectrum.values), _values(spectrum.shares), verdicts, source.parallel)
    if hasattr(source, "spectrum_"):
        values, total = _values(source.spectrum_), float(source.total_variance_)
        return _Scree(values, values / total if total > 0 else np.zeros_like(values))
    if hasattr(source, "explained_variance_"):
        return _Scree(_values(source.explained_variance_), _values(source.explained_variance_ratio_))
    if hasattr(source, "fit"):
        kind = type(source).__name__
        if fitted_names(source):
            raise BadInput(f"{kind} has no eigenvalues of a covariance matrix to draw. Give a fitted PCA.")
        raise BadInput(f"source must be fitted; this {kind} has no spectrum yet. Call fit first.")
    values = np.sort(_values(source))[::-1]
    positive = np.maximum(values, 0.0)
    total = float(positive.sum())
    return _Scree(values, positive / total if total > 0 else positive)


def _values(values: Any) -> Array:
    try:
        out = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise BadInput(
            f"source must be a fitted PCA, a table of choices or an array of eigenvalues; got {type(values).__name__}."
        ) from error
    if out.ndim != 1 or len(out) == 0 or not np.isfinite(out).all():
        raise BadInput(f"eigenvalues must be a vector of at least 1 finite number; got shape {out.shape}.")
    return out


def _shown(read: _Scree, most: int | None) -> int:
    if most is not None and most < 1:
        raise BadInput(f"most must be at least 1; got {most!r}.")
    if most is not None:
        return min(len(read.values), most)
    wanted = max(SHOWN, *(int(1.1 * verdict.k) + 1 for verdict in read.verdicts), 0)
    return len(read.values) if len(read.values) <= 1.2 * wanted else wanted  # a few more are shown too


def _draw_values(ax: Axes, read: _Scree, shown: int, log: bool) -> None:
    style_axes(ax)
    positions = np.arange(1, shown + 1)
    values = read.values[:shown]
    if log:
        if not (values > 0).any():
            raise BadInput("log=True needs an eigenvalue above 0; there is none. Use log=False.")
        ax.set_yscale("log")
        values = np.where(values > SMALLEST * values.max(), values, np.nan)
    if read.parallel is not None:
        _draw_band(ax, read.parallel, shown)
    ax.plot(positions, values, color=INK, marker="o", markersize=4, label="eigenvalues", zorder=3)
    if not log:
        ax.axhline(0, color=LIGHT, linewidth=0.8, zorder=1)
    name_axes(ax, "", "eigenvalue")
    if read.parallel is not None:
        ax.legend(loc="upper right")


def _draw_band(ax: Axes, parallel: Any, shown: int) -> None:
    """Null eigenvalues of parallel analysis: their mean, and the quantile that the data must exceed."""
    mean, band = _values(parallel.mean)[:shown], _values(parallel.band)[:shown]
    color, positions = palette(2)[1], np.arange(1, len(mean) + 1)
    ax.fill_between(positions, mean, band, color=color, alpha=0.3, linewidth=0, zorder=2)
    ax.plot(positions, mean, color=color, linewidth=1, linestyle="--", label="parallel analysis, mean", zorder=2)
    ax.plot(positions, band, color=color, label=f"parallel analysis, {100 * parallel.quantile:g}% quantile", zorder=2)


def _draw_shares(ax: Axes, shares: Array) -> None:
    from matplotlib.ticker import PercentFormatter

    style_axes(ax)
    positions = np.arange(1, len(shares) + 1)
    ax.bar(positions, np.cumsum(shares), color=palette(5)[4], width=0.72, alpha=0.75, zorder=2)
    ax.set_ylim(0, 1)
    ax.set_yticks([0, 0.25, 0.5, 0.75, 1])
    ax.grid(axis="y", color=LIGHT, linewidth=0.5, alpha=0.7, zorder=0)
    ax.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    ax.set_ylabel("cumulative\nshare")


def _draw_choices(ax: Axes, verdicts: Sequence[Any], shown: int) -> None:
    """One line per rule, so that markers never overlap."""
    style_axes(ax)
    ordered = sorted(verdicts, key=lambda verdict: verdict.k)
    color = palette(6)[5]
    for line, verdict in enumerate(ordered):
        ax.axhline(line, color=LIGHT, linewidth=0.5, alpha=0.7, zorder=0)
        beyond = verdict.k > shown
        ax.plot(shown if beyond else verdict.k, line, color=color, marker=">" if beyond else "o", markersize=6)
        right = verdict.k < 0.9 * shown
        ax.annotate(
            str(verdict.k),
            (min(verdict.k, shown), line),
            xytext=(7 if right else -7, 0),
            textcoords="offset points",
            ha="left" if right else "right",
            va="center_baseline",
            fontsize=SMALL,
            color=INK,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.8},
        )
    ax.set_yticks(range(len(ordered)))
    ax.set_yticklabels([shorten(str(verdict.rule), 24) for verdict in ordered], color=FADED, parse_math=False)
    ax.set_ylim(len(ordered) - 0.4, -0.6)
    ax.spines["left"].set_visible(False)
    ax.tick_params(axis="y", length=0)
