"""Categories as codes: the text and category columns of a table become the numbers of their values.

The codes of new rows are those of the fitted ones; a value that none of these has gets one more than the last code.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from lowdim.data.rows import as_frame
from lowdim.data.table import NamedArrayRows, Table
from lowdim.errors import BadInput, BadInputType

__all__ = ["CategoricalRows", "Categories", "categorical_rows", "category_codes", "unknown_categories"]

Array = NDArray[Any]
Categories = Sequence[Sequence[str] | None]  # by column: the values that codes stand for, None of numbers


class CategoricalRows(NamedArrayRows):
    """Rows in which some columns hold codes of categories."""

    def __init__(
        self, X: Array, names: Sequence[str] | None, categories: Categories, ordered: Sequence[bool] | None = None
    ) -> None:
        super().__init__(X, names)
        self.categories = list(categories)
        self.ordered = [False] * self.d if ordered is None else list(ordered)

    def select(self, *, rows: Array | None = None, columns: Array | None = None) -> CategoricalRows:
        """Some of the rows, or some of the columns, by a mask or by indices."""
        kept = np.arange(self.d) if columns is None else np.arange(self.d)[columns]
        names = None if self.feature_names is None else [self.feature_names[j] for j in kept]
        categories, ordered = [self.categories[j] for j in kept], [self.ordered[j] for j in kept]
        return CategoricalRows(self._part(rows, columns), names, categories, ordered)


def categorical_rows(X: Any, known: Categories | None = None, *, coded: bool = False) -> Any:
    """X with codes in the place of text; X itself if it holds numbers alone.

    `known` are the categories of the fitted rows: without them, those of X. Where there are some, numbers alone are
    refused, unless they may be `coded` already.
    """
    if isinstance(X, Table):
        X = X.rows()
    if isinstance(X, CategoricalRows):
        return X if known is None else _recoded(X, known)
    if isinstance(X, np.ndarray) and X.dtype.kind in "OU" and X.ndim == 2:
        return _encoded(None, list(X.T), known)
    frame = as_frame(X)
    if not isinstance(frame, nw.DataFrame) or not any(_is_text(dtype) for dtype in frame.schema.values()):
        if not coded and known is not None and any(values is not None for values in known):
            raise BadInputType(
                "the model was fitted to columns of text, and X holds numbers alone. Give the same columns."
            )
        return X
    ordered = [_is_ordered(frame[name]) for name in frame.columns]
    return _encoded(frame.columns, [frame[name] for name in frame.columns], known, ordered)


def category_codes(values: Array, categories: Sequence[str]) -> NDArray[np.float64]:
    """Codes of texts, of which None and NaN are missing: NaN; one more than the last code for any other value."""
    places = {value: code for code, value in enumerate(categories)}
    return np.array([np.nan if _is_gap(v) else places.get(str(v), len(places)) for v in values], dtype=np.float64)


def unknown_categories(rows: Any, known: Categories) -> dict[str, list[str]]:
    """The categories of rows, by column, that are not among those of the fitted ones."""
    if not isinstance(rows, CategoricalRows):
        return {}
    names = rows.feature_names or tuple(map(str, range(rows.d)))
    new = (sorted(set(own or ()) - set(fitted or ())) for own, fitted in zip(rows.categories, known, strict=True))
    return {name: values for name, values in zip(names, new, strict=True) if values}


def _encoded(names: Any, columns: list[Any], known: Categories | None, ordered: Sequence[bool] | None = None) -> Any:
    if known is not None and len(known) != len(columns):
        raise BadInput(f"X has {len(columns)} columns, but the model was fitted to {len(known)}.")
    parts: list[Array] = []
    categories: list[Sequence[str] | None] = []
    for j, column in enumerate(columns):
        numbers = _as_numbers(column)
        fitted = None if known is None else known[j]
        if known is not None and (numbers is None) != (fitted is not None):
            told = ("numbers", "text") if fitted is None else ("text", "numbers")
            name = j if names is None else repr(names[j])
            raise BadInputType(f"column {name} held {told[0]} when the model was fitted, and holds {told[1]} now.")
        if numbers is not None:
            parts.append(numbers)
            categories.append(None)
            continue
        values = _plain_values(column)
        found = _categories_of(column, values) if fitted is None else list(fitted)
        parts.append(category_codes(values, found))
        categories.append(found)
    return CategoricalRows(np.column_stack(parts), None if names is None else tuple(names), categories, ordered)


def _recoded(rows: CategoricalRows, known: Categories) -> CategoricalRows:
    """Rows with the codes of the fitted ones, in the place of their own."""
    if len(known) != rows.d:
        raise BadInput(f"X has {rows.d} columns, but the model was fitted to {len(known)}.")
    X = np.array(rows.X, dtype=np.float64)
    for j, (own, fitted) in enumerate(zip(rows.categories, known, strict=True)):
        if (own is None) != (fitted is None):
            told = ("numbers", "text") if fitted is None else ("text", "numbers")
            raise BadInputType(f"column {j} held {told[0]} when the model was fitted, and holds {told[1]} now.")
        if own is not None and fitted is not None and list(own) != list(fitted):
            codes = np.append(category_codes(np.asarray(own, dtype=object), fitted), len(fitted))
            filled = ~np.isnan(X[:, j])
            X[filled, j] = codes[np.minimum(X[filled, j].astype(np.int64), len(own))]
    return CategoricalRows(X, rows.feature_names, known, rows.ordered)


def _as_numbers(column: Any) -> Array | None:
    """A column of numbers or truth values, with NaN for nulls; None for text."""
    if not isinstance(column, nw.Series):
        try:
            return np.array([np.nan if _is_gap(v) else v for v in column], dtype=np.float64)
        except (TypeError, ValueError):
            return None
    dtype = column.dtype
    if dtype.is_numeric() or dtype == nw.Boolean:
        return np.array([np.nan if v is None else v for v in column.to_list()], dtype=np.float64)
    if not _is_text(dtype):
        raise BadInputType(f"column {column.name!r} holds values of type {dtype}. Drop it, or convert it to numbers.")
    if dtype == nw.Object:  # truth values or numbers with gaps
        return _as_numbers(column.to_list())
    return None


def _plain_values(column: Any) -> Array:
    cells = column.cast(nw.String).to_list() if isinstance(column, nw.Series) and column.dtype != nw.Object else column
    return np.array(list(cells), dtype=object)


def _categories_of(column: Any, values: Array) -> list[str]:
    """The declared categories in their order where they have one, else the values found, sorted."""
    if isinstance(column, nw.Series) and _is_ordered(column):
        declared = column.dtype if isinstance(column.dtype, nw.Enum) else column.to_native().dtype
        return [str(value) for value in declared.categories]
    return sorted({str(value) for value in values if not _is_gap(value)})


def _is_gap(value: Any) -> bool:
    return (
        value is None or (isinstance(value, float) and value != value) or type(value).__name__ in ("NAType", "NaTType")
    )


def _is_text(dtype: Any) -> bool:
    return dtype in (nw.String, nw.Categorical, nw.Enum, nw.Object)


def _is_ordered(column: Any) -> bool:
    """Whether the categories have an order: pandas' ordered categories, polars' Enum."""
    if column.dtype == nw.Enum:
        return True
    native = column.to_native()
    return bool(getattr(getattr(native, "dtype", None), "ordered", False))
