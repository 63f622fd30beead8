"""The theme of all figures, applied inside a call only; new figures, captions, axis labels, and saving."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import wraps
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from lowdim.errors import BadInputType, BadParameter, MissingExtra
from lowdim.plot._colors import FADED, INK, LIGHT
from lowdim.plot._text import shorten
from lowdim.runtime.atomic_write import atomic_write

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "SMALL",
    "axes_for",
    "caption",
    "color_bar",
    "has_layout_engine",
    "name_axes",
    "new_figure",
    "only_files",
    "save",
    "split_below",
    "style_axes",
    "themed",
]

P = ParamSpec("P")
T = TypeVar("T")

SMALL = 8.5

_only_files: ContextVar[bool] = ContextVar("lowdim_only_files", default=False)

_THEME: dict[str, Any] = {
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


def themed(draw: Callable[P, T]) -> Callable[P, T]:
    """Apply the theme inside a function that draws on `ax` or `figure`, or on a new figure."""

    @wraps(draw)
    def draw_themed(*args: P.args, **kwargs: P.kwargs) -> T:
        matplotlib = need_matplotlib()
        if kwargs.get("ax") is None and kwargs.get("figure") is None and not _only_files.get():
            _load_backend(matplotlib)
        with matplotlib.rc_context(_THEME):
            return draw(*args, **kwargs)

    return draw_themed


def _load_backend(matplotlib: Any) -> None:
    """Load the backend that pyplot would load with the first figure.

    A backend may set rcParams when it is loaded: that of notebooks switches interactive mode on. Inside rc_context all
    of that would be undone, and no later figure would show.
    """
    from matplotlib import pyplot

    if getattr(pyplot, "_backend_mod", None) is None:
        with suppress(ImportError):  # no display: the figure itself will say so
            pyplot.switch_backend(matplotlib.get_backend())


def need_matplotlib() -> Any:
    """The module matplotlib, or an error that says how to install it."""
    try:
        import matplotlib
    except ImportError as error:
        raise MissingExtra("plots need matplotlib; install it with pip install 'lowdim[app]'.") from error
    return matplotlib


@contextmanager
def only_files() -> Iterator[None]:
    """Let new figures inside be drawn for files alone: no window, no backend, no pyplot, no settings of a user."""
    token = _only_files.set(True)
    try:
        yield
    finally:
        _only_files.reset(token)


def new_figure(width: float, height: float) -> Any:
    """An empty figure with a constrained layout."""
    if _only_files.get():
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        figure = Figure(figsize=(width, height), layout="constrained")
        FigureCanvasAgg(figure)
        return figure
    from matplotlib import pyplot

    return pyplot.figure(figsize=(width, height), layout="constrained")


def axes_for(ax: Axes | None, width: float = 6.4, height: float = 4.8) -> Axes:
    """The given axes, or new ones on a new figure."""
    if ax is None:
        axes: Axes = new_figure(width, height).add_subplot()
        return axes
    if not hasattr(ax, "transData"):
        raise BadInputType(f"ax must be matplotlib axes or None; got {type(ax).__name__}.")
    return ax


def has_layout_engine(ax: Axes) -> bool:
    """Whether the layout engine makes room for a legend beside the axes."""
    figure: Any = ax.get_figure(root=True)
    return figure.get_layout_engine() is not None


def style_axes(ax: Axes) -> None:
    """Light spines on two sides and short ticks, also on axes made under another theme."""
    for side, spine in ax.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_color(LIGHT)
        spine.set_linewidth(0.8)
    ax.tick_params(length=3, width=0.8, color=LIGHT, labelcolor=FADED, labelsize=SMALL)


def caption(ax: Axes, title: str | None, note: str | None = None) -> None:
    """The title and, below it in small type, a note."""
    if note:
        written = ax.annotate(
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
        written.set_in_layout(not title)  # a title makes the room; a long note must not squeeze narrow axes
    if title:
        ax.set_title(shorten(str(title), 90), loc="left", pad=20 if note else 7, parse_math=False)


def color_bar(ax: Axes, mapped: Any, label: str = "") -> Any:
    """A thin color bar beside the axes; beside those of three dimensions, off the labels of the third."""
    pad = 0.13 if ax.name == "3d" else 0.02
    bar = ax.figure.colorbar(mapped, ax=ax, shrink=0.75, aspect=26, pad=pad)
    bar.outline.set_visible(False)
    bar.set_label(shorten(label, 48), parse_math=False)
    return bar


def name_axes(ax: Axes, x: str, y: str) -> None:
    """Axis labels as plain text: $ is not typeset."""
    ax.set_xlabel(shorten(x, 60), parse_math=False)
    ax.set_ylabel(shorten(y, 60), parse_math=False)


def split_below(ax: Axes, heights: list[float]) -> list[Axes]:
    """Panels below `ax` that share its x axis, taken from its own area; `heights` begins with that of `ax`."""
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


def save(ax: Any, path: str | os.PathLike[str], *, dpi: int = 150) -> Path:
    """Write the figure of `ax`, or of an array of axes, by the extension of the path (.png, .svg, …), and close it.

    A path that ends in .html gets a page that works offline: the figure, which zooms and moves, with tooltips.
    """
    first = ax.flat[0] if hasattr(ax, "flat") else ax
    figure: Any = first.get_figure(root=True)
    target = Path(path)
    kind = target.suffix[1:].lower()
    known = {*figure.canvas.get_supported_filetypes(), "html"}
    if kind not in known:
        raise BadParameter(f"path must end in one of {', '.join(sorted(known))}; got {str(path)!r}.")
    buffer = BytesIO()
    if kind == "html":
        from lowdim.plot._figure_page import figure_page

        buffer.write(figure_page(figure).encode())
    else:
        figure.savefig(buffer, format=kind, dpi=dpi)
    with atomic_write(target) as draft:
        draft.write_bytes(buffer.getvalue())
    pyplot: Any = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None:
        pyplot.close(figure)
    return target
