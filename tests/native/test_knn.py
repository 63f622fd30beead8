"""The native steps of the neighbor search against NumPy twins."""

from __future__ import annotations

import numpy as np
import pytest

from lowdim import _native
from lowdim.knn.exact import EMPTY, NeighborLists
from subprocesses import run_python

SUMS = {
    0: lambda a, b: ((a - b) ** 2).sum(-1),
    1: lambda a, b: np.abs(a - b).sum(-1),
    2: lambda a, b: np.abs(a - b).max(-1),
}


def nearest(D, k, selves=None):
    """The k smallest of each row, equal ones by index."""
    D = np.array(D, dtype=np.float32)
    if selves is not None:
        D[np.arange(len(D)), selves] = np.inf
    order = np.argsort(D, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(D, order, axis=1), order


def pairs(metric, a, b):
    return SUMS[metric](a[:, None].astype(float), b[None].astype(float))


@pytest.mark.parametrize("metric", [0, 1, 2])
@pytest.mark.parametrize(("n", "d"), [(2, 1), (31, 3), (97, 16), (1000, 17), (2000, 5)])
def test_tournament_finds_the_nearest_of_all_pairs(rng, metric, n, d):
    # Whole numbers: every sum is exact in float32, so even the many ties must come out by index.
    x = rng.integers(-4, 5, size=(n, d)).astype(np.float32)
    k = min(7, n - 1)
    lists = NeighborLists.empty(n, k)
    for turn in range(_native.all_pairs_round_count(n, d, k)):
        _native.all_pairs_round(x, None, metric, turn, lists.distances, lists.indices, 2)
    distances, indices = nearest(pairs(metric, x, x), k, np.arange(n))
    assert np.array_equal(lists.indices, indices)
    assert np.array_equal(lists.distances, distances)


def test_long_lists_make_small_blocks():
    """Ctrl-C waits for a pair of blocks; with 960 rows and lists of 500 it took half a second."""
    assert _native.all_pairs_round_count(9600, 4, 15) == 10
    assert _native.all_pairs_round_count(9600, 4, 500) == 100
    assert _native.all_pairs_round_count(9600, 4, 5000) == 100


@pytest.mark.parametrize("k", [150, 600])
def test_small_blocks_find_the_same(rng, k):
    x = rng.integers(-4, 5, size=(1300, 5)).astype(np.float32)
    lists = NeighborLists.empty(len(x), k)
    for turn in range(_native.all_pairs_round_count(*x.shape, k)):
        _native.all_pairs_round(x, None, 0, turn, lists.distances, lists.indices, 2)
    distances, indices = nearest(pairs(0, x, x), k, np.arange(len(x)))
    assert np.array_equal(lists.indices, indices)
    assert np.array_equal(lists.distances, distances)


@pytest.mark.parametrize("teams", [2, 4, 6, 8, 74])
def test_in_a_round_every_block_plays_once_and_in_all_every_pair_does(teams):
    rounds = [[_native.round_robin_pair(teams, r, m) for m in range(teams // 2)] for r in range(teams - 1)]
    for matches in rounds:  # two threads must never hold the lists of one block
        assert sorted(team for match in matches for team in match) == list(range(teams))
    met = {frozenset(match) for matches in rounds for match in matches}
    assert len(met) == teams * (teams - 1) // 2


def test_rounds_compare_all_pairs_of_an_odd_number_of_blocks():
    # Wide rows make small blocks, so that the schedule has an odd number of them.
    rng = np.random.default_rng(1)
    x = rng.integers(-2, 3, size=(96 * 7 - 5, 12000)).astype(np.float32)
    k = 40
    lists = NeighborLists.empty(len(x), k)
    rounds = _native.all_pairs_round_count(*x.shape, k)
    assert rounds == 8
    for turn in range(rounds):
        _native.all_pairs_round(x, None, 0, turn, lists.distances, lists.indices, 2)
    wide = x.astype(float)
    squares = (wide**2).sum(1)
    D = squares[:, None] + squares - 2 * wide @ wide.T
    distances, indices = nearest(D, k, np.arange(len(x)))
    assert np.array_equal(lists.indices, indices)
    assert np.array_equal(lists.distances, distances)


@pytest.mark.parametrize("metric", [0, 1, 2])
@pytest.mark.parametrize("m", [1, 33, 1500])
def test_queries_scan_the_whole_base(rng, metric, m):
    base = rng.integers(-4, 5, size=(2100, 6)).astype(np.float32)
    queries = rng.integers(-4, 5, size=(m, 6)).astype(np.float32)
    lists = NeighborLists.empty(m, 9)
    shift = np.array([1, 2, 3, 4, 5, 6], dtype=np.float32)
    _native.exact_queries(queries, None, base, shift, metric, lists.distances, lists.indices, 2)
    distances, indices = nearest(pairs(metric, queries, base), 9)
    assert np.array_equal(lists.indices, indices)
    assert np.array_equal(lists.distances, distances)


def test_equal_rows_are_at_distance_zero_whatever_they_hold(rng):
    x = np.repeat(rng.normal(1e4, 1, size=(50, 37)).astype(np.float32), 4, axis=0)
    lists = NeighborLists.empty(200, 3)
    for turn in range(_native.all_pairs_round_count(*x.shape, 3)):
        _native.all_pairs_round(x, x.mean(0), 0, turn, lists.distances, lists.indices, 1)
    assert (lists.distances == 0).all()
    assert (lists.indices // 4 == np.arange(200)[:, None] // 4).all()


def test_probing_compares_with_the_members_of_the_cell_only(rng):
    x = rng.integers(-9, 10, size=(300, 4)).astype(np.float32)
    cell = rng.integers(0, 5, size=300)
    asks = rng.integers(0, 5, size=300)
    order = lambda of: np.argsort(of, kind="stable").astype(np.int32)  # noqa: E731
    ends = lambda of: np.concatenate([[0], np.cumsum(np.bincount(of, minlength=5))])  # noqa: E731
    lists = NeighborLists.empty(300, 6)
    _native.probe_cells(
        x,
        order(asks),
        ends(asks),
        x,
        order(cell),
        ends(cell),
        True,
        None,
        0,
        lists.distances,
        lists.indices,
        2,
    )
    D = pairs(0, x, x)
    D[asks[:, None] != cell[None]] = np.inf
    distances, indices = nearest(D, 6, np.arange(300))
    assert np.array_equal(lists.distances, distances)
    assert np.array_equal(lists.indices, np.where(np.isinf(distances), EMPTY, indices))


@pytest.mark.parametrize("metric", [0, 1, 2])
@pytest.mark.parametrize(("n", "k", "d", "center"), [(60, 4, 19, 0), (60, 4, 1, 0), (90, 20, 33, 0), (60, 7, 8, 1000)])
def test_descent_offers_every_pair_that_has_a_neighbor_in_common(rng, metric, n, k, d, center):
    # Far from the origin, too: products of rows cancel there, unless they are taken relative to a member of the group.
    x = (center + rng.normal(size=(n, d))).astype(np.float32)
    D = pairs(metric, x, x)
    start = np.array([rng.choice(np.delete(np.arange(n), i), k, replace=False) for i in range(n)], dtype=np.int32)
    far = np.take_along_axis(D, start, axis=1).astype(np.float32)
    by = np.argsort(far, axis=1, kind="stable")
    lists = NeighborLists(np.take_along_axis(far, by, 1), np.take_along_axis(start, by, 1))
    offered = [set(row) for row in start]
    for i in range(n):
        party = set(start[i]) | set(np.flatnonzero((start == i).any(axis=1)))
        for a in party:
            offered[a] |= party - {a}
    fresh = np.ones((n, k), dtype=np.uint8)
    order = rng.permutation(n).astype(np.int32)
    # One round is done in passes; all of them see the lists of the start, so nothing more is offered.
    _native.nn_descent_round(x, order, metric, lists.distances, lists.indices, fresh, 0, 0, k, n, 2)
    for i in range(n):
        expected = sorted(offered[i], key=lambda j: D[i, j])[:k]
        found = lists.indices[i]
        assert len(set(found)) == k  # distances that differ by a rounding error may change places
        assert np.allclose(D[i, found], D[i, expected], rtol=1e-5, atol=1e-5)
        assert np.allclose(lists.distances[i], D[i, expected], rtol=1e-5, atol=1e-5)


def test_descent_sees_equal_rows_at_distance_zero(rng):
    x = np.repeat(rng.normal(1e3, 1, size=(30, 37)).astype(np.float32), 4, axis=0)
    start = (np.arange(120)[:, None] + [2, 3, 5, 7]).astype(np.int32) % 120
    far = ((x[:, None] - x[start]) ** 2).sum(-1)
    by = np.argsort(far, axis=1, kind="stable")
    lists = NeighborLists(np.take_along_axis(far, by, 1), np.take_along_axis(start, by, 1))
    fresh, order = np.ones((120, 4), dtype=np.uint8), np.arange(120, dtype=np.int32)
    for turn in range(6):
        _native.nn_descent_round(x, order, 0, lists.distances, lists.indices, fresh, 0, turn, 4, 20, 2)
    assert (lists.distances[:, :3] == 0).all()
    assert (lists.distances[:, 3] > 0).all()


def test_descent_marks_what_is_new_and_only_that(rng):
    x = rng.normal(size=(80, 5)).astype(np.float32)
    D = pairs(0, x, x)
    start = np.array([np.delete(np.arange(80), i)[:5] for i in range(80)], dtype=np.int32)
    far = np.take_along_axis(D, start, axis=1).astype(np.float32)
    by = np.argsort(far, axis=1, kind="stable")
    lists = NeighborLists(np.take_along_axis(far, by, 1), np.take_along_axis(start, by, 1))
    fresh = np.ones((80, 5), dtype=np.uint8)
    order = np.arange(80, dtype=np.int32)
    changed = _native.nn_descent_round(x, order, 0, lists.distances, lists.indices, fresh, 0, 0, 5, 5, 1)
    new = (lists.indices[:, :, None] != start[:, None, :]).all(axis=2)
    assert np.array_equal(fresh == 1, new)
    assert changed >= new.sum() > 0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("metric", [0, 1, 2])
def test_refining_measures_in_double_precision(rng, dtype, metric):
    base = (1e3 + rng.normal(size=(70, 13))).astype(dtype)
    queries = (1e3 + rng.normal(size=(20, 13))).astype(dtype)
    candidates = np.array([rng.permutation(70)[:30] for _ in range(20)], dtype=np.int32)
    candidates[:, 7] = EMPTY
    out = NeighborLists.empty(20, 5)
    _native.refine_candidates(queries, base, candidates, None, metric, True, 2.0, out.distances, out.indices, 2)
    D = np.full((20, 70), np.inf)
    allowed = [c[c != EMPTY] for c in candidates]
    for i, some in enumerate(allowed):
        D[i, some] = 2 * np.sqrt(pairs(metric, queries[i : i + 1], base[some])[0])
    distances, indices = nearest(D, 5)
    assert np.array_equal(out.indices, indices)
    assert np.allclose(out.distances, distances, rtol=2e-7)
    again, order = NeighborLists.empty(20, 5), rng.permutation(20).astype(np.int32)
    _native.refine_candidates(
        queries, base, candidates, None, metric, True, 2.0, again.distances, again.indices, 2, order=order
    )
    assert np.array_equal(again.indices, out.indices)
    assert np.array_equal(again.distances, out.distances)


@pytest.mark.parametrize("d", [1, 16, 37, 70])
@pytest.mark.parametrize("metric", [0, 1, 2])
def test_remeasuring_chooses_among_the_candidates(rng, metric, d):
    x = rng.integers(-5, 6, size=(60, d)).astype(np.float32)
    candidates = np.array([rng.permutation(np.delete(np.arange(60), i))[:20] for i in range(60)], dtype=np.int32)
    candidates[:, 3] = EMPTY
    lists = NeighborLists.empty(60, 6)
    order = rng.permutation(60).astype(np.int32)
    _native.score_candidates(x, order, candidates, metric, lists.distances, lists.indices, 2)
    D, masked = pairs(metric, x, x), np.full((60, 60), np.inf)
    for i, some in enumerate(candidates):
        masked[i, some[some != EMPTY]] = D[i, some[some != EMPTY]]
    distances, indices = nearest(masked, 6)
    assert np.array_equal(lists.indices, indices)
    assert np.array_equal(lists.distances, distances)


def walked(D, graph, start, k):
    """Ask the nearest row that has not been asked yet, until all of the k nearest seen have been."""
    seen, asked = {start}, set()
    while True:
        best = sorted(seen, key=lambda j: (D[j], j))[:k]
        waiting = [j for j in best if j not in asked]
        if not waiting:
            return best
        asked.add(waiting[0])
        seen |= set(graph[waiting[0]])


def test_walking_the_graph_asks_the_nearest_first(rng):
    base = rng.normal(size=(500, 6)).astype(np.float32)
    queries = rng.normal(size=(40, 6)).astype(np.float32)
    graph = nearest(pairs(0, base, base), 12, np.arange(500))[1].astype(np.int32)
    lists = NeighborLists.empty(40, 20)
    lists.indices[:, 0] = 3
    lists.distances[:, 0] = pairs(0, queries, base[3:4])[:, 0]
    _native.graph_search_queries(queries, base, graph, 0, lists.distances, lists.indices, 2)
    D = pairs(0, queries, base)
    for i in range(40):
        expected = walked(D[i], graph, 3, 20)
        assert lists.indices[i, : len(expected)].tolist() == expected
    assert np.allclose(np.take_along_axis(pairs(0, queries, base), lists.indices, 1), lists.distances, rtol=1e-5)


def test_selecting_from_given_distances(rng):
    block = rng.integers(0, 9, size=(30, 200)).astype(np.float32)
    selves = rng.integers(0, 200, size=30).astype(np.int32)
    lists = NeighborLists.empty(30, 11)
    _native.select_nearest(block, selves, 0, lists.distances, lists.indices)
    distances, indices = nearest(block, 11, selves)
    assert np.array_equal(lists.indices, indices)
    assert np.array_equal(lists.distances, distances)


@pytest.mark.parametrize("isa", ["baseline", "avx2", "avx512"])
def test_lists_of_any_length_keep_their_order(isa):
    code = """
        import numpy as np
        from lowdim import _native
        from lowdim.knn.exact import NeighborLists
        rng = np.random.default_rng(2)
        block = rng.integers(0, 40, size=(20, 90)).astype(np.float32)
        order = np.argsort(block, axis=1, kind="stable")
        for k in (*range(1, 51), 90):
            around = NeighborLists.empty(22, k)  # the lists lie between others, which must not change
            lists = around[1:-1]
            for half in (45, 0):  # the later columns first, so that ties come in either order
                part = np.ascontiguousarray(block[:, half : half + 45])
                _native.select_nearest(part, None, half, lists.distances, lists.indices)
            assert np.array_equal(lists.indices, order[:, :k]), k
            assert np.array_equal(lists.distances, np.take_along_axis(block, order[:, :k], 1)), k
            assert np.isinf(around.distances[[0, -1]]).all(), k
    """
    run_python(code, LOWDIM_ISA=isa)


def test_indices_out_of_range_are_refused(rng):
    x = rng.normal(size=(10, 3)).astype(np.float32)
    lists = NeighborLists.empty(10, 2)
    with pytest.raises(ValueError, match="out of range"):
        _native.refine_candidates(
            x, x, np.full((10, 2), 10, dtype=np.int32), None, 0, True, 1.0, lists.distances, lists.indices, 1
        )
    with pytest.raises(ValueError, match="no such round"):
        _native.all_pairs_round(x, None, 0, 99, lists.distances, lists.indices, 1)
