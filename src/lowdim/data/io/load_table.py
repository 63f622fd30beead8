"""A Table from any source of record batches: features, label, row names, annotations, one-hot columns, categories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.data.categories import CategoricalRows, category_codes
from lowdim.data.io import arrow_source
from lowdim.data.io.arrow_source import RecordBatchRows, TableSource, file_errors, is_number, numbers, pyarrow
from lowdim.data.io.column_roles import ColumnSelection, Roles, require_unique_names
from lowdim.data.io.infer_roles import infer_roles
from lowdim.data.io.text_dialect import missing_words
from lowdim.data.rows import Rows
from lowdim.data.table import ColumnReport, NamedArrayRows, Table, is_distance_matrix
from lowdim.errors import BadInput
from lowdim.runtime.memory import available_bytes, require_memory
from lowdim.runtime.threads import interruptible

__all__ = ["load_table"]

Array = NDArray[Any]

MEMORY_PART = 8  # a table may take this part of the available memory: its parts stand beside it for a moment


def load_table(source: TableSource, selection: ColumnSelection) -> Table:
    """The table of a source: in memory if it is small, else read again in every pass."""
    where = str(source.path)
    require_unique_names(source.names, where)
    known, wanted = _split_encoded(selection, source.names)
    roles = infer_roles(source, known, where)
    roles = replace(roles, encoded=(*roles.encoded, *(name for name in wanted if name not in roles.encoded)))
    rows, names, roles = _features(source, roles, wanted, selection)
    labels, ids = (None if name is None else _values(source, name) for name in (roles.label, roles.id))
    loaded = rows if isinstance(rows, NamedArrayRows) else None
    annotations = {} if loaded is None else {name: _values(source, name) for name in roles.annotations}
    categories = {name: _category_values(source, name) for name in roles.categories}
    for column in (labels, ids, *annotations.values(), *categories.values()):
        if column is not None and rows.n is not None and len(column) != rows.n:
            raise BadInput(f"{where} has columns of {rows.n} and of {len(column)} rows; it is damaged.")
    table = Table(rows, names, labels, roles.label, ids, where, annotations=annotations, categories=categories)
    if selection.columns is not None:
        return table
    if loaded is not None and is_distance_matrix(loaded.whole()):
        return replace(table, kind="distances")
    return replace(table, report=_report(roles, selection, loaded, source.notes))


def _features(
    source: TableSource, roles: Roles, wanted: Mapping[str, Sequence[str]], selection: ColumnSelection
) -> tuple[Rows, tuple[str, ...], Roles]:
    """The rows of the features with their names; of a table in memory, without columns that hold no value."""
    rows = _in_memory(RecordBatchRows(source, roles.numbers)) if roles.numbers else None
    if selection.columns is None and isinstance(rows, NamedArrayRows):
        empty: Array = np.asarray(np.isnan(rows.X).all(axis=0))
        if empty.any() and not empty.all():
            left = tuple(np.asarray(roles.numbers, dtype=object)[empty].tolist())
            roles = replace(
                roles,
                numbers=tuple(name for name in roles.numbers if name not in left),
                left_out=(*roles.left_out, *((name, "no value") for name in left)),
            )
            rows = NamedArrayRows(rows.X[:, ~empty], roles.numbers if source.named else None)
    if rows is None and not roles.encoded:
        n = len(_values(source, roles.categories[0]))
        return NamedArrayRows(np.empty((n, 0)), ()), (), roles
    if not roles.encoded:
        assert rows is not None
        return rows, roles.numbers, roles
    if selection.encode == "gower":
        coded = _with_codes(source, roles, rows)
        return coded, (*roles.numbers, *roles.encoded), roles
    names, columns = list(roles.numbers), [] if rows is None else [rows.whole()]
    for name in roles.encoded:
        indicators = one_hot(_values(source, name), name, wanted.get(name))
        names += indicators
        columns.append(np.column_stack(list(indicators.values())))
    require_memory(8 * len(columns[0]) * len(names), f"{len(names)} columns of {source.path}", "Encode fewer columns.")
    return NamedArrayRows(np.column_stack(columns), tuple(names)), tuple(names), roles


def _with_codes(source: TableSource, roles: Roles, rows: Rows | None) -> CategoricalRows:
    """The numbers, and after them a column of codes for every column of text."""
    columns = [] if rows is None else [rows.whole()]
    categories: list[Sequence[str] | None] = [None] * len(roles.numbers)
    for name in roles.encoded:
        texts = np.asarray(_values(source, name)).astype(str)
        gaps = np.isin(texts, list(missing_words()))
        found = sorted(set(texts[~gaps].tolist()))
        values = texts.astype(object)
        values[gaps] = None
        columns.append(category_codes(values, found)[:, None])
        categories.append(found)
    return CategoricalRows(np.column_stack(columns), (*roles.numbers, *roles.encoded), categories)


def one_hot(values: Array, column: str, wanted: Sequence[str] | None = None) -> dict[str, Array]:
    """One indicator column per value, named column=value; NaN where the value is missing.

    `wanted` are the values that a model knows: others have no column.
    """
    texts = np.asarray(values).astype(str)
    missing = np.isin(texts, list(missing_words()))
    found = sorted(set(texts[~missing].tolist())) if wanted is None else wanted
    return {f"{column}={value}": np.where(missing, np.nan, (texts == value).astype(np.float64)) for value in found}


def _category_values(source: TableSource, name: str) -> Array:
    """A column of categories as text; '' where it is missing."""
    texts = np.asarray(_values(source, name)).astype(str)
    return np.where(np.isin(texts, list(missing_words())), "", texts)


def _split_encoded(selection: ColumnSelection, names: Sequence[str]) -> tuple[ColumnSelection, dict[str, list[str]]]:
    """The selection without one-hot columns, which are named column=value, and their values by column."""
    wanted: dict[str, list[str]] = {}
    plain = []
    for name in selection.columns or ():
        column = next((c for c in names if name not in names and name.startswith(f"{c}=")), None)
        if column is None:
            plain.append(name)
        else:
            wanted.setdefault(column, []).append(name[len(column) + 1 :])
    return (replace(selection, columns=tuple(plain)) if wanted else selection), wanted


def _in_memory(rows: RecordBatchRows) -> Rows:
    """The rows as an array if they are few, for the memory of this process too; else unchanged."""
    row_bytes = rows.d * rows.dtype.itemsize
    available = available_bytes()
    limit = min(arrow_source.IN_MEMORY_BYTES, available // MEMORY_PART if available is not None else 1 << 62)
    if rows.source.large or (rows.n is not None and rows.n * row_bytes > limit):
        return rows
    blocks, size = [], 0
    for chunk in rows.chunks():
        size += (chunk.stop - chunk.start) * row_bytes
        if size > limit:
            return rows
        blocks.append(chunk.load())
    if not blocks:
        raise BadInput(f"{rows.source.path} has columns ({rows.columns[0]!r}, …) but no rows.")
    whole = blocks[0] if len(blocks) == 1 else interruptible(lambda: np.concatenate(blocks))
    return NamedArrayRows(whole, rows.feature_names)


def _values(source: TableSource, name: str) -> Array:
    """A column of labels, ids or annotations: numbers if it holds numbers, else text (nulls become '')."""
    pa = pyarrow()
    column = source.column(name)
    with file_errors(source.path, source.format):
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        if pa.types.is_boolean(column.type) and not column.null_count:
            return np.asarray(column.to_numpy())
        if is_number(column.type):
            return np.concatenate([numbers(part) for part in column.chunks] or [np.empty(0)])
        cells = [cell or "" for cell in column.cast(pa.string()).to_pylist()]
        longest = max(map(len, cells), default=0)
        require_memory(4 * longest * len(cells), f"column {name!r} of {source.path}", "Shorten its longest text.")
        return np.asarray(cells, dtype=str)


def _report(
    roles: Roles, selection: ColumnSelection, rows: NamedArrayRows | None, notes: tuple[str, ...]
) -> ColumnReport:
    constant: tuple[str, ...] = ()
    if rows is not None and rows.n:
        X = rows.X[:, : len(roles.numbers)]
        same = (X[0] == X).all(axis=0)
        constant = tuple(name for name, is_same in zip(roles.numbers, same, strict=True) if is_same)
    return ColumnReport(
        roles.numbers,
        roles.label if selection.label is None else None,
        roles.id if roles.id != selection.id or roles.id == "" else None,  # "": an unnamed first column
        roles.annotations,
        roles.encoded,
        roles.left_out,
        constant,
        notes,
        selection.encode,
        roles.categories,
        tuple(name for name in roles.years if name in roles.numbers),
    )
