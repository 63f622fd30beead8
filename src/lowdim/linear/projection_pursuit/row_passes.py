"""Sphered rows of which there are too many for a matrix in memory: what the search asks of them, by passes.

Every pass is a fold over blocks, so that the bits do not depend on where the rows live: in memory, in a file, in a
function that gives them again, or on the workers of a cluster. Scores (n, k) are gathered, the rows are not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.data.fold import fold
from lowdim.data.rows import Block, Chunk, DerivedRows, Rows
from lowdim.linalg.centered import Centered
from lowdim.summaries.moments import moments_of

__all__ = ["RowPasses", "times", "transpose_times"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class RowPasses:
    """Y (n, r), or Y times a basis of a subspace of it."""

    rows: Rows
    threads: int
    basis: Array | None = None  # (rows.d, r)

    def __len__(self) -> int:
        return self.rows.count

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and columns."""
        return self.rows.count, self.rows.d if self.basis is None else self.basis.shape[1]

    def times(self, A: Array) -> Array:
        """Y A, (n, k)."""
        B = A if self.basis is None else self.basis @ A
        return np.concatenate(self._fold(lambda chunk, block: [block @ B], lambda a, b: a + b))

    def transpose_times(self, S: Array) -> Array:
        """Yᵀ S (r, k) for S (n, k)."""
        product = self._fold(lambda chunk, block: block.T @ S[chunk.start : chunk.stop], lambda a, b: a + b)
        return np.asarray(product if self.basis is None else self.basis.T @ product)

    def at(self, index: NDArray[np.intp]) -> Array:
        """The rows of these ascending numbers, (m, r)."""

        def picked(chunk: Chunk, block: Block) -> list[Array]:
            first, last = np.searchsorted(index, (chunk.start, chunk.stop))
            return [block[index[first:last] - chunk.start]]

        found = np.concatenate(self._fold(picked, lambda a, b: a + b))
        return found if self.basis is None else found @ self.basis

    def scatter(self, codes: NDArray[np.intp]) -> tuple[Array, Array]:
        """Within-class and total scatter, (r, r)."""
        m = moments_of(self.rows, codes, None, self.threads)
        B = np.eye(self.rows.d) if self.basis is None else self.basis
        return B.T @ m.within @ B, B.T @ m.total @ B

    def triangular_root(self) -> Array:
        """R (r, r) with RᵀR the scatter matrix of the rows."""
        return Centered(self.rows, np.zeros(self.rows.d), None, None, self.threads).r_factor().astype(np.float64)

    def on(self, basis: Array) -> RowPasses:
        """The rows in the coordinates of an orthonormal basis of a subspace."""
        return replace(self, basis=basis if self.basis is None else self.basis @ basis)

    def shifted(self, steps: Array, direction: Array) -> RowPasses:
        """Every row moved by a step of its own along a direction (r,)."""
        return replace(self, rows=_ShiftedRows(self.rows, steps, direction))

    def _fold(self, summarize: Callable[[Chunk, Block], Any], merge: Callable[[Any, Any], Any]) -> Any:
        return fold(self.rows, summarize, merge, self.threads, "projecting rows")


class _ShiftedRows(DerivedRows):
    """Rows of a source, each moved by its step along a direction."""

    def __init__(self, source: Rows, steps: Array, direction: Array) -> None:
        self.source, self.n, self.d, self.dtype = source, source.n, source.d, source.dtype
        self._steps, self._direction = steps, direction

    @property
    def chunk_rows(self) -> int:
        """The number of rows in a block of the source."""
        return self.source.chunk_rows

    def derive(self, block: Block) -> Block:
        raise TypeError("the numbers of the rows are needed")

    def block(self, start: int, stop: int) -> Block:
        return self._shifted(self.source.block(start, stop), start)

    def derived(self, chunk: Chunk) -> Chunk:
        return replace(chunk, load=lambda: self._shifted(chunk.load(), chunk.start))

    def _shifted(self, block: Block, start: int) -> Block:
        return block + np.outer(self._steps[start : start + len(block)], self._direction)


def times(Y: Array | RowPasses, A: Array) -> Array:
    """Y A, (n, k), for rows in memory or in passes."""
    return Y.times(A) if isinstance(Y, RowPasses) else Y @ A


def transpose_times(Y: Array | RowPasses, S: Array) -> Array:
    """Yᵀ S, (r, k), for rows in memory or in passes."""
    return Y.transpose_times(S) if isinstance(Y, RowPasses) else Y.T @ S
