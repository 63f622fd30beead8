"""Centered rows P = R (X - 1μᵀ) S as an implicit operator: R the roots of the row weights, S a column scale.

Products with P are taken block by block; a sparse X stays sparse and is centered implicitly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim import _native
from lowdim.data.fold import fold, is_partitioned
from lowdim.data.rows import Block, Chunk, Rows
from lowdim.data.validation import not_finite_error
from lowdim.linalg import lapack
from lowdim.linalg.column_panels import panel_gram, panel_transpose_times
from lowdim.linalg.row_products import row_products
from lowdim.runtime.progress import report
from lowdim.runtime.threads import interruptible, scratch

__all__ = ["Centered", "column_means", "nonzero_scale"]

Array = NDArray[Any]


@dataclass(frozen=True)
class Centered:
    """P = R (X - 1μᵀ) S as an operator, never formed as a whole."""

    rows: Rows
    mean: NDArray[np.float64]  # (d,)
    scale: NDArray[np.float64] | None  # (d,) factors, or None
    root_weights: NDArray[np.float64] | None  # (n,), or None
    threads: int

    def panel(self, chunk: Chunk, block: Block) -> Array:
        """A dense block of P, in scratch memory of this thread."""
        dense = block.toarray() if sp.issparse(block) else block
        panel = scratch(dense.shape, dense.dtype)
        if not _native.center(dense, self.mean[None], panel, None, self.scale, self._roots(chunk)):
            raise not_finite_error(self.rows, chunk)
        return panel

    def times(self, V: Array) -> Array:
        """P V, (n, k), in the rows' dtype; the bits of a row do not depend on the rows beside it."""
        V = np.ascontiguousarray(V, dtype=self.rows.dtype)
        task = "projecting rows"
        if self.rows.n is None or is_partitioned(self.rows):
            return np.concatenate(
                fold(self.rows, lambda c, b: [self.block_times(c, b, V)], _extend, self.threads, task)
            )
        out = np.empty((self.rows.n, V.shape[1]), dtype=self.rows.dtype)  # of millions of rows, parts would be a copy

        def fill(chunk: Chunk, block: Block) -> int:
            out[chunk.start : chunk.stop] = self.block_times(chunk, block, V)
            return 0

        fold(self.rows, fill, max, self.threads, task)
        return out

    def scatter_times(self, V: Array) -> Array:
        """PᵀP V, (d, k), in one pass, summed in float64."""
        V = np.ascontiguousarray(V, dtype=self.rows.dtype)

        def summarize(chunk: Chunk, block: Block) -> Array:
            if sp.issparse(block):
                return self._block_transpose_times(chunk, block, self.block_times(chunk, block, V))
            panel = self.panel(chunk, block)
            return _double(panel.T @ (panel @ V))

        return fold(self.rows, summarize, _add, self.threads)

    def squared_norms(self) -> NDArray[np.float64]:
        """Squared norms of the rows of P, (n,)."""

        def summarize(chunk: Chunk, block: Block) -> list[Array]:
            panel = self.panel(chunk, block)
            return [np.einsum("ij,ij->i", panel, panel, dtype=np.float64)]

        return np.concatenate(fold(self.rows, summarize, _extend, self.threads))

    def gram(self) -> NDArray[np.float64]:
        """P Pᵀ, (n, n), summed over panels of columns: for fewer rows than columns."""
        if self.rows.sparse:
            return self._about_true_means(self._sparse_gram())
        return self._about_true_means(panel_gram(self))

    def dense(self, n: float) -> Array:
        """P itself, (n, d), about the true means: for fewer rows than columns. The weights sum to n."""
        out = np.empty((self.rows.count, self.rows.d), dtype=self.rows.dtype)
        for chunk in self.rows.chunks():
            out[chunk.start : chunk.stop] = self.panel(chunk, chunk.load())
            report("centering rows", chunk.stop, self.rows.n)
        roots = self._roots(Chunk(0, len(out), self.rows.whole))
        rests = (np.ones(len(out)) if roots is None else roots) @ out / n
        out -= (rests if roots is None else np.outer(roots, rests)).astype(out.dtype)
        return out

    def transpose_times(self, U: Array) -> NDArray[np.float64]:
        """Pᵀ U, (d, k), for U (n, k): from dual to primal eigenvectors."""
        if self.rows.sparse:
            everything = Chunk(0, self.rows.count, self.rows.whole)
            return self._block_transpose_times(everything, self.rows.whole(), U.astype(self.rows.dtype))
        return panel_transpose_times(self, U.astype(self.rows.dtype))

    def column_sums_of_squares(self) -> NDArray[np.float64]:
        """Sums of squares of the columns of P: the diagonal of PᵀP, (d,)."""

        def summarize(chunk: Chunk, block: Block) -> Array:
            if sp.issparse(block):
                return self._sparse_powers(chunk, block, 2)
            panel = self.panel(chunk, block)
            np.multiply(panel, panel, out=panel)
            sums = np.empty((1, self.rows.d))
            _native.column_sums(panel, None, None, sums)
            return sums[0]

        return fold(self.rows, summarize, _add, self.threads)

    def column_scatter(self, n: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Sums of squares of the columns about their true means, (d,), for weights that sum to n; and sums of columns.

        The given means are rounded; without the correction a constant column would seem to vary. The sums (d,) of the
        weighted rows would be zero about the true means.
        """

        def summarize(chunk: Chunk, block: Block) -> Array:
            if sp.issparse(block):
                return np.stack([self._sparse_powers(chunk, block, power) for power in (1, 2)])
            return self._sums_and_squares(chunk, self.panel(chunk, block))

        sums, squares = fold(self.rows, summarize, _add, self.threads)
        return np.maximum(squares - sums**2 / n, 0), sums

    def residual_scatter(self, V: Array, n: float) -> float:
        """The sum of squares of P - P V Vᵀ for orthonormal V (d, k), as in `column_scatter` about the true means."""
        V = np.ascontiguousarray(V, dtype=self.rows.dtype)

        def summarize(chunk: Chunk, block: Block) -> Array:
            panel = self.panel(chunk, block)
            panel -= panel @ V @ V.T
            return self._sums_and_squares(chunk, panel)

        sums, squares = fold(self.rows, summarize, _add, self.threads)
        return float(np.maximum(squares - sums**2 / n, 0).sum())

    def r_factor(self, codes: NDArray[np.int32] | None = None) -> Array:
        """R of P = QR, (d, d), block by block (TSQR): the singular values of P without squaring them.

        P is projected off the root weights, which centers it about the true means: the given ones are rounded. With
        the codes of classes (n,), which must all have weight, it is centered about the means of the classes.
        """
        classes = 1 if codes is None else int(codes.max()) + 1

        def summarize(chunk: Chunk, block: Block) -> Array:
            panel, roots = self.panel(chunk, block), self._roots(chunk)
            indicators = np.zeros((len(panel), classes), dtype=panel.dtype)
            code = 0 if codes is None else codes[chunk.start : chunk.stop]
            indicators[np.arange(len(panel)), code] = 1.0 if roots is None else roots
            return interruptible(lambda: lapack.r_factor(np.column_stack([indicators, panel])))

        R = fold(self.rows, summarize, _merged_r_factor, self.threads)
        return R[classes:, classes:]

    def _sums_and_squares(self, chunk: Chunk, panel: Array) -> NDArray[np.float64]:
        """Weighted sums of the columns of a panel of P, and their sums of squares, (2, d). The panel is used up."""
        sums = np.empty((2, self.rows.d))
        _native.column_sums(panel, None, self._roots(chunk), sums[:1])
        np.multiply(panel, panel, out=panel)
        _native.column_sums(panel, None, None, sums[1:])
        return sums

    def _roots(self, chunk: Chunk) -> NDArray[np.float64] | None:
        return None if self.root_weights is None else self.root_weights[chunk.start : chunk.stop]

    def block_times(self, chunk: Chunk, block: Block, V: Array) -> Array:
        """P V for a block of the rows; V is C-ordered, in the rows' dtype."""
        if not sp.issparse(block):
            return row_products(self.panel(chunk, block), V)
        scaled = V if self.scale is None else (self.scale[:, None] * V).astype(V.dtype)
        out = np.empty((block.shape[0], V.shape[1]), dtype=V.dtype)
        _native.sparse_times(block.indptr, block.indices, block.data, scaled, out)
        out -= (self.mean @ scaled).astype(V.dtype)
        if not np.isfinite(out).all():
            raise not_finite_error(self.rows, chunk)
        roots = self._roots(chunk)
        return out if roots is None else (out * roots[:, None]).astype(V.dtype)

    def _block_transpose_times(self, chunk: Chunk, block: Block, U: Array) -> NDArray[np.float64]:
        if not sp.issparse(block):
            return _double(self.panel(chunk, block).T @ U)
        roots = self._roots(chunk)
        weighted = np.ascontiguousarray(U if roots is None else U * roots[:, None], dtype=U.dtype)
        out = np.zeros((block.shape[1], U.shape[1]))
        _native.sparse_transpose_times(block.indptr, block.indices, block.data, weighted, out)
        out -= np.outer(self.mean, weighted.sum(axis=0, dtype=np.float64))
        return out if self.scale is None else out * self.scale[:, None]

    def _about_true_means(self, gram: NDArray[np.float64]) -> NDArray[np.float64]:
        """P Pᵀ projected off the root weights, if the rounding of the means left more there than that of products."""
        roots = np.ones(len(gram)) if self.root_weights is None else self.root_weights
        unit = roots / np.linalg.norm(roots)
        image = gram @ unit
        inside = float(unit @ image)
        if inside > float(np.finfo(self.rows.dtype).eps) * float(np.trace(gram)):
            gram -= np.outer(unit, image)
            gram -= np.outer(image - inside * unit, unit)
        return gram

    def _sparse_gram(self) -> NDArray[np.float64]:
        X = self.rows.whole().astype(np.float64)
        X = X if self.scale is None else X @ sp.diags_array(self.scale)
        mean = self.mean if self.scale is None else self.mean * self.scale
        cross = X @ mean
        gram = (X @ X.T).toarray() - cross[:, None] - cross[None, :] + mean @ mean
        roots = self.root_weights
        return gram if roots is None else gram * np.outer(roots, roots)

    def _sparse_powers(self, chunk: Chunk, block: Block, power: int) -> NDArray[np.float64]:
        """Sums of powers of P. Stored values one by one, absent ones all at once: no difference of large sums."""
        roots = self._roots(chunk)
        weights = np.ones(block.shape[0]) if roots is None else roots**2
        stored = sp.csr_array((np.ones(block.nnz), block.indices, block.indptr), shape=block.shape)
        spread = sp.csr_array(
            ((block.data - self.mean[block.indices]) ** power, block.indices, block.indptr), shape=block.shape
        )
        absent = weights.sum() - stored.T @ weights
        sums = spread.T @ weights + absent * (-self.mean) ** power
        return sums if self.scale is None else sums * self.scale**power


def column_means(rows: Rows, weights: NDArray[np.float64] | None, threads: int) -> tuple[float, NDArray[np.float64]]:
    """The sum of the weights and the means of the columns, in one pass."""

    def summarize(chunk: Chunk, block: Block) -> tuple[float, Array]:
        w = None if weights is None else weights[chunk.start : chunk.stop]
        n = float(block.shape[0]) if w is None else float(w.sum())
        if sp.issparse(block):
            sums = np.asarray(block.astype(np.float64).T @ (np.ones(block.shape[0]) if w is None else w))[None]
        else:
            sums = np.empty((1, block.shape[1]))
            _native.column_sums(block, None, w, sums)
        if not np.isfinite(sums).all():
            raise not_finite_error(rows, chunk)
        return n, sums[0] / n if n > 0 else sums[0]

    def merge(a: tuple[float, Array], b: tuple[float, Array]) -> tuple[float, Array]:
        n = a[0] + b[0]
        return n, a[1] + (b[0] / n if n > 0 else 0.0) * (b[1] - a[1])

    return fold(rows, summarize, merge, threads)


def nonzero_scale(deviation: Array, mean: Array, dtype: np.dtype[Any]) -> Array:
    """Standard deviations to divide by: 1 for columns that are constant up to rounding."""
    return np.where(deviation > np.finfo(dtype).eps * np.abs(mean), deviation, 1.0)


def _merged_r_factor(a: Array, b: Array) -> Array:
    return interruptible(lambda: lapack.merged_r_factor(a, b))


def _double(part: Array) -> NDArray[np.float64]:
    return part.astype(np.float64, copy=False)


def _add(a: Array, b: Array) -> Array:
    a += b
    return a


def _extend(a: list[Array], b: list[Array]) -> list[Array]:
    a.extend(b)
    return a
