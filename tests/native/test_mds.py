"""The kernels of maps of pairs, each beside its NumPy twin."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform
from sklearn.isotonic import isotonic_regression

from lowdim import _native

DTYPES = [np.float32, np.float64]
CLOSE = {np.float32: 2e-5, np.float64: 1e-12}


def cloud(n, k, dtype, seed=0):
    rng = np.random.default_rng(seed)
    y = np.ascontiguousarray(rng.standard_normal((k, n)).astype(dtype))
    targets = rng.uniform(0.1, 3, n * (n - 1) // 2).astype(dtype)
    weights = rng.uniform(0, 2, len(targets)).astype(dtype)
    weights[rng.random(len(weights)) < 0.2] = 0
    return y, targets, weights


def pulled_by_numpy(y, targets, weights, squared):
    """The sums over pairs, written down as the formula says."""
    points = y.T.astype(np.float64)
    d = squareform(pdist(points))
    wanted, w = squareform(targets.astype(np.float64)), squareform(weights.astype(np.float64))
    with np.errstate(divide="ignore", invalid="ignore"):
        factor = w * (d**2 - wanted**2) if squared else np.where(d > 0, w * wanted / d, 0)
    np.fill_diagonal(factor, 0)
    out = factor.sum(axis=1)[:, None] * points - factor @ points
    upper = np.triu_indices(len(points), 1)
    gaps = (d**2 - wanted**2 if squared else d - wanted)[upper]
    dw = w[upper] * d[upper]
    return out, (w[upper] @ gaps**2, dw @ d[upper], dw @ (d - wanted)[upper])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("squared", [False, True])
@pytest.mark.parametrize(("n", "k"), [(2, 1), (7, 2), (129, 3), (300, 2)])
def test_the_fused_pass_equals_its_twin(n, k, squared, dtype):
    y, targets, weights = cloud(n, k, dtype)
    for heavy in (None, weights):
        out = np.empty((n, k))
        sums = _native.stress_pass(y, targets, heavy, None, squared, out, 2)
        want, want_sums = pulled_by_numpy(y, targets, np.ones_like(targets) if heavy is None else heavy, squared)
        scale = np.abs(want).max() + 1
        np.testing.assert_allclose(out, want, atol=CLOSE[dtype] * scale * n)
        for got, wanted in zip(sums if not squared else sums[:1], want_sums, strict=False):
            assert got == pytest.approx(wanted, rel=CLOSE[dtype], abs=CLOSE[dtype] * n)


@pytest.mark.parametrize("n", [2, 3, 8, 9, 15, 16, 17, 18, 33, 127, 128, 129, 145, 300])
def test_flat_maps_in_single_precision_lose_nothing_by_their_shortcut(n):
    """Roots are estimated and mended once; rows end within a register; points in one place pull at nothing."""
    y, targets, _ = cloud(n, 2, np.float32, seed=n)
    y[:, 1] = y[:, 0]
    y[:, -1] *= 1e3
    out = np.empty((n, 2))
    sums = _native.stress_pass(y, targets, None, None, False, out, 1)
    want, want_sums = pulled_by_numpy(y, targets, np.ones_like(targets), False)
    np.testing.assert_allclose(out, want, atol=1e-5 * np.sqrt(n), rtol=3e-6)
    np.testing.assert_allclose(sums, want_sums, rtol=3e-6)


@pytest.mark.parametrize("dtype", DTYPES)
def test_slots_only_say_where_a_target_stands(dtype, rng):
    y, targets, weights = cloud(150, 2, dtype)
    ranking = _native.Ranking(rng.permutation(len(targets)).astype(np.int32), 150)
    slots = ranking.slots()
    shuffled = np.empty_like(targets)
    shuffled[slots] = targets
    plain, moved = np.empty((150, 2)), np.empty((150, 2))
    sums = _native.stress_pass(y, targets, weights, None, False, plain, 1)
    assert _native.stress_pass(y, shuffled, weights, ranking, False, moved, 1) == sums
    np.testing.assert_array_equal(plain, moved)
    ordered, scattered = np.empty_like(targets), np.empty_like(targets)
    _native.map_distances(y, None, ordered, 1)
    _native.map_distances(y, ranking, scattered, 2)
    np.testing.assert_array_equal(scattered[slots], ordered)
    np.testing.assert_allclose(ordered, pdist(y.T.astype(np.float64)), rtol=CLOSE[dtype])
    with pytest.raises(ValueError, match="as many pairs"):
        _native.map_distances(y[:, :-1].copy(), ranking, scattered, 1)


BUCKET = 2049 * 16


@pytest.mark.parametrize("n", [0, 1, 2, 129, 256, 257, 300])  # the last two have more than one bucket
def test_a_ranking_holds_ranks_in_buckets(n, rng):
    count = n * (n - 1) // 2
    order = rng.permutation(count).astype(np.int32)
    ranking = _native.Ranking(order, n)
    slots = ranking.slots()
    np.testing.assert_array_equal(np.sort(slots), np.arange(count))
    np.testing.assert_array_equal(slots[order], ranking.positions)
    np.testing.assert_array_equal(ranking.positions // BUCKET, np.arange(count) // BUCKET)
    i, j = np.triu_indices(n, 1)
    tile_by_tile = np.lexsort([j, i, j // 128, i // 128])
    for bucket in range(-(-count // BUCKET)):  # within one, the tiles go along
        assert (np.diff([s for s in slots[tile_by_tile] if s // BUCKET == bucket]) > 0).all()


@pytest.mark.parametrize(("order", "n"), [([0, 0, 1], 3), ([0, 1, 3], 3), ([-1, 0, 1], 3)])
def test_a_ranking_is_checked_once(order, n):
    with pytest.raises(ValueError, match="every pair once"):
        _native.Ranking(np.array(order, np.int32), n)


@pytest.mark.parametrize(("count", "n"), [(2, 3), (0, -1), (0, 2**40)])
def test_a_ranking_is_of_all_pairs(count, n):
    with pytest.raises(ValueError, match="one entry per pair"):
        _native.Ranking(np.arange(count, dtype=np.int32), n)


def test_a_ranking_outlives_its_maker_through_its_arrays():
    places = _native.Ranking(np.arange(990, dtype=np.int32), 45).positions
    np.testing.assert_array_equal(places, np.arange(990))
    assert not places.flags.writeable


def test_points_in_one_place_pull_nowhere():
    y = np.zeros((2, 5))
    out = np.empty((5, 2))
    sums = _native.stress_pass(y, np.ones(10), None, None, False, out, 1)
    assert sums == (10.0, 0.0, 0.0)
    assert not out.any()


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_line_is_the_loss(dtype):
    y, targets, weights = cloud(140, 2, dtype)
    p = cloud(140, 2, dtype, seed=1)[0]
    line = np.polynomial.Polynomial(_native.sstress_line(y, p, targets, weights, 2))
    for t in (-1.3, 0.0, 0.2, 2.0):
        moved = y.astype(np.float64) + t * p
        loss = pulled_by_numpy(moved, targets, weights, True)[1][0]
        assert line(t) == pytest.approx(loss, rel=50 * CLOSE[dtype])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("kernel", "name"), [(0, "euclidean"), (1, "cityblock"), (2, "chebyshev")])
def test_measures(kernel, name, dtype, rng):
    from scipy.spatial.distance import cdist

    X, Y = (rng.standard_normal((m, 37)).astype(dtype) for m in (70, 41))
    packed, table = np.empty(70 * 69 // 2, dtype), np.empty((41, 70), dtype)
    _native.pairwise_distances(X, kernel, kernel == 0, 2.0, packed, 2)
    _native.cross_distances(Y, X, kernel, kernel == 0, 2.0, table, 2)
    np.testing.assert_allclose(packed, 2 * pdist(X.astype(float), name), rtol=CLOSE[dtype])
    np.testing.assert_allclose(table, 2 * cdist(Y.astype(float), X.astype(float), name), rtol=CLOSE[dtype])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [1, 2, 127, 128, 129, 8191, 8193, 40_000])  # about the ends of runs and of blocks
def test_isotonic_regression(n, dtype, rng):
    trend = np.linspace(0, 3, n)
    for values in (rng.standard_normal(n), trend + 0.3 * rng.standard_normal(n), trend, trend[::-1].copy()):
        values = values.astype(dtype)
        weights = rng.uniform(0.1, 2, n).astype(dtype)
        for heavy in (None, weights):
            out = np.empty_like(values)
            squares = _native.isotonic_regression(values, heavy, None, 0.0, out, 2)
            mass = np.ones(n) if heavy is None else heavy.astype(float)
            want = isotonic_regression(values.astype(float), sample_weight=mass)
            np.testing.assert_allclose(out, want, atol=1e-6 if dtype == np.float32 else 1e-12)
            assert squares == pytest.approx(mass @ want**2, rel=1e-5, abs=1e-9)
            if squares > 0:
                assert _native.isotonic_regression(values, heavy, None, 3.0, out, 2) == squares
                assert mass @ out.astype(float) ** 2 == pytest.approx(3.0, rel=1e-5)


def test_values_without_weight_change_nothing():
    out = np.empty(6)
    _native.isotonic_regression(
        np.array([5.0, 1.0, 2.0, 9.0, 0.0, 3.0]), np.array([0.0, 1.0, 1.0, 0.0, 0.0, 1.0]), None, 0.0, out, 1
    )
    np.testing.assert_allclose(out[[1, 2, 5]], [1, 2, 3])
    assert (np.diff(out[1:]) >= 0).all()


def test_many_values_without_weight_are_as_if_they_were_not_there(rng):
    values, weights = np.linspace(0, 1, 30_000) + rng.standard_normal(30_000), rng.uniform(0.1, 1, 30_000)
    weights[rng.uniform(size=30_000) < 0.5] = 0
    weights[5_000:9_000] = 0  # whole runs, the rest of a block
    out, there = np.empty_like(values), weights > 0
    _native.isotonic_regression(values, weights, None, 0.0, out, 2)
    np.testing.assert_allclose(out[there], isotonic_regression(values[there], sample_weight=weights[there]), atol=1e-12)


def test_a_sequence_may_stand_in_any_order(rng):
    values, weights = rng.standard_normal(44_850), rng.uniform(0, 1, 44_850)
    ranking = _native.Ranking(rng.permutation(44_850).astype(np.int32), 300)
    places = ranking.positions
    plain, moved = np.empty_like(values), np.empty_like(values)
    squares = _native.isotonic_regression(values[places], weights[places], None, 0.0, plain, 2)
    assert _native.isotonic_regression(values, weights, ranking, 0.0, moved, 2) == squares
    np.testing.assert_array_equal(moved[places], plain)
    with pytest.raises(ValueError, match="as many pairs"):
        _native.isotonic_regression(values[1:], weights[1:], ranking, 0.0, moved[1:], 2)


def test_ties_are_put_in_order():
    values = np.array([4.0, 3.0, 2.0, 1.0, 9.0, 9.0])
    ranking = _native.Ranking(np.array([0, 1, 2, 3, 5, 4], np.int32), 4)
    values, other = values[np.argsort(ranking.slots())], ranking.copy()
    _native.sort_ties(np.array([0, 4]), np.array([3, 6]), values, ranking, 1)
    np.testing.assert_array_equal(ranking.positions, [2, 1, 0, 3, 4, 5])
    np.testing.assert_array_equal(other.positions, [0, 1, 2, 3, 5, 4])


def sgd_round_by_numpy(D, order, size, rate, pairs_of_blocks, y):
    """Two blocks of rows: in turn t, row i of one is paired with row i + t of the other."""
    y, stress = y.copy(), 0.0
    for a, b in pairs_of_blocks:
        left, right = order[a * size : (a + 1) * size], order[b * size : (b + 1) * size]
        for turn in range(size):
            for i in range(size):
                j = (i + turn) % size
                if i >= len(left) or j >= len(right):
                    continue
                gap = y[left[i]] - y[right[j]]
                d = np.linalg.norm(gap)
                stress += (D[left[i], right[j]] - d) ** 2
                step = rate * (D[left[i], right[j]] - d) / d * gap
                y[left[i]] += step
                y[right[j]] -= step
    return y, stress


def test_a_round_of_sgd_equals_its_twin(rng):
    X, y = rng.standard_normal((23, 5)), rng.standard_normal((23, 2))
    D, order = squareform(pdist(X)), rng.permutation(23).astype(np.int32)
    # four blocks of six (the last has five): round 1 of the circle pairs (3, 1) and (2, 0)
    want, stress = sgd_round_by_numpy(D, order, 6, 0.3, [(3, 1), (2, 0)], y)
    for source, kernel in ((X, 0), (D, -1)):
        got = y.copy()
        assert _native.mds_sgd_round(source, kernel, True, 1.0, order, 6, 0.3, 1, got, 2) == pytest.approx(stress)
        np.testing.assert_allclose(got, want, rtol=1e-10)


def test_the_rounds_take_every_pair_of_blocks_once(rng):
    """With a rate of zero nothing moves, and the rounds sum the stress of all pairs of different blocks."""
    X, y = rng.standard_normal((40, 5)), rng.standard_normal((40, 2))
    order = np.arange(40, dtype=np.int32)
    total = sum(_native.mds_sgd_round(X, 0, True, 1.0, order, 8, 0.0, r, y.copy(), 2) for r in range(5))
    apart = np.arange(40)[:, None] // 8 != np.arange(40)[None, :] // 8
    gaps = (squareform(pdist(X)) - squareform(pdist(y))) ** 2
    assert total == pytest.approx(gaps[apart].sum() / 2)


def test_bits_do_not_depend_on_threads():
    y, targets, weights = cloud(700, 2, np.float32)
    seen = set()
    for threads in (1, 2, 4, 8):
        out, fit = np.empty((700, 2)), np.empty_like(targets)
        sums = _native.stress_pass(y, targets, weights, None, False, out, threads)
        squares = _native.isotonic_regression(targets, weights, None, 0.0, fit, threads)
        seen.add((sums, squares, out.tobytes(), fit.tobytes()))
    assert len(seen) == 1


@pytest.mark.parametrize("dtype", DTYPES)
def test_long_passes_have_the_same_bits_too(dtype):
    """Above a million pairs other threads do the work, which sleep instead of spinning."""
    y, targets, _ = cloud(1500, 2, dtype)
    seen = set()
    for threads in (1, 2, 3, 8):
        out = np.empty((1500, 2))
        sums = _native.stress_pass(y, targets, None, None, False, out, threads)
        seen.add((out.tobytes(), sums))
    assert len(seen) == 1
    want, want_sums = pulled_by_numpy(y, targets, np.ones_like(targets), False)
    np.testing.assert_allclose(out, want, atol=CLOSE[dtype] * np.abs(want).max())
    np.testing.assert_allclose(sums, want_sums, rtol=CLOSE[dtype])
