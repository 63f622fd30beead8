"""Correspondence analysis."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from lowdim.base.estimator import SeedMixin, ThreadsMixin, estimator
from lowdim.base.fit_memory import FitMemory
from lowdim.base.state import StateCheck
from lowdim.data.rows import Rows, StreamRows
from lowdim.data.validation import check_weights, overflow_error, read_rows, read_scores, restarts
from lowdim.decomposition.component_count import ComponentRule, component_domain
from lowdim.decomposition.principal_axes import PCAOptions, PrincipalAxes, axes_from_moments
from lowdim.errors import NotEnoughData
from lowdim.linalg.row_products import row_products
from lowdim.linear.correspondence.base import CorrespondenceProjection, encoded_axes, first_axes, given_count
from lowdim.linear.correspondence.profiles import ProfileRows, profile_moments, row_and_column_totals
from lowdim.runtime.blas import single_blas
from lowdim.runtime.display import rows_and_columns
from lowdim.runtime.param import param
from lowdim.runtime.random import seed_of
from lowdim.runtime.threads import thread_count

__all__ = ["CA", "CAState"]

Array = NDArray[Any]


@dataclass(frozen=True)
class CAState:
    """What `transform` needs. Columns without counts have the root mass 0."""

    mean: Array  # √c (d,) roots of the column masses
    axes: Array  # (d, k) right singular vectors


@estimator(
    title="correspondence analysis of counts",
    summary="moments",
    inverse=True,
    streaming=True,
    sparse=True,
    weights=True,
    own_scale=True,
)
class CA(ThreadsMixin, SeedMixin, CorrespondenceProjection):
    """Correspondence analysis: the rows and columns of a table of counts in one map, by χ² distances of profiles.

        D_r^-½ (P - r cᵀ) D_c^-½ = U S Vᵀ,   P = N / ΣN,   r and c the row and column masses

        rows  F = D_r^-½ U S,   columns  G = D_c^-½ V S,   principal inertias λ = S²

    The inertias sum to χ² / ΣN. By the transition formula a row lies at the average of the columns, weighted by its
    profile and divided by √λ. That also places new rows. A row without counts has no profile: it has no mass, and lies
    at the origin.

    `fit` takes counts or other numbers of at least zero: an array, sparse matrix, dataframe, or an iterator of chunks
    (in one pass).

    {parameters}

    Attributes
    ----------
    eigenvalues_, explained_variance_ : array (k,)
        Principal inertias of the axes.
    explained_variance_ratio_ : array (k,)
        Their shares of the total inertia.
    total_inertia_ : float
        χ² / ΣN, the inertia of all axes.
    column_coordinates_ : array (d, k)
        Principal coordinates of the columns.
    column_contributions_ : array (d, k)
        Share of each column in the inertia of each axis: columns of it sum to 1.
    column_cos2_ : array (d, k)
        Squared cosines between columns and axes: how well an axis shows a column.
    column_masses_ : array (d,)
        Shares of the columns in the grand total.
    n_components_ : int
        Number of components.
    n_samples_ : float
        The grand total ΣN.

    """

    n_components: int | float | str | ComponentRule | None = param(
        2,
        component_domain,
        "Number of axes; or the share of the inertia to exceed; or a rule that reads the inertias; or None for all "
        "with inertia, which are one less than the rows or the columns.",
        kw_only=False,
    )

    _fit_memory = FitMemory(scatters=1, iterative=True)
    _state_classes = (CAState,)

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the principal axes of the profiles. `sample_weight` is the multiplicity of each row."""
        with self._fitting():
            rows = read_rows(self, X, fitting=True, min_rows=2, several_passes=restarts(X))
            if isinstance(rows, StreamRows):
                check_weights(sample_weight, None)
                return self._keep(*self._fit_stream(rows), rows.dtype)
            weights = check_weights(sample_weight, rows.count)
            totals, columns = row_and_column_totals(rows, weights, thread_count(self.n_jobs))
            n = float(columns.sum())
            roots = np.sqrt(columns / _require_total(n))
            profiles = ProfileRows(rows, roots)
            mass = totals if weights is None else totals * weights
            most, what = _most_axes(int((mass > 0).sum()), roots, rows)
            axes = encoded_axes(profiles, mass / n, most, what, self._options(), spare=1)
            return self._keep(axes, roots, n, profiles.column_distances(mass / n), rows.dtype)

    def inverse_transform(self, Z: Any) -> Array:
        """Profiles of rows (shares of the columns, which sum to 1) for coordinates Z (n, k)."""
        check_is_fitted(self, "eigenvalues_")
        Z = read_scores(Z, self.n_components_)
        with single_blas(), np.errstate(over="ignore", invalid="ignore"):
            profiles = self._state.mean * (self._state.mean + row_products(Z.astype(np.float64), self._state.axes.T))
        return self._finite(profiles.astype(Z.dtype))

    def _encode(self, X: Any) -> tuple[Rows, Array]:
        rows = read_rows(self, X, fitting=False)
        totals, _ = row_and_column_totals(rows, None, thread_count(self.n_jobs))
        return ProfileRows(rows, self._state.mean, center_empty=True), totals

    def _options(self) -> PCAOptions:
        return PCAOptions(self.n_components, 0, seed=seed_of(self.random_state), threads=thread_count(self.n_jobs))

    def _fit_stream(self, rows: Rows) -> tuple[PrincipalAxes, Array, float, Array]:
        """Axes from the moments of the profiles, weighted by the totals of the rows: one pass."""
        m = profile_moments(rows, thread_count(self.n_jobs))
        roots = np.sqrt(m.mean)
        inverse = np.divide(1.0, roots, out=np.zeros_like(roots), where=roots > 0)
        scaled = replace(m, means=roots[None], within=m.within * np.outer(inverse, inverse))
        _require_total(m.n)
        most, what = _most_axes(m.rows, roots, rows)
        options = self._options()
        fixed = given_count(options.n_components, most, what, spare=1)
        axes = axes_from_moments(scaled, replace(options, n_components=fixed or most))
        axes = axes if fixed else first_axes(axes, most, options.n_components)
        distances = np.diagonal(scaled.within) / m.n * inverse**2
        return axes, roots, m.n, distances

    def _keep(self, axes: PrincipalAxes, roots: Array, n: float, distances: Array, dtype: np.dtype[Any]) -> Self:
        """`distances` are the squared χ² distances of the columns from their centroid, (d,)."""
        if not np.isfinite(axes.values).all():
            raise overflow_error()
        self._keep_inertia(axes, n, dtype)
        V, inverse = axes.vectors, np.divide(1.0, roots, out=np.zeros_like(roots), where=roots > 0)
        V = np.where(roots[:, None] > 0, V, 0.0)
        coordinates = V * np.sqrt(axes.values[: V.shape[1]]) * inverse[:, None]
        self.column_coordinates_ = coordinates.astype(dtype)
        self.column_contributions_ = (V**2).astype(dtype)
        cos2 = np.divide(coordinates**2, distances[:, None], out=np.zeros_like(V), where=distances[:, None] > 0)
        self.column_cos2_ = np.minimum(cos2, 1.0).astype(dtype)
        self.column_masses_ = (roots**2).astype(dtype)
        self._state = CAState(roots, V)
        return self

    def _check_state(self, check: StateCheck) -> None:
        self._check_inertia(check, "d")
        for name in ("column_coordinates_", "column_contributions_", "column_cos2_"):
            check.floats(name, "d", "k")
        check.floats("column_masses_", "d", low=0)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags


def _require_total(n: float) -> float:
    if not np.isfinite(n):
        raise overflow_error()
    if n <= 0:
        raise NotEnoughData("the table has no counts: every number is 0. Give a table with counts above 0.")
    return n


def _most_axes(rows_with_counts: int, roots: Array, rows: Rows) -> tuple[int, str]:
    """The largest number of axes with inertia, and why there are no more."""
    most = min(rows_with_counts, int((roots > 0).sum())) - 1
    size = f"{rows.d} columns" if rows.n is None else rows_and_columns(rows.n, rows.d)
    return most, f"{size} with counts span no more axes"
