"""Rows: n rows of d columns, given out in chunks whose size depends on their shape alone."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.errors import BadInput

__all__ = ["Array", "Block", "Chunk", "Rows", "chunk_rows", "first_nonfinite", "float_dtype"]

Array = NDArray[Any]
Block = Any  # a C-ordered array or a CSR matrix, of the rows' dtype

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
