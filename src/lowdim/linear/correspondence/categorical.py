"""What MCA and FAMD share: coded columns, the map of categories, and how strongly columns belong to axes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.base.estimator import SeedMixin, ThreadsMixin
from lowdim.base.state import StateCheck
from lowdim.data.mixed import read_mixed
from lowdim.data.rows import Rows
from lowdim.data.validation import check_weights
from lowdim.decomposition.component_count import ComponentRule, component_domain
from lowdim.decomposition.principal_axes import PCAOptions
from lowdim.linear.correspondence.base import CorrespondenceProjection
from lowdim.linear.correspondence.indicators import (
    ColumnCoding,
    EncodedRows,
    encode_numbers,
    read_codes,
)
from lowdim.runtime.param import Choice, param
from lowdim.runtime.random import seed_of
from lowdim.runtime.threads import thread_count

__all__ = ["CategoricalProjection", "CodedAxesState"]

Array = NDArray[Any]


@dataclass(frozen=True)
class CodedAxesState:
    """What `transform` needs: how columns are coded, and the axes of the coded rows."""

    coding: ColumnCoding
    factors: Array  # (J,) of the indicators
    mean: Array  # (p + J,)
    axes: Array  # (p + J, k)


@dataclass(eq=False, repr=False, kw_only=True)
class CategoricalProjection(ThreadsMixin, SeedMixin, CorrespondenceProjection):
    """Base of MCA and FAMD, whose rows have columns of categories."""

    n_components: int | float | str | ComponentRule | None = param(
        2,
        component_domain,
        "Number of axes; or the share of the inertia to exceed; or a rule that reads the inertias; or None for all.",
        kw_only=False,
    )
    handle_missing: str = param(
        "error",
        Choice("error", "category"),
        "Missing categories are an error, or a category of their own.",
    )
    handle_unknown: str = param(
        "error",
        Choice("error", "ignore"),
        "Categories of new rows that were not fitted are an error, or such a column adds nothing to the row's scores.",
    )

    def _encode(self, X: Any) -> tuple[Rows, Array]:
        table, coding = read_mixed(self, X, fitting=False), self._state.coding
        numbers = encode_numbers(table, coding)
        codes = read_codes(table, coding, self.handle_missing, self.handle_unknown)
        return EncodedRows(numbers, codes, self._state.factors, table.dtype), np.ones(table.n)

    def _weights(self, sample_weight: Any, n: int) -> Array:
        given = check_weights(sample_weight, n)
        return np.ones(n) if given is None else given

    def _options(self) -> PCAOptions:
        return PCAOptions(self.n_components, 0, seed=seed_of(self.random_state), threads=thread_count(self.n_jobs))

    def _keep_coding(self, state: CodedAxesState, names: tuple[str, ...], dtype: np.dtype[Any]) -> None:
        """Keeps the state, the names of the categories, and the squared correlations of columns and axes."""
        coding = state.coding
        self._state = state
        self.category_names_ = np.asarray(
            [f"{names[j]}={v}" for j, v in zip(coding.category_columns, coding.category_values, strict=True)],
            dtype=object,
        )
        self.category_masses_ = coding.shares.astype(dtype)

    def _by_column(self, squares: Array) -> Array:
        """Sums of a value for each coded column (p + J, k) over the columns of the table, (d, k)."""
        coding, p = self._state.coding, len(self._state.coding.number_columns)
        out = np.zeros((self.n_features_in_, squares.shape[1]))
        out[coding.number_columns] = squares[:p]
        np.add.at(out, coding.category_columns, squares[p:])
        return out

    def _check_coding(self, check: StateCheck) -> None:
        check.instance("state.coding", ColumnCoding)
        d = check.sizes["d"]
        check.indices("state.coding.number_columns", "p", below=d)
        check.floats("state.coding.means", "p")
        scales = check.floats("state.coding.scales", "p")
        check.require(scales is not None and (scales > 0).all(), "state.coding.scales must be positive")
        owners = check.indices("state.coding.category_columns", "J", below=d)
        check.require(owners is not None and (np.diff(owners) >= 0).all(), "category_columns must ascend")
        check.texts("state.coding.category_values", "J")
        check.floats("state.coding.shares", "J", low=0)
        check.floats("state.factors", "J", low=0)
        check.sizes["coded"] = check.sizes["p"] + check.sizes["J"]
        self._check_inertia(check, "coded")
        check.texts("category_names_", "J")
        check.floats("category_masses_", "J", low=0)
        for name in ("category_coordinates_", "category_contributions_", "category_cos2_"):
            check.floats(name, "J", "k")
        check.floats("eta_squared_", "d", "k", low=0)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        return tags
