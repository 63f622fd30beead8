"""Counts of closer rows against all pairs of rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from determinism import assert_same_bits
from lowdim import _native


def order_of(x):
    return np.argsort(x, kind="stable").astype(np.int32)


def ksg_counts(x, y, k, threads=1):
    out = np.empty((2, len(x)), dtype=np.int32)
    _native.ksg_counts(x, y, order_of(x), order_of(y), k, out[0], out[1], threads)
    return out


def ross_counts(x, codes, k, threads=1):
    out = np.empty(len(x), dtype=np.int32)
    _native.ross_counts(x, order_of(x), codes.astype(np.int32), int(codes.max()) + 1, k, out, threads)
    return out


def closer(gaps, radii):
    return np.where(radii[:, None] > 0, gaps < radii[:, None], gaps == 0).sum(axis=1)


def ksg_by_pairs(x, y, k):
    gaps = np.abs(x[:, None] - x), np.abs(y[:, None] - y)
    joint = np.maximum(*gaps)
    np.fill_diagonal(joint, -1.0)
    radii = np.sort(joint, axis=1)[:, k]
    return np.stack([closer(one, radii) for one in gaps])


def ross_by_pairs(x, codes, k):
    gaps, radii = np.abs(x[:, None] - x), np.empty(len(x))
    for i, label in enumerate(codes):
        own = np.sort(gaps[i, codes == label])
        radii[i] = own[min(k, len(own) - 1)]
    return closer(gaps, radii)


SHAPES = {
    "independent": lambda rng, n: rng.normal(size=(2, n)),
    "a line": lambda rng, n: np.tile(rng.normal(size=n), (2, 1)),
    "heavy tails": lambda rng, n: rng.standard_cauchy(size=(2, n)),
    "two scales": lambda rng, n: rng.normal(size=(2, n)) * np.where(rng.uniform(size=n) < 0.5, 1e-6, 1.0),
    "ties": lambda rng, n: rng.integers(0, 9, size=(2, n)).astype(float),
    "constant": lambda rng, n: np.stack([np.zeros(n), rng.normal(size=n)]),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("n", "k"), [(2, 1), (9, 8), (40, 3), (700, 1), (700, 5), (700, 60)])
def test_two_measurements(shape, n, k, rng):
    x, y = (np.ascontiguousarray(part) for part in SHAPES[shape](rng, n))
    np.testing.assert_array_equal(ksg_counts(x, y, k), ksg_by_pairs(x, y, k))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("n", "k"), [(4, 1), (40, 3), (700, 5), (700, 600)])
def test_a_measurement_and_classes(shape, n, k, rng):
    x = np.ascontiguousarray(SHAPES[shape](rng, n)[0])
    codes = rng.permutation(np.arange(n) * 4 // n * (np.arange(n) % 3 > 0))
    np.testing.assert_array_equal(ross_counts(x, codes, k), ross_by_pairs(x, codes, k))


@settings(deadline=None)
@given(st.lists(st.tuples(st.floats(-1, 1), st.floats(-1, 1), st.integers(0, 1)), min_size=2, max_size=40), st.data())
def test_any_numbers(rows, data):
    x, y, codes = (np.array(part) for part in zip(*rows, strict=True))
    k = data.draw(st.integers(1, len(x) - 1))
    np.testing.assert_array_equal(ksg_counts(x, y, k), ksg_by_pairs(x, y, k))
    np.testing.assert_array_equal(ross_counts(x, codes, k), ross_by_pairs(x, codes, k))


def test_same_bits_for_any_number_of_threads(rng):
    x, y = rng.normal(size=(2, 5000))
    codes = rng.integers(0, 3, 5000)
    assert_same_bits(lambda threads: [ksg_counts(x, y, 3, threads), ross_counts(x, codes, 3, threads)], (1, 2, 5))


def test_an_order_that_does_not_ascend_is_refused(rng):
    x, y = rng.normal(size=(2, 6))
    right, out = order_of(x), np.empty((2, 6), dtype=np.int32)
    for wrong in (right[::-1].copy(), np.full(6, right[0])):
        with pytest.raises(ValueError, match="every row once, ascending"):
            _native.ksg_counts(x, y, wrong, order_of(y), 2, out[0], out[1], 1)
    x[2] = np.nan
    with pytest.raises(ValueError, match="every row once, ascending"):
        _native.ksg_counts(x, y, right, order_of(y), 2, out[0], out[1], 1)
    for k in (0, 6, -1, 2**40):
        with pytest.raises(ValueError, match="k must be"):
            ksg_counts(y, y, k)
