"""A sparse table of distances is a graph: stored entries are neighbors, and every neighbor method takes it."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist, pdist
from sklearn.datasets import make_s_curve
from sklearn.neighbors import KNeighborsTransformer, kneighbors_graph, radius_neighbors_graph
from sklearn.pipeline import make_pipeline

import lowdim
from lowdim import LLE, TSNE, UMAP, Graph, Isomap, LaplacianEigenmaps, NeighborIndex, neighbors
from lowdim.errors import BadInput, LowdimError, NotEnoughData


@pytest.fixture(scope="module")
def curve():
    return make_s_curve(300, random_state=0)[0]


def test_neighbors_of_sparse_distances_are_those_of_the_rows(curve):
    stored = kneighbors_graph(curve, 12, mode="distance", include_self=True)
    for matrix in (stored, sp.csc_array(stored), sp.coo_array(stored), stored.astype(np.float32)):
        graph = neighbors(matrix, 7, metric="precomputed")
        want = neighbors(curve, 7)
        np.testing.assert_array_equal(graph.indices, want.indices)
        np.testing.assert_allclose(graph.distances, want.distances, rtol=1e-5)
    index = NeighborIndex(stored, metric="precomputed")
    new = cdist(curve[:9] + 0.01, curve)
    found = index.query(sp.csr_array(np.where(new < 0.5, new, 0)), 4)
    want = NeighborIndex(curve).query(curve[:9] + 0.01, 4)
    np.testing.assert_array_equal(found.indices, want.indices)
    np.testing.assert_array_equal(found.distances, want.distances)


def test_what_is_stored_counts_and_nothing_else():
    matrix = sp.csr_array(
        (np.array([0.0, 2, 0, 5, 1, 3, 0]), np.array([1, 2, 1, 0, 0, 1, 2]), np.array([0, 2, 4, 7])), shape=(3, 3)
    )  # 0 → 1 at 0, 0 → 2 at 2, 1 → 1 (itself), 1 → 0 at 5, 2 → 0 at 1, 2 → 1 at 3, 2 → 2 (itself)
    kept = matrix.copy()
    graph = Graph.from_sparse(matrix)
    assert graph.indices.tolist() == [[1], [0], [0]]  # row 1 has a single neighbor, so all have one
    assert graph.distances.tolist() == [[0], [5], [1]]
    with pytest.raises(NotEnoughData, match=r"2 stored neighbor.* row 1 has 1"):
        Graph.from_sparse(matrix, 2)
    with pytest.raises(NotEnoughData, match="row 1 has 1"):
        neighbors(matrix, 2, metric="precomputed")
    with pytest.raises(NotEnoughData, match="row 0 has 0"):
        Graph.from_sparse(sp.csr_array((3, 3)))
    assert (kept != matrix).nnz == 0
    similar = matrix.copy()
    similar.data[2] = 1.0
    with pytest.raises(BadInput, match=r"row 1 to itself is 1\.0 .*Are these similarities"):
        Graph.from_sparse(similar)
    for bad in (np.nan, np.inf, -1.0, 1e39):
        wrong = matrix.copy()
        wrong.data[3] = bad
        with pytest.raises(BadInput, match="from row 1 to row 0"):
            neighbors(wrong, 1, metric="precomputed")


@pytest.mark.parametrize("transform_first", [5, 12])
def test_a_pipeline_of_scikit_learn_is_isomap_on_the_table(curve, transform_first):
    pipeline = make_pipeline(
        KNeighborsTransformer(n_neighbors=transform_first, mode="distance"), Isomap(metric="precomputed")
    )
    direct = Isomap().fit(curve)
    np.testing.assert_allclose(pipeline.fit_transform(curve), direct.embedding_, atol=1e-3)
    new = curve[::9] + 0.01
    np.testing.assert_allclose(pipeline.transform(new), direct.transform(new), atol=1e-3)
    assert pipeline[-1].embedding_.dtype == np.float64


def test_laplacian_eigenmaps_too(curve):
    pipeline = make_pipeline(
        KNeighborsTransformer(n_neighbors=10, mode="distance"), LaplacianEigenmaps(metric="precomputed")
    )
    direct = LaplacianEigenmaps().fit(curve)
    np.testing.assert_allclose(pipeline.fit_transform(curve), direct.embedding_, atol=1e-3)
    np.testing.assert_allclose(pipeline.transform(curve[:5] + 0.01), direct.transform(curve[:5] + 0.01), atol=1e-2)


def test_tsne_and_umap_too(curve):
    pipeline = make_pipeline(
        KNeighborsTransformer(n_neighbors=30, mode="distance"), TSNE(perplexity=10, metric="precomputed", max_iter=60)
    )
    Z = pipeline.fit_transform(curve)
    D = cdist(curve, curve)
    np.testing.assert_allclose(Z, TSNE(perplexity=10, metric="precomputed", max_iter=60).fit_transform(D), atol=1e-2)
    assert np.linalg.norm(pipeline.transform(curve) - Z, axis=1).max() < 1e-6
    pipeline = make_pipeline(
        KNeighborsTransformer(n_neighbors=15, mode="distance"), UMAP(metric="precomputed", n_epochs=30)
    )
    Z = pipeline.fit_transform(curve)
    want = UMAP(n_epochs=30, metric="precomputed").fit(D)
    np.testing.assert_array_equal(pipeline[-1].edges_, want.edges_)
    np.testing.assert_allclose(pipeline[-1].weights_, want.weights_, atol=1e-5)
    np.testing.assert_array_equal(pipeline.transform(curve), Z)
    assert np.isfinite(pipeline.transform(curve + 0.01)).all()


def test_ragged_rows_within_a_radius(curve):
    stored = radius_neighbors_graph(curve, 0.6, mode="distance")
    assert len(set(np.diff(stored.indptr).tolist())) > 3
    for options in ({}, {"conformal": True}, {"n_landmarks": 30}):
        model = Isomap(metric="precomputed", radius=0.6, **options).fit(stored)
        direct = Isomap(radius=0.6, **options).fit(curve)
        np.testing.assert_allclose(model.embedding_, direct.embedding_, atol=2e-3)
        new = cdist(curve[:7] + 0.01, curve)
        near = sp.csr_array(np.where(new <= 0.6, new, 0))
        np.testing.assert_allclose(model.transform(near), direct.transform(curve[:7] + 0.01), atol=2e-3)
    shorter = Isomap(metric="precomputed", radius=0.5).fit(stored)
    assert len(shorter._state.graph.columns) == 2 * (pdist(curve) <= 0.5).sum()
    empty = sp.csr_array((2, 300))
    with pytest.raises(NotEnoughData, match="no stored neighbor"):
        model.transform(empty)


@pytest.mark.filterwarnings("ignore::lowdim.errors.LowdimWarning")
def test_a_joined_graph_is_taken_as_it_is(rng):
    X = np.vstack([rng.random((40, 2)), rng.random((30, 2)) + np.array([50, 0])])
    graph = neighbors(X, 4)
    joined = graph.join(X)
    model = Isomap(metric="precomputed", radius=float(joined.max())).fit(joined)
    assert model.n_connected_components_ == 1
    np.testing.assert_allclose(model.embedding_, Isomap(n_neighbors=4).fit(X).embedding_, atol=1e-4)
    with pytest.raises(BadInput, match=r"2 connected components.*needs the rows"):
        Isomap(metric="precomputed", n_neighbors=4).fit(graph.to_sparse())


@pytest.mark.parametrize("method", [Isomap, LaplacianEigenmaps, TSNE, UMAP, LLE])
def test_too_few_neighbors_and_odd_shapes_are_named(method, curve):
    few = kneighbors_graph(curve, 3, mode="distance")
    with pytest.raises(LowdimError, match=r"has 3|lacks most"):
        method(metric="precomputed").fit(few)
    with pytest.raises(LowdimError, match=r"square|lacks most"):
        method(metric="precomputed").fit(few[:50])


@pytest.mark.filterwarnings("ignore::lowdim.errors.LowdimWarning")
@pytest.mark.parametrize("method", [Isomap, LaplacianEigenmaps])
def test_new_distances_must_be_to_all_fitted_rows(method, curve):
    """Also where the fit saw a graph, and so no columns."""
    model = method(metric="precomputed").fit(lowdim.neighbors(curve, 10))
    D = cdist(curve[:4], curve)
    assert model.transform(D).shape == (4, 2)
    for wrong in (D[:, :-1], np.hstack([D, D]), sp.csr_array(D[:, :-1])):
        with pytest.raises(BadInput, match="300 fitted"):
            model.transform(wrong)
