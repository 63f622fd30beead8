"""Rows of a stream of chunks, and `open_rows`, which opens rows of any source."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import narwhals as nw
import numpy as np
import scipy.sparse as sp

from lowdim.data.rows.base import Block, Chunk, Rows
from lowdim.data.rows.in_memory import ArrayRows, SparseRows, as_frame, frame_rows
from lowdim.errors import BadInput, BadInputType

__all__ = ["StreamRows", "is_stream", "open_rows"]


class StreamRows(Rows):
    """Rows of an iterator of chunks (arrays, sparse matrices or dataframes), or of a function that returns one."""

    def __init__(self, source: Any) -> None:
        self._restart = source if callable(source) else None
        self._iterator = _chunks_of(source)
        self._opened: Rows | None
        try:
            self.first, opened = _next_chunk(self._iterator, 0)
        except StopIteration:
            raise BadInput(
                "the stream of chunks is empty: there are 0 sample(s). An iterator is read once: to fit and then to "
                "transform, give a function that returns a new one."
            ) from None
        self._opened = opened
        self.n, self.d, self.dtype, self.sparse = None, opened.d, opened.dtype, opened.sparse

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
            self._iterator, seen = _chunks_of(self._restart), 0
        else:
            opened, self._opened = self._opened, None
            yield opened
            seen = 1
        for number in count(seen):
            try:
                part = _next_chunk(self._iterator, number)[1]
            except StopIteration:
                return
            yield part

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
    frame = as_frame(X)
    if isinstance(frame, nw.DataFrame):
        return frame_rows(frame)
    try:
        return ArrayRows(np.asarray(X))
    except (TypeError, OverflowError, ValueError) as error:
        if isinstance(error, BadInput):
            raise
        raise BadInputType(
            f"X must be a table of numbers; got {type(X).__name__}, which can't be one: {error}."
        ) from error


def is_stream(X: Any) -> bool:
    """Whether X is an iterator of chunks or a function that returns one, as opposed to a table."""
    if callable(X) and not hasattr(X, "__array__"):
        return True
    return isinstance(X, Iterator) and not hasattr(X, "shape")


def _chunks_of(source: Any) -> Iterator[Any]:
    try:
        return iter(source() if callable(source) else source)
    except TypeError as error:
        raise BadInputType(
            f"X is {source!r:.60}, which does not give an iterator of chunks ({error}). Give a table, an iterator of "
            "tables, or a function without arguments that returns one."
        ) from error


def _next_chunk(chunks: Iterator[Any], number: int) -> tuple[Any, Rows]:
    """The next chunk of a stream and its rows; errors name the chunk, and the stream's own stay what they are."""
    try:
        chunk = next(chunks)
    except StopIteration:
        raise
    except Exception as error:
        error.add_note(f"Raised by the stream of chunks that was given as X, when it was asked for chunk {number}.")
        raise
    try:
        if is_stream(chunk):
            raise BadInputType(f"got {chunk!r:.60}, which is not a table")
        return chunk, open_rows(chunk)
    except BadInput as error:
        raise type(error)(f"chunk {number} of the stream: {error}") from error


def _cast(load: Callable[[], Block], dtype: np.dtype[Any]) -> Callable[[], Block]:
    return lambda: load().astype(dtype)
