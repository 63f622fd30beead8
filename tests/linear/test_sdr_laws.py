"""Laws of sufficient dimension reduction: equivariance, weights, special cases, influences of single rows."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given, settings
from hypothesis import strategies as st

import lowdim
from lowdim import LSIR, PHD, SAVE, SIR, DirectionalRegression, datasets
from lowdim.errors import BadInput, BadParameter
from lowdim.linear.sdr.slicing import slice_responses
from sdr_models import largest_angle, linear_model, rational_model

METHODS = {
    "SIR": SIR(2, n_slices=5),
    "SAVE": SAVE(2, n_slices=5),
    "PHD": PHD(2),
    "PHD y": PHD(2, response="y"),
    "DirectionalRegression": DirectionalRegression(2, n_slices=5),
    "LSIR": LSIR(2, n_slices=5, n_neighbors=60),  # whole slices, which no change of coordinates changes
}
every_method = pytest.mark.parametrize("name", METHODS)


def made(name, **options):
    model = METHODS[name]
    return type(model)(**(model.get_params() | options))


@every_method
def test_affine_equivariance(name):
    """Scores do not depend on the coordinates of X, however ill scaled."""
    X, y, _ = rational_model(300)
    A = np.random.default_rng(1).normal(size=(6, 6)) * np.geomspace(1e-3, 1e3, 6)
    want, found = made(name).fit(X, y), made(name).fit(X @ A + 100, y)
    np.testing.assert_allclose(found.eigenvalues_, want.eigenvalues_, atol=1e-7)
    Z, other = want.transform(X), found.transform(X @ A + 100)
    np.testing.assert_allclose(np.abs(other), np.abs(Z), atol=1e-5)


@every_method
def test_scores_are_white(name):
    X, y, _ = rational_model(300)
    model = made(name).fit(X, y)
    Z = model.transform(X)
    np.testing.assert_allclose(np.cov(Z.T, ddof=0), np.eye(2), atol=1e-9)
    np.testing.assert_allclose(model.transform(model.inverse_transform(Z)), Z, atol=1e-9)
    np.testing.assert_allclose(Z.mean(axis=0), 0, atol=1e-9)


def test_inverse_transform_is_the_regression_of_the_columns_on_the_scores():
    X, y, _ = rational_model(300)
    model = SIR(2).fit(X, y)
    Z = model.transform(X)
    fit = np.linalg.lstsq(Z, X - X.mean(axis=0), rcond=None)[0]
    np.testing.assert_allclose(model.inverse_transform(Z), Z @ fit + X.mean(axis=0), atol=1e-9)


def test_sir_on_labels_spans_the_axes_of_discriminant_analysis():
    wine = datasets.load("wine")
    sir = SIR(2).fit(wine.X, wine.labels)
    m = lowdim.moments(wine.X, wine.labels)
    values, axes = scipy.linalg.eigh(m.between, m.within)
    assert largest_angle(sir.components_, axes[:, -2:]) < 1e-4
    ratio = values[::-1][:2]
    np.testing.assert_allclose(sir.eigenvalues_[:2], ratio / (1 + ratio), rtol=1e-9)  # B/(B+W) from B/W


def test_lsir_with_whole_slices_is_sir_and_with_single_rows_all_directions_are_alike():
    X, y, _ = rational_model(250)
    sir = SIR(2, n_slices=5).fit(X, y)
    whole = LSIR(2, n_slices=5, n_neighbors=50).fit(X, y)
    np.testing.assert_allclose(whole.components_, sir.components_, atol=1e-9)
    np.testing.assert_allclose(LSIR(None, n_neighbors=1).fit(X, y).eigenvalues_, 1, atol=1e-9)


@pytest.mark.parametrize("name", METHODS)
def test_weights_are_repetitions(name):
    X, y, _ = rational_model(120)
    y = np.digitize(y, np.quantile(y, [0.3, 0.7])).astype(float) + (0.01 * y if "PHD" in name else 0)
    weights = np.random.default_rng(0).integers(0, 4, size=120)
    found = made(name).fit(X, y, sample_weight=weights)
    want = made(name).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_allclose(found.eigenvalues_, want.eigenvalues_, atol=1e-9)
    np.testing.assert_allclose(found.components_, want.components_, atol=1e-7)
    if name not in ("DirectionalRegression", "LSIR"):  # which have no test unless one is asked for
        np.testing.assert_allclose(found.order_p_values_, want.order_p_values_, atol=1e-7)


@pytest.mark.parametrize("name", ["SIR", "SAVE", "DirectionalRegression"])
def test_a_class_without_weight_is_no_class(name):
    X, _, _ = rational_model(90)
    labels = np.arange(90) % 3
    weights = np.where(labels == 2, 0.0, 1.0)
    found = made(name, n_components=1).fit(X, labels, sample_weight=weights)
    want = made(name, n_components=1).fit(X[labels < 2], labels[labels < 2])
    np.testing.assert_allclose(found.components_, want.components_, atol=1e-8)
    assert len(found.slice_sizes_) == 2


@pytest.mark.parametrize("name", ["SIR", "SAVE", "DirectionalRegression", "PHD", "PHD y"])
def test_the_influence_of_a_row_is_the_derivative_by_its_weight(name):
    """What standard errors and weights of χ² rest on. SAVE's slices divide by n - 1, which the limit ignores."""
    rng = np.random.default_rng(1)
    n, step = 400, 1e-4
    X = rng.gamma(2, size=(n, 4)) @ rng.normal(size=(4, 4))
    y = X[:, 0] + 0.3 * X[:, 1] ** 2 + rng.normal(size=n)
    y = y if "PHD" in name else np.digitize(y, np.quantile(y, [0.25, 0.5, 0.75]))
    model = made(name)
    sample = model._read(X, y, None)
    base = model._solve(sample)
    codes = np.zeros(n, int) if sample.slices is None else sample.slices.codes
    Z = (X - X.mean(axis=0)) @ base.vectors
    influence = model._kernel_influence(sample, base, slice(0, 4))(Z, codes, slice(0, n))

    def kernel(weights):
        found = model._solve(model._read(X, y, weights))
        loadings = found.whitening.covariance @ found.vectors
        return base.vectors.T @ (loadings * found.values) @ loadings.T @ base.vectors

    for row in (3, 57):
        change = np.zeros(n)
        change[row] = step
        derivative = n * (kernel(1 + change) - kernel(1 - change)) / (2 * step)
        bound = (0.02 if name == "SAVE" else 1e-6) * np.abs(derivative).max()
        np.testing.assert_allclose(influence[row], derivative, atol=bound)


def test_sir_takes_moments_by_slice():
    X, _, _ = linear_model(200)
    labels = np.arange(200) // 40
    weights = 1.0 + np.arange(200) % 3
    want = SIR(2).fit(X, labels, sample_weight=weights)
    moments = lowdim.moments(X[:90], labels[:90], sample_weight=weights[:90])
    moments += lowdim.moments(X[90:], labels[90:], sample_weight=weights[90:])
    found = SIR(2).fit(moments)
    np.testing.assert_allclose(found.components_, want.components_, atol=1e-10)
    np.testing.assert_allclose(found.order_p_values_, want.order_p_values_, atol=1e-10)
    np.testing.assert_allclose(found.test_predictors().p_values, want.test_predictors().p_values, atol=1e-10)
    assert found.slice_names_.tolist() == want.slice_names_.tolist() and found.n_features_in_ == X.shape[1]
    for model in (SIR(order_test="permutation"), SIR(order_test="weighted_chi2"), SIR(shrinkage="ledoit-wolf")):
        with pytest.raises(BadParameter, match="Moments do not include the rows"):
            model.fit(moments)
    for model in (SAVE(), PHD(), DirectionalRegression()):
        with pytest.raises(BadInput, match="needs the rows, which Moments do not include"):
            model.fit(moments)
    for arguments in ((moments, labels), (lowdim.moments(X),), (lowdim.moments(X, np.zeros(200)),)):
        with pytest.raises(BadInput, match="Moments"):
            SIR().fit(*arguments)


# ---- slices ----


@given(
    y=st.lists(st.floats(-1e300, 1e300) | st.integers(-3, 3).map(float), min_size=4, max_size=60),
    count=st.integers(2, 8),
    slicing=st.sampled_from(["quantile", "width"]),
)
@settings(max_examples=60)
def test_slices_are_intervals_of_the_response(y, count, slicing):
    y = np.array(y)
    if len(np.unique(y)) < 2 or count > len(y):
        return
    try:
        slices = slice_responses(y, len(y), None, count, slicing)
    except lowdim.errors.LowdimError:
        return
    assert 2 <= slices.count <= count
    assert set(slices.codes) == set(range(slices.count))
    assert len(slices.edges) == slices.count - 1
    order = np.argsort(y, kind="stable")
    assert (np.diff(slices.codes[order]) >= 0).all()
    assert all(len(set(slices.codes[y == value])) == 1 for value in y)


def test_quantile_slices_are_even_and_follow_weights():
    y = np.random.default_rng(0).permutation(103).astype(float)
    sizes = np.bincount(slice_responses(y, 103, None, 10, "quantile").codes)
    assert sizes.min() >= 10 and sizes.max() <= 11 and len(sizes) == 10
    weights = np.where(y < 50, 3.0, 1.0)
    heavy = slice_responses(y, 103, weights, 4, "quantile").codes
    masses = np.bincount(heavy, weights=weights)
    np.testing.assert_allclose(masses, masses.sum() / 4, atol=3)


def test_width_slices_have_equal_width_and_drop_empty_ones():
    slices = slice_responses(np.array([0.0, 0.1, 0.2, 9.9, 10.0]), 5, None, 5, "width")
    assert slices.count == 2 and slices.codes.tolist() == [0, 0, 0, 1, 1]
    even = slice_responses(np.arange(101.0), 101, None, 4, "width")
    np.testing.assert_allclose(even.edges, [24.5, 49.5, 74.5])


def test_auto_takes_classes_for_text_and_few_values():
    assert slice_responses(np.array(["b", "a", "b"]), 3, None, 10, "auto").names == ("a", "b")
    assert slice_responses(np.array([2, 1, 2, 1]), 4, None, 10, "auto").names == ("1", "2")
    assert slice_responses(np.array([True, False, True]), 3, None, 10, "auto").names == ("False", "True")
    assert slice_responses(np.arange(50), 50, None, 10, "auto").count == 10


def test_several_responses_are_sliced_one_within_the_other():
    rng = np.random.default_rng(0)
    Y = rng.normal(size=(400, 2))
    slices = slice_responses(Y, 400, None, 16, "quantile")
    assert slices.count == 16 and slices.edges is None
    np.testing.assert_array_equal(np.bincount(slices.codes), 25)
    outer = np.digitize(Y[:, 0], np.quantile(Y[:, 0], [0.25, 0.5, 0.75]))
    for code in range(16):  # within one slice of the first response
        assert len(set(outer[slices.codes == code])) == 1
    classes = slice_responses(np.column_stack([np.arange(40) % 2, np.arange(40) % 3]), 40, None, 10, "category")
    assert classes.names == ("0, 0", "0, 1", "0, 2", "1, 0", "1, 1", "1, 2")


def test_two_responses_find_two_directions_that_one_does_not():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 6))
    Y = X[:, :2] + 0.2 * rng.normal(size=(2000, 2))
    both = SIR(2, n_slices=25).fit(X, Y)
    assert largest_angle(both.components_, np.eye(6)[:, :2]) < 4
    assert largest_angle(SIR(2).fit(X, Y[:, 0]).components_, np.eye(6)[:, :2]) > 20
