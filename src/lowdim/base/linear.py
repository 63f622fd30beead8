"""What all linear methods share: rows in, axes out, new rows by projection."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from lowdim.base.estimator import Estimator
from lowdim.data.validation import read_rows, read_scores
from lowdim.linalg.centered import Centered
from lowdim.runtime.threads import single_blas, thread_count

__all__ = ["Linear"]

Array = NDArray[Any]


class Linear(Estimator):
    """z = A (x - mean) / scale. Fitted, a subclass has `mean_`, `scale_` and `components_`.

    A subclass says by `_forward` and `_backward` which matrices take rows to scores and back.
    """

    mean_: Array  # (d,)
    scale_: Array | None  # (d,)
    components_: Array  # (k, d)
    n_jobs: int | None

    def transform(self, X: Any) -> Array:
        """Map rows onto the fitted axes, (n, k). Nothing fitted changes."""
        check_is_fitted(self)
        return self._centred(X).times(self._forward())

    def inverse_transform(self, Z: Any) -> Array:
        """Rows of the original space for scores Z (n, k): the points of the fitted plane."""
        check_is_fitted(self)
        Z = read_scores(Z, len(self.components_))
        with single_blas():
            rows = Z @ self._backward().astype(Z.dtype)
        if self.scale_ is not None:
            rows *= self.scale_.astype(Z.dtype)
        return rows + self.mean_.astype(Z.dtype)

    def _forward(self) -> Array:
        """(d, k)"""
        return self.components_.T

    def _backward(self) -> Array:
        """(k, d)"""
        return self.components_

    def _centred(self, X: Any) -> Centered:
        """New rows, centred and scaled as the fitted ones were."""
        rows = read_rows(self, X, fitting=False)
        factors = None if self.scale_ is None else 1.0 / self.scale_.astype(np.float64)
        return Centered(rows, self.mean_.astype(np.float64), factors, None, thread_count(self.n_jobs))

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)
