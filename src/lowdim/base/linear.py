"""Linear projections: what PCA and all other linear methods share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from lowdim.base.estimator import Estimator
from lowdim.base.state import StateCheck
from lowdim.data.validation import read_rows, read_scores
from lowdim.errors import BadInput, BadParameter
from lowdim.linalg.centered import Centered
from lowdim.linalg.row_products import row_products
from lowdim.runtime.blas import single_blas
from lowdim.runtime.param import Integer
from lowdim.runtime.threads import thread_count
from lowdim.summaries.moments import Moments

__all__ = ["LinearProjection", "check_moments"]

Array = NDArray[Any]


class LinearProjection(Estimator):
    """z = A (x - mean) / scale. A fitted subclass has `mean_`, `scale_` and `components_`.

    A subclass whose scores are not plain projections onto `components_` overrides `_projection` and `_reconstruction`.
    """

    mean_: Array  # (d,)
    scale_: Array | None  # (d,)
    components_: Array  # (k, d)
    n_jobs: int | None

    def transform(self, X: Any) -> Array:
        """Scores of rows on the components, (n, k)."""
        check_is_fitted(self, "components_")
        return self._finite(self._centered(X).times(self._projection()))

    def inverse_transform(self, Z: Any) -> Array:
        """Rows of the original space for scores Z (n, k), in the subspace that the components span."""
        check_is_fitted(self, "components_")
        Z = read_scores(Z, len(self.components_))
        with single_blas(), np.errstate(over="ignore", invalid="ignore"):
            rows = row_products(Z, self._reconstruction())
            if self.scale_ is not None:
                rows *= self.scale_.astype(Z.dtype)
            return self._finite(rows + self.mean_.astype(Z.dtype))

    def _projection(self) -> Array:
        """The matrix from centered rows to scores, (d, k)."""
        return self.components_.T

    def _reconstruction(self) -> Array:
        """The matrix from scores to centered rows, (k, d)."""
        return self.components_

    def _centered(self, X: Any) -> Centered:
        """New rows, centered and scaled like the fitted ones."""
        rows = read_rows(self, X, fitting=False)
        factors = None if self.scale_ is None else 1.0 / self.scale_.astype(np.float64)
        return Centered(rows, self.mean_.astype(np.float64), factors, None, thread_count(self.n_jobs))

    def _accept_moments(self, m: Moments, sample_weight: Any, solver: str) -> None:
        """Record the features of moments that are fitted in place of rows; refuse what needs the rows."""
        if sample_weight is not None:
            raise BadInput("Moments include their weights; give sample_weight to lowdim.moments instead.")
        if solver not in ("auto", "covariance"):
            raise BadParameter(f"solver={solver!r} needs the rows; Moments allow 'auto' or 'covariance'.")
        self.n_features_in_ = m.d
        if m.feature_names is not None:
            self.feature_names_in_ = m.feature_names

    def _check_state(self, check: StateCheck) -> None:
        check.floats("components_", "k", "d")
        check.require(check.sizes["k"] > 0, "components_ must have a row")
        check.floats("mean_", "d")
        scale = check.floats("scale_", "d", optional=True)
        check.require(scale is None or (scale > 0).all(), "scale_ must be positive")

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)


def check_moments(check: StateCheck, name: str, d: int) -> None:
    """Moments in a state: finite, of sizes that agree, in d columns."""
    m: Moments = check.instance(name, Moments)
    check.require(Integer(1).accepts(m.rows), f"{name}.rows must be {Integer(1).text}")
    arrays = [part for part in (m.counts, m.means, m.within) if isinstance(part, np.ndarray)]
    doubles = len(arrays) == 3 and all(part.dtype == np.float64 and np.isfinite(part).all() for part in arrays)
    check.require(doubles, f"{name} must hold finite numbers in float64")
    classes = len(m.means) if m.means.ndim == 2 else 0
    check.require(classes > 0 and m.means.shape == (classes, d), f"{name}.means must have {d} columns")
    check.require(m.counts.shape == (classes,), f"{name}.counts must be {classes} numbers")
    check.require((m.counts >= 0).all() and m.n > 0, f"{name}.counts must not be negative, nor all zero")
    check.require(m.within.shape == (d, d), f"{name}.within must be {d} × {d}")
    labels = (1,) if m.classes is None else getattr(m.classes, "shape", None)
    check.require(labels == (classes,), f"{name}.classes must be {classes} labels")
    # A dtype also equals None and texts, so its type comes first.
    single_or_double = isinstance(m.dtype, np.dtype) and m.dtype in (np.float32, np.float64)
    check.require(single_or_double, f"{name}.dtype must be float32 or float64")
    names: Any = m.feature_names
    texts = names is None or (isinstance(names, np.ndarray) and names.dtype == object and names.shape == (d,))
    check.require(texts, f"{name}.feature_names must be {d} texts")
