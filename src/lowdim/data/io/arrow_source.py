"""What the formats read by pyarrow share: a source of record batches, and rows made of them.

A source knows its columns and yields record batches of the selected ones, in as many passes as needed. Each pass
opens the file again and keeps a few batches in memory. `load_table.py` turns any source into a Table.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.data.rows import Block, Chunk, Rows
from lowdim.errors import BadInput, LowdimError, MemoryTooSmall, MissingExtra
from lowdim.runtime.memory import require_memory

__all__ = [
    "IN_MEMORY_BYTES",
    "RecordBatchRows",
    "TableSource",
    "block_of_batches",
    "file_errors",
    "is_number",
    "numbers",
    "pyarrow",
    "type_name",
]

Array = NDArray[Any]
Batch = Any  # a pyarrow.RecordBatch

IN_MEMORY_BYTES = 256 << 20  # smaller tables are kept in memory; larger ones are read again in every pass


def pyarrow() -> Any:
    """The module pyarrow, imported with the first file that needs it."""
    try:
        import pyarrow
    except ImportError as error:
        raise MissingExtra(
            "CSV, Parquet and Arrow files need pyarrow; install it with pip install 'lowdim[app]'."
        ) from error
    return pyarrow


@contextmanager
def file_errors(path: Path, format: str) -> Iterator[None]:
    """Turn any exception of a reader into a BadInput that names the file."""
    try:
        yield
    except LowdimError:
        raise
    except MemoryError as error:
        raise MemoryTooSmall(
            f"{path} needs more memory than is available ({error}). It is damaged, or its row groups are too large."
        ) from error
    except Exception as error:
        # Corrupt files raise a dozen exception types, from KeyError to OSError.
        message = " ".join(str(error).split())[:300] or type(error).__name__
        raise BadInput(f"{path} can't be read as {format}: {message}. Check that it is complete.") from error


class TableSource(ABC):
    """A file of named columns."""

    path: Path
    format: str  # with its article, for messages
    schema: Any  # pyarrow.Schema
    names: tuple[str, ...]
    n: int | None  # None if the number of rows is unknown before a pass
    named = True  # whether the column names come from the file
    large = False  # whether it is known to be too large for memory
    notes: tuple[str, ...] = ()  # how it was read, if not as one would expect

    @abstractmethod
    def batches(self, columns: Sequence[str]) -> Iterator[Batch]:
        """Record batches of these columns, in this order, from the first row on."""

    def first_batch(self, columns: Sequence[str]) -> Batch | None:
        """The first record batch of these columns; None of a file without rows."""
        return next(iter(self.batches(columns)), None)

    def first_cells(self, name: str, n: int) -> list[str] | None:
        """The first cells of a column as text; None where they take no less than a batch."""
        return None

    def column(self, name: str) -> Any:
        """One column as a pyarrow.ChunkedArray, in a pass of its own."""
        pa = pyarrow()
        parts = [batch.column(0) for batch in self.batches([name])]
        return pa.chunked_array(parts, type=parts[0].type if parts else self.schema.field(name).type)


class RecordBatchRows(Rows):
    """Rows of a source, read again in every pass, in blocks of the same sizes as those of an array.

    The number of rows of a text file is unknown; `count` makes a pass to count them.
    """

    def __init__(self, source: TableSource, columns: Sequence[str]) -> None:
        self.source, self.columns = source, tuple(columns)
        self.feature_names = self.columns if source.named else None
        self.n, self.d = source.n, len(self.columns)
        pa = pyarrow()
        types = [source.schema.field(name).type for name in self.columns]
        narrow = all(pa.types.is_float32(kind) or pa.types.is_float16(kind) for kind in types)
        self.dtype = np.dtype(np.float32 if narrow else np.float64)
        self._count = source.n
        if self.n is not None and self.n < 0:
            raise self._row_count_error()

    @property
    def count(self) -> int:
        """The number of rows: stated in the file, or counted in a pass."""
        if self._count is None:
            self.n = self._count = sum(batch.num_rows for batch in self.source.batches(self.columns[:1]))
        return self._count

    def chunks(self, size: int | None = None) -> Iterator[Chunk]:
        start = 0
        for parts in _regroup(self.source.batches(self.columns), size or self.chunk_rows):
            stop = start + sum(part.num_rows for part in parts)
            if self.n is not None and stop > self.n:
                raise self._row_count_error()
            yield Chunk(start, stop, lambda p=parts: block_of_batches(p, self.d, self.dtype))  # type: ignore[misc]
            start = stop
        if self.n is not None and start != self.n:
            raise self._row_count_error()

    def block(self, start: int, stop: int) -> Block:
        self._require(stop - start)
        out = np.empty((stop - start, self.d), dtype=self.dtype)
        filled = 0
        for chunk in self.chunks():
            low, high = max(start, chunk.start), min(stop, chunk.stop)
            if low < high:
                out[low - start : high - start] = chunk.load()[low - chunk.start : high - chunk.start]
                filled += high - low
            if chunk.stop >= stop:
                break
        if filled != stop - start:
            raise BadInput(f"{self.source.path} has no rows {start}…{stop}.")
        return out

    def _row_count_error(self) -> BadInput:
        return BadInput(f"{self.source.path} does not hold the {self.n} rows that it declares; it is damaged.")

    def _require(self, n: int) -> None:
        require_memory(
            n * self.d * self.dtype.itemsize,
            f"{n} rows × {self.d} columns of {self.source.path}",
            "Use a method that streams, such as PCA, or select fewer columns.",
        )


def is_number(kind: Any) -> bool:
    """Whether a column of this Arrow type can be a feature: numbers, booleans, and all-null columns."""
    types = pyarrow().types
    return bool(
        types.is_integer(kind)
        or types.is_floating(kind)
        or types.is_boolean(kind)
        or types.is_decimal(kind)
        or types.is_null(kind)
    )


def type_name(kind: Any) -> str:
    """An Arrow type in plain words, for messages."""
    types = pyarrow().types
    kind = kind.value_type if types.is_dictionary(kind) else kind
    text = types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)
    return "text" if text else "dates" if types.is_date(kind) else f"values of type {kind}"


def _regroup(batches: Iterable[Batch], size: int) -> Iterator[list[Batch]]:
    """Regroup batches into groups of `size` rows; the last group may be smaller."""
    group: list[Batch] = []
    missing = size
    for batch in batches:
        at = 0
        while at < batch.num_rows:
            group.append(batch.slice(at, missing))
            taken = group[-1].num_rows
            at, missing = at + taken, missing - taken
            if not missing:
                yield group
                group, missing = [], size
    if group:
        yield group


def block_of_batches(parts: Sequence[Batch], d: int, dtype: np.dtype[Any]) -> Array:
    """Batches as one C-ordered block, via its transpose: writing whole columns uses the cache better."""
    n = sum(part.num_rows for part in parts)
    transposed = np.empty((d, n), dtype=dtype)
    start = 0
    for part in parts:
        for j, column in enumerate(part.columns):
            with np.errstate(invalid="ignore"):  # NaN is reported by the caller
                transposed[j, start : start + part.num_rows] = numbers(column)
        start += part.num_rows
    return np.ascontiguousarray(transposed.T)


def numbers(column: Any) -> Array:
    """An Arrow array as NumPy numbers; nulls become NaN."""
    pa = pyarrow()
    kind = column.type
    if pa.types.is_boolean(kind):
        column = column.cast(pa.uint8())
    elif pa.types.is_decimal(kind) or pa.types.is_null(kind):
        column = column.cast(pa.float64())
    return np.asarray(column.to_numpy(zero_copy_only=False))
