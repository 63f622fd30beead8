"""Every registered estimator keeps scikit-learn's contract, and so does one on standardized columns."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import lowdim


def expected_failures(estimator):
    """MCA takes the random numbers of this check as categories, of which no two rows share one: no axis is larger."""
    equal = "every number is a category of its own, so that all axes are equal and new rows have none that was fitted"
    return {"check_sample_weight_equivalence_on_dense_data": equal} if isinstance(estimator, lowdim.MCA) else {}


@pytest.mark.filterwarnings("ignore")  # the checks provoke warnings of scikit-learn's own
@parametrize_with_checks(
    [*(method.cls() for method in lowdim.methods()), lowdim.Standardized(lowdim.PCA())],
    expected_failed_checks=expected_failures,
)
def test_estimator_check(estimator, check):
    check(estimator)
