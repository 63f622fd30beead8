"""The estimators of sufficient dimension reduction: sources of rows, streams, dtypes, errors by name."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import lowdim
from determinism import assert_same_bits
from lowdim import LSIR, PHD, SAVE, SIR, DirectionalRegression, Table
from lowdim.errors import BadInput, BadInputType, BadParameter, LowdimWarning, NotEnoughData
from sdr_models import largest_angle, rational_model

STREAMED = {"SIR": SIR(2), "SAVE": SAVE(2), "PHD": PHD(2), "DirectionalRegression": DirectionalRegression(2)}
ALL = STREAMED | {"LSIR": LSIR(2)}
streamed = pytest.mark.parametrize("name", STREAMED)
every = pytest.mark.parametrize("name", ALL)


def made(name, **options):
    return type(ALL[name])(**(ALL[name].get_params() | options))


@pytest.fixture(scope="module")
def data():
    X, y, _ = rational_model(70_000, d=4)
    return X, y


# ---- streams and files ----


@streamed
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_stream_has_the_bits_of_the_array(name, dtype, data):
    X, y = data[0].astype(dtype), data[1]
    cuts = [0, 1000, 33_333, 66_000, len(X)]

    def pairs():
        return ((X[a:b], y[a:b]) for a, b in pairwise(cuts))

    want, found = made(name).fit(X, y), made(name).fit(pairs)
    for attribute in ("components_", "eigenvalues_", "mean_"):
        np.testing.assert_array_equal(getattr(found, attribute), getattr(want, attribute))
    assert found.components_.dtype == dtype
    with pytest.raises(BadInput, match="Pass a function"):
        made(name).fit(pairs())


@pytest.mark.parametrize("name", ["SIR", "SAVE", "DirectionalRegression"])
def test_classes_of_an_iterator_are_read_in_one_pass(name, data):
    X, y = data[0][:3000], np.array(["low", "mid", "top"])[np.digitize(data[1][:3000], [-0.2, 0.2])]
    pairs = ((X[a : a + 700], y[a : a + 700]) for a in range(0, 3000, 700))
    found = made(name, slicing="category").fit(pairs)
    want = made(name).fit(X, y)
    np.testing.assert_array_equal(found.components_, want.components_)
    assert found.slice_names_.tolist() == want.slice_names_.tolist() == ["low", "mid", "top"]


@every
def test_files_tables_and_frames(name, tmp_path, data):
    X, y = data[0][:200], np.round(data[1][:200], 6)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(amount=y)
    frame.to_csv(tmp_path / "rows.csv", index=False)
    want = made(name).fit(X, y)
    by_name = made(name).fit(tmp_path / "rows.csv", "amount")
    by_table = made(name).fit(Table(X, tuple("abcd"), y, "amount"))
    by_frame = made(name).fit(frame[list("abcd")], frame["amount"])
    for found in (by_name, by_table, by_frame):
        np.testing.assert_allclose(found.components_, want.components_, rtol=1e-9)
    assert by_name.feature_names_in_.tolist() == list("abcd")
    assert list(by_frame.get_feature_names_out()) == [f"{name} {j}" for j in (1, 2)]


@every
def test_sparse_rows_are_as_dense_ones(name):
    rng = np.random.default_rng(0)
    X = np.where(rng.random((400, 5)) < 0.3, rng.normal(size=(400, 5)), 0.0)
    y = X[:, 0] + X[:, 1] ** 2 + 0.1 * rng.normal(size=400)
    want, found = made(name).fit(X, y), made(name).fit(sp.csr_array(X), y)
    np.testing.assert_allclose(found.eigenvalues_, want.eigenvalues_, atol=1e-9)
    np.testing.assert_allclose(np.abs(found.transform(sp.csr_array(X))), np.abs(want.transform(X)), atol=1e-6)


@every
def test_same_bits_for_any_number_of_threads(name, data):
    X, y = data[0][:20_000], data[1][:20_000]
    assert_same_bits(lambda threads: [made(name, n_jobs=threads).fit(X, y).components_], (1, 2, 4))


def test_same_bits_of_the_tests(data):
    X, y = data[0][:400], data[1][:400]
    for form in ("weighted_chi2", "permutation"):
        assert_same_bits(
            lambda n, form=form: [SIR(2, order_test=form, n_permutations=20, n_jobs=n).fit(X, y).order_p_values_],
            (1, 3),
        )
    one, other = (
        SIR(2, order_test="permutation", n_permutations=20, random_state=seed, alpha=0.5).fit(X, y).order_p_values_
        for seed in (0, 1)
    )
    assert one.tolist() != other.tolist()


# ---- few rows ----


@pytest.mark.parametrize(
    "options", [{"shrinkage": "ledoit-wolf"}, {"shrinkage": "oas"}, {"shrinkage": 0.5}, {"ridge": 1.0}]
)
@every
def test_fewer_rows_than_columns(name, options):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 90))
    y = X[:, 0] + 0.1 * rng.normal(size=60)
    with pytest.raises(NotEnoughData, match=r"60 rows can't tell 90 columns apart.*use shrinkage or ridge"):
        made(name, shrinkage=None).fit(X, y)
    model = made(name, n_components=1, n_slices=4, **options) if name != "PHD" else made(name, **options)
    Z = model.fit_transform(X, y)
    assert np.isfinite(Z).all()
    if name == "SIR":
        fresh = rng.normal(size=(500, 90))
        assert abs(np.corrcoef(model.transform(fresh)[:, 0], fresh[:, 0])[0, 1]) > 0.35  # 0.05 would be no relation


def test_units_do_not_matter_to_shrinkage_and_ridge():
    X, y, _ = rational_model(200)
    units = np.geomspace(1e-6, 1e6, 6)
    for options in ({"shrinkage": "ledoit-wolf"}, {"shrinkage": 0.3}, {"ridge": 0.5}):
        want, found = SIR(2, **options).fit(X, y), SIR(2, **options).fit(X * units, y)
        np.testing.assert_allclose(np.abs(found.transform(X * units)), np.abs(want.transform(X)), atol=1e-9)


def test_a_constant_column_gets_no_weight():
    X, y, _ = rational_model(200)
    with_constant = np.column_stack([X, np.full(200, 7.0)])
    model = SIR(2).fit(with_constant, y)
    np.testing.assert_array_equal(model.components_[:, -1], 0)
    np.testing.assert_allclose(model.components_[:, :-1], SIR(2).fit(X, y).components_, atol=1e-12)
    assert model.test_predictors().p_values[-1] == 1.0


def test_unlabeled_values_of_lsir(data):
    X, y = data[0][:300], (np.arange(300) % 3).astype(float)
    hidden, objects, marked = y.copy(), y.astype(object), y.astype(int)
    hidden[200:], objects[200:], marked[200:] = np.nan, None, -1
    fits = [LSIR(2).fit(X, hidden), LSIR(2).fit(X, objects), LSIR(2, unlabeled=-1).fit(X, marked)]
    texts = np.array(["abc"[int(v)] for v in y], dtype=object)
    texts[200:] = None
    fits.append(LSIR(2).fit(X, texts))
    for model in fits:
        assert model.n_labeled_ == 200
        np.testing.assert_array_equal(model.components_, fits[0].components_)
    assert LSIR(2).fit(X, marked).slice_sizes_.tolist() == [100, 67, 67, 66]  # -1 is a class unless it is named


# ---- errors by name ----

X, Y = np.random.default_rng(0).normal(size=(30, 3)), np.random.default_rng(1).normal(size=30)
MISSING = np.where(np.arange(30) == 4, np.nan, Y)


@pytest.mark.parametrize(
    ("model", "rows", "y", "error", "words"),
    [
        (SIR(), X, None, BadInput, "requires y to be passed, but the target y is None"),
        (SIR(), X, np.full(30, 2.5), BadInput, r"y is constant or has one class \(2.5\)"),
        (SIR(), X, ["a"] * 30, BadInput, r"one class \(a\)"),
        (PHD(), X, np.full(30, 2.5), BadInput, "y is constant"),
        (LSIR(), X, np.full(30, 2.5), BadInput, "constant"),
        (SAVE(), X, ["a"] * 29 + ["b"], NotEnoughData, r"slice .* has 1 row.*at least 2.*fewer slices"),
        (DirectionalRegression(), X, ["a"] * 29 + ["b"], NotEnoughData, "has 1 row"),
        (SIR(n_slices=31), X, Y, NotEnoughData, "31 slices of 30 rows|more than the 30 rows|single row"),
        (SIR(n_slices=31, slicing="quantile"), X, Y, NotEnoughData, "n_slices=31 is more than the 30 rows"),
        (SIR(slicing="category"), X, Y, NotEnoughData, "30 slices of 30 rows"),
        (SIR(shrinkage=None), np.column_stack([X, X[:, 0] + X[:, 1]]), Y, BadInput, r"collinear.*columns 0, 1, 3"),
        (SIR(), X, MISSING, BadInput, r"y contains NaN or infinity in 1 of its 30 rows \(the first is row 4\)"),
        (PHD(), X, MISSING, BadInput, "y contains NaN"),
        (SIR(), X, [None, *["a", "b"] * 14, "a"], BadInput, "y contains NaN or None in 1 of its 30"),
        (SIR(), X, Y[:20], BadInput, "per row of X .30."),
        (PHD(), X, np.column_stack([Y, Y]), BadInput, "PHD takes one response; got 2"),
        (PHD(), X, ["a", "b"] * 15, BadInputType, "^y holds text, not real numbers. .* For classes use SIR"),
        (SIR(slicing="width"), X, ["a", "b"] * 15, BadParameter, "slicing='width' needs numbers, and y holds text"),
        (SIR(4, n_slices=3), X, Y, NotEnoughData, "n_components=4 must be at most 2: 3 slices and 3 columns"),
        (SIR(4), X, Y, NotEnoughData, "n_components=4 must be at most 3"),
        (SIR(), np.ones((30, 3)), Y, BadInput, "every column of X is constant"),
        (LSIR(), X, np.full(30, np.nan), NotEnoughData, "0 of 30 rows have a label"),
        (SIR(alpha=1.0), X, Y, BadParameter, "alpha must be"),
        (SIR("most"), X, Y, BadParameter, "n_components must be"),
    ],
)
def test_errors_say_what_is_wrong(model, rows, y, error, words):
    with pytest.raises(error, match=words):
        model.fit(rows, y)
    assert not [name for name in vars(model) if name.endswith("_")]


def test_collinear_columns_are_shrunk_with_a_warning():
    rows, y, _ = rational_model(300)
    twice = np.column_stack([rows, rows[:, 0]])
    for name in ALL:
        with pytest.warns(LowdimWarning, match=r"collinear.*columns 0, 6 are.*shrinkage='oas' was used"):
            model = made(name).fit(twice, y)
        assert largest_angle(model.transform(twice).T, made(name).fit(rows, y).transform(rows)) < 15


def test_a_linear_response_has_no_curvature():
    with pytest.warns(LowdimWarning, match="linear function of the columns"):
        model = PHD().fit(X, X @ [1.0, 2, 3])
    np.testing.assert_array_equal(model.eigenvalues_, 0)
    np.testing.assert_array_equal(model.order_p_values_, 1)


def test_two_classes_have_one_direction():
    rows, y, _ = rational_model(100)
    assert SIR().fit(rows, y > 0).components_.shape == (1, 6)
    assert SIR().fit(rows, y).components_.shape == (2, 6)
    assert SIR(None).fit(rows, y).components_.shape == (6, 6)
    assert LSIR().fit(rows[:, :1], y).components_.shape == (1, 1)


def test_huge_responses_and_offsets():
    rows, y, basis = rational_model(2000)
    for model in (SIR(2), SAVE(2, n_slices=4), PHD(1), DirectionalRegression(2)):
        want = model.fit(rows, y).components_
        np.testing.assert_allclose(model.fit(rows, 1e200 * y).components_, want, atol=1e-7)
        np.testing.assert_allclose(model.fit(rows + 1e6, y).components_, want, atol=1e-5)
    assert largest_angle(SIR(2).fit(rows.astype(np.float32), y).components_, basis) < 20


def test_a_fit_can_be_stopped():
    rows, y, _ = rational_model(300)
    model = SIR(2, order_test="permutation", n_permutations=1000)
    with (
        pytest.raises(lowdim.errors.Cancelled),
        lowdim.watch(lambda step: "permutation" in step.task and step.done > 3),
    ):
        model.fit(rows, y)
    assert not hasattr(model, "components_")
