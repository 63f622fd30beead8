"""The kernels of map quality against NumPy and SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kendalltau, rankdata, spearmanr

from determinism import assert_same_bits
from lowdim import _native
from lowdim.quality._rank_comparison import RankScale, compare_ranks, concordance, rank_rows, squared_sums
from lowdim.quality._shepard_correlation import weighted_correlations


def numpy_ranks(distances, own):
    """Ranks by a stable argsort, the row itself first."""
    ranks = np.empty(distances.shape, dtype=np.int32)
    for i, row in enumerate(distances):
        order = np.argsort(row, kind="stable")
        ranks[i, order[order != own[i]]] = np.arange(1, len(row))
        ranks[i, own[i]] = 0
    return ranks


def two_rankings(rng, b=7, n=300):
    own = rng.integers(0, n, b)
    parts = [rng.random((b, n)) for _ in range(2)]
    return own, *(numpy_ranks(part, own) for part in parts)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [2, 3, 49, 5000])
@pytest.mark.parametrize("kind", ["distinct", "ties", "constant", "signed"])
def test_ranks_and_nearest(rng, dtype, n, kind):
    d = {
        "distinct": lambda: rng.lognormal(0, 15, (9, n)).clip(0, 1e38),
        "ties": lambda: rng.integers(0, 4, (9, n)),
        "constant": lambda: np.zeros((9, n)),
        "signed": lambda: rng.choice([-0.0, 0.0, -1e-40, 1e-40, -3.0, np.inf], (9, n)),
    }[kind]().astype(dtype)
    own = rng.integers(0, n, 9)
    own[:2] = 0, n - 1
    k = min(n - 1, 6)
    ranks, nearest = rank_rows(d, own, k, 2)
    expected = numpy_ranks(d, own)
    np.testing.assert_array_equal(ranks, expected)
    np.testing.assert_array_equal(nearest, np.argsort(expected, axis=1)[:, 1 : k + 1])
    assert_same_bits(lambda threads: rank_rows(d, own, k, threads))


@pytest.mark.parametrize("k", [1, 15, 200, 298])
def test_sums_over_neighbors(rng, k):
    _, true, drawn = two_rankings(rng)
    scale = RankScale.of(300, k)
    sums, counts = compare_ranks(true, drawn, scale, 2)
    near, near_drawn = (true <= k) & (true > 0), (drawn <= k) & (drawn > 0)
    both, gap = np.maximum(true, drawn), np.abs(true - drawn)
    expected = [
        np.where(near_drawn, np.maximum(true - k, 0), 0).sum(axis=1),
        np.where(near, np.maximum(drawn - k, 0), 0).sum(axis=1),
        (near & near_drawn).sum(axis=1),
        scale.weights[both].sum(axis=1),
        np.where(near_drawn, gap / np.maximum(drawn, 1), 0.0).sum(axis=1),
        np.where(near, gap / np.maximum(true, 1), 0.0).sum(axis=1),
    ]
    np.testing.assert_allclose(sums, np.column_stack(expected), rtol=1e-12)
    np.testing.assert_array_equal(counts, np.stack([(both <= K).sum(axis=1) - 1 for K in scale.ks], axis=1))
    assert_same_bits(lambda threads: compare_ranks(true, drawn, scale, threads))


@pytest.mark.parametrize("n", [4, 49, 50, 51, 257, 5000])
def test_pairs_that_both_spaces_order_alike(rng, n):
    own, true, drawn = two_rankings(rng, 5, n)
    drawn[0], drawn[1] = true[0], (n - true[1]) % n  # the same order, and the reverse
    others = [np.flatnonzero(row) for row in true]
    expected = [(1 + kendalltau(t[o], d[o]).statistic) / 2 for t, d, o in zip(true, drawn, others, strict=True)]
    np.testing.assert_allclose(concordance(true, drawn, None, 2), expected, rtol=1e-12, atol=1e-14)
    partners = rng.integers(0, n - 1, (5, 256))
    partners += partners >= own[:, None]
    some = [np.unique(row) for row in partners]
    expected = [(1 + kendalltau(t[o], d[o]).statistic) / 2 for t, d, o in zip(true, drawn, some, strict=True)]
    np.testing.assert_allclose(concordance(true, drawn, partners, 2), expected, rtol=1e-12, atol=1e-14)
    partners[:, ::2] = own[:, None]  # the row itself is no partner
    some = [np.setdiff1d(row, [i]) for row, i in zip(partners, own, strict=True)]
    expected = [(1 + kendalltau(t[o], d[o]).statistic) / 2 for t, d, o in zip(true, drawn, some, strict=True)]
    np.testing.assert_allclose(concordance(true, drawn, partners, 1), expected, rtol=1e-12, atol=1e-14)


def test_a_row_without_pairs_is_as_by_chance(rng):
    _, true, drawn = two_rankings(rng, 2, 20)
    partners = np.full((2, 3), np.argmax(true[0]))
    assert concordance(true, drawn, partners, 1)[0] == 0.5


@pytest.mark.parametrize("types", [(np.float32, np.float32), (np.float32, np.float64), (np.float64, np.float32)])
@pytest.mark.parametrize("n", [2, 17, 1000])
def test_sums_of_squares(rng, types, n):
    d, flat = (rng.random((6, n)).astype(dtype) for dtype in types)
    own = rng.integers(0, n, 6)
    sums = squared_sums(d, flat, own, 2)
    a, b = (np.where(np.arange(n) == own[:, None], 0, part.astype(np.float64)) for part in (d, flat))
    np.testing.assert_allclose(sums, np.column_stack([(a * a).sum(1), (a * b).sum(1), (b * b).sum(1)]), rtol=1e-12)
    assert_same_bits(lambda threads: [squared_sums(d, flat, own, threads)])


def test_rank_correlations_repeat_pairs_as_weights_say(rng):
    true = rng.integers(0, 30, (40, 5)).astype(np.float32)
    drawn = true + rng.integers(0, 40, true.shape)
    weights = np.concatenate([np.ones((1, 40)), rng.multinomial(40, np.full(40, 1 / 40), size=9)])
    found = weighted_correlations(true, drawn, weights, 2)
    for value, counts in zip(found, weights.astype(int), strict=True):
        expected = spearmanr(np.repeat(true, counts, axis=0).ravel(), np.repeat(drawn, counts, axis=0).ravel())
        np.testing.assert_allclose(value, expected.statistic, rtol=1e-12)
    assert_same_bits(lambda threads: [weighted_correlations(true, drawn, weights, threads)])
    assert weighted_correlations(np.ones((3, 4)), rng.random((3, 4)), np.ones((1, 3)), 1)[0] == 0
    exact = np.corrcoef(rankdata(true), rankdata(drawn))[0, 1]
    np.testing.assert_allclose(found[0], exact, rtol=1e-12)


def test_numbers_of_neighbors_ascend_from_one(rng):
    _, true, drawn = two_rankings(rng, 2, 20)
    for ks in ([0, 3], [5, 3], [3, 20], [-1, 2]):
        with pytest.raises(ValueError, match=r"ascend|range"):
            _native.compare_ranks(true, drawn, np.ones(20), np.array(ks), 3, np.empty((2, 6)), np.empty((2, 2), int), 1)


def test_clusters_need_rows_and_numbers():
    distances = np.ones((4, 4), dtype=np.float32)
    distances[1, 2] = np.nan  # which has no order
    with pytest.raises(ValueError, match="distances must be numbers"):
        _native.hdbscan(distances, np.zeros(4, dtype=np.int32))
    empty, sums = np.empty((0, 0), dtype=np.float32), np.empty((1, 0))
    with pytest.raises(ValueError, match="there must be rows"):
        _native.group_distortions(
            empty, empty, np.empty((0, 3), dtype=np.int32), 1, 0.1, 1.0, 0, sums, sums.copy(), threads=1
        )
