"""UMAP against umap-learn's own pieces on the same neighbours."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from lowdim import UMAP, neighbors
from lowdim.data.duplicates import DistinctRows
from lowdim.neighbor_embedding.umap.find_ab import find_ab
from lowdim.neighbor_embedding.umap.fuzzy_graph import fuzzy_simplicial_set, smooth_knn_distances
from lowdim.neighbor_embedding.umap.supervision import categorical_intersection, class_codes, numeric_intersection

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def peer():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip("umap.umap_")


@pytest.fixture(scope="module")
def some(digits):
    return digits[:400].astype(np.float32)


def with_self(graph):
    """Neighbours as umap-learn has them: the row itself first."""
    own = np.arange(graph.n, dtype=np.int32)[:, None]
    return np.hstack([own, graph.indices]), np.hstack([np.zeros((graph.n, 1), np.float32), graph.distances])


@pytest.mark.parametrize(
    ("min_dist", "spread"), [(0.1, 1.0), (0.0, 1.0), (0.5, 1.0), (0.99, 1.0), (0.25, 2.0), (0.1, 0.3)]
)
def test_curve(peer, min_dist, spread):
    np.testing.assert_allclose(find_ab(min_dist, spread), peer.find_ab_params(spread, min_dist), rtol=1e-4)


@pytest.mark.parametrize("connectivity", [1.0, 2.0, 1.5])
def test_smooth_distances(peer, some, connectivity):
    graph = neighbors(some, 14)
    ours = smooth_knn_distances(graph.distances, connectivity, 2)
    sigmas, rhos = peer.smooth_knn_dist(with_self(graph)[1], 15.0, local_connectivity=connectivity)
    np.testing.assert_allclose(ours.rhos, rhos, rtol=1e-5)
    np.testing.assert_allclose(ours.sigmas, sigmas, rtol=1e-3)


@pytest.mark.parametrize("mix", [1.0, 0.5, 0.0])
def test_fuzzy_graph(peer, some, mix):
    graph = neighbors(some, 14)
    indices, distances = with_self(graph)
    ours = fuzzy_simplicial_set(graph, 1.0, mix, 2).to_sparse().toarray()
    theirs = peer.fuzzy_simplicial_set(
        some, 15, np.random.RandomState(0), "euclidean", knn_indices=indices, knn_dists=distances, set_op_mix_ratio=mix
    )[0].toarray()
    np.testing.assert_allclose(ours, theirs, atol=1e-4)
    np.testing.assert_array_equal(ours, ours.T)


def test_classes(peer, some):
    from sklearn.datasets import load_digits

    labels = load_digits().target[:400].copy()
    labels[::7] = -1
    fuzzy = fuzzy_simplicial_set(neighbors(some, 14), 1.0, 1.0, 2)
    ours = categorical_intersection(fuzzy, class_codes(labels, 400), 0.5, 2).to_sparse().toarray()
    theirs = peer.discrete_metric_simplicial_set_intersection(fuzzy.to_sparse().tocoo(), labels, far_dist=5.0).toarray()
    np.testing.assert_allclose(ours, theirs, atol=1e-4)


@pytest.mark.parametrize("weight", [0.3, 0.5, 0.7])
def test_numbers(peer, some, weight, rng):
    y = some.sum(axis=1).astype(np.float64) + rng.standard_normal(400)
    everyone = DistinctRows(np.arange(400), np.arange(400))
    fuzzy = fuzzy_simplicial_set(neighbors(some, 14), 1.0, 1.0, 2)
    ours = numeric_intersection(fuzzy, y, everyone, weight, 14, 2).to_sparse().toarray()
    target = fuzzy_simplicial_set(neighbors(y[:, None], 14), 1.0, 1.0, 2).to_sparse()
    theirs = peer.general_simplicial_set_intersection(fuzzy.to_sparse(), target, weight)
    theirs = peer.reset_local_connectivity(theirs).toarray()
    np.testing.assert_allclose(ours, theirs, atol=1e-4)


def test_the_map_of_the_digits_is_as_good(peer, digits):
    from sklearn.datasets import load_digits
    from sklearn.manifold import trustworthiness
    from sklearn.model_selection import cross_val_score
    from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors

    y = load_digits().target
    true = NearestNeighbors(n_neighbors=10).fit(digits).kneighbors(return_distance=False)

    def quality(Z):
        found = NearestNeighbors(n_neighbors=10).fit(Z).kneighbors(return_distance=False)
        recall = np.mean([len(np.intersect1d(a, b)) for a, b in zip(found, true, strict=True)]) / 10
        accuracy = cross_val_score(KNeighborsClassifier(10), Z, y, cv=5).mean()
        return np.array([trustworthiness(digits, Z, n_neighbors=10), accuracy, recall])

    ours = np.mean([quality(UMAP(random_state=seed).fit_transform(digits)) for seed in (0, 1)], axis=0)
    theirs = quality(peer.UMAP(random_state=0).fit_transform(digits))
    assert (ours >= theirs - 0.01).all(), (ours, theirs)
