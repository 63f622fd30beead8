"""Lecture 1's algebra: sums, products, positive multiples and positive polynomials of kernels are kernels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadParameter
from lowdim.kernels._base import Kernel
from lowdim.runtime.param import Real

__all__ = ["Product", "Scaled", "Sum", "polynomial_of"]

Array = NDArray[Any]


@dataclass(frozen=True)
class _Joint(Kernel):
    """Two or more kernels; a + (b + c) and (a + b) + c are the same, and then also equal."""

    parts: tuple[Kernel, ...]

    def __post_init__(self) -> None:
        parts = self.parts
        if not isinstance(parts, tuple) or len(parts) < 2 or not all(isinstance(p, Kernel) for p in parts):
            raise BadParameter(f"{type(self).__name__}: parts must be a tuple of two or more kernels; got {parts!r}.")
        flat = [p for part in parts for p in (part.parts if type(part) is type(self) else (part,))]
        if len(flat) > len(parts):
            object.__setattr__(self, "parts", tuple(flat))

    @property
    def psd(self) -> bool | None:  # type: ignore[override]
        """Known if it is known of every part."""
        return True if all(part.psd for part in self.parts) else None

    def _parts(self) -> dict[str, Kernel]:
        return {f"k{place}": part for place, part in enumerate(self.parts, 1)}

    def _of_parts(self, parts: dict[str, Any]) -> dict[str, Any]:
        return {"parts": tuple(parts.values())}


@dataclass(frozen=True)
class Sum(_Joint):
    """k₁ + k₂ + …: sums of positive semidefinite matrices are positive semidefinite."""

    def of(self, pair: Any) -> Array:
        total = np.array(self.parts[0].of(pair))
        for part in self.parts[1:]:
            total += part.of(pair)
        return total

    def __repr__(self) -> str:
        return " + ".join(map(repr, self.parts))


@dataclass(frozen=True)
class Product(_Joint):
    """k₁ · k₂ · …, entry by entry: Hadamard products of positive semidefinite matrices are too (lecture 2)."""

    def of(self, pair: Any) -> Array:
        total = np.array(self.parts[0].of(pair))
        for part in self.parts[1:]:
            total *= part.of(pair)
        return total

    def __repr__(self) -> str:
        return " * ".join(_bracketed(part, Sum, Scaled) for part in self.parts)


@dataclass(frozen=True)
class _Based(Kernel):
    """A kernel made of one other."""

    @property
    def psd(self) -> bool | None:  # type: ignore[override]
        """As the other's."""
        return self.kernel.psd  # type: ignore[attr-defined]

    def _require_kernel(self, kernel: Any) -> None:
        if not isinstance(kernel, Kernel):
            raise BadParameter(f"{type(self).__name__} needs a kernel such as rbf(0.5); got {kernel!r}.")


@dataclass(frozen=True)
class Scaled(_Based):
    """c · k for c > 0."""

    factor: float
    kernel: Kernel

    def __post_init__(self) -> None:
        self._require_kernel(self.kernel)
        if not Real(0, open=True).accepts(self.factor):
            raise BadParameter(
                f"a kernel's factor must be {Real(0, open=True).text}; got {self.factor!r}. Any other would make "
                "the square of a length zero or negative, and the result no kernel."
            )

    def of(self, pair: Any) -> Array:
        values = np.array(self.kernel.of(pair))
        values *= values.dtype.type(self.factor)
        return values

    def __repr__(self) -> str:
        factor = float(self.factor)
        short = f"{factor:g}"
        return f"{short if float(short) == factor else factor} * {_bracketed(self.kernel, Sum, Product, Scaled)}"


@dataclass(frozen=True)
class polynomial_of(_Based):
    """c₀ + c₁ k + c₂ k² + … with no negative coefficient (lecture 1)."""

    kernel: Kernel
    coefficients: Any  # a tuple of numbers, the constant first

    def __post_init__(self) -> None:
        self._require_kernel(self.kernel)
        given = self.coefficients
        numbers = tuple(given) if isinstance(given, list | tuple | np.ndarray) else ()
        if not all(map(Real(0).accepts, numbers)) or not any(numbers):
            raise BadParameter(
                f"the coefficients must be numbers of at least 0, not all 0, the constant first; got {given!r}. "
                "A negative one can make the square of a length negative, and the result no kernel."
            )
        if not isinstance(given, tuple):
            object.__setattr__(self, "coefficients", tuple(float(c) for c in numbers))

    def of(self, pair: Any) -> Array:
        values = np.asarray(self.kernel.of(pair))
        total = np.full_like(values, self.coefficients[-1])
        for coefficient in self.coefficients[-2::-1]:  # Horner's scheme
            total *= values
            total += values.dtype.type(coefficient)
        return total


def _bracketed(kernel: Kernel, *kinds: type) -> str:
    return f"({kernel!r})" if isinstance(kernel, kinds) else repr(kernel)
