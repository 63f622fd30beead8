"""Laws of the graph itself."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from lowdim import errors
from lowdim.summaries.graph import Graph
from lowdim.summaries.neighbors import neighbors

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
        stored = sp.csr_array((np.ones(matrix.nnz), matrix.indices, matrix.indptr), shape=matrix.shape).toarray() > 0
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
    assert neighbors(np.repeat(np.arange(3.0), 5)[:, None], 3).components().tolist() == [0] * 5 + [1] * 5 + [2] * 5
