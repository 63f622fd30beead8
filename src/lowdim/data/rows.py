"""One fold over chunks, wherever the rows live.

`open_rows` turns an array, memory map, sparse matrix, dataframe or stream of chunks into `Rows`:
n rows of d columns that give themselves out in blocks of a size that depends on their shape alone, as
C-ordered float32 or float64, never as one converted copy of the whole. `fold` summarises the
blocks, several at a time, and adds the summaries in the order of the rows.
"""

from __future__ import annotations

import mmap
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import narwhals as nw
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.errors import BadInput, BadInputType
from lowdim.runtime.progress import report
from lowdim.runtime.threads import ordered_map

__all__ = [
    "ArrayRows",
    "Block",
    "Chunk",
    "Rows",
    "SparseRows",
    "StreamRows",
    "fold",
    "is_stream",
    "open_rows",
]

Array = NDArray[Any]
Block = Any  # a C-ordered array or a CSR matrix, of the rows' dtype
Summary = TypeVar("Summary")

CHUNK_BYTES = 24 << 20  # small enough for the cache, large enough for BLAS


def chunk_rows(d: int, itemsize: int = 4) -> int:
    """The most rows in a block of d columns."""
    return max(16, min(1 << 16, CHUNK_BYTES // (itemsize * max(d, 1))))


@dataclass(frozen=True)
class Chunk:
    """Rows start…stop, loaded when asked for (on the thread that works on them)."""

    start: int
    stop: int
    load: Callable[[], Block]


class Rows(ABC):
    """n rows of d columns; n is None for a stream until it has been read."""

    n: int | None
    d: int
    dtype: np.dtype[Any]
    sparse = False

    def chunks(self) -> Iterator[Chunk]:
        """The rows, in order, in an even number of nearly equal blocks (or one).

        Their size depends on the shape and dtype alone, never on the threads, so results don't either.
        """
        n = self.count
        pieces = -(-n // self.chunk_rows)
        pieces += pieces % 2 if pieces > 1 else 0
        size = -(-n // max(pieces, 1))
        for start in range(0, n, size or 1):
            stop = min(start + size, n)
            yield Chunk(start, stop, lambda a=start, b=stop: self.block(a, b))  # type: ignore[misc]

    @property
    def chunk_rows(self) -> int:
        """The most rows in a block."""
        return chunk_rows(self.d, self.dtype.itemsize)

    @property
    def count(self) -> int:
        """The number of rows, for those who need it before reading."""
        if self.n is None:
            raise BadInput(
                "this needs the number of rows before reading them, and a stream has none. "
                "Give an array, a memory map or a file, or use a method that streams."
            )
        return self.n

    @abstractmethod
    def block(self, start: int, stop: int) -> Block:
        """Rows start…stop as a C-ordered array (or CSR) of the rows' dtype."""

    def whole(self) -> Block:
        """All rows in one block: only for methods that can't do without."""
        return self.block(0, self.count)


class ArrayRows(Rows):
    """A two-dimensional array of any real dtype, order and byte order; memory maps are let go of as read."""

    def __init__(self, X: Array) -> None:
        self.X = X
        self.n, self.d = X.shape
        self.dtype = float_dtype(X.dtype)

    def block(self, start: int, stop: int) -> Block:
        part = self.X[start:stop]
        if isinstance(part, np.memmap):
            block = np.array(part, dtype=self.dtype, order="C", subok=False)
            _let_go(part)
            return block
        return np.ascontiguousarray(part, dtype=self.dtype)

    def columns(self, start: int, stop: int) -> Block:
        """Columns start…stop of all rows."""
        part = self.X[:, start:stop]
        if part.dtype == self.dtype and part.strides[1] == self.dtype.itemsize:
            return part
        return np.ascontiguousarray(part, dtype=self.dtype)


class SparseRows(Rows):
    """A CSR matrix (other formats are converted once)."""

    sparse = True

    def __init__(self, X: Any) -> None:
        self.X = sp.csr_array(X)
        self.n, self.d = self.X.shape
        self.dtype = float_dtype(X.dtype)

    @property
    def chunk_rows(self) -> int:
        # Enough for a few megabytes, and for a chunk's products to outweigh adding up d of them.
        filled = max(1, self.X.nnz // max(1, self.X.shape[0]))
        return max(super().chunk_rows, (1 << 19) // filled, 4 * self.d // filled)

    def block(self, start: int, stop: int) -> Block:
        return self.X[start:stop].astype(self.dtype, copy=False)


class FrameRows(Rows):
    """A dataframe of pandas, polars or pyarrow, through narwhals, converted block by block."""

    def __init__(self, frame: nw.DataFrame[Any]) -> None:
        for name, dtype in frame.schema.items():
            if not (dtype.is_numeric() or dtype == nw.Boolean) or dtype == nw.Decimal:
                raise BadInputType(
                    f"column {name!r} holds {dtype}, not numbers. Drop it, or encode it "
                    "(one column a category, for instance) before reducing."
                )
        self.frame = frame
        self.n, self.d = frame.shape
        narrow = self.d > 0 and all(dtype == nw.Float32 for dtype in frame.schema.values())
        self.dtype = np.dtype(np.float32 if narrow else np.float64)
        self._cast = nw.Float32 if narrow else nw.Float64

    def block(self, start: int, stop: int) -> Block:
        values = self.frame[start:stop].select(nw.all().cast(self._cast)).to_numpy()
        return np.ascontiguousarray(values, dtype=self.dtype)


class StreamRows(Rows):
    """An iterator of chunks (arrays, sparse matrices or dataframes), or a function that returns one."""

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
        raise BadInput("a stream gives its rows in order only.")

    def whole(self) -> Block:
        raise BadInput(
            "this solver needs all rows at once, and a stream gives them chunk by chunk. "
            "Use the covariance solver, or give an array or a memory map."
        )

    def _parts(self) -> Iterator[Rows]:
        if self._opened is None:
            if self._restart is None:
                raise BadInput(
                    "the stream of chunks has been read already, and this needs a second pass. "
                    "Give a function that returns a fresh iterator."
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
                raise BadInput(f"a chunk has {part.d} columns after chunks of {self.d}; all must have the same.")
            for chunk in part.chunks():
                load = chunk.load if part.dtype == self.dtype else _cast(chunk.load, self.dtype)
                yield Chunk(seen + chunk.start, seen + chunk.stop, load)
            seen += part.count


def fold(
    rows: Rows,
    summarise: Callable[[Chunk, Block], Summary],
    merge: Callable[[Summary, Summary], Summary],
    threads: int,
    task: str = "reading rows",
) -> Summary:
    """merge(… merge(merge(s₁, s₂), s₃) …, s_m) of the chunks' summaries, in the order of the rows."""

    def work(chunk: Chunk) -> tuple[int, Summary]:
        with np.errstate(over="ignore", invalid="ignore"):  # what overflows is found in the summary, and named
            return chunk.stop, summarise(chunk, chunk.load())

    total: Summary | None = None
    for stop, part in ordered_map(work, rows.chunks(), threads):
        total = part if total is None else merge(total, part)
        report(task, stop, rows.n)
    if total is None:
        raise BadInput("there are 0 sample(s) in the data while a minimum of 1 is required.")
    return total


def open_rows(X: Any) -> Rows:
    """Rows of whatever holds a table of numbers. Nothing is copied but what must be converted."""
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
    """An iterator of chunks or a function that makes one, as opposed to a table."""
    if callable(X) and not hasattr(X, "__array__"):
        return True
    return isinstance(X, Iterator) and not hasattr(X, "shape")


def float_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """float32 stays float32 (and half becomes it); everything else is computed in float64."""
    return np.dtype(np.float32 if dtype.kind == "f" and dtype.itemsize <= 4 else np.float64)


def first_nonfinite(blocks: Iterable[tuple[int, Block]]) -> tuple[int, int, float] | None:
    """Row, column and value of the first number that is not finite."""
    for start, block in blocks:
        if sp.issparse(block):  # what is not stored is finite
            stored = block.tocoo()
            wrong = np.flatnonzero(~np.isfinite(stored.data))
            if len(wrong):
                row, column = (int(at[wrong[0]]) for at in (stored.row, stored.col))
                return start + row, column, float(stored.data[wrong[0]])
            continue
        bad = np.argwhere(~np.isfinite(block))
        if len(bad):
            row, column = (int(i) for i in bad[0])
            return start + row, column, float(block[row, column])
    return None


def _cast(load: Callable[[], Block], dtype: np.dtype[Any]) -> Callable[[], Block]:
    return lambda: load().astype(dtype)


def _let_go(part: np.memmap[Any, Any]) -> None:
    """Give the pages of a shared, file-backed slice back, so that a large file does not fill memory."""
    mapped = getattr(part, "_mmap", None)
    # A copy-on-write map ("c") would lose the user's own changes.
    if mapped is None or part.size == 0 or part.mode not in ("r", "r+") or not hasattr(mmap, "MADV_DONTNEED"):
        return
    base = np.frombuffer(mapped, dtype=np.uint8).__array_interface__["data"][0]
    low, high = np.lib.array_utils.byte_bounds(part)
    start = (low - base) // mmap.PAGESIZE * mmap.PAGESIZE
    mapped.madvise(mmap.MADV_DONTNEED, start, min(high - base, len(mapped)) - start)
