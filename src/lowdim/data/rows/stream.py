"""Rows of a stream of chunks, and `open_rows`, which opens rows of any source."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any

import narwhals as nw
import numpy as np
import scipy.sparse as sp

from lowdim.data.rows.base import Array, Block, Chunk, DerivedRows, Rows
from lowdim.data.rows.checks import checked_csr, memory_aligned
from lowdim.data.rows.in_memory import ArrayRows, SparseRows, as_frame, frame_rows
from lowdim.errors import BadInput, BadInputType
from lowdim.runtime.memory import require_memory

__all__ = ["CountedRows", "StreamRows", "is_stream", "joined_blocks", "open_rows"]


class StreamRows(Rows):
    """Rows of an iterator of chunks (arrays, sparse matrices or dataframes), or of a function that returns one.

    A labeled stream has chunks (X, y), and the chunks of its rows carry their y.
    """

    def __init__(self, source: Any, labeled: bool = False) -> None:
        self.labeled = labeled
        self._restart = source if callable(source) else None
        self._iterator = _chunks_of(source)
        self._opened: list[Part] | None  # parts that were taken from the stream, and not read yet
        try:
            self.first, opened = _next_chunk(self._iterator, 0, labeled)
        except StopIteration:
            raise BadInput(
                "the stream of chunks is empty: it has no rows. An iterator is read once: to fit and then to "
                "transform, give a function that returns a new one."
            ) from None
        self._opened, rows = [opened], opened.rows
        self.n, self.d, self.dtype, self.sparse = None, rows.d, rows.dtype, rows.sparse

    @property
    def restarts(self) -> bool:
        """Whether the stream can be read more than once."""
        return self._restart is not None

    def targets(self) -> Array:
        """The targets of all rows of a labeled stream: a pass of its own."""
        parts = [part.targets(0, part.rows.count) for part in self._parts()]
        try:
            return np.concatenate([part for part in parts if part is not None])
        except ValueError as error:
            raise BadInput(f"the chunks of the stream have targets of different shapes: {error}.") from error

    def block(self, start: int, stop: int) -> Block:
        raise BadInput("a stream can be read in order only. Pass an array, a memory map or a file.")

    def whole(self) -> Block:
        raise BadInput(
            "this method needs all rows at once, but a stream gives them chunk by chunk. Pass an array, a memory map "
            "or a file, or use a method that streams."
        )

    def _parts(self) -> Iterator[Part]:
        if self._opened is None:
            if self._restart is None:
                raise BadInput(
                    "the stream of chunks is exhausted, but a second pass is needed. "
                    "Pass a function that returns a new iterator."
                )
            self._iterator, seen = _chunks_of(self._restart), 0
        else:
            opened, self._opened = self._opened, None
            yield from opened
            seen = len(opened)
        for number in count(seen):
            try:
                part = _next_chunk(self._iterator, number, self.labeled)[1]
            except StopIteration:
                return
            if part.rows.d != self.d:
                raise BadInput(
                    f"a chunk has {part.rows.d} columns, but the first has {self.d}; all must have the same number."
                )
            yield part

    def if_fewer(self, most: int) -> tuple[Rows, Array | None] | None:
        """All rows in memory, and their targets, if there are fewer than `most`; else None, and nothing is lost."""
        taken: list[Part] = []
        n = 0
        for part in self._parts():
            n += part.rows.count
            if n >= most:
                self._opened = [*taken, part]
                return None
            needed = 2 * n * self.d * self.dtype.itemsize
            require_memory(needed, f"holding {n} rows × {self.d} columns of a stream", "Give a file, or use krylov.")
            own = _copied(part.rows.block(0, part.rows.count), self.dtype, self.sparse)
            taken.append(Part(open_rows(own), part.targets(0, part.rows.count)))
        whole = joined_blocks([part.rows.block(0, part.rows.count) for part in taken])
        return open_rows(whole), _joined([part.y for part in taken])

    def counted(self) -> CountedRows:
        """The same rows with their number, which a pass tells; the stream must restart."""
        return CountedRows(self, sum(part.rows.count for part in self._parts()))

    def chunks(self, size: int | None = None) -> Iterator[Chunk]:
        """Blocks of the sizes that those of an array have.

        They are copied while the stream waits, so that it may reuse its memory for the next chunk.
        """
        start = 0
        for block, y in self._blocks(size or self.chunk_rows):
            stop = start + block.shape[0]
            yield Chunk(start, stop, lambda block=block: block, y)  # type: ignore[misc]
            start = stop

    def _blocks(self, size: int) -> Iterator[tuple[Block, Array | None]]:
        pieces: list[Block] = []
        targets: list[Array | None] = []
        missing = size
        for part in self._parts():
            at = 0
            while at < part.rows.count:
                take = min(missing, part.rows.count - at)
                pieces.append(_copied(part.rows.block(at, at + take), self.dtype, self.sparse))
                targets.append(part.targets(at, at + take))
                at, missing = at + take, missing - take
                if not missing:
                    yield joined_blocks(pieces), _joined(targets)
                    pieces, targets, missing = [], [], size
        if pieces:
            yield joined_blocks(pieces), _joined(targets)


class CountedRows(DerivedRows):
    """Rows of a stream that restarts, of known number: methods that read rows several times take them like a file."""

    def __init__(self, source: StreamRows, n: int) -> None:
        self.source, self.n, self.d, self.dtype, self.sparse = source, n, source.d, source.dtype, source.sparse

    def derive(self, block: Block) -> Block:
        return block

    def chunks(self, size: int | None = None) -> Iterator[Chunk]:
        stop = 0
        for chunk in super().chunks(size):
            stop = chunk.stop
            if stop > self.count:
                break
            yield chunk
        if stop != self.count:
            raise BadInput(
                f"the stream gave {self.count} rows in its first pass, and {'more' if stop > self.count else stop} "
                "now. Every iterator that the function returns must give the same rows."
            )

    def block(self, start: int, stop: int) -> Block:
        needed = (stop - start) * self.d * self.dtype.itemsize
        require_memory(needed, f"{stop - start} rows × {self.d} columns of a stream", "Fit a sample of the rows.")
        pieces = []
        for chunk in self.chunks():
            if start < chunk.stop and chunk.start < stop:
                pieces.append(chunk.load()[max(start - chunk.start, 0) : stop - chunk.start])
            if chunk.stop >= stop:
                break
        return joined_blocks(pieces)


@dataclass(frozen=True)
class Part:
    """A chunk as the stream gave it."""

    rows: Rows
    y: Array | None = None

    def targets(self, start: int, stop: int) -> Array | None:
        """A copy of the targets of rows start…stop, if there are any."""
        return None if self.y is None else self.y[start:stop].copy()


def joined_blocks(pieces: list[Block]) -> Block:
    """Pieces of rows, one below the other, as one block; what a worker sends may lie anywhere in a message."""
    if len(pieces) == 1:
        return checked_csr(pieces[0]) if sp.issparse(pieces[0]) else memory_aligned(pieces[0])
    return sp.csr_array(sp.vstack(pieces, format="csr")) if sp.issparse(pieces[0]) else np.concatenate(pieces)


def _copied(block: Block, dtype: np.dtype[Any], sparse: bool) -> Block:
    if sparse:
        return sp.csr_array(block, dtype=dtype, copy=True)
    return np.array(block.toarray() if sp.issparse(block) else block, dtype=dtype)


def _joined(targets: list[Array | None]) -> Array | None:
    parts = [part for part in targets if part is not None]
    return np.concatenate(parts) if parts else None


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


def _next_chunk(chunks: Iterator[Any], number: int, labeled: bool) -> tuple[Any, Part]:
    """The next chunk of a stream and its rows; errors name the chunk, and the stream's own stay what they are."""
    try:
        chunk = next(chunks)
    except StopIteration:
        raise
    except Exception as error:
        error.add_note(f"Raised by the stream of chunks that was given as X, when it was asked for chunk {number}.")
        raise
    try:
        if not labeled:
            return chunk, Part(_table_of(chunk))
        if not isinstance(chunk, tuple | list) or len(chunk) != 2:
            raise BadInputType(f"got {chunk!r:.60}, but a stream without y must give pairs (X, y)")
        X, y = chunk[0], np.asarray(chunk[1])
        rows = _table_of(X)
        if y.ndim not in (1, 2) or len(y) != rows.count:
            raise BadInput(f"y must have one target per row ({rows.count}); got shape {y.shape}.")
        return X, Part(rows, y)
    except BadInput as error:
        raise type(error)(f"chunk {number} of the stream: {error}") from error


def _table_of(chunk: Any) -> Rows:
    if is_stream(chunk):
        raise BadInputType(f"got {chunk!r:.60}, which is not a table")
    return open_rows(chunk)
