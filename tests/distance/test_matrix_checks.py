"""What is not a distance matrix is refused by every method that takes one, in the same words."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from sklearn.neighbors import kneighbors_graph

import lowdim
from lowdim.distance.matrix_checks import checked_distances, require_distances
from lowdim.errors import BadInput

N = 64
X = np.random.default_rng(0).normal(size=(N, 3))
D = cdist(X, X)
CONNECTED = kneighbors_graph(X, 6, mode="connectivity")

METHODS = {
    "neighbors": lambda M: lowdim.neighbors(M, 5, metric="precomputed"),
    "Isomap": lambda M: lowdim.Isomap(metric="precomputed").fit(M),
    "Isomap within a radius": lambda M: lowdim.Isomap(metric="precomputed", radius=1.5).fit(M),
    "LLE": lambda M: lowdim.LLE(metric="precomputed").fit(M),
    "LLE with a graph": lambda M: lowdim.LLE(metric="precomputed").fit(M, graph=lowdim.neighbors(X, 8)),
    "LaplacianEigenmaps": lambda M: lowdim.LaplacianEigenmaps(metric="precomputed").fit(M),
    "TSNE": lambda M: lowdim.TSNE(metric="precomputed", max_iter=2).fit(M),
    "UMAP": lambda M: lowdim.UMAP(metric="precomputed", n_epochs=2).fit(M),
    "MDS": lambda M: lowdim.MDS(metric="precomputed", max_iter=2).fit(M),
    "NonmetricMDS": lambda M: lowdim.NonmetricMDS(metric="precomputed", max_iter=2).fit(M),
    "ClassicalMDS": lambda M: lowdim.ClassicalMDS(metric="precomputed").fit(M),
}
REFUSED = {
    "similarities": (np.exp(-D), "row 0 to itself is 1.0 and must be 0. Are these similarities"),
    "a triangle": (np.triu(D), "the distances must be symmetric"),
    "a table": (np.abs(np.random.default_rng(1).normal(size=(N, N))), "Are these similarities"),
    "a table with negative values": (np.random.default_rng(1).normal(size=(N, N)), "finite and not negative"),
    "connectivities": (CONNECTED.maximum(CONNECTED.T).toarray(), "Are these connectivities or edge weights"),
    "edge weights": (np.where(CONNECTED.maximum(CONNECTED.T).toarray() > 0, D, 0), "Are these connectivities or edge"),
    "one missing": (np.where(np.eye(N, k=1) + np.eye(N, k=-1) > 0, np.inf, D), "finite and not negative"),
}


@pytest.mark.filterwarnings("ignore::lowdim.errors.LowdimWarning")
@pytest.mark.parametrize("method", METHODS)
def test_what_is_not_a_distance_matrix_is_refused(method):
    METHODS[method](D)
    for M, words in REFUSED.values():
        for form in (np.asarray, np.asfortranarray, lambda M: M.astype(np.float32)):
            with pytest.raises(BadInput, match=words):
                METHODS[method](form(M))


def test_rows_at_distance_zero_may_be_many():
    """Repeated rows are at distance 0 and alike, so they are no sign of an adjacency matrix."""
    repeated = np.repeat(X[:4], 16, axis=0)
    require_distances(cdist(repeated, repeated))
    require_distances(np.zeros((9, 9)))
    require_distances(np.zeros((1, 1)))
    classes = np.repeat([0, 1], 32)
    require_distances((classes[:, None] != classes).astype(float))
    few = D.copy()
    few[3, :9] = few[:9, 3] = 0  # some dissimilarities are 0 for rows that are not alike
    require_distances(few)


def test_rounding_is_allowed_and_removed():
    noisy = D + 1e-9 * np.random.default_rng(2).normal(size=D.shape)
    kept = noisy.copy()
    clean = checked_distances(noisy)
    assert (np.diagonal(clean) == 0).all() and clean.min() == 0
    np.testing.assert_array_equal(noisy, kept)


@pytest.mark.filterwarnings("ignore::lowdim.errors.LowdimWarning")
@pytest.mark.parametrize("method", ["Isomap", "LaplacianEigenmaps", "TSNE", "UMAP"])
def test_sparse_connectivities_and_similarities_are_refused(method):
    fit = METHODS[method]
    with pytest.raises(BadInput, match=r"all stored distances are 1\. Are these connectivities"):
        fit(kneighbors_graph(X, 30, mode="connectivity"))
    with pytest.raises(BadInput, match="Are these similarities"):
        fit(sp.csr_array(np.exp(-D)))
    fit(kneighbors_graph(X, 63, mode="distance"))


def test_edges_without_lengths_are_counted_within_a_radius():
    path = sp.csr_array(np.eye(9, k=1) + np.eye(9, k=-1))
    model = lowdim.Isomap(1, metric="precomputed", radius=1).fit(path)
    np.testing.assert_allclose(np.abs(np.diff(model.embedding_[:, 0])), 1, rtol=1e-5)
