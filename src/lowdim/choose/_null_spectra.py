"""Null spectra: eigenvalues of tables with independent columns, by permutation or from normal draws.

Replicate r has its own generator, seeded by (seed, r), so threads and their order don't matter.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.choose._rules import degrees_of_freedom
from lowdim.data.rows import Chunk, Rows
from lowdim.data.rows.dask import DaskRows, compute, partition_block
from lowdim.decomposition.component_count import Spectrum
from lowdim.decomposition.principal_axes import PCAOptions, center_rows
from lowdim.errors import BadInput
from lowdim.linalg.centered import Centered
from lowdim.linalg.dense_eigen import eigh_largest
from lowdim.runtime.blas import single_blas
from lowdim.runtime.memory import require_memory
from lowdim.runtime.threads import interruptible, ordered_map

__all__ = ["bartlett", "column_variances", "gaussian_values", "generator", "permuted_values"]

Array = NDArray[np.float64]


def permuted_values(spectrum: Spectrum, seed: int, replicates: int, threads: int) -> Iterator[Array]:
    """Eigenvalues after permuting every column independently (lecture 2), one array per replicate.

    A permutation keeps a column's mean and variance, so centering and scaling are done once, and every thread
    refills and permutes one working copy, in which columns are contiguous.
    """
    rows = _rows(spectrum)
    n, d = rows.count, rows.d
    require_memory(
        rows.dtype.itemsize * n * d * (2 + threads),
        f"shuffling {n} × {d} values (dense; one copy, and one more per thread)",
        "Use parallel_analysis(form='gaussian'), which does not read the rows again, or fewer threads.",
    )
    _, centered, _ = center_rows(rows, None, PCAOptions(1, spectrum.ddof, spectrum.standardized, threads=threads))
    count, divisor = len(spectrum.values), n - spectrum.ddof
    if isinstance(rows, DaskRows):
        return _permuted_by_workers(rows, centered, seed, replicates, (count, divisor))
    base = np.empty((d, n), dtype=rows.dtype)
    for chunk in rows.chunks():
        base[:, chunk.start : chunk.stop] = centered.panel(chunk, chunk.load()).T
    own = threading.local()

    def work(replicate: int) -> Array:
        if not hasattr(own, "copy"):
            own.copy = np.empty_like(base)
        np.copyto(own.copy, base)
        return _permuted(own.copy, seed, replicate, count, divisor)

    return ordered_map(work, range(replicates), threads)


def _permuted_by_workers(
    rows: DaskRows, centered: Centered, seed: int, replicates: int, size: tuple[int, float]
) -> Iterator[Array]:
    """The same by workers: the columns come together on one of them, and every replicate is a task."""
    from dask.delayed import delayed

    base = delayed(_gathered_columns, pure=False)(rows.parts, rows.bounds, rows, centered)
    work = delayed(_permuted_copy, pure=False)
    return iter(compute(*(work(base, seed, replicate, *size) for replicate in range(replicates))))


def _gathered_columns(
    parts: list[Any], bounds: NDArray[np.int64], rows: DaskRows, centered: Centered
) -> NDArray[np.floating]:
    base = np.empty((rows.d, rows.count), dtype=rows.dtype)
    for part, start, stop in zip(parts, bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        block = partition_block(part, start, stop, start, rows)
        base[:, start:stop] = centered.panel(Chunk(start, stop, lambda: block), block).T  # noqa: B023
    return base


def _permuted_copy(base: NDArray[np.floating], seed: int, replicate: int, count: int, divisor: float) -> Array:
    with single_blas():
        return _permuted(base.copy(), seed, replicate, count, divisor)


def _permuted(columns: NDArray[np.floating], seed: int, replicate: int, count: int, divisor: float) -> Array:
    """The eigenvalues of columns (d, n), which are permuted in place."""
    generator(seed, replicate).permuted(columns, axis=1, out=columns)
    return _squared_values(columns, count) / divisor


def gaussian_values(
    spectrum: Spectrum, variances: Array | None, seed: int, replicates: int, threads: int
) -> Iterator[Array]:
    """Eigenvalues of independent normal columns of the given variances, one array per replicate.

    Only the scatter is drawn, not the rows. `variances` divide by n - ddof, as the spectrum does; a
    correlation matrix needs none.
    """
    m = degrees_of_freedom(spectrum)
    if spectrum.standardized:
        # The trace of a correlation matrix counts the columns that vary.
        variances = np.ones(round(float(spectrum.values.sum())))
    elif variances is None:
        variances = column_variances(_rows(spectrum), spectrum, threads)
    roots = np.sqrt(variances)[:, None]  # (d, 1)
    d = len(roots)
    require_memory(8 * d * min(d, int(m) + 1) * 3 * threads, f"drawing {d} columns", "Use fewer threads.")

    def work(replicate: int) -> Array:
        random = generator(seed, replicate)
        # Rows of F are the columns of a centered table, in a basis with as few coordinates as possible.
        F = bartlett(d, m, random) if d <= m else random.standard_normal((d, int(np.ceil(m))))
        F *= roots / (np.linalg.norm(F, axis=1, keepdims=True) if spectrum.standardized else np.sqrt(m))
        return _squared_values(F, len(spectrum.values))

    return ordered_map(work, range(replicates), threads)


def bartlett(size: int, freedom: float, random: np.random.Generator) -> Array:
    """A lower triangle A whose A Aᵀ is distributed as G Gᵀ for a standard normal G of (size, freedom).

    Row i has i normals and, on the diagonal, the root of a χ² with freedom - i degrees (Bartlett, 1933).
    """
    A = np.tril(random.standard_normal((size, size)), -1)
    np.fill_diagonal(A, np.sqrt(random.chisquare(freedom - np.arange(size))))
    return A


def column_variances(rows: Rows, spectrum: Spectrum, threads: int) -> Array:
    """Variances of the columns, which divide by n - ddof, (d,)."""
    n, centered, _ = center_rows(rows, None, PCAOptions(1, spectrum.ddof, threads=threads))
    return centered.column_sums_of_squares() / (n - spectrum.ddof)


def generator(seed: int, stream: int) -> np.random.Generator:
    """The random numbers of one replicate."""
    return np.random.Generator(np.random.Philox(np.random.SeedSequence(seed, spawn_key=(stream,))))


def _rows(spectrum: Spectrum) -> Rows:
    rows = spectrum.rows
    if rows is None:
        raise BadInput(
            "parallel analysis has to read the rows again, which a stream or Moments does not allow. Give an array or "
            "a memory map, or standardize and use parallel_analysis(form='gaussian'), or call lowdim.choose.table."
        )
    if spectrum.n != rows.count:
        raise BadInput(
            f"parallel analysis does not take weights (they sum to {spectrum.n:g} for {rows.count} rows). "
            "Repeat the rows instead, or use another rule."
        )
    return rows


def _squared_values(F: NDArray[np.floating], count: int) -> Array:
    """Squared singular values of F, descending, padded with zeros to `count`."""
    C = np.asarray(F @ F.T if F.shape[0] <= F.shape[1] else F.T @ F, dtype=np.float64)
    try:
        values = interruptible(lambda: np.linalg.eigvalsh(C))[::-1]
    except np.linalg.LinAlgError:
        values = eigh_largest(C).values
    out = np.zeros(count)
    kept = np.maximum(values[:count], 0)
    out[: len(kept)] = kept
    return out
