"""What the native module asks of the arrays it is given: an index out of range is an error, never a crash."""

from __future__ import annotations

import numpy as np
import pytest

from lowdim import _native

STRETCH = 1 << 18  # indices that one thread looks at at once


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("bad", [-1, 1000, 2**31 - 1, -(2**31)])
@pytest.mark.parametrize("place", [0, STRETCH - 1, STRETCH, 2 * STRETCH + 76])
def test_one_wrong_index_anywhere_is_found(rng, threads, bad, place):
    columns = rng.integers(0, 1000, 2 * STRETCH + 77).astype(np.int32)
    columns[:2] = 0, 999
    starts = np.linspace(0, len(columns), 1001).astype(np.int64)
    values = np.ones(len(columns), dtype=np.float32)
    _native.check_affinities(starts, columns, values, 1000, threads)
    columns[place] = bad
    with pytest.raises(ValueError, match="out of range"):
        _native.check_affinities(starts, columns, values, 1000, threads)


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
        ([0, 2], "one more start"),
        ([0, 2, 3, 3], "one more start"),
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
        _native.check_affinities(np.array(starts), columns, values, 2, 1)


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
