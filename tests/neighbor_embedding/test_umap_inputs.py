"""Inputs of UMAP: sparse rows, integers, missing labels, graphs, distances, and more rows by `update`."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp

import lowdim
from lowdim import UMAP, neighbors
from lowdim.data.duplicates import distinct_rows
from lowdim.errors import BadInput, BadParameter


def noncanonical(X, rng):
    """The same matrix with unsorted columns, duplicate entries and stored zeros."""
    csr = sp.csr_matrix(X)
    coo = sp.coo_array(csr)
    half = coo.data / 2
    rows, columns = np.concatenate([coo.row, coo.row, [0, 1]]), np.concatenate([coo.col, coo.col, [5, 2]])
    order = np.argsort(rows, kind="stable")
    starts = np.searchsorted(rows[order], np.arange(csr.shape[0] + 1))
    values = np.concatenate([half, half, [0.0, -0.0]])
    shuffled = np.concatenate([a + rng.permutation(b - a) for a, b in pairwise(starts)])
    return sp.csr_array((values[order][shuffled], columns[order][shuffled], starts), shape=X.shape)


# ---- sparse rows ----


def test_sparse_rows_give_the_graph_of_the_dense_ones(digits, rng):
    X = digits[:300]
    twice = np.vstack([X, X[:20]])
    given = noncanonical(twice, rng)
    before = given.copy()
    model = UMAP(n_epochs=30, n_neighbors=10).fit(given)
    for part in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(given, part), getattr(before, part))
    dense = UMAP(n_epochs=30, n_neighbors=10).fit(twice)
    assert sp.issparse(model.X_fit_) and model.X_fit_.has_canonical_format and model.X_fit_.data.all()
    np.testing.assert_array_equal(model.edges_, dense.edges_)
    np.testing.assert_allclose(model.weights_, dense.weights_, atol=1e-5)
    for rows in (given, sp.csc_array(twice), sp.coo_matrix(twice), twice, twice.astype(np.uint8)):
        np.testing.assert_array_equal(model.transform(rows), model.embedding_)
        np.testing.assert_array_equal(dense.transform(rows), dense.embedding_)
    new = digits[300:330]
    np.testing.assert_array_equal(model.transform(new), model.transform(sp.csr_array(new)))
    np.testing.assert_array_equal(model.inverse_transform(model.embedding_), twice)


@pytest.mark.parametrize("init", ["pca", "spectral"])
def test_sparse_rows_are_initialized_like_dense_ones(digits, init):
    """Two components, so that the spectral initialization reads the rows as well."""
    X = np.vstack([digits[:100], digits[100:200] + 1000 * (digits[100:200] > 0)])
    model = UMAP(n_epochs=1, init=init, learning_rate=1e-9, n_neighbors=8)
    dense, sparse = model.fit_transform(X), model.fit_transform(sp.csr_array(X))
    np.testing.assert_allclose(sparse, dense, atol=2e-2)


def test_wide_sparse_rows_stay_sparse(rng):
    X = sp.random_array((400, 1_000_000), density=2e-5, rng=rng, format="csr")
    model = UMAP(n_epochs=10, metric="cosine", n_neighbors=5, init="random")
    from lowdim.knn import blockwise as given

    kept, given.DENSE_BYTES = given.DENSE_BYTES, 1 << 20
    try:
        Z = model.fit_transform(X)
        np.testing.assert_array_equal(model.transform(X), Z)
    finally:
        given.DENSE_BYTES = kept
    assert model.X_fit_.nnz == X.nnz


def test_sparse_models_are_saved(tmp_path, digits):
    X = sp.csr_array(digits[:300])
    for model in (UMAP(n_epochs=20).fit(X), lowdim.TSNE(max_iter=20).fit(X)):
        lowdim.save(model, tmp_path / "model.lowdim")
        loaded = lowdim.load(tmp_path / "model.lowdim")
        new = sp.csr_array(digits[290:320])
        np.testing.assert_array_equal(loaded.transform(new), model.transform(new))


# ---- integers, labels, graphs ----


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, bool])
def test_short_integers_are_kept_in_float32(digits, dtype):
    X = digits[:200].astype(dtype)
    model = UMAP(n_epochs=10).fit(X)
    assert model.X_fit_.dtype == np.float32 and model.embedding_.dtype == np.float64
    np.testing.assert_array_equal(model.transform(X), model.embedding_)
    np.testing.assert_array_equal(model.transform(X.astype(float)), model.embedding_)
    sparse = UMAP(n_epochs=10).fit(sp.csr_array(X))
    assert sparse.X_fit_.dtype == np.float32
    assert UMAP(n_epochs=10).fit(digits[:200].astype(np.int32)).X_fit_.dtype == np.float64


def test_missing_labels_are_unknown(digits):
    pd = pytest.importorskip("pandas")
    X = digits[:100]
    classes = np.arange(100) % 3
    plain = np.where(np.arange(100) % 4, classes, -1)
    expected = UMAP(n_epochs=5).fit(X, plain).embedding_
    words = pd.array([pd.NA if c < 0 else f"c{c}" for c in plain], dtype="string")
    numbers = pd.Series([pd.NA if c < 0 else c for c in plain], dtype="Int64")
    nones = np.array([None if c < 0 else f"c{c}" for c in plain], dtype=object)
    for y in (words, numbers, nones, np.where(plain < 0, np.nan, plain)):
        np.testing.assert_array_equal(UMAP(n_epochs=5).fit(X, y).embedding_, expected)


@pytest.mark.filterwarnings("ignore::lowdim.errors.LowdimWarning")
def test_n_neighbors_is_what_was_used(digits):
    assert UMAP(n_epochs=2).fit(neighbors(digits[:100], 6)).n_neighbors_ == 7
    assert UMAP(n_epochs=2).fit(neighbors(digits[:100], 30)).n_neighbors_ == 15
    assert UMAP(n_epochs=2).fit(digits[:100]).n_neighbors_ == 15
    assert UMAP(n_epochs=2).fit(digits[:6]).n_neighbors_ == 6


def test_precomputed_distances_are_pairwise():
    assert UMAP(metric="precomputed").__sklearn_tags__().input_tags.pairwise
    assert not UMAP().__sklearn_tags__().input_tags.pairwise


# ---- update ----


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_update_takes_equal_rows_once(digits, kind):
    X = digits[:200]
    model = UMAP(n_epochs=20).fit(kind(np.vstack([X, X[:30]])))
    new = np.vstack([X[10:20], digits[200:250], digits[210:220]])
    model.update(kind(new))
    whole = np.vstack([X, X[:30], new])
    assert model.embedding_.shape == (300, 2) and model.X_fit_.shape[0] == 250
    expected = distinct_rows(whole, 1)
    np.testing.assert_array_equal(model._state.distinct.first, expected.first)
    np.testing.assert_array_equal(model._state.distinct.inverse, expected.inverse)
    np.testing.assert_array_equal(model.transform(whole), model.embedding_)
    np.testing.assert_array_equal(np.asarray(model.inverse_transform(model.embedding_)), whole)
    again = model.embedding_.copy()
    model.update(X[:5])  # nothing new
    assert model.X_fit_.shape[0] == 250 and np.isfinite(model.embedding_).all()
    assert len(again) + 5 == len(model.embedding_)


def test_update_of_integer_rows_with_floats(digits):
    model = UMAP(n_epochs=10).fit(digits[:100].astype(np.uint8))
    new = digits[100:110] + 0.1
    model.update(new)
    np.testing.assert_array_equal(model.transform(new), model.embedding_[100:])


def test_update_is_refused_after_a_supervised_fit(digits):
    model = UMAP(n_epochs=5).fit(digits[:120], np.arange(120) % 2)
    with pytest.raises(BadInput, match="not available after a supervised fit; refit with y"):
        model.update(digits[120:130])


def test_an_update_that_diverges_leaves_the_model_as_it_was(digits):
    X = digits[:120]
    model = UMAP(n_epochs=5).fit(X)
    before, rows = model.embedding_.copy(), model.X_fit_
    with pytest.raises(BadParameter, match="the optimization diverged"):
        model.set_params(learning_rate=1e300).update(digits[120:130])
    assert model.X_fit_ is rows
    np.testing.assert_array_equal(model.embedding_, before)
    np.testing.assert_array_equal(model.transform(X), before)
    assert np.isfinite(model.transform(digits[120:130])).all()


@pytest.mark.parametrize("kind", ["float", "object", "list"])
def test_numbers_with_decimals_are_no_classes(kind, rng):
    X, y = rng.normal(size=(30, 3)), rng.normal(size=30)
    given = {"float": y, "object": y.astype(object), "list": y.tolist()}[kind]
    with pytest.raises(BadInput, match=r"30 different ones.*target_metric='numeric'"):
        UMAP(n_epochs=2).fit(X, given)
    UMAP(n_epochs=2, target_metric="numeric").fit(X, given)
    whole = np.where(np.arange(30) < 5, np.nan, np.rint(y))  # classes, some of them unknown
    want = UMAP(n_epochs=2).fit(X, np.where(np.isnan(whole), -1, whole).astype(int))
    np.testing.assert_array_equal(UMAP(n_epochs=2).fit(X, whole).embedding_, want.embedding_)
