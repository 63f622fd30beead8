"""What comes in as a table is checked here, once: kinds of numbers, dimensions, masks, indices of sparse matrices.

SciPy's kernels and lowdim's own read the columns that a sparse matrix names without looking at them again, so that one
beyond the matrix would end the process. Nothing that is given is changed; what has to be put in order is copied.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.errors import BadInput, BadInputType

__all__ = ["checked_array", "checked_csr", "number_kind", "unmasked"]

Array = NDArray[Any]

KINDS = {"c": "complex numbers", "S": "bytes", "U": "text", "M": "dates", "m": "time spans", "V": "records"}


def checked_array(X: Array) -> Array:
    """X, if it has two dimensions and holds real numbers; masked values are missing ones, NaN."""
    X = unmasked(X)
    if X.ndim != 2:
        raise BadInput(
            f"Expected 2D array, got {X.ndim}D array instead (shape {X.shape}): a table has rows and columns. Reshape "
            "your data with reshape(-1, 1) if it has one column, or with reshape(1, -1) if it is one row."
        )
    return memory_aligned(number_kind(X))


def memory_aligned(X: Array) -> Array:
    """X, or a copy if its numbers do not begin at multiples of their size, as behind a header of odd length."""
    return X if X.flags.aligned else np.array(X, subok=False)


def number_kind(X: Array, what: str = "X") -> Array:
    """X, if it holds real numbers or booleans; objects are converted to float64 if every one is a number."""
    if X.dtype.kind in "fiub":
        return X
    if X.dtype.kind == "O":
        try:
            return X.astype(np.float64)
        except (TypeError, ValueError, OverflowError) as error:
            raise BadInputType(f"{what} must hold numbers; one can't be converted: {error}.") from error
    raise BadInputType(f"{what} holds {KINDS.get(X.dtype.kind, X.dtype)}, not real numbers. Convert it first.")


def unmasked(X: Any) -> Any:
    """A masked array as a plain one in which masked values are NaN; anything else as it is."""
    if not isinstance(X, np.ma.MaskedArray):
        return X
    if not np.ma.getmaskarray(X).any():
        return X.data
    values = number_kind(X.data).astype(np.float32 if X.dtype in (np.float16, np.float32) else np.float64)
    values[np.ma.getmaskarray(X)] = np.nan
    return values


def checked_csr(X: Any) -> sp.csr_array:
    """A matrix in compressed sparse rows: columns within the matrix, ascending, each at most once in a row.

    Entries of one place are summed, as SciPy defines them. The arrays are those of a sparse X where they are in order.
    """
    if not sp.issparse(X):
        return sp.csr_array(checked_array(np.asarray(unmasked(X))))
    if X.ndim != 2:
        raise BadInput(f"a sparse table has two dimensions; got {X.ndim}.")
    if X.dtype.kind not in "fiub":
        raise BadInputType(
            f"the sparse X holds {KINDS.get(X.dtype.kind, X.dtype)}, not real numbers. Convert it first."
        )
    try:
        csr = _bounded(X)
    except (AttributeError, IndexError, OverflowError, TypeError, ValueError) as error:
        raise BadInput(f"the sparse X is damaged: {error}. Build it again from its entries.") from error
    if csr.dtype == np.float16 or not csr.dtype.isnative:  # which SciPy's kernels do not have
        csr = csr.astype(
            np.float32 if csr.dtype.kind == "f" and csr.dtype.itemsize <= 4 else csr.dtype.newbyteorder("=")
        )
    if not csr.has_canonical_format:
        csr = csr.copy()
        csr.sum_duplicates()
    csr.data, csr.indices, csr.indptr = (memory_aligned(part) for part in (csr.data, csr.indices, csr.indptr))
    return csr


def _bounded(X: Any) -> sp.csr_array:
    """X in compressed sparse rows, all of whose indices are within it."""
    if X.format == "csr":
        return sp.csr_array(_compressed(X, *X.shape))
    if X.format == "csc":
        return sp.csr_array(_compressed(X, *X.shape[::-1]))
    if X.format == "bsr":
        rows, columns = X.blocksize
        return sp.csr_array(_compressed(X, X.shape[0] // rows, X.shape[1] // columns))
    if X.format == "coo":
        for indices, size in zip(X.coords, X.shape, strict=True):
            _require_indices(indices, size)
            if len(indices) != len(X.data):
                raise ValueError("every entry needs a row, a column and a value")
        return sp.csr_array(X)
    return sp.csr_array(_compressed(sp.csr_array(X), *X.shape))


def _compressed(X: Any, lines: int, size: int) -> Any:
    """X, if its pointers ascend from 0 to the entries of `lines` lines, and its indices are in 0 … size - 1."""
    pointers, entries = X.indptr, len(X.data)
    _require_indices(pointers, entries + 1)
    if len(pointers) != lines + 1 or pointers[0] != 0 or (pointers[1:] < pointers[:-1]).any():
        raise ValueError(f"its row pointers must ascend from 0, one for each of {lines} lines and one more")
    if len(X.indices) != entries:
        raise ValueError(f"it has {len(X.indices)} indices for {entries} values")
    _require_indices(X.indices[: pointers[-1]], size)
    return X


def _require_indices(indices: Any, size: int) -> None:
    if not isinstance(indices, np.ndarray) or indices.dtype.kind not in "iu" or indices.ndim != 1:
        raise ValueError("its indices must be one-dimensional arrays of whole numbers")
    if len(indices) and not 0 <= int(indices.min()) <= int(indices.max()) < size:
        raise ValueError(f"its indices must be from 0 to {size - 1}; they are from {indices.min()} to {indices.max()}")
