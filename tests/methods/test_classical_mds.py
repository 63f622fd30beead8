"""Classical scaling: weights, landmarks, new rows, distances that are not Euclidean."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist

import lowdim
from lowdim import ClassicalMDS
from lowdim.errors import BadInput, BadParameter, NotEnoughData
from lowdim.solve import gram as solver


def table(seed, n=40, d=4):
    return np.random.default_rng(seed).standard_normal((n, d)) * np.arange(d, 0, -1)


@given(st.integers(0, 1000))
def test_euclidean_distances_come_back(seed):
    X = table(seed)
    D = cdist(X, X)
    for model, given_rows in ((ClassicalMDS(4), X), (ClassicalMDS(4, metric="precomputed"), D)):
        Z = model.fit_transform(given_rows)
        assert_allclose(cdist(Z, Z), D, atol=1e-9)
        assert_allclose(model.goodness_of_fit_, 1, atol=1e-12)


@given(st.integers(0, 1000))
def test_new_rows_keep_their_distances(seed):
    """Gower's formula puts a new row of the same space exactly where it belongs."""
    X, new = table(seed), table(seed + 1, 6)
    D, between = cdist(X, X), cdist(new, X)
    for model, fitted, placed in (
        (ClassicalMDS(4), X, new),
        (ClassicalMDS(4, metric="precomputed"), D, between),
        (ClassicalMDS(4, metric=lambda x, y: np.sqrt(((x - y) ** 2).sum())), X, new),
    ):
        Z = model.fit_transform(fitted)
        assert_allclose(cdist(model.transform(placed), Z), between, atol=1e-8)
        assert_allclose(model.transform(fitted), Z, atol=1e-8)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "precomputed"])
@pytest.mark.parametrize("least", [0, 1])
def test_a_weight_of_two_is_a_row_given_twice(metric, least, rng):
    X, weights = table(0, 20), rng.integers(least, 3, 20).astype(float)
    weights[:2] = least, 2
    twice = np.repeat(np.arange(20), weights.astype(int))
    D = cdist(X, X, "cityblock")
    data, repeated = (D, D[np.ix_(twice, twice)]) if metric == "precomputed" else (X, X[twice])
    weighted = ClassicalMDS(3, metric=metric).fit(data, sample_weight=weights)
    longer = ClassicalMDS(3, metric=metric).fit(repeated)
    assert_allclose(weighted.eigenvalues_[:3], longer.eigenvalues_[:3], rtol=1e-9)
    assert_allclose(np.abs(weighted.embedding_[twice]), np.abs(longer.embedding_), atol=1e-8)
    assert np.isfinite(weighted.embedding_).all()  # rows of no weight are placed all the same


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "precomputed"])
def test_landmarks(metric):
    X = table(0, 120, 3)
    D = cdist(X, X)
    model = ClassicalMDS(3, metric=metric, n_landmarks=30)
    Z = model.fit_transform(D if metric == "precomputed" else X)
    assert len(model.landmarks_) == 30
    assert Z.shape == (120, 3)
    if metric != "manhattan":
        assert_allclose(cdist(Z, Z), D, atol=1e-8)  # flat rows need only a few landmarks
    assert_allclose(model.transform(D if metric == "precomputed" else X), Z, atol=1e-10)


@pytest.mark.parametrize("correction", [None, "lingoes"])
def test_large_matrices_go_the_iterative_way(correction, monkeypatch):
    X = table(0, 150, 5)
    D = cdist(X, X, "cityblock")
    dense = ClassicalMDS(2, metric="precomputed", correction=correction).fit(D)
    monkeypatch.setattr(solver, "DENSE_LIMIT", 100)
    found = ClassicalMDS(2, metric="precomputed", correction=correction).fit(D)
    assert_allclose(found.embedding_, dense.embedding_, atol=1e-6)
    assert_allclose(found.eigenvalues_[:2], dense.eigenvalues_[:2], rtol=1e-8)
    assert found.correction_constant_ == pytest.approx(dense.correction_constant_, rel=1e-6)
    if correction is None:
        assert found.eigenvalues_[-1] == pytest.approx(dense.eigenvalues_[-1], rel=1e-6)
        assert dense.eigenvalues_[-1] < 0
        assert (found.goodness_of_fit_ >= dense.goodness_of_fit_ - 1e-9).all()  # an upper bound


def test_sparse_rows_and_float32():
    X = sp.random(50, 20, 0.3, format="csr", random_state=0)
    Z = ClassicalMDS(3).fit_transform(X)
    assert_allclose(Z, ClassicalMDS(3).fit_transform(X.toarray()), atol=1e-9)
    for metric in ("euclidean", "manhattan", "precomputed"):
        D = cdist(X.toarray(), X.toarray()).astype(np.float32)
        rows = D if metric == "precomputed" else X.toarray().astype(np.float32)
        model = ClassicalMDS(2, metric=metric).fit(rows)
        assert model.embedding_.dtype == model.transform(rows).dtype == np.float32


@pytest.mark.parametrize("correction", ["lingoes", "cailliez"])
def test_corrections_of_data_place_new_rows(correction):
    X = table(0, 30, 4)
    model = ClassicalMDS(29, metric="chebyshev", correction=correction).fit(X)
    assert model.correction_constant_ > 0
    D = cdist(X, X, "chebyshev")
    c = model.correction_constant_
    wanted = np.sqrt(D**2 + 2 * c) if correction == "lingoes" else D + c
    np.fill_diagonal(wanted, 0)
    assert_allclose(cdist(model.embedding_, model.embedding_), wanted, atol=1e-6)
    assert_allclose(model.transform(X), model.embedding_, atol=1e-5)


def test_what_is_refused():
    D = cdist(table(0), table(0))
    model = ClassicalMDS(2, metric="precomputed")
    for bad, words in ((D[:5], "square"), (-D, "negative"), (D + np.eye(40), "itself"), (np.triu(D), "symmetric")):
        with pytest.raises(BadInput, match=words):
            model.fit(bad)
    with pytest.raises(BadInput, match="negative"):
        model.fit(D).transform(-D)
    with pytest.raises(NotEnoughData, match="at most"):
        ClassicalMDS(41, metric="precomputed").fit(D)
    with pytest.raises(NotEnoughData, match="n_landmarks=41"):
        ClassicalMDS(2, n_landmarks=41).fit(table(0))
    with pytest.raises(BadParameter, match="correction"):
        ClassicalMDS(2, correction="both").fit(D)


@pytest.mark.parametrize("options", [{}, {"metric": "manhattan"}, {"metric": "precomputed", "correction": "cailliez"}])
def test_model_files(options, tmp_path):
    X = table(0)
    X = cdist(X, X, "cityblock") if options.get("metric") == "precomputed" else X
    model = ClassicalMDS(2, n_landmarks=20, **options).fit(X)
    lowdim.save(model, tmp_path / "m")
    assert_array_equal(lowdim.load(tmp_path / "m").transform(X), model.transform(X))


def test_all_rows_equal_is_one_point():
    for metric in ("euclidean", "manhattan", "precomputed"):
        rows = np.zeros((5, 5)) if metric == "precomputed" else np.full((5, 3), 0.1)
        model = ClassicalMDS(2, metric=metric).fit(rows)
        assert_allclose(model.embedding_, 0, atol=1e-15)
        assert np.isfinite(model.goodness_of_fit_).all()
