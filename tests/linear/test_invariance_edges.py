"""Linear methods other than PCA at the edges of precision: laws that hold exactly, with a bound on what rounding costs.

Rows are multiples of 2⁻¹⁰, so that adding 2²⁷ (about 1e8) or 2⁴⁰ (about 1e12) rounds nothing, and powers of two change
no digit: whatever differs from the fit of the plain rows is the method's own error.
"""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import lowdim
from lowdim import CA, ICA, LDA, PHD, SAVE, SIR, DirectionalRegression, TruncatedSVD
from lowdim.errors import LowdimError

N = 600
AFFINE = {  # scores are of unit variance in all rows or within classes: no unit and no offset changes them
    "LDA": lambda: LDA(2),
    "LDA svd": lambda: LDA(2, solver="svd"),
    "LDA gram": lambda: LDA(2, solver="gram"),
    "SIR": lambda: SIR(2),
    "SAVE": lambda: SAVE(2),
    "PHD": lambda: PHD(2),
    "DirectionalRegression": lambda: DirectionalRegression(2),
    "ICA": lambda: ICA(3, tol=1e-10, random_state=0),
}
UNROUNDED = ("PCA", "PCA svd", "PHD")  # need the means of all rows alone, from which they center again
SHIFTED = {**AFFINE, "PCA": lambda: lowdim.PCA(2), "PCA svd": lambda: lowdim.PCA(2, solver="svd")}


def rows():
    rng = np.random.default_rng(3)
    X = rng.laplace(size=(N, 4)) + rng.laplace(size=(N, 1))
    return np.round(X * 1024) / 1024


def target(name, X):
    if name.startswith("LDA"):
        return np.digitize(X[:, 0] + 0.5 * X[:, 1], [-1.0, 1.0])
    return X[:, 0] + X[:, 1] ** 2


def scores(name, X, y, make=None):
    Z = (make or SHIFTED[name])().fit(X, y).transform(X)
    return Z - Z.mean(axis=0)


def relative_error(found, wanted):
    """The largest difference of two sets of scores, in units of their size, whatever the signs of the axes."""
    signs = np.sign((found * wanted).sum(axis=0))
    return float(np.abs(found * signs - wanted).max() / np.abs(wanted).max())


@pytest.mark.parametrize("name", SHIFTED)
@pytest.mark.parametrize("offset", [2.0**27, 2.0**40], ids=["1e8", "1e12"])
def test_offsets_cost_no_more_than_the_rounding_of_a_mean(name, offset):
    """Means of classes and slices are float64: an offset rounds them, as it would round rows of any other values."""
    X = rows()
    y = target(name, X)
    Z = scores(name, X, y)
    bound = 1e-12 if name in UNROUNDED else 2 * np.finfo(np.float64).eps * offset
    assert relative_error(scores(name, X + offset, y), Z) < bound
    assert relative_error(scores(name, X + offset * np.array([1, -1, 0, 1]), y), Z) < bound


@pytest.mark.parametrize("name", AFFINE)
@pytest.mark.parametrize("power", [-150, -20, 20, 150])
def test_a_power_of_two_costs_no_digit(name, power):
    X = rows()
    y = target(name, X)
    Z = scores(name, X, y)
    assert relative_error(scores(name, X * 2.0**power, y), Z) < 1e-12


@pytest.mark.parametrize("name", AFFINE)
@pytest.mark.parametrize("scale", [1e-300, 1e-150, 1e150, 1e300])
def test_extreme_scales_are_right_or_refused(name, scale):
    X = rows()
    y = target(name, X)
    try:
        found = scores(name, X * scale, y)
    except LowdimError:
        return
    assert relative_error(found, scores(name, X, y)) < 1e-8


@pytest.mark.parametrize("name", [name for name in AFFINE if name != "ICA"])
def test_columns_in_units_far_apart(name):
    X = rows()
    y = target(name, X)
    units = 2.0 ** np.array([-26, 0, 13, 26])  # variances sixteen orders of magnitude apart
    assert relative_error(scores(name, X * units, y), scores(name, X, y)) < 1e-7


@pytest.mark.parametrize("name", [name for name in AFFINE if name.startswith("LDA")])
def test_a_repeated_column_adds_nothing(name):
    X = rows()
    y = target(name, X)
    assert relative_error(scores(name, np.c_[X, X[:, 1]], y), scores(name, X, y)) < 1e-12


@pytest.mark.parametrize("name", ["SIR", "SAVE", "PHD", "DirectionalRegression"])
def test_a_repeated_column_shrinks_the_covariance_and_says_so(name):
    X = rows()
    y = target(name, X)
    with pytest.warns(UserWarning, match="shrinkage='oas' was used"):
        found = scores(name, np.c_[X, X[:, 1]], y)
    assert relative_error(found, scores(name, X, y)) < 0.02


@pytest.mark.parametrize("name", [name for name in AFFINE if name.startswith("LDA")])
@pytest.mark.filterwarnings("ignore")  # of so few rows
@pytest.mark.parametrize("d", [1, 3])
def test_few_rows_within_classes_have_unit_variance(name, d):
    rng = np.random.default_rng(0)
    fits = 0
    for n in range(1, 51):
        X, y = rng.normal(size=(n, d)), np.arange(n) % 3
        try:
            model = LDA(1, solver={"LDA svd": "svd", "LDA gram": "gram"}.get(name, "auto")).fit(X, y)
        except LowdimError:
            assert n < 3 + d + 1  # as many rows as classes leave no variance within them
            continue
        Z = model.transform(X)
        centers = np.array([Z[y == c].mean(axis=0) for c in range(3)])
        within = ((Z - centers[y]) ** 2).sum() / (n - 3)
        if n > d + 3:
            assert_allclose(within, 1.0, rtol=1e-8)
            fits += 1
    assert fits >= 40


@pytest.mark.parametrize("solver", ["svd", "auto"])
def test_singular_values_ten_orders_below_the_largest(solver):
    rng = np.random.default_rng(0)
    U, V = (np.linalg.qr(rng.normal(size=(size, 6)))[0] for size in (80, 9))
    s = 10.0 ** -np.arange(0, 12, 2)
    model = TruncatedSVD(6, solver=solver).fit(U * s @ V.T)
    assert_allclose(model.singular_values_, s, rtol=1e-4, atol=1e-15)
    for power in (-300, 300):
        again = TruncatedSVD(6, solver=solver).fit(U * s @ V.T * 2.0**power)
        assert_allclose(again.singular_values_ * 2.0**-power, model.singular_values_, rtol=1e-4, atol=1e-15)


@pytest.mark.parametrize("scale", [1e-150, 1e-30, 1e30, 1e150])
def test_correspondence_analysis_has_no_unit(scale):
    counts = np.random.default_rng(0).poisson(4, (40, 6)) + 1.0
    plain = CA(3).fit(counts)
    try:
        scaled = CA(3).fit(counts * scale)
    except LowdimError:
        assert not 1e-30 <= scale <= 1e30
        return
    assert relative_error(scaled.transform(counts * scale), plain.transform(counts)) < 1e-10
    assert_allclose(scaled.eigenvalues_, plain.eigenvalues_, rtol=1e-10)
