"""Laws of exact neighbors."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.spatial.distance import cdist

import lowdim
from lowdim import errors
from lowdim.knn.index import NeighborIndex, neighbors


def brute(X, k, metric="euclidean"):
    """The definition: float32 distances, equal ones by index, a row not its own neighbor."""
    D = cdist(X, X, metric).astype(np.float32)
    np.fill_diagonal(D, np.inf)
    order = np.argsort(D, axis=1, kind="stable")[:, :k]
    return order, np.take_along_axis(D, order, axis=1)


def same(graph, X, k, metric="euclidean"):
    indices, distances = brute(np.asarray(X, dtype=float), k, metric)
    return np.array_equal(graph.indices, indices) and np.array_equal(graph.distances, distances)


tables = hnp.arrays(
    np.float64,
    st.tuples(st.integers(3, 60), st.integers(1, 5)),
    elements=st.floats(-100, 100, width=32).map(lambda v: round(v, 1)),
)


@given(tables, st.integers(1, 59), st.sampled_from(["euclidean", "cityblock", "chebyshev", "sqeuclidean"]))
def test_exact_is_the_definition_with_its_ties(X, k, metric):
    k = min(k, len(X) - 1)
    assert same(neighbors(X, k, metric=metric), X, k, metric)


@given(hnp.arrays(np.int8, st.tuples(st.integers(3, 80), st.integers(1, 4)), elements=st.integers(-2, 2)))
def test_exact_orders_many_duplicates_by_index(X):
    k = min(9, len(X) - 1)
    assert same(neighbors(X, k), X, k)


def test_ties_at_the_last_place_of_fractions_come_by_index(rng):
    # Tenths are not exact in float32, so the search itself can't tell these ties apart and must look again.
    X = rng.integers(0, 3, size=(700, 6)) / 10
    assert same(neighbors(X, 15), X, 15)


@given(tables, st.randoms(use_true_random=False))
def test_exact_follows_the_order_of_the_rows(X, random):
    X = X + np.arange(len(X))[:, None] * 1e-3 * np.sqrt(np.arange(1, X.shape[1] + 1))
    X = np.unique(X, axis=0)
    if len(X) < 3:
        return
    order = np.array(random.sample(range(len(X)), len(X)))
    k = min(5, len(X) - 1)
    plain, mixed = neighbors(X, k), neighbors(X[order], k)
    assert np.array_equal(mixed.distances, plain.distances[order])
    distinct = (np.diff(plain.distances, axis=1) > 0).all(axis=1)[order]
    far = neighbors(X, min(k + 1, len(X) - 1)).distances
    alone = distinct & ((far.shape[1] == k) | (far[:, -1] > far[:, k - 1]))[order]
    assert np.array_equal(order[mixed.indices[alone]], plain.indices[order][alone])


def test_shift_rotation_and_scale_leave_the_neighbors(rng):
    X = rng.normal(size=(800, 10))
    Q = np.linalg.qr(rng.normal(size=(10, 10)))[0]
    plain = neighbors(X, 8)
    for moved, factor in ((X + 1e4, 1), (X @ Q, 1), (X * 2.0**-20, 2.0**-20), (X * 2.0**70, 2.0**70)):
        other = neighbors(moved, 8)
        assert np.array_equal(other.indices, plain.indices)
        assert np.allclose(other.distances, plain.distances * np.float32(factor), rtol=1e-6)


def test_a_distant_origin_costs_no_neighbor_in_float32(rng):
    X = (5000 + rng.normal(size=(1500, 30))).astype(np.float32)
    assert same(neighbors(X, 10), X, 10)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("away", [3, 30, 300, 1e4, 1e6])
def test_clusters_far_apart_and_tight_are_still_exact(rng, away, dtype):
    # |a|² + |b|² - 2 a·b is mostly rounding here: it orders the rows of a cluster at random, or not at all.
    centers = away * np.array([[1.0, 0.3, 0.0], [-1.0, 0.0, 0.3], [0.0, -1.0, 0.0]])
    X = (np.repeat(centers, 100, axis=0) + 1e-3 * rng.normal(size=(300, 3))).astype(dtype)
    assert same(neighbors(X, 5), X, 5)
    found = NeighborIndex(X).query(X[::7], 6)
    assert np.array_equal(found.distances[:, 1:], neighbors(X, 5).distances[::7])


@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean", "manhattan", "chebyshev", "cosine"])
@pytest.mark.parametrize("size", [1e-15, 1e14, 1e18])
def test_any_size_of_values_that_float32_can_report(rng, metric, size):
    X = rng.normal(size=(200, 4))
    if metric == "sqeuclidean" and size == 1e18:
        size = 1e17
    plain, scaled = neighbors(X, 6, metric=metric), neighbors(X * size, 6, metric=metric)
    factor = {"sqeuclidean": size**2, "cosine": 1.0}.get(metric, size)
    assert np.array_equal(plain.indices, scaled.indices)
    assert np.allclose(scaled.distances, plain.distances * factor, rtol=1e-5)
    narrow = neighbors((X * size).astype(np.float32), 6, metric=metric)
    assert np.allclose(narrow.distances, plain.distances * factor, rtol=1e-4)


@pytest.mark.parametrize("size", [1e150, 1e39, 1e-150])
def test_what_float32_can_not_report_is_named(rng, size):
    with pytest.raises(errors.BadInput, match="Rescale"):
        neighbors(rng.normal(size=(20, 3)) * size, 2)


def test_any_table_gives_the_same_graph(rng):
    import pandas as pd
    import polars as pl

    X = rng.normal(size=(120, 6))
    expected = neighbors(X, 4)
    strided = np.zeros((240, 12))[::2, ::2]
    strided[:] = X
    kept = X.copy()
    tables = [
        np.asfortranarray(X),
        strided,
        X.astype(">f8"),
        pd.DataFrame(X),
        pl.DataFrame(X),
        sp.csr_array(X),
    ]
    for table in tables:
        graph = neighbors(table, 4)
        assert np.array_equal(graph.indices, expected.indices)
        assert np.array_equal(graph.distances, expected.distances)
    assert np.array_equal(X, kept)
    X.flags.writeable = False
    assert np.array_equal(neighbors(X, 4).indices, expected.indices)


def test_integers_and_narrow_floats(rng):
    X = rng.integers(0, 255, size=(300, 12))
    for dtype in (np.uint8, np.int64, np.float32, np.float64):
        assert same(neighbors(X.astype(dtype), 9), X, 9)


@pytest.mark.parametrize("n", [2, 3, 5])
def test_few_rows_and_one_column(n):
    X = np.arange(n, dtype=float)[:, None] ** 2
    assert same(neighbors(X, n - 1), X, n - 1)


def test_equal_rows_are_each_other_s_neighbors_by_index():
    graph = neighbors(np.full((50, 3), 7.25), 4)
    assert (graph.distances == 0).all()
    assert graph.indices[0].tolist() == [1, 2, 3, 4]
    assert graph.indices[2].tolist() == [0, 1, 3, 4]
    assert graph.indices[49].tolist() == [0, 1, 2, 3]


def test_too_many_neighbors_say_the_most():
    with pytest.raises(errors.NotEnoughData, match=r"at most 9.*got 10"):
        neighbors(np.eye(10), 10)
    with pytest.raises(errors.NotEnoughData, match="at most 0"):
        neighbors(np.ones((1, 3)), 1)
    index = NeighborIndex(np.eye(10))
    assert index.query(np.eye(10), 10).indices.shape == (10, 10)
    with pytest.raises(errors.NotEnoughData, match="at most 10"):
        index.query(np.eye(10), 11)


def test_wrong_options_name_themselves():
    X = np.eye(5)
    for options in ({"metric": "euclid"}, {"algorithm": "fast"}, {"recall": 2}, {"n_jobs": 1.5}):
        (name,) = options
        with pytest.raises(errors.BadParameter, match=name):
            neighbors(X, 2, **options)
    with pytest.raises(errors.BadParameter, match="integer"):
        neighbors(X, 0)
    for bad in (np.nan, np.inf):
        X[3, 1] = bad
        with pytest.raises(errors.BadInput, match="row 3, column 1"):
            neighbors(X, 2)


def test_zero_rows_are_at_distance_0_from_each_other_and_1_from_all_others():
    X = np.array([[0, 0, 0], [1, 0, 0], [0, 0, 0], [3, 0, 0], [0, 2, 0]], dtype=float)
    graph = neighbors(X, 4, metric="cosine")
    assert graph.indices[0].tolist() == [2, 1, 3, 4]
    assert graph.distances[0].tolist() == [0, 1, 1, 1]
    assert graph.indices[1].tolist() == [3, 0, 2, 4]
    assert graph.distances[1].tolist() == [0, 1, 1, 1]
    constant = neighbors(X + 0.1, 4, metric="correlation")
    assert constant.indices[0].tolist() == [2, 1, 3, 4]
    assert constant.distances[0].tolist() == [0, 1, 1, 1]


def test_bits_must_be_bits():
    with pytest.raises(errors.BadInput, match="0 or 1"):
        neighbors(np.array([[0, 1], [2, 0], [1, 1]]), 1, metric="jaccard")


def test_given_distances_and_functions(rng):
    X = rng.normal(size=(90, 4))
    D = cdist(X, X)
    graph = neighbors(D, 6, metric="precomputed")
    assert same(graph, X, 6)
    assert np.array_equal(neighbors(X, 6, metric=lambda a, b: np.sqrt(((a - b) ** 2).sum())).indices, graph.indices)
    with pytest.raises(errors.BadInput, match="square"):
        neighbors(D[:, :50], 6, metric="precomputed")
    D[3, 4] = -1
    with pytest.raises(errors.BadInput, match="row 3 to row 4"):
        neighbors(D, 6, metric="precomputed")
    with pytest.raises(errors.BadInput, match="row 3 to row 4"):
        neighbors(sp.csr_array(D), 6, metric="precomputed")
    with pytest.raises(errors.BadParameter, match="approximate"):
        neighbors(X, 6, metric=lambda a, b: abs(a[0] - b[0]), algorithm="approximate")


def test_rounding_does_not_make_a_distance(rng):
    """1 - a correlation may be -2e-16: the rule is that of classical and metric scaling."""
    X = rng.normal(size=(60, 8))
    D = 1 - np.corrcoef(X)
    D[3, 4] = D[4, 3] = -1e-16
    clean, stored, clean_stored = np.maximum(D, 0), sp.csr_array(D), sp.csr_array(D)
    clean_stored.data = np.maximum(stored.data, 0)
    for given_table, wanted in ((D, clean), (stored, clean_stored), (D.astype(np.float32), clean)):
        graph, want = (neighbors(table, 6, metric="precomputed") for table in (given_table, wanted))
        assert (graph.distances >= 0).all()
        assert np.array_equal(graph.indices, want.indices)
        assert graph.distances[3, 0] == 0 and graph.indices[3, 0] == 4
    found = lowdim.Isomap(metric="precomputed").fit(D)
    assert np.array_equal(found.embedding_, lowdim.Isomap(metric="precomputed").fit(clean).embedding_)
    assert np.isfinite(found.transform(D[:5])).all()
    D[3, 4] = -1e-3
    with pytest.raises(errors.BadInput, match="row 3 to row 4"):
        neighbors(D, 6, metric="precomputed")


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_exact_means_the_same_in_every_container(rng, dtype, metric):
    """Clusters so tight that their order is lost where rows are centered and rounded to float32."""
    import pandas as pd

    centers = 1e4 * np.array([[1.0, 0.3, 0.0], [-1.0, 0.0, 0.3]])
    tight = 1e-5 if dtype == np.float64 else 0.05
    X = (np.repeat(centers, 60, axis=0) + tight * rng.normal(size=(120, 3))).astype(dtype)
    strided = np.zeros((240, 6), dtype=dtype)[::2, ::2]
    strided[:] = X
    frame = pd.DataFrame(X)
    for table in (X, np.asfortranarray(X), strided, X.astype(X.dtype.newbyteorder(">")), frame, sp.csr_array(X)):
        assert same(neighbors(table, 5, metric=metric), X, 5, "cityblock" if metric == "manhattan" else metric)
        found = NeighborIndex(table, metric=metric).query(
            table[:7] if not isinstance(table, pd.DataFrame) else frame[:7], 6
        )
        assert np.array_equal(found.distances[:, 1:], neighbors(X, 5, metric=metric).distances[:7])


def test_fractions_are_compared_exactly_with_integers(rng):
    X = rng.integers(0, 100, size=(50, 3))
    Y = rng.random((20, 3)) * 100 + 1e-9
    want = cdist(Y, X).min(axis=1).astype(np.float32)
    for table in (X.astype(float), np.asfortranarray(X.astype(float)), sp.csr_array(X.astype(float))):
        assert np.array_equal(NeighborIndex(table).query(Y, 1).distances[:, 0], want)


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_sparse_rows_are_made_dense_in_small_parts(metric, monkeypatch):
    """A chunk of sparse rows may have a million of them; the dense parts of well filled ones stay small."""
    from lowdim.distance import unit_rows as space

    X = sp.random(1500, 400, 0.3, format="csr", random_state=0)
    want = neighbors(X.toarray(), 4, metric=metric)
    sizes = []
    parts = space.dense_parts

    def watched(block):
        for start, dense in parts(block):
            sizes.append(dense.size)
            yield start, dense

    monkeypatch.setattr(space, "dense_parts", watched)
    monkeypatch.setattr(space, "chunk_rows", lambda d, itemsize: 100)
    found = neighbors(X, 4, metric=metric)
    assert np.array_equal(found.indices, want.indices)
    assert max(sizes) == 100 * 400 and sum(sizes) >= X.shape[0] * X.shape[1]


def test_lists_that_do_not_fit_are_refused_before_they_are_made(rng, monkeypatch):
    monkeypatch.setattr("lowdim.runtime.memory.available_bytes", lambda: 100 << 20)
    with pytest.raises(errors.MemoryTooSmall, match="lists of 4"):
        neighbors(rng.normal(size=(4200, 2)), 4100)
