"""Measures of a map: oracles, laws, degenerate inputs."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist, pdist
from scipy.stats import spearmanr
from sklearn.datasets import make_blobs
from sklearn.manifold import trustworthiness

import lowdim
from lowdim import quality
from lowdim.errors import BadInput, NotEnoughData


@pytest.fixture(scope="module")
def blobs():
    X, y = make_blobs(100, n_features=10, centers=3, random_state=42)
    return X, y, lowdim.PCA(2).fit_transform(X)


@pytest.fixture(scope="module")
def q(blobs):
    X, y, Z = blobs
    return quality.measure(X, Z, labels=y, k=5)


def test_trustworthiness_and_continuity_are_scikit_learns(blobs, q):
    X, _, Z = blobs
    assert round(q["trustworthiness"].value, 2) == 0.92  # the example of its documentation
    assert q["trustworthiness"].value == pytest.approx(trustworthiness(X, Z, n_neighbors=5), abs=1e-12)
    assert q["continuity"].value == pytest.approx(trustworthiness(Z, X, n_neighbors=5), abs=1e-12)


def test_distances_agree_with_their_definitions(blobs, q):
    X, _, Z = blobs
    d, flat = pdist(X), pdist(Z)
    scale = (d @ flat) / (flat @ flat)
    assert q["stress"].value == pytest.approx(np.sqrt(((d - scale * flat) ** 2).sum() / (d @ d)), abs=1e-12)
    assert q["shepard_correlation"].value == pytest.approx(spearmanr(d, flat).statistic, abs=1e-12)


def test_r_nx_agrees_with_the_co_ranking_matrix(blobs, q):
    X, _, Z = blobs
    found = quality.co_ranking(X, Z)
    n = len(X)
    assert found.full and (found.matrix.sum(axis=0) == n).all() and (found.matrix.sum(axis=1) == n).all()
    K = np.arange(1, n - 1)
    curve = found.r_nx()
    assert q["r_nx_auc"].value == pytest.approx((curve / K).sum() / (1 / K).sum(), abs=1e-12)
    np.testing.assert_allclose(q.r_nx.values, curve[q.r_nx.ks - 1], atol=1e-12)
    assert q["r_nx"].value == pytest.approx(curve[4], abs=1e-12)


def test_triplets_are_those_of_all_rows(blobs, q):
    X, _, Z = blobs
    D, F = cdist(X, X), cdist(Z, Z)
    for i in (0, 17):
        others = np.delete(np.arange(len(X)), i)
        j, k = (others[side] for side in np.triu_indices(len(others), 1))
        right = ((D[i, j] < D[i, k]) == (F[i, j] < F[i, k])).mean()
        assert q.point_values["triplet_accuracy"][i] == pytest.approx(right, abs=1e-12)


def test_the_identity_is_best_after_any_rigid_motion_and_scale():
    X, y = make_blobs(60, n_features=3, centers=4, random_state=0)
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]
    for measure in quality.measure(X, 7 * X @ turn + 3, labels=y, k=6):
        if measure.name != "neighborhood_hit":
            assert measure.value == pytest.approx(measure.best, abs=1e-6), measure.name


def test_a_random_map_gains_nothing(q):
    assert abs(q["r_nx"].baselines["random"]) < 0.1 and abs(q["r_nx_auc"].baselines["random"]) < 0.1


def test_points_average_to_the_map(q):
    for measure in q:
        if measure.per_point and measure.name not in ("steadiness", "cohesiveness"):  # weighted means: test_groups.py
            assert q.point_values[measure.name].mean() == pytest.approx(measure.value, abs=1e-12), measure.name


def test_a_sample_agrees_with_all_rows_within_its_interval():
    X, _ = make_blobs(600, n_features=8, centers=5, random_state=1)
    Z = lowdim.PCA(2).fit_transform(X)
    exact, sampled = quality.measure(X, Z), quality.measure(X, Z, sample=200)
    for name in ("trustworthiness", "continuity", "neighbor_recall", "r_nx_auc", "stress", "triplet_accuracy"):
        reach = sampled[name].high - sampled[name].low
        assert exact[name].exact and not sampled[name].exact and 0 < reach < 0.1
        assert sampled[name].low - reach / 2 <= exact[name].value <= sampled[name].high + reach / 2, name


def test_same_bits_for_any_number_of_threads(blobs):
    X, y, Z = blobs
    one, two, four = (quality.measure(X, Z, labels=y, sample=40, n_jobs=jobs).to_dict() for jobs in (1, 2, 4))
    assert one == two == four


def test_precomputed_distances_and_graphs_give_the_same(blobs):
    X, _, Z = blobs
    plain = quality.measure(X, Z, k=5, baselines=())
    given = quality.measure(cdist(X, X), Z, k=5, metric="precomputed", baselines=())
    known = quality.measure(None, Z, k=5, graph=lowdim.neighbors(X, 5), baselines=())
    for measure in plain:
        assert given[measure.name].value == pytest.approx(measure.value, abs=1e-9)
        assert known[measure.name].value == pytest.approx(measure.value, abs=1e-9)


def test_what_cannot_be_measured_is_an_error_by_name(blobs):
    X, _, Z = blobs
    with pytest.raises(BadInput, match="99 rows, but X has 100"):
        quality.measure(X, Z[1:])
    with pytest.raises(NotEnoughData, match="at most 98"):
        quality.measure(X, Z, k=99)
    with pytest.raises(NotEnoughData, match="at least 4"):
        quality.measure(X[:3], Z[:3])
    with pytest.raises(BadInput, match="constant"):
        quality.measure(X, np.ones((100, 2)))
    with pytest.raises(BadInput, match="NaN"):
        quality.measure(X, np.where(np.arange(100)[:, None] == 3, np.nan, Z))


def test_singularity_is_the_hessian_of_the_loss():
    """Of t-SNE and UMAP, by central differences of the losses themselves, in one point."""
    import scipy.sparse as sp

    from lowdim.quality._singularity import tsne_hessians, umap_hessians

    rng = np.random.default_rng(0)
    Z, P = rng.normal(size=(12, 2)), rng.random((12, 12))
    P = np.triu(P, 1) + np.triu(P, 1).T

    def kl(Y, dof):
        W = (1 + cdist(Y, Y, "sqeuclidean") / dof) ** (-(dof + 1) / 2)
        np.fill_diagonal(W, 0)
        off = ~np.eye(12, dtype=bool)
        return (joint[off] * np.log(joint[off] / (W / W.sum())[off])).sum()

    def cross_entropy(Y, a, b, gamma):
        i, j = np.triu_indices(12, 1)
        phi = 1 / (1 + a * cdist(Y, Y, "sqeuclidean")[i, j] ** b)
        return -(P[i, j] * np.log(phi) + gamma * (1 - P[i, j]) * np.log(1 - phi)).sum()

    joint = P / P.sum()
    for dof in (1.0, 2.5):
        H = tsne_hessians(sp.csr_array(joint), Z, dof, 1)
        np.testing.assert_allclose(H[4], _differences(lambda Y, v=dof: kl(Y, v), Z, 4), atol=1e-6)
    H = umap_hessians(sp.csr_array(P), Z, 1.6, 0.9, 0.7, 1)
    np.testing.assert_allclose(
        H[4], _differences(lambda Y: cross_entropy(Y, 1.6, 0.9, 0.7), Z, 4), rtol=1e-4, atol=1e-4
    )


def _differences(loss, Z, i, h=1e-4):
    out = np.empty((2, 2))
    for a in range(2):
        for b in range(2):
            total = 0.0
            for s, t in ((1, 1), (1, -1), (-1, 1), (-1, -1)):
                Y = Z.copy()
                Y[i, a] += s * h
                Y[i, b] += t * h
                total += s * t * loss(Y)
            out[a, b] = total / (4 * h * h)
    return out


def test_a_pair_counts_as_often_as_its_row(rng):
    from lowdim.quality._shepard_correlation import weighted_correlations

    true, drawn = rng.integers(0, 9, size=(2, 12, 7)).astype(np.float64)
    times = rng.integers(0, 4, size=(3, 12))
    expected = [spearmanr(np.repeat(true, t, axis=0).ravel(), np.repeat(drawn, t, axis=0).ravel())[0] for t in times]
    np.testing.assert_allclose(weighted_correlations(true, drawn, times.astype(np.float64), 2), expected)
