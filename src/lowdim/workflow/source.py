"""DATA: a file, or the name of a built-in data set."""

from __future__ import annotations

from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np

from lowdim.data import datasets
from lowdim.data.io.column_roles import ColumnSelection, assign_roles, require_column
from lowdim.data.io.read import READ_EXTENSIONS, read_selection
from lowdim.data.rows import Rows
from lowdim.data.table import NamedArrayRows, Table
from lowdim.errors import BadInput, BadInputType

__all__ = ["Asked", "color_values", "flat_labels", "named_rows", "read_named", "read_source"]


@dataclass(frozen=True)
class Asked:
    """What the line says about the columns."""

    label: str | None = None
    id: str | None = None
    drop: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()


def read_source(data: str, asked: Asked, color: str | None = None) -> Table:
    """The table of a file or data set; a column of text to colour by becomes the label."""
    if not _is_built_in(data):
        _require_known(data)
        try:
            return _read_file(data, asked)
        except BadInputType:
            if color is None or asked.label is not None:
                raise
            return _read_file(data, replace(asked, label=color))
    return _picked(replace(datasets.load(data), source=data), asked)


def read_named(data: str, asked: Asked, names: tuple[str, ...] | None) -> Table:
    """The columns that a model knows by name, in its order; the others are left alone.

    Where data or model have no names, all columns are taken, and the caller compares their number.
    """
    if names is None or asked.columns:
        return read_source(data, asked)
    try:
        return read_source(data, replace(asked, columns=names))
    except BadInput as error:
        try:
            table = read_source(data, asked)
        except BadInput:
            raise error from None
        if named_rows(table).feature_names is not None:
            raise
        return table


def named_rows(table: Table) -> Any:
    """The rows, which know the names of their columns."""
    return table.X if isinstance(table.X, Rows) else NamedArrayRows(table.X, table.names)


def flat_labels(table: Table) -> Any:
    """One label a row: the first, where the truth has several coordinates."""
    if table.labels is None or table.labels.ndim == 1:
        return table.labels
    return table.labels[:, 0]


def color_values(table: Table, color: str | None) -> Any:
    """What to colour the rows by: the labels, or a column of numbers."""
    if color is None or color == table.label_name:
        return flat_labels(table)
    beside = () if table.label_name is None else (table.label_name,)
    place = table.names.index(require_column(color, (*table.names, *beside), "--color", table.source))
    return np.concatenate([chunk.load()[:, place] for chunk in named_rows(table).chunks()])


def _is_built_in(data: str) -> bool:
    return data in datasets.names() and not Path(data).is_file()


def _require_known(data: str) -> None:
    """A bare word that is neither a file nor a data set; anything else is judged by whoever reads it."""
    if Path(data).exists() or Path(data).suffix.lower() in READ_EXTENSIONS or len(Path(data).parts) > 1:
        return
    files = [entry.name for entry in Path().iterdir() if entry.suffix.lower() in READ_EXTENSIONS]
    near = get_close_matches(data, [*datasets.names(), *files], n=3)
    hint = f"Did you mean {' or '.join(near)}?" if near else f"Built in are {', '.join(datasets.names())}."
    raise BadInput(f"there is neither a file nor a built-in data set {data!r}. {hint}")


def _read_file(path: str, asked: Asked) -> Table:
    return read_selection(
        path, ColumnSelection.of(asked.columns or None, asked.label, asked.id, asked.drop, flags=True)
    )


def _picked(table: Table, asked: Asked) -> Table:
    """A built-in table with the columns that were asked for, as `read_table` does with a file's."""
    label = None if asked.label == table.label_name else asked.label
    if not (asked.columns or asked.drop or asked.id or label):
        return table
    selection = ColumnSelection.of(asked.columns or None, label, asked.id, asked.drop, flags=True)
    roles = assign_roles(table.names, selection, f"data set {table.source}")
    X, place = table.array(), table.names.index
    picked = replace(table, X=X[:, [place(column) for column in roles.numbers]], names=roles.numbers)
    if len(roles.numbers) < X.shape[1]:
        picked = replace(picked, image_shape=None)
    if roles.label is not None:
        picked = replace(picked, labels=X[:, place(roles.label)], label_name=roles.label)
    return picked if roles.id is None else replace(picked, ids=X[:, place(roles.id)])
