"""Nyström's approximation: kernel PCA in the span of a few landmarks.

With C = k(X, L) and K = k(L, L), the rows C K^{-1/2} have the inner products C K⁻¹ Cᵀ ≈ k(X, X): ordinary
PCA of them, by their moments, is kernel PCA of the approximation.
"""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

from lowdim.data.rows import ArrayRows, Rows
from lowdim.decomposition.gram_eigen import Components
from lowdim.errors import LowdimWarning
from lowdim.kernels import Kernel
from lowdim.kernels._row_blocks import Points
from lowdim.linalg.dense_eigen import eigh_largest
from lowdim.summaries.gram import KernelRows, kernel_table
from lowdim.summaries.moments import moments_of

__all__ = ["by_nystrom"]

Array = NDArray[np.float64]


def by_nystrom(rows: Rows, source: KernelRows, k: int | None, threads: int) -> Components:
    """The k largest components of rows, or all that there are, on the landmarks of `source`."""
    if not source.kernel.psd:
        _warn_of_negative_eigenvalues(source.kernel)
    root = _inverse_root(source)
    m = moments_of(kernel_table(rows, source), None, None, threads)
    k = max(1, root.shape[1]) if k is None else k
    found = eigh_largest(root.T @ m.within @ root, min(k, root.shape[1]))
    missing = k - len(found.values)  # more components than the landmarks span
    values = np.pad(np.maximum(found.values, 0), (0, missing))
    alphas = np.pad(root @ found.vectors, ((0, 0), (0, missing)))
    middle = root.T @ m.mean
    whole = _total_diagonal(rows, source)
    unseen = whole - m.n * float(middle @ middle) - float(np.einsum("ij,ij->", root, m.within @ root))
    error = max(0.0, unseen / whole) if whole > 0 else 0.0  # exact: k(X, X) - C K⁻¹ Cᵀ is semidefinite
    return Components(
        values,
        alphas,
        m.mean,
        root @ middle,
        scores=(source.block(slice(None), slice(None)) - m.mean) @ alphas,
        trace=whole - m.n * float(middle @ middle),
        error=error if source.kernel.psd else np.nan,
    )


def _inverse_root(source: KernelRows) -> Array:
    """R (m, r) with R Rᵀ = K⁻¹ on what the landmarks span."""
    landmarks = KernelRows(source.points.rows.astype(np.float64), source.kernel)
    spread = eigh_largest(landmarks.block(slice(None), slice(None)))
    floor = np.finfo(source.dtype).eps * len(spread.values) * max(float(spread.values[0]), 0.0)
    kept = spread.values > floor
    return spread.vectors[:, kept] / np.sqrt(spread.values[kept])


def _warn_of_negative_eigenvalues(kernel: Kernel) -> None:
    warnings.warn(
        f"Nyström's approximation is for positive semidefinite kernels, and {kernel!r} is not known to be one: "
        "what its matrix has of negative eigenvalues is lost, and its error is not known. "
        "Use solver='lanczos', or look at a sample with lowdim.kernels.is_psd.",
        LowdimWarning,
        stacklevel=6,
    )


def _total_diagonal(rows: Rows, source: KernelRows) -> float:
    """Σ k(x, x)."""
    whole = rows if isinstance(rows, ArrayRows) else ArrayRows(rows.whole())
    return sum(
        float(source.kernel.diagonal(Points(chunk.load(), source.points.shift)).sum(dtype=np.float64))
        for chunk in whole.chunks()
    )
