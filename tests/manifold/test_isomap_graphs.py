"""Isomap on disconnected and large graphs, by radius, and its warning when Lanczos does not converge."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import shortest_path
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist
from scipy.stats import spearmanr
from sklearn.datasets import make_s_curve, make_swiss_roll

import lowdim
from lowdim import Isomap, NeighborIndex
from lowdim.data.validation import FeatureRecord
from lowdim.distance.metrics import metric_of
from lowdim.errors import LowdimWarning, MemoryTooSmall
from lowdim.knn.fitted import FittedNeighbors, FittedRows, NeighborSpec, read_source
from lowdim.linalg.dense_eigen import fix_signs


def written_out(X, n_neighbors, k):
    """Isomap by its definition: neighbors, edges of a minimum spanning tree between components, geodesics, scaling."""
    n = len(X)
    D = cdist(X, X)
    A = np.zeros((n, n))
    for i in range(n):
        near = np.argsort(D[i], kind="stable")[1 : n_neighbors + 1]
        A[i, near] = A[near, i] = D[i, near]
    component = np.arange(n)
    edges = sorted((D[i, j] if A[i, j] == 0 else 0.0, i, j) for i in range(n) for j in range(i))
    for length, i, j in edges:  # Kruskal, where edges of the graph cost nothing
        if component[i] != component[j]:
            component[component == component[i]] = component[j]
            if length > 0:
                A[i, j] = A[j, i] = length
    G = shortest_path(csr_array(A), directed=False)
    J = np.eye(n) - 1 / n
    values, vectors = np.linalg.eigh(-0.5 * J @ G**2 @ J)
    return vectors[:, ::-1][:, :k] * np.sqrt(values[::-1][:k]), values[::-1][:k], G


@pytest.mark.filterwarnings("ignore::lowdim.errors.LowdimWarning")
@pytest.mark.parametrize("components", [1, 2, 5])
def test_it_is_its_definition_also_if_disconnected(components, rng):
    centers = rng.random((components, 3)) * 40
    X = np.vstack([center + rng.random((35, 3)) * [6, 1, 0.1] for center in centers])
    want, values, _ = written_out(X, 4, 2)
    model = Isomap(2, n_neighbors=4).fit(X)
    assert model.n_connected_components_ >= components
    np.testing.assert_allclose(model.eigenvalues_, values, rtol=1e-5)
    np.testing.assert_allclose(np.abs(model.embedding_), np.abs(want), atol=2e-4 * np.abs(want).max())


@pytest.mark.filterwarnings("ignore::lowdim.errors.LowdimWarning")
def test_landmarks_of_a_disconnected_graph_have_the_same_geodesics(rng):
    X = rng.random((120, 2)) + np.repeat([[0, 0], [9, 0], [0, 30]], 40, axis=0)
    _, _, G = written_out(X, 4, 2)
    model = Isomap(2, n_neighbors=4, n_landmarks=20, landmarks="farthest").fit(X)
    np.testing.assert_allclose(model._state.landmark_geodesics * model._state.unit, G[model.landmarks_], rtol=1e-5)


@pytest.mark.filterwarnings("ignore::lowdim.errors.LowdimWarning")
def test_thousands_of_components_are_joined(rng):
    X = np.repeat(rng.random((1500, 3)) * 100, 2, axis=0) + rng.random((3000, 3)) * 1e-3
    model = Isomap(2, n_neighbors=1, n_landmarks=10).fit(X)
    assert model.n_connected_components_ == 1500
    assert np.isfinite(model.embedding_).all()
    assert len(model._state.graph.columns) == 2 * (1500 + 1499)


def test_a_radius_finds_all_of_many_rows(rng):
    """More rows than algorithm="auto" compares exactly: an approximate search would miss some."""
    X = rng.normal(size=(12_500, 6))
    spec = NeighborSpec(5, metric_of("euclidean"), 0, 2, radius=0.9)
    near = FittedNeighbors.of(read_source(Isomap(), X), spec)
    assert (near.graph.distances <= 0.9).sum() == 2 * len(cKDTree(X).query_pairs(0.9))
    found, _ = FittedRows(X, len(X), spec).neighbors_of(FeatureRecord(), X[:500] + 0.01)
    assert (found.distances <= 0.9).sum() == sum(map(len, cKDTree(X).query_ball_point(X[:500] + 0.01, 0.9)))


def test_new_rows_among_many(rng):
    X, along = make_s_curve(13_500, random_state=0)
    model = Isomap(2, n_neighbors=8, n_landmarks=40).fit(X[:12_500])
    Z = model.transform(X[12_500:])
    assert abs(spearmanr(Z[:, 0], along[12_500:])[0]) > 0.99
    near = NeighborIndex(X[:12_500], algorithm="exact").query(X[12_500:], 8)
    np.testing.assert_array_equal(model.transform(near), Z)
    back = model.transform(X[:200])
    np.testing.assert_allclose(back, model.embedding_[:200], atol=2e-5 * np.abs(Z).max())


def test_it_warns_if_lanczos_does_not_converge(monkeypatch):
    X = make_swiss_roll(500, random_state=0)[0]
    monkeypatch.setattr("lowdim.decomposition.gower.MAX_STEPS", 2)
    with pytest.warns(LowdimWarning, match="did not converge within 2 steps"):
        Isomap(8).fit(X)


@pytest.mark.parametrize("seed", range(4))
def test_the_sign_convention_holds(seed):
    X = make_swiss_roll(300, random_state=seed)[0]
    for options in ({"n_landmarks": 30}, {"n_landmarks": 30, "landmarks": "farthest"}):
        Z = Isomap(3, n_neighbors=8, random_state=seed, **options).fit(X).embedding_
        np.testing.assert_array_equal(Z, fix_signs(Z))


def test_landmarks_that_need_too_much_memory_are_refused(rng, monkeypatch):
    graph = lowdim.neighbors(rng.random((300, 2)), 5)
    monkeypatch.setattr("lowdim.runtime.memory.available_bytes", lambda: 20_000)
    with pytest.raises(MemoryTooSmall, match="30 x 300 geodesic"):
        Isomap(n_landmarks=30, landmarks="farthest").fit(graph)
