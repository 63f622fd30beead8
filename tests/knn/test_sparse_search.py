"""Exact neighbors of sparse rows: by the inverted index, as by dense rows, SciPy and scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.neighbors import NearestNeighbors

import lowdim
from lowdim import NeighborIndex, neighbors
from lowdim.errors import BadInput

SETS = ("jaccard", "dice", "hamming", "russellrao", "rogerstanimoto", "sokalsneath", "yule")
NUMBERS = ("euclidean", "sqeuclidean", "cosine", "correlation", "hellinger", "manhattan")


def table(n=150, d=200, fill=0.04, seed=0, dtype=np.float64):
    """Counts whose first columns are filled well, with an empty row, two equal ones, and two of one direction."""
    rng = np.random.default_rng(seed)
    dense = rng.poisson(1.5, (n, d)) * (rng.random((n, d)) < fill * d * 0.25 / np.arange(1, d + 1) ** 0.6)
    dense[3] = dense[7] = 0
    dense[11], dense[12] = dense[10], 3 * dense[10]
    return sp.csr_array(dense.astype(dtype))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("metric", NUMBERS + SETS)
def test_sparse_rows_have_the_neighbors_of_dense_ones(metric, dtype):
    X = table(dtype=dtype)
    X = (X > 0).astype(dtype) if metric in SETS else X
    graph = neighbors(X, 9, metric=metric, algorithm="exact")
    dense = neighbors(X.toarray(), 9, metric=metric, algorithm="exact")
    np.testing.assert_allclose(graph.distances, dense.distances, rtol=3e-7, atol=2e-7)
    all_distances = np.stack([NeighborIndex(X, metric=metric).query(X[[i]], X.shape[0]).distances[0] for i in range(9)])
    np.testing.assert_allclose(graph.distances[20, -1], dense.distances[20, -1], atol=2e-7)
    assert (np.diff(all_distances, axis=1) >= 0).all()


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "manhattan"])
def test_as_scikit_learn_finds_them(metric):
    X = table(n=400, seed=2)
    X = X[np.diff(X.indptr) > 0]  # scikit-learn has another rule for empty rows
    want = NearestNeighbors(n_neighbors=8, metric=metric, algorithm="brute").fit(X).kneighbors()[0]
    np.testing.assert_allclose(neighbors(X, 8, metric=metric).distances, want, atol=3e-7)
    new = table(n=30, seed=3)[13:]
    want = NearestNeighbors(n_neighbors=8, metric=metric, algorithm="brute").fit(X).kneighbors(new)[0]
    np.testing.assert_allclose(NeighborIndex(X, metric=metric).query(new, 8).distances, want, atol=3e-7)


@settings(max_examples=25, deadline=None)
@given(
    n=st.integers(3, 40), d=st.integers(1, 30), fill=st.floats(0, 0.25), seed=st.integers(0, 10**6),
    long=st.booleans(), single=st.booleans(), metric=st.sampled_from(["euclidean", "manhattan", "cosine"]),
)  # fmt: skip
def test_any_fill_and_dtype_in_the_order_of_distance_and_index(n, d, fill, seed, long, single, metric):
    rng = np.random.default_rng(seed)
    dense = rng.integers(-2, 3, (n, d)) * (rng.random((n, d)) < fill)
    X = sp.csr_array(dense.astype(np.float32 if single else np.float64))
    X = sp.csr_array(
        (np.append(X.data, 0), np.append(X.indices, 0), np.append(X.indptr[:-1], X.nnz + 1)), shape=X.shape
    )
    if long:
        X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    graph = neighbors(X, n - 1, metric=metric, algorithm="exact")
    if metric == "cosine":
        length = np.linalg.norm(dense, axis=1)
        empty = length == 0
        unit = dense / np.where(empty, 1, length)[:, None]
        want = np.where(np.outer(empty, empty), 0, 1 - unit @ unit.T)
    else:
        want = cdist(dense, dense, "cityblock" if metric == "manhattan" else metric)
    found = np.take_along_axis(want, graph.indices.astype(np.int64), axis=1)
    np.testing.assert_allclose(graph.distances, found, atol=3e-7, rtol=3e-7)
    steps = np.diff(graph.distances, axis=1)
    assert (steps >= 0).all()
    assert (np.diff(graph.indices, axis=1)[steps == 0] > 0).all()


def test_same_bits_for_any_threads_and_for_queries():
    X = table(n=500, seed=5)
    one = neighbors(X, 10, metric="cosine", n_jobs=1)
    for threads in (2, 4):
        assert neighbors(X, 10, metric="cosine", n_jobs=threads) == one
    found = NeighborIndex(X, metric="cosine").query(X[100:160], 11)
    np.testing.assert_allclose(np.sort(found.distances)[:, 1:], one.distances[100:160], atol=1e-7)
    single = NeighborIndex(X, metric="cosine").query(X[[100]], 11)
    np.testing.assert_array_equal(single.indices[0], found.indices[0])


def test_near_rows_keep_their_digits():
    X = table(n=60, seed=6)
    X = sp.csr_array(sp.vstack([X, X[[20]] * (1 + 1e-9)]))
    distance = np.linalg.norm((X[[60]] - X[[20]]).data)
    np.testing.assert_allclose(neighbors(X, 1).distances[60, 0], distance, rtol=1e-6)
    assert neighbors(X, 1, metric="cosine").distances[12, 0] == 0  # row 12 is three times row 10


def test_few_columns_of_very_many():
    X = sp.csr_array((np.ones(6), (np.arange(6), np.array([5, 5, 7, 2**30, 2**30, 7]))), shape=(6, 2**31 - 10))
    graph = neighbors(X, 1, metric="cosine", algorithm="exact")
    assert graph.indices[:, 0].tolist() == [1, 0, 5, 4, 3, 2]
    new = sp.csr_array((np.ones(2), (np.zeros(2, int), np.array([6, 2**30]))), shape=(1, 2**31 - 10))
    found = NeighborIndex(X, metric="cosine").query(new, 2)
    assert found.indices.tolist() == [[3, 4]]
    np.testing.assert_allclose(found.distances, 1 - 2**-0.5, rtol=1e-6)


@pytest.mark.parametrize("metric", NUMBERS + SETS)
def test_rows_are_never_made_dense(metric, monkeypatch):
    X = table()
    X = (X > 0).astype(float) if metric in SETS else X
    monkeypatch.setattr(sp.csr_array, "toarray", lambda *_, **__: pytest.fail("made dense"))
    neighbors(X, 3, metric=metric)
    NeighborIndex(X, metric=metric).query(X[:3], 3)


def test_values_that_a_metric_can_not_use():
    X = table()
    with pytest.raises(BadInput, match="sets"):
        neighbors(X, 3, metric="jaccard")
    with pytest.raises(BadInput, match="hellinger"):
        neighbors(-X, 3, metric="hellinger")
    X.data[5] = np.nan
    with pytest.raises(BadInput, match=r"NaN|finite|nan"):
        neighbors(X, 3, metric="cosine")


def test_extreme_values_and_equal_rows():
    X = table(n=40)
    for factor in (1e-200, 1e200):
        np.testing.assert_allclose(
            neighbors(factor * X, 5, metric="cosine").distances, neighbors(X, 5, metric="cosine").distances, atol=1e-7
        )
    same = sp.csr_array(np.tile([[0, 2.0, 0, 0, 0, 0]], (9, 1)))
    assert (neighbors(same, 8).distances == 0).all()
    assert lowdim.neighbors(sp.csr_array((5, 9)), 4, metric="cosine").distances.max() == 0
