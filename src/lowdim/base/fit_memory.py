"""The memory that a fit will take, estimated from the sizes that it grows with, and refused before the work.

A method declares its coefficients once (`_fit_memory`): bytes per row, per neighbor of a row, per pair of rows or of a
row and a landmark, per pair of columns. They are those of the arrays that live at the peak, which stand beside them.
`make bench BENCH=memory-estimates` compares estimates with peaks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from lowdim.data.ownership import is_immutable
from lowdim.data.rows import ArrayRows, Rows, SparseRows
from lowdim.data.validation import FeatureRecord, read_rows
from lowdim.linalg.dense_limits import COVARIANCE_ROWS
from lowdim.runtime.memory import announce_memory, available_bytes, require_memory
from lowdim.runtime.threads import thread_count

__all__ = ["SYMMETRIZED_EDGE", "UNION", "FitMemory", "FitMemoryMixin"]

FIXED_BYTES = 2 << 20  # what Python allocates for a fit of any size
SOLVE_MATRICES = 5  # of d × d: the scatter and covariance matrices, LAPACK's copy, its reflectors and its work
UNION = 1.65  # entries of a symmetric graph for each neighbor of a row: about a third of the relations are mutual
# `knn.graph.symmetrized_edges` holds, per neighbor: the graph (4 + 4), rows and columns in int64 (8 + 8 + 8), sorted
# keys of both directions, their order and lengths (16 + 16 + 8), a flag of each (2); per entry: the first of its keys,
# key, number and last (8 each), and both lengths (4 + 4).
SYMMETRIZED_EDGE = 74 + 40 * UNION
KRYLOV_TABLES = 4  # blocks of vectors that block Krylov iteration holds
SMALL_BYTES = 64 << 20  # of less, the free memory is not asked for


@dataclass(frozen=True)
class FitMemory:
    """What a fit allocates at its peak beyond X, as coefficients of sizes; bytes."""

    scatters: float = 0  # d × d matrices (n × n if there are fewer rows) in the summary of a block, which are folded
    squares: float = 0  # further bytes per pair of columns, or of rows if these are fewer
    iterative: bool = False  # whether few axes of many columns are found by products with the rows alone
    keeps: bool = False  # whether the model keeps a copy of the rows, where nobody else does
    copies: float = 0  # further tables of the rows in their dtype
    tables: float = 0  # tables of the rows in float32, as a neighbor search reads them
    search_tables: float = 0  # the same for rows in float64, which the graph keeps; for others only while it is made
    rows: float = 0  # per row
    edges: float = 0  # per row and neighbor
    graph_edges: float = 0  # the same, if it is freed before the work on the graph begins
    edge_pairs: float = 0  # per row and pair of its neighbors
    pairs: float = 0  # per pair of rows, or of a row and a landmark
    pair_values: float = 0  # the same in values of the dtype of the rows
    pairs_kept: float = 1  # share of the free memory up to which pairs are kept; else they are computed again
    scores: float = 0  # per value of n × n_components
    scores_kept: float = 1  # share of the free memory up to which scores are kept; else they are computed again
    other: int = 0  # bytes that the method knows by itself
    advice: str = "Use fewer rows, or a machine with more memory."

    def bytes(self, model: Any, rows: Rows) -> int:
        """The estimate for a model with its settings and rows of known number."""
        n, d = rows.count, rows.d
        small = min(n, d)
        k = min(model._neighbors_asked(), max(n - 1, 1))
        asked = getattr(model, "n_components", None)
        components = min(asked, small) if isinstance(asked, int) else small
        threads = thread_count(getattr(model, "n_jobs", None))
        matrices = self._fold_bytes(rows, threads) + self.squares * small * small
        if self.iterative and isinstance(asked, int) and _iterates(model, rows, asked, matrices):
            matrices = _block_bytes(rows, threads) + 8 * KRYLOV_TABLES * (n + d) * (components + KRYLOV_TABLES)
        table = _table_bytes(rows) if rows.sparse else 4 * n * d
        work = self.rows * n + self.edges * n * k + self.edge_pairs * n * k * k
        searched, kept = self.search_tables * table, rows.dtype == np.float64 and not rows.sparse
        pairs = n * min(n, getattr(model, "n_landmarks", None) or n)
        work += self._pair_bytes(pairs, rows.dtype.itemsize)
        parts = (
            FIXED_BYTES,
            matrices,
            _table_bytes(rows) if self.keeps and not _stays(rows) else 0,
            self.copies * _table_bytes(rows),
            self.tables * table,
            searched if kept else 0,
            max(work, 0 if kept else searched, self.graph_edges * n * k),
            _kept(self.scores * n * components, self.scores_kept),
            self.other,
        )
        return round(sum(parts))

    def _fold_bytes(self, rows: Rows, threads: int) -> float:
        """Blocks that threads center, their summaries, and the summaries that wait in the tree of the fold."""
        if not self.scatters:
            return 0
        blocks = -(-rows.count // rows.chunk_rows)
        at_once = min(threads, blocks)
        matrix = 8 * self.scatters * min(rows.count, rows.d) ** 2
        summed = _block_bytes(rows, threads) + matrix * (at_once + blocks.bit_length() - 1)
        return summed if self.squares else max(summed, SOLVE_MATRICES * matrix)

    def _pair_bytes(self, pairs: int, itemsize: int) -> float:
        return _kept((self.pairs + self.pair_values * itemsize) * pairs, self.pairs_kept)


class FitMemoryMixin:
    """Adds `estimate_memory`, and the refusal of a fit that would exceed the memory."""

    _default_neighbors: ClassVar[int] = 15
    _fit_memory: ClassVar[FitMemory | None] = None  # None: nothing that grows faster than the blocks it reads

    def estimate_memory(self, X: Any) -> int:
        """Bytes that `fit(X)` is expected to allocate at its peak, beyond X; nothing is fitted."""
        rows = read_rows(FeatureRecord(), X, fitting=True)
        memory = self._memory_model(rows)
        return 0 if memory is None else memory.bytes(self, rows)

    def _require_fit_memory(self, rows: Rows) -> None:
        """Say how much memory the fit of these rows will take, and raise MemoryTooSmall if there is less."""
        memory = None if rows.n is None or rows.partitioned else self._memory_model(rows)
        if memory is None:
            return
        needed, what = memory.bytes(self, rows), f"{type(self).__name__} of {rows.n:,} rows × {rows.d:,} columns"
        announce_memory(what, needed)
        if needed > SMALL_BYTES:
            require_memory(needed, what, memory.advice)

    def _memory_model(self, rows: Rows) -> FitMemory | None:
        """The coefficients, which may depend on the settings, and on the number of rows."""
        return self._fit_memory

    def _neighbors_asked(self) -> int:
        return int(getattr(self, "n_neighbors", None) or self._default_neighbors)


def _iterates(model: Any, rows: Rows, components: int, matrices: float) -> bool:
    """Whether block Krylov iteration may be chosen, which needs no scatter matrix."""
    solver, small = getattr(model, "solver", "auto"), min(rows.count, rows.d)
    if solver not in ("auto", "krylov") or components >= small:
        return False
    available = available_bytes()
    large = available is not None and matrices > available
    many = components <= small // 20 and (small > COVARIANCE_ROWS or rows.sparse)
    return solver == "krylov" or many or large


def _block_bytes(rows: Rows, threads: int) -> int:
    """The blocks that threads center at once."""
    return 0 if rows.sparse else min(threads * rows.chunk_rows, rows.count) * rows.d * rows.dtype.itemsize


def _kept(needed: float, share: float) -> float:
    """Bytes that are kept up to a share of the free memory, beyond which nothing is."""
    available = available_bytes() if share < 1 else None
    return 0 if available is not None and needed > share * available else needed


def _table_bytes(rows: Rows) -> int:
    if isinstance(rows, SparseRows):
        return int(rows.X.nnz) * (rows.dtype.itemsize + 4)
    return rows.count * rows.d * rows.dtype.itemsize


def _stays(rows: Rows) -> bool:
    """Whether the rows can be kept where they are."""
    return isinstance(rows, ArrayRows) and rows.X.dtype == rows.dtype and is_immutable(rows.X)
