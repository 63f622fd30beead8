"""The kernels of grid units against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from determinism import assert_same_bits
from lowdim import _native


def make_bitmaps(codes, sizes, threads=2):
    """Bitmaps of codes (columns, rows), set in two parts that share a word."""
    n, starts = codes.shape[1], np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    bitmaps = np.zeros((starts[-1], -(-n // 64)), dtype=np.uint64)
    cut = n // 3
    for first, part in ((0, codes[:, :cut]), (cut, codes[:, cut:])):
        _native.interval_bitmaps(np.ascontiguousarray(part, dtype=np.int16), starts, first, bitmaps, threads)
    return bitmaps, starts


@pytest.mark.parametrize("n", [1, 63, 64, 65, 1000, 70_000])
def test_bitmaps_supports_and_rows(n, rng):
    sizes = np.array([3, 5, 4, 2])
    codes = np.stack([rng.integers(0, size, n) for size in sizes])
    bitmaps, starts = make_bitmaps(codes, sizes)
    items = codes + starts[:-1, None]
    flags = np.stack([(items == item).any(axis=0) for item in range(starts[-1])])
    unpacked = np.unpackbits(bitmaps.view(np.uint8), axis=1, bitorder="little")
    np.testing.assert_array_equal(unpacked[:, :n], flags)
    assert not unpacked[:, n:].any()
    for k in (1, 2, 3, 4):
        units = np.unique(np.sort(np.stack([rng.integers(starts[j], starts[j + 1], 200) for j in range(k)]).T), axis=0)
        units = np.ascontiguousarray(units, dtype=np.int32)
        units = np.concatenate([units, units[::-1]])  # any order is right, sorted ones are quicker
        supports = np.empty(len(units), dtype=np.int64)
        _native.unit_supports(bitmaps, units, supports, 2)
        members = np.array([flags[unit].all(axis=0) for unit in units])
        np.testing.assert_array_equal(supports, members.sum(axis=1))
        out = np.zeros(bitmaps.shape[1], dtype=np.uint64)
        _native.unit_rows(bitmaps, units[:7], out, 2)
        rows = np.unpackbits(out.view(np.uint8), bitorder="little")[:n]
        np.testing.assert_array_equal(rows, members[:7].any(axis=0))


def test_same_bits_for_any_number_of_threads(rng):
    codes = rng.integers(0, 4, (5, 5000))
    units = np.stack(np.meshgrid(*(np.arange(4) + 4 * j for j in range(4)), indexing="ij"), axis=-1).reshape(-1, 4)
    units = np.ascontiguousarray(units, dtype=np.int32)

    def work(threads):
        bitmaps, _ = make_bitmaps(codes, [4] * 5, threads)
        supports, out = np.empty(len(units), dtype=np.int64), np.zeros(bitmaps.shape[1], dtype=np.uint64)
        _native.unit_supports(bitmaps, units, supports, threads)
        _native.unit_rows(bitmaps, units[::3].copy(), out, threads)
        return bitmaps, supports, out

    assert_same_bits(work)


def test_what_does_not_fit_is_refused():
    bitmaps, starts = np.zeros((4, 2), dtype=np.uint64), np.array([0, 2, 4], dtype=np.int32)
    codes = np.zeros((2, 10), dtype=np.int16)
    with pytest.raises(ValueError, match="beyond the bitmaps"):
        _native.interval_bitmaps(codes, starts, 120, bitmaps, 1)
    with pytest.raises(ValueError, match="beyond the intervals"):
        _native.interval_bitmaps(codes + np.int16(2), starts, 0, bitmaps, 1)
    with pytest.raises(ValueError, match="beyond the intervals"):
        _native.interval_bitmaps(codes - np.int16(1), starts, 0, bitmaps, 1)
    with pytest.raises(ValueError, match="starts of the rows"):
        _native.interval_bitmaps(codes, starts - np.int32(1), 0, bitmaps, 1)
    units = np.array([[0, 4]], dtype=np.int32)
    with pytest.raises(ValueError, match="not there"):
        _native.unit_supports(bitmaps, units, np.zeros(1, dtype=np.int64), 1)
    with pytest.raises(ValueError, match="one entry per unit"):
        _native.unit_supports(bitmaps, units - 1 + np.array([[1, 0]], dtype=np.int32), np.zeros(2, dtype=np.int64), 1)
    with pytest.raises(ValueError, match="word of a bitmap"):
        _native.unit_rows(bitmaps, np.array([[0]], dtype=np.int32), np.zeros(3, dtype=np.uint64), 1)
