"""What every estimator is: declared parameters, scikit-learn's contract, and a private state that model files keep.

An estimator is made by `@estimator`, which leaves its line of the registry on the class (`_method`). What fitting finds
is kept in two places: documented attributes whose names end in `_`, for users, and one frozen dataclass, `_state`, for
everything else that `transform` needs. Both are saved, and both are checked by `_check_state` when a file is read.
What can be made again from them, such as a neighbor index, is `_cache`: never saved, never pickled.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any, ClassVar, Self, TypeVar, dataclass_transform

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin

from lowdim.base.axis_names import axis_names
from lowdim.base.dask_collections import accept_dask
from lowdim.base.fit_memory import FitMemoryMixin
from lowdim.base.fit_summary import FIT_SECONDS, describe_model
from lowdim.base.peer_parameters import check_arguments, unknown_parameter
from lowdim.base.state import StateCheck, fitted_names
from lowdim.data.validation import overflow_error
from lowdim.errors import AlreadyFitting, NotEnoughData
from lowdim.runtime.blas import single_blas
from lowdim.runtime.display import paragraph, printable
from lowdim.runtime.memory import require_memory
from lowdim.runtime.param import Integer, Maybe, SeedLike, param, parameters, validate
from lowdim.runtime.random import Seed

__all__ = [
    "DeclaredEstimator",
    "EmbeddingMixin",
    "Estimator",
    "Method",
    "SeedMixin",
    "ThreadsMixin",
    "estimator",
]

Class = TypeVar("Class", bound="type[DeclaredEstimator]")

SPARE_DIMENSIONS = 1000  # that may be asked for, although few rows need fewer
EMBEDDING_COPIES = 4  # that a fit holds at once: the start, the positions, their gradient and the result


@dataclasses.dataclass(frozen=True)
class Method:
    """A line of the registry: an estimator and what it can do."""

    name: str
    cls: type[Any]
    title: str
    summary: str  # what fit() reads: moments, gram, graph or pairs
    supervised: bool = False  # needs y
    accepts_target: bool = False  # uses y if it is given, or with some settings
    inverse: bool = False
    streaming: bool = False
    sparse: bool = False
    weights: bool = False
    categories: bool = False  # takes columns of text, whose values are categories
    categories_only: bool = False  # takes numbers as categories too
    own_scale: bool = False  # weighs the columns itself, or means zero by 0: standardizing first would be wrong


class DeclaredEstimator(FitMemoryMixin, BaseEstimator):  # type: ignore[misc]
    """Base of all estimators: declared parameters, one fit at a time, a private state that model files keep.

    Estimators are made by `@estimator` and write `fit` and `_check_state`. Those that map rows derive from `Estimator`.
    """

    _method: ClassVar[Method | None] = None  # set by @estimator
    _state_classes: ClassVar[tuple[type, ...]] = ()  # the dataclasses that a model file of this estimator may hold
    _explained: ClassVar[str] = "variance"  # what explained_variance_ratio_ are ratios of
    _doc_parts: ClassVar[dict[str, str]] = {}  # lines that the docstrings of a family share, by the name in braces
    _state: Any
    _cache: Any

    @contextmanager
    def _fitting(self) -> Iterator[None]:
        """Validates the parameters, forgets an earlier fit, and leaves nothing behind on an error or Ctrl-C.

        BLAS is held to one thread for the whole fit: each change of the limit wakes threads that then spin.
        """
        validate(self)
        with self._alone():
            self._forget()
            start = perf_counter()
            try:
                with _numerics():
                    yield
            except BaseException:
                self._forget()
                raise
            FIT_SECONDS[self] = perf_counter() - start

    @contextmanager
    def _continuing(self) -> Iterator[None]:
        """For `partial_fit`: as `_fitting`, but an earlier fit is kept, and comes back on an error or Ctrl-C.

        What was fitted is replaced within it, and never changed in place.
        """
        validate(self)
        with self._alone():
            before = {name: self.__dict__[name] for name in self._fitted_attributes()}
            try:
                with _numerics():
                    yield
            except BaseException:
                self._forget()
                self.__dict__.update(before)
                raise

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Refuses a second fit of this object, by another thread or a callback, while one is under way."""
        token = object()
        if self.__dict__.setdefault("_busy", token) is not token:  # atomic, and no lock, which could not be pickled
            name = type(self).__name__
            raise AlreadyFitting(
                f"this {name} is being fitted already, and an estimator object is fitted once at a time. "
                "Give every thread its own: sklearn.base.clone(model)."
            )
        try:
            yield
        finally:
            self.__dict__.pop("_busy", None)

    def _forget(self) -> None:
        FIT_SECONDS.pop(self, None)
        for name in self._fitted_attributes():
            del self.__dict__[name]

    def _fitted_attributes(self) -> list[str]:
        return [*fitted_names(self), *(name for name in ("_state", "_cache") if name in self.__dict__)]

    def set_params(self, **settings: Any) -> Self:
        """Set parameters, also those of a kernel (`kernel__gamma`); refuses unknown ones as the constructor does."""
        known = self.get_params(deep=False)
        for name in settings:
            if name.partition("__")[0] not in known:
                raise unknown_parameter(type(self), name, list(known))
        super().set_params(**settings)
        return self

    def _check_dimensions(self, n: int, *, spare: bool = False) -> None:
        """Refuse more dimensions than n rows, which span no more, or than memory holds.

        A method that can leave dimensions at zero takes a few to `spare`.
        """
        k = getattr(self, "n_components", None)
        if k is None:
            return
        if k > (max(n, SPARE_DIMENSIONS) if spare else n):
            raise NotEnoughData(f"n_components={k} must be at most the number of rows, {n}. Ask for fewer.")
        needed = EMBEDDING_COPIES * 8 * n * k
        require_memory(needed, f"an embedding of {n} rows in {k} dimensions", "Ask for fewer components.")

    def _finite(self, Z: NDArray[Any]) -> NDArray[Any]:
        """Scores, positions or rows for the caller, if none of them overflowed."""
        if not np.isfinite(Z).all():
            raise overflow_error()
        return Z

    def _check_state(self, check: StateCheck) -> None:
        """Raise ModelFileError, by `check`, unless everything fitted is there, finite, and of sizes that agree."""
        raise NotImplementedError

    def __getstate__(self) -> Any:
        """Without the cache, which the fitted state gives again, and without the mark of a fit under way."""
        return {name: value for name, value in super().__getstate__().items() if name not in ("_cache", "_busy")}

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        """The parameters and, after fit, what it was fitted to and what it found."""
        found = describe_model(self)
        made = str(super().__repr__(N_CHAR_MAX))
        return made if found is None else f"{made}, {printable(found)}"

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        """scikit-learn's diagram in a notebook, with what was found below it."""
        bundle, found = super()._repr_mimebundle_(**kwargs), describe_model(self)
        if found is not None and "text/html" in bundle:
            bundle["text/html"] += paragraph(f"{type(self).__name__}, {found}")
        return bundle

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self._method is not None:
            tags.input_tags.sparse = self._method.sparse
            tags.target_tags.required = self._method.supervised
        return tags


class Estimator(ClassNamePrefixFeaturesOutMixin, TransformerMixin, DeclaredEstimator):  # type: ignore[misc]
    """Base of the methods, which map rows: they write `fit`, `transform` and `_check_state`."""

    _axis: ClassVar[str | None] = None  # what comes before the number of an axis: PC in PC1; None for the class's name

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """The names of the axes, as tables and pictures have them: PC1, PC2, … or UMAP 1, UMAP 2, …."""
        checked = super().get_feature_names_out(input_features)
        return np.asarray(axis_names(self, len(checked)), dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class ThreadsMixin:
    """Adds `n_jobs`."""

    n_jobs: int | None = param(None, Maybe(Integer()), "Threads; the result has the same bits for any number.")


@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class SeedMixin:
    """Adds `random_state`."""

    random_state: Seed = param(0, SeedLike(), "Seed of all random draws; the same seed gives the same bits.")


class EmbeddingMixin(TransformerMixin):  # type: ignore[misc]
    """For methods whose fit embeds the fitted rows: `fit_transform` returns `embedding_`.

    scikit-learn's `set_output` wraps only what a TransformerMixin itself defines, so this has to be one.
    """

    embedding_: NDArray[Any]  # (n, k)

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> NDArray[Any]:
        """Fit, and return the embedding of the fitted rows, (n, k)."""
        return self.fit(X, y, **fit_params).embedding_.copy()

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])


@contextmanager
def _numerics() -> Iterator[None]:
    """One thread of BLAS; overflow is found and named, not warned of."""
    with single_blas(), np.errstate(over="ignore", invalid="ignore"):
        yield


@dataclass_transform(kw_only_default=True, field_specifiers=(param,))
def estimator(*, title: str, summary: str, **traits: bool) -> Callable[[Class], Class]:
    """Make a class with `param()` fields an estimator: constructor, docstring, line of the registry."""

    def decorate(cls: Class) -> Class:
        dataclasses.dataclass(eq=False, repr=False)(cls)
        _check_constructor(cls)
        cls.__doc__ = _document(cls)
        accept_dask(cls)
        cls._method = Method(cls.__name__, cls, title, summary, **traits)
        return cls

    return decorate


def _check_constructor(cls: type[DeclaredEstimator]) -> None:
    """Let the constructor refuse an unknown argument with what to do in its place, which a TypeError would not say."""
    construct, known = cls.__init__, parameters(cls)
    positional = sum(not declared.kw_only for declared in known.values())

    @functools.wraps(construct)
    def init(self: Any, *args: Any, **settings: Any) -> None:
        if len(args) > positional or not known.keys() >= settings.keys():
            check_arguments(cls, len(args), settings)
        construct(self, *args, **settings)

    cls.__init__ = init  # type: ignore[method-assign]


def _document(cls: type) -> str:
    """The class's own words with the parameters' section where it says {parameters}, and the lines of its family."""
    lines = []
    for name, declared in parameters(cls).items():
        lines.append(f"{name} : {declared.domain.text}, default {declared.default!r}")
        lines += textwrap.wrap(declared.help, 96, initial_indent="    ", subsequent_indent="    ")
    section = "Parameters\n----------\n" + "\n".join(lines)
    text = inspect.cleandoc(cls.__doc__ or "").replace("{parameters}", section)
    for base in cls.__mro__:
        for name, part in vars(base).get("_doc_parts", {}).items():
            text = text.replace(f"{{{name}}}", inspect.cleandoc(part))
    return text
