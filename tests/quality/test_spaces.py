"""One space in several forms gives one quality: rows, sparse rows, distances, graphs; by other metrics too."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist, pdist, squareform
from scipy.stats import spearmanr
from sklearn.manifold import trustworthiness

import lowdim
from lowdim import quality
from lowdim.errors import BadInput, BadParameter, NotEnoughData

K = 6


@pytest.fixture(scope="module")
def rows():
    """Three groups in twelve columns, nearly half of whose values are zero, and a map of them."""
    rng = np.random.default_rng(0)
    X = np.maximum(rng.normal(size=(120, 12)) + 2 * np.eye(3, 12)[rng.integers(0, 3, 120)], 0)
    X[:, 11] += 0.5  # no two rows are at right angles: ties are decided by rounding
    return X, lowdim.PCA(2).fit_transform(X)


FORMS = {  # arguments of `measure`
    "sparse rows": lambda X, metric: ((sp.csr_array(X),), {"metric": metric}),
    "sparse columns": lambda X, metric: ((sp.csc_matrix(X),), {"metric": metric}),
    "distances": lambda X, metric: ((squareform(pdist(X, metric)),), {"metric": "precomputed"}),
    "a graph that knows its rows": lambda X, metric: ((None,), {"graph": lowdim.neighbors(X, K + 2, metric=metric)}),
    "a graph of sparse rows": lambda X, metric: (
        (None,),
        {"graph": lowdim.neighbors(sp.csr_array(X), K, metric=metric)},
    ),
    "rows and a graph": lambda X, metric: ((X,), {"metric": metric, "graph": lowdim.neighbors(X, K, metric=metric)}),
}


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("sample", [None, 50], ids=["all rows", "a sample"])
def test_every_form_gives_the_same(rows, metric, sample):
    X, Z = rows
    plain = quality.measure(X, Z, k=K, metric=metric, baselines=(), sample=sample)
    for name, form in FORMS.items():
        given, options = form(X, metric)
        found = quality.measure(*given, Z, k=K, baselines=(), sample=sample, **options)
        assert list(found.measures) == list(plain.measures)
        for measure in plain:
            assert found[measure.name].value == pytest.approx(measure.value, abs=2e-5), (name, measure.name)
        for measure, values in plain.point_values.items():
            np.testing.assert_allclose(found.point_values[measure], values, atol=1e-4, err_msg=f"{name}: {measure}")
        np.testing.assert_array_equal(found.true_neighbors, plain.true_neighbors, name)


def test_other_metrics_agree_with_their_definitions(rows):
    X, Z = rows
    D, drawn = cdist(X, X, "cosine"), pdist(Z)
    found = quality.measure(X, Z, k=K, metric="cosine", baselines=())
    np.fill_diagonal(D, 0)
    true = squareform(D, checks=False)
    assert found["trustworthiness"].value == pytest.approx(
        trustworthiness(D, Z, n_neighbors=K, metric="precomputed"), abs=1e-9
    )
    assert found["shepard_correlation"].value == pytest.approx(spearmanr(true, drawn).statistic, abs=1e-9)
    scale = (true @ drawn) / (drawn @ drawn)
    assert found["stress"].value == pytest.approx(
        np.sqrt(((true - scale * drawn) ** 2).sum() / (true @ true)), abs=1e-6
    )
    order = np.argsort(D + 9 * np.eye(len(D)), axis=1, kind="stable")[:, :K]
    np.testing.assert_array_equal(found.true_neighbors, order)


def test_rows_that_were_not_sampled_have_the_neighbors_of_the_graph(rows):
    X, Z = rows
    indices = (np.arange(120)[:, None] + np.arange(1, K + 1)) % 120
    made = lowdim.Graph(indices, np.tile(np.arange(1.0, K + 1), (120, 1)))
    found = quality.measure(X, Z, k=K, graph=made, baselines=(), sample=30)
    np.testing.assert_array_equal(found.true_neighbors, indices)


def test_graphs_that_do_not_fit_are_errors_by_name(rows):
    X, Z = rows
    with pytest.raises(BadParameter, match="'cosine', and quality measures by metric='euclidean'"):
        quality.measure(X, Z, k=K, graph=lowdim.neighbors(X, K, metric="cosine"))
    with pytest.raises(NotEnoughData, match="6 neighbors per row, and k is 7"):
        quality.measure(X, Z, k=K + 1, graph=lowdim.neighbors(X, K))
    with pytest.raises(BadInput, match="120 rows, but the graph has 119"):
        quality.measure(X, Z, k=K, graph=lowdim.neighbors(X[1:], K))
    for X_or_none in (X, None):
        with pytest.raises(BadParameter, match="must be a lowdim Graph"):
            quality.measure(X_or_none, Z, k=K, graph=np.eye(120))
    with pytest.raises(BadInput, match="the original rows"):
        quality.measure(None, Z, k=K)
    with pytest.raises(BadInput, match="holds some of them"):
        quality.measure(sp.csr_array(cdist(X, X)), Z, k=K, metric="precomputed")
    with pytest.raises(BadInput, match="square"):
        quality.measure(X, Z, k=K, metric="precomputed")


@pytest.mark.parametrize("unit", [1e-300, 1e-200, 1e200, 1e305])
def test_the_unit_of_a_map_changes_nothing(rows, unit):
    X, Z = rows
    labels = np.arange(len(X)) % 3
    plain, scaled = (quality.measure(X, map_, k=K, labels=labels).measures for map_ in (Z, Z / np.abs(Z).max() * unit))
    for name, measure in plain.items():
        assert scaled[name].value == pytest.approx(measure.value, abs=1e-9), name


def test_huge_distances_have_the_stress_of_small_ones(rows):
    X, Z = rows
    D = squareform(pdist(X))
    plain, huge = (quality.measure(given, Z, k=K, metric="precomputed").measures for given in (D, D * 1e300))
    assert huge["stress"].value == pytest.approx(plain["stress"].value, abs=1e-9)


def test_rows_at_one_place_give_finite_values(rows):
    Z = rows[1]
    found = quality.measure(np.full((len(Z), 3), 100, np.uint8), Z, k=K, labels=np.arange(len(Z)) % 3).measures
    assert all(np.isfinite(measure.value) for measure in found.values())
    assert found["stress"].value == 1  # no scale of the map explains anything
