"""FittedNeighbors: the same neighbors from rows, from a graph and from distances; queries among the fitted rows."""

from __future__ import annotations

import dataclasses
import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from lowdim import LLE, TSNE, UMAP, Isomap, LaplacianEigenmaps, neighbors
from lowdim.base.metric_mixin import MetricMixin
from lowdim.data.rows import open_rows
from lowdim.data.validation import FeatureRecord
from lowdim.distance.metrics import metric_of
from lowdim.errors import BadInput, NotEnoughData
from lowdim.knn.fitted import FittedNeighbors, FittedRows, NeighborSpec, read_source
from lowdim.knn.index import NeighborIndex, Neighbors

K = 6


class Owner(MetricMixin, FeatureRecord):
    """What an estimator is to its neighbors."""


def spec(metric="euclidean", **options):
    return NeighborSpec(K, metric_of(metric), 0, 2, **options)


def fitted(X, asked, graph=None, **options):
    owner = Owner(metric=asked.metric.name)
    return FittedNeighbors.of(read_source(owner, X, graph), asked, **options)


@pytest.fixture
def X(rng):
    return rng.normal(size=(80, 3))


@pytest.fixture
def new(rng):
    return rng.normal(size=(9, 3))


def distances(A, B):
    return np.linalg.norm(A[:, None] - B, axis=2)


def test_rows_a_graph_and_distances_give_the_same_neighbors(X):
    want = neighbors(X, K)
    D = distances(X, X)
    stored = neighbors(X, K + 3).to_sparse()
    for found in (
        fitted(X, spec()),
        fitted(sp.csr_array(X), spec()),
        fitted(sp.csr_array(X), spec(), compact=True),
        fitted(X, spec(), unique=True, compact=True),
        fitted(neighbors(X, K + 4), spec()),
        fitted(X, spec(), graph=neighbors(X, K + 4)),
        fitted(D, spec("precomputed")),
        fitted(stored, spec("precomputed")),
    ):
        np.testing.assert_array_equal(found.graph.indices, want.indices)
        np.testing.assert_allclose(found.graph.distances, want.distances, rtol=1e-6)
        assert (found.n, found.k) == (len(X), K)


def test_new_rows_have_the_same_neighbors_by_rows_and_by_distances(X, new):
    D, to_new = distances(X, X), distances(new, X)
    want = NeighborIndex(X).query(new, K)
    nearest = NeighborIndex(X).query(new, K + 2)
    starts = np.arange(len(new) + 1) * (K + 2)
    stored = sp.csr_array((nearest.distances.ravel(), nearest.indices.ravel(), starts), shape=to_new.shape)
    for rows, asked in (
        (fitted(X, spec()).rows, new),
        (fitted(X, spec()).rows, want),
        (fitted(D, spec("precomputed")).rows, to_new),
        (fitted(D, spec("precomputed")).rows, stored),
        (fitted(neighbors(X, K), spec()).rows, want),
    ):
        found, dtype = rows.neighbors_of(FeatureRecord(), asked)
        assert dtype == (None if asked is want else np.float64 if asked is not stored else np.float32)
        np.testing.assert_array_equal(found.indices, want.indices)
        np.testing.assert_allclose(found.distances, want.distances, rtol=1e-6)


@pytest.mark.parametrize("radius", [0.3, 1.0, 9.0])
def test_a_radius_misses_no_neighbor(X, new, radius):
    D, to_new = distances(X, X), distances(new, X)
    near = fitted(X, spec(radius=radius))
    assert (near.graph.distances <= radius).sum() == (radius >= D).sum() - len(X)
    found, _ = near.rows.neighbors_of(FeatureRecord(), new)
    assert (found.distances <= radius).sum() == (to_new <= radius).sum()
    stored = sp.csr_array(np.where((radius >= D) & (D > 0), D, 0))
    edges = fitted(stored, spec("precomputed", radius=radius)).symmetric()
    np.testing.assert_allclose(edges.toarray(), stored.toarray(), rtol=1e-6)


def test_equal_rows_are_searched_once(X):
    near = fitted(np.vstack([X, X[:20]]), spec(), unique=True, compact=True)
    want = neighbors(X, K)
    np.testing.assert_array_equal(near.graph.indices, want.indices)
    np.testing.assert_array_equal(near.distinct.inverse, np.r_[np.arange(80), np.arange(20)])
    np.testing.assert_array_equal(near.rows.X, X)
    single = fitted(np.ones((4, 2)), spec(), unique=True)
    assert single.knn_graph is None and (single.n, single.k) == (1, 0)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_rows_that_come_later_join_the_fitted_ones(X, new, form):
    """As if all had been there from the start, in the order in which they came."""
    near = fitted(form(X), spec(), unique=True, compact=True)
    more = np.vstack([new, X[:5], new[:2]])
    found = FittedNeighbors.extended(near.rows, near.distinct, open_rows(form(more)), K, near.dtype)
    want = fitted(form(np.vstack([X, more])), spec(), unique=True, compact=True)
    np.testing.assert_array_equal(found.graph.indices, want.graph.indices)
    np.testing.assert_array_equal(found.graph.distances, want.graph.distances)
    np.testing.assert_array_equal(found.distinct.first, want.distinct.first)
    np.testing.assert_array_equal(found.distinct.inverse, want.distinct.inverse)


@pytest.mark.parametrize("precomputed", [False, True])
def test_fitted_rows_keep_their_positions_and_others_are_embedded_by_their_neighbors(X, new, precomputed, rng):
    positions = rng.normal(size=(len(X), 2)).astype(np.float32)

    def mean(found: Neighbors):
        return positions[found.indices].mean(axis=1)

    asked = np.vstack([X[7:3:-1], new])
    table = distances(asked, X) if precomputed else asked
    rows = fitted(distances(X, X) if precomputed else X, spec("precomputed" if precomputed else "euclidean")).rows
    Z = rows.embed(open_rows(table), positions, K, mean)
    np.testing.assert_array_equal(Z[:4], positions[7:3:-1])
    np.testing.assert_array_equal(Z[4:], mean(NeighborIndex(X).query(new, K)))


def test_the_index_is_kept_until_something_else_is_asked_for(X):
    owner = FeatureRecord()
    first = FittedRows.cached(owner, X, len(X), spec())
    assert FittedRows.cached(owner, X, len(X), spec()) is first and first.index is first.index
    assert FittedRows.cached(owner, X, len(X), spec(algorithm="exact")) is not first
    second = FittedRows.cached(owner, X, len(X), spec())
    assert FittedRows.cached(owner, X.copy(), len(X), spec()) is not second


def test_what_does_not_fit_is_refused(X, new):
    with pytest.raises(NotEnoughData, match="n_neighbors=6 needs a graph"):
        fitted(neighbors(X, 3), spec())
    with pytest.raises(BadInput, match="Graph of the 80 rows"):
        fitted(X, spec(), graph=neighbors(X[:50], K))
    with pytest.raises(BadInput, match="all rows at once"):
        fitted(iter([X]), spec())
    with pytest.raises(BadInput, match="fitted to a graph"):
        fitted(dataclasses.replace(neighbors(X, K), rows=None), spec()).rows.neighbors_of(FeatureRecord(), new)
    rows = fitted(distances(X, X), spec("precomputed")).rows
    with pytest.raises(BadInput, match="all 80 fitted rows"):
        rows.neighbors_of(FeatureRecord(), distances(new, X)[:, :40])
    with pytest.raises(BadInput, match="NaN"):
        fitted(np.where(X > 2, np.nan, X), spec(), graph=neighbors(X, K))
    for wrong in (Neighbors(np.array([[80]]), np.ones((1, 1))), Neighbors(np.zeros((1, 2), int), np.ones((1, 1)))):
        with pytest.raises(BadInput, match="neighbors of new rows"):
            rows.neighbors_of(FeatureRecord(), wrong)
    with pytest.raises(BadInput, match="finite and not negative"):
        rows.neighbors_of(FeatureRecord(), Neighbors(np.zeros((1, 1), int), -np.ones((1, 1))))


@pytest.mark.filterwarnings("ignore::lowdim.errors.LowdimWarning")
@pytest.mark.parametrize("model", [Isomap(), LaplacianEigenmaps(), LLE(), UMAP(n_epochs=5), TSNE(max_iter=5)], ids=repr)
def test_a_model_of_a_graph_knows_the_columns_of_its_rows(model, X):
    """Also for a dataframe, whose names are then asked for."""
    frame = pd.DataFrame(X, columns=["height", "width", "depth"])
    by_graph, by_rows = clone(model).fit(neighbors(frame, 79 if isinstance(model, TSNE) else 40)), clone(model)
    by_rows.set_params(**({"n_neighbors": 40} if isinstance(model, Isomap | LaplacianEigenmaps | LLE) else {}))
    by_rows.fit(frame)
    assert by_graph.feature_names_in_.tolist() == ["height", "width", "depth"] and by_graph.n_features_in_ == 3
    np.testing.assert_array_equal(by_graph.transform(frame[:9] + 0.1), by_rows.transform(frame[:9] + 0.1))
    with pytest.raises(ValueError, match="feature names"):
        by_graph.transform(frame[["width", "height", "depth"]])


@pytest.mark.filterwarnings("ignore::lowdim.errors.LowdimWarning")
@pytest.mark.parametrize("model", [UMAP(n_epochs=5), TSNE(max_iter=5)], ids=repr)
def test_fitted_rows_that_were_replaced_are_checked(model, X):
    sparse = sp.csr_array(np.where(X > 0, X, 0))
    fitted = pickle.loads(pickle.dumps(clone(model).fit(sparse)))
    for part, value in (("indptr", 10**8), ("indices", 10**8), ("indptr", -5)):
        wrong = sparse.copy()
        getattr(wrong, part)[-1] = value
        twin = pickle.loads(pickle.dumps(fitted))
        twin.X_fit_ = wrong
        with pytest.raises(BadInput, match="sparse X is damaged"):
            twin.transform(0.5 * sparse[:4])
