"""Centered kernels of single columns as products F Fᵀ of thin factors, and their inner products (HSIC).

The kernel matrix of one column has n² entries, but the Gaussian kernel of numbers on a line is of low rank up to
rounding: incomplete Cholesky decomposition with pivoting (Fine and Scheinberg 2001) gives it in n m entries, and
⟨K, L⟩ = ‖Fᵀ G‖² costs n m² instead of n².
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.runtime.progress import report
from lowdim.runtime.threads import ordered_map

__all__ = ["KernelFactors", "class_factor", "gaussian_factor", "kernel_factors"]

Floats = NDArray[np.float64]

TOLERANCE = 1e-6  # of an entry of a kernel matrix, whose diagonal is 1
FEATURES_PER_TASK = 16


@dataclass(frozen=True, eq=False)
class KernelFactors:
    """Factors of the kernels of all columns, each centered, and of Frobenius norm 1 unless its column is constant."""

    blocks: list[Floats]  # (Σ m, n) factors of some columns, one above the other
    starts: list[NDArray[np.intp]]  # where the factor of each column starts, and the end
    threads: int

    def factor(self, j: int) -> Floats:
        """The factor of one column, (m, n)."""
        block, i = self.blocks[j // FEATURES_PER_TASK], j % FEATURES_PER_TASK
        starts = self.starts[j // FEATURES_PER_TASK]
        return block[starts[i] : starts[i + 1]]

    def inner_products(self, factor: Floats) -> Floats:
        """⟨K_j, F Fᵀ⟩ for the kernels of all columns, (d,)."""

        def work(i: int) -> Floats:
            squares = np.square(self.blocks[i] @ factor.T).sum(axis=1)
            return np.add.reduceat(np.append(squares, 0.0), self.starts[i])[:-1] * (np.diff(self.starts[i]) > 0)

        return np.concatenate(list(ordered_map(work, range(len(self.blocks)), self.threads)))


def kernel_factors(X: NDArray[Any], sigma: float, max_rank: int, threads: int) -> KernelFactors:
    """The factors of all columns of a finite table."""
    d = X.shape[1]

    def work(first: int) -> list[Floats]:
        columns = range(first, min(first + FEATURES_PER_TASK, d))
        return [gaussian_factor(X[:, j].astype(np.float64), sigma, max_rank) for j in columns]

    blocks, starts = [], []
    for factors in ordered_map(work, range(0, d, FEATURES_PER_TASK), threads):
        starts.append(np.concatenate([[0], np.cumsum([len(factor) for factor in factors])]).astype(np.intp))
        blocks.append(np.vstack(factors))
        report("HSIC-lasso: kernels", FEATURES_PER_TASK * len(blocks), d)
    return KernelFactors(blocks, starts, threads)


def gaussian_factor(values: Floats, sigma: float, max_rank: int) -> Floats:
    """The factor (m, n) of exp(-(a - b)² / (2 σ²)), a and b in standard deviations; of 0 rows if they are all equal."""
    n = len(values)
    largest = np.abs(values - values[0]).max()
    if largest == 0:
        return np.empty((0, n))
    shifted = (values - values[0]) / largest  # so that squares neither overflow nor underflow
    x = shifted / (shifted.std() * sigma)
    factor, left = np.empty((min(max_rank, n), n)), np.ones(n)
    for m in range(len(factor)):
        pivot = int(np.argmax(left))
        if left[pivot] <= TOLERANCE:
            factor = factor[:m]
            break
        row = np.exp(-0.5 * np.square(x - x[pivot])) - factor[:m, pivot] @ factor[:m]
        factor[m] = row / np.sqrt(left[pivot])
        left = np.maximum(left - np.square(factor[m]), 0.0)
        left[pivot] = 0.0
    return _normalized(factor)


def class_factor(codes: NDArray[np.int32]) -> Floats:
    """The factor (C, n) of the kernel of classes: 1 / n_c for two rows of class c, else 0."""
    counts = np.bincount(codes)
    return _normalized((codes == np.arange(len(counts))[:, None]) / np.sqrt(np.maximum(counts, 1))[:, None])


def _normalized(factor: Floats) -> Floats:
    """Of the centered kernel, of Frobenius norm 1."""
    factor = factor - factor.mean(axis=1, keepdims=True)
    norm = float(np.linalg.norm(factor @ factor.T))
    return factor / np.sqrt(norm) if norm > 0 else np.empty((0, factor.shape[1]))
