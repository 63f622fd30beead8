"""Targets: class labels and numeric responses, one per row, and the rows that they come with."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import DataConversionWarning

from lowdim.data.rows import Chunk, Rows, StreamRows, is_stream, number_kind, unmasked
from lowdim.data.table import Table
from lowdim.data.validation import read_rows, restarts
from lowdim.errors import BadInput, BadInputType

__all__ = [
    "ClassLabels",
    "block_labels",
    "class_labels",
    "numeric_responses",
    "read_supervised",
    "target_array",
    "union_of_classes",
]

Array = NDArray[Any]


@dataclass(frozen=True)
class ClassLabels:
    """The classes that occur, sorted, and the class of each row."""

    classes: Array  # (C,)
    codes: NDArray[np.int32]  # (n,) indices into classes


def read_supervised(owner: Any, X: Any, y: Any, *, fitting: bool = True, min_rows: int = 1) -> tuple[Rows, Any]:
    """Rows of X for an estimator, as `read_rows` gives them, and their target; y is None for a labeled stream.

    Without y, a Table gives its labels, and an iterator must give pairs (X, y), whose chunks of rows carry their y.
    If X is the path of a file, y may be the name of one of its columns.
    """
    if isinstance(X, str | os.PathLike):
        from lowdim.data.io.read import read_table  # may import pyarrow

        by_name = isinstance(y, str)
        X, y = read_table(X, label=y if by_name else None), None if by_name else y
    if y is None and isinstance(X, Table):
        y = X.labels
    if y is None and is_stream(X):
        X = StreamRows(X, labeled=True)
    rows = read_rows(owner, X, fitting=fitting, min_rows=min_rows, several_passes=y is not None and restarts(X))
    labeled = isinstance(rows, StreamRows) and rows.labeled
    if y is None and not labeled:
        raise BadInput(
            f"{type(owner).__name__} requires y to be passed, but the target y is None. Give one class or number per "
            "row: fit(X, y)."
        )
    if y is not None and rows.n is None:
        raise BadInput(
            "y needs a known number of rows, which an iterator does not have. Let it give pairs (X, y), or give a "
            "function that returns a new iterator."
        )
    return rows, y


def _require_classes(labels: Array) -> None:
    """Refuse what scikit-learn would, in its words, without its warning of many classes: a chunk may well have many."""
    decimals = labels.dtype.kind == "f" and not np.array_equal(labels, np.trunc(labels))
    objects = labels.dtype.kind == "O" and not any(isinstance(label, str) for label in labels.tolist())
    if decimals or objects or labels.dtype.kind in "cmMV":
        found = "continuous" if decimals else "unknown"
        raise BadInput(
            f"y does not hold classes (Unknown label type: {found}). Give text or whole numbers; if y is a "
            "measurement, use a method for regression, such as SIR."
        )


def target_array(y: Any) -> Array:
    """The target as an array of any kind and shape."""
    try:
        return np.asarray(unmasked(y))
    except ValueError as error:  # rows of different lengths
        raise BadInput(f"y must have one value per row: {str(error).rstrip('.')}.") from error


def class_labels(y: Any, n: int | None) -> ClassLabels:
    """One class per row: text, whole numbers or booleans. Numbers with decimals and missing labels are refused."""
    labels = _one_dimensional(y, n, "label")
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise BadInput(f"Input y contains NaN or infinity in {_count_nonfinite(labels)}. {_DROP}")
    if labels.dtype.kind == "O":
        missing = sum(label is None or label != label for label in labels.tolist())
        if missing:
            raise BadInput(f"Input y contains NaN or None in {missing} of its {len(labels)} rows. {_DROP}")
    _require_classes(labels)
    try:
        classes, codes = np.unique(labels, return_inverse=True)
    except TypeError as error:
        raise BadInputType(
            f"y mixes kinds of labels that can't be sorted: {error}. Give all of them as text."
        ) from error
    return ClassLabels(classes, codes.reshape(-1).astype(np.int32))


def block_labels(chunk: Chunk, known: ClassLabels | None) -> ClassLabels | None:
    """The classes that occur in a block, and those of its rows: of the chunk of a stream, or of labels of all rows.

    Classes that do not occur are left out in both cases, so that sums over them have the same bits.
    """
    if chunk.y is not None:
        return class_labels(chunk.y, chunk.stop - chunk.start)
    if known is None:
        return None
    codes = known.codes[chunk.start : chunk.stop]
    there = np.bincount(codes, minlength=len(known.classes)) > 0
    if there.all():
        return ClassLabels(known.classes, codes)
    places = np.cumsum(there, dtype=np.int32) - np.int32(1)
    return ClassLabels(known.classes[there], places[codes])


def union_of_classes(a: Any, b: Any) -> Array:
    """The classes of two parts of one table, sorted; text and numbers can't be put together."""
    if (a.dtype.kind in "OU") != (b.dtype.kind in "OU"):
        raise BadInput(f"labels of {a.dtype} and of {b.dtype} can't be put together. Give one kind.")
    return np.union1d(a, b)


def numeric_responses(y: Any, n: int | None) -> NDArray[np.float64]:
    """One or several numbers per row, finite, (n, q)."""
    try:
        values = number_kind(np.asarray(unmasked(y)), "y").astype(np.float64)
    except BadInputType:  # names y already
        raise
    except (TypeError, ValueError, OverflowError) as error:
        raise BadInputType(f"y must hold numbers: {str(error).rstrip('.')}.") from error
    values = values[:, None] if values.ndim == 1 else values
    if values.ndim != 2 or (n is not None and len(values) != n) or values.shape[1] == 0:
        raise BadInput(f"y must have one number, or one row of numbers, per row of X ({n}); got shape {np.shape(y)}.")
    if not np.isfinite(values).all():
        raise BadInput(f"Input y contains NaN or infinity in {_count_nonfinite(values)}. {_DROP}")
    return values


_DROP = "Drop such rows, or give their target."


def _one_dimensional(y: Any, n: int | None, what: str) -> Array:
    values = target_array(y)
    if values.ndim == 2 and values.shape[1] == 1:
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected. Please change the shape of y to "
            "(n_samples,), for example using ravel().",
            DataConversionWarning,
            stacklevel=4,
        )
        values = values.ravel()
    if values.ndim != 1 or (n is not None and len(values) != n):
        raise BadInput(f"y must have one {what} per row ({n}); got shape {values.shape}.")
    return values


def _count_nonfinite(values: Array) -> str:
    finite = np.isfinite(values)
    bad = ~(finite if finite.ndim == 1 else finite.all(axis=1))
    return f"{np.count_nonzero(bad)} of its {len(values)} rows (the first is row {np.argmax(bad)})"
