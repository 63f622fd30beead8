"""Kernels, what may be done with them, and whether a matrix is one.

    from lowdim.kernels import linear, rbf
    KernelPCA(kernel=rbf(0.5) + 2 * linear()).fit(X)

Kernels are frozen values: they compare, print and go into model files. Sums, products, positive multiples
and polynomials with positive coefficients of kernels are kernels (lecture 1), and nothing else is accepted.
"""

from __future__ import annotations

from lowdim.kernels._algebra import Product, Scaled, Sum, polynomial_of
from lowdim.kernels._base import Kernel
from lowdim.kernels._definiteness import Definiteness, is_conditionally_negative_definite, is_euclidean, is_psd
from lowdim.kernels._dot_product import (
    cosine,
    from_distance,
    from_function,
    linear,
    polynomial,
    precomputed,
    sigmoid,
)
from lowdim.kernels._names import as_kernel
from lowdim.kernels._schoenberg import (
    Transform,
    exponential,
    identity,
    is_completely_monotone,
    logarithm,
    power,
    radial,
    ratio,
)
from lowdim.kernels._stationary import chi2, laplacian, rational_quadratic, rbf

__all__ = [
    "Definiteness",
    "Kernel",
    "Product",
    "Scaled",
    "Sum",
    "Transform",
    "as_kernel",
    "chi2",
    "cosine",
    "exponential",
    "from_distance",
    "from_function",
    "identity",
    "is_completely_monotone",
    "is_conditionally_negative_definite",
    "is_euclidean",
    "is_psd",
    "laplacian",
    "linear",
    "logarithm",
    "polynomial",
    "polynomial_of",
    "power",
    "precomputed",
    "radial",
    "ratio",
    "rational_quadratic",
    "rbf",
    "sigmoid",
]
