"""Kernels, what may be done with them, and whether a matrix is one.

    from lowdim.kernels import linear, rbf
    KernelPCA(kernel=rbf(0.5) + 2 * linear()).fit(X)

Kernels are frozen values: they compare, print and go into model files. Sums, products, positive multiples
and polynomials with positive coefficients of kernels are kernels (lecture 1), and nothing else is accepted.
"""

from __future__ import annotations

from lowdim.kernels.algebra import Product, Scaled, Sum, polynomial_of
from lowdim.kernels.base import Kernel
from lowdim.kernels.common import (
    cosine,
    from_distance,
    from_function,
    linear,
    polynomial,
    precomputed,
    sigmoid,
)
from lowdim.kernels.decaying import chi2, laplacian, rational_quadratic, rbf
from lowdim.kernels.definite import Definiteness, is_conditionally_negative_definite, is_euclidean, is_psd
from lowdim.kernels.named import as_kernel
from lowdim.kernels.schoenberg import (
    Transform,
    exponential,
    identity,
    is_completely_monotone,
    logarithm,
    power,
    radial,
    ratio,
)

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
