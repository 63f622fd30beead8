"""The memory that a fit will take, estimated from the sizes that it grows with, and refused before the work.

A method declares its coefficients once (`_fit_memory`): bytes per row, per neighbor of a row, per pair of rows or of a
row and a landmark, per pair of columns. They were measured; `make bench BENCH=memory-estimates` measures them again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from lowdim.data.ownership import is_immutable
from lowdim.data.rows import ArrayRows, Rows, SparseRows
from lowdim.data.rows.base import CHUNK_BYTES
from lowdim.data.validation import FeatureRecord, read_rows
from lowdim.runtime.memory import announce_memory, available_bytes, require_memory
from lowdim.runtime.threads import thread_count

__all__ = ["FitMemory", "FitMemoryMixin"]

FIXED_BYTES = 6 << 20  # buffers of threads, and what Python allocates for a fit of any size
SMALL_BYTES = 64 << 20  # of less, the free memory is not asked for


@dataclass(frozen=True)
class FitMemory:
    """What a fit allocates at its peak beyond X, as coefficients of sizes; bytes."""

    blocks: float = 0  # blocks of rows that every thread holds at once
    keeps: bool = False  # whether the model keeps a copy of the rows, where nobody else does
    tables: float = 0  # tables of the rows in float32, as a neighbor search reads them
    rows: float = 0  # per row
    edges: float = 0  # per row and neighbor
    pairs: float = 0  # per pair of rows, or of a row and a landmark
    pairs_kept: float = 1  # share of the free memory up to which pairs are kept; else they are computed again
    squares: float = 0  # per pair of columns, or of rows if these are fewer
    scores: float = 0  # tables of n × n_components
    advice: str = "Use fewer rows, or a machine with more memory."

    def bytes(self, model: Any, rows: Rows) -> int:
        """The estimate for a model with its settings and rows of known number."""
        n, d, itemsize = rows.count, rows.d, rows.dtype.itemsize
        threads = thread_count(getattr(model, "n_jobs", None))
        k = min(model._neighbors_asked(), max(n - 1, 1)) if self.edges else 0
        others = min(n, getattr(model, "n_landmarks", None) or n)
        small = min(n, d)
        held = CHUNK_BYTES if n * d * itemsize > CHUNK_BYTES * threads else n * d * itemsize // threads
        components = getattr(model, "n_components", None)
        components = min(components, small) if isinstance(components, int) else small
        parts = (
            FIXED_BYTES,
            self.blocks * held * threads,
            _table_bytes(rows) if self.keeps and not _stays(rows) else 0,
            self.tables * (_table_bytes(rows) if rows.sparse else 4 * n * d),
            self.rows * n,
            self.edges * n * k,
            self._pair_bytes(n * others),
            self.squares * small * small,
            self.scores * n * components * itemsize,
        )
        return int(sum(parts))

    def _pair_bytes(self, pairs: int) -> float:
        available = available_bytes()
        spared = self.pairs_kept < 1 and available is not None and self.pairs * pairs > self.pairs_kept * available
        return 0 if spared else self.pairs * pairs


class FitMemoryMixin:
    """Adds `estimate_memory`, and the refusal of a fit that would exceed the memory."""

    _fit_memory: ClassVar[FitMemory | None] = None  # None: nothing that grows faster than the blocks it reads

    def estimate_memory(self, X: Any) -> int:
        """Bytes that `fit(X)` is expected to allocate at its peak, beyond X; nothing is fitted."""
        memory = self._memory_model()
        return 0 if memory is None else memory.bytes(self, read_rows(FeatureRecord(), X, fitting=True))

    def _require_fit_memory(self, rows: Rows) -> None:
        """Say how much memory the fit of these rows will take, and raise MemoryTooSmall if there is less."""
        memory = self._memory_model()
        if memory is None or rows.n is None or rows.partitioned:
            return
        needed, what = memory.bytes(self, rows), f"{type(self).__name__} of {rows.n:,} rows × {rows.d:,} columns"
        announce_memory(what, needed)
        if needed > SMALL_BYTES:
            require_memory(needed, what, memory.advice)

    def _memory_model(self) -> FitMemory | None:
        """The coefficients, which may depend on the settings."""
        return self._fit_memory

    def _neighbors_asked(self) -> int:
        return int(getattr(self, "n_neighbors", None) or 15)


def _table_bytes(rows: Rows) -> int:
    if isinstance(rows, SparseRows):
        return int(rows.X.nnz) * (rows.dtype.itemsize + 4)
    return rows.count * rows.d * rows.dtype.itemsize


def _stays(rows: Rows) -> bool:
    """Whether the rows can be kept where they are."""
    return isinstance(rows, ArrayRows) and rows.X.dtype == rows.dtype and is_immutable(rows.X)
