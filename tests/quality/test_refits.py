"""What is found by fitting again: the null model, stability, singularity; and other kinds of original spaces."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.datasets import make_blobs

import lowdim
from lowdim import quality
from lowdim.errors import BadInput, BadParameter
from lowdim.quality._distance_source import read_source
from lowdim.quality._null import reliability, shuffled_columns
from lowdim.quality._stability import procrustes


@pytest.fixture(scope="module")
def blobs():
    return make_blobs(120, n_features=6, centers=3, random_state=0)


class RandomMap(TransformerMixin, BaseEstimator):
    """Another map in every fit, whatever the rows are."""

    def __init__(self, random_state=0):
        self.random_state = random_state

    def fit_transform(self, X, y=None):
        return np.random.default_rng(self.random_state).normal(size=(len(X), 2))


def test_reliability_is_the_correlation_of_sorted_map_distances(blobs):
    X, Z = blobs[0], blobs[0][:, :2]
    found = reliability(read_source(X, "euclidean", None, None, 1), Z, share=0.5, seed=0, threads=1)
    D, F = cdist(X, X), cdist(Z, Z)
    half = int(0.5 * 119)
    for i in (0, 3, 77):
        others = np.delete(np.arange(120), i)
        nearest = others[np.argsort(D[i, others])][:half]
        expected = np.corrcoef(F[i, nearest], np.sort(F[i, others])[:half])[0, 1]
        assert found[i] == pytest.approx(expected, abs=1e-9)
    whole = reliability(read_source(X, "euclidean", None, None, 1), X, share=0.5, seed=0, threads=1)
    np.testing.assert_allclose(whole, 1, atol=1e-9)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_shuffled_columns_keep_their_values_and_lose_their_relations(make):
    rng = np.random.default_rng(0)
    base = rng.integers(0, 3, size=(400, 1)) * rng.integers(0, 2, size=(400, 1))
    X = np.hstack([base, 2 * base, 5 * base]).astype(float)
    found = shuffled_columns(read_source(make(X), "euclidean", None, None, 1), 3)
    found = found.toarray() if sp.issparse(found) else found
    np.testing.assert_array_equal(np.sort(found, axis=0), np.sort(X, axis=0))
    assert abs(np.corrcoef(found.T)[0, 1]) < 0.2


def test_structure_is_trusted_and_noise_is_not(blobs):
    X, _ = blobs
    found = quality.null(lowdim.PCA(2), X, k=10)
    assert found.trusted.mean() > 0.8 and found.dubious.mean() < 0.05
    noise = np.random.default_rng(0).normal(size=(120, 6))
    none = quality.null(lowdim.PCA(2), noise, k=10)
    assert none.trusted.mean() < 0.25 and 0.2 < none.p_values.mean() < 0.8
    assert ((found.p_values > 0) & (found.p_values <= 1)).all()
    assert found.low == np.quantile(found.null_reliability, 0.05)
    q = quality.measure(X, lowdim.PCA(2).fit_transform(X), k=10, null=found)
    assert q["trustworthiness"].baselines["null"] == found.quality["trustworthiness"].value
    assert "shuffled columns" in q["trustworthiness"].words and "shuffled columns" in " ".join(q.point_words(0))
    with pytest.raises(BadInput, match="distances have none"):
        quality.null(lowdim.ClassicalMDS(metric="precomputed"), cdist(X, X))


def test_a_method_without_luck_is_stable_and_a_random_map_is_not(blobs):
    X, _ = blobs
    still = quality.stability(lowdim.PCA(2), X, runs=3, k=10)
    assert still.value == 1 and still.moved.sum() == 0 and still.displacement.max() < 1e-6
    assert still.distance_variation.max() < 1e-9 and still.point_words(0)[0] == "It moved in 0 of 3 reruns."
    wild = quality.stability(RandomMap(), X, runs=8, k=10)
    assert wild.value == pytest.approx(wild.chance, abs=0.03)
    assert (wild.moved == 8).mean() > 0.9 and wild.distance_variation.mean() > 0.1
    part = quality.stability(lowdim.PCA(2), X, runs=4, k=10, resample=0.5)
    assert part.present.sum() == 4 * 60 and 0.5 < part.value <= 1
    assert len(part.words()) == 2 and set(part.to_dict()["points"]) == set(part.point_values)


def test_the_variation_of_distances_is_their_variance_over_their_squared_mean(blobs):
    X = blobs[0][:30]
    found = quality.stability(RandomMap(), X, runs=5, k=5)
    D = np.stack([cdist(Z, Z) for Z in found.embeddings])
    ratio = D.var(axis=0) / np.where(np.eye(30, dtype=bool), 1, D.mean(axis=0) ** 2)
    np.testing.assert_allclose(found.distance_variation, ratio.sum(axis=1) / 29, rtol=1e-9)


def test_procrustes_undoes_motions_and_scale(rng):
    Z = rng.normal(size=(40, 3))
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    np.testing.assert_allclose(procrustes(Z, 5 * Z @ turn - 2), Z, atol=1e-9)


def test_singularity_of_fitted_models(blobs):
    X, _ = blobs
    scores = quality.singularity(lowdim.TSNE(perplexity=10, max_iter=300).fit(X))
    assert scores.shape == (120,) and (scores > 0).all() and np.isfinite(scores).mean() > 0.8
    scores = quality.singularity(
        lowdim.UMAP(n_epochs=50).fit(X)
    )  # not at a minimum of this loss, so that many are infinite
    assert scores.shape == (120,) and (scores > 0).all() and np.isfinite(scores).any()
    with pytest.raises(BadParameter, match="fitted TSNE or UMAP"):
        quality.singularity(lowdim.PCA(2).fit(X))


def test_values_of_points_go_into_the_obs_of_single_cells(blobs):
    X, _ = blobs
    q = quality.measure(X, X[:, :2], k=8, baselines=())
    cells = SimpleNamespace(obs=pd.DataFrame(index=[f"cell {i}" for i in range(120)]))
    q.add_to_obs(cells)
    np.testing.assert_array_equal(cells.obs["map_neighbor_recall"].to_numpy(), q.point_values["neighbor_recall"])
    with pytest.raises(BadInput, match="120 rows"):
        q.add_to_obs(SimpleNamespace(obs=cells.obs[:5]))


def test_no_word_claims_that_groups_are_real_or_grades_a_map(blobs):
    X, y = blobs
    Z = lowdim.PCA(2).fit_transform(X)
    q = quality.measure(X, Z, labels=y, k=8, null=quality.null(lowdim.PCA(2), X, k=8))
    said = " ".join([*q.words(), *q.verdict(), *q.group_words(), *(w for i in range(120) for w in q.point_words(i))])
    for word in ("real", "grade", "score of", "excellent", "good", "overall"):
        assert word not in said.lower(), word
    assert len(q.words()) == len(q) and all(word.endswith(".") for word in q.words())
