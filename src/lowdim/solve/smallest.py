"""The smallest eigenvalues of a large sparse matrix, by a filter of Chebyshev polynomials."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim import _native
from lowdim.progress import report
from lowdim.random import normal
from lowdim.solve.eigen import Eigen, bottom, fix_signs

__all__ = ["smallest"]

Array = NDArray[Any]

DENSE_ROWS = 400  # below, the whole small matrix is solved at once
SPARE = 5  # at least so many vectors beyond the wanted ones: the filter separates from the first value not held
LANES = 8  # the width of the block is a multiple of it
GROWTH = 1e8  # how much one filter may stretch the best direction beyond the others before they drown in rounding
SMALL = 1 << 22  # multiplications below which handing a product to several threads costs more than it saves
MOST_DEGREE = 60
MOST_PRODUCTS = 3000  # then the matrix is thin like a path, and a factorisation of it is cheap


def smallest(A: sp.csr_array, k: int, null: Array, upper: float, tol: float, seed: int, threads: int) -> Eigen:
    """The k smallest eigenvalues, ascending, of a positive semidefinite A whose values are at most `upper`.

    `null` (n, m) holds orthonormal vectors that A sends to zero; they are left out. A block of vectors is multiplied
    by a polynomial that is small on the part of the spectrum that nobody wants, and A is solved on what remains,
    until every residual is below tol times half the upper bound.
    """
    n = A.shape[0]
    if n <= DENSE_ROWS or k + null.shape[1] > n // 8:
        return bottom(A.toarray(), k, null)
    parts = A.indptr.astype(np.int32), A.indices.astype(np.int32), A.data.astype(np.float64)
    width = -(-(k + SPARE) // LANES) * LANES
    block = _orthonormal(normal((n, width), seed, threads=threads), null)
    threads = threads if A.nnz * block.shape[1] > SMALL else 1
    products = 0
    while products < MOST_PRODUCTS:
        image = A @ block
        values, inner = np.linalg.eigh(_symmetric(block.T @ image))
        block, image = block @ inner, image @ inner
        residual = np.linalg.norm(image[:, :k] - block[:, :k] * values[:k], axis=0).max() / (upper / 2)
        report("filtering", products, None, residual=float(residual))
        if residual <= tol:
            return Eigen(values[:k], fix_signs(block[:, :k]), products)
        cut = min(max(float(values[-1]), 1e-12 * upper), 0.9 * upper)
        degree = _degree(cut, upper, float(values[k - 1]), float(residual) / tol)
        filtered = np.empty(block.shape)
        _native.chebyshev(*parts, np.ascontiguousarray(block), (cut, upper), degree, filtered, threads)
        block = _orthonormal(filtered, null)
        products += degree + 1
    return bottom(A, k, null)


def _degree(cut: float, upper: float, last: float, missing: float) -> int:
    """The even degree at which the polynomial grows by GROWTH towards 0, or by what is missing towards `last`."""

    def needed(growth: float, value: float) -> float:
        inside = max((upper + cut - 2 * value) / (upper - cut), 1 + 1e-12)
        return float(np.log(growth) / np.arccosh(inside))

    enough = needed(100 * missing, last)  # with a margin: one more filter costs more than a few more degrees
    return 2 * int(np.clip(np.ceil(min(needed(GROWTH, 0.0), enough) / 2), 2, MOST_DEGREE // 2))


def _orthonormal(block: Array, null: Array) -> Array:
    block = block / np.linalg.norm(block, axis=0)
    for _ in range(2):
        block = np.linalg.qr(block - null @ (null.T @ block))[0]
    return block


def _symmetric(A: Array) -> Array:
    return (A + A.T) / 2
