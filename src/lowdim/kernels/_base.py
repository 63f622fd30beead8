"""What a kernel is: a frozen value that gives inner products of rows in some space."""

from __future__ import annotations

import numbers
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, NoReturn, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_array

from lowdim.errors import BadInput, BadParameter
from lowdim.kernels._row_blocks import Diagonal, Pair, Points
from lowdim.runtime.param import Integer, validate
from lowdim.runtime.threads import single_blas

__all__ = ["Kernel"]

Array = NDArray[Any]


@dataclass(frozen=True)
class Kernel:
    """k(x, y). Its fields are its parameters; kernels add, multiply and scale to kernels.

    A subclass writes `of`, from the products and distances that a pair of row sets offers.
    """

    # Whether every matrix of it is positive semidefinite; None if that depends or is not known.
    psd: ClassVar[bool | None] = True

    def __post_init__(self) -> None:
        for name, value in self.get_params(deep=False).items():
            if isinstance(value, np.generic):  # a plain number prints as one
                object.__setattr__(self, name, value.item())
        validate(self)

    def of(self, pair: Any) -> Array:
        """Values for a `Pair`, (m, n), or on the diagonal for a `Diagonal`, (n,): the same formula for both."""
        raise NotImplementedError

    def __call__(self, X: Any, Y: Any = None) -> Array:
        """The matrix of the rows of X against those of Y (or of X). A scale not yet found is found on X."""
        a = Points(_rows(X, "X"))
        b = a if Y is None else Points(_rows(Y, "Y"), a.shift)
        if a.rows.shape[1] != b.rows.shape[1]:
            raise BadInput(f"X has {a.rows.shape[1]} columns and Y {b.rows.shape[1]}; both must have the same.")
        with single_blas():
            return self.resolve(a.rows).of(Pair(a, b))

    def diagonal(self, rows: Points) -> Array:
        """k(x, x) for every row, (n,)."""
        return np.broadcast_to(self.of(Diagonal(rows)), len(rows.rows))

    def resolve(self, rows: Array) -> Self:
        """The same kernel with every scale that is still a word replaced by its number on these rows."""
        inner = {f.name: _resolved(getattr(self, f.name), rows) for f in fields(self)}
        return replace(self, **inner)

    def with_gamma(self, gamma: Any) -> Kernel:
        """The same kernel with another γ, if it has one."""
        if "gamma" not in {f.name for f in fields(self)}:
            raise BadParameter(f"{type(self).__name__} has no gamma; leave gamma=None.")
        return replace(self, gamma=gamma)  # type: ignore[call-arg]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Its parameters, for grid search and `clone`; `deep` adds those of the kernels it is made of.

        The second γ of `rbf(0.5) + 2 * rbf(0.1)` is `k2__kernel__gamma`.
        """
        own = {f.name: getattr(self, f.name) for f in fields(self)}
        if deep:
            for name, part in self._parts().items():
                own[name] = part
                own |= {f"{name}__{inner}": value for inner, value in part.get_params().items()}
        return own

    def set_params(self, **values: Any) -> Self:
        """Change parameters in place, as scikit-learn's searches do to their own clones."""
        known, parts, own = self.get_params(deep=False), self._parts(), {}
        for name, value in values.items():
            head, _, rest = name.partition("__")
            if head in parts:
                parts[head] = replace(parts[head]).set_params(**{rest: value}) if rest else value
            elif name in known:
                own[name] = value
            else:
                raise BadParameter(
                    f"{type(self).__name__} has no parameter {name!r}; it has {', '.join(self.get_params())}."
                )
        new = replace(self, **{**(self._of_parts(parts) if parts else {}), **own})
        for name in known:
            object.__setattr__(self, name, getattr(new, name))
        return self

    def _parts(self) -> dict[str, Kernel]:
        """The kernels it is made of, by the names that parameters have them under."""
        return {name: value for name, value in self.get_params(deep=False).items() if isinstance(value, Kernel)}

    def _of_parts(self, parts: dict[str, Any]) -> dict[str, Any]:
        """The fields that hold these."""
        return parts

    def __add__(self, other: Any) -> Kernel:
        from lowdim.kernels._algebra import Sum, polynomial_of

        if isinstance(other, numbers.Real):  # a constant is a kernel too, and sum() begins with 0
            return polynomial_of(self, (float(other), 1.0)) if other else self
        return Sum((self, other)) if isinstance(other, Kernel) else NotImplemented

    __radd__ = __add__

    def __mul__(self, other: Any) -> Kernel:
        from lowdim.kernels._algebra import Product, Scaled

        if isinstance(other, Kernel):
            return Product((self, other))
        return Scaled(float(other), self) if isinstance(other, numbers.Real) else NotImplemented

    __rmul__ = __mul__

    def __pow__(self, power: Any) -> Kernel:
        from lowdim.kernels._algebra import Product

        if not Integer(1).accepts(power):
            raise BadParameter(f"a kernel's power must be {Integer(1).text}; got {power!r}.")
        return Product((self,) * int(power)) if power > 1 else self

    def __sub__(self, other: Any) -> NoReturn:
        raise BadParameter(
            f"a difference of kernels need be no kernel: it can make the square of a length negative. Sums, products "
            f"and positive multiples are kernels; got {self!r} - {other!r}."
        )

    def __rsub__(self, other: Any) -> NoReturn:
        raise BadParameter(
            f"a kernel can't be subtracted: its negative would make squares of lengths negative; got {other!r} - "
            f"{self!r}."
        )

    def __neg__(self) -> NoReturn:
        raise BadParameter(
            f"the negative of a kernel is no kernel: squares of lengths would be negative; got -({self!r})."
        )


def _resolved(value: Any, rows: Array) -> Any:
    if isinstance(value, Kernel):
        return value.resolve(rows)
    if isinstance(value, tuple):
        return tuple(_resolved(item, rows) for item in value)
    return value


def _rows(X: Any, name: str) -> Array:
    try:
        return check_array(X, dtype=[np.float64, np.float32], input_name=name, order="C")
    except ValueError as error:
        raise BadInput(str(error)) from error
