"""What the native module asks of the arrays it is given: an index out of range is an error, never a crash."""

from __future__ import annotations

import numpy as np
import pytest

from lowdim import _native
from native_calls import (
    CALLS,
    CONVERTED,
    FREE,
    INDICES,
    NO_INDICES,
    PLAIN,
    STARTS,
    affinities,
    graph,
    inverted_index,
    lists,
    numbers,
    ring,
)

STRETCH = 1 << 18  # indices that one thread looks at at once


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("bad", [-1, 1000, 2**31 - 1, -(2**31)])
@pytest.mark.parametrize("place", [0, STRETCH - 1, STRETCH, 2 * STRETCH + 76])
def test_one_wrong_index_anywhere_is_found(rng, threads, bad, place):
    columns = rng.integers(0, 1000, 2 * STRETCH + 77).astype(np.int32)
    columns[:2] = 0, 999
    starts = np.linspace(0, len(columns), 1001).astype(np.int64)
    values = np.ones(len(columns), dtype=np.float32)
    _native.AffinityMatrix(starts, columns, values, threads)
    columns[place] = bad
    with pytest.raises(ValueError, match="out of range"):
        _native.AffinityMatrix(starts, columns, values, threads)


@pytest.mark.parametrize("bad", [-1, 4, 2**32, 2**63 - 1, -(2**63)])
def test_long_indices_are_looked_at_whole(bad):
    starts, columns, values = np.array([0, 2, 3]), np.array([0, 3, 1]), np.ones(3)
    _native.sparse_times(starts, columns, values, np.ones((4, 1)), np.empty((2, 1)))
    columns[1] = bad
    with pytest.raises(ValueError, match="column is out of range"):
        _native.sparse_times(starts, columns, values, np.ones((4, 1)), np.empty((2, 1)))


@pytest.mark.parametrize(
    ("starts", "message"),
    [
        ([0, 2], "end with the entries"),
        ([], "one more start"),
        ([0, 4, 3], "ascend"),
        ([-1, 2, 3], "begin with 0"),
        ([1, 2, 3], "begin with 0"),
        ([0, 2, 2], "end with the entries"),
        ([0, 2, 4], "end with the entries"),
    ],
)
def test_starts_of_rows(starts, message):
    columns, values = np.array([0, 1, 1], dtype=np.int32), np.ones(3, dtype=np.float32)
    with pytest.raises(ValueError, match=message):
        _native.AffinityMatrix(np.array(starts, dtype=np.int64), columns, values, 1)


@pytest.mark.parametrize(("starts", "message"), [([-1, 2, 3], "within the entries"), ([0, 2, 4], "within the entries")])
def test_starts_of_some_rows_of_many(starts, message):
    columns, values, out = np.array([0, 1, 1]), np.ones(3), np.empty((2, 1))
    _native.sparse_times(np.array([1, 2, 2]), columns, values, np.array([[3.0], [5.0]]), out)
    assert out.tolist() == [[5.0], [0.0]]
    with pytest.raises(ValueError, match=message):
        _native.sparse_times(np.array(starts), columns, values, np.ones((2, 1)), out)


def test_empty_places_are_allowed_where_lists_have_them(rng):
    x = rng.normal(size=(6, 3)).astype(np.float32)
    distances, indices = np.empty((6, 2), np.float32), np.empty((6, 2), np.int32)
    nobody = np.iinfo(np.int32).max
    candidates = np.full((6, 3), nobody, dtype=np.int32)
    candidates[:, 1] = (np.arange(6) + 1) % 6
    _native.refine_candidates(x, x, candidates, None, 0, True, 1.0, distances, indices, 1)
    assert (indices[:, 0] == candidates[:, 1]).all() and (indices[:, 1] == nobody).all()
    for bad in (-1, 6, nobody - 1):
        candidates[3, 2] = bad
        with pytest.raises(ValueError, match="out of range"):
            _native.refine_candidates(x, x, candidates, None, 0, True, 1.0, distances, indices, 1)


def test_a_step_of_a_filter_does_not_leave_its_arrays():
    x = np.ones((2, 8), dtype=np.float32)
    columns, values = np.array([0, 1, 1], dtype=np.int32), np.ones(3, dtype=np.float32)
    parts = [np.array([0, 2, 3]), columns, values, x, x, np.empty_like(x)]
    _native.three_term_step(*parts, 1.0, 0.0, 0.0, 1)
    columns[2] = 2
    with pytest.raises(ValueError, match="out of range"):
        _native.three_term_step(*parts, 1.0, 0.0, 0.0, 1)
    columns[2], parts[0][1] = 1, 9
    with pytest.raises(ValueError, match="ascend"):
        _native.three_term_step(*parts, 1.0, 0.0, 0.0, 1)


def call(name, arguments):
    return getattr(_native, name.split()[0])(*arguments)


def arrays_of(name):
    return [(place, part) for place, part in enumerate(CALLS[name]()) if isinstance(part, np.ndarray)]


def test_every_function_is_called_here():
    public = {name for name in dir(_native) if not name.startswith("_")}
    assert {name.split()[0] for name in CALLS} | PLAIN == public
    for name, make in CALLS.items():
        call(name, make())


def refuses(name, arguments):
    try:
        call(name, arguments)
    except TypeError as error:
        assert "incompatible" in str(error)
        return True
    return False


@pytest.mark.parametrize("name", CALLS)
def test_arrays_that_are_not_aligned_are_copied_or_if_they_are_written_to_refused(name):
    for place, part in arrays_of(name):
        if not part.size or part.itemsize == 1:
            continue
        shifted = np.empty(part.nbytes + 1, dtype=np.uint8)[1:].view(part.dtype).reshape(part.shape)
        shifted[...] = part
        fixed = part.copy()
        fixed.flags.writeable = False
        arguments, frozen = CALLS[name](), CALLS[name]()
        arguments[place], frozen[place] = shifted, fixed
        assert refuses(name, arguments) == refuses(name, frozen), place


def test_an_array_that_is_not_aligned_gives_the_same_numbers(rng):
    x, means = rng.normal(size=(5, 3)), rng.normal(size=(1, 3))
    expected, out = np.empty_like(x), np.empty_like(x)
    _native.center(x, means, expected)
    shifted = np.empty(means.nbytes + 1, dtype=np.uint8)[1:].view(float).reshape(means.shape)
    shifted[...] = means
    for _ in range(100):  # the copy lives as long as the call
        _native.center(x, shifted, out)
        assert np.array_equal(out, expected)


@pytest.mark.parametrize("name", CALLS)
def test_arrays_of_another_length(name):
    for place, part in arrays_of(name):
        for axis in range(part.ndim):
            if (name, place, axis) in FREE or not part.size:
                continue
            for size in (0, part.shape[axis] - 1, part.shape[axis] + 1):
                arguments = CALLS[name]()
                arguments[place] = np.ascontiguousarray(arguments[place].take(range(size), axis=axis, mode="clip"))
                with pytest.raises(ValueError, match=r"\w"):
                    call(name, arguments)


@pytest.mark.parametrize("name", CALLS)
def test_arrays_of_another_type_or_layout(name):
    for place, part in arrays_of(name):
        if (name, place) in CONVERTED or not part.size:
            continue
        others = [np.ones(part.shape, dtype) for dtype in (np.float16, "U8", part.dtype.newbyteorder(">"))]
        for bad in (*others[: 2 + (part.itemsize > 1)], np.empty((0, *part.shape, 1), part.dtype), part.tolist()):
            arguments = CALLS[name]()
            arguments[place] = bad
            with pytest.raises((TypeError, ValueError)):
                call(name, arguments)
        arguments = CALLS[name]()
        arguments[place] = np.repeat(part, 2, axis=-1)[..., ::2]
        with pytest.raises((TypeError, ValueError)):
            call(name, arguments)


@pytest.mark.parametrize("name", CALLS)
def test_nothing_is_written_into_read_only_arrays(name):
    for place, part in arrays_of(name):
        arguments = CALLS[name]()
        arguments[place].flags.writeable = False
        before = arguments[place].copy()
        try:
            call(name, arguments)
        except TypeError:
            continue  # an output
        np.testing.assert_array_equal(arguments[place], before)
        assert part.shape == before.shape


def test_every_array_of_whole_numbers_is_tried_out_of_range_or_said_to_hold_no_indices():
    tried = {(name, place) for name, place, _ in INDICES} | set(STARTS)
    whole = {(name, place) for name in CALLS for place, part in arrays_of(name) if part.dtype.kind == "i"}
    assert whole - tried == NO_INDICES and not tried & NO_INDICES


def test_codes_of_intervals_out_of_range():
    for column, row, bad in ((0, 0, 3), (0, 69, -1), (1, 0, 2), (1, 69, 2**15 - 1)):
        arguments = CALLS["interval_bitmaps"]()
        arguments[0][column, row] = bad
        with pytest.raises(ValueError, match="beyond the intervals"):
            call("interval_bitmaps", arguments)


def test_columns_of_queries_beyond_the_index_share_nothing_with_it():
    parts = [np.array([0, 2]), np.array([1, 2**31 - 2], np.int32), np.array([1.0, 5.0]), np.ones(1), np.zeros(1)]
    found = lists(1, 2)
    _native.sparse_queries(inverted_index(), *parts, None, *found, 1)
    shared = numbers(3, dtype=np.float64)[2]  # of row 1, in column 1; row 0 has nothing there
    others = (numbers(3, dtype=np.float64)[:2] ** 2).sum()
    np.testing.assert_allclose(sorted(found[0][0]), sorted([(shared - 1) ** 2 + 25, others + 26]) ** np.array(0.5))
    for bad in (-1, 2**31 - 1):
        parts[1][1] = bad
        with pytest.raises(ValueError, match=r"range|ascend"):
            _native.sparse_queries(inverted_index(), *parts, None, *lists(1, 2), 1)


@pytest.mark.parametrize(("name", "place", "bound"), INDICES)
@pytest.mark.parametrize("at", [0, -1])
def test_indices_out_of_range(name, place, bound, at):
    for bad in (-1, bound, 2**31 - 2, -(2**31)):
        arguments = CALLS[name]()
        arguments[place] = arguments[place].copy()
        arguments[place].reshape(-1)[at] = bad
        with pytest.raises(ValueError, match=r"range|every|ascend|not there"):
            call(name, arguments)


@pytest.mark.parametrize(("name", "place"), STARTS)
def test_starts_of_rows_that_leave_the_entries(name, place):
    for at, bad in ((0, -1), (0, 2), (1, -1), (1, 10**6), (1, 2**31 - 1), (-1, 0), (-1, 10**6), (-1, -1)):
        arguments = CALLS[name]()
        arguments[place] = arguments[place].copy()
        arguments[place][at] = bad
        if (at, bad) == (0, 2) and name.startswith(("hash_sparse", "sparse_", "chebyshev")):
            continue  # some rows of a larger matrix
        with pytest.raises(ValueError, match=r"ascend|begin|within|one more"):
            call(name, arguments)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 3e38])
def test_positions_that_are_not_finite_stay_inside_meshes_and_trees(value):
    """An embedding that diverges is noticed after the step, so that a step has to survive it."""
    for name, place in (
        ("scatter_to_mesh", 0),
        ("gather_from_mesh", 4),
        ("repulsion_barnes_hut", 0),
        ("repulsion_exact", 0),
        ("tsne_out_of_sample", 8 + 1),
        ("tsne_out_of_sample 2", 8 + 1),
        ("tsne_step", 1),
        ("umap_epochs", 0),
    ):
        arguments = CALLS[name]()
        arguments[place][1:3] = value
        call(name, arguments)


def test_sizes_that_would_overflow_are_refused():
    with pytest.raises(ValueError, match="and a row"):
        _native.column_sums(numbers(6, 4), None, None, np.empty((0, 4)))
    for reverse in (2**40, 2**62):
        arguments = CALLS["nn_descent_round"]()
        arguments[9] = reverse
        with pytest.raises(ValueError, match="reverse"):
            call("nn_descent_round", arguments)
    arguments = CALLS["graph_search_queries"]()
    arguments[2] = np.empty((6, 0), np.int32)
    with pytest.raises(ValueError, match="must have neighbors"):
        call("graph_search_queries", arguments)
    arguments = CALLS["gather_from_mesh"]()
    for cells in ([2**40, 9], [8, 2**62], [-8, 9], [0, 0]):
        arguments[1] = cells
        with pytest.raises(ValueError, match=r"cover|cells"):
            call("gather_from_mesh", arguments)
    _native.symmetrize_affinities(graph()[1], numbers(6, 2), 0.5, 2**31 - 1)  # no more threads than a machine has


def test_affinities_that_were_checked_are_a_private_copy():
    starts, columns, values = ring()
    kept = _native.AffinityMatrix(starts, columns, values, 1)
    columns[:], starts[:], values[:] = 10**6, 10**9, np.nan
    for own, given in zip((kept.starts, kept.columns, kept.values), ring(), strict=True):
        np.testing.assert_array_equal(own, given)
        with pytest.raises(ValueError, match=r"read-only|writable|WRITEABLE"):
            own.flags.writeable = True
    with pytest.raises(ValueError, match="row for each row"):
        _native.attraction_loss(affinities(), numbers(5, 2), 1.0, 1)
    for order in ([0, 1, 2, 3, 4, 4], [0, 1, 2, 3, 4, 6], [0, 1, 2, 3, 4, -1], [0, 1, 2]):
        with pytest.raises(ValueError, match="every row once"):
            kept.reordered(np.array(order, np.int32), 1)
