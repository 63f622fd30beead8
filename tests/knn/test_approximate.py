"""Laws of approximate neighbors, of queries, and of interrupting both."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections import Counter

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist

from determinism import assert_same_bits
from lowdim import errors
from lowdim.knn.index import NeighborIndex, neighbors
from lowdim.runtime.progress import watch
from subprocesses import run_python


def recall(graph, truth):
    """The share of neighbors no farther than the true k-th."""
    return float((graph.distances <= truth.distances[:, -1:]).mean())


# ---- approximate ----


def clusters(rng):
    return (rng.normal(size=(60, 12)) * 6)[rng.integers(0, 60, 4000)] + rng.normal(size=(4000, 12))


def roll(rng):
    t, y = rng.uniform(4, 14, 4000), rng.uniform(0, 20, 4000)
    return np.column_stack([t * np.cos(t), y, t * np.sin(t)])


def uniform(rng):
    return rng.random((4000, 8))


def dense_cluster(rng):
    return np.repeat(rng.normal(size=(400, 6)), 10, axis=0)


def one_dense_cluster(rng):
    X = rng.normal(size=(4000, 5))
    X[:3000] = 0.5
    return X


def wide(rng):
    """Rows of many columns with a few directions of structure: what the projection is for."""
    return clusters(rng) @ rng.normal(size=(12, 300)) + 0.1 * rng.normal(size=(4000, 300))


def wide_noise(rng):
    """Rows of many columns without any: the projection says nothing about the neighbors."""
    return np.repeat(rng.normal(size=(800, 200)), 5, axis=0) + 0.1 * rng.normal(size=(4000, 200))


@pytest.mark.parametrize("make", [clusters, roll, uniform, dense_cluster, one_dense_cluster, wide])
def test_approximate_reaches_the_recall_asked_for(rng, make):
    X = make(rng).astype(np.float32)
    graph = neighbors(X, 12, algorithm="approximate", recall=0.98)
    truth = neighbors(X, 12, algorithm="exact")
    assert (graph.algorithm, truth.algorithm, truth.recall) == ("approximate", "exact", 1.0)
    assert recall(graph, truth) > 0.97
    assert abs(graph.recall - recall(graph, truth)) < 0.015
    # What it reports are true distances, ascending, to others.
    D = np.sqrt(((X[:, None].astype(float) - X[graph.indices]) ** 2).sum(-1))
    assert np.allclose(graph.distances, D, rtol=1e-6)
    assert (np.diff(graph.distances, axis=1) >= 0).all()


def test_where_the_search_falls_short_the_recall_says_so_and_auto_compares_all_pairs(rng, monkeypatch):
    X = wide_noise(rng).astype(np.float32)
    truth = neighbors(X, 12, algorithm="exact")
    near = neighbors(X, 12, algorithm="approximate", recall=0.98)
    assert near.recall < 0.98
    assert abs(near.recall - recall(near, truth)) < 0.015
    monkeypatch.setattr("lowdim.knn.index.EXACT_ROWS", 1000)
    assert recall(neighbors(X, 12, recall=0.98), truth) == 1


@pytest.mark.parametrize("metric", ["cosine", "correlation", "manhattan", "chebyshev", "sqeuclidean"])
def test_approximate_knows_the_metrics(rng, metric):
    X = clusters(rng)
    graph, truth = (neighbors(X, 10, metric=metric, algorithm=a) for a in ("approximate", "exact"))
    assert recall(graph, truth) > 0.97


@pytest.mark.parametrize(
    "metric", ["hamming", "jaccard", "dice", "russellrao", "rogerstanimoto", "sokalsneath", "yule"]
)
@pytest.mark.parametrize("is_sparse", [False, True])
def test_approximate_neighbors_of_sets(rng, metric, is_sparse):
    shares = np.where(rng.random((40, 70)) < 0.3, 0.6, 0.05)
    B = rng.random((2000, 70)) < shares[rng.integers(0, 40, 2000)]  # more than one word of bits, and not whole ones
    X = sp.csr_array(B.astype(float)) if is_sparse else B
    graphs = [neighbors(X, 10, metric=metric, algorithm="approximate", n_jobs=jobs) for jobs in (1, 2)]
    truth = neighbors(X, 10, metric=metric, algorithm="exact")
    assert graphs[0] == graphs[1]
    assert recall(graphs[0], truth) > 0.97
    assert abs(graphs[0].recall - recall(graphs[0], truth)) < 0.02
    D = cdist(B[:40], B, metric)
    np.testing.assert_allclose(graphs[0].distances[:40], np.take_along_axis(D, graphs[0].indices[:40], 1), atol=1e-6)
    near = NeighborIndex(X, metric=metric, algorithm="approximate").query(X[:40], 5)
    nearest = np.sort(D, axis=1)[:, :5]
    np.testing.assert_allclose(near.distances, np.take_along_axis(D, near.indices, 1), atol=1e-6)
    assert (near.distances <= nearest[:, -1:] + 1e-6).mean() > 0.97


def test_many_sets_are_searched_approximately_by_themselves(rng, monkeypatch):
    monkeypatch.setattr("lowdim.knn.index.EXACT_ROWS", 1000)
    B = rng.random((1500, 40)) < 0.3
    found = neighbors(B, 5, metric="jaccard", recall=0.9)
    assert found.algorithm == "approximate" and found.recall >= 0.9


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


@pytest.mark.parametrize("make", [clusters, wide])
@pytest.mark.parametrize("algorithm", ["exact", "approximate"])
def test_the_same_bits_for_any_number_of_threads(rng, make, algorithm):
    X = make(rng).astype(np.float32)

    def work(threads):
        graph = neighbors(X, 15, algorithm=algorithm, random_state=3, n_jobs=threads)
        found = NeighborIndex(X, algorithm=algorithm, random_state=3, n_jobs=threads).query(X[:50] + 0.01, 5)
        return *graph.to_arrays().values(), *found

    assert_same_bits(work)


def test_another_seed_is_another_search(rng):
    X = rng.normal(size=(4000, 16)).astype(np.float32)
    a, b = (neighbors(X, 10, algorithm="approximate", recall=0.5, random_state=s) for s in (0, 1))
    assert not np.array_equal(a.indices, b.indices)


def test_auto_compares_all_pairs_of_few_rows(rng):
    assert neighbors(rng.normal(size=(3000, 3)), 5).algorithm == "exact"
    assert neighbors(rng.normal(size=(20000, 3)), 5).algorithm == "approximate"


def test_auto_keeps_the_recall_it_was_asked_for(rng, monkeypatch):
    monkeypatch.setattr("lowdim.knn.index.EXACT_ROWS", 1000)
    X = rng.normal(size=(2000, 60)).astype(np.float32)
    assert neighbors(X, 10, algorithm="approximate", recall=0.999).recall < 0.999
    assert neighbors(X, 10, recall=0.999).algorithm == "exact"


def steps_of(X, **options):
    """How many steps of each kind a search takes, and its graph."""
    steps = []
    with watch(lambda step: steps.append(step.task) and False):
        graph = neighbors(X, 10, **options)
    return Counter(steps), graph


def test_auto_gives_up_early_what_it_would_not_reach(rng, monkeypatch):
    monkeypatch.setattr("lowdim.knn.index.EXACT_ROWS", 1000)
    X = rng.normal(size=(4000, 40)).astype(np.float32)
    longer = steps_of(X, algorithm="approximate")[0]
    steps, graph = steps_of(X)
    assert graph.algorithm == "exact"
    assert steps["probing cells"] == 16 < longer["probing cells"]  # probing more would cost as much as all pairs
    monkeypatch.setattr("lowdim.knn.approximate.LEAST_COVERAGE", 0.9)
    steps, again = steps_of(X)
    assert steps["probing cells"] == steps["NN-descent"] == 0  # the sample alone says that it is in vain
    assert np.array_equal(again.indices, graph.indices)


def test_auto_goes_on_where_more_cells_will_do(rng, monkeypatch):
    monkeypatch.setattr("lowdim.knn.index.EXACT_ROWS", 1000)
    steps, graph = steps_of(rng.normal(size=(4000, 16)).astype(np.float32))
    assert graph.algorithm == "approximate"
    assert graph.recall >= 0.99
    assert steps["probing cells"] == 32


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
    near, all_of_them = (NeighborIndex(X[:3800], algorithm=a).query(X[3800:], 10) for a in ("approximate", "exact"))
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


@pytest.mark.parametrize("few", [10, 12_000])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_queries_that_are_not_finite_are_named(rng, monkeypatch, few, dtype, value):
    """By beam search as by comparing all pairs."""
    monkeypatch.setattr("lowdim.knn.index.EXACT_ROWS", few)
    X = rng.normal(size=(500, 3)).astype(dtype)
    new = X[:6].copy()
    new[4, 1] = value
    with pytest.raises(errors.BadInput, match="row 4, column 1"):
        NeighborIndex(X).query(new, 2)


def test_wide_sparse_rows_stay_sparse(rng, monkeypatch):
    X = sp.random_array((150, 400), density=0.03, rng=rng, format="csr")
    dense = X.toarray()
    dense[5] = dense[9] = 0
    X = sp.csr_array(dense)
    expected = {m: neighbors(dense, 6, metric=m) for m in ("euclidean", "sqeuclidean", "cosine", "manhattan")}
    monkeypatch.setattr("lowdim.knn.blockwise.DENSE_BYTES", 1000)
    for metric, graph in expected.items():
        assert np.allclose(neighbors(X, 6, metric=metric).distances, graph.distances, atol=1e-6)
    with pytest.raises(errors.BadParameter, match="chebyshev"):
        neighbors(X, 6, metric="chebyshev")


# ---- stopping ----


def test_a_callback_can_stop_the_search(rng):
    X = rng.normal(size=(6000, 20)).astype(np.float32)
    for algorithm in ("exact", "approximate"):
        with pytest.raises(errors.Cancelled), watch(lambda step: step.done >= 1):
            neighbors(X, 5, algorithm=algorithm)
    assert neighbors(X[:100], 5).n == 100


@pytest.fixture
def sigint_raises():
    """SIGINT raises KeyboardInterrupt, also where a shell runs the tests in the background, with SIGINT ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def interrupted(X, algorithm):
    """Whether Ctrl-C ends a search: the signal comes during the first of them, or a later one."""
    timer = threading.Timer(0.15, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        for _ in range(50):
            neighbors(X, 15, algorithm=algorithm, recall=1.0)
    except KeyboardInterrupt:
        return True
    finally:
        timer.join()
    return False


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize("algorithm", ["exact", "approximate"])
def test_ctrl_c_ends_the_search_and_the_next_one_works(algorithm, sigint_raises):
    X = np.random.default_rng(0).normal(size=(40000, 64)).astype(np.float32)
    # Python drops an exception that is raised while it collects garbage, so one signal may be lost.
    assert any(interrupted(X, algorithm) for _ in range(3))
    assert neighbors(X[:500], 5).n == 500


@pytest.mark.parametrize("isa", ["baseline", "avx2", "avx512"])
def test_every_instruction_set_finds_the_same_neighbors(isa):
    code = """
        import numpy as np
        from lowdim.knn.index import neighbors
        rng = np.random.default_rng(5)
        X = (4 * rng.normal(size=(30, 37)))[rng.integers(0, 30, 1500)] + rng.normal(size=(1500, 37))
        for m in ("euclidean", "manhattan", "chebyshev"):
            print(neighbors(X, 9, metric=m).indices.sum(axis=0).tolist())
            g = neighbors(X, 9, metric=m, algorithm="approximate")
            assert (g.distances <= neighbors(X, 9, metric=m).distances[:, -1:]).mean() > 0.97
        print(neighbors(X > 0, 9, metric="jaccard", algorithm="approximate").indices.sum(axis=0).tolist())
        p = {"metric": "minkowski", "metric_params": {"p": 2.7}}
        print(neighbors(X[:300], 9, **p).indices.sum(axis=0).tolist())
    """
    assert run_python(code, LOWDIM_ISA=isa) == run_python(code, LOWDIM_ISA="")
