"""Who owns the fitted rows: a model copies what it keeps, unless nobody can write into it."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import lowdim
from lowdim.data.ownership import compact_table, dense_table, is_immutable, owned
from lowdim.data.rows import open_rows
from targets import SUPERVISED, table_for, target_for

MODELS = {
    "PCA": lowdim.PCA(2),
    "CA": lowdim.CA(2),
    "MCA": lowdim.MCA(2),
    "FAMD": lowdim.FAMD(2),
    "TruncatedSVD": lowdim.TruncatedSVD(2),
    "ICA": lowdim.ICA(2),
    "LDA": lowdim.LDA(2),
    "SIR": lowdim.SIR(2),
    "SAVE": lowdim.SAVE(2),
    "PHD": lowdim.PHD(2),
    "DirectionalRegression": lowdim.DirectionalRegression(2),
    "LSIR": lowdim.LSIR(2),
    "ProjectionPursuit": lowdim.ProjectionPursuit(2, n_init=2, n_null=0),
    "KernelPCA": lowdim.KernelPCA(2),
    "KernelPCA, Nyström": lowdim.KernelPCA(2, solver="nystrom", n_landmarks=20),
    "MDS": lowdim.MDS(max_iter=20),
    "NonmetricMDS": lowdim.NonmetricMDS(max_iter=20),
    "ClassicalMDS": lowdim.ClassicalMDS(),
    "ClassicalMDS, manhattan": lowdim.ClassicalMDS(metric="manhattan"),
    "Isomap": lowdim.Isomap(),
    "Isomap, landmarks": lowdim.Isomap(n_landmarks=10),
    "LaplacianEigenmaps": lowdim.LaplacianEigenmaps(),
    "LLE": lowdim.LLE(),
    "TSNE": lowdim.TSNE(perplexity=5, max_iter=20),
    "UMAP": lowdim.UMAP(n_epochs=20),
}
KEEPING = [
    name
    for name in MODELS
    if name not in ("PCA", "CA", "MCA", "FAMD", "TruncatedSVD", "ICA", "ProjectionPursuit", *SUPERVISED)
    and name not in ("ClassicalMDS", "KernelPCA, Nyström")  # no rows, or a few
]
PRECOMPUTED = {
    name: clone(MODELS[name]).set_params(metric="precomputed")
    for name in ("MDS", "NonmetricMDS", "ClassicalMDS", "Isomap", "LaplacianEigenmaps", "LLE", "TSNE", "UMAP")
}

pytestmark = pytest.mark.filterwarnings("ignore::lowdim.errors.LowdimWarning")


@pytest.fixture
def X():
    return np.random.default_rng(0).normal(size=(60, 4))


@pytest.fixture
def new():
    return np.random.default_rng(1).normal(size=(7, 4))


def test_every_method_is_here():
    assert {name.split(",")[0] for name in MODELS} == {method.name for method in lowdim.methods()}


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16])
@pytest.mark.parametrize("name", MODELS)
def test_a_change_of_X_after_the_fit_changes_nothing(name, dtype, X, new):
    X, new = np.ascontiguousarray(table_for(name, X * 10), dtype=dtype), table_for(name, new)
    model = clone(MODELS[name]).fit(X, target_for(name, X))
    before = clone(MODELS[name]).fit(X.copy(), target_for(name, X)).transform(new)
    X[...] = 0
    np.testing.assert_array_equal(model.transform(new), before)
    np.testing.assert_array_equal(model.transform(new), before)  # nor by what the first call has kept


@pytest.mark.parametrize("name", [name for name in MODELS if MODELS[name].__sklearn_tags__().input_tags.sparse])
@pytest.mark.parametrize("format", ["csr", "csc"])
def test_nor_does_a_change_of_a_sparse_X(name, format, X, new):
    table, new = sp.csr_array(X * (X > 0)).asformat(format), table_for(name, new)
    model = clone(MODELS[name]).fit(table, target_for(name, table))
    before = clone(MODELS[name]).fit(table.copy(), target_for(name, table)).transform(new)
    table.data[...] = 1
    np.testing.assert_array_equal(model.transform(new), before)


@pytest.mark.parametrize("name", PRECOMPUTED)
def test_nor_does_a_change_of_given_distances(name, X, new):
    D = np.linalg.norm(X[:, None] - X, axis=2)
    distances = np.linalg.norm(new[:, None] - X, axis=2)
    model = clone(PRECOMPUTED[name]).fit(D)
    before = clone(PRECOMPUTED[name]).fit(D.copy()).transform(distances)
    D[...] = 1
    np.testing.assert_array_equal(model.transform(distances), before)


@pytest.mark.parametrize("name", KEEPING)
def test_rows_that_nobody_can_change_are_not_copied(name, X, new, tmp_path):
    writable = clone(MODELS[name]).fit(X, target_for(name, X))
    assert not np.shares_memory(writable.X_fit_, X)
    want = writable.transform(new)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    X.flags.writeable = False
    for table in (X, mapped):
        model = clone(MODELS[name]).fit(table, target_for(name, table))
        assert np.shares_memory(model.X_fit_, table)
        np.testing.assert_array_equal(model.transform(new), want)


@pytest.mark.parametrize("name", KEEPING)
def test_a_read_only_view_of_a_writable_array_is_copied(name, X):
    view = X[:]
    view.flags.writeable = False
    assert not np.shares_memory(clone(MODELS[name]).fit(view, target_for(name, view)).X_fit_, X)


def test_the_gram_matrix_keeps_its_rows_by_the_same_rule(X):
    assert not np.shares_memory(lowdim.KernelPCA().fit(lowdim.gram(X)).X_fit_, X)
    X.flags.writeable = False
    assert np.shares_memory(lowdim.KernelPCA().fit(lowdim.gram(X)).X_fit_, X)


@pytest.mark.parametrize("name", ["TSNE", "UMAP"])
def test_sparse_rows_that_nobody_can_change_are_not_copied(name, X):
    given = sp.csr_array(X * (X > -1))
    parts = [part.copy() for part in (given.data, given.indices, given.indptr)]
    for part in parts:
        part.flags.writeable = False
    table = sp.csr_array(tuple(parts), shape=X.shape)
    kept = clone(MODELS[name]).fit(table, target_for(name, table)).X_fit_
    assert np.shares_memory(kept.data, table.data)


def test_rows_that_must_be_converted_are_copied_once(X, monkeypatch):
    for table in (X.astype(np.int32), np.asfortranarray(X), X.tolist(), sp.csc_array(X)):
        rows = open_rows(table if not isinstance(table, list) else np.array(table, order="F"))
        read = dense_table(rows)
        assert owned(read, rows) is read
    rows = open_rows(sp.csc_array(X))
    read = compact_table(rows)
    assert owned(read, rows) is read
    rows = open_rows(X.astype(np.int16))
    read = compact_table(rows)
    assert read.dtype == np.float32 and owned(read, rows) is read


def test_what_counts_as_immutable(X, tmp_path):
    assert not is_immutable(X)
    view = X[::2]
    view.flags.writeable = False
    assert not is_immutable(view)
    X.flags.writeable = False
    assert is_immutable(view) and is_immutable(X)
    assert is_immutable(np.frombuffer(bytes(16)))
    writable = np.frombuffer(bytearray(16))
    writable.flags.writeable = False
    assert not is_immutable(writable)
    mapped = np.memmap(tmp_path / "map", np.float64, "w+", shape=(3, 2))
    assert is_immutable(mapped) and is_immutable(np.asarray(mapped)[1:])


def test_fitted_rows_have_one_name():
    for method in lowdim.methods():
        assert not {"rows_", "training_"} & set(dir(clone(method.cls())))
        if any(name.split(",")[0] == method.name for name in KEEPING):
            assert "X_fit_" in inspect.getdoc(method.cls)
