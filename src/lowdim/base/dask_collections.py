"""Dask collections at the door of every estimator: lazy in, lazy out.

| method                                       | reads of a Dask collection                                           |
|----------------------------------------------|----------------------------------------------------------------------|
| `fit` of what reads Moments                  | summaries that workers make: exact, the bits of a fit in memory      |
| `fit` of wide PCA                            | the Gram matrix that workers make of groups of columns, or products  |
|                                              | with the rows (Krylov): exact; solver="svd" alone gathers the rows   |
| `fit` of ICA and projection pursuit          | the same; whitened rows are gathered if they fit into half of the    |
|                                              | memory, else workers whiten and sum them again in every pass         |
| `fit` of layouts, kernels and pairs          | all rows, gathered; of many, a random sample, with a word about it   |
| `transform`, `inverse_transform`, `predict`… | nothing yet: a Dask array, dataframe or list of delayed tables comes |
|                                              | back, and every partition is mapped by itself                        |
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.data.rows.base import float_dtype
from lowdim.data.rows.dask import DaskRows, compute, is_dask, open_dask
from lowdim.runtime.random import seed_of
from lowdim.runtime.warning import warn

__all__ = ["accept_dask"]

Array = NDArray[Any]

LAZY = ("transform", "inverse_transform", "reconstruction_error", "predict", "predict_proba", "decision_function")
MOST_FITTED = {"graph": 100_000, "gram": 10_000, "pairs": 5_000}  # rows, by what a method reads


def accept_dask(cls: type[Any]) -> None:
    """Let the methods of an estimator take Dask collections."""
    for name in LAZY:
        if inspect.isfunction(method := inspect.getattr_static(cls, name, None)):
            setattr(cls, name, _lazy(method, name))
    if inspect.isfunction(method := inspect.getattr_static(cls, "fit", None)):
        cls.fit = _fit(method)
    if inspect.isfunction(method := inspect.getattr_static(cls, "fit_transform", None)):
        cls.fit_transform = _fit_transform(method)


def _fit(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def fit(self: Any, X: Any, y: Any = None, *args: Any, **settings: Any) -> Any:
        if not (is_dask(X) or isinstance(X, DaskRows)):
            return method(self, X, y, *args, **settings)
        y, args, settings = _gathered(y), tuple(map(_gathered, args)), {k: _gathered(v) for k, v in settings.items()}
        rows = X if isinstance(X, DaskRows) else open_dask(X)
        kept = _sampled_rows(self, rows.count)
        if kept is None:
            return method(self, rows, y, *args, **settings)
        whole = len(kept) == rows.n
        table = _named(rows.whole() if whole else rows.take(kept), rows.feature_names)
        y, *args_ = (part if whole else _chosen(part, kept, rows.count) for part in (y, *args))
        settings = {k: v if whole else _chosen(v, kept, rows.count) for k, v in settings.items()}
        found = method(self, table, y, *args_, **settings)
        if not whole:
            warn(
                f"{type(self).__name__} was fitted to a random sample of {len(kept)} of the {rows.n} rows, since it is "
                "computed on one machine; fitted_rows_ has their numbers, and transform maps all rows."
                f"{_otherwise(self)}"
            )
            self.fitted_rows_ = kept
        return found

    return fit


def _fit_transform(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def fit_transform(self: Any, X: Any, y: Any = None, **fit_params: Any) -> Any:
        if not is_dask(X):
            return method(self, X, y, **fit_params)
        return self.fit(X, y, **fit_params).transform(X)

    return fit_transform


def _lazy(method: Callable[..., Any], name: str) -> Callable[..., Any]:
    @functools.wraps(method)
    def lazy(self: Any, *args: Any, **settings: Any) -> Any:
        X = args[0] if args else settings.get("X")
        return _mapped(self, name, X) if is_dask(X) else method(self, *args, **settings)

    return lazy


def _mapped(model: Any, name: str, X: Any) -> Any:
    """The collection that the method makes of X, partition by partition, when it is computed."""
    from dask.delayed import delayed

    shared = delayed(model, pure=False, traverse=False)
    columns = _columns(model, name)
    if isinstance(X, list | tuple):
        return [delayed(_apply, pure=False)(part, shared, name) for part in X]
    if hasattr(X, "rechunk"):
        X = X if X.numblocks[1] == 1 else X.rechunk({1: -1})
        dtype = _dtype(model, name, X.dtype)
        shape: dict[str, Any] = {"drop_axis": 1} if columns is None else {"chunks": (X.chunks[0], (len(columns),))}
        meta = np.empty((0,) if columns is None else (0, 0), dtype=dtype)
        return X.map_blocks(_apply, model=shared, method=name, dtype=dtype, meta=meta, **shape)
    import pandas as pd

    dtype = _dtype(model, name, np.result_type(*X.dtypes) if len(X.columns) else np.dtype(np.float64))
    meta = (
        pd.Series([], dtype=dtype)
        if columns is None
        else pd.DataFrame({c: pd.Series([], dtype=dtype) for c in columns})
    )
    return X.map_partitions(_apply_frame, shared, name, columns, dtype, meta=meta)


def _apply(part: Any, model: Any, method: str) -> Any:
    if not part.shape[0]:
        columns = _columns(model, method)
        return np.empty((0,) if columns is None else (0, len(columns)), dtype=_dtype(model, method, part.dtype))
    return getattr(model, method)(part)


def _apply_frame(part: Any, model: Any, name: str, columns: list[str] | None, dtype: Any) -> Any:
    import pandas as pd

    if not len(part):
        values = np.empty((0,) if columns is None else (0, len(columns)), dtype=dtype)
    else:
        values = np.asarray(getattr(model, name)(part))
    if columns is None:
        return pd.Series(values, index=part.index)
    return pd.DataFrame(values, index=part.index, columns=columns)


def _columns(model: Any, name: str) -> list[str] | None:
    """The names of the columns of what a method returns; None if it returns one value per row."""
    if name == "transform":
        return [str(axis) for axis in model.get_feature_names_out()]
    if name == "inverse_transform":
        given = getattr(model, "feature_names_in_", None)
        return [f"x{j}" for j in range(model.n_features_in_)] if given is None else [str(column) for column in given]
    if name == "predict_proba" or (name == "decision_function" and len(model.classes_) > 2):
        return [str(label) for label in model.classes_]
    return None


def _dtype(model: Any, name: str, given: np.dtype[Any]) -> np.dtype[Any]:
    if name == "predict":
        return np.asarray(model.classes_).dtype
    if name == "reconstruction_error" and hasattr(model, "components_"):
        return np.asarray(model.components_).dtype
    kept = getattr(model, "embedding_", None)
    return float_dtype(np.dtype(given)) if kept is None else np.asarray(kept).dtype


def _sampled_rows(model: Any, n: int) -> Array | None:
    """Numbers of the rows that a fit on one machine gathers, ascending; None if workers summarize all of them."""
    inner = getattr(model, "model", model)  # that of Standardized
    about = getattr(type(inner), "_method", None)
    if about is not None and about.summary in ("moments", "rows") and not about.categories:
        return None
    most = MOST_FITTED.get(getattr(about, "summary", "graph"), MOST_FITTED["graph"])
    if n <= most:
        return np.arange(n)
    random = np.random.Generator(np.random.Philox(seed_of(getattr(inner, "random_state", 0))))
    return np.sort(random.choice(n, size=most, replace=False))


def _otherwise(model: Any) -> str:
    """How to lay out all rows instead, for methods that take a graph, which workers can make."""
    about = getattr(type(model), "_method", None)
    if about is None or about.summary != "graph":
        return ""
    return f" {about.name}().fit(lowdim.neighbors(X, k)) lays out all of them, from a graph that workers compute."


def _named(table: Any, names: Any) -> Any:
    """A table in memory, with the names of its columns if it has any."""
    if names is None or not isinstance(table, np.ndarray):
        return table
    import pandas as pd

    return pd.DataFrame(table, columns=list(names))


def _gathered(values: Any) -> Any:
    """Targets and weights of a Dask collection in memory; anything else as it is."""
    return np.asarray(compute(values)[0]) if is_dask(values) and not isinstance(values, list | tuple) else values


def _chosen(values: Any, kept: Array, n: int) -> Any:
    """The values of the rows of a sample, if there is one for every row."""
    return np.asarray(values)[kept] if values is not None and np.ndim(values) > 0 and len(values) == n else values
