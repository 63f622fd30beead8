"""A property that is computed once per object.

Up to Python 3.11, functools.cached_property holds one lock per class while it computes: objects of several threads wait
for each other, and a process forked meanwhile waits for ever. This one has no lock; two threads that ask one object at
the same time may both compute, with the same result.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

__all__ = ["cached_property"]

Value = TypeVar("Value")


class cached_property(Generic[Value]):
    """A property whose value replaces it in the object's __dict__ when it is first read."""

    def __init__(self, compute: Callable[[Any], Value]) -> None:
        self._compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> cached_property[Value]: ...
    @overload
    def __get__(self, instance: object, owner: type) -> Value: ...
    def __get__(self, instance: object | None, owner: type) -> cached_property[Value] | Value:
        if instance is None:
            return self
        return instance.__dict__.setdefault(self._name, self._compute(instance))
