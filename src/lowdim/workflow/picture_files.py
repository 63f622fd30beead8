"""Files of pictures: figures by Matplotlib, pages by Bokeh. A process that only writes them imports no more than this.

Imports `plot` and what it needs; neither the methods nor scikit-learn.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lowdim.runtime.command_process import (
    import_without_docstrings,
    import_without_signatures,
    is_command,
)

__all__ = ["PREPARATIONS", "save_figure", "save_page", "save_scatter"]


def _import_for_pages() -> None:
    """Import what a page takes, before there is anything to show."""
    _import_bokeh()
    import bokeh.embed
    import bokeh.plotting  # noqa: F401

    from lowdim.plot import _html_page  # noqa: F401


def _import_for_figures() -> None:
    """Import what a scatter plot in a file takes, before there is anything to draw."""
    _import_matplotlib()
    from matplotlib import font_manager
    from matplotlib.backends import backend_agg  # noqa: F401

    from lowdim.plot import _scatter  # noqa: F401

    font_manager.findfont(font_manager.FontProperties())  # reads the list of fonts


# By the kind of file: what a process imports that will write such files.
PREPARATIONS = {"page": _import_for_pages, "figure": _import_for_figures}


def save_figure(path: Path, draw: Callable[[], Any]) -> None:
    """Save what `draw` returns, Matplotlib's axes or figure; no window is opened."""
    _import_matplotlib()
    from lowdim import plot
    from lowdim.plot._theme import only_files

    with only_files():
        plot.save(draw(), path)


def save_scatter(path: Path, Z: Any, labels: Any, shown: dict[str, Any]) -> None:
    """Save a scatter plot, whose further arguments are `shown`."""
    from lowdim import plot

    save_figure(path, lambda: plot.scatter(Z, labels, **shown))


def save_page(*drawn: Any, **shown: Any) -> None:
    """Save a page, by the arguments of `plot.page`."""
    _import_bokeh()
    from lowdim import plot

    plot.page(*drawn, **shown)


def _import_bokeh() -> None:
    if is_command():
        import_without_signatures()


def _import_matplotlib() -> None:
    # Without a home it logs where it keeps its cache, which is no news about the picture.
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    if is_command():
        import_without_docstrings()
