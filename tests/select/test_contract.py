"""What every selector promises: scikit-learn's contract, dtypes, determinism, model files, named errors."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import lowdim
from determinism import assert_same_bits
from lowdim import select
from lowdim.base.state import fitted_names
from lowdim.errors import BadInput, BadParameter, Cancelled, LowdimError, ModelFileError
from lowdim.persistence.allowlist import documented_attributes
from lowdim.runtime.param import parameters

NEAREST = KNeighborsClassifier(2)
ALL = {
    "VarianceThreshold": select.VarianceThreshold(),
    "CorrelationPruning": select.CorrelationPruning(),
    "FTest": select.FTest(),
    "FisherScore": select.FisherScore(),
    "ChiSquared": select.ChiSquared(),
    "MutualInformation": select.MutualInformation(),
    "MRMR": select.MRMR(),
    "MRMR, information": select.MRMR(measure="mutual_information", scheme="difference"),
    "HSICLasso": select.HSICLasso(),
    "ReliefF": select.ReliefF(n_neighbors=3),
    "SURF": select.SURF(),
    "MultiSURF": select.MultiSURF(),
    "LaplacianScore": select.LaplacianScore(),
    "PrincipalFeatureAnalysis": select.PrincipalFeatureAnalysis(),
    "SequentialSelection": select.SequentialSelection(cv=2, estimator=NEAREST, patience=1),
    "SFFS": select.SequentialSelection("parsimonious", cv=2, estimator=NEAREST, floating=True, patience=2),
    "RFE": select.RFE(cv=2, step=0.4, estimator=ExtraTreesClassifier(3, max_depth=2, random_state=0)),
    "Boruta": select.Boruta(max_iter=2, tentative=True, estimator=ExtraTreesClassifier(3, max_depth=2)),
}
each = pytest.mark.parametrize("name", ALL)
# One of each class.
CHECKED = [clone(model) for name, model in ALL.items() if name not in ("SFFS", "MRMR, information")]


def table(n=60, d=6, seed=0):
    rng = np.random.default_rng(seed)
    X = np.abs(rng.normal(size=(n, d)))
    return X, (X[:, 0] + X[:, 1] + 0.3 * rng.normal(size=n) > 1.6).astype(int)


@pytest.mark.filterwarnings("ignore")  # the checks provoke warnings of scikit-learn's own
@parametrize_with_checks(CHECKED)
def test_estimator_check(estimator, check):
    check(estimator)


@each
def test_public_names_are_documented(name):
    model = ALL[name]
    fitted = clone(model).fit(*table())
    assert set(fitted_names(fitted)) <= documented_attributes(type(model))
    for parameter, declared in parameters(type(model)).items():
        assert f"{parameter} : {declared.domain.text}" in type(model).__doc__
        assert declared.help.endswith(".")


@each
def test_selects_columns_in_their_own_dtype(name):
    X, y = table()
    for dtype in (np.float32, np.float64):
        given = X.astype(dtype)
        before = given.copy()
        model = clone(ALL[name]).fit(given, y)
        Z = model.transform(given)
        assert Z.dtype == dtype
        assert np.array_equal(Z, given[:, model.get_support()])
        assert np.array_equal(given, before)
        assert Z.shape[1] == model.get_support().sum() >= 1
        back = model.inverse_transform(Z)
        assert np.array_equal(back[:, model.support_], Z) and not back[:, ~model.support_].any()


@each
def test_pipelines_and_dataframes(name):
    X, y = table()
    frame = pd.DataFrame(X, columns=list("abcdef"))
    model = clone(ALL[name]).set_output(transform="pandas").fit(frame, y)
    assert list(model.transform(frame).columns) == [c for c, kept in zip("abcdef", model.support_, strict=True) if kept]
    assert list(model.get_feature_names_out()) == list(model.transform(frame).columns)
    labels = np.array(["no", "yes"])[y]
    pipeline = make_pipeline(clone(ALL[name]), StandardScaler()).fit(frame, labels)
    assert np.array_equal(pipeline[0].support_, model.support_)


@pytest.mark.parametrize("name", [name for name in ALL if name != "SequentialSelection"])
def test_same_bits_for_any_number_of_threads(name):
    in_processes = name in ("SFFS", "RFE")
    X, y = table(60, 4) if in_processes else table(300, 8)

    def fit(threads):
        model = clone(ALL[name])
        model.set_params(n_jobs=threads)
        model.fit(X, y)
        return [getattr(model, attribute) for attribute in sorted(fitted_names(model))]

    assert_same_bits(fit, (1, 2) if in_processes else (1, 2, 5))


@each
def test_files_and_pickles(name, tmp_path):
    X, y = table()
    model = clone(ALL[name])
    if "estimator" in parameters(type(model)) and not isinstance(model.estimator, str):
        with pytest.raises(BadParameter, match="estimator must be plain data"):
            lowdim.save(clone(model).fit(X, y), tmp_path / "model.lowdim")
    model.fit(X, y)
    if hasattr(model, "estimator") and not isinstance(model.estimator, str):
        model.set_params(estimator=None)
    lowdim.save(model, tmp_path / "model.lowdim")
    for back in (lowdim.load(tmp_path / "model.lowdim"), pickle.loads(pickle.dumps(model))):
        assert fitted_names(back) and set(fitted_names(back)) == set(fitted_names(model))
        for attribute in fitted_names(model):
            assert np.array_equal(getattr(back, attribute), getattr(model, attribute)), attribute
        assert np.array_equal(back.transform(X), model.transform(X))
    model.support_ = model.support_[:-1]
    with pytest.raises(ModelFileError, match="support_ must be a mask"):
        lowdim.save(model, tmp_path / "model.lowdim")


RNG = np.random.default_rng(0)
PLAIN = np.abs(RNG.standard_normal((12, 4)))
LABELS = np.tile([0, 1], 6)
TABLES = {
    "no rows": np.empty((0, 4)),
    "no columns": np.empty((12, 0)),
    "one row": PLAIN[:1],
    "two rows": PLAIN[:2],
    "one column": PLAIN[:, :1],
    "fewer rows than columns": np.abs(RNG.standard_normal((6, 9))),
    "a constant column": np.column_stack([PLAIN, np.full(12, 0.1)]),
    "all columns constant": np.full((12, 4), 0.1),
    "duplicated rows": np.repeat(PLAIN[:3], 4, axis=0),
    "duplicated columns": PLAIN[:, [0, 0, 1, 1]],
    "huge": PLAIN * 1e150,
    "tiny": PLAIN * 1e-150,
    "beyond huge": PLAIN * 1e300,
    "wild scales": PLAIN * [1e-100, 1, 1e50, 1e100],
    "subnormal": PLAIN * 1e-310,
    "integer": RNG.integers(0, 9, (12, 4)),
    "bool": PLAIN > 0.7,
    "sparse": sp.random(12, 4, 0.4, format="csr", random_state=0),
    "NaN": np.where(PLAIN > 1, np.nan, PLAIN),
    "infinite": np.where(PLAIN > 1, np.inf, PLAIN),
    "text": np.array([["a", "b"]] * 12),
}
REFUSED = {"no rows", "no columns", "one row", "NaN", "infinite", "text"}  # by every selector
FITS = {"one column", "fewer rows than columns", "duplicated rows", "duplicated columns", "integer", "bool",
        "a constant column"}  # fmt: skip


@pytest.mark.filterwarnings("ignore::RuntimeWarning:sklearn", "ignore::RuntimeWarning:numpy")
@pytest.mark.parametrize("kind", TABLES)
@each
def test_degenerate_tables(name, kind):
    X = TABLES[kind]
    model = clone(ALL[name])
    try:
        model.fit(X, LABELS[: X.shape[0]])
    except LowdimError:
        assert not fitted_names(model)
        assert kind not in FITS, "refused"
        return
    assert kind not in REFUSED
    for attribute in ("scores_", "pvalues_", "cv_scores_", "importances_"):
        if hasattr(model, attribute):
            assert not np.isnan(getattr(model, attribute)).any()
    assert model.support_.any()


@each
def test_cancelled_and_broken_fits_leave_nothing(name):
    X, y = table(400, 12)
    model = clone(ALL[name])
    with lowdim.watch(lambda step: True), pytest.raises(Cancelled):
        model.fit(X, y)
    assert not fitted_names(model)
    with pytest.raises(BadInput, match="NaN or infinity"):
        model.fit(np.where(X > 2, np.nan, X), y)
    assert not fitted_names(model)


@pytest.mark.parametrize("name", [name for name, model in ALL.items() if model._method.supervised])
def test_bad_targets_are_named(name):
    X, y = table()
    model = clone(ALL[name])
    for bad, message in (
        (None, "requires y"),
        (y[:-1], "one label per row"),
        (3, "one label per row"),
        (np.zeros(60), "1 class"),
        (np.where(y, np.nan, 0.0), "NaN"),
    ):
        with pytest.raises(LowdimError, match=message):
            model.fit(X, bad)


def test_selectors_are_public_and_no_methods():
    names = {type(model).__name__ for model in ALL.values()}
    assert names <= set(lowdim.select.__all__)
    assert not names & {method.name for method in lowdim.methods()}
