"""Kernels as values, and their closure properties: sums, products and positive multiples of kernels are kernels.

The composite kernels stand beside `Kernel` because its operators build them.
"""

from __future__ import annotations

import numbers
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, NoReturn, Self

import numpy as np
from numpy.typing import NDArray

from lowdim.data.validation import overflow_error, read_table
from lowdim.errors import BadInput, BadParameter
from lowdim.kernels._parameters import NestedParameters
from lowdim.kernels._row_blocks import DiagonalPairs, PreparedRows, RowPairs
from lowdim.runtime.blas import single_blas
from lowdim.runtime.param import Integer, Real, validate

__all__ = ["Kernel", "Product", "Scaled", "Sum", "polynomial_of"]

Array = NDArray[Any]


@dataclass(frozen=True)
class Kernel(NestedParameters):
    """k(x, y), an inner product in some feature space.

    Fields are parameters, and instances are immutable values. `k1 + k2`, `k1 * k2`, `2 * k` and `k**3` are kernels.
    A subclass implements `evaluate` from the inner products and distances that `RowPairs` provides.
    """

    # Whether every kernel matrix is positive semidefinite; None if that depends or is not known.
    psd: ClassVar[bool | None] = True
    # Whether translating all rows leaves the centered kernel matrix as it is. Rows are then taken about their mean,
    # where the fewest digits are lost.
    translation_invariant: ClassVar[bool] = False

    def __post_init__(self) -> None:
        for name, value in self.get_params(deep=False).items():
            if isinstance(value, np.generic):  # a plain number prints as one
                object.__setattr__(self, name, value.item())
        validate(self)

    def evaluate(self, pairs: Any) -> Array:
        """Kernel values of `RowPairs`, (m, n), or of `DiagonalPairs`, (n,), by one formula."""
        raise NotImplementedError

    def __call__(self, X: Any, Y: Any = None) -> Array:
        """The kernel matrix k(X, Y), or k(X, X), of dense or sparse rows.

        A γ given as "scale" or "median" is computed from X.
        """
        left = PreparedRows(read_table(X, "X"))
        right = left if Y is None else left.like(read_table(Y, "Y"))
        if left.rows.shape[1] != right.rows.shape[1]:
            raise BadInput(f"X has {left.rows.shape[1]} columns and Y {right.rows.shape[1]}; they must agree.")
        with single_blas():
            out = self.resolve(left.rows).evaluate(RowPairs(left, right))
        if not np.isfinite(out).all():
            raise overflow_error()
        return out

    def diagonal(self, rows: PreparedRows) -> Array:
        """k(x, x) for every row, (n,)."""
        return np.broadcast_to(self.evaluate(DiagonalPairs(rows)), rows.n)

    def resolve(self, rows: Any) -> Self:
        """The same kernel with every γ given as "scale" or "median" replaced by its value on these rows."""
        resolved = {f.name: _resolved(getattr(self, f.name), rows) for f in fields(self)}
        return replace(self, **resolved)

    def with_gamma(self, gamma: Any) -> Kernel:
        """The same kernel with another γ, if it has one."""
        if "gamma" not in {f.name for f in fields(self)}:
            raise BadParameter(f"{type(self).__name__} has no gamma; leave gamma=None.")
        return replace(self, gamma=gamma)  # type: ignore[call-arg]

    def __add__(self, other: Any) -> Kernel:
        if isinstance(other, numbers.Real):  # a nonnegative constant is a kernel too, and sum() begins with 0
            return polynomial_of(self, (float(other), 1.0)) if other else self
        return Sum((self, other)) if isinstance(other, Kernel) else NotImplemented

    __radd__ = __add__

    def __mul__(self, other: Any) -> Kernel:
        if isinstance(other, Kernel):
            return Product((self, other))
        return Scaled(float(other), self) if isinstance(other, numbers.Real) else NotImplemented

    __rmul__ = __mul__

    def __pow__(self, power: Any) -> Kernel:
        if not Integer(1).accepts(power):
            raise BadParameter(f"a kernel's power must be {Integer(1).text}; got {power!r}.")
        return Product((self,) * int(power)) if power > 1 else self

    def __sub__(self, other: Any) -> NoReturn:
        raise BadParameter(
            f"a difference of kernels need not be positive semidefinite; sums, products and positive multiples are. "
            f"Got {self!r} - {other!r}."
        )

    def __rsub__(self, other: Any) -> NoReturn:
        raise BadParameter(
            f"a kernel can't be subtracted: its negative is not positive semidefinite. Got {other!r} - {self!r}."
        )

    def __neg__(self) -> NoReturn:
        raise BadParameter(f"the negative of a kernel is not positive semidefinite. Got -({self!r}).")


@dataclass(frozen=True)
class _Composite(Kernel):
    """Two or more kernels, flattened: a + (b + c) equals (a + b) + c."""

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
        """True if it is true of every part, else None."""
        return True if all(part.psd for part in self.parts) else None

    def _nested(self) -> dict[str, NestedParameters]:
        return {f"k{number}": part for number, part in enumerate(self.parts, 1)}

    def _fields_of_nested(self, nested: dict[str, Any]) -> dict[str, Any]:
        return {"parts": tuple(nested.values())}


@dataclass(frozen=True)
class Sum(_Composite):
    """k₁ + k₂ + …: a sum of positive semidefinite matrices is positive semidefinite."""

    @property
    def translation_invariant(self) -> bool:  # type: ignore[override]
        """If every part is."""
        return all(part.translation_invariant for part in self.parts)

    def evaluate(self, pairs: Any) -> Array:
        total = np.array(self.parts[0].evaluate(pairs))
        for part in self.parts[1:]:
            total += part.evaluate(pairs)
        return total

    def __repr__(self) -> str:
        return " + ".join(map(repr, self.parts))


@dataclass(frozen=True)
class Product(_Composite):
    """k₁ · k₂ · …, entry by entry: positive semidefinite by the Schur product theorem."""

    def evaluate(self, pairs: Any) -> Array:
        total = np.array(self.parts[0].evaluate(pairs))
        for part in self.parts[1:]:
            total *= part.evaluate(pairs)
        return total

    def __repr__(self) -> str:
        return " * ".join(_parenthesized(part, Sum, Scaled) for part in self.parts)


@dataclass(frozen=True)
class _FunctionOfKernel(Kernel):
    """A function of one other kernel."""

    @property
    def psd(self) -> bool | None:  # type: ignore[override]
        """That of the other kernel."""
        return self.kernel.psd  # type: ignore[attr-defined]

    def _require_kernel(self, kernel: Any) -> None:
        if not isinstance(kernel, Kernel):
            raise BadParameter(f"{type(self).__name__} needs a kernel such as rbf(0.5); got {kernel!r}.")


@dataclass(frozen=True)
class Scaled(_FunctionOfKernel):
    """c · k for c > 0."""

    factor: float
    kernel: Kernel

    def __post_init__(self) -> None:
        self._require_kernel(self.kernel)
        if not Real(0, open=True).accepts(self.factor):
            raise BadParameter(
                f"a kernel's factor must be {Real(0, open=True).text}, or the result is not positive semidefinite; "
                f"got {self.factor!r}."
            )

    def evaluate(self, pairs: Any) -> Array:
        values = np.array(self.kernel.evaluate(pairs))
        values *= values.dtype.type(self.factor)
        return values

    @property
    def translation_invariant(self) -> bool:  # type: ignore[override]
        """If the other kernel is."""
        return self.kernel.translation_invariant

    def __repr__(self) -> str:
        factor = float(self.factor)
        short = f"{factor:g}"
        return f"{short if float(short) == factor else factor} * {_parenthesized(self.kernel, Sum, Product, Scaled)}"


@dataclass(frozen=True)
class polynomial_of(_FunctionOfKernel):
    """c₀ + c₁ k + c₂ k² + … with nonnegative coefficients."""

    kernel: Kernel
    coefficients: Any  # a tuple of numbers, the constant first

    def __post_init__(self) -> None:
        self._require_kernel(self.kernel)
        given = self.coefficients
        coefficients = tuple(given) if isinstance(given, list | tuple | np.ndarray) else ()
        if not all(map(Real(0).accepts, coefficients)) or not any(coefficients):
            raise BadParameter(
                f"the coefficients must be numbers of at least 0, not all 0, the constant first; got {given!r}. "
                "With a negative one the result need not be positive semidefinite."
            )
        if not isinstance(given, tuple):
            object.__setattr__(self, "coefficients", tuple(float(c) for c in coefficients))

    @property
    def translation_invariant(self) -> bool:  # type: ignore[override]
        """If the other kernel is, and no power of it is taken: centering removes only what depends on one row."""
        return len(self.coefficients) <= 2 and self.kernel.translation_invariant

    def evaluate(self, pairs: Any) -> Array:
        values = np.asarray(self.kernel.evaluate(pairs))
        total = np.full_like(values, self.coefficients[-1])
        for coefficient in self.coefficients[-2::-1]:  # Horner's method
            total *= values
            total += values.dtype.type(coefficient)
        return total


def _resolved(value: Any, rows: Array) -> Any:
    if isinstance(value, Kernel):
        return value.resolve(rows)
    if isinstance(value, tuple):
        return tuple(_resolved(item, rows) for item in value)
    return value


def _parenthesized(kernel: Kernel, *kinds: type) -> str:
    return f"({kernel!r})" if isinstance(kernel, kinds) else repr(kernel)
