"""Standardized: means and standard deviations are estimated once, and new rows are standardized by them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone, is_classifier
from sklearn.model_selection import cross_val_score
from sklearn.preprocessing import StandardScaler

import lowdim
from lowdim import LDA, MDS, PCA, UMAP, Isomap, KernelPCA, Standardized
from lowdim.errors import BadInput, BadParameter, Cancelled, NotEnoughData

UNITS, ZERO = np.array([1.0, 1000.0, 0.01, 7.0]), np.array([5.0, 0.0, -3.0, 1e4])


@pytest.fixture
def X(rng):
    return rng.standard_normal((60, 4)) @ rng.standard_normal((4, 4))


def test_it_equals_pcas_own_standardization(X):
    ours, want = Standardized(PCA(2)).fit(UNITS * X + ZERO), PCA(2, standardize=True).fit(UNITS * X + ZERO)
    new = UNITS * X[:7] + ZERO + 1
    assert_allclose(ours.transform(new), want.transform(new), atol=1e-9)
    Z = want.transform(new)
    assert_allclose(ours.inverse_transform(Z), want.inverse_transform(Z), rtol=1e-9)


@pytest.mark.parametrize("model", [Isomap(2, n_neighbors=8), KernelPCA(2), MDS(2)], ids=str)
def test_units_do_not_matter(X, model):
    plain, other = (Standardized(model).fit(table) for table in (X, UNITS * X + ZERO))
    new = X[:9] + 0.1
    want = plain.transform(new)
    assert_allclose(other.transform(UNITS * new + ZERO), want, atol=1e-4 * np.abs(want).max())
    scores = StandardScaler().fit(X).transform(new) * np.sqrt(59 / 60)  # its divisor is n
    assert_allclose(plain.transform(new), plain.model_.transform(scores), atol=1e-4 * np.abs(want).max())
    assert not hasattr(model, "n_features_in_")  # a clone was fitted


def test_fit_transform_returns_the_methods_embedding(X):
    model = Standardized(UMAP(n_epochs=20))
    Z = model.fit_transform(UNITS * X)
    assert_array_equal(Z, model.model_.embedding_)
    assert_array_equal(model.transform(UNITS * X), Z)
    assert_array_equal(clone(model).fit(UNITS * X).model_.embedding_, Z)


def test_dtypes_and_sparse_rows(X):
    narrow = Standardized(PCA(2)).fit(X.astype(np.float32))
    assert narrow.transform(X.astype(np.float32)).dtype == narrow.inverse_transform(np.ones((1, 2), "f4")).dtype == "f4"
    holes = np.where(X > 0, X, 0)
    dense, sparse = (Standardized(PCA(2)).fit_transform(table) for table in (holes, sp.csr_array(holes)))
    assert_allclose(sparse, dense, atol=1e-12)


@pytest.mark.filterwarnings("ignore::lowdim.errors.LowdimWarning")
def test_a_constant_column_adds_nothing(X):
    wide = np.column_stack([X, np.full(60, 0.1)])
    model = Standardized(PCA(2)).fit(wide)
    assert model.scale_[-1] == 1
    assert_allclose(model.transform(wide), Standardized(PCA(2)).fit_transform(X), atol=1e-12)


def test_names_and_frames(X):
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = Standardized(PCA(2)).fit(frame).set_output(transform="pandas")
    assert list(model.feature_names_in_) == list("abcd")
    assert list(model.transform(frame).columns) == list(model.get_feature_names_out()) == ["PC1", "PC2"]
    with pytest.raises(BadInput, match="feature names"):
        model.transform(frame[list("bacd")])


def test_inverse_transform_only_if_the_method_has_it(X):
    assert hasattr(Standardized(PCA()), "inverse_transform")
    assert not hasattr(Standardized(Isomap()).fit(X), "inverse_transform")


@pytest.mark.filterwarnings("ignore::lowdim.errors.LowdimWarning")
def test_a_named_error_leaves_it_unfitted(X):
    model = Standardized(Isomap()).fit(X)
    gap = X.copy()
    gap[17, 2] = np.nan
    with pytest.raises(BadInput, match="row 17, column 2"):
        model.transform(gap)
    for table, error, words in (
        (gap, BadInput, "row 17, column 2"),
        (X * 1e300, BadInput, "overflow"),
        (X[:1], NotEnoughData, "1 row"),
    ):
        with pytest.raises(error, match=words):
            model.fit(table)
        assert [name for name in vars(model) if name.endswith("_")] == []
    with pytest.raises(Cancelled), lowdim.watch(lambda step: step.task == "standardizing rows"):
        model.fit(X)
    assert not hasattr(model, "mean_")
    for wrong in (None, StandardScaler(), PCA):
        with pytest.raises(BadParameter, match="an estimator of lowdim"):
            Standardized(wrong).fit(X)


def test_what_the_method_found_is_passed_through(X):
    y = (X[:, 0] > 0).astype(int)
    Z = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    model, want = Standardized(LDA()).fit(UNITS * X + ZERO, y), LDA().fit(Z, y)
    assert_array_equal(model.classes_, want.classes_)
    new = UNITS * X[:9] + ZERO
    for name in ("predict", "predict_proba", "predict_log_proba", "decision_function"):
        assert_allclose(getattr(model, name)(new), getattr(want, name)(Z[:9]), atol=1e-7)
    assert model.score(UNITS * X + ZERO, y) == want.score(Z, y)
    assert cross_val_score(Standardized(LDA()), UNITS * X + ZERO, y).min() > 0.5
    assert is_classifier(model) and not is_classifier(Standardized(PCA()))
    plain = Standardized(Isomap()).fit(X)
    assert plain.embedding_ is plain.model_.embedding_
    for name in ("predict", "score", "transform_graph", "classes_", "_state"):
        assert not hasattr(plain, name)
    with pytest.raises(AttributeError, match="'Standardized' object has no attribute 'embedding_'"):
        Standardized(Isomap()).embedding_  # noqa: B018


def test_the_graph_of_new_rows_is_that_of_standardized_ones(X):
    model = Standardized(UMAP(n_epochs=5)).fit(UNITS * X + ZERO)
    z = (UNITS * X[:3] + ZERO + 0.1 - model.mean_) / model.scale_
    found = model.transform_graph(UNITS * X[:3] + ZERO + 0.1).toarray()
    assert_allclose(found, model.model_.transform_graph(z).toarray(), atol=1e-6)
    assert model.transform_init(UNITS * X[:3] + ZERO).shape == (3, 2)
