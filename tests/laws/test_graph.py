"""Laws of neighbours and of the graph."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.spatial.distance import cdist

from lowdim import errors
from lowdim.progress import watch
from lowdim.summaries.graph import Graph
from lowdim.summaries.neighbors import NeighborIndex, neighbors


def brute(X, k, metric="euclidean"):
    """The definition: float32 distances, equal ones by index, a row not its own neighbour."""
    D = cdist(X, X, metric).astype(np.float32)
    np.fill_diagonal(D, np.inf)
    order = np.argsort(D, axis=1, kind="stable")[:, :k]
    return order, np.take_along_axis(D, order, axis=1)


def same(graph, X, k, metric="euclidean"):
    indices, distances = brute(np.asarray(X, dtype=float), k, metric)
    return np.array_equal(graph.indices, indices) and np.array_equal(graph.distances, distances)


def recall(graph, truth):
    """The share of neighbours no farther than the true k-th."""
    return float((graph.distances <= truth.distances[:, -1:]).mean())


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
def test_exact_orders_a_crowd_of_duplicates_by_index(X):
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


def test_shift_rotation_and_scale_leave_the_neighbours(rng):
    X = rng.normal(size=(800, 10))
    Q = np.linalg.qr(rng.normal(size=(10, 10)))[0]
    plain = neighbors(X, 8)
    for moved, factor in ((X + 1e4, 1), (X @ Q, 1), (X * 2.0**-20, 2.0**-20), (X * 2.0**70, 2.0**70)):
        other = neighbors(moved, 8)
        assert np.array_equal(other.indices, plain.indices)
        assert np.allclose(other.distances, plain.distances * np.float32(factor), rtol=1e-6)


def test_a_distant_origin_costs_no_neighbour_in_float32(rng):
    X = (5000 + rng.normal(size=(1500, 30))).astype(np.float32)
    assert same(neighbors(X, 10), X, 10)


def test_clusters_far_apart_and_tight_are_still_exact(rng):
    # In float32 the centred rows of a cluster can't be told apart; the rows given can.
    X = np.repeat([[0.0, 0.0], [1e6, 0.0], [0.0, -1e6]], 60, axis=0) + 1e-3 * rng.normal(size=(180, 2))
    assert same(neighbors(X, 5), X, 5)


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
        assert np.allclose(graph.distances, expected.distances, rtol=1e-6)
    assert np.array_equal(X, kept)
    X.flags.writeable = False
    assert np.array_equal(neighbors(X, 4).indices, expected.indices)


def test_whole_numbers_and_narrow_floats(rng):
    X = rng.integers(0, 255, size=(300, 12))
    for dtype in (np.uint8, np.int64, np.float32, np.float64):
        assert same(neighbors(X.astype(dtype), 9), X, 9)


@pytest.mark.parametrize("n", [2, 3, 5])
def test_few_rows_and_one_column(n):
    X = np.arange(n, dtype=float)[:, None] ** 2
    assert same(neighbors(X, n - 1), X, n - 1)


def test_equal_rows_are_each_other_s_neighbours_by_index():
    graph = neighbors(np.full((50, 3), 7.25), 4)
    assert (graph.distances == 0).all()
    assert graph.indices[0].tolist() == [1, 2, 3, 4]
    assert graph.indices[2].tolist() == [0, 1, 3, 4]
    assert graph.indices[49].tolist() == [0, 1, 2, 3]


def test_too_many_neighbours_say_the_most():
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
    with pytest.raises(errors.BadParameter, match="whole number"):
        neighbors(X, 0)
    for bad in (np.nan, np.inf):
        X[3, 1] = bad
        with pytest.raises(errors.BadInput, match="row 3, column 1"):
            neighbors(X, 2)


def test_rows_without_a_direction_are_alike_and_far_from_others():
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
    assert np.array_equal(
        neighbors(X, 6, metric=lambda a, b: np.sqrt(((a - b) ** 2).sum())).indices, graph.indices
    )
    with pytest.raises(errors.BadInput, match="square"):
        neighbors(D[:, :50], 6, metric="precomputed")
    D[3, 4] = -1
    with pytest.raises(errors.BadInput, match="row 3 to row 4"):
        neighbors(D, 6, metric="precomputed")
    with pytest.raises(errors.BadInput, match="from_sparse"):
        neighbors(sp.csr_array(D), 6, metric="precomputed")
    with pytest.raises(errors.BadParameter, match="approximate"):
        neighbors(X, 6, metric="jaccard", algorithm="approximate")


# ---- approximate ----


def clusters(rng):
    return (rng.normal(size=(60, 12)) * 6)[rng.integers(0, 60, 4000)] + rng.normal(size=(4000, 12))


def roll(rng):
    t, y = rng.uniform(4, 14, 4000), rng.uniform(0, 20, 4000)
    return np.column_stack([t * np.cos(t), y, t * np.sin(t)])


def uniform(rng):
    return rng.random((4000, 8))


def crowded(rng):
    return np.repeat(rng.normal(size=(400, 6)), 10, axis=0)


def one_crowd(rng):
    X = rng.normal(size=(4000, 5))
    X[:3000] = 0.5
    return X


@pytest.mark.parametrize("make", [clusters, roll, uniform, crowded, one_crowd])
def test_approximate_reaches_the_recall_asked_for(rng, make):
    X = make(rng).astype(np.float32)
    graph = neighbors(X, 12, algorithm="approximate", recall=0.98)
    truth = neighbors(X, 12, algorithm="exact")
    assert (graph.algorithm_, truth.algorithm_, truth.recall_) == ("approximate", "exact", 1.0)
    assert recall(graph, truth) > 0.97
    assert abs(graph.recall_ - recall(graph, truth)) < 0.015
    # What it reports are true distances, ascending, to others.
    D = np.sqrt(((X[:, None].astype(float) - X[graph.indices]) ** 2).sum(-1))
    assert np.allclose(graph.distances, D, rtol=1e-6)
    assert (np.diff(graph.distances, axis=1) >= 0).all()


@pytest.mark.parametrize("metric", ["cosine", "correlation", "manhattan", "chebyshev", "sqeuclidean"])
def test_approximate_knows_the_metrics(rng, metric):
    X = clusters(rng)
    graph, truth = (neighbors(X, 10, metric=metric, algorithm=a) for a in ("approximate", "exact"))
    assert recall(graph, truth) > 0.97


def test_approximate_hamming_is_the_share_of_columns(rng):
    X = clusters(rng) > 0
    graph, truth = (neighbors(X, 10, metric="hamming", algorithm=a) for a in ("approximate", "exact"))
    assert recall(graph, truth) > 0.97
    assert np.allclose(graph.distances, (X[:, None] != X[graph.indices]).mean(-1), rtol=1e-6)


def test_more_recall_costs_more_and_gives_more(rng):
    X = rng.normal(size=(4000, 16)).astype(np.float32)
    truth = neighbors(X, 10, algorithm="exact")
    rough, fine = (recall(neighbors(X, 10, algorithm="approximate", recall=r), truth) for r in (0.5, 0.97))
    assert 0.45 < rough < fine
    assert fine > 0.95


def test_long_lists_are_as_good(rng):
    X = clusters(rng)
    graph, truth = (neighbors(X, 90, algorithm=a) for a in ("approximate", "exact"))
    assert recall(graph, truth) > 0.97


@pytest.mark.parametrize("algorithm", ["exact", "approximate"])
def test_the_same_bits_for_any_number_of_threads(rng, algorithm):
    X = clusters(rng).astype(np.float32)
    hashes = set()
    for threads in (1, 2, 4, 8):
        graph = neighbors(X, 15, algorithm=algorithm, random_state=3, n_jobs=threads)
        found = NeighborIndex(X, algorithm=algorithm, random_state=3, n_jobs=threads).query(X[:50] + 0.01, 5)
        hashes.add(
            hashlib.sha256(b"".join(a.tobytes() for a in (*graph.to_arrays().values(), *found))).hexdigest()
        )
    assert len(hashes) == 1


def test_another_seed_is_another_search(rng):
    X = rng.normal(size=(4000, 16)).astype(np.float32)
    a, b = (neighbors(X, 10, algorithm="approximate", recall=0.5, random_state=s) for s in (0, 1))
    assert not np.array_equal(a.indices, b.indices)


def test_auto_compares_all_pairs_of_few_rows(rng):
    assert neighbors(rng.normal(size=(3000, 3)), 5).algorithm_ == "exact"
    assert neighbors(rng.normal(size=(20000, 3)), 5).algorithm_ == "approximate"


def test_auto_keeps_the_recall_it_was_asked_for(rng, monkeypatch):
    monkeypatch.setattr("lowdim.summaries.neighbors.EXACT_ROWS", 1000)
    X = rng.normal(size=(2000, 60)).astype(np.float32)
    assert neighbors(X, 10, algorithm="approximate", recall=0.999).recall_ < 0.999
    assert neighbors(X, 10, recall=0.999).algorithm_ == "exact"


# ---- queries ----


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "manhattan", "hamming", "jaccard"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_exact_queries_are_the_definition(rng, metric, dtype):
    X, Y = rng.normal(size=(500, 9)).astype(dtype), rng.normal(size=(70, 9)).astype(dtype)
    if metric in ("hamming", "jaccard"):
        X, Y = X > 0, Y > 0
    found = NeighborIndex(X, metric=metric).query(Y, 7)
    D = cdist(Y, X, "cityblock" if metric == "manhattan" else metric).astype(np.float32)
    order = np.argsort(D, axis=1, kind="stable")[:, :7]
    assert np.allclose(found.distances, np.take_along_axis(D, order, 1), atol=2e-7)
    if metric != "cosine":
        assert np.array_equal(found.indices, order)


def test_approximate_queries_find_nearly_all(rng):
    X = clusters(rng)
    near, all_of_them = (
        NeighborIndex(X[:3800], algorithm=a).query(X[3800:], 10) for a in ("approximate", "exact")
    )
    assert (near.distances <= all_of_them.distances[:, -1:]).mean() > 0.98


def test_a_row_of_the_index_finds_itself_first(rng):
    X = clusters(rng)
    for algorithm in ("exact", "approximate"):
        found = NeighborIndex(X, algorithm=algorithm).query(X[:100], 3)
        assert np.array_equal(found.indices[:, 0], np.arange(100))
        assert (found.distances[:, 0] == 0).all()


def test_queries_must_fit_the_index(rng):
    index = NeighborIndex(rng.normal(size=(20, 3)))
    with pytest.raises(errors.BadInput, match="features"):
        index.query(np.ones((2, 4)), 1)


def test_wide_sparse_rows_stay_sparse(rng, monkeypatch):
    X = sp.random_array((150, 400), density=0.03, rng=rng, format="csr")
    dense = X.toarray()
    dense[5] = dense[9] = 0
    X = sp.csr_array(dense)
    expected = {m: neighbors(dense, 6, metric=m) for m in ("euclidean", "sqeuclidean", "cosine")}
    monkeypatch.setattr("lowdim.summaries.given.DENSE_BYTES", 1000)
    for metric, graph in expected.items():
        assert np.allclose(neighbors(X, 6, metric=metric).distances, graph.distances, atol=1e-6)
    with pytest.raises(errors.BadParameter, match="manhattan"):
        neighbors(X, 6, metric="manhattan")


# ---- stopping ----


def test_a_callback_can_stop_the_search(rng):
    X = rng.normal(size=(6000, 20)).astype(np.float32)
    for algorithm in ("exact", "approximate"):
        with pytest.raises(errors.Cancelled), watch(lambda step: step.done >= 1):
            neighbors(X, 5, algorithm=algorithm)
    assert neighbors(X[:100], 5).n == 100


def again_and_again(X, algorithm):
    while True:
        neighbors(X, 15, algorithm=algorithm, recall=1.0)


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize("algorithm", ["exact", "approximate"])
def test_ctrl_c_ends_the_search_and_the_next_one_works(algorithm):
    X = np.random.default_rng(0).normal(size=(40000, 64)).astype(np.float32)
    timer = threading.Timer(0.15, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        again_and_again(X, algorithm)
    timer.join()
    assert neighbors(X[:500], 5).n == 500


@pytest.mark.parametrize("isa", ["baseline", "avx2", "avx512"])
def test_every_instruction_set_finds_the_same_neighbours(isa):
    code = (
        "import numpy as np; from lowdim.summaries.neighbors import neighbors\n"
        "rng = np.random.default_rng(5)\n"
        "X = (4 * rng.normal(size=(30, 37)))[rng.integers(0, 30, 1500)] + rng.normal(size=(1500, 37))\n"
        "for m in ('euclidean', 'manhattan', 'chebyshev'):\n"
        "    print(neighbors(X, 9, metric=m).indices.sum(axis=0).tolist())\n"
        "    g = neighbors(X, 9, metric=m, algorithm='approximate')\n"
        "    assert (g.distances <= neighbors(X, 9, metric=m).distances[:, -1:]).mean() > 0.97\n"
    )
    runs = [
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "LOWDIM_ISA": name},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for name in (isa, "")
    ]
    assert runs[0] == runs[1]


# ---- the graph ----


def test_a_graph_checks_what_it_is_given():
    good = np.array([[1], [0]]), np.array([[1.0], [1.0]])
    assert Graph(*good).indices.dtype == np.int32
    for indices, distances in (
        ([[1], [2]], good[1]),
        ([[0], [0]], good[1]),
        (good[0], [[1.0], [np.nan]]),
        (good[0], [[1.0], [-1.0]]),
        (good[0], [[1.0, 2.0]]),
        ([[1.5], [0]], good[1]),
    ):
        with pytest.raises(errors.BadInput):
            Graph(np.array(indices), np.array(distances))
    with pytest.raises(errors.BadInput, match="twice"):
        Graph(np.array([[1, 1], [0, 2], [0, 1]]), np.ones((3, 2)))


def test_symmetrizing_keeps_edges_of_length_zero(rng):
    X = np.repeat(rng.normal(size=(30, 2)), 2, axis=0)
    graph = neighbors(X, 3)
    A = np.full((60, 60), np.nan)
    A[np.repeat(np.arange(60), 3), graph.indices.ravel()] = graph.distances.ravel()
    named, back = ~np.isnan(A), ~np.isnan(A.T)
    length = np.where(named, A, A.T)
    expected = {
        "union": (named | back, length),
        "mutual": (named & back, length),
        "mean": (named | back, (np.nan_to_num(A) + np.nan_to_num(A.T)) / 2),
    }
    for how, (pattern, lengths) in expected.items():
        matrix = graph.symmetrize(how)
        stored = (
            sp.csr_array((np.ones(matrix.nnz), matrix.indices, matrix.indptr), shape=matrix.shape).toarray()
            > 0
        )
        assert np.array_equal(stored, pattern)
        assert np.allclose(matrix.toarray()[pattern], lengths[pattern])
        assert matrix.has_sorted_indices
    with pytest.raises(errors.BadParameter, match="how"):
        graph.symmetrize("max")


def test_sparse_and_back(rng):
    X = np.repeat(rng.normal(size=(40, 3)), 2, axis=0)
    graph = neighbors(X, 5)
    again = Graph.from_sparse(graph.to_sparse())
    assert np.array_equal(again.indices, graph.indices)
    assert np.array_equal(again.distances, graph.distances)
    assert np.array_equal(Graph.from_sparse(graph.to_sparse(), 3).indices, graph.nearest(3).indices)
    with pytest.raises(errors.NotEnoughData, match="one has 5"):
        Graph.from_sparse(graph.to_sparse(), 6)
    with pytest.raises(errors.BadInput, match="square"):
        Graph.from_sparse(sp.csr_array((3, 4)))


def test_arrays_and_back(rng):
    graph = neighbors(rng.normal(size=(3000, 3)), 4, algorithm="approximate", metric="manhattan")
    again = Graph.from_arrays(graph.to_arrays())
    assert np.array_equal(again.indices, graph.indices)
    assert np.array_equal(again.distances, graph.distances)
    assert (again.metric, again.algorithm_, again.recall_) == (graph.metric, graph.algorithm_, graph.recall_)
    with pytest.raises(errors.BadInput, match="lack distances"):
        Graph.from_arrays({k: v for k, v in graph.to_arrays().items() if k != "distances"})


def test_components_and_the_bridges_between_them():
    X = np.array([0, 1, 2, 10, 11, 12, 30, 31, 32, 33], dtype=float)[:, None]
    graph = neighbors(X, 2)
    labels = graph.components()
    assert labels.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2, 2]
    joined = graph.join(X)
    assert joined[2, 3] == joined[3, 2] == 8
    assert joined[5, 6] == joined[6, 5] == 18
    assert joined.nnz == graph.symmetrize().nnz + 4
    assert (abs(joined - joined.T)).nnz == 0
    one = neighbors(X, 9)
    assert np.array_equal(one.join(X).toarray(), one.symmetrize().toarray())


def test_duplicates_are_one_component():
    assert (
        neighbors(np.repeat(np.arange(3.0), 5)[:, None], 3).components().tolist()
        == [0] * 5 + [1] * 5 + [2] * 5
    )
