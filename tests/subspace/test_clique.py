"""CLIQUE against brute-force enumeration; its laws; grids, pruning and descriptions."""

from __future__ import annotations

from itertools import combinations, pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lowdim
from lowdim.errors import SearchTooLarge
from lowdim.subspace import CLIQUE, planted_clusters, scores
from lowdim.subspace._dense_units import connected_units, dense_units, join, mdl_cut, projected_supports
from lowdim.subspace._description import cover_boxes, describe_boxes, edge_texts
from lowdim.subspace._grid import adaptive_grid, uniform_grid


def brute_force(X, xi, tau):
    """Clusters as (dimensions, cells): all units of all subspaces counted, connected by depth-first search."""
    n = len(X)
    low, high = X.min(axis=0), X.max(axis=0)
    varying = np.flatnonzero(low < high)
    edges = {j: np.linspace(low[j], high[j], xi + 1) for j in varying}
    cell = {j: np.minimum(np.searchsorted(edges[j], X[:, j], side="right") - 1, xi - 1) for j in varying}
    found = set()
    for k in range(1, len(varying) + 1):
        for dims in combinations(varying.tolist(), k):
            counts = {}
            for row in zip(*(cell[j].tolist() for j in dims), strict=True):
                counts[row] = counts.get(row, 0) + 1
            dense = {unit for unit, count in counts.items() if count > tau * n}
            while dense:
                stack, cluster = [dense.pop()], set()
                while stack:
                    unit = stack.pop()
                    cluster.add(unit)
                    for axis, step in product(range(k), (-1, 1)):
                        beside = (*unit[:axis], unit[axis] + step, *unit[axis + 1 :])
                        if beside in dense:
                            dense.remove(beside)
                            stack.append(beside)
                found.add((dims, frozenset(cluster)))
    return found, cell


tables = st.tuples(st.integers(2, 40), st.integers(1, 4), st.integers(0, 10_000), st.integers(1, 4))


@given(tables, st.sampled_from([0.0, 0.05, 0.1, 0.3]))
def test_against_brute_force(shape, tau):
    n, d, seed, xi = shape
    X = np.random.default_rng(seed).integers(0, 6, (n, d)) / 4.0
    model = CLIQUE(xi, tau, redundancy=1.0).fit(X)
    expected, cell = brute_force(X, xi, tau)
    found = {}
    for cluster, boxes in zip(model.clusters_, model._state.boxes, strict=True):
        dims = tuple(cluster.dimensions.tolist())
        cells = frozenset(c for box in boxes for c in product(*(range(a, b + 1) for a, b in box)))
        found[dims, cells] = cluster
    assert set(found) == expected
    assert len(found) == len(model.clusters_)
    for (dims, cells), cluster in found.items():
        rows = [i for i in range(n) if tuple(int(cell[j][i]) for j in dims) in cells]
        np.testing.assert_array_equal(cluster.rows, rows)


@given(st.integers(0, 10_000), st.sampled_from(["uniform", "adaptive"]))
def test_apriori_law(seed, grid):
    """Every projection of a dense unit is dense, also where intervals have thresholds of their own."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(200, 4)) ** rng.integers(1, 4, 4)
    levels = []
    import lowdim.subspace.clique as module

    find = module.dense_units
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "dense_units", lambda *a, **k: levels.extend(find(*a, **k)) or levels)
        CLIQUE(5, 0.02, grid=grid, alpha=0.3).fit(X)
    assert len(levels) >= 2
    for lower, upper in pairwise(levels):
        known = {tuple(unit) for unit in lower.units.tolist()}
        for unit in upper.units.tolist():
            assert all(projection in known for projection in combinations(unit, len(unit) - 1))


def test_planted_clusters_on_the_uniform_grid():
    """10% noise: each planted cluster is found in exactly its dimensions, with an F1 of its rows of at least 0.9."""
    planted = planted_clusters(5000, 8, 3, 3, width=0.1, noise=0.1, random_state=1)
    model = CLIQUE(25, 0.003).fit(planted.X)
    for cluster in planted.clusters:
        same = [f for f in model.clusters_ if f.dimensions.tolist() == cluster.dimensions.tolist()]
        overlap = [len(np.intersect1d(f.rows, cluster.rows)) / (f.size + cluster.size) * 2 for f in same]
        assert max(overlap, default=0) >= 0.9


@pytest.mark.parametrize("seed", range(5))
def test_candidates_are_all_units_whose_projections_are_dense(seed):
    """The counts would be right with more candidates, but each of them costs a count."""
    rng = np.random.default_rng(seed)
    axis_of = np.repeat(np.arange(5), 2).astype(np.int32)  # two intervals of each of five columns
    units = [unit for unit in combinations(range(10), 3) if len({axis_of[i] for i in unit}) == 3]
    known = {unit for unit in units if rng.random() < 0.7}
    found = join(np.array(sorted(known), dtype=np.int32), axis_of, 10**6)
    wanted = [
        unit
        for unit in combinations(range(10), 4)
        if len({axis_of[i] for i in unit}) == 4 and all(part in known for part in combinations(unit, 3))
    ]
    assert 0 < len(wanted) < 80 and [tuple(unit) for unit in found.tolist()] == wanted


@pytest.mark.parametrize("seed", range(3))
def test_planted_clusters_on_the_adaptive_grid(seed):
    """10% noise: 3 clusters of 4 of 10 dimensions, found and nothing else."""
    planted = planted_clusters(10_000, 10, 3, 4, noise=0.1, random_state=seed)
    found = scores(CLIQUE(grid="adaptive").fit(planted.X), planted)
    assert found.f1 >= 0.9 and found.e4sc >= 0.9 and found.ce >= 0.85


def test_the_default_lists_what_stands_out():
    """Three clusters of 4 columns are planted; every one of them would also be dense along any of the other 6."""
    planted = planted_clusters(1000, 10, 3, 4, noise=0.1, random_state=0)
    model = CLIQUE().fit(planted.X)
    assert len(model.clusters_) <= 10 < len(CLIQUE(redundancy=1.0).fit(planted.X).clusters_) / 20
    want = {tuple(cluster.dimensions.tolist()) for cluster in planted.clusters}
    assert {tuple(cluster.dimensions.tolist()) for cluster in model.clusters_[:3]} == want


@pytest.mark.parametrize("grid", ["uniform", "adaptive"])
def test_uniform_rows_have_no_clusters(grid):
    X = np.random.default_rng(0).uniform(size=(2000, 6))
    assert CLIQUE(8, 0.01, grid=grid).fit(X).clusters_ == []


def test_rows_expected_by_chance():
    X = np.random.default_rng(0).integers(0, 3, (300, 3)) * 1.0
    model = CLIQUE(3, 0.0, redundancy=1.0)
    rows = model._read(X, fitting=True)
    grid = model._make_grid(rows)
    levels = dense_units(grid, model._bitmaps(rows, grid), prune=False, max_units=1000)
    for k in (1, 2, 3):
        supports, shares = projected_supports(levels, k, grid, 300)
        for unit, support, share in zip(levels[k - 1].units, supports, shares, strict=True):
            inside = [X[:, item // 3] == item % 3 for item in unit]
            for j in range(k):
                rest = np.logical_and.reduce(inside[:j] + inside[j + 1 :], initial=True)
                assert support[j] == (rest.sum() if k > 1 else 300)
                assert share[j] == pytest.approx(inside[j].mean() if k > 1 else 1 / 3)


def test_redundancy():
    planted = planted_clusters(1000, 6, 2, 3, random_state=3)
    everything = CLIQUE(10, 0.03, redundancy=1.0).fit(planted.X).clusters_
    some = CLIQUE(10, 0.03).fit(planted.X).clusters_
    assert {(c.dimensions.tobytes(), c.rows.tobytes()) for c in some} < {
        (c.dimensions.tobytes(), c.rows.tobytes()) for c in everything
    }
    covered = np.zeros((1000, 6), dtype=bool)
    for cluster in sorted(some, key=lambda c: (-len(c.dimensions), -c.size)):  # what is left says something new
        own = np.ix_(cluster.rows, cluster.dimensions)
        assert covered[own].mean() <= 0.5
        covered[own] = True
        assert cluster.size != 1000  # the whole range of a column


def test_projections_in_which_clusters_merge_are_left_out():
    """Clusters of all columns on a coarse grid: in fewer columns some of them share their units."""
    planted = planted_clusters(4000, 10, 4, 10, noise=0.1, random_state=0)
    model = CLIQUE(3, 0.01).fit(planted.X)
    assert len(model.clusters_) == 4 and scores(model, planted).f1 >= 0.95


def test_new_rows_outside_of_the_grid_are_in_no_cluster():
    X = np.repeat([[0.0, 0.0], [1.0, 1.0]], 20, axis=0)
    model = CLIQUE(2, 0.1).fit(X)
    assert model.labels_.min() == 0
    np.testing.assert_array_equal(model.predict([[-0.01, 0], [1.01, 1], [0.1, 0.2], [0.9, 0.1]]), [-1, -1, 0, -1])


def test_the_search_is_bounded():
    X = np.random.default_rng(0).uniform(size=(200, 12))
    with pytest.raises(SearchTooLarge, match="max_units=100"):
        CLIQUE(5, 0.0, max_units=100).fit(X)


def test_mdl_cuts_where_the_code_is_shortest():
    assert mdl_cut(np.array([1000.0, 990.0, 1010.0, 20.0, 25.0])) == 3
    assert mdl_cut(np.array([100.0, 100.0, 100.0])) == 3  # nothing stands out: nothing is dropped
    assert mdl_cut(np.array([7.0])) == 1
    coverages = np.array([64.0, 32.0, 2.0])
    lengths = {  # by hand: log2 of the means and of the differences from them, 0 bits for none
        1: np.log2(64) + 0 + np.log2(17) + np.log2(15) + np.log2(15),
        2: np.log2(48) + np.log2(16) + np.log2(16) + np.log2(2) + 0,
        3: np.log2(33) + np.log2(31) + np.log2(1) + np.log2(31),
    }
    assert mdl_cut(coverages) == min(lengths, key=lengths.get)


def test_mdl_keeps_the_planted_subspaces():
    planted = planted_clusters(2000, 8, 2, 3, noise=0.2, random_state=0)
    full, pruned = (CLIQUE(10, 0.02, mdl=mdl, redundancy=1.0).fit(planted.X) for mdl in (False, True))
    assert pruned.n_dense_units_[:2].sum() < full.n_dense_units_[:2].sum()
    kept = {tuple(c.dimensions) for c in pruned.clusters_}
    assert kept < {tuple(c.dimensions) for c in full.clusters_}


cells = st.sets(st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(0, 2)), min_size=1, max_size=40)


@given(cells)
def test_boxes_cover_exactly_the_cells_and_none_is_superfluous(given_cells):
    units = np.array(sorted(given_cells))
    boxes = cover_boxes(units)
    parts = [set(product(*(range(a, b + 1) for a, b in box))) for box in boxes.tolist()]
    assert set().union(*parts) == given_cells
    for i in range(len(parts)):
        assert set().union(*(parts[:i] + parts[i + 1 :])) != given_cells


def test_a_box_is_one_box():
    units = np.array(list(product(range(2, 5), range(1, 3))))
    assert cover_boxes(units).tolist() == [[[2, 4], [1, 2]]]


def test_boxes_of_many_dimensions_do_not_need_a_table():
    units = np.stack([np.zeros(12, dtype=int), np.full(12, 9)])
    assert len(cover_boxes(units)) == 2


def test_connected_units_share_faces_not_corners():
    axis_of = np.repeat(np.arange(3, dtype=np.int32), 6)

    def sets(cells, axes=(0, 1)):
        units = np.array(cells, dtype=np.int32) + 6 * np.array(axes, dtype=np.int32)
        return sorted(part.tolist() for part in connected_units(units, axis_of))

    assert sets([[0, 0], [0, 1], [1, 1], [1, 2], [5, 5]]) == [[0, 1, 2, 3], [4]]
    assert sets([[0, 0], [1, 1]]) == [[0], [1]]
    assert sets([[0, 5]]) == [[0]]  # the item after the last interval belongs to another column
    beside = np.array([[0, 11], [0, 12]], dtype=np.int32)
    assert len(connected_units(beside, axis_of)) == 2
    assert [part.tolist() for part in connected_units(np.array([[17]], dtype=np.int32), axis_of)] == [[0]]


def test_descriptions_are_in_the_units_of_the_columns():
    X = np.zeros((40, 2))
    X[:20] = [100, 0.001]
    X[20:] = [900, 0.009]
    table = lowdim.Table(X, ("alcohol", "ash"))
    first = CLIQUE(2, 0.1).fit(table).clusters_[0]
    assert first.description in (
        "100 ≤ alcohol < 500 ∧ 0.001 ≤ ash < 0.005",
        "500 ≤ alcohol ≤ 900 ∧ 0.005 ≤ ash ≤ 0.009",
    )
    assert str(first) == f"20 rows in {{alcohol, ash}}: {first.description}"
    boxes = np.array([[[0, 0]], [[2, 2]]])
    assert describe_boxes(boxes, ["a"], [["0", "1", "2", "3"]]) == "(0 ≤ a < 1) ∨ (2 ≤ a ≤ 3)"
    assert len(set(edge_texts(1e6 + np.linspace(0, 1e-3, 5)))) == 5
    assert edge_texts(np.linspace(278, 1680, 6))[3:] == ["1120", "1400", "1680"]  # without an exponent


@given(st.integers(0, 1000), st.integers(1, 30))
def test_uniform_grid_holds_every_value_once(seed, xi):
    X = np.random.default_rng(seed).normal(size=(50, 3)).round(2)
    grid = uniform_grid(X.min(axis=0), X.max(axis=0), xi, 0.1, 50)
    codes = grid.codes(X)
    for axis in range(3):
        edges = grid.edges[axis]
        inside = (X[:, axis] >= edges[codes[axis]]) & (X[:, axis] <= edges[codes[axis] + 1])
        assert inside.all() and codes[axis].min() >= 0 and codes[axis].max() < len(edges) - 1
    assert (grid.least == 6).all()  # more than a share of 0.1 of 50 rows


def test_adaptive_intervals_follow_the_histogram():
    histogram = np.array([[10, 11, 10, 100, 95, 9, 10, 11, 10, 10], [10] * 10])
    grid = adaptive_grid(np.zeros(2), np.ones(2), histogram, 4, 1.5, 0.5)
    np.testing.assert_allclose(grid.edges[0], [0, 0.3, 0.5, 1])
    np.testing.assert_allclose(grid.edges[1], [0, 0.25, 0.5, 0.75, 1])  # one height: equal parts
    np.testing.assert_array_equal(grid.least[:3], np.floor(1.5 * 276 * np.array([0.3, 0.2, 0.5])) + 1)
