"""Shared checks at the door: what comes in is a table of finite numbers, and is never changed."""

from __future__ import annotations

import os
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_array, validate_data

from lowdim.data.rows import (
    Chunk,
    Rows,
    StreamRows,
    first_nonfinite,
    is_stream,
    open_rows,
)
from lowdim.data.table import Table
from lowdim.errors import BadInput, BadInputType, NotEnoughData

__all__ = ["Reader", "check_weights", "finite_error", "overflow_error", "read_rows", "read_scores", "underflow_error"]


def read_rows(owner: Any, X: Any, *, fitting: bool, min_rows: int = 1) -> Rows:
    """Rows of X for an estimator: shape and dtype checked, feature names and their number remembered.

    X may also be the path of a file, which is read as `lowdim.read_table` does.

    Finiteness is checked chunk by chunk by whoever reads them, in the same pass.
    """
    if isinstance(X, str | os.PathLike):
        from lowdim.data.io.read import read_table  # pyarrow, where it is needed

        X = read_table(X)
    if isinstance(X, Table):
        X = _rows_of_table(X)
    if isinstance(X, Rows):
        rows, named = X, None
    elif is_stream(X):
        stream = StreamRows(X)
        rows, named = stream, stream.first
    else:
        X = _table(owner, X)
        rows, named = open_rows(X), X
    if named is not None:
        _remember_features(owner, named, fitting)
    else:
        _remember_columns(owner, rows, fitting)
    if rows.d == 0:
        raise BadInput(
            f"0 feature(s) (shape=({rows.n}, 0)) while a minimum of 1 is required by {type(owner).__name__}."
        )
    if rows.n is not None and rows.n < min_rows:
        raise NotEnoughData(
            f"Found array with {rows.n} sample(s) (shape=({rows.n}, {rows.d})) while a minimum of {min_rows} "
            f"is required by {type(owner).__name__}."
        )
    return rows


def read_scores(Z: Any, axes: int) -> NDArray[Any]:
    """Scores, or places of a map, that rows are asked for: finite, in float32 or float64, one column an axis."""
    try:
        Z = check_array(Z, dtype=[np.float64, np.float32], input_name="Z")
    except TypeError as error:
        raise BadInputType(str(error)) from error
    except ValueError as error:
        raise BadInput(str(error)) from error
    if Z.shape[1] != axes:
        raise BadInput(f"Z has {Z.shape[1]} columns and the model {axes} components.")
    return np.asarray(Z)


def check_weights(weights: Any, n: int | None) -> NDArray[np.float64] | None:
    """Weights as float64: one a row, finite, not negative, not all zero."""
    if weights is None:
        return None
    out = np.asarray(weights, dtype=np.float64)
    if out.ndim == 0 and n is not None:
        out = np.full(n, float(out))
    if out.ndim != 1 or (n is not None and len(out) != n):
        raise BadInput(f"sample_weight must have one number a row ({n}); got shape {out.shape}.")
    if not np.isfinite(out).all() or (out < 0).any():
        raise BadInput("sample_weight must be finite and not negative; drop the rows that should not count.")
    if not out.any():
        raise BadInput("sample_weight is zero for every row; at least one row must count.")
    return out


def finite_error(rows: Rows, chunk: Chunk) -> BadInput:
    """The error for a chunk with a value that is not finite, with its place and what to do."""
    found = first_nonfinite([(chunk.start, chunk.load())])
    if found is None:
        return overflow_error()
    row, column, value = found
    names = getattr(rows, "feature_names", None)
    name = "" if names is None else f", {names[column]!r}"
    return BadInput(
        f"Input X contains NaN or infinity at row {row}, column {column}{name} ({value}). Drop or fill such rows, "
        "or use PCA(missing='em'), which copes with NaN."
    )


def overflow_error() -> BadInput:
    """The error for finite values whose sums or squares are not."""
    return BadInput(
        "the values are so large that their squares overflow (above about 1e150 in float64, 1e18 in float32). "
        "Rescale the columns."
    )


def underflow_error() -> BadInput:
    """The error for values that differ, and whose squares do not."""
    return BadInput(
        "the values vary by so little that their squares vanish (below about 1e-146 in float64, 1e-15 in float32). "
        "Rescale the columns."
    )


def _rows_of_table(table: Table) -> Rows:
    if table.kind == "distances":
        raise BadInput(
            f"{table.source or 'the table'} holds distances, not rows; give table.X to a method with "
            "metric='precomputed'."
        )
    return table.rows()


def _table(owner: Any, X: Any) -> Any:
    """X as a two-dimensional array, sparse matrix or dataframe that holds numbers."""
    if isinstance(X, np.memmap) and X.ndim == 2 and X.dtype.kind in "fiub":
        return X
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return X
    if isinstance(frame, nw.LazyFrame):
        raise BadInputType("X is a lazy dataframe; collect it, or give its batches as an iterator of chunks.")
    try:
        return check_array(
            X,
            accept_sparse=("csr", "csc", "coo"),
            dtype="numeric",
            ensure_all_finite=False,
            ensure_min_samples=0,
            ensure_min_features=0,
            estimator=owner,
        )
    except TypeError as error:
        raise BadInputType(str(error)) from error
    except ValueError as error:
        raise BadInput(str(error)) from error


class Reader(BaseEstimator):  # type: ignore[misc]
    """Stands in for an estimator where rows are read by a function, and remembers the names of the columns."""


def _remember_columns(owner: Any, rows: Rows, fitting: bool) -> None:
    """The number of columns and, where rows of a file know them, their names: kept, or compared with the fitted."""
    names = getattr(rows, "feature_names", None)
    if fitting:
        owner.n_features_in_ = rows.d
        if names is not None:
            owner.feature_names_in_ = np.asarray(names, dtype=object)
        return
    expected = getattr(owner, "n_features_in_", rows.d)
    if rows.d != expected:
        raise BadInput(
            f"X has {rows.d} features, but {type(owner).__name__} is expecting {expected} features as input."
        )
    fitted = getattr(owner, "feature_names_in_", None)
    if names is None or fitted is None or list(names) == list(fitted):
        return
    place = next(j for j in range(rows.d) if names[j] != fitted[j])
    raise BadInput(
        f"The feature names should match those that were passed during fit: column {place} is {names[place]!r} "
        f"and was {fitted[place]!r}. Read the file with columns=[…] in the fitted order."
    )


def _remember_features(owner: Any, X: Any, fitting: bool) -> None:
    try:
        if not fitting and not hasattr(owner, "n_features_in_"):
            return
        validate_data(owner, X=X, reset=fitting, skip_check_array=True)
    except ValueError as error:
        raise BadInput(str(error)) from error
