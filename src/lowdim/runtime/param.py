"""A parameter is declared once.

`param(default, domain, help)` on a field of an estimator gives the constructor's argument, its validation with a
uniform message, its paragraph in the docstring and, through `parameters(cls)`, its command-line flag.
"""

from __future__ import annotations

import dataclasses
import numbers
from collections.abc import Callable
from difflib import get_close_matches
from typing import Any

import numpy as np

from lowdim.errors import BadParameter

__all__ = [
    "Choice",
    "Domain",
    "Either",
    "Flag",
    "Integer",
    "Maybe",
    "Param",
    "Real",
    "SeedLike",
    "Such",
    "param",
    "parameters",
    "python_number",
    "validate",
]

LARGEST = 2**31  # no count comes near it, and the kernels' own integers end there


class Domain:
    """The set of values that a parameter may take: its description, and a test of values."""

    text: str

    def accepts(self, value: Any) -> bool:
        """Whether the value is in the set."""
        raise NotImplementedError


@dataclasses.dataclass(frozen=True)
class Integer(Domain):
    """Integers from low to high."""

    low: int | None = None
    high: int | None = None

    @property
    def text(self) -> str:  # type: ignore[override]
        if self.high is not None:
            return f"a whole number from {self.low} to {self.high}"
        return "a whole number" if self.low is None else f"a whole number of at least {self.low}"

    def accepts(self, value: Any) -> bool:
        return (
            _is_number(value, numbers.Integral)
            and (self.low is None or int(value) >= self.low)
            and (self.high is None or int(value) <= self.high)
        )


@dataclasses.dataclass(frozen=True)
class Real(Domain):
    """Finite real numbers between low and high; `open` leaves both ends out."""

    low: float | None = None
    high: float | None = None
    open: bool = False

    @property
    def text(self) -> str:  # type: ignore[override]
        edge = "strictly " if self.open else ""
        if self.low is not None and self.high is not None:
            return f"a number {edge}between {self.low:g} and {self.high:g}"
        if self.low is not None:
            return f"a number above {self.low:g}" if self.open else f"a number of at least {self.low:g}"
        return "a number"

    def accepts(self, value: Any) -> bool:
        if not _is_number(value, numbers.Real):
            return False
        try:
            number = float(value)
        except OverflowError:  # an integer beyond all floats
            return False
        if not np.isfinite(number):
            return False
        above = self.low is None or (number > self.low if self.open else number >= self.low)
        below = self.high is None or (number < self.high if self.open else number <= self.high)
        return above and below


@dataclasses.dataclass(frozen=True, init=False)
class Choice(Domain):
    """One of a few values."""

    values: tuple[Any, ...]

    def __init__(self, *values: Any) -> None:
        object.__setattr__(self, "values", values)

    @property
    def text(self) -> str:  # type: ignore[override]
        return ("one of " if len(self.values) > 1 else "") + ", ".join(repr(value) for value in self.values)

    def accepts(self, value: Any) -> bool:
        value = int(value) if _is_number(value, numbers.Integral) else value  # NumPy's integers count
        return any(type(value) is type(v) and value == v for v in self.values)


def _is_number(value: Any, kind: type) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool | np.bool_)


@dataclasses.dataclass(frozen=True)
class Flag(Domain):
    """True or False."""

    text = "True or False"

    def accepts(self, value: Any) -> bool:
        return isinstance(value, bool | np.bool_)


@dataclasses.dataclass(frozen=True)
class Maybe(Domain):
    """None, or a value of the inner domain."""

    inner: Domain

    @property
    def text(self) -> str:  # type: ignore[override]
        return f"None or {self.inner.text}"

    def accepts(self, value: Any) -> bool:
        return value is None or self.inner.accepts(value)


@dataclasses.dataclass(frozen=True, init=False)
class Either(Domain):
    """A value of any of several domains."""

    options: tuple[Domain, ...]

    def __init__(self, *options: Domain) -> None:
        object.__setattr__(self, "options", options)

    @property
    def text(self) -> str:  # type: ignore[override]
        *first, last = (option.text for option in self.options)
        return f"{', '.join(first)} or {last}"

    def accepts(self, value: Any) -> bool:
        return any(option.accepts(value) for option in self.options)


@dataclasses.dataclass(frozen=True)
class Such(Domain):
    """Values that pass a test, for domains that need no class of their own."""

    text: str
    test: Callable[[Any], bool]

    def accepts(self, value: Any) -> bool:
        return self.test(value)


class SeedLike(Domain):
    """What `random_state` takes."""

    text = "None, a whole number of at least 0, or a NumPy random generator"

    def accepts(self, value: Any) -> bool:
        random = (np.random.Generator, np.random.RandomState)
        return value is None or isinstance(value, random) or Integer(0).accepts(value)


@dataclasses.dataclass(frozen=True)
class Param:
    """Everything known about one parameter."""

    name: str
    default: Any
    domain: Domain
    help: str
    annotation: str = ""
    kw_only: bool = True


def param(default: Any, domain: Domain, help: str, *, kw_only: bool = True) -> Any:
    """Declare a parameter of an estimator."""
    if not domain.accepts(default):
        raise BadParameter(f"the default {default!r} is not {domain.text}")
    return dataclasses.field(default=default, kw_only=kw_only, metadata={"domain": domain, "help": help})


def parameters(cls: type) -> dict[str, Param]:
    """The declared parameters of an estimator class: positional ones, then its own, then those that it inherits."""
    fields = {f.name: f for f in dataclasses.fields(cls) if "domain" in f.metadata}
    order = dict.fromkeys(
        name for base in cls.__mro__ for name in vars(base).get("__annotations__", ()) if name in fields
    )
    return {
        name: Param(
            name,
            fields[name].default,
            fields[name].metadata["domain"],
            fields[name].metadata["help"],
            str(fields[name].type),
            bool(fields[name].kw_only),
        )
        for name in sorted(order, key=lambda name: bool(fields[name].kw_only))
    }


def validate(owner: object) -> None:
    """Raise BadParameter for the first parameter of `owner` that breaks its rule; numbers become Python's own."""
    for name, declared in parameters(type(owner)).items():
        value = getattr(owner, name)
        if not declared.domain.accepts(value):
            raise BadParameter(
                f"{type(owner).__name__}: {name} must be {declared.domain.text}; got {value!r:.200}. "
                f"{_near(declared.domain, value)}{declared.help}"
            )
        plain = python_number(value)
        if type(plain) is int and abs(plain) >= LARGEST and name != "random_state":  # seeds have 64 bits
            raise BadParameter(
                f"{type(owner).__name__}: {name} must be below 2**31; got {value!r:.40}. {declared.help}"
            )
        if plain is not value:
            object.__setattr__(owner, name, plain)  # kernels are parameters too, and frozen


def _near(domain: Domain, value: Any) -> str:
    """A question that names the words of a domain which are spelled like the value."""
    if not isinstance(value, str):
        return ""
    near = get_close_matches(value, _words(domain), n=2, cutoff=0.7)
    return f"Did you mean {' or '.join(map(repr, near))}? " if near else ""


def _words(domain: Any) -> list[str]:
    """The words among the values of a domain, or of those that it is made of."""
    words = [value for value in getattr(domain, "values", ()) if isinstance(value, str)]
    inner = [*getattr(domain, "options", ()), *([domain.inner] if hasattr(domain, "inner") else [])]
    return words + [word for part in inner for word in _words(part)]


def python_number(value: Any) -> Any:
    """A number as Python's int, float or bool: NumPy's overflow (an int8 beyond 127) and widen float32 results."""
    if isinstance(value, np.bool_):
        return bool(value)
    if type(value) in (bool, int, float) or not isinstance(value, numbers.Real):
        return value
    return int(value) if isinstance(value, numbers.Integral) else float(value)
