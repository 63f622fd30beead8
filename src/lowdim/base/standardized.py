"""Standardized: a method on standardized columns, which keeps their means and standard deviations for new rows."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from lowdim.base.dask_collections import accept_dask
from lowdim.base.estimator import Estimator
from lowdim.base.state import StateCheck, check_state
from lowdim.data.fold import is_partitioned
from lowdim.data.rows import Block, Chunk, CountedRows, DerivedRows, Rows
from lowdim.data.validation import overflow_error, read_rows, underflow_error
from lowdim.decomposition.resolution import unit_factors, warn_of_constant_columns
from lowdim.errors import BadParameter
from lowdim.linalg.centered import Centered, column_means, nonzero_scale
from lowdim.runtime.memory import require_memory
from lowdim.runtime.progress import report
from lowdim.runtime.threads import thread_count

__all__ = ["Standardized"]

Array = NDArray[Any]


def _has_inverse(owner: Standardized) -> bool:
    return hasattr(owner.model, "inverse_transform")


def _method_of_model(name: str) -> Any:
    """A method of the inner model that takes rows, which are standardized first; absent where the model has none."""

    def call(self: Standardized, X: Any) -> Any:
        check_is_fitted(self)
        return getattr(self.model_, name)(self._z_scores(read_rows(self, X, fitting=False)))

    call.__name__, call.__qualname__ = name, f"Standardized.{name}"
    call.__doc__ = f"`{name}` of the method, for rows that are standardized like the fitted ones."
    return available_if(lambda owner: hasattr(owner.model, name))(call)


@dataclasses.dataclass(eq=False, repr=False)
class Standardized(Estimator):
    """A method on z-scores: columns minus their means, divided by their standard deviations (divisor n - 1).

        model = Standardized(UMAP()).fit(X)
        lowdim.save(model, "map.lowdim")

    Means and standard deviations are estimated by `fit` and saved with the model, so that new rows are standardized
    like the fitted ones. `PCA(standardize=True)` does the same without a standardized copy of the rows. `predict`,
    `predict_proba`, `score`, `transform_graph` and the like are there if the method has them.

    Parameters
    ----------
    model : an estimator of lowdim
        The method. A clone of it is fitted.

    Attributes
    ----------
    mean_, scale_ : array (d,)
        Means and standard deviations of the columns (1 for a constant column).
    model_ : estimator
        The fitted method. What it found is an attribute here as well: `embedding_`, `components_`, `classes_`, … are
        those of the standardized rows.

    """

    model: Any

    def fit(self, X: Any, y: Any = None) -> Standardized:
        """Estimate means and standard deviations, and fit the method to the standardized rows."""
        with self._fitting():
            self.model_ = self._clone().fit(self._fit_scale(X), y)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Array:
        """Fit, and return the method's embedding or scores of the fitted rows, (n, k)."""
        with self._fitting():
            model = self._clone()
            Z = model.fit_transform(self._fit_scale(X), y)
            self.model_ = model
        return np.asarray(Z)

    def _fit_with_scale_of(self, other: Standardized, summary: Any, y: Any = None) -> Standardized:
        """Fit the method to the z-scores that `other` has made, or to their graph, and take over their scale.

        One pass over the rows, and one neighbor search, then serve several methods.
        """
        with self._fitting():
            for name in ("mean_", "scale_", "n_features_in_", "feature_names_in_"):
                if name in vars(other):
                    setattr(self, name, getattr(other, name))
            self.model_ = self._clone().fit(summary, y)
        return self

    def transform(self, X: Any) -> Array:
        """Standardize rows like the fitted ones, and transform them by the method, (m, k)."""
        check_is_fitted(self)
        return self.model_.transform(self._z_scores(read_rows(self, X, fitting=False)))

    @available_if(_has_inverse)  # type: ignore[untyped-decorator]
    def inverse_transform(self, Z: Any) -> Array:
        """Rows in the original units for positions or scores Z (m, k), if the method has an inverse_transform."""
        check_is_fitted(self)
        rows = np.asarray(self.model_.inverse_transform(Z))
        out = rows * self.scale_.astype(rows.dtype) + self.mean_.astype(rows.dtype)
        if not np.isfinite(out).all():
            raise overflow_error()
        return out

    predict = _method_of_model("predict")
    predict_proba = _method_of_model("predict_proba")
    predict_log_proba = _method_of_model("predict_log_proba")
    decision_function = _method_of_model("decision_function")
    transform_graph = _method_of_model("transform_graph")
    transform_init = _method_of_model("transform_init")

    @available_if(lambda owner: hasattr(owner.model, "score"))  # type: ignore[untyped-decorator]
    def score(self, X: Any, y: Any = None) -> float:
        """`score` of the method, for rows that are standardized like the fitted ones, and their target."""
        check_is_fitted(self)
        return float(self.model_.score(self._z_scores(read_rows(self, X, fitting=False)), y))

    def __getattr__(self, name: str) -> Any:
        """What the fitted method found, by its own name."""
        if name.endswith("_") and not name.startswith("_") and "model_" in self.__dict__:
            return getattr(self.model_, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """The names of the method's output columns."""
        check_is_fitted(self)
        return np.asarray(self.model_.get_feature_names_out())

    def _clone(self) -> Any:
        if not isinstance(self.model, Estimator):
            raise BadParameter(
                f"Standardized: model must be an estimator of lowdim; got {self.model!r}. Try Standardized(PCA(2))."
            )
        if self.__sklearn_tags__().input_tags.pairwise:
            raise BadParameter(
                f"Standardized: {type(self.model).__name__} takes distances or a kernel matrix here, and standardized "
                "columns would be neither. Fit it without Standardized."
            )
        return clone(self.model)

    def _fit_scale(self, X: Any) -> Array | Rows:
        """Estimate and keep means and standard deviations; returns the z-scores of X, (n, d)."""
        rows = read_rows(self, X, fitting=True, several_passes=True)
        threads = thread_count(getattr(self.model, "n_jobs", None))
        n, mean = column_means(rows, None, threads)
        deviations = self._deviations(rows, mean, n, threads)
        self.mean_, self.scale_ = mean, nonzero_scale(deviations, mean, rows.dtype)
        warn_of_constant_columns(int((self.scale_ != deviations).sum()), rows.d)
        return self._z_scores(rows)

    def _deviations(self, rows: Rows, mean: Array, n: float, threads: int) -> Array:
        """Standard deviations of the columns, (d,): in another unit where squares would underflow."""
        variance = Centered(rows, mean, None, None, threads).column_scatter(n)[0] / max(n - 1, 1)
        if not np.isfinite(variance).all():
            raise overflow_error()
        units = unit_factors(rows, variance, mean, threads)
        if units is None:
            return np.sqrt(variance)
        lifted = np.sqrt(Centered(rows, mean, units, None, threads).column_scatter(n)[0] / max(n - 1, 1)) / units
        if lifted[units != 1].min() < np.finfo(np.float64).tiny:  # its inverse would overflow
            raise underflow_error()
        return lifted

    def _z_scores(self, rows: Rows) -> Array | Rows:
        """(x - mean) / scale as a dense array (n, d); made whenever they are read, where the rows are not in memory.

        That is of a stream or a Dask collection, for a method that reads them in passes.
        """
        about = getattr(type(self.model), "_method", None)
        in_passes = about is not None and about.summary in ("moments", "rows") and not about.categories
        if rows.n is None or (in_passes and (is_partitioned(rows) or isinstance(rows, CountedRows))):
            return _StandardizedRows(rows, self.mean_, self.scale_)
        needed = rows.count * rows.d * rows.dtype.itemsize
        require_memory(needed, f"{rows.count} x {rows.d} standardized values", "Use fewer rows, or do not standardize.")
        centered = Centered(rows, self.mean_, 1.0 / self.scale_, None, 1)
        out = np.empty((rows.count, rows.d), dtype=rows.dtype)
        for chunk in rows.chunks():
            out[chunk.start : chunk.stop] = centered.panel(chunk, chunk.load())
            report("standardizing rows", chunk.stop, rows.count)
        return out

    def _check_state(self, check: StateCheck) -> None:
        for name in ("mean_", "scale_"):
            found = check.floats(name, "d")
            check.require(found is not None and found.dtype == np.float64, f"{name} must be float64")
        check.require((self.scale_ > 0).all(), "scale_ must be positive")
        model, d = check.instance("model_", Estimator), check.sizes["d"]
        check.require(getattr(model, "n_features_in_", None) == d, f"the method must have been fitted to {d} columns")
        check_state(model)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        if isinstance(self.model, Estimator):
            inner = get_tags(self.model)
            tags.target_tags.required = inner.target_tags.required
            tags.input_tags.pairwise = inner.input_tags.pairwise
            tags.estimator_type, tags.classifier_tags = inner.estimator_type, inner.classifier_tags
        return tags


class _StandardizedRows(DerivedRows):
    """z-scores of the rows of a source."""

    def __init__(self, source: Rows, mean: Array, scale: Array) -> None:
        self.source, self.n, self.d, self.dtype = source, source.n, source.d, source.dtype
        self._centered = Centered(source, mean, 1.0 / scale, None, 1)

    def derive(self, block: Block) -> Block:
        return self._centered.panel(Chunk(0, block.shape[0], lambda: block), block).copy()


accept_dask(Standardized)
