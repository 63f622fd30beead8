"""Input data: a file, or a built-in data set by name."""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from difflib import get_close_matches
from functools import cache
from glob import has_magic
from pathlib import Path
from typing import Any

import numpy as np

from lowdim.base.estimator import Method
from lowdim.data import datasets
from lowdim.data.io.column_roles import ColumnSelection, assign_roles, require_column
from lowdim.data.io.read import READ_EXTENSIONS, read_selection
from lowdim.data.table import NamedArrayRows, Table
from lowdim.errors import BadInput

STDIN = "-"
MOST_CODES = 50  # different whole numbers of a column that is taken for codes of categories
MAGIC = ((b"PAR1", ".parquet"), (b"ARROW1", ".arrow"), (b"\x93NUMPY", ".npy"), (b"\x1f\x8b", ".csv.gz"))

__all__ = [
    "color_values",
    "column_values",
    "label_vector",
    "read_columns",
    "read_data",
    "read_with_categories",
    "read_with_target",
]


def read_data(data: str, selection: ColumnSelection) -> Table:
    """Read a file, standard input ("-") or a built-in data set."""
    if data == STDIN:
        return replace(read_selection(_stdin_file(), selection), source="standard input")
    if _is_built_in(data):
        return _select_columns(replace(datasets.load(data), source=data, encode=selection.encode), selection)
    _require_known(data)
    return read_selection(data, selection)


def read_with_target(
    data: str, selection: ColumnSelection, target: str | None, color: str | None = None, method: Method | None = None
) -> tuple[Table, Any]:
    """The table without the target column, and the target's values; it is the label if no other is named.

    Without either, text to color by is the label. A method that takes categories gets text as such.
    """
    if method is None or not method.categories:
        return _read_with_target(data, selection, target, color)
    if selection.encode == "drop" and not selection.numeric_only:
        selection = replace(selection, encode="categories")
    table, values = _read_with_target(data, selection, target, color)
    return (_numbers_as_categories(table) if method.categories_only else table), values


def read_with_categories(data: str, selection: ColumnSelection, target: str | None) -> tuple[Table, Any]:
    """The table with text as categories, and the target's values; the label is the one that `read_data` would infer."""
    mixed = replace(selection, encode="categories")
    table, values = _read_with_target(data, mixed, target, None)
    if target is None and selection.label is None and table.names and table.categories:
        inferred = read_data(data, selection).label_name
        if inferred is not None:
            return read_data(data, replace(mixed, label=inferred)), None
    return table, values


def _read_with_target(
    data: str, selection: ColumnSelection, target: str | None, color: str | None
) -> tuple[Table, Any]:
    if target is None:
        table = read_data(data, selection)
        return (_labeled_by(table, color) if selection.label is None else table), None
    if selection.label in (None, target):
        table = _named_by("target", lambda: read_data(data, replace(selection, label=target)))
        values = label_vector(table)
    else:
        without = replace(selection, drop=(*selection.drop, target))
        table = _named_by("target", lambda: read_data(data, without))
        values = column_values(data, table, selection, target, "target")
    # An empty cell is a class that is not known, not one of its own.
    return table, np.where(values == "", None, values) if values.dtype.kind == "U" else values


def _labeled_by(table: Table, name: str | None) -> Table:
    """The table with an annotation as its label; an inferred label becomes an annotation instead."""
    if name is None or name not in table.annotations:
        return table
    annotations = {key: values for key, values in table.annotations.items() if key != name}
    if table.label_name is not None and table.labels is not None:
        annotations[table.label_name] = table.labels
    report = None if table.report is None else replace(table.report, label=None, annotations=tuple(annotations))
    return replace(table, labels=table.annotations[name], label_name=name, annotations=annotations, report=report)


def column_values(data: str, table: Table, selection: ColumnSelection, name: str, flag: str) -> Any:
    """One value per row of any column: a feature, the label, the ids, or one that was left out of the table."""
    if name == table.label_name:
        return label_vector(table)
    if name in table.names:
        column = table.names.index(name)
        return np.concatenate([chunk.load()[:, column] for chunk in table.rows().chunks()])
    for columns in (table.annotations, table.categories):
        if name in columns:
            return columns[name]
    if table.ids is not None and name in (selection.id, table.report.id if table.report else None):
        return table.ids
    if _is_built_in(data):
        whole = datasets.load(data)
        labels = () if whole.label_name is None else (whole.label_name,)
        require_column(name, (*whole.names, *labels), f"--{flag}", data)
        return label_vector(whole) if name == whole.label_name else whole.array()[:, whole.names.index(name)]
    alone = ColumnSelection(table.names[:1], name, None, (), selection.flags)
    path = _stdin_file() if data == STDIN else data
    return label_vector(_named_by(flag, lambda: read_selection(path, alone)))


def color_values(data: str, table: Table, selection: ColumnSelection, color: str | None) -> tuple[Any, str | None]:
    """What to color rows by, and its name: the column that --color names, else the label, else the first category."""
    if color is not None:
        return column_values(data, table, selection, color, "color"), color
    if table.labels is None and table.categories:
        name = next(iter(table.categories))
        return table.categories[name], name
    return label_vector(table), table.label_name


def read_columns(data: str, selection: ColumnSelection, names: tuple[str, ...] | None) -> Table:
    """Read the columns of these names, in this order, and ignore the others.

    Where the data or the caller have no names, all columns are read, and the caller compares their number.
    """
    if names is None or selection.columns:
        return read_data(data, selection)
    try:
        return read_data(data, replace(selection, columns=names or None, names_beside=True))
    except BadInput as error:
        try:
            table = read_data(data, selection)
        except BadInput:
            raise error from None
        if getattr(table.rows(), "feature_names", None) is None:
            return table
        raise BadInput(str(error).removeprefix(f"{selection.spell('columns')}: ")) from None


def _numbers_as_categories(table: Table) -> Table:
    """The table with whole numbers of few values as categories, for a method of categories alone."""
    if table.rows().sparse:
        return table  # which such a method refuses by name
    X = np.asarray(table.array())
    coded = [j for j in range(X.shape[1]) if _is_code(X[:, j])]
    rest = [table.names[j] for j in range(X.shape[1]) if j not in coded]
    texts = {table.names[j]: _as_text(X[:, j]) for j in coded}
    report = table.report
    if report is not None:
        reason = "measurements; FAMD takes them"
        left = (*report.left_out, *((name, reason) for name in rest))
        report = replace(report, numbers=(), years=(), left_out=left, categories=(*texts, *report.categories))
    rows = NamedArrayRows(np.empty((len(X), 0)), ())
    return replace(table, X=rows, names=(), categories={**texts, **table.categories}, report=report)


def _is_code(values: Any) -> bool:
    known = values[~np.isnan(values)]
    return bool((known == np.rint(known)).all()) and len(np.unique(known)) <= MOST_CODES


def _as_text(values: Any) -> Any:
    return np.array(["" if np.isnan(value) else f"{value:.0f}" for value in values])


def label_vector(table: Table) -> Any:
    """One label per row: the first column, where a data set has several."""
    if table.labels is None or table.labels.ndim == 1:
        return table.labels
    return table.labels[:, 0]


def _named_by(flag: str, read: Callable[[], Table]) -> Table:
    """Read a selection in which `flag` named a column; an error about that column names the flag."""
    try:
        return read()
    except BadInput as error:
        for stand_in in ("--label: ", "--drop: "):
            if str(error).startswith(stand_in):
                raise BadInput(f"--{flag}: {str(error).removeprefix(stand_in)}") from error
        raise


@cache
def _stdin_file() -> str:
    """Standard input as a file, which is removed when Python ends; its first bytes tell the format."""
    stream = sys.stdin.buffer
    head = stream.read(8)
    extension = next((ending for magic, ending in MAGIC if head.startswith(magic)), ".csv")
    handle, path = tempfile.mkstemp(suffix=extension)
    atexit.register(Path(path).unlink, missing_ok=True)
    with os.fdopen(handle, "wb") as file:
        file.write(head)
        shutil.copyfileobj(stream, file)
    return path


def _is_built_in(data: str) -> bool:
    return data in datasets.names() and not Path(data).is_file()


def _require_known(data: str) -> None:
    """Raise BadInput for a bare word that is neither a file nor a data set; the readers judge everything else."""
    if (
        Path(data).exists()
        or has_magic(data)
        or Path(data).suffix.lower() in READ_EXTENSIONS
        or len(Path(data).parts) > 1
    ):
        return
    files = [entry.name for entry in Path().iterdir() if entry.suffix.lower() in READ_EXTENSIONS]
    near = get_close_matches(data, [*datasets.names(), *files], n=3)
    hint = f"Did you mean {' or '.join(near)}?" if near else f"Built-in data sets: {', '.join(datasets.names())}."
    raise BadInput(f"there is no file or built-in data set {data!r}. {hint}")


def _select_columns(table: Table, selection: ColumnSelection) -> Table:
    """The chosen columns of a built-in data set, as `read_table` chooses those of a file."""
    if selection.label == table.label_name:
        selection = replace(selection, label=None)
    if table.label_name in selection.drop:
        kept = tuple(name for name in selection.drop if name != table.label_name)
        table, selection = replace(table, labels=None, label_name=None), replace(selection, drop=kept)
    if not (selection.columns or selection.drop or selection.id or selection.label):
        return table
    where = f"data set {table.source}" + (f" (labels {table.label_name!r})" if table.label_name is not None else "")
    roles = assign_roles(table.names, selection, where)
    X, column = table.array(), table.names.index
    selected = replace(table, X=X[:, [column(name) for name in roles.numbers]], names=roles.numbers)
    if len(roles.numbers) < X.shape[1]:
        selected = replace(selected, image_shape=None)
    if roles.label is not None:
        selected = replace(selected, labels=X[:, column(roles.label)], label_name=roles.label)
    return selected if roles.id is None else replace(selected, ids=X[:, column(roles.id)])
