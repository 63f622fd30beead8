"""Input data: a file, or a built-in data set by name."""

from __future__ import annotations

from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np

from lowdim.data import datasets
from lowdim.data.io.column_roles import ColumnSelection, assign_roles, require_column
from lowdim.data.io.read import READ_EXTENSIONS, read_selection
from lowdim.data.table import Table
from lowdim.errors import BadInput, BadInputType

__all__ = ["color_values", "label_vector", "read_columns", "read_data"]


def read_data(data: str, selection: ColumnSelection, color: str | None = None) -> Table:
    """Read a file or a built-in data set; a text column to color by becomes the label."""
    if not _is_built_in(data):
        _require_known(data)
        try:
            return read_selection(data, selection)
        except BadInputType:
            if color is None or selection.label is not None:
                raise
            return read_selection(data, replace(selection, label=color))
    return _select_columns(replace(datasets.load(data), source=data), selection)


def read_columns(data: str, selection: ColumnSelection, names: tuple[str, ...] | None) -> Table:
    """Read the columns of these names, in this order, and ignore the others.

    Where the data or the caller have no names, all columns are read, and the caller compares their number.
    """
    if names is None or selection.columns:
        return read_data(data, selection)
    try:
        return read_data(data, replace(selection, columns=names or None))
    except BadInput as error:
        try:
            table = read_data(data, selection)
        except BadInput:
            raise error from None
        if getattr(table.rows(), "feature_names", None) is not None:
            raise
        return table


def label_vector(table: Table) -> Any:
    """One label per row: the first column, where a data set has several."""
    if table.labels is None or table.labels.ndim == 1:
        return table.labels
    return table.labels[:, 0]


def color_values(table: Table, color: str | None) -> Any:
    """What to color the rows by: the labels, or a numeric column."""
    if color is None or color == table.label_name:
        return label_vector(table)
    labels = () if table.label_name is None else (table.label_name,)
    column = table.names.index(require_column(color, (*table.names, *labels), "--color", table.source))
    return np.concatenate([chunk.load()[:, column] for chunk in table.rows().chunks()])


def _is_built_in(data: str) -> bool:
    return data in datasets.names() and not Path(data).is_file()


def _require_known(data: str) -> None:
    """Raise BadInput for a bare word that is neither a file nor a data set; the readers judge everything else."""
    if Path(data).exists() or Path(data).suffix.lower() in READ_EXTENSIONS or len(Path(data).parts) > 1:
        return
    files = [entry.name for entry in Path().iterdir() if entry.suffix.lower() in READ_EXTENSIONS]
    near = get_close_matches(data, [*datasets.names(), *files], n=3)
    hint = f"Did you mean {' or '.join(near)}?" if near else f"Built-in data sets: {', '.join(datasets.names())}."
    raise BadInput(f"there is no file or built-in data set {data!r}. {hint}")


def _select_columns(table: Table, selection: ColumnSelection) -> Table:
    """The chosen columns of a built-in data set, as `read_table` chooses those of a file."""
    if selection.label == table.label_name:
        selection = replace(selection, label=None)
    if not (selection.columns or selection.drop or selection.id or selection.label):
        return table
    roles = assign_roles(table.names, selection, f"data set {table.source}")
    X, column = table.array(), table.names.index
    selected = replace(table, X=X[:, [column(name) for name in roles.numbers]], names=roles.numbers)
    if len(roles.numbers) < X.shape[1]:
        selected = replace(selected, image_shape=None)
    if roles.label is not None:
        selected = replace(selected, labels=X[:, column(roles.label)], label_name=roles.label)
    return selected if roles.id is None else replace(selected, ids=X[:, column(roles.id)])
