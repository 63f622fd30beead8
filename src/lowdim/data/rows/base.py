"""Rows: n rows × d columns, read in chunks whose size depends on the number of columns and the dtype only."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.errors import BadInput

__all__ = [
    "Array",
    "Block",
    "Chunk",
    "DerivedRows",
    "Rows",
    "chunk_rows",
    "column_ends",
    "first_nonfinite",
    "float_dtype",
]

Array = NDArray[Any]
Block = Any  # a C-ordered array or a CSR matrix, with the dtype of the rows

CHUNK_BYTES = 8 << 20  # small enough for the cache and for an even share of work, large enough for BLAS
WIDE_FACTOR = (
    3  # so much larger may a block of wide rows be, whose d × d products would cost more to add than to compute
)
SPARSE_ROWS = 1 << 12  # a block of sparse rows has so many at least: few are stored of their values
SPARSE_SHARE = 16  # and a row for so many columns, so that products outweigh adding their d × k results
MOST_ROWS = 1 << 16  # in any block


def chunk_rows(d: int, itemsize: int = 4, sparse: bool = False) -> int:
    """The number of rows in a block of d columns, which depends on nothing else.

    Block i holds the rows from i times this number on, wherever they come from: what is summed over blocks has the same
    bits for an array, a file, a stream and the partitions of a cluster.
    """
    fitting = CHUNK_BYTES // (itemsize * max(d, 1))
    dense = max(16, min(MOST_ROWS, max(fitting, min(WIDE_FACTOR * fitting, d))))
    return max(dense, SPARSE_ROWS, min(MOST_ROWS, d // SPARSE_SHARE)) if sparse else dense


def column_ends(block: Block) -> Array:
    """The highest and the lowest value of every column of a block, (2, d)."""
    ends = block.max(axis=0), block.min(axis=0)
    return np.stack([np.ravel(end.toarray() if sp.issparse(end) else end) for end in ends])


@dataclass(frozen=True)
class Chunk:
    """Rows start…stop; `load` reads them, on the thread that processes them."""

    start: int
    stop: int
    load: Callable[[], Block]
    y: Array | None = None  # their targets, if the rows come from a stream of (X, y)


class Rows(ABC):
    """n rows × d columns; n is None if unknown, as for a stream."""

    n: int | None
    d: int
    dtype: np.dtype[Any]
    sparse = False
    partitioned = False  # whether the rows lie in partitions, each of which a worker reads

    def chunks(self, size: int | None = None) -> Iterator[Chunk]:
        """The rows in order, in blocks of `chunk_rows` rows or of another size; the last block may be smaller.

        Blocks depend neither on the number of threads nor on how a stream or a file cuts the rows, so that sums over
        them have the same bits wherever the rows come from.
        """
        n, size = self.count, size or self.chunk_rows
        for start in range(0, n, size):
            stop = min(start + size, n)
            yield Chunk(start, stop, lambda a=start, b=stop: self.block(a, b))  # type: ignore[misc]

    @property
    def chunk_rows(self) -> int:
        """The number of rows in a block."""
        return chunk_rows(self.d, self.dtype.itemsize, self.sparse)

    @property
    def count(self) -> int:
        """The number of rows; an error if it is unknown before reading."""
        if self.n is None:
            raise BadInput(
                "this method needs the number of rows in advance, which a stream does not have. "
                "Pass an array, a memory map or a file, or use a method that streams."
            )
        return self.n

    @abstractmethod
    def block(self, start: int, stop: int) -> Block:
        """Rows start…stop as a C-ordered array or CSR matrix of dtype `dtype`."""

    def whole(self) -> Block:
        """All rows in one block, for methods that need them at once."""
        return self.block(0, self.count)


class DerivedRows(Rows):
    """Rows made of the rows of a source, block by block: rescaled, or with targets.

    A subclass sets n, d, dtype and sparse, and writes `derive`; blocks of streams and of clusters pass through it.
    """

    source: Rows

    @abstractmethod
    def derive(self, block: Block) -> Block:
        """The rows that are made of a block of the source."""

    def targets(self, chunk: Chunk) -> Array | None:
        """The targets of the rows of a chunk of the source."""
        return chunk.y

    def block(self, start: int, stop: int) -> Block:
        return self.derive(self.source.block(start, stop))

    def derived(self, chunk: Chunk) -> Chunk:
        """The chunk that is made of a chunk of the source."""
        return replace(chunk, load=lambda: self.derive(chunk.load()), y=self.targets(chunk))

    def chunks(self, size: int | None = None) -> Iterator[Chunk]:
        return map(self.derived, self.source.chunks(size or self.chunk_rows))


def float_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The working dtype: float32 for float16 and float32, float64 for everything else."""
    return np.dtype(np.float32 if dtype.kind == "f" and dtype.itemsize <= 4 else np.float64)


def first_nonfinite(blocks: Iterable[tuple[int, Block]]) -> tuple[int, int, float] | None:
    """Row, column and value of the first NaN or infinity."""
    for start, block in blocks:
        if sp.issparse(block):  # entries that are not stored are zero
            stored = block.tocoo()
            bad_entries = np.flatnonzero(~np.isfinite(stored.data))
            if len(bad_entries):
                i = bad_entries[0]
                return start + int(stored.row[i]), int(stored.col[i]), float(stored.data[i])
            continue
        bad = np.argwhere(~np.isfinite(block))
        if len(bad):
            row, column = (int(i) for i in bad[0])
            return start + row, column, float(block[row, column])
    return None
