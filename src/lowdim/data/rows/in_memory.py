"""Rows of arrays, memory maps, sparse matrices and dataframes."""

from __future__ import annotations

import mmap
from typing import Any

import narwhals as nw
import numpy as np

from lowdim.data.rows.base import Array, Block, Rows, float_dtype
from lowdim.data.rows.checks import checked_array, checked_csr
from lowdim.errors import BadInput, BadInputType
from lowdim.runtime.threads import interruptible

__all__ = ["ArrayRows", "FrameRows", "SparseRows", "as_frame", "frame_rows"]

LONG_COPY = 64 << 20  # bytes that take some 50 ms

MOST_NAMED = 10  # columns in an error


class ArrayRows(Rows):
    """Rows of a two-dimensional array of any real dtype and order; a memory map is released page by page."""

    def __init__(self, X: Array) -> None:
        self.X = X = checked_array(X)
        self.n, self.d = X.shape
        self.dtype = float_dtype(X.dtype)

    def block(self, start: int, stop: int) -> Block:
        part = self.X[start:stop]
        if isinstance(part, np.memmap):
            block = np.array(part, dtype=self.dtype, order="C", subok=False)
            _release_pages(part)
            return block
        return np.ascontiguousarray(part, dtype=self.dtype)

    def whole(self) -> Block:
        return interruptible(super().whole) if self.X.nbytes > LONG_COPY else super().whole()

    def columns(self, start: int, stop: int) -> Block:
        """Columns start…stop of all rows."""
        part = self.X[:, start:stop]
        if part.dtype == self.dtype and part.strides[1] == self.dtype.itemsize:
            return part
        return np.ascontiguousarray(part, dtype=self.dtype)


class SparseRows(Rows):
    """Rows of a sparse matrix as a CSR one with sorted columns; anything else is converted once."""

    sparse = True

    def __init__(self, X: Any) -> None:
        self.X = checked_csr(X)
        self.converted = X.format != "csr" or not np.may_share_memory(self.X.data, X.data)  # not the caller's arrays
        self.n, self.d = self.X.shape
        self.dtype = float_dtype(X.dtype)

    def block(self, start: int, stop: int) -> Block:
        return self.X[start:stop].astype(self.dtype, copy=False)


class FrameRows(Rows):
    """Rows of a pandas, polars or pyarrow dataframe (through narwhals), converted block by block."""

    def __init__(self, frame: nw.DataFrame[Any]) -> None:
        others = {
            name: _type_name(dtype)
            for name, dtype in frame.schema.items()
            if not (dtype.is_numeric() or dtype == nw.Boolean) or dtype == nw.Decimal
        }
        if others:
            raise BadInputType(_not_numbers(others))
        self.frame = frame
        self.n, self.d = frame.shape
        narrow = self.d > 0 and all(dtype == nw.Float32 for dtype in frame.schema.values())
        self.dtype = np.dtype(np.float32 if narrow else np.float64)
        self._cast = nw.Float32 if narrow else nw.Float64

    def block(self, start: int, stop: int) -> Block:
        frame = self.frame[start:stop]
        try:
            part = frame.select(nw.all().cast(self._cast))
        except ValueError:  # Arrow casts no integer above 2**53, which a float has to round
            arrays = (column.to_arrow().to_numpy(zero_copy_only=False) for column in frame.iter_columns())
            return np.column_stack([np.asarray(array, dtype=self.dtype) for array in arrays])
        values = part.to_numpy()
        if values.dtype == object:  # nulls of Arrow columns in pandas
            values = part.to_native().to_numpy(dtype=self.dtype, na_value=np.nan)
        return np.ascontiguousarray(values, dtype=self.dtype)


def frame_rows(frame: nw.DataFrame[Any]) -> Rows:
    """Rows of a dataframe; pandas' sparse columns stay sparse if all of them are, and 0 is what they do not store."""
    native = frame.to_native()
    dtypes = [d for d in getattr(native, "dtypes", ()) if type(d).__name__ == "SparseDtype"]
    if not dtypes:
        return FrameRows(frame)
    if len(dtypes) == len(frame.columns) and all(d.fill_value == 0 and d.subtype.kind in "fiub" for d in dtypes):
        return SparseRows(native.sparse.to_coo())
    dense = {name: d.subtype for name, d in native.dtypes.items() if type(d).__name__ == "SparseDtype"}
    return FrameRows(nw.from_native(native.astype(dense), eager_only=True))


def as_frame(X: Any) -> Any:
    """X as a narwhals dataframe, whose columns have different names; X itself if it is none."""
    if isinstance(X, np.ndarray):  # narwhals would look for pandas, which loads it
        return X
    try:
        frame = nw.from_native(X, eager_only=True, pass_through=True)
        if isinstance(frame, nw.DataFrame):
            _ = frame.schema
    except nw.exceptions.DuplicateError as error:
        raise BadInput(f"columns have the same name: {' '.join(str(error).split())}. Rename one of them.") from error
    return frame


def _not_numbers(others: dict[str, str]) -> str:
    """All columns that hold no numbers, and what they hold; the first ones of many."""
    kinds = list(dict.fromkeys(others.values()))
    named = [repr(name) if len(kinds) == 1 else f"{name!r} ({kind})" for name, kind in others.items()]
    listed = ", ".join(named[:MOST_NAMED]) + (f" and {len(named) - MOST_NAMED} more" if len(named) > MOST_NAMED else "")
    what = kinds[0] if len(kinds) == 1 else "other values"
    one = len(named) == 1
    return (
        f"{'column' if one else 'columns'} {listed} {'holds' if one else 'hold'} {what}, not numbers. Drop "
        f"{'it' if one else 'them'}, encode {'it' if one else 'them'} as numbers first (one-hot, for instance), or use "
        "FAMD or metric='gower', which take categories."
    )


def _type_name(dtype: Any) -> str:
    text = dtype in (nw.String, nw.Categorical, nw.Enum)
    return "text" if text else "dates" if dtype == nw.Date else f"values of type {dtype}"


def _release_pages(part: np.memmap[Any, Any]) -> None:
    """Release the pages of a file-backed slice, so that a large file does not fill memory."""
    mapped = getattr(part, "_mmap", None)
    # A copy-on-write map (mode "c") would lose the user's changes.
    if mapped is None or part.size == 0 or part.mode not in ("r", "r+") or not hasattr(mmap, "MADV_DONTNEED"):
        return
    base = np.frombuffer(mapped, dtype=np.uint8).__array_interface__["data"][0]
    low, high = np.lib.array_utils.byte_bounds(part)
    start = (low - base) // mmap.PAGESIZE * mmap.PAGESIZE
    mapped.madvise(mmap.MADV_DONTNEED, start, min(high - base, len(mapped)) - start)
