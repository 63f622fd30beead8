"""Laws of queries: what is found for a row depends neither on the other queries nor on earlier ones."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest

from lowdim import UMAP, Isomap, LaplacianEigenmaps
from lowdim.errors import LowdimWarning
from lowdim.knn import index as module
from lowdim.knn.index import NeighborIndex

ROWS = 12_500  # above what "auto" compares row by row


def skewed(rng, n=ROWS):
    """Half of the rows are so close that float32 hardly tells them apart, some are equal, the rest are spread out."""
    close = rng.normal(size=(n // 2, 20)) * 1e-6
    close[: n // 8] = close[0]
    return np.vstack([close, rng.normal(size=(n - n // 2, 20)) * 10])


@pytest.fixture(scope="module")
def table():
    return skewed(np.random.default_rng(0))


@pytest.mark.parametrize("algorithm", ["approximate", "auto"])
def test_a_query_is_answered_as_if_it_were_alone(table, algorithm, monkeypatch):
    if algorithm == "auto":
        monkeypatch.setattr(module, "BRUTE_FORCE_VALUES", 0)  # a beam search
    index = NeighborIndex(table, algorithm=algorithm)
    rng = np.random.default_rng(1)
    asked = np.vstack([table[:40], table[-40:], skewed(rng, 80) + 1e-6])
    whole = index.query(asked, 5)
    backwards = index.query(asked[::-1], 5)
    np.testing.assert_array_equal(whole.indices, backwards.indices[::-1])
    np.testing.assert_array_equal(whole.distances, backwards.distances[::-1])
    fresh = NeighborIndex(table, algorithm=algorithm)
    for i in (0, 7, 45, 81, 122, 159):
        alone = (index if i % 2 else fresh).query(asked[i : i + 1], 5)
        np.testing.assert_array_equal(alone.indices[0], whole.indices[i])
        np.testing.assert_array_equal(alone.distances[0], whole.distances[i])


def test_very_large_cells_are_split(table):
    """Otherwise the test above would say nothing about them."""
    index = NeighborIndex(table, algorithm="approximate")
    index.query(table[:1], 5)
    parts = index._query_graph[1].parts
    assert np.diff(parts).max() > 1


def test_a_small_table_is_searched_by_brute_force_without_a_graph(table):
    index = NeighborIndex(table)
    near = index.query(table[:50] + 1e-4, 5)
    assert index._query_graph is None
    exact = NeighborIndex(table, algorithm="exact").query(table[:50] + 1e-4, 5)
    np.testing.assert_array_equal(near.indices, exact.indices)
    np.testing.assert_array_equal(near.distances, exact.distances)


MODELS = {
    "Isomap": Isomap(2, n_neighbors=6, n_landmarks=20),
    "LaplacianEigenmaps": LaplacianEigenmaps(2, n_neighbors=8),
}


@pytest.fixture(scope="module", params=MODELS)
def model(request, table):
    from sklearn.base import clone

    rows = np.unique(table, axis=0)[:: 1 if request.param == "Isomap" else 4]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LowdimWarning)  # of connected components
        return clone(MODELS[request.param]).fit(rows)


@pytest.mark.parametrize("values", [1 << 22, 0], ids=["brute force", "beam search"])
def test_a_row_is_embedded_as_if_it_were_alone(model, table, values, monkeypatch):
    monkeypatch.setattr(module, "BRUTE_FORCE_VALUES", values)
    monkeypatch.setattr(module, "EXACT_ROWS", 1000)
    again = pickle.loads(pickle.dumps(model))
    assert not hasattr(again, "_cache")
    new = table[::300] + 1e-3
    Z = again.transform(new)
    for i in range(0, len(new), 5):
        np.testing.assert_array_equal(again.transform(new[i : i + 1])[0], Z[i])
    np.testing.assert_array_equal(again.transform(new[::-1])[::-1], Z)


@pytest.mark.filterwarnings("ignore::lowdim.errors.LowdimWarning")
def test_the_index_is_made_once_and_goes_with_the_fit(model, table, monkeypatch):
    made = []
    before = module.search_space_of
    monkeypatch.setattr(module, "search_space_of", lambda *given: made.append(1) or before(*given))
    again = pickle.loads(pickle.dumps(model))
    for row in range(3):
        again.transform(table[row : row + 1] + 1e-3)
    assert len(made) == 1
    assert "_cache" not in again.__getstate__()
    again.set_params(n_neighbors=5).fit(table[::100])
    assert again._cache.n == len(table[::100])
    np.testing.assert_array_equal(
        again.transform(table[:3]), type(again)(**again.get_params()).fit(table[::100]).transform(table[:3])
    )


def test_umap_keeps_its_index_in_the_same_way(rng):
    X = rng.normal(size=(60, 3))
    model = UMAP(n_epochs=5).fit(X)
    assert "_cache" in vars(model) and "_cache" not in model.__getstate__()
    model._forget()
    assert "_cache" not in vars(model)


def test_more_neighbors_than_a_component_of_the_graph_has(rng):
    """Groups of 20 rows that no edge of the graph connects, and 60 neighbors asked for."""
    X = np.repeat(np.arange(200.0)[:, None] * 1e3, 20, axis=0) + rng.normal(size=(4000, 3))
    near = NeighborIndex(X, algorithm="approximate").query(X[:50] + 0.1, 60)
    exact = NeighborIndex(X, algorithm="exact").query(X[:50] + 0.1, 60)
    assert np.isfinite(near.distances).all()
    np.testing.assert_array_equal(near.indices[:, :15], exact.indices[:, :15])
