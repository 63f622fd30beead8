"""Chebyshev-filtered subspace iteration: rough eigenvectors of a large graph's normalized Laplacian.

For initializations, which need a few digits, fast: single-precision products, no basis beside the block itself.
`sparse_eigen.smallest_eigenpairs` finds eigenpairs to a tolerance.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.linalg.chebyshev import BLOCK_WIDTHS, Float32ChebyshevFilter
from lowdim.linalg.dense_eigen import eigh_largest, fix_signs, generalized_eigh, symmetrized
from lowdim.linalg.dense_limits import SPECTRAL_INIT_ROWS
from lowdim.runtime.memory import require_memory
from lowdim.runtime.progress import report
from lowdim.runtime.random import normal

__all__ = ["laplacian_eigenvectors"]

Array = NDArray[Any]

DENSE_SHARE = 4  # from n / DENSE_SHARE vectors on, the dense matrix is no larger than the block
EXTRA_VECTORS = 4  # in the block, beyond those wanted
DEGREE = 32
MAX_FILTERS = 12
STREAM_BLOCK = 3  # of the random draws
REL_TOL = 1e-2  # of the residuals, relative to the gap that separates the vectors from the rest
WHAT = "the eigenvectors of the graph Laplacian"
ADVICE = "Use fewer components, or init='random'."


def laplacian_eigenvectors(W: sp.csr_array, k: int, seed: int, threads: int) -> NDArray[np.float64]:
    """Eigenvectors of the normalized Laplacian I - S of a connected graph with the smallest nonzero values, (n, ≤ k).

    S = D^-½ W D^-½ has its trivial vector D^½ 1 at 1, which is deflated; the next k are found by Chebyshev filters of
    S that damp the rest of the spectrum, or from the dense matrix where n is small or k is large. There are at
    most n - 2.
    """
    n = W.shape[0]
    rows = np.repeat(np.arange(n, dtype=np.int32), np.diff(W.indptr))
    degrees = np.bincount(rows, W.data.astype(np.float64), minlength=n)
    root = np.sqrt(np.where(degrees > 0, degrees, 1.0))
    trivial = root / np.linalg.norm(root)
    k = min(k, max(n - 2, 0))
    if n <= SPECTRAL_INIT_ROWS or DENSE_SHARE * k > n:
        return np.asarray(_dense(W, root, trivial, k), dtype=np.float64)
    inverse = (1 / root).astype(np.float32)
    columns = W.indices.astype(np.int32, copy=False)
    values = W.data * inverse[rows] * inverse[columns]
    S = Float32ChebyshevFilter(W.indptr.astype(np.int64, copy=False), columns, values, threads)
    return np.asarray(fix_signs(_subspace_iteration(S, trivial, k, seed)), dtype=np.float64)


def _dense(W: sp.csr_array, root: Array, trivial: Array, k: int) -> Array:
    n = W.shape[0]
    if k == 0:
        return np.empty((n, 0))
    require_memory(4 * 8 * n * n, WHAT, ADVICE)
    S = W.toarray() / np.outer(root, root)
    return eigh_largest(symmetrized(S) - 3 * np.outer(trivial, trivial), k).vectors


def _subspace_iteration(S: Float32ChebyshevFilter, trivial: Array, k: int, seed: int) -> Array:
    """Filter a block, take its Ritz vectors, and filter these, until the residuals are small (Zhou et al. 2006)."""
    n, widest = S.n, BLOCK_WIDTHS[-1]
    width = next((w for w in BLOCK_WIDTHS if w >= k + EXTRA_VECTORS), -(-(k + EXTRA_VECTORS) // widest) * widest)
    require_memory(32 * n * width, WHAT, ADVICE)
    block = normal((n, width), seed, stream=STREAM_BLOCK, dtype=np.float32, threads=S.threads)
    cut, degree, spent = 0.9, DEGREE, 0
    vectors = np.empty((n, 0))
    while spent < MAX_FILTERS * DEGREE:
        wide = S.filter(block, (-1.0, cut), degree)
        spent += degree
        wide -= np.outer(trivial, trivial @ wide)
        wide /= np.maximum(np.linalg.norm(wide, axis=0), 1e-30)
        image = S.times(wide.astype(np.float32))
        ritz = generalized_eigh(symmetrized(wide.T @ image), wide.T @ wide, tol=1e-10)
        theta, inner = ritz.values, ritz.vectors
        vectors = wide @ inner[:, :k]
        residual = np.linalg.norm(image @ inner[:, :k] - vectors * theta[:k], axis=0)
        error = float(residual.max()) / max(float(theta[0] - theta[-1]), 1e-3)
        report("spectral initialization", spent, MAX_FILTERS * DEGREE, residual=error)
        if error <= REL_TOL and len(theta) >= k:
            break
        block = np.ascontiguousarray(wide @ inner, dtype=np.float32)
        missing = width - len(theta)
        if missing:  # so steep a filter that the block became dependent: halve its degree, add random vectors
            degree = max(2, degree // 2)
            stream = STREAM_BLOCK + spent
            fresh = normal((n, missing), seed, stream=stream, dtype=np.float32, threads=S.threads)
            block = np.hstack([block, fresh / np.float32(np.sqrt(n))])
            continue
        cut = float(np.clip(theta[-1], -0.5, 0.999))
    return vectors
