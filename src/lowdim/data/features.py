"""The number and the names of the columns of a fit, and their comparison with those of new rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from lowdim.data.rows import Rows
from lowdim.errors import BadInput, BadInputType

__all__ = ["FeatureRecord", "check_features", "check_file_features", "owner_name"]


class FeatureRecord(BaseEstimator):  # type: ignore[misc]
    """Stands in for an estimator where a function reads rows; keeps `feature_names_in_` and `n_features_in_`."""


def owner_name(owner: Any) -> str:
    """Who reads the rows, in an error: an estimator by its name."""
    return "this function" if type(owner) is FeatureRecord else type(owner).__name__


def check_file_features(owner: Any, rows: Rows, fitting: bool) -> None:
    """Set the number and names of the features, or compare them with those of the fit."""
    names = getattr(rows, "feature_names", None)
    if fitting:
        owner.n_features_in_ = rows.d
        if names is not None:
            owner.feature_names_in_ = np.asarray(names, dtype=object)
        return
    expected = getattr(owner, "n_features_in_", rows.d)
    if rows.d != expected:
        raise BadInput(f"X has {rows.d} features, but {owner_name(owner)} is expecting {expected} features as input.")
    fitted = getattr(owner, "feature_names_in_", None)
    if names is None or fitted is None or list(names) == list(fitted):
        return
    j = next(j for j in range(rows.d) if names[j] != fitted[j])
    raise BadInput(
        f"The feature names should match those that were passed during fit: column {j} is {names[j]!r}, "
        f"but was {fitted[j]!r}. Select the columns in the order of the fit."
    )


def check_features(owner: Any, X: Any, fitting: bool) -> None:
    """Record the number and names of the features of a table, or compare them with those of the fit."""
    try:
        if not fitting and not hasattr(owner, "n_features_in_"):
            return
        validate_data(owner, X=X, reset=fitting, skip_check_array=True)
    except TypeError as error:  # column names of several types
        raise BadInputType(str(error)) from error
    except ValueError as error:
        raise BadInput(str(error)) from error
