"""Gram: a kernel matrix, centered implicitly, that is read in strips of rows.

Its entries come from a kernel, from squared distances, or from a precomputed matrix. Only the lower triangle is
computed, in strips of rows up to the diagonal. It is kept if it fits into memory, and computed again in each pass
otherwise. Centering, G = H K Hᵀ with H = I - 1wᵀ, happens in the products. The column means are kept for new rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim import _native
from lowdim.data.ownership import owned
from lowdim.data.validation import FeatureRecord, check_weights, overflow_error, read_rows
from lowdim.kernels import as_kernel, precomputed
from lowdim.runtime.cached_property import cached_property
from lowdim.runtime.display import SummaryDisplay, count
from lowdim.runtime.memory import available_bytes
from lowdim.runtime.progress import report
from lowdim.runtime.threads import ordered_map, thread_count
from lowdim.summaries.kernel_sources import (
    ComputedKernel,
    KernelSource,
    PrecomputedKernel,
    finite_rows,
    symmetric_matrix,
)

__all__ = ["MEMORY_FRACTION", "Gram", "gram"]

Array = NDArray[Any]

STRIP = 512  # rows per strip
TILE = 1024  # columns computed at a time, so that a tile stays in the cache
LANES = 16  # columns of a block that the native product takes at once
ROUNDING = 4  # times eps · n · largest entry; about 1 was measured
MEMORY_FRACTION = 0.6  # of the available memory that a kept matrix may take


@dataclass(repr=False)
class Gram(SummaryDisplay):
    """The kernel matrix K of a source, and the centered G = √w H K Hᵀ √w for row weights w (1 without weights).

    K is that of the rows about their mean, if their translation does not change G (`Kernel.translation_invariant`).
    """

    source: KernelSource
    weights: NDArray[np.float64] | None = None  # (n,), the multiplicity of each row
    threads: int = 1

    def _summary(self) -> str:
        weighted = "" if self.weights is None else ", weighted"
        kernel = "a given matrix"
        if isinstance(self.source, ComputedKernel):  # its default parameters have all 17 digits
            kernel = re.sub(r"\d\.\d{6,}(e[+-]?\d+)?", lambda found: f"{float(found[0]):.4g}", repr(self.source.kernel))
        return f"{count(self.n, 'row')}, kernel {kernel}, {self.dtype}{weighted}, centered in its products"

    def __post_init__(self) -> None:
        self._strips: list[Array] | None = None

    @property
    def n(self) -> int:
        """The number of rows."""
        return self.source.n

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the entries."""
        return self.source.dtype

    @cached_property
    def shares(self) -> NDArray[np.float64]:
        """Weights normalized to sum to one, (n,)."""
        return np.full(self.n, 1 / self.n) if self.weights is None else self.weights / self.weights.sum()

    @cached_property
    def means(self) -> NDArray[np.float64]:
        """Mean of every column of K, (n,). This is the first pass over the entries; it keeps them if they fit."""
        return self._first_pass()

    @property
    def mean(self) -> float:
        """The mean of all entries of K."""
        return float(self.shares @ self.means)

    @cached_property
    def trace(self) -> float:
        """The trace of G: the sum of its eigenvalues."""
        count = np.ones(self.n) if self.weights is None else self.weights
        diagonal = self.source.diagonal().astype(np.float64)
        return float(count @ (diagonal - self.mean))

    @property
    def rounding(self) -> float:
        """Eigenvalues below this are rounding errors: those of the entries, of the means, and of the eigensolver."""
        scale = max(float(np.abs(self.source.diagonal()).max()), float(np.abs(self.means).max()))
        total = float(self.n) if self.weights is None else float(self.weights.sum())
        return ROUNDING * float(np.finfo(self.dtype).eps) * total * scale

    @property
    def psd(self) -> bool:
        """Whether the matrix is known to be positive semidefinite: no eigenvalue is negative, but for rounding."""
        return isinstance(self.source, ComputedKernel) and self.source.kernel.psd is True

    def rows(self, start: int, stop: int) -> Array:
        """Rows start…stop of K, (m, n)."""
        return np.array(self.source.block(slice(start, stop), slice(None)))

    def centered_rows(self, start: int, stop: int) -> Array:
        """Rows start…stop of H K Hᵀ, (m, n), in float64."""
        out = self.rows(start, stop).astype(np.float64)
        out -= self.means
        out -= self.means[start:stop, None]
        out += self.mean
        return out

    def dense(self) -> NDArray[np.float64]:
        """G itself, (n, n): for few rows."""
        G = np.empty((self.n, self.n))
        self.means  # noqa: B018  (computed once, before threads share them)
        bounds = list(self._strip_bounds())
        parts = ordered_map(lambda strip: self.centered_rows(*strip), bounds, self.threads)
        for strip, part in zip(bounds, parts, strict=True):
            G[slice(*strip)] = part
        G += G.T
        G /= 2
        if self.weights is not None:
            roots = np.sqrt(self.weights)
            G *= roots[:, None]
            G *= roots
        return G

    def times(self, V: Array) -> NDArray[np.float64]:
        """G V, (n, b): products in the precision of the entries, summed in float64."""
        roots = None if self.weights is None else np.sqrt(self.weights)[:, None]
        inner = V if roots is None else roots * V
        inner = inner - self.shares[:, None] * inner.sum(axis=0)
        product = self._times(inner)
        product -= self.shares @ product
        return product if roots is None else roots * product

    def _times(self, V: Array) -> NDArray[np.float64]:
        """K V by strips: each one contributes to its own rows and, transposed, to the rows above it."""
        width = V.shape[1]
        padded = np.zeros((self.n, -(-width // LANES) * LANES), dtype=self.dtype)
        padded[:, :width] = V

        def work(bounds: tuple[int, int]) -> tuple[int, int, Array, Array]:
            start, stop = bounds
            own, above = np.zeros((stop - start, padded.shape[1])), np.zeros((start, padded.shape[1]), self.dtype)
            _native.half_symmetric_times(self._strip(start, stop), start, padded, own, above)
            return start, stop, own, above

        out = np.zeros(padded.shape)
        for start, stop, own, above in ordered_map(work, self._strip_bounds(), self.threads):
            out[start:stop] += own
            out[:start] += above
        return out[:, :width]

    def _first_pass(self) -> NDArray[np.float64]:
        keep = self._keeps_strips()
        shares = self.shares.astype(self.dtype)

        def work(bounds: tuple[int, int]) -> tuple[int, int, Array | None, Array, Array]:
            start, stop = bounds
            strip = self._compute(start, stop)
            return start, stop, strip if keep else None, strip @ shares[:stop], shares[start:stop] @ strip[:, :start]

        means = np.zeros(self.n)
        strips: list[Array] = []
        for start, stop, strip, own, above in ordered_map(work, self._strip_bounds(), self.threads):
            if not (np.isfinite(own).all() and np.isfinite(above).all()):
                raise overflow_error()
            means[start:stop] += own
            means[:start] += above
            if strip is not None:
                strips.append(strip)
            report("kernel matrix", self.n - start, self.n)
        self._strips = strips[::-1] if keep else None
        return means

    def _keeps_strips(self) -> bool:
        """Whether the strips are computed once and kept in memory."""
        if isinstance(self.source, PrecomputedKernel) and self.source.function is None:
            return False  # it is in memory already
        available = available_bytes()
        return available is None or self.n**2 // 2 * self.dtype.itemsize <= MEMORY_FRACTION * available

    def _strip_bounds(self) -> Iterator[tuple[int, int]]:
        """First and last row of each strip, the longest first, which balances the threads."""
        return ((start, min(start + STRIP, self.n)) for start in reversed(range(0, self.n, STRIP)))

    def _strip(self, start: int, stop: int) -> Array:
        return self._compute(start, stop) if self._strips is None else self._strips[start // STRIP]

    def _compute(self, start: int, stop: int) -> Array:
        """Rows start…stop of K up to the diagonal block, (m, stop)."""
        rows = slice(start, stop)
        if isinstance(self.source, PrecomputedKernel) and self.source.function is None:
            return self.source.block(rows, slice(0, stop))
        strip = np.empty((stop - start, stop), dtype=self.dtype)
        with np.errstate(over="ignore", invalid="ignore"):  # overflow is found in the sums, and reported
            for first in range(0, stop, TILE):
                columns = slice(first, min(first + TILE, stop))
                strip[:, columns] = self.source.block(rows, columns)
        return strip


def gram(
    X: Any, kernel: Any = "rbf", *, gamma: Any = None, sample_weight: Any = None, n_jobs: int | None = None
) -> Gram:
    """The Gram matrix of X under a kernel, for `KernelPCA().fit(gram)`.

    Parameters
    ----------
    X : array, sparse matrix or dataframe (n, d)
        Rows; or the kernel matrix itself (n, n) with kernel="precomputed".
    kernel : str, kernel of lowdim.kernels, or function of two rows
        The kernel; `lowdim.kernels.from_distance(metric)` gives the Gram matrix of classical scaling.
    gamma : float, "scale" or "median", optional
        Replaces the kernel's γ.
    sample_weight : array of n numbers, optional
        Multiplicity of each row.
    n_jobs : int, optional
        Number of threads; the result has the same bits for any number.

    """
    rows = read_rows(FeatureRecord(), X, fitting=True)
    weights, threads = check_weights(sample_weight, rows.n), thread_count(n_jobs)
    kernel = as_kernel(kernel, gamma)
    if isinstance(kernel, precomputed):
        return Gram(PrecomputedKernel(symmetric_matrix(rows, "a precomputed kernel")), weights, threads)
    table = owned(finite_rows(rows), rows)  # what new rows are compared with must not change with X
    return Gram(ComputedKernel(table, kernel.resolve(table)), weights, threads)
