"""A method on standardised columns, which keeps their scale for new rows."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from lowdim.base.estimator import Estimator
from lowdim.data.rows import Rows
from lowdim.data.validation import overflow_error, read_rows
from lowdim.errors import BadParameter
from lowdim.linalg.centered import Centered, column_means
from lowdim.runtime.memory import require_memory
from lowdim.runtime.progress import report
from lowdim.runtime.threads import thread_count
from lowdim.summaries.moments import spread_or_one

__all__ = ["Standardized"]

Array = NDArray[Any]


def _has_a_way_back(owner: Standardized) -> bool:
    return hasattr(owner.model, "inverse_transform")


@dataclasses.dataclass(eq=False, repr=False)
class Standardized(Estimator):
    """A method on columns of one scale: each less its mean, divided by its standard deviation (n - 1).

        model = Standardized(UMAP()).fit(X)
        lowdim.save(model, "map.lowdim")

    The scale is found by `fit` and is a part of the model, also in a model file, so that new rows come in the
    units of the fitted ones. `PCA` does the same by `standardize=True`, without a scaled copy of the rows.

    Parameters
    ----------
    model : an estimator of lowdim
        The method. It stays as it is: a copy of it is fitted.

    Attributes
    ----------
    mean_, scale_ : arrays of shape (d,)
        What is taken from every column, and what it is then divided by (1 where a column does not vary).
    model_ : the fitted method

    """

    model: Any

    def fit(self, X: Any, y: Any = None) -> Standardized:
        """Find the scale of the columns, and fit the method to standardised rows."""
        with self._fitting():
            self.model_ = self._copied().fit(self._learned(X), y)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Array:
        """`fit`, and what the method makes of the fitted rows, (n, k)."""
        with self._fitting():
            model = self._copied()
            Z = model.fit_transform(self._learned(X), y)
            self.model_ = model
        return np.asarray(Z)

    def transform(self, X: Any) -> Array:
        """New rows, standardised as the fitted ones were, through the method, (m, k)."""
        check_is_fitted(self)
        return self.model_.transform(self._scores(read_rows(self, X, fitting=False)))

    @available_if(_has_a_way_back)  # type: ignore[untyped-decorator]
    def inverse_transform(self, Z: Any) -> Array:
        """Rows in the units of the fitted ones for places Z (m, k), where the method has a way back."""
        check_is_fitted(self)
        rows = np.asarray(self.model_.inverse_transform(Z))
        return rows * self.scale_.astype(rows.dtype) + self.mean_.astype(rows.dtype)

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """The names that the method gives to its axes."""
        check_is_fitted(self)
        return np.asarray(self.model_.get_feature_names_out())

    def _copied(self) -> Any:
        if not isinstance(self.model, Estimator):
            raise BadParameter(
                f"Standardized: model must be an estimator of lowdim; got {self.model!r}. Try Standardized(PCA(2))."
            )
        return clone(self.model)

    def _learned(self, X: Any) -> Array:
        """Standardised rows of X, (n, d), by a scale that is kept."""
        rows = read_rows(self, X, fitting=True)
        threads = thread_count(getattr(self.model, "n_jobs", None))
        n, mean = column_means(rows, None, threads)
        variance = Centered(rows, mean, None, None, threads).column_scatter(n) / max(n - 1, 1)
        if not np.isfinite(variance).all():
            raise overflow_error()
        self.mean_, self.scale_ = mean, spread_or_one(np.sqrt(variance), mean, rows.dtype)
        return self._scores(rows)

    def _scores(self, rows: Rows) -> Array:
        """(x - mean) / scale, (n, d), dense."""
        needed = rows.count * rows.d * rows.dtype.itemsize
        require_memory(needed, f"{rows.count} x {rows.d} standardised values", "Use fewer rows, or their own units.")
        centred = Centered(rows, self.mean_, 1.0 / self.scale_, None, 1)
        out = np.empty((rows.count, rows.d), dtype=rows.dtype)
        for chunk in rows.chunks():
            out[chunk.start : chunk.stop] = centred.panel(chunk, chunk.load())
            report("standardising rows", chunk.stop, rows.count)
        return out

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        if isinstance(self.model, Estimator):
            tags.target_tags.required = get_tags(self.model).target_tags.required
        return tags
