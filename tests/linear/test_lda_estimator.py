"""LDA as an estimator: refusals and warnings, fewer rows than columns, float32, partial_fit, model files."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import is_classifier
from sklearn.datasets import load_digits, load_iris
from sklearn.model_selection import cross_val_score
from sklearn.utils import get_tags

import lowdim
from lowdim import LDA
from lowdim.errors import BadInput, BadParameter, LowdimWarning, NotEnoughData
from lowdim.linear.lda import within_class

X, Y = load_iris(return_X_y=True)
SOLVERS = ("covariance", "gram", "svd")


def test_it_is_a_classifier_and_a_transformer():
    assert is_classifier(LDA()) and get_tags(LDA()).target_tags.required
    assert cross_val_score(LDA(), X, Y, cv=5).mean() > 0.97
    frame = LDA().set_output(transform="pandas").fit_transform(pd.DataFrame(X), Y)
    assert frame.columns.tolist() == ["LD1", "LD2"]
    assert LDA().fit(X, Y).score(X, Y, sample_weight=(Y == 0).astype(float)) == 1.0


# ---- what is refused ----

REFUSED = {
    "one class": (lambda: LDA().fit(X, np.zeros(150)), NotEnoughData, "at least 2 classes; y has 1 class"),
    "as many classes as rows": (lambda: LDA().fit(X[:5], np.arange(5)), NotEnoughData, "more rows than classes"),
    "no weight": (lambda: LDA().fit(X, Y, np.full(150, 0.01)), NotEnoughData, "n=1.5"),
    "too many components": (lambda: LDA(3).fit(X, Y), NotEnoughData, "must be at most 2: 3 classes in 4 column"),
    "missing labels": (lambda: LDA().fit(X, np.where(Y == 1, np.nan, Y)), BadInput, "NaN or infinity in 50"),
    "no y": (lambda: LDA().fit(X), BadInput, "requires y to be passed"),
    "measurements": (lambda: LDA().fit(X, X[:, 0]), BadInput, "use a method for regression"),
    "constant": (lambda: LDA().fit(X[Y], Y), NotEnoughData, "no column varies within the classes"),
    "equal means": (lambda: LDA().fit(np.vstack([X, X]), np.arange(300) // 150), NotEnoughData, "same mean"),
    "priors": (lambda: LDA(priors=[0.5, 0.5]).fit(X, Y), BadParameter, "one probability per class.*3; got 2"),
    "priors' sum": (lambda: LDA(priors=[1 / 3, 1 / 3, 1 / 2]).fit(X, Y), BadParameter, "sum to 1"),
    "a prior of 0": (lambda: LDA(priors=[0.0, 0.5, 0.5]).fit(X, Y), BadParameter, "above 0"),
    "stream by svd": (lambda: LDA(solver="svd").fit(iter([(X, Y)])), BadParameter, "a stream allows one pass"),
    "stream": (lambda: LDA(shrinkage="ledoit-wolf").fit(iter([(X, Y)])), BadParameter, "reads the rows twice"),
    "moments": (lambda: LDA().fit(lowdim.moments(X)), BadInput, "Give y and sample_weight to lowdim.moments"),
    "moments by svd": (lambda: LDA(solver="svd").fit(lowdim.moments(X, Y)), BadParameter, "needs the rows"),
    "score without y": (lambda: LDA().fit(X, Y).score(iter([(X, Y)])), BadInput, "score needs y"),
    "overflow": (lambda: LDA().fit(X * 1e200, Y), BadInput, "overflow"),
    "underflow": (lambda: LDA().fit(X * 1e-150, Y), BadInput, "underflow"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals_are_named(name):
    work, error, message = REFUSED[name]
    with pytest.raises(error, match=message):
        work()


def test_a_class_of_one_row_is_a_class():
    y = np.where(np.arange(150) == 7, 9, Y)
    model = LDA().fit(X, y)
    assert model.classes_.tolist() == [0, 1, 2, 9] and model.n_components_ == 3
    np.testing.assert_array_equal(model.means_[3], X[7])


def test_class_means_on_a_line_have_one_axis():
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(50, 3))
    line = np.vstack([noise + shift * np.array([1.0, 2.0, 0.0]) for shift in (0, 1, 3)])
    y = np.repeat([0, 1, 2], 50)
    assert LDA().fit(line, y).n_components_ == 1
    with pytest.raises(NotEnoughData, match="must be at most 1: the means of the 3 classes span"):
        LDA(2).fit(line, y)


# ---- collinear columns, and fewer rows than columns ----


@pytest.mark.parametrize("solver", SOLVERS)
def test_collinear_columns_are_harmless(solver):
    """A copy of a column, a sum of columns and a constant one change neither scores nor classes: no warning."""
    wide = np.column_stack([X, X[:, 1], X[:, 0] + X[:, 2], np.full(150, 3.3)])
    model, plain = LDA(solver=solver).fit(wide, Y), LDA().fit(X, Y)
    assert model.rank_ == 4
    np.testing.assert_allclose(np.abs(model.transform(wide)), np.abs(plain.transform(X)), atol=1e-9)
    np.testing.assert_allclose(model.predict_proba(wide), plain.predict_proba(X), atol=1e-9)
    assert (model.components_[:, -1] == 0).all()


@pytest.mark.parametrize("solver", SOLVERS)
def test_directions_that_separate_perfectly_are_named(solver):
    """Where classes differ and nothing varies within them, the covariance has no say: R's lda and ours leave it out."""
    separating = np.column_stack([X, Y.astype(float)])
    with pytest.warns(LowdimWarning, match="1 column is constant within the classes but differ"):
        LDA(solver=solver).fit(separating, Y)
    collinear = np.column_stack([X, X[:, 0] + Y])
    with pytest.warns(LowdimWarning, match="5 columns has rank 4: variables are collinear"):
        model = LDA(solver=solver).fit(collinear, Y)
    assert model.rank_ == 4
    shrunk = LDA(solver=solver, shrinkage=0.01).fit(collinear, Y)
    assert shrunk.rank_ == 5 and shrunk.score(collinear, Y) == 1.0


@pytest.mark.filterwarnings("ignore::lowdim.errors.LowdimWarning")
@pytest.mark.parametrize(
    "options", [{}, {"shrinkage": 0.2}, {"shrinkage": "ledoit-wolf"}, {"shrinkage": "oas"}], ids=str
)
@pytest.mark.parametrize("weighted", [False, True])
def test_solvers_agree_for_fewer_rows_than_columns(options, weighted):
    rng = np.random.default_rng(0)
    wide, y = rng.normal(size=(40, 90)) @ rng.normal(size=(90, 90)) + 5, np.arange(40) % 3
    wide[:, 7] = 1.5
    weights = rng.integers(1, 4, 40).astype(float) if weighted else None
    models = [LDA(solver=solver, **options).fit(wide, y, weights) for solver in SOLVERS]
    assert LDA(**options).fit(wide, y).solver_ == "gram"
    for model in models:
        assert model.rank_ == (89 if options else 37)
        np.testing.assert_allclose(
            model.components_, models[0].components_, atol=1e-6 * np.abs(models[0].components_).max()
        )
        np.testing.assert_allclose(model.coef_, models[0].coef_, atol=1e-6 * np.abs(models[0].coef_).max())
        assert model.shrinkage_ == pytest.approx(models[0].shrinkage_)


@pytest.mark.filterwarnings("ignore::lowdim.errors.LowdimWarning")
@pytest.mark.parametrize("shrinkage", [None, 0.2, "oas"])
@pytest.mark.parametrize(("dtype", "bound"), [(np.float64, 1e-9), (np.float32, 2e-4)])
def test_eigenvectors_that_are_never_formed_are_those_that_are(shrinkage, dtype, bound, monkeypatch):
    """The images of dual vectors are an operator, or an orthonormal matrix where rounding would show."""
    rng = np.random.default_rng(1)
    wide, y = (rng.normal(size=(60, 150)) * np.arange(1, 151) + 7).astype(dtype), np.arange(60) % 4
    wide[:, 3] = 2.0
    weights = rng.uniform(0.5, 2, 60)
    implicit = LDA(shrinkage=shrinkage).fit(wide, y, weights)
    monkeypatch.setattr(within_class, "WELL_CONDITIONED", np.inf)
    formed = LDA(shrinkage=shrinkage).fit(wide, y, weights)
    for name in ("components_", "coef_", "eigenvalues_", "explained_variance_ratio_"):
        found, want = getattr(implicit, name), getattr(formed, name)
        np.testing.assert_allclose(found, want, rtol=0, atol=bound * np.abs(want).max())
    assert implicit.rank_ == formed.rank_ == (149 if shrinkage else 56)


def test_nearly_collinear_columns_by_svd():
    """A difference of 1e-7 of two columns tells the classes apart: R of the rows holds it, their squares do not."""
    rng = np.random.default_rng(0)
    y = np.arange(400) % 2
    first = rng.normal(size=400)
    near = np.column_stack([first, first + 1e-7 * (rng.normal(size=400) + 6 * y)])
    model = LDA(tol=1e-9).fit(near, y)
    assert model.solver_ == "svd" and model.rank_ == 2 and model.score(near, y) > 0.99
    with pytest.warns(LowdimWarning, match="collinear") as told:
        assert LDA(solver="covariance").fit(near, y).rank_ == 1
    assert len(told) == 1


# ---- float32 ----


def test_float32_is_kept_and_near():
    digits, y = load_digits(return_X_y=True)
    wide, narrow = LDA().fit(digits, y), LDA().fit(digits.astype(np.float32), y)
    for name in ("components_", "coef_", "intercept_", "means_", "mean_", "eigenvalues_"):
        assert getattr(narrow, name).dtype == np.float32
        np.testing.assert_allclose(
            getattr(narrow, name), getattr(wide, name), atol=2e-4 * np.abs(getattr(wide, name)).max()
        )
    assert narrow.rank_ == wide.rank_ == 61
    rows = digits.astype(np.float32)
    assert {narrow.transform(rows).dtype, narrow.predict_proba(rows).dtype} == {np.dtype(np.float32)}


def test_float32_rows_are_read_again_where_their_products_do_not_suffice():
    """The second column is the first but for a hundredth of a percent, which separates the classes."""
    rng = np.random.default_rng(0)
    y = np.arange(4000) % 2
    first = rng.normal(size=4000)
    near = np.column_stack([first, first + 1e-3 * (rng.normal(size=4000) + 4 * y)]).astype(np.float32)
    model = LDA().fit(near, y)
    assert model.rank_ == 2 and model.score(near, y) > 0.97
    exact = LDA().fit(near.astype(np.float64), y)
    np.testing.assert_allclose(model.components_, exact.components_, rtol=1e-5)


# ---- partial_fit ----


def test_partial_fit_waits_for_two_classes():
    model = LDA().partial_fit(X[:10], Y[:10])
    with pytest.raises(Exception, match="not fitted"):
        model.transform(X)
    model.partial_fit(X[10:90], Y[10:90])
    assert model.classes_.tolist() == [0, 1] and model.coef_.shape == (1, 4)
    model.partial_fit(X[90:], Y[90:])
    np.testing.assert_allclose(model.components_, LDA().fit(X, Y).components_, rtol=1e-9)


def test_partial_fit_keeps_what_it_has_after_an_error():
    model = LDA().partial_fit(X, Y, classes=[0, 1, 2])
    before = model.components_.copy()
    for rows, y, message in (
        (X, np.full(150, 7), "label 7, which is none of the classes"),
        (X[:, :3], Y, "expecting 4 features"),
        (np.full_like(X, np.nan), Y, "NaN or infinity"),
        (X, ["a"] * 150, "none of the classes"),
    ):
        with pytest.raises(BadInput, match=message):
            model.partial_fit(rows, y)
        np.testing.assert_array_equal(model.components_, before)
    assert model.n_samples_ == 150
    model.partial_fit(X, Y)
    assert model.n_samples_ == 300


def test_a_fit_after_partial_fit_forgets():
    model = LDA().partial_fit(X, Y).fit(X[Y < 2], Y[Y < 2])
    assert model.classes_.tolist() == [0, 1] and model._state.moments is None


# ---- model files ----


@pytest.mark.parametrize(
    "labels", [Y, Y == 1, np.array(["a", "b", "c"])[Y], np.array(["a", "b", "c"], dtype=object)[Y]]
)
def test_model_files(labels, tmp_path):
    model = LDA(priors=None, shrinkage="oas").fit(X, labels)
    lowdim.save(model, tmp_path / "model.lowdim")
    again = lowdim.load(tmp_path / "model.lowdim")
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    np.testing.assert_array_equal(again.predict_log_proba(X), model.predict_log_proba(X))
    np.testing.assert_array_equal(
        again.inverse_transform(again.transform(X)), model.inverse_transform(model.transform(X))
    )
    assert again.classes_.dtype == model.classes_.dtype and again.get_params() == model.get_params()


def test_a_file_of_partial_fit_goes_on(tmp_path):
    for first in (10, 90):
        lowdim.save(LDA().partial_fit(X[:first], Y[:first]), tmp_path / "model.lowdim")
        model = lowdim.load(tmp_path / "model.lowdim").partial_fit(X[first:], Y[first:])
        np.testing.assert_allclose(model.components_, LDA().fit(X, Y).components_, rtol=1e-9)


def test_priors_are_kept_in_a_file(tmp_path):
    lowdim.save(LDA(priors=[0.2, 0.3, 0.5]).fit(X, Y), tmp_path / "model.lowdim")
    assert lowdim.load(tmp_path / "model.lowdim").priors == [0.2, 0.3, 0.5]


def test_a_measurement_in_whole_numbers_is_told_from_classes(rng):
    X, y = rng.normal(size=(90, 3)), np.arange(90) // 3
    with pytest.warns(LowdimWarning, match="y has 30 different numbers in 90 rows.*such as SIR"):
        LDA().fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        LDA().fit(X, y.astype(str))
        LDA().fit(X, y // 2)


def test_no_warning_for_well_posed_rows():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        LDA().fit(X, Y)
        LDA().fit(load_digits().data, load_digits().target)
