"""What every estimator is: declared parameters, scikit-learn's contract, a place in the registry."""

from __future__ import annotations

import dataclasses
import inspect
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, TypeVar, dataclass_transform

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin

from lowdim.runtime.param import param, parameters, validate
from lowdim.runtime.threads import single_blas

__all__ = ["Estimator", "Method", "estimator", "methods"]

Class = TypeVar("Class", bound=type)


@dataclasses.dataclass(frozen=True)
class Method:
    """A line of the registry: an estimator and what it can do."""

    name: str
    cls: type
    title: str
    summary: str  # what fit() reads: moments, gram or graph
    supervised: bool = False
    inverse: bool = False
    streaming: bool = False
    sparse: bool = False
    weights: bool = False


FINDER = "_finder"  # where a method keeps what it looks for neighbours with, for as long as its rows are fitted

_registry: dict[str, Method] = {}


class Estimator(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Base of all estimators. Methods are made by `@estimator` and write `fit` and `transform`."""

    @contextmanager
    def _fitting(self) -> Iterator[None]:
        """Validates the parameters, forgets an earlier fit, and leaves nothing behind on an error or Ctrl-C.

        BLAS is held to one thread for the whole fit: each change of the limit wakes threads that then spin.
        """
        validate(self)
        self._forget()
        try:
            with (
                single_blas(),
                np.errstate(over="ignore", invalid="ignore"),
            ):  # found and named, not warned of
                yield
        except BaseException:
            self._forget()
            raise

    def _forget(self) -> None:
        for name in [name for name in vars(self) if name.endswith("_") and not name.startswith("__")]:
            delattr(self, name)
        self.__dict__.pop(FINDER, None)

    def __getstate__(self) -> Any:
        """Without the search, which the fitted rows give again."""
        return {name: value for name, value in super().__getstate__().items() if name != FINDER}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        registered = _registry.get(type(self).__name__)
        if registered is not None:
            tags.input_tags.sparse = registered.sparse
            tags.target_tags.required = registered.supervised
        return tags


@dataclass_transform(kw_only_default=True, field_specifiers=(param,))
def estimator(*, title: str, summary: str, **traits: bool) -> Callable[[Class], Class]:
    """Make a class with `param()` fields an estimator: constructor, docstring, registry."""

    def decorate(cls: Class) -> Class:
        dataclasses.dataclass(eq=False, repr=False)(cls)
        cls.__doc__ = _document(cls)
        _registry[cls.__name__] = Method(cls.__name__, cls, title, summary, **traits)
        return cls

    return decorate


def methods() -> list[Method]:
    """Every method that lowdim has, with what it can do, in alphabetical order."""
    package = import_module("lowdim.method")
    for module in iter_modules(package.__path__):
        import_module(f"lowdim.method.{module.name}")
    return [_registry[name] for name in sorted(_registry)]


def _document(cls: type) -> str:
    """The class's own words with the parameters' section put where it says {parameters}."""
    lines = []
    for name, declared in parameters(cls).items():
        lines.append(f"{name} : {declared.domain.text}, default {declared.default!r}")
        lines += textwrap.wrap(declared.help, 96, initial_indent="    ", subsequent_indent="    ")
    section = "Parameters\n----------\n" + "\n".join(lines)
    return inspect.cleandoc(cls.__doc__ or "").replace("{parameters}", section)
