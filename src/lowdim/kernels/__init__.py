"""Positive semidefinite kernels, their algebra, and tests of definiteness.

    from lowdim.kernels import linear, rbf
    KernelPCA(kernel=rbf(0.5) + 2 * linear()).fit(X)

Kernels are immutable values: they can be compared, printed and saved in model files. Sums, products, positive
multiples, and polynomials with nonnegative coefficients of kernels are kernels; other operations are refused.
Imports `distance` and below.
"""

from __future__ import annotations

from lowdim.kernels._conversions import from_distance, from_function, precomputed
from lowdim.kernels._definiteness import Definiteness, is_conditionally_negative_definite, is_euclidean, is_psd
from lowdim.kernels._dot_product import cosine, linear, polynomial, sigmoid
from lowdim.kernels._kernel import Kernel, Product, Scaled, Sum, polynomial_of
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


def __dir__() -> list[str]:
    return sorted(__all__)
