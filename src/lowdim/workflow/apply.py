"""Apply a fitted model to a table: transform new rows and draw them, or map coordinates back to rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from lowdim.base.standardized import Standardized
from lowdim.data.categories import unknown_categories
from lowdim.data.io.column_roles import ColumnSelection
from lowdim.data.table import Table
from lowdim.errors import BadInput, BadParameter, ModelFileError
from lowdim.knn.graph import Graph
from lowdim.persistence import SavedMap, load_with_map
from lowdim.plot._new_rows import fitted_map
from lowdim.registry import find_method, methods
from lowdim.workflow.fit import naming_nonfinite, require_rows
from lowdim.workflow.missing import MissingValues, complete_table
from lowdim.workflow.outputs import EmbeddingOutput, embedding_writer
from lowdim.workflow.source import color_values, read_columns
from lowdim.workflow.standardize import inner_estimator

__all__ = ["AppliedModel", "apply_inverse", "apply_transform", "background_map", "load_fitted", "new_rows_writer"]

Names = tuple[str, ...] | None


DROPPED = "Use --missing drop-rows, or a PCA that was fitted with --missing em, which estimates them."


@dataclass(frozen=True)
class AppliedModel:
    """A table, and what a model made of it."""

    table: Table
    result: Any  # (n, k) coordinates, or (n, d) rows
    names: Names  # of the columns of the result, if they have names
    missing: MissingValues | None = None  # None: nothing was missing
    unknown: Mapping[str, Sequence[str]] = field(default_factory=dict)  # by column: categories that the model lacks
    colors: Any = None  # (n,) what to color the rows by
    color_name: str | None = None  # of the column that they come from


def load_fitted(path: str) -> tuple[Any, SavedMap | None]:
    """The model of a file, which must be fitted, and the map of its rows if the file has one."""
    model, saved_map = load_with_map(path)
    if isinstance(model, Graph):
        raise ModelFileError(f"{path}: this is a neighbor graph, not a fitted model. Fit a method, and use its file.")
    if not hasattr(model, "n_features_in_"):
        raise ModelFileError(f"{path}: this {type(model).__name__} was saved before it was fitted. Fit it first.")
    if not hasattr(model, "transform"):
        raise ModelFileError(f"{path}: {type(model).__name__} finds clusters, not coordinates, so it can't transform.")
    return model, saved_map


def apply_transform(
    model: Any, data: str, selection: ColumnSelection, missing: str | None = None, color: str | None = None
) -> AppliedModel:
    """Coordinates of the rows of a file or data set, with the column to color by; None colors as `map`."""
    inner = inner_estimator(model)
    by_em = getattr(inner, "missing", None) == "em"
    if missing not in (None, "drop-rows", "error") and not (missing == "em" and by_em):
        raise BadParameter(
            f"--missing {missing} is not possible here: {type(inner).__name__} was fitted without it. Use drop-rows or "
            "error, or fit PCA with --missing em."
        )
    gower, takes_categories = getattr(inner, "_mixed", False), type(inner)._method.categories
    settings = {"metric": "gower"} if gower else {}
    if gower or takes_categories:
        selection = replace(selection, encode="gower" if gower else "categories")
    table = _read_expected(model, data, selection, _feature_names(model), int(model.n_features_in_))
    method = find_method(type(inner).__name__) if by_em else None
    colors, color_name = color_values(data, table, selection, color)
    if settings:
        complete = complete_table(table, missing, find_method(type(inner).__name__), settings)
    else:
        complete = complete_table(table, missing or ("em" if by_em else "error"), method)
    table = complete.table
    with naming_nonfinite(table.rows(), table, model, DROPPED):
        result = model.transform(table if takes_categories else table.rows())
    unknown = unknown_categories(table.rows(), inner.metric_params_["categories"]) if gower else {}
    shown = complete.rows_of(colors), color_name
    return AppliedModel(table, result, _axis_names(model), complete.missing, unknown, *shown)


def apply_inverse(model: Any, data: str, selection: ColumnSelection) -> AppliedModel:
    """Rows in the space of the fitted ones for the coordinates in a file."""
    if not hasattr(model, "inverse_transform"):
        *first, last = (method.name for method in methods() if method.inverse)
        able = f"{', '.join(first)} and {last} can" if first else f"{last} can"
        raise BadParameter(f"{type(inner_estimator(model)).__name__} can't be inverted; {able}.")
    if len(getattr(model, "category_names_", ())):
        raise BadParameter("coordinates can't be mapped back to columns of text here; model.inverse_transform can.")
    axes = _axis_names(model)
    table = _read_expected(model, data, selection, axes, len(axes))
    with naming_nonfinite(table.rows(), table, None, "Fill or leave out such rows."):
        return AppliedModel(table, model.inverse_transform(table.array()), _feature_names(model))


def background_map(model: Any, saved: SavedMap | None, color_name: str | None) -> SavedMap | None:
    """The map that new rows are drawn on: that of the estimator, or of its file; labels only of the column named.

    Rows without colors are drawn on the labels that the map has.
    """
    kept = fitted_map(model).embedding
    if saved is None:
        return None if kept is None else SavedMap(kept)
    named = color_name is None or color_name == saved.label_name
    labels = saved.labels if named else None
    return SavedMap(saved.embedding, labels, saved.label_name if named else None)


def new_rows_writer(
    path: Path, model: Any, applied: AppliedModel, behind: SavedMap | None, title: str
) -> Callable[[], Any]:
    """What draws the rows that a model was applied to, on the map of those that it was fitted to."""
    inner = inner_estimator(model)
    output = EmbeddingOutput(
        applied.result,
        applied.names or (),
        applied.table,
        applied.colors,
        None,
        title,
        explained_variance_ratio=getattr(inner, "explained_variance_ratio_", None),
        explained=getattr(type(inner), "_explained", "variance"),
        color_name=applied.color_name or (None if behind is None else behind.label_name),
        background=None if behind is None else behind.embedding,
        background_colors=None if behind is None else behind.labels,
    )
    return embedding_writer(path, output)


def _read_expected(model: Any, data: str, selection: ColumnSelection, names: Names, width: int) -> Table:
    """The columns of these names, or all columns if there are as many as expected."""
    table = read_columns(data, selection, names)
    require_rows(table, None if isinstance(model, Standardized) else find_method(type(model).__name__))
    found = table.rows().d + len(table.categories)
    if found != width:
        raise BadInput(
            f"{table.source} has {found} columns, but the model needs {width}. Select them by --columns or --drop."
        )
    return table


def _axis_names(model: Any) -> tuple[str, ...]:
    return tuple(str(name) for name in model.get_feature_names_out())


def _feature_names(model: Any) -> Names:
    """The names of the columns that the model was fitted to, if they had names."""
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else tuple(str(name) for name in names)
