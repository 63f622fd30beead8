"""Up to how many rows a dense O(n³) eigensolver is faster than an iterative one, for each kind of problem.

The limits differ because the alternatives do: what a product costs, how many are needed, and whether the dense matrix
is there anyway.
"""

from __future__ import annotations

__all__ = [
    "COVARIANCE_ROWS",
    "DEFINITENESS_ROWS",
    "GEODESIC_GRAM_ROWS",
    "GRAM_ROWS",
    "LAPLACIAN_FALLBACK_ROWS",
    "LAPLACIAN_ROWS",
    "MDS_INIT_ROWS",
    "SPECTRAL_INIT_ROWS",
    "dense_is_faster",
]

COVARIANCE_ROWS = 3000  # PCA: an iteration reads all rows of X, the covariance matrix is small beside them
DEFINITENESS_ROWS = 3000  # is_psd: all eigenvalues give an exact verdict, in seconds up to here
GRAM_ROWS = 1000  # kernel PCA, classical MDS: a product with the Gram matrix may compute the kernel anew
GEODESIC_GRAM_ROWS = 400  # Isomap: products with the float32 matrix in memory are cheap
MDS_INIT_ROWS = 256  # SMACOF's and SGD's initialization: a residual of 1e-3 takes few products
SPECTRAL_INIT_ROWS = 256  # UMAP's and t-SNE's initialization: likewise, and the products are sparse
LAPLACIAN_ROWS = 500  # Laplacian eigenmaps, LLE: LAPACK is done before a sparse factorization would be
LAPLACIAN_FALLBACK_ROWS = 2500  # the same, after a Chebyshev filter of high degree did not converge

SHARE = 10  # from n / SHARE eigenpairs on, an iteration costs as much as all of them


def dense_is_faster(n: int, k: int, rows: int) -> bool:
    """Whether k of n eigenpairs are to be found by a dense solver; `rows` is one of the limits above."""
    return n <= rows or k > n // SHARE
