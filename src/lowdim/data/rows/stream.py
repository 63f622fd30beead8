"""Rows of a stream of chunks, and `open_rows`, which opens rows of any source."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import narwhals as nw
import numpy as np
import scipy.sparse as sp

from lowdim.data.rows.base import Block, Chunk, Rows
from lowdim.data.rows.in_memory import ArrayRows, FrameRows, SparseRows
from lowdim.errors import BadInput

__all__ = ["StreamRows", "is_stream", "open_rows"]


class StreamRows(Rows):
    """Rows of an iterator of chunks (arrays, sparse matrices or dataframes), or of a function that returns one."""

    def __init__(self, source: Any) -> None:
        self._restart = source if callable(source) else None
        self._iterator = iter(source() if callable(source) else source)
        try:
            self.first = next(self._iterator)
        except StopIteration:
            raise BadInput("the stream of chunks is empty: there are 0 sample(s).") from None
        self._opened: Rows | None = open_rows(self.first)
        self.n, self.d, self.dtype, self.sparse = (
            None,
            self._opened.d,
            self._opened.dtype,
            self._opened.sparse,
        )

    def block(self, start: int, stop: int) -> Block:
        raise BadInput("a stream can be read in order only. Pass an array, a memory map or a file.")

    def whole(self) -> Block:
        raise BadInput(
            "this solver needs all rows at once, but a stream yields them chunk by chunk. "
            "Use the covariance solver, or pass an array or a memory map."
        )

    def _parts(self) -> Iterator[Rows]:
        if self._opened is None:
            if self._restart is None:
                raise BadInput(
                    "the stream of chunks is exhausted, but a second pass is needed. "
                    "Pass a function that returns a new iterator."
                )
            self._iterator = iter(self._restart())
        else:
            opened, self._opened = self._opened, None
            yield opened
        yield from (open_rows(part) for part in self._iterator)

    def chunks(self) -> Iterator[Chunk]:
        seen = 0
        for part in self._parts():
            if part.d != self.d:
                raise BadInput(
                    f"a chunk has {part.d} columns, but the first has {self.d}; all must have the same number."
                )
            for chunk in part.chunks():
                load = chunk.load if part.dtype == self.dtype else _cast(chunk.load, self.dtype)
                yield Chunk(seen + chunk.start, seen + chunk.stop, load)
            seen += part.count


def open_rows(X: Any) -> Rows:
    """Open rows of an array, sparse matrix, dataframe, stream or list of lists; nothing is copied in advance."""
    if isinstance(X, Rows):
        return X
    if sp.issparse(X):
        return SparseRows(X)
    if isinstance(X, np.ndarray):
        return ArrayRows(X)
    if is_stream(X):
        return StreamRows(X)
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return FrameRows(frame)
    return ArrayRows(np.asarray(X))


def is_stream(X: Any) -> bool:
    """Whether X is an iterator of chunks or a function that returns one, as opposed to a table."""
    if callable(X) and not hasattr(X, "__array__"):
        return True
    return isinstance(X, Iterator) and not hasattr(X, "shape")


def _cast(load: Callable[[], Block], dtype: np.dtype[Any]) -> Callable[[], Block]:
    return lambda: load().astype(dtype)
