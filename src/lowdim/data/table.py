"""Table: numeric columns with their names, and labels and ids of the rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.data.rows import ArrayRows, Rows, SparseRows
from lowdim.errors import BadInput
from lowdim.runtime.display import SummaryDisplay, count, grid, paragraph, titled

__all__ = [
    "ColumnReport",
    "NamedArrayRows",
    "Table",
    "anndata_rows",
    "default_names",
    "is_anndata",
    "is_distance_matrix",
]

Array = NDArray[Any]

MOST_SHOWN_ROWS, MOST_SHOWN_COLUMNS = 5, 12  # of a table in a notebook
SYMMETRY = 1e-8  # relative difference of two entries of a symmetric distance matrix


@dataclass(frozen=True)
class ColumnReport:
    """What became of the columns of a file that were not named as label, id or drop."""

    numbers: tuple[str, ...]  # used as they are
    label: str | None = None  # text with few values, taken as the label
    id: str | None = None  # text or whole numbers that are all different, taken as row names
    annotations: tuple[str, ...] = ()  # text and dates, kept beside the numbers
    encoded: tuple[str, ...] = ()  # text, turned into a column of 0 and 1 per value, or into codes
    left_out: tuple[tuple[str, str], ...] = ()  # name and reason
    constant: tuple[str, ...] = ()  # among the numbers
    notes: tuple[str, ...] = ()  # how the file was read, if not as one would expect
    encoding: str = "one-hot"  # of the encoded columns: one-hot, or gower (codes of categories)
    categories: tuple[str, ...] = ()  # text, kept as categories for a method that takes them
    years: tuple[str, ...] = ()  # calendar years, among the numbers


@dataclass(frozen=True, eq=False, repr=False)
class Table(SummaryDisplay):
    """Numeric data with column names, labels and ids, as `lowdim.read_table` and `lowdim.datasets.load` return it.

    `fit` and `transform` accept a table, whose column names become feature names. They also accept its `X` alone, an
    array or the rows of a file.
    """

    X: Array | Rows  # (n, d)
    names: tuple[str, ...]  # d column names; x0, x1, … if the source has none
    labels: Array | None = None  # (n,), or (n, q) if the ground truth has several coordinates
    label_name: str | None = None
    ids: Array | None = None  # (n,)
    source: str = ""  # a path or a citation
    kind: Literal["rows", "distances"] = "rows"  # distances: X[i, j] is the distance from i to j
    image_shape: tuple[int, ...] | None = None  # of each row, if rows are images
    annotations: Mapping[str, Array] = field(default_factory=dict)  # name to (n,): text and dates beside the numbers
    categories: Mapping[str, Array] = field(default_factory=dict)  # name to (n,): text that is a feature, '' if missing
    report: ColumnReport | None = None  # what became of the columns of a file
    encode: str = "drop"  # what was asked for text: drop, one-hot or gower

    def _summary(self) -> str:
        n = self.rows().n
        if self.kind == "distances":
            size = f"distances between {count(len(self.names), 'row')}"
        else:
            size = f"{'rows of a stream' if n is None else count(n, 'row')} × {count(len(self.names), 'column')}"
        parts = [size] if self.labels is None else [size, f"labels {self.label_name or 'label'!r}"]
        if self.ids is not None:
            parts.append("row names")
        if self.annotations:
            parts.append(f"annotations {', '.join(self.annotations)}")
        return ", ".join(parts) + (f"; {self.source}" if self.source else "")

    def _repr_html_(self) -> str:
        summary = paragraph(self._summary())
        rows = self.rows()
        if not isinstance(rows, ArrayRows):  # a file is not read again to be shown
            return titled("Table", summary, paragraph(", ".join(self.names[:MOST_SHOWN_COLUMNS])))
        shown, more = self.names[:MOST_SHOWN_COLUMNS], len(self.names) - MOST_SHOWN_COLUMNS
        labels = self.labels if self.labels is not None and np.ndim(self.labels) == 1 else None
        beside = [(name, values) for name, values in (("", self.ids), (self.label_name, labels)) if values is not None]
        head = [*(str(name or "label") if name != "" else "" for name, _ in beside), *shown]
        body = [
            [*(str(values[i]) for _, values in beside), *(float(f"{value:.6g}") for value in numbers[: len(shown)])]
            for i, numbers in enumerate(np.asarray(rows.X[:MOST_SHOWN_ROWS]).tolist())
        ]
        tail = [paragraph(f"… and {count(more, 'more column')}")] if more > 0 else []
        return titled("Table", summary, grid(head, body), *tail)

    @property
    def row_names(self) -> Array | None:
        """The ids as names to draw, (n,); None if they only count the rows."""
        ids = self.ids
        if ids is None or np.asarray(ids).dtype.kind not in "iuf":
            return ids
        return None if np.array_equal(ids, np.arange(len(ids)) + ids[:1]) else ids

    def select_rows(self, kept: Array) -> Table:
        """The rows that a mask (n,) or indices select, with their labels, ids and annotations; in memory."""
        labels, ids = (None if part is None else part[kept] for part in (self.labels, self.ids))
        annotations, categories = (
            {name: values[kept] for name, values in columns.items()} for columns in (self.annotations, self.categories)
        )
        X = self.named_rows().select(rows=kept)
        return replace(self, X=X, labels=labels, ids=ids, annotations=annotations, categories=categories)

    def array(self) -> Array:
        """X as one array; raises `MemoryTooSmall` if it does not fit into memory."""
        return self.X.whole() if isinstance(self.X, Rows) else self.X

    def named_rows(self) -> NamedArrayRows:
        """X in memory, as rows with feature names, and with its categories."""
        rows = self.rows()
        return (
            rows
            if isinstance(rows, NamedArrayRows)
            else NamedArrayRows(self.array(), getattr(rows, "feature_names", None))
        )

    def rows(self) -> Rows:
        """X as rows with feature names."""
        return self.X if isinstance(self.X, Rows) else NamedArrayRows(self.X, self.names)


class NamedArrayRows(ArrayRows):
    """Rows of an array or a memory map, with feature names."""

    def __init__(self, X: Array, feature_names: Sequence[str] | None = None) -> None:
        super().__init__(X)
        self.feature_names = None if feature_names is None else tuple(feature_names)

    def select(self, *, rows: Array | None = None, columns: Array | None = None) -> NamedArrayRows:
        """Some of the rows, or some of the columns, by a mask or by indices."""
        names = self.feature_names
        if columns is not None and names is not None:
            names = tuple(np.asarray(names, dtype=object)[columns].tolist())
        return type(self)(self._part(rows, columns), names)

    def _part(self, rows: Array | None, columns: Array | None) -> Array:
        X = self.X if rows is None else self.X[rows]
        return X if columns is None else X[:, columns]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.array(self.X, dtype=dtype, copy=copy, subok=False)


def default_names(d: int) -> tuple[str, ...]:
    """Default column names: x0, x1, …."""
    return tuple(f"x{j}" for j in range(d))


class NamedSparseRows(SparseRows):
    """Rows of a sparse matrix, with feature names."""

    def __init__(self, X: Any, feature_names: tuple[str, ...] | None) -> None:
        super().__init__(X)
        self.feature_names = feature_names


def is_anndata(X: Any) -> bool:
    """Whether X is an annotated matrix; anndata itself is not imported."""
    return all(hasattr(X, part) for part in ("X", "obs", "var_names"))


def anndata_rows(adata: Any) -> Rows:
    """The matrix X of annotated data as rows whose feature names are those of the variables."""
    if adata.X is None:
        raise BadInput("the AnnData has no matrix X. Set adata.X, or give one of its layers.")
    names = tuple(str(name) for name in adata.var_names)
    if sp.issparse(adata.X):
        return NamedSparseRows(adata.X, names)
    return NamedArrayRows(np.asarray(adata.X), names)


def is_distance_matrix(X: Array) -> bool:
    """Square, symmetric, with zeros on the diagonal and nothing negative."""
    n, d = X.shape
    if n != d or n < 3 or np.diagonal(X).any():
        return False
    largest = X.max(initial=0.0)
    return bool(0 < largest < np.inf and X.min() >= 0 and np.abs(X - X.T).max() <= SYMMETRY * largest)
