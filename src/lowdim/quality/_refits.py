"""Fitting a method again: copies of a model, with other seeds, and the map that a fitted one already has."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from lowdim.errors import BadParameter

__all__ = ["fitted_map", "model_metric", "refit"]

Array = NDArray[Any]


def refit(model: Any, X: Any, seed: int | None = None) -> Array:
    """The map of X by a fresh copy of the model, (n, c), with another seed if it has one."""
    copy = clone(model)
    if seed is not None and "random_state" in copy.get_params():
        copy.set_params(random_state=seed)
    Z = np.asarray(copy.fit_transform(X))
    return Z[:, None] if Z.ndim == 1 else Z


def fitted_map(model: Any, X: Any, n: int) -> Array:
    """The map that a model was fitted to draw of these rows; it is fitted if it was not."""
    require_model(model)
    Z = getattr(model, "embedding_", None)
    if Z is not None and np.ndim(Z) == 2 and len(Z) == n:
        return np.asarray(Z)
    return refit(model, X)


def require_model(model: Any) -> None:
    """Raise unless the model can be copied and fitted."""
    if not hasattr(model, "fit_transform") or not hasattr(model, "get_params") or isinstance(model, type):
        raise BadParameter(f"model must be an estimator with fit_transform, such as UMAP(); got {model!r:.60}.")


def model_metric(model: Any) -> dict[str, Any]:
    """The metric that a model compares rows by, as `measure` takes it; Euclidean if it has none."""
    found = getattr(model, "metric", "euclidean")
    return {"metric": found, "metric_params": getattr(model, "metric_params", None)}
