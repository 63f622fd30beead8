"""Kernels by their names."""

from __future__ import annotations

from typing import Any

from lowdim.errors import BadParameter
from lowdim.kernels import _dot_product as common
from lowdim.kernels import _stationary as decaying
from lowdim.kernels._base import Kernel
from lowdim.runtime.param import Choice, Either, Such

__all__ = ["NAMES", "as_kernel", "kernel_domain"]

NAMES: dict[str, type[Kernel]] = {
    "linear": common.linear,
    "cosine": common.cosine,
    "rbf": decaying.rbf,
    "gaussian": decaying.rbf,
    "polynomial": common.polynomial,
    "poly": common.polynomial,
    "sigmoid": common.sigmoid,
    "laplacian": decaying.laplacian,
    "chi2": decaying.chi2,
    "rational_quadratic": decaying.rational_quadratic,
    "precomputed": common.precomputed,
}

kernel_domain = Either(
    Choice(*NAMES),
    Such(
        "a kernel such as lowdim.kernels.rbf(0.5), or a function of two rows",
        lambda v: callable(v) and not isinstance(v, type),
    ),
)


def as_kernel(kernel: Any, gamma: Any = None) -> Kernel:
    """The kernel of this name, itself, or the one that a function of two rows computes."""
    if not kernel_domain.accepts(kernel):
        raise BadParameter(f"kernel must be {kernel_domain.text}; got {kernel!r}.")
    if isinstance(kernel, str):
        kernel = NAMES[kernel]()
    elif not isinstance(kernel, Kernel):
        kernel = common.from_function(kernel)
    return kernel if gamma is None else kernel.with_gamma(gamma)
