"""Rows through a model that was fitted before, and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lowdim.base.standardized import Standardized
from lowdim.cli.flags import find_method
from lowdim.data.table import Table
from lowdim.errors import BadInput, BadParameter, ModelFileError
from lowdim.knn.graph import Graph
from lowdim.persistence import load
from lowdim.workflow.fit import explained_gaps, refuse_distances
from lowdim.workflow.source import Asked, named_rows, read_named
from lowdim.workflow.standardize import reduction

__all__ = ["WAYS", "load_fitted"]

Names = tuple[str, ...] | None
Sent = tuple[Table, Any, Names]  # what was read, what became of it, and the names of its columns


def load_fitted(path: str) -> Any:
    """The model of a file, which must have been fitted."""
    model = load(path)
    if isinstance(model, Graph):
        raise ModelFileError(f"{path}: this is a graph of neighbours, not a model. Fit a method, and give its file.")
    if not hasattr(model, "n_features_in_"):
        raise ModelFileError(f"{path}: this {type(model).__name__} was saved before it was fitted. Fit it first.")
    return model


def _forth(model: Any, data: str, asked: Asked) -> Sent:
    """Rows onto the map."""
    width = int(model.n_features_in_)
    return *_through(model, model.transform, data, asked, _known_columns(model), width), _axes(model)


def _back(model: Any, data: str, asked: Asked) -> Sent:
    """Coordinates to the space of the data."""
    if not hasattr(model, "inverse_transform"):
        raise BadParameter(
            f"{type(reduction(model)).__name__} has no way back; `lowdim methods` tells which methods have."
        )
    axes = _axes(model)
    sent = _through(model, lambda rows: model.inverse_transform(rows.whole()), data, asked, axes, len(axes))
    return *sent, _known_columns(model)


WAYS: dict[str, Callable[[Any, str, Asked], Sent]] = {"transform": _forth, "inverse": _back}  # by command


def _axes(model: Any) -> tuple[str, ...]:
    return tuple(str(name) for name in model.get_feature_names_out())


def _known_columns(model: Any) -> Names:
    """The names of the columns that the model was fitted on, if they had names."""
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else tuple(str(name) for name in names)


def _through(
    model: Any, work: Callable[[Any], Any], data: str, asked: Asked, names: Names, width: int
) -> tuple[Table, Any]:
    """The table, and work(rows) for its columns of these names, or for all if there are as many as `width`."""
    table = read_named(data, asked, names)
    refuse_distances(table, None if isinstance(model, Standardized) else find_method(type(model).__name__))
    rows = named_rows(table)
    if rows.d != width:
        raise BadInput(
            f"{table.source} has {rows.d} columns to use, and the model needs {width}. "
            "Choose them by --columns or --drop."
        )
    with explained_gaps(rows, table, model, "fit the model with"):
        return table, work(rows)
