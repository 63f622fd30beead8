"""Row profiles of a table of counts: each row divided by its total."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.data.fold import fold
from lowdim.data.rows import Block, Chunk, DerivedRows, Rows
from lowdim.data.validation import not_finite_error, overflow_error
from lowdim.errors import BadInput
from lowdim.summaries.moments import Moments, block_moments, merge

__all__ = ["ProfileRows", "profile_moments", "row_and_column_totals"]

Array = NDArray[Any]


class ProfileRows(DerivedRows):
    """Profiles divided by the roots of the column masses. Sparse counts stay sparse.

    A row without counts is all zeros, or with `center_empty` the centroid, so that it lies at the origin.
    """

    def __init__(self, rows: Rows, roots: Array, *, center_empty: bool = False) -> None:
        self.source, self._roots, self._center_empty = rows, roots, center_empty
        self._factors = np.divide(1.0, roots, out=np.zeros_like(roots), where=roots > 0)
        self.n, self.d, self.sparse, self.dtype = rows.n, rows.d, rows.sparse, rows.dtype

    def derive(self, block: Block) -> Block:
        totals = _totals(block)
        scaled = _divide_rows(block, totals)
        empty = np.flatnonzero((totals == 0) & self._center_empty)
        if sp.issparse(scaled):
            scaled.data = (scaled.data * self._factors[scaled.indices]).astype(self.dtype)
            if len(empty):
                centroid = np.zeros(scaled.shape, dtype=self.dtype)
                centroid[empty] = self._roots
                scaled = (scaled + sp.csr_array(centroid)).tocsr()
            return scaled
        scaled = (scaled * self._factors).astype(self.dtype)
        scaled[empty] = self._roots
        return scaled

    def column_distances(self, mass: Array) -> Array:
        """Squared χ² distances of the column profiles from their centroid, (d,): Σ_i r_i (p_ij / (r_i c_j) - 1)²."""
        total = np.zeros(self.d)
        for chunk in self.chunks():
            block, w = chunk.load().astype(np.float64), mass[chunk.start : chunk.stop]
            squares = block.power(2) if sp.issparse(block) else block**2
            total += np.asarray(squares.T @ w).ravel()
        return np.maximum(total * self._factors**2 - (self._roots > 0), 0.0)


def row_and_column_totals(rows: Rows, weights: Array | None, threads: int) -> tuple[Array, Array]:
    """Totals of the rows (n,), without weights, and of the columns (d,), with them; refuses negative numbers."""

    def summarize(chunk: Chunk, block: Block) -> tuple[list[Array], Array]:
        _check_counts(rows, chunk, block)
        w = np.ones(block.shape[0]) if weights is None else weights[chunk.start : chunk.stop]
        return [_totals(block)], np.asarray(block.astype(np.float64).T @ w).ravel()

    def join(a: tuple[list[Array], Array], b: tuple[list[Array], Array]) -> tuple[list[Array], Array]:
        return a[0] + b[0], a[1] + b[1]

    parts, columns = fold(rows, summarize, join, threads)
    totals = np.concatenate(parts)
    if not (np.isfinite(totals).all() and np.isfinite(columns).all()):
        raise overflow_error()
    return totals, columns


def profile_moments(rows: Rows, threads: int) -> Moments:
    """Moments of the profiles, weighted by the totals of the rows, in one pass: for streams."""

    def summarize(chunk: Chunk, block: Block) -> Moments:
        _check_counts(rows, chunk, block)
        totals = _totals(block)
        part = block_moments(_divide_rows(block, totals), None, None, totals)
        if part is None:
            raise not_finite_error(rows, chunk)
        return part

    out = fold(rows, summarize, merge, threads)
    out.within = np.asarray(out.within, dtype=np.float64)
    if not np.isfinite(out.within).all():
        raise overflow_error()
    return out


def _totals(block: Block) -> Array:
    return np.asarray(block.sum(axis=1, dtype=np.float64)).ravel()


def _divide_rows(block: Block, totals: Array) -> Block:
    """The rows of a block divided by their totals, where these are not zero."""
    inverse = np.divide(1.0, totals, out=np.zeros_like(totals), where=totals > 0)
    if not sp.issparse(block):
        return (block * inverse[:, None]).astype(block.dtype)
    repeated = np.repeat(inverse, np.diff(block.indptr))
    data = (block.data * repeated).astype(block.dtype)
    return sp.csr_array((data, block.indices, block.indptr), shape=block.shape)


def _check_counts(rows: Rows, chunk: Chunk, block: Block) -> None:
    values = block.data if sp.issparse(block) else block
    if not np.isfinite(values).all():
        raise not_finite_error(rows, chunk)
    if values.size and values.min() < 0:
        dense = block.toarray() if sp.issparse(block) else block
        row, column = (int(i) for i in np.argwhere(dense < 0)[0])
        raise BadInput(
            f"Negative values in data: row {chunk.start + row}, column {column} is {dense[row, column]:g}, but CA "
            "takes counts or other numbers of at least 0. Use PCA for numbers with a sign."
        )
