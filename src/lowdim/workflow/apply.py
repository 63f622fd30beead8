"""Apply a fitted model to a table: transform new rows, or map coordinates back to rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from lowdim.base.standardized import Standardized
from lowdim.data.rows import Rows
from lowdim.data.table import Table
from lowdim.errors import BadInput, BadParameter, ModelFileError
from lowdim.knn.graph import Graph
from lowdim.persistence import load
from lowdim.registry import find_method, methods
from lowdim.workflow.fit import naming_nonfinite, require_rows
from lowdim.workflow.source import ColumnChoice, read_columns
from lowdim.workflow.standardize import inner_estimator

__all__ = ["AppliedModel", "apply_inverse", "apply_transform", "load_fitted"]

Names = tuple[str, ...] | None


@dataclass(frozen=True)
class AppliedModel:
    """A table, and what a model made of it."""

    table: Table
    result: Any  # (n, k) coordinates, or (n, d) rows
    names: Names  # of the columns of the result, if they have names


def load_fitted(path: str) -> Any:
    """The model of a file, which must be fitted."""
    model = load(path)
    if isinstance(model, Graph):
        raise ModelFileError(f"{path}: this is a neighbor graph, not a fitted model. Fit a method, and use its file.")
    if not hasattr(model, "n_features_in_"):
        raise ModelFileError(f"{path}: this {type(model).__name__} was saved before it was fitted. Fit it first.")
    return model


def apply_transform(model: Any, data: str, choice: ColumnChoice) -> AppliedModel:
    """Coordinates of the rows of a file or data set."""
    width = int(model.n_features_in_)
    return _apply(model, model.transform, data, choice, (_feature_names(model), width), _axis_names(model))


def apply_inverse(model: Any, data: str, choice: ColumnChoice) -> AppliedModel:
    """Rows in the space of the fitted ones for the coordinates in a file."""
    if not hasattr(model, "inverse_transform"):
        *first, last = (method.name for method in methods() if method.inverse)
        able = f"{', '.join(first)} and {last} can" if first else f"{last} can"
        raise BadParameter(f"{type(inner_estimator(model)).__name__} can't be inverted; {able}.")
    axes = _axis_names(model)

    def invert(rows: Rows) -> Any:
        return model.inverse_transform(rows.whole())

    return _apply(model, invert, data, choice, (axes, len(axes)), _feature_names(model))


def _axis_names(model: Any) -> tuple[str, ...]:
    return tuple(str(name) for name in model.get_feature_names_out())


def _feature_names(model: Any) -> Names:
    """The names of the columns that the model was fitted to, if they had names."""
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else tuple(str(name) for name in names)


def _apply(
    model: Any,
    function: Callable[[Rows], Any],
    data: str,
    choice: ColumnChoice,
    expected: tuple[Names, int],
    result_names: Names,
) -> AppliedModel:
    """Read the expected columns, by name or else by number, and apply the function to them."""
    names, width = expected
    table = read_columns(data, choice, names)
    require_rows(table, None if isinstance(model, Standardized) else find_method(type(model).__name__))
    rows = table.rows()
    if rows.d != width:
        raise BadInput(
            f"{table.source} has {rows.d} columns, but the model needs {width}. Select them by --columns or --drop."
        )
    with naming_nonfinite(rows, table, model, "fit the model with"):
        return AppliedModel(table, function(rows), result_names)
