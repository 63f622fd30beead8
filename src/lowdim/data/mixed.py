"""Tables of numbers and categories: dataframes, arrays of text or objects, and tables of files, column by column."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_array

from lowdim.data.rows import Rows, StreamRows, as_frame, float_dtype, is_stream, unmasked
from lowdim.data.table import Table
from lowdim.data.validation import check_features, owner_name
from lowdim.errors import BadInput, BadInputType, NotEnoughData
from lowdim.runtime.display import count, rows_and_columns

__all__ = ["ColumnCategories", "MixedTable", "factorize", "read_mixed"]

Array = NDArray[Any]

MISSING_TYPES = ("NAType", "NaTType")  # pandas' own marks, beside None and NaN


@dataclass(frozen=True)
class MixedTable:
    """Columns of numbers (float32 or float64) and of anything else, whose values are categories."""

    columns: tuple[Array, ...]  # each (n,): numbers, or objects with None where a value is missing
    names: tuple[str, ...]
    n: int
    dtype: np.dtype[Any]  # float32 if all numbers are

    def is_number(self, j: int) -> bool:
        """Whether column j holds numbers."""
        return self.columns[j].dtype.kind == "f"


@dataclass(frozen=True)
class ColumnCategories:
    """The categories of a column, and the category of each row."""

    values: list[str]  # sorted: numbers by size, then text
    codes: NDArray[np.int64]  # (n,), -1 where the value is missing


def read_mixed(owner: Any, X: Any, *, fitting: bool, min_rows: int = 1) -> MixedTable:
    """The columns of X for an estimator; the features are recorded, or compared with those of the fit."""
    if isinstance(X, str | os.PathLike):
        from lowdim.data.io.read import read_table  # may import pyarrow

        X = read_table(X, encode="categories")
    table = _of_table(owner, X, fitting) if isinstance(X, Table) else _of_frame_or_array(owner, X, fitting)
    d = len(table.columns)
    if d == 0:
        raise BadInput(f"0 feature(s) (shape=({table.n}, 0)) while a minimum of 1 is required by {owner_name(owner)}.")
    if table.n < min_rows:
        raise NotEnoughData(
            f"{owner_name(owner)} needs a minimum of {count(min_rows, 'row')}; got {rows_and_columns(table.n, d)}."
        )
    for j, column in enumerate(table.columns):
        if column.dtype.kind == "f" and np.isinf(column).any():
            row = int(np.argmax(np.isinf(column)))
            raise BadInput(f"Input X contains infinity at row {row}, column {j}, {table.names[j]!r}. Drop such rows.")
    return table


def factorize(column: Array) -> ColumnCategories:
    """The categories of a column: every different value is one; whole numbers have no decimals."""
    if column.dtype.kind == "f":
        missing = np.isnan(column)
        values, codes = np.unique(np.where(missing, 0, column), return_inverse=True)
        used = np.bincount(codes[~missing], minlength=len(values)) > 0
        texts = [_text(value) for value in values[used]]
        return ColumnCategories(texts, np.where(missing, -1, (np.cumsum(used) - 1)[codes]))
    first: dict[str, int] = {}
    codes = np.fromiter((-1 if v is None else first.setdefault(_text(v), len(first)) for v in column), np.int64)
    texts = sorted(first, key=_order)
    place = np.empty(len(texts) + 1, dtype=np.int64)
    place[[first[text] for text in texts]] = np.arange(len(texts))
    place[-1] = -1
    return ColumnCategories(texts, place[codes])


def _of_table(owner: Any, table: Table, fitting: bool) -> MixedTable:
    """The numbers and categories of a table; new ones are brought into the order of the fit by their names."""
    if table.kind == "distances":
        raise BadInput(f"{table.source or 'the table'} holds distances, not rows with columns.")
    if table.rows().sparse:
        raise _sparse(owner, table.source or "the table")
    numbers = np.asarray(table.array())
    columns = dict(zip(table.names, numbers.T.astype(float_dtype(numbers.dtype), order="C"), strict=True))
    for name, values in table.categories.items():
        columns[name] = np.array([value if value != "" else None for value in values.tolist()], dtype=object)
    names, fitted = tuple(columns), getattr(owner, "feature_names_in_", None)
    if fitting:
        owner.n_features_in_, owner.feature_names_in_ = len(names), np.asarray(names, dtype=object)
    elif fitted is not None:
        absent = [name for name in fitted if name not in columns]
        if absent or len(names) != len(fitted):
            raise BadInput(
                f"X has {len(names)} features, but {owner_name(owner)} is expecting {len(fitted)} features as input"
                + (f": there is no column {absent[0]!r}." if absent else ".")
            )
        names = tuple(fitted)
    elif len(names) != owner.n_features_in_:
        raise BadInput(
            f"X has {len(names)} features, but {owner_name(owner)} is expecting {owner.n_features_in_} features."
        )
    return _mixed([columns[name] for name in names], names, len(numbers))


def _sparse(owner: Any, what: str) -> BadInputType:
    return BadInputType(f"{what} is sparse, but {owner_name(owner)} takes columns of categories. Give X.toarray().")


def _of_frame_or_array(owner: Any, X: Any, fitting: bool) -> MixedTable:
    if isinstance(X, Rows):
        X = X.whole()
    if sp.issparse(X):
        raise _sparse(owner, "X")
    if is_stream(X):
        stream = StreamRows(X)
        if stream.sparse:
            raise _sparse(owner, "a chunk of the stream")
        X = _joined(stream)
    frame = as_frame(X)
    if isinstance(frame, nw.LazyFrame):
        raise BadInputType("X is a lazy dataframe; collect it first.")
    if isinstance(frame, nw.DataFrame):
        check_features(owner, X, fitting)
        names = tuple(str(name) for name in frame.columns)
        return _mixed([_series(column) for column in frame.iter_columns()], names, len(frame))
    A = _array(owner, X)
    check_features(owner, A, fitting)
    names = tuple(f"x{j}" for j in range(A.shape[1]))
    if A.dtype.kind in "fiu":
        return _mixed(list(A.T.astype(float_dtype(A.dtype), order="C")), names, len(A))
    return _mixed([_objects(A[:, j]) for j in range(A.shape[1])], names, len(A))


def _joined(stream: StreamRows) -> Array:
    """All chunks of a stream of numbers at once: the categories are known after the last row only."""
    return np.concatenate([chunk.load() for chunk in stream.chunks()])


def _array(owner: Any, X: Any) -> Array:
    """X as a two-dimensional array; lists that mix numbers and text become objects."""
    X = unmasked(X)
    if isinstance(X, list | tuple):
        try:
            X = np.asarray(X) if np.asarray(X).dtype.kind in "biuf" else np.array(X, dtype=object)
        except ValueError as error:  # rows of different lengths
            raise BadInput(f"X is no table: {error}.") from error
    try:
        A = check_array(
            X, dtype=None, ensure_all_finite=False, ensure_min_samples=0, ensure_min_features=0, estimator=owner
        )
    except TypeError as error:
        raise BadInputType(str(error)) from error
    except (ValueError, OverflowError) as error:
        raise BadInput(str(error)) from error
    if A.dtype.kind not in "biufUSO":
        raise BadInputType(f"X holds {A.dtype}, which is neither numbers nor text. Convert it first.")
    return np.asarray(A)


def _series(series: nw.Series[Any]) -> Array:
    """A column of a dataframe: numbers as floats, everything else as objects."""
    if series.dtype.is_numeric() and series.dtype != nw.Decimal:
        values = series.cast(nw.Float64) if series.dtype.is_integer() or series.null_count() else series
        numbers = np.asarray(values.to_numpy())
        return numbers.astype(float_dtype(numbers.dtype) if numbers.dtype.kind == "f" else np.float64)
    return _objects(np.array([*series.to_list(), None], dtype=object)[:-1])


def _objects(column: Array) -> Array:
    """Numbers if every value is one or missing, else objects with None for missing values."""
    values = [None if _is_missing(value) else value for value in column.tolist()]
    known = [value for value in values if value is not None]
    if known and all(isinstance(value, int | float | np.number) and not isinstance(value, bool) for value in known):
        return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
    for value in known:
        if not isinstance(value, str | bytes | bool | np.generic | int | float) and not hasattr(value, "isoformat"):
            raise BadInputType(f"argument must be a string or a number; a cell of X is {value!r:.60}.")
    out = np.empty(len(values), dtype=object)
    out[:] = values
    return out


def _mixed(columns: Sequence[Array], names: tuple[str, ...], n: int) -> MixedTable:
    dtypes = {column.dtype for column in columns if column.dtype.kind == "f"}
    return MixedTable(
        tuple(columns), names, n, np.dtype(np.float32 if dtypes == {np.dtype(np.float32)} else np.float64)
    )


def _is_missing(value: Any) -> bool:
    return value is None or type(value).__name__ in MISSING_TYPES or (isinstance(value, float) and np.isnan(value))


def _text(value: Any) -> str:
    """The name of a category: 3, 3.0 and "3" are one."""
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    text = str(value)
    return text[:-2] if isinstance(value, float | np.floating) and text.endswith(".0") else text


def _order(text: str) -> tuple[int, float, str]:
    try:
        number = float(text)
    except ValueError:
        return 1, 0.0, text
    return (0, number, text) if np.isfinite(number) else (1, 0.0, text)
