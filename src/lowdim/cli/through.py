"""Rows through a model that was fitted before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lowdim.cli.fitting import explained_gaps, refuse_distances
from lowdim.cli.flags import find_method
from lowdim.cli.source import Asked, named_rows, read_named
from lowdim.data.table import Table
from lowdim.errors import BadInput, ModelFileError
from lowdim.models import load
from lowdim.summaries.graph import Graph

__all__ = ["known_columns", "load_fitted", "through"]


def load_fitted(path: str) -> Any:
    """The model of a file, which must have been fitted."""
    model = load(path)
    if isinstance(model, Graph):
        raise ModelFileError(f"{path}: this is a graph of neighbours, not a model. Fit a method, and give its file.")
    if not hasattr(model, "n_features_in_"):
        raise ModelFileError(f"{path}: this {type(model).__name__} was saved before it was fitted. Fit it first.")
    return model


def known_columns(model: Any) -> tuple[str, ...] | None:
    """The names of the columns that the model was fitted on, if they had names."""
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else tuple(str(name) for name in names)


def through(  # (table, result)
    model: Any,
    work: Callable[[Any], Any],
    data: str,
    asked: Asked,
    names: tuple[str, ...] | None,
    width: int,
) -> tuple[Table, Any]:
    """work(rows) for the columns of these names, or for all if there are as many as `width`."""
    table = read_named(data, asked, names)
    refuse_distances(table, find_method(type(model).__name__))
    rows = named_rows(table)
    if rows.d != width:
        raise BadInput(
            f"{table.source} has {rows.d} columns to use, and the model needs {width}. "
            "Choose them by --columns or --drop."
        )
    with explained_gaps(rows, table, model, "fit the model with"):
        return table, work(rows)
