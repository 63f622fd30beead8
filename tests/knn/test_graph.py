"""Laws of the k-NN graph: checks, formats, components and their minimum spanning tree."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.neighbors import NearestNeighbors

from lowdim import LLE, TSNE, UMAP, Isomap, LaplacianEigenmaps, errors
from lowdim.errors import BadInput, LowdimWarning
from lowdim.knn.graph import Graph
from lowdim.knn.index import neighbors

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
    with pytest.raises(errors.NotEnoughData, match="row 0 has 5"):
        Graph.from_sparse(graph.to_sparse(), 6)
    with pytest.raises(errors.BadInput, match="square"):
        Graph.from_sparse(sp.csr_array((3, 4)))


def test_arrays_and_back(rng):
    graph = neighbors(rng.normal(size=(3000, 3)), 4, algorithm="approximate", metric="manhattan")
    again = Graph.from_arrays(graph.to_arrays())
    assert np.array_equal(again.indices, graph.indices)
    assert np.array_equal(again.distances, graph.distances)
    assert (again.metric, again.algorithm, again.recall) == (graph.metric, graph.algorithm, graph.recall)
    with pytest.raises(errors.BadInput, match="lack distances"):
        Graph.from_arrays({k: v for k, v in graph.to_arrays().items() if k != "distances"})


def test_components_are_connected_by_their_shortest_edges():
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


def asymmetric():
    """0 → 1 at 3, 1 → 0 at 1; 2 → 0 at 5, which is not in the list of 0; 1 → 2 and 2 → 1 at 4 and 2."""
    return Graph(np.array([[1, 3], [0, 2], [1, 0], [0, 1]]), np.array([[3, 9.0], [1, 4], [2, 5], [7, 8]]))


def test_symmetrizing_asymmetric_distances_is_symmetric():
    graph = asymmetric()
    union = np.array([[0, 1, 5, 7], [1, 0, 2, 8], [5, 2, 0, 0], [7, 8, 0, 0]], dtype=np.float32)
    mutual = np.array([[0, 1, 0, 7], [1, 0, 2, 0], [0, 2, 0, 0], [7, 0, 0, 0]], dtype=np.float32)
    mean = np.array([[0, 2, 2.5, 8], [2, 0, 3, 4], [2.5, 3, 0, 0], [8, 4, 0, 0]], dtype=np.float32)
    for how, want in (("union", union), ("mutual", mutual), ("mean", mean)):
        np.testing.assert_array_equal(graph.symmetrize(how).toarray(), want)
    A = graph.to_sparse().toarray()
    np.testing.assert_array_equal(mean, (A + A.T) / 2)


def test_neighbors_in_another_order_are_put_in_order():
    graph = Graph(
        np.array([[2, 1, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]]), np.array([[2, 1, 2.0], [1, 1, 1], [3, 2, 1], [1, 2, 3]])
    )
    assert graph.indices.tolist() == [[1, 2, 3], [0, 2, 3], [3, 1, 0], [0, 1, 2]]
    assert graph.distances.tolist() == [[1, 2, 2], [1, 1, 1], [1, 2, 3], [1, 2, 3]]


def test_graphs_are_compared_by_what_they_hold(rng):
    X = rng.normal(size=(30, 2))
    assert neighbors(X, 4) == neighbors(X, 4)
    assert neighbors(X, 4) != neighbors(X, 3)
    assert neighbors(X, 4) != neighbors(2 * X, 4)
    assert neighbors(X, 4) != neighbors(X, 4, metric="manhattan")
    assert neighbors(X, 4) != "a graph"
    assert len({id(neighbors(X, 4))}) == 1
    with pytest.raises(TypeError, match="unhashable"):
        hash(neighbors(X, 4))


def test_a_graph_names_how_it_was_found():
    good = np.array([[1], [0]]), np.array([[1.0], [1.0]])
    for words in ({"metric": 3}, {"algorithm": "magic"}, {"recall": 2}, {"recall": "all"}, {"recall": np.nan}):
        with pytest.raises(errors.BadInput, match="recall from 0 to 1"):
            Graph(*good, **words)


def spanning_tree(X, labels, metric="euclidean"):
    """The lengths of a minimum spanning tree of the components, by Kruskal's algorithm over all pairs of them."""
    from scipy.spatial.distance import cdist

    D = cdist(X, X, metric)
    components = int(labels.max()) + 1
    gaps = sorted(
        (D[np.ix_(labels == a, labels == b)].min(), a, b) for a in range(components) for b in range(a + 1, components)
    )
    component, lengths = list(range(components)), []
    for length, a, b in gaps:
        if component[a] != component[b]:
            lengths.append(length)
            old, new = component[a], component[b]
            component = [new if c == old else c for c in component]
    return np.sort(lengths)


@pytest.mark.parametrize("metric", ["euclidean", "cityblock", "chebyshev", "function", "precomputed"])
def test_boruvka_edges_are_a_minimum_spanning_tree(rng, metric):
    from scipy.spatial.distance import cdist

    X = np.repeat(rng.random((70, 2)) * 100, rng.integers(2, 5, 70), axis=0)
    X = X + rng.random(X.shape) * 1e-2
    named = {"function": "euclidean", "precomputed": "euclidean"}.get(metric, metric)
    graph = neighbors(X, 1, metric=named)
    labels = graph.components()
    assert labels.max() > 60
    want = spanning_tree(X, labels, named)
    measure = (lambda a, b: np.sqrt(((a - b) ** 2).sum())) if metric == "function" else metric
    table = cdist(X, X) if metric == "precomputed" else X
    joined = graph.join(table, metric=measure)
    edges = sp.csr_array(joined - graph.symmetrize())
    edges.eliminate_zeros()
    np.testing.assert_allclose(np.sort(sp.triu(edges).data), want, rtol=1e-6)
    assert (abs(joined - joined.T)).nnz == 0
    assert sp.csgraph.connected_components(joined)[0] == 1
    same = graph.join(table, metric=measure, n_jobs=4)
    np.testing.assert_array_equal(same.toarray(), joined.toarray())


def test_boruvka_edges_of_equal_lengths_make_no_cycle():
    X = np.array([[i, j] for i in range(6) for j in range(6)], dtype=float) * 10  # many edges of the shortest length
    X = np.repeat(X, 2, axis=0)
    graph = neighbors(X, 1)
    assert graph.components().max() == 35
    joined = graph.join(X)
    assert joined.nnz == graph.symmetrize().nnz + 2 * 35
    assert sp.csgraph.connected_components(sp.csr_array((joined.data + 1, joined.indices, joined.indptr)))[0] == 1
    assert joined.data.max() == 10


def test_boruvka_edges_of_bits_and_of_wide_sparse_rows(rng, monkeypatch):
    bits = np.repeat(rng.random((20, 40)) < 0.5, 2, axis=0)
    graph = neighbors(bits, 1, metric="jaccard")
    np.testing.assert_allclose(
        np.sort(graph.join(bits).data)[-2 * (graph.components().max()) :][::2],
        spanning_tree(bits, graph.components(), "jaccard"),
        rtol=1e-6,
    )
    X = np.repeat(rng.random((20, 5)), 2, axis=0)
    graph = neighbors(X, 1)
    want = graph.join(X).toarray()
    monkeypatch.setattr("lowdim.knn.blockwise.DENSE_BYTES", 10)
    np.testing.assert_allclose(graph.join(sp.csr_array(X)).toarray(), want, rtol=1e-6)


def test_join_says_what_it_needs(rng):
    X = np.vstack([rng.random((10, 2)), rng.random((10, 2)) + 50])
    graph = neighbors(X, 3, metric=lambda a, b: np.abs(a - b).sum())
    with pytest.raises(errors.BadParameter, match=r"function of two rows.*metric="):
        graph.join(X)
    joined = graph.join(X, metric="manhattan")
    assert sp.csgraph.connected_components(joined)[0] == 1
    with pytest.raises(errors.BadInput, match=r"rows of the graph \(20\); got 19"):
        graph.join(X[:19], metric="manhattan")
    with pytest.raises(errors.BadInput, match="one number per row"):
        graph.join(X, np.zeros(3), metric="manhattan")


def test_join_checks_the_distances_that_it_is_given(rng):
    X = np.vstack([rng.random((10, 2)), rng.random((10, 2)) + 50])
    D = np.linalg.norm(X[:, None] - X, axis=2)
    graph = neighbors(D, 3, metric="precomputed")
    np.testing.assert_allclose(graph.join(D).toarray(), neighbors(X, 3).join(X).toarray(), rtol=1e-5)
    changes = {
        "finite and not negative": lambda D: D * np.where(np.eye(20)[::-1] > 0, -1, 1),
        "is NaN": lambda D: np.where(np.eye(20)[::-1] > 0, np.nan, D),
        "finite and": lambda D: np.where(np.eye(20)[::-1] > 0, np.inf, D),
        "must be symmetric": np.triu,
        "similarities": lambda D: np.exp(-D),
        "square": lambda D: D[:, :7],
    }
    for words, change in changes.items():
        with pytest.raises(errors.BadInput, match=words):
            graph.join(change(D))


def test_rows_at_distance_0_are_one_group(rng):
    """Though none of them lists all the others, and though another row may be nearly there."""
    which = rng.permutation(np.r_[np.zeros(30, int), np.full(3, 1), np.arange(2, 12)])
    X = rng.standard_normal((12, 3))[which]
    groups = neighbors(X, 5).coincident()
    np.testing.assert_array_equal(groups[:, None] == groups, which[:, None] == which)
    assert groups.max() == 11 and groups[0] == 0


def self_inclusive(X, k):
    distances, indices = NearestNeighbors(n_neighbors=k).fit(X).kneighbors(X)  # each row is its own neighbor
    return indices, distances


def test_neighbor_lists_that_hold_the_rows_themselves(rng):
    """As pynndescent and umap-learn give them: the graph is that of the other rows."""
    X = rng.standard_normal((40, 3))
    want = neighbors(X, 7)
    with pytest.warns(LowdimWarning, match="7 neighbors per row remain"):
        graph = Graph(*self_inclusive(X, 8))
    np.testing.assert_array_equal(graph.indices, want.indices)
    np.testing.assert_allclose(graph.distances, want.distances, rtol=1e-6)


def test_a_row_that_is_not_in_its_own_list_loses_the_farthest(rng):
    """Among equal rows, a search may give others in place of the row itself."""
    indices, distances = np.array([[0, 1, 2], [0, 2, 3], [2, 1, 0], [3, 2, 1]]), np.array([[0.0, 1, 2]] * 4)
    distances[1] = [0, 2, 2]
    with pytest.warns(LowdimWarning, match="2 neighbors per row"):
        graph = Graph(indices, distances)
    np.testing.assert_array_equal(graph.indices, [[1, 2], [0, 2], [1, 0], [2, 1]])
    np.testing.assert_array_equal(graph.distances, [[1, 2], [0, 2], [1, 2], [1, 2]])
    with pytest.raises(BadInput, match="other than the row itself"):
        Graph(np.arange(4)[:, None], np.zeros((4, 1)))
    with pytest.raises(BadInput, match="same neighbor twice"):
        Graph([[0, 0, 1], [1, 0, 2], [2, 1, 0]], np.zeros((3, 3)))


@pytest.mark.parametrize("model", [UMAP(n_neighbors=9, n_epochs=5), TSNE(perplexity=2.6, max_iter=5), Isomap(), LLE()])
def test_a_given_graph_brings_its_rows_to_every_method(model, rng):
    """Fitted to arrays of another search, a model is that of the rows, also for new ones."""
    X, new = rng.standard_normal((60, 3)), rng.standard_normal((4, 3))
    with pytest.warns(LowdimWarning, match="own neighbors"):
        graph = Graph(*self_inclusive(X, 9), "euclidean", rows=X)
    found = clone(model).fit(graph)
    want = clone(model).fit(neighbors(X, 8))
    np.testing.assert_allclose(found.embedding_, want.embedding_, atol=1e-4 * np.abs(want.embedding_).max())
    np.testing.assert_allclose(found.transform(new), want.transform(new), atol=1e-3 * np.abs(want.embedding_).max())
    with pytest.raises(BadInput, match="59"):
        clone(model).fit(Graph(graph.indices, graph.distances, "euclidean", rows=X[:59]))


def test_all_neighbors_of_a_graph_are_used(rng):
    X = rng.standard_normal((120, 4))
    graph = neighbors(X, 50)
    for method in (Isomap, LLE, LaplacianEigenmaps):
        model = method().fit(graph)
        assert model.n_neighbors_ == 50
        np.testing.assert_array_equal(model.embedding_, method(n_neighbors=50).fit(X).embedding_)
        assert method(n_neighbors=9).fit(graph).n_neighbors_ == 9
        assert model.transform(X[:3] + 0.1).shape == (3, 2)
