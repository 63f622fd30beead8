"""Validation of inputs: tables of finite numbers, weights, scores. Inputs are never modified."""

from __future__ import annotations

import os
from typing import Any

import narwhals as nw
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_array

from lowdim.data.features import FeatureRecord, check_features, check_file_features, owner_name
from lowdim.data.rows import (
    Chunk,
    Rows,
    StreamRows,
    as_frame,
    first_nonfinite,
    is_stream,
    memory_aligned,
    number_kind,
    open_rows,
    unmasked,
)
from lowdim.data.rows.dask import is_dask, open_dask
from lowdim.data.table import Table, anndata_rows, is_anndata
from lowdim.errors import BadInput, BadInputType, NotEnoughData
from lowdim.runtime.display import count, rows_and_columns

__all__ = [
    "FeatureRecord",
    "check_features",
    "check_weights",
    "has_missing",
    "not_finite_error",
    "overflow_error",
    "owner_name",
    "read_matrix",
    "read_rows",
    "read_rows_for_solver",
    "read_scores",
    "read_table",
    "restarts",
    "underflow_error",
]

MOST_NAMED = 5  # rows in a message


def read_rows(owner: Any, X: Any, *, fitting: bool, min_rows: int = 1, several_passes: bool = False) -> Rows:
    """Rows of X for an estimator, with shape and dtype checked; the features are recorded, or compared with the fit.

    For `several_passes` the rows are counted, and an iterator, which is read once, is refused.

    X may also be the path of a file, which is read by `lowdim.read_table`. Finiteness is checked later, chunk by
    chunk, in the pass that uses the rows. An estimator that compares categories turns text into codes (`_encode_rows`),
    and one that knows how much memory a fit takes refuses too many rows (`_require_fit_memory`).
    """
    if isinstance(X, str | os.PathLike):
        from lowdim.data.io.read import read_table  # may import pyarrow

        X = read_table(X)
    if hasattr(owner, "_encode_rows"):
        X = owner._encode_rows(X, fitting)
    if isinstance(X, Table):
        X = _table_rows(X)
    elif is_anndata(X):
        X = anndata_rows(X)
    elif is_dask(X):
        X = open_dask(X)
    if isinstance(X, Rows):
        rows, named = X, None
    elif is_stream(X):
        stream = StreamRows(X)
        rows, named = stream, stream.first
    else:
        X = _check_table(owner, X)
        rows, named = open_rows(X), X
    if named is not None:
        check_features(owner, named, fitting)
    else:
        check_file_features(owner, rows, fitting)
    if rows.d == 0:
        raise BadInput(f"0 feature(s) (shape=({rows.n}, 0)) while a minimum of 1 is required by {owner_name(owner)}.")
    if several_passes:
        rows = _counted(owner, rows)
    if rows.n is not None and rows.n < min_rows:
        raise NotEnoughData(
            f"{owner_name(owner)} needs a minimum of {count(min_rows, 'row')}; got {rows_and_columns(rows.n, rows.d)}."
        )
    if rows.n is None and fitting and not isinstance(rows, StreamRows) and _needs_target(owner):
        rows.count  # noqa: B018  (a pass over a text file: y must have as many values)
    if fitting and hasattr(owner, "_require_fit_memory"):
        owner._require_fit_memory(rows)
    return rows


def read_rows_for_solver(owner: Any, X: Any, solver: str, *, min_rows: int = 1) -> Rows:
    """Rows to fit by a solver: those of a stream as those of an array, so that "auto" chooses the same one for both.

    A function is read several times. An iterator is read once, which the covariance matrix needs; fewer rows than
    columns, which take no more memory than that matrix, are held.
    """
    rows = read_rows(owner, X, fitting=True, min_rows=min_rows)
    if not isinstance(rows, StreamRows) or solver == "covariance":
        return rows
    if rows.restarts or solver != "auto":
        known = _counted(owner, rows, f"(solver={solver!r})", " Or use solver='covariance'.")
        return read_rows(owner, known, fitting=True, min_rows=min_rows)
    return read_rows(owner, (rows.if_fewer(rows.d) or [rows])[0], fitting=True, min_rows=min_rows)


def restarts(X: Any) -> bool:
    """Whether X is a function that gives chunks of rows again and again."""
    return is_stream(X) and callable(X)


def _counted(owner: Any, rows: Rows, settings: str = "", advice: str = "") -> Rows:
    """Rows of known number that can be read again."""
    if not isinstance(rows, StreamRows):
        rows.count  # noqa: B018  (a pass over a text file)
        return rows
    if not rows.restarts:
        raise BadInput(
            f"{owner_name(owner)}{settings} reads the rows several times, but an iterator of chunks can be read only "
            f"once. Give a function that returns a new iterator, a file, or an array.{advice}"
        )
    return rows.counted()


def _needs_target(owner: Any) -> bool:
    method = getattr(type(owner), "_method", None)
    return method is not None and bool(method.supervised)


def read_scores(Z: Any, n_components: int) -> NDArray[Any]:
    """Scores or embedding coordinates for an inverse transform: finite float32 or float64, one column per component."""
    Z = read_matrix(Z, "Z")
    if Z.shape[1] != n_components:
        raise BadInput(f"Z has {Z.shape[1]} columns, but the model has {n_components} components.")
    return Z


def read_matrix(A: Any, name: str) -> NDArray[Any]:
    """A dense C-ordered matrix of finite numbers in float32 or float64, in memory."""
    if sp.issparse(A):
        raise BadInputType(f"{name} is sparse, but this needs a dense array. Give {name}.toarray().")
    try:
        A = unmasked(A)
        number_kind(np.asarray(A), name)
        return memory_aligned(check_array(A, dtype=[np.float64, np.float32], input_name=name, order="C"))
    except TypeError as error:
        raise BadInputType(str(error)) from error
    except (ValueError, OverflowError) as error:
        raise BadInput(str(error)) from error


def read_table(A: Any, name: str) -> Any:
    """A table of finite numbers, dense as `read_matrix` reads it, or a CSR matrix in float32 or float64."""
    if not sp.issparse(A):
        return read_matrix(A, name)
    rows = open_rows(A)
    if 0 in A.shape:
        raise BadInput(f"{name} must have a row and a column at least; got shape {A.shape}.")
    whole = rows.whole()
    if not np.isfinite(whole.data).all():
        raise not_finite_error(rows, Chunk(0, rows.count, lambda: whole))
    return whole


def check_weights(weights: Any, n: int | None) -> NDArray[np.float64] | None:
    """Sample weights as float64: one per row, finite, not negative, not all zero."""
    if weights is None:
        return None
    try:
        out = number_kind(np.asarray(unmasked(weights)), "sample_weight").astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:  # text, nested or sparse ones
        raise BadInputType(f"sample_weight must have one number per row ({n}); got {weights!r:.60}.") from error
    if out.ndim == 0 and n is not None:
        out = np.full(n, float(out))
    if out.ndim != 1 or (n is not None and len(out) != n):
        raise BadInput(f"sample_weight must have one number per row ({n}); got shape {out.shape}.")
    if not np.isfinite(out).all() or (out < 0).any():
        raise BadInput("sample_weight must be finite and not negative. Use 0 to ignore a row.")
    if not out.any():
        raise BadInput("sample_weight is zero for every row; at least one must be positive.")
    return out


def has_missing(rows: Rows) -> bool:
    """Whether rows have NaN that an estimate can replace; raises BadInput for rows that have no value at all.

    All that can be said of such a row is the mean of the others, where it would be drawn as if it had been observed.
    """
    empty: list[int] = []
    found = False
    for chunk in rows.chunks():
        missing = np.isnan(chunk.load())
        if missing.any():
            found = True
            empty += (chunk.start + np.flatnonzero(missing.all(axis=1))).tolist()
    if empty:
        named = ", ".join(map(str, empty[:MOST_NAMED])) + (", …" if len(empty) > MOST_NAMED else "")
        raise BadInput(
            f"Input X contains NaN alone in {len(empty)} of its rows ({named}): nothing tells where they lie. "
            "Drop them: X[~np.isnan(X).all(axis=1)]."
        )
    return found


def not_finite_error(rows: Rows, chunk: Chunk) -> BadInput:
    """The error for a chunk with NaN or infinity: names the first such value and the remedies."""
    found = first_nonfinite([(chunk.start, chunk.load())])
    if found is None:
        return overflow_error()
    row, column, value = found
    names = getattr(rows, "feature_names", None)
    name = "" if names is None else f", {names[column]!r}"
    return BadInput(
        f"Input X contains NaN or infinity at row {row}, column {column}{name} ({value}). Drop such rows or impute "
        "the values, or use PCA(missing='em'), which handles NaN."
    )


def overflow_error() -> BadInput:
    """The error for finite values whose sums or squares overflow."""
    return BadInput(
        "the values are so large that their squares overflow (above about 1e150 in float64, 1e18 in float32). "
        "Rescale the columns."
    )


def underflow_error() -> BadInput:
    """The error for values that vary, but whose squared deviations underflow to zero."""
    return BadInput(
        "the values vary by so little that their squares underflow (below about 1e-146 in float64, 1e-15 in float32). "
        "Rescale the columns."
    )


def _table_rows(table: Table) -> Rows:
    if table.kind == "distances":
        raise BadInput(
            f"{table.source or 'the table'} holds distances, not rows; pass table.X to a method with "
            "metric='precomputed'."
        )
    return table.rows()


def _check_table(owner: Any, X: Any) -> Any:
    """X as a two-dimensional numeric array, sparse matrix or dataframe; `open_rows` looks into the last two."""
    X = unmasked(X)
    if sp.issparse(X):
        return X
    if type(X) in (np.ndarray, np.memmap) and X.ndim == 2 and X.dtype.kind in "fiub":
        return X  # nothing to convert; scikit-learn would look for dataframes, which loads pandas
    frame = as_frame(X)
    if isinstance(frame, nw.DataFrame):
        return X
    if isinstance(frame, nw.LazyFrame):
        raise BadInputType("X is a lazy dataframe; collect it, or pass its batches as an iterator of chunks.")
    try:
        return check_array(
            X,
            dtype="numeric",
            ensure_all_finite=False,
            ensure_min_samples=0,
            ensure_min_features=0,
            estimator=owner,
        )
    except TypeError as error:
        raise BadInputType(str(error)) from error
    except (ValueError, OverflowError) as error:
        raise BadInput(str(error)) from error
