"""Every registered estimator keeps scikit-learn's contract, and so does one on standardized columns."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import lowdim


@pytest.mark.filterwarnings("ignore")  # the checks provoke warnings of scikit-learn's own
@parametrize_with_checks([*(method.cls() for method in lowdim.methods()), lowdim.Standardized(lowdim.PCA())])
def test_estimator_check(estimator, check):
    check(estimator)
