"""What CA, MCA and FAMD share: principal axes of encoded rows.

Each of them is a weighted PCA of rows that were encoded first:

| method | row i, column j of the encoded table                 | weight of a row  |
|--------|------------------------------------------------------|------------------|
| CA     | share of column j in row i, divided by √c_j          | total of the row |
| MCA    | indicator of category j, divided by √(Q p_j)         | 1                |
| FAMD   | indicator of category j, divided by √p_j; or z-score | 1                |

c_j is the mass of a column, p_j the share of rows in a category, Q the number of columns of categories.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from lowdim.base.estimator import Estimator
from lowdim.base.state import StateCheck
from lowdim.data.rows import Rows
from lowdim.data.validation import check_weights
from lowdim.decomposition.component_count import Spectrum, count_components, fixed_count
from lowdim.decomposition.principal_axes import PCAOptions, PrincipalAxes, principal_axes
from lowdim.errors import NotEnoughData
from lowdim.linalg.centered import Centered
from lowdim.runtime.blas import single_blas
from lowdim.runtime.param import Integer, Real
from lowdim.runtime.threads import thread_count

__all__ = ["CorrespondenceProjection", "encoded_axes", "first_axes", "given_count"]

Array = NDArray[Any]


class CorrespondenceProjection(Estimator):
    """Scores z = Aᵀ (e - mean) of encoded rows e. A fitted subclass keeps mean and axes A in its state."""

    eigenvalues_: Array  # (k,)
    total_inertia_: float
    n_components_: int
    n_samples_: float
    n_jobs: int | None
    _explained = "inertia"

    def _encode(self, X: Any) -> tuple[Rows, Array]:
        """New rows, encoded as the fitted ones, and their weights (n,)."""
        raise NotImplementedError

    def transform(self, X: Any) -> Array:
        """Principal coordinates of rows, (n, k): new ones are supplementary, placed by the transition formula."""
        check_is_fitted(self, "eigenvalues_")
        return self._finite(self._centered(X)[0].times(self._state.axes))

    def row_contributions(self, X: Any, sample_weight: Any = None) -> Array:
        """Share of each row in the inertia of each axis, (n, k); on the fitted rows the columns sum to 1."""
        check_is_fitted(self, "eigenvalues_")
        centered, mass = self._centered(X)
        given = check_weights(sample_weight, len(mass))
        mass = (mass if given is None else mass * given) / self.n_samples_
        values = self._row_inertias().astype(np.float64)
        squares = centered.times(self._state.axes).astype(np.float64) ** 2 * mass[:, None]
        return np.divide(squares, values, out=np.zeros_like(squares), where=values > 0).astype(centered.rows.dtype)

    def row_cos2(self, X: Any) -> Array:
        """Squared cosines between rows and axes, (n, k): how well an axis shows a row; 0 for a row at the origin."""
        check_is_fitted(self, "eigenvalues_")
        centered, _ = self._centered(X)
        squares = centered.times(self._state.axes).astype(np.float64) ** 2
        norms = centered.squared_norms()[:, None]
        shares = np.divide(squares, norms, out=np.zeros_like(squares), where=norms > 0)
        return np.minimum(shares, 1.0).astype(centered.rows.dtype)

    def _row_inertias(self) -> Array:
        """Weighted mean squares of the scores of the fitted rows, (k,)."""
        return self.eigenvalues_

    def _centered(self, X: Any) -> tuple[Centered, Array]:
        with single_blas():
            rows, weights = self._encode(X)
        return Centered(rows, self._state.mean, None, None, thread_count(self.n_jobs)), weights

    def _keep_inertia(self, axes: PrincipalAxes, n: float, dtype: np.dtype[Any]) -> None:
        k = axes.vectors.shape[1]
        values = axes.values[:k]
        self.eigenvalues_ = values.astype(dtype)
        self.explained_variance_ = self.eigenvalues_.copy()
        self.explained_variance_ratio_ = (values / axes.total if axes.total > 0 else np.zeros(k)).astype(dtype)
        self.total_inertia_, self.n_components_, self.n_samples_ = axes.total, k, n

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def _check_inertia(self, check: StateCheck, encoded: str) -> None:
        """Checks what all of them keep; `encoded` names the number of encoded columns."""
        check.floats("eigenvalues_", "k", low=0)
        check.require(check.sizes["k"] > 0, "there must be a component")
        check.floats("explained_variance_", "k", low=0)
        check.floats("explained_variance_ratio_", "k", low=0)
        check.number("total_inertia_", Real(0))
        check.number("n_components_", Integer(check.sizes["k"], check.sizes["k"]))
        check.number("n_samples_", Real(0, open=True))
        check.floats("state.mean", encoded)
        check.floats("state.axes", encoded, "k")


def encoded_axes(
    rows: Rows, weights: Array, most: int, what: str, options: PCAOptions, spare: int = 0
) -> PrincipalAxes:
    """Principal axes of encoded rows, of which at most `most` have inertia; `what` says why there are no more."""
    fixed = given_count(options.n_components, most, what, spare)
    axes = principal_axes(rows, weights, replace(options, n_components=fixed or most))
    return axes if fixed else first_axes(axes, most, options.n_components)


def first_axes(axes: PrincipalAxes, most: int, n_components: Any) -> PrincipalAxes:
    """As many of the axes as a share of the inertia or a rule asks for."""
    spectrum = Spectrum(axes.values[:most], axes.n, most, ddof=0)
    k = count_components(n_components, spectrum)
    return replace(axes, vectors=np.ascontiguousarray(axes.vectors[:, :k]))


def given_count(n_components: Any, most: int, what: str, spare: int = 0) -> int | None:
    """The number of axes if it does not depend on the inertias; a few to `spare`, without inertia, may be asked for."""
    if most < 1:
        raise NotEnoughData(f"the rows do not differ, so there is no axis: {what}. Give rows and columns that vary.")
    return most if n_components is None else fixed_count(n_components, most + spare, what)
