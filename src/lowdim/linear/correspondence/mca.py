"""Multiple correspondence analysis."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lowdim.base.estimator import estimator
from lowdim.base.state import StateCheck
from lowdim.data.mixed import read_mixed
from lowdim.decomposition.component_count import fixed_count
from lowdim.decomposition.principal_axes import PrincipalAxes
from lowdim.errors import BadInput
from lowdim.linear.correspondence.base import encoded_axes, first_axes
from lowdim.linear.correspondence.categorical import CategoricalProjection, CodedAxesState
from lowdim.linear.correspondence.indicators import ColumnCoding, EncodedRows, fit_coding
from lowdim.runtime.display import rows_and_columns
from lowdim.runtime.param import Choice, Maybe, param

__all__ = ["MCA"]

Array = NDArray[Any]

ROUNDING = 1e-12  # of the squared distance of a category that all rows have


@estimator(
    title="correspondence analysis of categories",
    summary="moments",
    weights=True,
    categories=True,
    categories_only=True,
    own_scale=True,
)
class MCA(CategoricalProjection):
    """Multiple correspondence analysis: rows and categories of a table of categorical columns in one map.

    It is the correspondence analysis of the indicator matrix, which has a column of 0 and 1 for each of J categories of
    Q columns, or of the Burt matrix, its cross table:

        Z = (indicators / √p - √p) / √Q,   ZᵀZ / n = V Λ Vᵀ

        rows  F = Z V,   categories  G = √Q p^-½ V Λ^½ (indicator) or √Q p^-½ V Λ (Burt),   p their shares of the rows

    The inertias of the indicator matrix are pessimistic: a table explains little of itself. Benzécri's correction takes
    ((Q / (Q - 1)) (λ - 1/Q))² for axes above 1/Q and shares of their sum; Greenacre's takes shares of the
    average inertia off the diagonal of the Burt matrix, which are lower.

    `fit` takes a dataframe, an array of text, objects or numbers, a `lowdim.Table` or a file. Every different value of
    a column is a category.

    {parameters}

    Attributes
    ----------
    eigenvalues_ : array (k,)
        Principal inertias of the indicator matrix, or of the Burt matrix: their squares.
    explained_variance_, explained_variance_ratio_ : array (k,)
        Inertias after the correction, and their shares.
    total_inertia_ : float
        J/Q - 1 for the indicator matrix; the sum of the squares of all inertias for the Burt matrix.
    category_names_ : array (J,)
        column=value.
    category_coordinates_ : array (J, k)
        Principal coordinates of the categories.
    category_contributions_ : array (J, k)
        Share of each category in the inertia of each axis.
    category_cos2_ : array (J, k)
        Squared cosines between categories and axes.
    category_masses_ : array (J,)
        Shares of the rows in the categories.
    eta_squared_ : array (d, k)
        Squared correlation ratio of each column and each axis: the share of the variance of the scores that lies
        between the categories.
    n_components_ : int
        Number of components.
    n_samples_ : float
        Number of rows, or the sum of their weights.

    """

    table: str = param(
        "indicator",
        Choice("indicator", "burt"),
        "Analyze the indicator or the Burt matrix: the inertias of the second are the squares of those of the first.",
    )
    correction: str | None = param(
        None, Maybe(Choice("benzecri", "greenacre")), "Correction of the explained inertias, or None."
    )

    _state_classes = (CodedAxesState, ColumnCoding)

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the principal axes of the indicators. `sample_weight` is the multiplicity of each row."""
        with self._fitting():
            table = read_mixed(self, X, fitting=True, min_rows=2)
            weights = self._weights(sample_weight, table.n)
            coding, codes = fit_coding(table, (), weights, self.handle_missing)
            Q = codes.shape[1]
            factors = 1 / np.sqrt(Q * coding.shares)
            rows = EncodedRows(np.empty((table.n, 0)), codes, factors, table.dtype)
            most = min(int((weights > 0).sum()) - 1, len(factors) - Q)
            what = f"{rows_and_columns(table.n, Q)} of {len(factors)} categories span no more axes"
            axes, spectrum = self._axes(rows, weights, most, what)
            state = CodedAxesState(coding, factors, np.sqrt(coding.shares / Q), axes.vectors)
            return self._keep(state, axes, spectrum, table.names, table.dtype)

    def _axes(self, rows: EncodedRows, weights: Array, most: int, what: str) -> tuple[PrincipalAxes, Array]:
        """The axes, and the inertias of the indicator matrix: all of them where a correction or Burt's total asks."""
        options = self._options()
        if self.correction is None and self.table == "indicator":
            axes = encoded_axes(rows, weights, most, what, options)
            return axes, axes.values
        fixed = fixed_count(options.n_components, most, what)
        axes = encoded_axes(rows, weights, most, what, replace(options, n_components=None))
        if fixed is None:
            return first_axes(axes, most, options.n_components), axes.values[:most]
        return replace(axes, vectors=np.ascontiguousarray(axes.vectors[:, :fixed])), axes.values[:most]

    def _keep(
        self, state: CodedAxesState, axes: PrincipalAxes, spectrum: Array, names: tuple[str, ...], dtype: np.dtype[Any]
    ) -> Self:
        V, Q = axes.vectors, len(state.coding.blocks)
        values, masses = axes.values[: V.shape[1]], state.coding.shares[:, None] / Q
        self._keep_coding(state, names, dtype)
        self._keep_inertia(axes, axes.n, dtype)
        burt = self.table == "burt"
        if burt:
            self.eigenvalues_, self.total_inertia_ = (values**2).astype(dtype), float((spectrum**2).sum())
        explained, total = self._explained_inertias(values, spectrum, Q)
        self.explained_variance_ = explained.astype(dtype)
        self.explained_variance_ratio_ = (explained / total if total > 0 else np.zeros_like(explained)).astype(dtype)
        self.category_coordinates_ = (V * (values if burt else np.sqrt(values)) / np.sqrt(masses)).astype(dtype)
        self.category_contributions_ = (V**2).astype(dtype)
        # In the space of the indicator matrix a category is √(1/p - 1) from the origin.
        squares, distances = V**2 * values / masses, 1 / state.coding.shares[:, None] - 1
        cos2 = np.divide(squares, distances, out=np.zeros_like(squares), where=distances > ROUNDING)
        self.category_cos2_ = np.minimum(cos2, 1.0).astype(dtype)
        self.eta_squared_ = np.clip(self._by_column(Q * values * V**2), 0.0, 1.0).astype(dtype)
        return self

    def _explained_inertias(self, values: Array, spectrum: Array, Q: int) -> tuple[Array, float]:
        """Inertias of the axes after the correction, (k,), and what they are shares of."""
        if self.correction is None:
            return self.eigenvalues_.astype(np.float64), self.total_inertia_
        if Q < 2:
            raise BadInput(f"correction={self.correction!r} needs at least 2 columns of categories; there is {Q}.")

        def corrected(inertias: Array) -> Array:
            return (Q / (Q - 1) * np.maximum(inertias - 1 / Q, 0.0)) ** 2

        if self.correction == "benzecri":
            return corrected(values), float(corrected(spectrum).sum())
        J = len(self.category_names_)
        return corrected(values), Q / (Q - 1) * (float((spectrum**2).sum()) - (J - Q) / Q**2)

    def _row_inertias(self) -> Array:
        return np.sqrt(self.eigenvalues_) if self.table == "burt" else self.eigenvalues_

    def _check_state(self, check: StateCheck) -> None:
        self._check_coding(check)
        check.require(check.sizes["p"] == 0, "MCA has no columns of numbers")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        return tags
