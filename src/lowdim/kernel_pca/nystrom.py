"""Nyström approximation: kernel PCA in the span of a few landmarks.

With C = k(X, L) and K = k(L, L) for landmarks L, the rows of C K^{-1/2} have the inner products C K⁻¹ Cᵀ ≈ k(X, X).
PCA of these rows, by their moments, is kernel PCA of the approximation.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lowdim.data.rows import Rows, SparseRows, chunk_rows
from lowdim.decomposition.gram_eigen import KernelComponents, check_kernel_underflow
from lowdim.decomposition.landmarks import CANDIDATES
from lowdim.kernels import Kernel
from lowdim.linalg.dense_eigen import eigh_largest
from lowdim.runtime.warning import warn
from lowdim.summaries.kernel_sources import ComputedKernel, cross_kernel
from lowdim.summaries.moments import moments_of

__all__ = ["nystrom_bytes", "nystrom_components"]

Array = NDArray[np.float64]


def nystrom_bytes(rows: Rows, landmarks: int, threads: int) -> int:
    """Memory that the approximation needs beside the rows: that of its largest step, and a block of rows in float64.

    First a sample of candidates and the two factors of their distances; then the same of the landmarks in float64
    beside their kernel matrix, its eigenvectors and LAPACK's work; then the root of that matrix, for each thread a
    block of kernel values, of squared distances and of centered values in float64, and the scatters of the fold.
    """
    stored = 2 * rows.X.nnz // max(1, rows.count) if isinstance(rows, SparseRows) else rows.d  # numbers per row
    candidates = 3 * rows.dtype.itemsize * min(rows.count, CANDIDATES * landmarks) * stored
    matrices = 4 * 8 * landmarks * (stored + landmarks)
    size = chunk_rows(landmarks, rows.dtype.itemsize)
    blocks = -(-rows.count // size)
    at_once, waiting = min(threads, blocks), blocks.bit_length() - 1
    values = (2 * rows.dtype.itemsize + 8) * min(at_once * size, rows.count) * landmarks
    folded = values + 8 * landmarks**2 * (1 + at_once + waiting)
    return max(candidates, matrices, folded) + 8 * min(rows.count, size) * stored


def nystrom_components(rows: Rows, landmarks: ComputedKernel, k: int | None, threads: int) -> KernelComponents:
    """The k first principal components, or all that the landmarks span, by the Nyström approximation."""
    if not landmarks.kernel.psd:
        _warn_of_negative_eigenvalues(landmarks.kernel)
    root = _inverse_root(landmarks)
    m = moments_of(cross_kernel(rows, landmarks), None, None, threads)
    k = max(1, root.shape[1]) if k is None else k
    projected = root.T @ m.within @ root
    found = eigh_largest(projected, min(k, root.shape[1]))
    missing = k - len(found.values)  # more components than the landmarks span
    varying = found.values > np.finfo(landmarks.dtype).eps * float(np.trace(projected))
    values = np.pad(np.where(varying, found.values, 0.0), (0, missing))
    alphas = np.pad(np.where(varying, root @ found.vectors, 0.0), ((0, 0), (0, missing)))
    mean = root.T @ m.mean
    trace = _kernel_trace(rows, landmarks)
    check_kernel_underflow(trace, rows.count, landmarks.rows.rows)
    total = trace - m.n * float(mean @ mean) if landmarks.kernel.psd else float(np.trace(projected))
    residual = trace - m.n * float(mean @ mean) - float(np.einsum("ij,ij->", root, m.within @ root))
    error = max(0.0, residual / trace) if trace > 0 else 0.0  # exact, as k(X, X) - C K⁻¹ Cᵀ is positive semidefinite
    return KernelComponents(
        values,
        alphas,
        m.mean,
        root @ mean,
        scores=(landmarks.block(slice(None), slice(None)) - m.mean) @ alphas,
        total=total,
        error=error if landmarks.kernel.psd else np.nan,
    )


def _inverse_root(landmarks: ComputedKernel) -> Array:
    """R (m, r) with R Rᵀ = K⁺, the pseudoinverse of the landmarks' kernel matrix."""
    rows, origin = (part.astype(np.float64) for part in (landmarks.rows.rows, landmarks.rows.origin))
    wide = ComputedKernel(rows, landmarks.kernel, origin)
    found = eigh_largest(wide.block(slice(None), slice(None)))
    floor = np.finfo(landmarks.dtype).eps * len(found.values) * max(float(found.values[0]), 0.0)
    kept = found.values > floor
    return found.vectors[:, kept] / np.sqrt(found.values[kept])


def _warn_of_negative_eigenvalues(kernel: Kernel) -> None:
    warn(
        f"the Nyström approximation is for positive semidefinite kernels, and {kernel!r} is not known to be one: "
        "negative eigenvalues of its matrix are lost, and the error of the approximation is not known. "
        "Use solver='lanczos', or test a sample with lowdim.kernels.is_psd.",
    )


def _kernel_trace(rows: Rows, landmarks: ComputedKernel) -> float:
    """The trace of k(X, X)."""
    return sum(float(landmarks.diagonal_of(chunk.load()).sum(dtype=np.float64)) for chunk in rows.chunks())
