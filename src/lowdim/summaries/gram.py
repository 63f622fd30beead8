"""Gram: rows of a matrix of inner products on demand, centred without a second copy.

The matrix comes from a kernel, from squared distances, or precomputed. Half of it is computed, in strips
of rows up to the diagonal, and kept if it fits; otherwise each pass computes it again. Centring
(lecture 3: G = G' - 1Ḡ' - Ḡ'ᵀ1ᵀ + γ11ᵀ) happens in the products, and its means are remembered for new rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from lowdim import _native
from lowdim.data.ownership import dense_table, owned
from lowdim.data.rows import Chunk, Rows
from lowdim.data.validation import Reader, check_weights, finite_error, overflow_error, read_rows
from lowdim.errors import BadInput, BadInputType
from lowdim.kernels import Kernel, as_kernel
from lowdim.kernels._dot_product import precomputed
from lowdim.kernels._row_blocks import Pair, Points
from lowdim.runtime.memory import available_bytes
from lowdim.runtime.progress import report
from lowdim.runtime.threads import ordered_map, thread_count

__all__ = [
    "Given",
    "Gram",
    "KernelRows",
    "Mapped",
    "Source",
    "dense_rows",
    "finite_rows",
    "gram",
    "kernel_table",
    "square_rows",
]

Array = NDArray[Any]

STRIP = 512  # rows of a strip
TILE = 1024  # columns computed at a time: what is done to them then happens in the cache
SPARSE = "sparse matrices are not read here, as kernels and distances fill them; give X.toarray()."
LANES = 16  # columns of a block that the native product takes at once
KEPT_SHARE = 0.6  # of the free memory that a kept matrix may take


class Source(Protocol):
    """Where entries come from."""

    n: int
    dtype: np.dtype[Any]

    def block(self, rows: slice, columns: slice) -> Array:
        """A fresh array of these entries."""

    def diagonal(self) -> Array:
        """All diagonal entries, (n,)."""


class KernelRows:
    """Entries k(xᵢ, xⱼ) of a kernel whose scales are numbers."""

    def __init__(self, rows: Array, kernel: Kernel) -> None:
        self.points, self.kernel = Points(rows), kernel
        self.n, self.dtype = len(rows), rows.dtype
        self.block(slice(0, 1), slice(0, 1))  # fills the caches of the points before threads share them

    def block(self, rows: slice, columns: slice) -> Array:
        return self.kernel.of(Pair(self.points, self.points, rows, columns))

    def against(self, new: Array) -> Array:
        """k(y, xⱼ) for new rows, (m, n)."""
        return self.kernel.of(Pair(Points(new, self.points.shift), self.points))

    def diagonal(self) -> Array:
        return self.kernel.diagonal(self.points)


class Given:
    """Entries of a matrix that is there already, or a function of them."""

    def __init__(self, matrix: Array, function: Callable[[Array], Array] | None = None) -> None:
        self.matrix, self.function = matrix, function
        self.n, self.dtype = len(matrix), matrix.dtype

    def block(self, rows: slice, columns: slice) -> Array:
        part = self.matrix[rows, columns]
        return part if self.function is None else self.function(part)

    def diagonal(self) -> Array:
        entries = np.diagonal(self.matrix)
        return entries if self.function is None else self.function(entries)


class Mapped(Rows):
    """What a function makes of rows of a table (m, d), and of the first one's number: (m, width), read in chunks."""

    def __init__(self, rows: Rows, width: int, function: Callable[[Array, int], Array]) -> None:
        if rows.sparse:
            raise BadInputType(SPARSE)
        self._rows, self._function = rows, function
        self.n, self.d, self.dtype = rows.n, width, rows.dtype

    def block(self, start: int, stop: int) -> Array:
        new = self._rows.block(start, stop)
        if not np.isfinite(new).all():
            raise finite_error(self._rows, Chunk(start, stop, lambda: new))
        return np.ascontiguousarray(self._function(new, start), dtype=self.dtype)


def kernel_table(rows: Rows, source: KernelRows) -> Mapped:
    """Rows of k(y, xⱼ), (m, n)."""
    return Mapped(rows, source.n, lambda new, _: source.against(new.astype(source.dtype, copy=False)))


@dataclass
class Gram:
    """G' of a source, and G = H G' Hᵀ, its rows scaled by the roots of the weights if there are any."""

    source: Source
    weights: NDArray[np.float64] | None = None  # (n,), how often each row counts
    threads: int = 1

    def __post_init__(self) -> None:
        self._strips: list[Array] | None = None

    @property
    def n(self) -> int:
        """The number of rows."""
        return self.source.n

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the entries."""
        return self.source.dtype

    @cached_property
    def shares(self) -> NDArray[np.float64]:
        """Weights that sum to one, (n,)."""
        return np.full(self.n, 1 / self.n) if self.weights is None else self.weights / self.weights.sum()

    @cached_property
    def means(self) -> NDArray[np.float64]:
        """Mean of every column of G', (n,). The first pass over the entries, which also keeps them if they fit."""
        return self._first_pass()

    @property
    def mean(self) -> float:
        """The mean of all entries of G'."""
        return float(self.shares @ self.means)

    @cached_property
    def trace(self) -> float:
        """The trace of G: the sum of its eigenvalues."""
        count = np.ones(self.n) if self.weights is None else self.weights
        diagonal = self.source.diagonal().astype(np.float64)
        return float(count @ (diagonal - self.mean))

    @property
    def rounding(self) -> float:
        """Eigenvalues below this are what rounding leaves of nothing."""
        scale = max(float(np.abs(self.source.diagonal()).max()), abs(self.mean))
        weight = 1.0 if self.weights is None else float(self.weights.max())
        return float(np.finfo(self.dtype).eps) * self.n**0.5 * scale * weight

    def rows(self, start: int, stop: int) -> Array:
        """Rows start…stop of G', (m, n)."""
        return np.array(self.source.block(slice(start, stop), slice(None)))

    def centred_rows(self, start: int, stop: int) -> Array:
        """Rows start…stop of H G' Hᵀ, (m, n), in float64."""
        out = self.rows(start, stop).astype(np.float64)
        out -= self.means
        out -= self.means[start:stop, None]
        out += self.mean
        return out

    def dense(self) -> NDArray[np.float64]:
        """All of G: for few rows."""
        G = np.empty((self.n, self.n))
        self.means  # noqa: B018  (found once, before threads ask for them)
        cuts = list(self._cuts())
        for cut, part in zip(cuts, ordered_map(lambda cut: self.centred_rows(*cut), cuts, self.threads), strict=True):
            G[slice(*cut)] = part
        G += G.T
        G /= 2
        if self.weights is not None:
            roots = np.sqrt(self.weights)
            G *= roots[:, None]
            G *= roots
        return G

    def times(self, V: Array) -> NDArray[np.float64]:
        """G V, (n, b): products in the entries' own precision, summed in float64."""
        roots = None if self.weights is None else np.sqrt(self.weights)[:, None]
        inner = V if roots is None else roots * V
        inner = inner - self.shares[:, None] * inner.sum(axis=0)
        product = self._times(inner)
        product -= self.shares @ product
        return product if roots is None else roots * product

    def _times(self, V: Array) -> NDArray[np.float64]:
        """G' V, by strips: each gives its own rows and, mirrored, its part of the rows above."""
        width = V.shape[1]
        padded = np.zeros((self.n, -(-width // LANES) * LANES), dtype=self.dtype)
        padded[:, :width] = V

        def work(cut: tuple[int, int]) -> tuple[int, int, Array, Array]:
            start, stop = cut
            own, above = np.zeros((stop - start, padded.shape[1])), np.zeros((start, padded.shape[1]), self.dtype)
            _native.mirrored_times(self._strip(start, stop), start, padded, own, above)
            return start, stop, own, above

        out = np.zeros(padded.shape)
        for start, stop, own, above in ordered_map(work, self._cuts(), self.threads):
            out[start:stop] += own
            out[:start] += above
        return out[:, :width]

    def _first_pass(self) -> NDArray[np.float64]:
        keep = self._is_worth_keeping()
        shares = self.shares.astype(self.dtype)

        def work(cut: tuple[int, int]) -> tuple[int, int, Array | None, Array, Array]:
            start, stop = cut
            strip = self._compute(start, stop)
            return start, stop, strip if keep else None, strip @ shares[:stop], shares[start:stop] @ strip[:, :start]

        means = np.zeros(self.n)
        strips: list[Array] = []
        for start, stop, strip, own, above in ordered_map(work, self._cuts(), self.threads):
            if not (np.isfinite(own).all() and np.isfinite(above).all()):
                raise overflow_error()
            means[start:stop] += own
            means[:start] += above
            if strip is not None:
                strips.append(strip)
            report("kernel matrix", self.n - start, self.n)
        self._strips = strips[::-1] if keep else None
        return means

    def _is_worth_keeping(self) -> bool:
        if isinstance(self.source, Given) and self.source.function is None:
            return False  # it is kept already
        available = available_bytes()
        return available is None or self.n**2 // 2 * self.dtype.itemsize <= KEPT_SHARE * available

    def _cuts(self) -> Iterator[tuple[int, int]]:
        """The strips, the longest first: threads then end together."""
        return ((start, min(start + STRIP, self.n)) for start in reversed(range(0, self.n, STRIP)))

    def _strip(self, start: int, stop: int) -> Array:
        return self._compute(start, stop) if self._strips is None else self._strips[start // STRIP]

    def _compute(self, start: int, stop: int) -> Array:
        """Rows start…stop of G' up to the diagonal block, (m, stop)."""
        rows = slice(start, stop)
        if isinstance(self.source, Given) and self.source.function is None:
            return self.source.block(rows, slice(0, stop))
        strip = np.empty((stop - start, stop), dtype=self.dtype)
        with np.errstate(over="ignore", invalid="ignore"):  # what overflows is found in the sums, and named
            for first in range(0, stop, TILE):
                columns = slice(first, min(first + TILE, stop))
                strip[:, columns] = self.source.block(rows, columns)
        return strip


def gram(
    X: Any, kernel: Any = "rbf", *, gamma: Any = None, sample_weight: Any = None, n_jobs: int | None = None
) -> Gram:
    """The Gram matrix of X under a kernel, ready for `KernelPCA().fit(gram)`.

    Parameters
    ----------
    X : array or dataframe (n, d)
        Rows; or the matrix itself (n, n) with kernel="precomputed".
    kernel : str, kernel of lowdim.kernels, or function of two rows
        `lowdim.kernels.from_distance(metric)` gives the matrix of classical scaling.
    gamma : float, "scale" or "median", optional
        The kernel's γ, instead of its own.
    sample_weight : array of n numbers, optional
        How often each row counts.
    n_jobs : int, optional
        Threads. The result has the same bits for any number of them.

    """
    rows = read_rows(Reader(), X, fitting=True)
    weights, threads = check_weights(sample_weight, rows.n), thread_count(n_jobs)
    chosen = as_kernel(kernel, gamma)
    if isinstance(chosen, precomputed):
        return Gram(Given(square_rows(rows, "a precomputed kernel")), weights, threads)
    table = dense_rows(rows)
    return Gram(KernelRows(table, chosen.resolve(table)), weights, threads)


def dense_rows(rows: Rows) -> Array:
    """All rows as one finite array that may be kept: what new rows are compared with must not change with X."""
    return np.asarray(owned(finite_rows(rows), rows))


def finite_rows(rows: Rows) -> Array:
    """All rows as one finite array, the given one where it will do."""
    if rows.sparse:
        raise BadInputType(SPARSE)
    whole = dense_table(rows)
    if not np.isfinite(whole).all():
        raise finite_error(rows, Chunk(0, rows.count, lambda: whole))
    if not len(whole):
        raise BadInput("there are 0 sample(s) in the data while a minimum of 1 is required.")
    return whole


def square_rows(rows: Rows, what: str) -> Array:
    """Rows of a symmetric matrix, as they are."""
    if rows.sparse:
        raise BadInputType(SPARSE)
    if rows.n != rows.d:
        raise BadInput(f"{what} must be square; got {rows.n} × {rows.d}.")
    whole = rows.whole()
    if not np.isfinite(whole).all():
        raise finite_error(rows, Chunk(0, rows.count, lambda: whole))
    slack = 1e-5 * float(np.abs(whole).max(initial=0.0))
    for start in range(0, len(whole), STRIP):
        cut = slice(start, start + STRIP)
        if np.abs(whole[cut] - whole[:, cut].T).max(initial=0.0) > slack:
            raise BadInput(f"{what} must be symmetric; it is not. Use (X + X.T) / 2 if that is what is meant.")
    return whole
