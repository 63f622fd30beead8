"""Factor analysis of mixed data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from lowdim.base.estimator import estimator
from lowdim.base.state import StateCheck
from lowdim.data.mixed import MixedTable, read_mixed
from lowdim.data.validation import read_scores
from lowdim.decomposition.principal_axes import PrincipalAxes
from lowdim.errors import BadInput
from lowdim.linalg.centered import Centered
from lowdim.linalg.row_products import row_products
from lowdim.linear.correspondence.base import encoded_axes
from lowdim.linear.correspondence.categorical import CategoricalProjection, CodedAxesState
from lowdim.linear.correspondence.indicators import ColumnCoding, EncodedRows, encode_numbers, fit_coding
from lowdim.runtime.blas import single_blas
from lowdim.runtime.display import rows_and_columns
from lowdim.runtime.param import Integer, Maybe, Such, param
from lowdim.runtime.threads import thread_count

__all__ = ["FAMD"]

Array = NDArray[Any]

BLOCK = 256  # categories whose products are taken at once


def _is_column_list(value: Any) -> bool:
    one = Integer(0)
    return isinstance(value, list | tuple) and all(isinstance(item, str) or one.accepts(item) for item in value)


@estimator(
    title="factor analysis of mixed data: numbers and categories",
    summary="moments",
    inverse=True,
    weights=True,
    categories=True,
    own_scale=True,
)
class FAMD(CategoricalProjection):
    """Factor analysis of mixed data: principal components of a table of numbers and categories.

        max  Σ_numbers r²(x_j, z) + Σ_categories η²(x_j, z)   over uncorrelated scores z of the rows

    Numbers are standardized, and indicators of categories are divided by the root of their share p of the rows:

        Z = [ (x - μ) / σ,  indicators / √p - √p ],   ZᵀZ / n = V Λ Vᵀ,   rows  F = Z V

    A column of numbers has the inertia 1, one of m categories m - 1, but at most 1 on any axis, so that neither kind
    dominates. Without categories this is PCA of standardized columns; without numbers MCA, with inertias Q times as
    large for Q columns.

    `fit` takes a dataframe, an array, a `lowdim.Table` or a file. Columns of numbers are numbers; text, booleans and
    other values are categories.

    {parameters}

    Attributes
    ----------
    eigenvalues_, explained_variance_ : array (k,)
        Inertias of the axes: the variances of the scores.
    explained_variance_ratio_ : array (k,)
        Their shares of the total inertia.
    total_inertia_ : float
        The number of columns of numbers that vary, and the number of categories less their columns.
    correlation_loadings_ : array (p, k)
        Correlations between the columns of numbers and the scores.
    number_names_ : array (p,)
        The names of these columns.
    category_names_ : array (J,)
        column=value.
    category_coordinates_ : array (J, k)
        Means of the scores of the rows in each category.
    category_contributions_ : array (J, k)
        Share of each category in the inertia of each axis.
    category_cos2_ : array (J, k)
        Squared cosines between the means of the categories and the axes.
    category_masses_ : array (J,)
        Shares of the rows in the categories.
    column_contributions_ : array (d, k)
        Share of each column in the inertia of each axis.
    eta_squared_ : array (d, k)
        How strongly a column belongs to an axis: r² of numbers, squared correlation ratio η² of categories.
    n_components_ : int
        Number of components.
    n_samples_ : float
        Number of rows, or the sum of their weights.

    """

    categorical: Sequence[str | int] | None = param(
        None,
        Maybe(Such("a list of column names or positions", _is_column_list)),
        "Columns of numbers that are codes of categories.",
    )

    _state_classes = (CodedAxesState, ColumnCoding)

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the principal axes of the coded columns. `sample_weight` is the multiplicity of each row."""
        with self._fitting():
            table = read_mixed(self, X, fitting=True, min_rows=2)
            weights = self._weights(sample_weight, table.n)
            coding, codes = fit_coding(table, self._number_columns(table), weights, self.handle_missing)
            factors = 1 / np.sqrt(coding.shares)
            rows = EncodedRows(encode_numbers(table, coding), codes, factors, table.dtype)
            p, Q = len(coding.number_columns), codes.shape[1]
            most = min(int((weights > 0).sum()) - 1, p + len(factors) - Q)
            what = f"{rows_and_columns(table.n, p + Q)} with {len(factors)} categories span no more axes"
            axes = encoded_axes(rows, weights, most, what, self._options())
            mean = np.concatenate([np.zeros(p), np.sqrt(coding.shares)])
            state = CodedAxesState(coding, factors, mean, axes.vectors)
            centered = Centered(rows, mean, None, np.sqrt(weights), thread_count(self.n_jobs))
            return self._keep(state, axes, _category_distances(centered, p, coding.shares, axes.n), table)

    def inverse_transform(self, Z: Any) -> Array:
        """Rows of the original columns for scores Z (n, k).

        Numbers are those of the subspace that the axes span. A category is that with the largest reconstructed
        indicator; an array with categories is one of objects.
        """
        check_is_fitted(self, "eigenvalues_")
        Z, coding = read_scores(Z, self.n_components_), self._state.coding
        p = len(coding.number_columns)
        with single_blas(), np.errstate(over="ignore", invalid="ignore"):
            coded = row_products(Z.astype(np.float64), self._state.axes.T) + self._state.mean
            numbers = self._finite((coded[:, :p] * coding.scales + coding.means).astype(Z.dtype))
        if p == self.n_features_in_:
            return numbers
        out = np.empty((len(Z), self.n_features_in_), dtype=object)
        out[:, coding.number_columns] = numbers
        indicators = coded[:, p:] / self._state.factors
        for column, places in coding.blocks:
            out[:, column] = coding.category_values[places][indicators[:, places].argmax(axis=1)]
        return out

    def _number_columns(self, table: MixedTable) -> tuple[int, ...]:
        """Positions of the columns of numbers, without those that hold codes of categories."""
        coded = set()
        for item in self.categorical or ():
            if isinstance(item, str) and item not in table.names:
                raise BadInput(f"categorical: there is no column {item!r}. Columns: {', '.join(table.names[:12])}.")
            position = table.names.index(item) if isinstance(item, str) else int(item)
            if position >= len(table.columns):
                raise BadInput(f"categorical: there is no column {position}; there are {len(table.columns)}.")
            coded.add(position)
        return tuple(j for j in range(len(table.columns)) if table.is_number(j) and j not in coded)

    def _keep(self, state: CodedAxesState, axes: PrincipalAxes, distances: Array, table: MixedTable) -> Self:
        dtype, V = table.dtype, axes.vectors
        p, values = len(state.coding.number_columns), axes.values[: V.shape[1]]
        self._keep_coding(state, table.names, dtype)
        self._keep_inertia(axes, axes.n, dtype)
        self.number_names_ = np.asarray([table.names[j] for j in state.coding.number_columns], dtype=object)
        self.correlation_loadings_ = np.clip(V[:p] * np.sqrt(values), -1.0, 1.0).astype(dtype)
        coordinates = values * V[p:] / np.sqrt(state.coding.shares)[:, None]
        self.category_coordinates_ = coordinates.astype(dtype)
        self.category_contributions_ = (V[p:] ** 2).astype(dtype)
        floor = 1e-24 * max(float(axes.total), 1.0)
        squares = np.divide(
            coordinates**2, distances[:, None], out=np.zeros_like(coordinates), where=distances[:, None] > floor
        )
        self.category_cos2_ = np.minimum(squares, 1.0).astype(dtype)
        self.column_contributions_ = self._by_column(V**2).astype(dtype)
        self.eta_squared_ = np.clip(self._by_column(values * V**2), 0.0, 1.0).astype(dtype)
        return self

    def _check_state(self, check: StateCheck) -> None:
        self._check_coding(check)
        check.texts("number_names_", "p")
        check.floats("correlation_loadings_", "p", "k")
        check.floats("column_contributions_", "d", "k", low=0)


def _category_distances(centered: Centered, p: int, shares: Array, n: float) -> Array:
    """Squared distances of the means of the categories from the mean of all rows, in the coded space, (J,).

    The mean of category j is C_j / √p_j, where C is the covariance matrix of the coded columns.
    """
    out = np.empty(len(shares))
    for start in range(0, len(shares), BLOCK):
        stop = min(start + BLOCK, len(shares))
        units = np.zeros((centered.rows.d, stop - start))
        units[np.arange(p + start, p + stop), np.arange(stop - start)] = 1.0
        covariances = centered.scatter_times(units) / n  # (p + J, block)
        out[start:stop] = (covariances**2).sum(axis=0) / shares[start:stop]
    return out
