"""The delta method: how each row moves the kernel matrix, and so the directions and the statistics of the tests.

To first order, the estimate of a matrix from n rows is its expectation plus the mean of the influences of the rows, so
covariances of influences give those of all that follows from the matrix.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from lowdim.linalg.dense_eigen import eigh
from lowdim.linear.sdr.solution import RowSum, Sample, Solution, sum_over_scores
from lowdim.runtime.memory import require_memory

__all__ = ["HasInfluence", "direction_errors", "influence_spectrum"]

Floats = NDArray[np.float64]

BLOCK_VALUES = 1 << 22  # influences held at once


class HasInfluence(Protocol):
    """A method that knows the influence of its rows."""

    def _kernel_influence(self, sample: Sample, solution: Solution, columns: slice) -> RowSum: ...

    def _null_influence(self, sample: Sample, solution: Solution, k: int) -> RowSum: ...


def direction_errors(method: HasInfluence, sample: Sample, solution: Solution, k: int) -> Floats:
    """Standard errors of the first k directions, (k, d).

    Perturbing M v = λ S v with VᵀSV = I gives δv_j = Σ_{l≠j} v_l (δM_lj - λ_j δS_lj) / (λ_j - λ_l) - v_j δS_jj / 2 in
    the coordinates of V, where a row with scores z has δS = z zᵀ - I.
    """
    values, r = solution.values, len(solution.values)
    influence = method._kernel_influence(sample, solution, slice(0, k))
    gaps = values[:k] - values[:, None]  # (r, k)
    diagonal = (np.arange(k), np.arange(k))
    gaps[diagonal] = 1.0
    inverse = np.divide(1.0, gaps, out=np.full((r, k), np.inf), where=gaps != 0)

    def total(Z: Floats, codes: Any, cut: slice) -> Floats:
        weights, out = sample.weights_of(cut), np.zeros((k, r, r))
        for part in _parts(len(Z), r * k):
            scores = Z[part]
            moved = influence(scores, codes[part], slice(cut.start + part.start, cut.start + part.stop))
            moved = (moved - values[:k] * scores[:, :, None] * scores[:, None, :k]) * inverse
            moved[:, diagonal[0], diagonal[1]] = (1 - scores[:, :k] ** 2) / 2
            for j in range(k):
                left = moved[:, :, j] if weights is None else moved[:, :, j] * weights[part, None]
                out[j] += left.T @ moved[:, :, j]
        return out

    squares = sum_over_scores(sample, solution, total, "standard errors") / solution.moments.n**2
    V = solution.vectors
    return np.sqrt(np.stack([np.einsum("dl,lm,dm->d", V, square, V) for square in squares]))


def influence_spectrum(method: HasInfluence, sample: Sample, solution: Solution, k: int) -> Floats:
    """Eigenvalues of the covariance of the influences on the k-th statistic: the weights of its χ² variables."""
    influence = method._null_influence(sample, solution, k)
    width = influence(np.zeros((1, len(solution.values))), np.zeros(1, dtype=np.intp), slice(0, 1)).shape[1]
    require_memory(
        8 * width**2 * (3 + sample.threads),
        f"the covariance of {width} influences",
        "Use order_test='chi2' or 'permutation', fewer slices or fewer columns.",
    )

    def total(Z: Floats, codes: Any, cut: slice) -> Floats:
        weights, out = sample.weights_of(cut), np.zeros((width, width))
        for part in _parts(len(Z), width):
            moved = influence(Z[part], codes[part], slice(cut.start + part.start, cut.start + part.stop))
            out += (moved if weights is None else moved * weights[part, None]).T @ moved
        return out

    covariance = sum_over_scores(sample, solution, total, "weights of the order test") / solution.moments.n
    return np.maximum(eigh(covariance)[0], 0.0)


def _parts(n: int, width: int) -> list[slice]:
    size = max(1, BLOCK_VALUES // max(width, 1))
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]
