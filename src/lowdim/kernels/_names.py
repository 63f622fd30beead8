"""Kernels by name."""

from __future__ import annotations

from typing import Any

from lowdim.errors import BadParameter
from lowdim.kernels._conversions import from_function, precomputed
from lowdim.kernels._dot_product import cosine, linear, polynomial, sigmoid
from lowdim.kernels._kernel import Kernel
from lowdim.kernels._stationary import chi2, laplacian, rational_quadratic, rbf
from lowdim.runtime.param import Choice, Either, Such

__all__ = ["NAMES", "as_kernel", "kernel_domain"]

NAMES: dict[str, type[Kernel]] = {
    "linear": linear,
    "cosine": cosine,
    "rbf": rbf,
    "gaussian": rbf,
    "polynomial": polynomial,
    "poly": polynomial,
    "sigmoid": sigmoid,
    "laplacian": laplacian,
    "chi2": chi2,
    "rational_quadratic": rational_quadratic,
    "precomputed": precomputed,
}

kernel_domain = Either(
    Choice(*NAMES),
    Such(
        "a kernel such as lowdim.kernels.rbf(0.5), or a function of two rows",
        lambda v: callable(v) and not isinstance(v, type),
    ),
)


def as_kernel(kernel: Any, gamma: Any = None) -> Kernel:
    """The kernel that a name, a kernel or a function of two rows stands for, with `gamma` as its γ if given."""
    if not kernel_domain.accepts(kernel):
        raise BadParameter(f"kernel must be {kernel_domain.text}; got {kernel!r}.")
    if isinstance(kernel, str):
        kernel = NAMES[kernel]()
    elif not isinstance(kernel, Kernel):
        kernel = from_function(kernel)
    return kernel if gamma is None else kernel.with_gamma(gamma)
