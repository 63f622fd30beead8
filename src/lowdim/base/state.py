"""Checks of what a fitted estimator holds.

A checksum says that a model file is as it was written, not that an honest model was written. Shapes that disagree would
surface much later as a strange error in `transform`, so they are refused when the file is read.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.errors import ModelFileError
from lowdim.runtime.param import Domain, Integer

__all__ = ["StateCheck", "check_state", "fitted_names"]

Size = int | str | None  # a number, the name of a size (fixed where it is first seen), or anything

_ABSENT = object()


def fitted_names(model: Any) -> list[str]:
    """The public fitted attributes: names that end in `_`, scikit-learn's mark of what fitting found."""
    return [name for name in vars(model) if name.endswith("_") and not name.startswith("_")]


def check_state(model: Any) -> None:
    """Raise ModelFileError if what a fitted estimator holds is incomplete or contradicts itself."""
    if not fitted_names(model):
        return
    check = StateCheck(model)
    if "n_features_in_" not in vars(model) and getattr(model._method, "summary", None) == "graph":
        check.sizes["d"] = 0  # fitted to a graph, which has no columns: nothing with columns may be there
    else:
        check.number("n_features_in_", Integer(1), size="d")
    if hasattr(model, "feature_names_in_"):
        check.texts("feature_names_in_", "d")
    model._check_state(check)
    if hasattr(model, "_check_metric"):
        model._check_metric(check)


class StateCheck:
    """Checks by name: `embedding_` is an attribute of the estimator, `state.graph` a field of its private state,
    `state.graph.n` a field of that.

    Sizes have names: the first array of shape ("n", "k") fixes both, and later ones must agree.
    """

    def __init__(self, model: Any) -> None:
        self._model = model
        self.sizes: dict[str, int] = {}
        self.gaps = bool(getattr(model, "_mixed", False))  # whether fitted rows may have missing values

    def require(self, holds: Any, rule: str) -> None:
        """Raise ModelFileError with the rule unless it holds."""
        if not holds:
            raise ModelFileError(f"the model contradicts itself: {rule}. Fit it again.")

    def holds(self, name: str) -> bool:
        """Whether the model has this attribute, which another version, or other settings, may lack."""
        return name in vars(self._model)

    def value(self, name: str) -> Any:
        """The attribute or field of this name, which must be there."""
        first, *path = name.split(".")
        found = vars(self._model).get("_state" if first == "state" else first, _ABSENT)
        for part in path:
            found = getattr(found, part, _ABSENT)
        self.require(found is not _ABSENT, f"{name} is missing")
        return found

    def floats(
        self, name: str, *shape: Size, optional: bool = False, low: float | None = None, gaps: bool = False
    ) -> NDArray[Any] | None:
        """A finite array of float32 or float64 in this shape, with numbers of at least `low`; None where optional.

        Where it may have `gaps`, NaN is a missing value.
        """
        found = self.value(name)
        if found is None and optional:
            return None
        whole = isinstance(found, np.ndarray) and found.dtype in (np.float32, np.float64)
        finite = whole and (np.isfinite(found) | (np.isnan(found) & gaps)).all()
        self.require(finite, f"{name} must be an array of finite numbers")
        self._check_shape(name, found.shape, shape)
        self.require(low is None or (found >= low).all(), f"{name} must hold numbers of at least {low}")
        return np.asarray(found)

    def rows(self, name: str, n: Size, d: Size, *, optional: bool = False) -> Any:
        """Rows, dense or sparse; sparse ones were found finite and in bounds when they were decoded."""
        found = self.value(name)
        if not isinstance(found, sp.csr_array):
            return self.floats(name, n, d, optional=optional, gaps=self.gaps)
        self._check_shape(name, found.shape, (n, d))
        return found

    def fitted_rows(self, n: str) -> None:
        """Rows X_fit_ (n, d), or None: fitted to distances, which have a column for each row, or to a graph."""
        if self.rows("X_fit_", n, "d", optional=True) is None:
            rows = self.sizes[n]
            self.require(self.sizes["d"] in (0, rows), f"without X_fit_, n_features_in_ must be {rows}, one per row")

    def indices(self, name: str, *shape: Size, below: int | str, optional: bool = False) -> NDArray[Any] | None:
        """Whole numbers from 0 to below - 1 in this shape."""
        found = self.value(name)
        if found is None and optional:
            return None
        limit = self.sizes[below] if isinstance(below, str) else below
        self.require(isinstance(found, np.ndarray) and found.dtype.kind in "iu", f"{name} must hold whole numbers")
        self._check_shape(name, found.shape, shape)
        inside = found.size == 0 or (found.min() >= 0 and found.max() < limit)
        self.require(inside, f"{name} must hold whole numbers from 0 to {limit - 1}")
        return np.asarray(found)

    def number(self, name: str, domain: Domain, *, size: str | None = None) -> Any:
        """A number of this domain; `size` makes it a named size."""
        found = self.value(name)
        self.require(domain.accepts(found), f"{name} must be {domain.text}")
        if size is not None:
            self.sizes[size] = int(found)
        return found

    def texts(self, name: str, count: Size) -> None:
        """An array of objects, each of them a text."""
        found = self.value(name)
        self.require(isinstance(found, np.ndarray) and found.dtype == object, f"{name} must be an array of texts")
        self.require(all(isinstance(text, str) for text in found.ravel()), f"{name} must be an array of texts")
        self._check_shape(name, found.shape, (count,))

    def instance(self, name: str, cls: type, *, optional: bool = False) -> Any:
        """An instance of a class."""
        found = self.value(name)
        self.require((found is None and optional) or isinstance(found, cls), f"{name} must be a {cls.__name__}")
        return found

    def _check_shape(self, name: str, found: tuple[int, ...], wanted: tuple[Size, ...]) -> None:
        if not wanted:
            return
        self.require(len(found) == len(wanted), f"{name} must have {len(wanted)} axes")
        for size, want in zip(found, wanted, strict=True):
            if isinstance(want, str):
                want = self.sizes.setdefault(want, size)
            told = " × ".join(str(self.sizes.get(w, w)) if isinstance(w, str) else str(w or "any") for w in wanted)
            self.require(want is None or size == want, f"{name} must be of shape {told}")
