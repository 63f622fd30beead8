"""One look for all pictures, which holds inside a call and nowhere else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from lowdim.errors import BadInputType, MissingExtra
from lowdim.plot._colors import FADED, INK, LIGHT

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "SMALL",
    "axes_for",
    "caption",
    "color_bar",
    "dress",
    "name_axes",
    "new_figure",
    "roomy",
    "shorten",
    "split_below",
    "themed",
]

SMALL = 8.5

_LOOK: dict[str, Any] = {
    "font.size": 10,
    "axes.titlesize": 12,
    "axes.titleweight": "bold",
    "axes.labelsize": 10,
    "axes.labelcolor": INK,
    "axes.edgecolor": LIGHT,
    "axes.linewidth": 0.8,
    "axes.facecolor": "white",
    "axes.grid": False,
    "figure.facecolor": "white",
    "figure.dpi": 110,
    "text.color": INK,
    "text.usetex": False,
    "xtick.color": LIGHT,
    "ytick.color": LIGHT,
    "xtick.labelcolor": FADED,
    "ytick.labelcolor": FADED,
    "xtick.labelsize": SMALL,
    "ytick.labelsize": SMALL,
    "legend.frameon": False,
    "legend.fontsize": 9.5,
    "lines.linewidth": 1.4,
    "lines.solid_capstyle": "round",
}


@contextmanager
def themed() -> Iterator[None]:
    """The look, for everything made inside; as a decorator, for everything that a function makes."""
    matplotlib = need_matplotlib()
    with matplotlib.rc_context(_LOOK):
        yield


def need_matplotlib() -> Any:
    """The module matplotlib, or a word on how to get it."""
    try:
        import matplotlib
    except ImportError as error:
        raise MissingExtra("pictures need matplotlib; install it by pip install 'lowdim[app]'.") from error
    return matplotlib


def new_figure(width: float, height: float) -> Any:
    """An empty figure that makes room for what stands around its axes."""
    from matplotlib import pyplot

    return pyplot.figure(figsize=(width, height), layout="constrained")


def axes_for(ax: Axes | None, width: float = 6.4, height: float = 4.8) -> Axes:
    """The axes given, or new ones on a figure of their own."""
    if ax is None:
        axes: Axes = new_figure(width, height).add_subplot()
        return axes
    if not hasattr(ax, "transData"):
        raise BadInputType(f"ax must be matplotlib axes or None; got {type(ax).__name__}.")
    return ax


def roomy(ax: Axes) -> bool:
    """Whether the figure moves its axes to make room for a legend beside them."""
    figure: Any = ax.get_figure(root=True)
    return figure.get_layout_engine() is not None


def dress(ax: Axes) -> None:
    """Light spines on two sides and short ticks, also on axes that were made under another theme."""
    for side, spine in ax.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_color(LIGHT)
        spine.set_linewidth(0.8)
    ax.tick_params(length=3, width=0.8, color=LIGHT, labelcolor=FADED, labelsize=SMALL)


def caption(ax: Axes, title: str | None, note: str | None = None) -> None:
    """The title, and below it in small type what must be known to read the picture."""
    if note:
        ax.annotate(
            note,
            (0, 1),
            xytext=(0, 5),
            xycoords="axes fraction",
            textcoords="offset points",
            fontsize=SMALL,
            color=FADED,
            parse_math=False,
            annotation_clip=False,
        )
    if title:
        ax.set_title(shorten(str(title), 90), loc="left", pad=20 if note else 7, parse_math=False)


def color_bar(ax: Axes, mapped: Any, label: str = "") -> None:
    """A thin bar beside the axes that says what the colours of `mapped` mean."""
    bar = ax.figure.colorbar(mapped, ax=ax, shrink=0.75, aspect=26, pad=0.02, label=label)
    bar.outline.set_visible(False)


def name_axes(ax: Axes, x: str, y: str) -> None:
    """Axis names as plain text: a $ in a name is a $."""
    ax.set_xlabel(shorten(x, 60), parse_math=False)
    ax.set_ylabel(shorten(y, 60), parse_math=False)


def split_below(ax: Axes, heights: list[float]) -> list[Axes]:
    """Panels below `ax` that share its x axis, taken out of its own room; `heights` begins with that of `ax`."""
    figure, spec = ax.figure, ax.get_subplotspec()
    if spec is not None:
        grid = spec.subgridspec(len(heights), 1, height_ratios=heights)
        ax.set_subplotspec(grid[0])
        return [figure.add_subplot(grid[i], sharex=ax) for i in range(1, len(heights))]
    box, panels = ax.get_position(), []
    unit, top = box.height / sum(heights), box.y1
    for i, height in enumerate(heights):
        place = (box.x0, top - 0.85 * height * unit, box.width, 0.85 * height * unit)
        top -= height * unit
        if i == 0:
            ax.set_position(place)
        else:
            panels.append(figure.add_axes(place, sharex=ax))
    return panels


def shorten(text: str, most: int = 32) -> str:
    """The text on one line, cut with … if it is long."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1] + "…"
