"""Kernels made from something else: a kernel matrix, a function of two rows, a distance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.distance.metrics import PLAIN_METRICS
from lowdim.distance.pairwise import one_number
from lowdim.errors import BadInput, BadParameter
from lowdim.kernels._kernel import Kernel
from lowdim.kernels._row_blocks import RowPairs
from lowdim.runtime.param import Choice, Either, Such, param

__all__ = ["from_distance", "from_function", "precomputed"]

Array = NDArray[Any]


@dataclass(frozen=True)
class precomputed(Kernel):
    """The input is the kernel matrix itself."""

    psd = None

    def evaluate(self, pairs: Any) -> Array:
        raise BadParameter("a precomputed kernel can't be evaluated on rows; give the kernel matrix, or name a kernel.")


@dataclass(frozen=True)
class from_function(Kernel):
    """f(x, y) for a Python function of two rows. Slow; positive semidefinite only if f makes it so."""

    psd = None
    function: Callable[[Array, Array], float] = param(
        np.dot, Such("a function of two rows", callable), "Returns a number for two rows.", kw_only=False
    )

    def evaluate(self, pairs: Any) -> Array:
        if not isinstance(pairs, RowPairs):
            values = [self._number(x, x) for _, rows in pairs.X.dense_parts(slice(None)) for x in rows]
            return self._checked(values, pairs.X.dtype)
        return pairs.by_values(lambda left, right: self._matrix(left, right))

    def _matrix(self, left: Array, right: Array) -> Array:
        values = self._checked([[self._number(x, y) for y in right] for x in left], left.dtype)
        return values.reshape(len(left), len(right))

    def _number(self, x: Array, y: Array) -> float:
        return one_number(self.function(x, y), "kernel function")

    def _checked(self, given: list[Any], dtype: np.dtype[Any]) -> Array:
        values = np.array(given, dtype=dtype)
        if not np.isfinite(values).all():
            bad = values[~np.isfinite(values)][0]
            raise BadInput(f"the kernel function must return finite numbers; for some pair of rows it returned {bad}.")
        return values


@dataclass(frozen=True)
class from_distance(Kernel):
    """-d(x, y)² / 2. Double-centered, it is the Gram matrix of classical scaling.

    It is conditionally positive definite if and only if d is Euclidean (Schoenberg 1935).
    """

    psd = None
    metric: Any = param(
        "euclidean",
        Either(
            Choice(*PLAIN_METRICS),
            Such("a function of two rows", lambda v: callable(v) and not isinstance(v, type)),
        ),
        "The distance d.",
        kw_only=False,
    )

    def evaluate(self, pairs: Any) -> Array:
        euclidean = isinstance(self.metric, str) and self.metric == "euclidean"
        squares = pairs.squared_distances if euclidean else np.square(pairs.distances(self.metric))
        squares *= squares.dtype.type(-0.5)
        return squares
