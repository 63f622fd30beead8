"""Nyström's approximation: kernel PCA in the span of a few landmarks.

With C = k(X, L) and K = k(L, L), the rows C K^{-1/2} have the inner products C K⁻¹ Cᵀ ≈ k(X, X): ordinary
PCA of them, by their moments, is kernel PCA of the approximation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lowdim.data.rows import ArrayRows, Rows
from lowdim.kernels.points import Points
from lowdim.solve.eigen import top
from lowdim.summaries.gram import KernelRows, kernel_table
from lowdim.summaries.moments import moments_of

__all__ = ["Nystrom", "by_nystrom"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Nystrom:
    """Components as combinations of landmarks, and how much of the kernel they can't see."""

    values: Array  # (k,) eigenvalues of the approximate centred matrix, descending
    alphas: Array  # (m, k): scores are (k(y, L) - means) alphas
    means: Array  # (m,) of the columns of C
    mean_weights: Array  # (m,): the mean in the kernel's space as a combination of landmarks
    trace: float  # of the centred matrix
    error: float  # tr(k(X, X) - C K⁻¹ Cᵀ) / tr k(X, X), which is exact: the difference is semidefinite


def by_nystrom(rows: Rows, source: KernelRows, k: int, threads: int) -> Nystrom:
    """The k largest components of rows on the landmarks of `source`."""
    landmarks = KernelRows(source.points.rows.astype(np.float64), source.kernel)
    spread = top(landmarks.block(slice(None), slice(None)))
    floor = np.finfo(source.dtype).eps * len(spread.values) * max(float(spread.values[0]), 0.0)
    kept = spread.values > floor
    root = spread.vectors[:, kept] / np.sqrt(spread.values[kept])  # (m, r): root rootᵀ = K⁻¹
    m = moments_of(kernel_table(rows, source), None, None, threads)
    found = top(root.T @ m.within @ root, min(k, root.shape[1]))
    missing = k - len(found.values)  # more components than the landmarks span
    values = np.pad(np.maximum(found.values, 0), (0, missing))
    alphas = np.pad(root @ found.vectors, ((0, 0), (0, missing)))
    middle = root.T @ m.mean
    whole = _total_diagonal(rows, source)
    seen = float(np.einsum("ij,ij->", root, m.within @ root)) + m.n * float(middle @ middle)
    error = max(0.0, 1 - seen / whole) if whole > 0 else 0.0
    return Nystrom(values, alphas, m.mean, root @ middle, whole - m.n * float(middle @ middle), error)


def _total_diagonal(rows: Rows, source: KernelRows) -> float:
    """Σ k(x, x)."""
    whole = rows if isinstance(rows, ArrayRows) else ArrayRows(rows.whole())
    return sum(
        float(source.kernel.diagonal(Points(chunk.load(), source.points.shift)).sum(dtype=np.float64))
        for chunk in whole.chunks()
    )
