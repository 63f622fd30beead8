"""Feature selection: the path of a wrapper with its error band, and the rankings of several filters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput, BadParameter
from lowdim.plot._colors import FADED, INK, LIGHT, palette
from lowdim.plot._text import shorten
from lowdim.plot._theme import SMALL, axes_for, caption, name_axes, split_below, style_axes, themed
from lowdim.runtime.param import Integer

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["feature_scores", "rankings", "selection_path"]

Floats = NDArray[np.float64]

MOST_FEATURES = 30  # in a heat map
NAME_WIDTH = 26
TITLES = {
    "f": "F test",
    "fisher": "Fisher",
    "chi2": "χ²",
    "mutual_information": "mutual\ninform.",
    "mrmr": "mRMR",
    "hsic_lasso": "HSIC-\nlasso",
    "relieff": "ReliefF",
    "surf": "SURF",
    "multisurf": "MultiSURF",
    "laplacian": "Laplacian",
}


@themed
def selection_path(
    source: Any, *, ax: Axes | None = None, title: str | None = None, score_name: str = "cross-validated score"
) -> Axes:
    """Draw the score of a wrapper's subsets against their size, with a band of one standard error.

    The selected size is marked, and a dashed line shows the limit of the one-standard-error rule: the smallest subset
    above it is the parsimonious choice. The path is chosen by these scores, so its best is optimistic.

    Parameters
    ----------
    source : a fitted SequentialSelection or RFE
        Its `subsets_` and `cv_scores_` are drawn.
    ax : matplotlib axes, optional
        Where to draw; None makes a new figure.
    title : str, optional
        Above the axes.
    score_name : str
        Name of the vertical axis.

    """
    from matplotlib.ticker import MaxNLocator

    from lowdim.select._wrapper import standard_errors  # imports scikit-learn

    sizes, scores, selected = _path(source)
    means, errors = scores.mean(axis=1), standard_errors(scores)
    ax = axes_for(ax, 6.6, 4.0)
    style_axes(ax)
    color, mark = palette(6)[0], palette(6)[5]
    best = int(np.argmax(means))
    ax.fill_between(sizes, means - errors, means + errors, color=color, alpha=0.2, linewidth=0, zorder=1)
    dots = "o" if len(sizes) <= 60 else None
    ax.plot(
        sizes, means, color=color, marker=dots, markersize=4, label="mean of the folds ± 1 standard error", zorder=3
    )
    limit = means[best] - errors[best]
    ax.axhline(limit, color=FADED, linewidth=0.9, linestyle="--", label="best minus 1 standard error", zorder=2)
    at = int(np.flatnonzero(sizes == selected)[0])
    ax.plot(
        [selected], [means[at]], color=mark, marker="o", markersize=10, fillstyle="none", markeredgewidth=2,
        linestyle="none", label=f"selected: {selected} feature{'' if selected == 1 else 's'}", zorder=4,
    )  # fmt: skip
    ax.xaxis.set_major_locator(MaxNLocator(steps=[1, 2, 5, 10], integer=True))
    ax.grid(axis="y", color=LIGHT, linewidth=0.5, alpha=0.6, zorder=0)
    name_axes(ax, "number of features", score_name)
    ax.legend(loc="best")
    caption(ax, title)
    return ax


@themed
def feature_scores(
    source: Any, *, names: Sequence[str] | None = None, ax: Axes | None = None, title: str | None = None,
    most: int | None = None,
) -> Axes:  # fmt: skip
    """Draw the scores of a filter, or the importances of Boruta, as bars, best first; selected features stand out.

    Parameters
    ----------
    source : a fitted filter, or Boruta
        Its `scores_` or `importances_` are drawn; for Boruta, a dashed line is the mean of the best shadows.
    names : sequence of str, optional
        Names of the features; None takes those of the fit.
    ax : matplotlib axes, optional
        Where to draw; None makes a new figure.
    title : str, optional
        Above the axes.
    most : int, optional
        Number of features to show; None shows at most 30.

    """
    if most is not None and not Integer(1).accepts(most):
        raise BadParameter(f"most must be None or {Integer(1).text}; got {most!r}.")
    scores = getattr(source, "scores_", getattr(source, "importances_", None))
    if scores is None:
        raise BadInput(f"source must be a fitted filter or Boruta; this {type(source).__name__} has no scores.")
    given = getattr(source, "feature_names_in_", None) if names is None else names
    labels = [f"column {j}" for j in range(len(scores))] if given is None else [str(name) for name in given]
    by_rank = np.argsort(source.ranking_) if hasattr(source, "ranking_") else np.argsort(-scores, kind="stable")
    order = by_rank[: most or MOST_FEATURES]
    ax = axes_for(ax, 6.6, 0.9 + 0.24 * len(order))
    style_axes(ax)
    finite = scores[np.isfinite(scores)]
    lengths = np.minimum(scores[order], 1.05 * finite.max() if len(finite) else 1.0)  # an infinite score ends the axis
    colors = [palette(6)[0] if source.support_[j] else LIGHT for j in order]
    ax.barh(range(len(order)), lengths, color=colors, height=0.7, zorder=2)
    if hasattr(source, "shadow_importances_"):
        shadow = float(np.mean(source.shadow_importances_))
        ax.axvline(shadow, color=palette(6)[5], linewidth=1.2, linestyle="--", label="best shadow, mean", zorder=3)
        ax.legend(loc="lower right")
    ax.set_yticks(range(len(order)), [shorten(labels[j], NAME_WIDTH) for j in order], parse_math=False)
    ax.set_ylim(len(order) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="x", color=LIGHT, linewidth=0.5, alpha=0.6, zorder=0)
    name_axes(ax, "score" if hasattr(source, "scores_") else "importance", "")
    selected = f"{np.count_nonzero(source.support_)} of {len(scores)} features selected"
    caption(ax, title, selected + ("" if len(order) == len(scores) else f"; the first {len(order)} are shown"))
    return ax


@themed
def rankings(source: Any, *, ax: Axes | None = None, title: str | None = None, most: int | None = None) -> Axes:
    """Draw the ranks of the features by each filter, with stability and scores of the filters below.

    The axes returned hold a heat map, features by their mean rank and selected ones framed. Below are Nogueira's
    stability index with its confidence interval, and the score with the features selected on all rows (hollow) beside
    that of nested cross-validation (filled): the distance between both is optimism.

    Parameters
    ----------
    source : Comparison
        What `lowdim.select.compare(X, y)` returned.
    ax : matplotlib axes, optional
        Where to draw; None makes a new figure.
    title : str, optional
        Above the axes.
    most : int, optional
        Number of features to show; None shows at most 30.

    """
    if not (hasattr(source, "results") and hasattr(source, "mean_ranking")):
        raise BadInput(f"source must be the result of lowdim.select.compare; got {type(source).__name__}.")
    if most is not None and not Integer(1).accepts(most):
        raise BadParameter(f"most must be None or {Integer(1).text}; got {most!r}.")
    order = source.order[: most or MOST_FEATURES]
    names = [TITLES.get(result.name, shorten(result.name.replace("_", " "), 14)) for result in source.results]
    heights = [max(1.2, 0.22 * len(order)), 0.9, 1.3]
    ax = axes_for(ax, 2.6 + 0.78 * len(names), 1.1 * sum(heights) + 1.1)
    stable, scored = split_below(ax, heights)
    _draw_ranks(ax, source, order)
    _draw_stability(stable, source.results)
    _draw_scores(scored, source)
    for panel in (ax, stable):
        panel.tick_params(labelbottom=False, bottom=False)
    scored.set_xticks(range(len(names)), names, parse_math=False)
    scored.set_xlim(-0.5, len(names) - 0.5)
    note = None if len(order) == len(source.features) else f"the first {len(order)} of {len(source.features)} features"
    caption(ax, title, note)
    return ax


def _draw_ranks(ax: Axes, source: Any, order: NDArray[np.intp]) -> None:
    """A cell per feature and filter: dark for the first ranks, framed if selected."""
    from matplotlib.patches import Rectangle

    style_axes(ax)
    ranks = np.array([result.ranking[order] for result in source.results]).T  # (features, filters)
    shown = np.clip(ranks, 1, max(2 * source.k, 2))
    ax.pcolormesh(
        np.arange(ranks.shape[1] + 1) - 0.5, np.arange(len(order) + 1) - 0.5, shown, cmap="Blues_r",
        edgecolors="white", linewidth=1,
    )  # fmt: skip
    dark = shown < 0.55 * shown.max()
    for i, j in np.ndindex(ranks.shape):
        ax.text(j, i, str(ranks[i, j]), ha="center", va="center", fontsize=SMALL, color="white" if dark[i, j] else INK)
        if source.results[j].support[order[i]]:
            ax.add_patch(
                Rectangle((j - 0.44, i - 0.42), 0.88, 0.84, fill=False, edgecolor=palette(6)[5], linewidth=1.2)
            )
    ax.set_ylim(len(order) - 0.5, -0.5)
    labels = [shorten(str(source.features[j]), NAME_WIDTH) for j in order]
    ax.set_yticks(range(len(order)), labels, parse_math=False)
    ax.tick_params(axis="y", length=0)
    for spine in ax.spines.values():
        spine.set_visible(False)


def _draw_stability(ax: Axes, results: Any) -> None:
    style_axes(ax)
    values = np.array([result.stability.value for result in results])
    reach = np.array([result.stability.high - result.stability.value for result in results])
    ax.errorbar(
        range(len(values)), values, yerr=reach, color=palette(6)[2], marker="o", markersize=4, linestyle="none",
        linewidth=1.4, capsize=2,
    )  # fmt: skip
    ax.axhline(0, color=LIGHT, linewidth=0.8)
    ax.set_ylim(min(-0.05, (values - reach).min()), max(1.05, (values + reach).max()))
    ax.set_ylabel("stability")


def _draw_scores(ax: Axes, source: Any) -> None:
    """Hollow: selected on all rows; filled: selected in each fold."""
    style_axes(ax)
    color = palette(6)[0]
    for i, result in enumerate(source.results):
        outside, nested = result.outside.mean(), result.nested.mean()
        ax.plot([i, i], [outside, nested], color=LIGHT, linewidth=1.5, zorder=1)
        label = "selected on all rows" if i == 0 else None
        ax.plot(i, outside, color=color, marker="o", fillstyle="none", markersize=6, linestyle="none", label=label)
        label = "selected in each fold (nested)" if i == 0 else None
        ax.plot(i, nested, color=color, marker="o", markersize=4, linestyle="none", label=label, zorder=3)
    ax.axhline(source.baseline.mean(), color=FADED, linewidth=0.9, linestyle="--", label="all features")
    ax.grid(axis="y", color=LIGHT, linewidth=0.5, alpha=0.6, zorder=0)
    ax.margins(y=0.15)
    ax.set_ylabel("score")
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.36), ncols=3, fontsize=SMALL)


def _path(source: Any) -> tuple[NDArray[np.int64], Floats, int]:
    """Sizes, scores by fold and the selected size of a fitted wrapper."""
    if not all(hasattr(source, name) for name in ("subsets_", "cv_scores_", "support_")):
        kind = type(source).__name__
        raise BadInput(f"source must be a fitted SequentialSelection or RFE; this {kind} has no path. Call fit first.")
    sizes = np.asarray(source.subsets_).sum(axis=1)
    return sizes, np.asarray(source.cv_scores_, dtype=np.float64), int(np.count_nonzero(source.support_))
