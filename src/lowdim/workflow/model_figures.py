"""Figures of a fitted model: loadings, biplot, scree, sufficient summary, sources, index path."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lowdim.base.estimator import Method
from lowdim.data.rows import Rows
from lowdim.data.table import Table
from lowdim.errors import BadInput, BadParameter
from lowdim.runtime.param import parameters
from lowdim.workflow.picture_files import save_figure
from lowdim.workflow.source import label_vector
from lowdim.workflow.standardize import inner_estimator

__all__ = ["MODEL_FIGURES", "ModelFigure", "check_figure", "needs_rows", "settings_for_figure", "write_model_figure"]


@dataclass(frozen=True)
class ModelFigure:
    """What a figure of a model is drawn from."""

    model: Any
    title: str
    table: Table | None = None  # rows, for a biplot
    colors: Any = None  # (n,) of the rows
    color_name: str | None = None
    response: Any = None  # (n,), for a sufficient summary
    response_name: str | None = None


def _biplot(plot: Any, drawn: ModelFigure) -> Any:
    table = _rows_of(drawn, "a biplot")
    inner = inner_estimator(drawn.model)
    if hasattr(inner, "column_coordinates_"):  # CA
        return plot.correspondence_biplot(inner, table.rows(), row_names=table.row_names, title=drawn.title)
    if hasattr(inner, "category_coordinates_"):  # MCA, and FAMD
        return plot.category_map(inner, table, drawn.colors, label_name=drawn.color_name, title=drawn.title)
    named = {"ids": table.row_names, "label_name": drawn.color_name, "title": drawn.title}
    return plot.biplot(drawn.model, table.rows(), drawn.colors, **named)


def _correlation_circle(plot: Any, drawn: ModelFigure) -> Any:
    """Of the rows that a model was fitted to, where it keeps the correlations, or of those that are given."""
    inner = inner_estimator(drawn.model)
    if hasattr(inner, "correlation_loadings_"):
        return plot.correlation_circle(inner, title=drawn.title)
    table = _rows_of(drawn, f"a correlation circle of {type(inner).__name__}")
    return plot.correlation_circle(drawn.model, table.rows(), title=drawn.title)


def _sufficient_summary(plot: Any, drawn: ModelFigure) -> Any:
    table = _rows_of(drawn, "a sufficient summary plot")
    response, name = drawn.response, drawn.response_name
    if response is None:
        response, name = label_vector(table), table.label_name
    if response is None:
        raise BadParameter("a sufficient summary plot needs the response. Name its column by --target.")
    rows = table.rows().whole()
    return plot.sufficient_summary(drawn.model, rows, response, title=drawn.title, response=name)


def _sources(plot: Any, drawn: ModelFigure) -> Any:
    table = _rows_of(drawn, "a plot of sources")
    return plot.sources(drawn.model, table.rows().whole(), title=drawn.title)[0, 0]


def _rows_of(drawn: ModelFigure, what: str) -> Table:
    if drawn.table is None:
        raise BadInput(f"{what} needs rows. Give the data that the model was fitted to, after the model.")
    return drawn.table


def _of_model(name: str, **options: Any) -> Callable[[Any, ModelFigure], Any]:
    return lambda plot, drawn: getattr(plot, name)(_named(drawn.model), title=drawn.title, **options)


def _named(model: Any) -> Any:
    """The method inside `Standardized`, which saw z-scores without names, with the names of their columns."""
    inner, names = inner_estimator(model), getattr(model, "feature_names_in_", None)
    if names is not None and not hasattr(inner, "feature_names_in_"):
        inner = copy(inner)
        inner.feature_names_in_ = names
    return inner


# By the word on the command line.
MODEL_FIGURES: dict[str, Callable[[Any, ModelFigure], Any]] = {
    "biplot": _biplot,
    "loadings": _of_model("loadings"),
    "correlation-circle": _correlation_circle,
    "varimax": _of_model("loadings", rotation="varimax"),
    "scree": _of_model("scree"),
    "sufficient-summary": _sufficient_summary,
    "sources": _sources,
    "index-path": _of_model("index_path"),
}
MOST_EIGENVALUES = 40  # of a scree plot
NEED_ROWS = ("biplot", "correlation-circle", "sufficient-summary", "sources")


def check_figure(kind: str, flag: str, others: tuple[str, ...] = ()) -> None:
    """Raise BadParameter for a word that names no figure."""
    known = (*others, *MODEL_FIGURES)
    if kind not in known:
        raise BadParameter(f"{flag} must be one of {', '.join(known)}; got {kind!r}.")


def needs_rows(kind: str) -> bool:
    """Whether the figure shows rows beside the model, or may be computed from them."""
    return kind in NEED_ROWS


def settings_for_figure(kind: str, method: Method, settings: dict[str, Any], rows: Rows) -> dict[str, Any]:
    """A scree plot shows the spectrum, not the two components of a map, unless their number is given."""
    if kind != "scree" or "n_components" in settings or not parameters(method.cls)["n_components"].domain.accepts(None):
        return settings
    n = rows.n or MOST_EIGENVALUES
    return {**settings, "n_components": None if rows.d <= MOST_EIGENVALUES else min(MOST_EIGENVALUES, n)}


def write_model_figure(path: Path, kind: str, drawn: ModelFigure) -> None:
    """Write a figure of the model to a file."""
    from lowdim import plot

    save_figure(path, lambda: MODEL_FIGURES[kind](plot, drawn))
