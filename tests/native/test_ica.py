"""The pass of ICA and its contrasts against NumPy twins that follow the formulas word by word."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lowdim import _native
from lowdim.data.fold import BinaryCounter

DTYPES = [np.float64, np.float32]


def contrast(y, fun):
    """ψ, ψ' and ρ in the formulas' own words."""
    if fun == 0:
        return np.tanh(y), 1 - np.tanh(y) ** 2, np.logaddexp(y, -y) - np.log(2)
    if fun == 1:
        return y * np.exp(-(y**2) / 2), (1 - y**2) * np.exp(-(y**2) / 2), -np.exp(-(y**2) / 2)
    return y**3, 3 * y**2, y**4 / 4


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("fun", [0, 1, 2])
def test_contrasts_are_exact_to_a_few_units_in_the_last_place(fun, dtype):
    y = np.concatenate([np.linspace(-40, 40, 4001), np.linspace(-3, 3, 6007), [0.0, -0.0, 1e-30, 700, -700]])
    y = y.astype(dtype)
    found = [np.empty_like(y) for _ in range(3)]
    _native.contrast_values(y, fun, *found)
    for ours, truth in zip(found, contrast(y.astype(np.longdouble), fun), strict=True):
        assert (np.abs(ours - truth) <= 4 * np.finfo(dtype).eps * np.maximum(1, np.abs(truth))).all()


def pass_of(Z, W, weights, fun, threads=1, block_rows=5000):
    cross, sums = np.full((len(W), Z.shape[1]), np.nan), np.full((len(W), 3), np.nan)
    _native.ica_pass(Z, W, weights, fun, cross, sums, block_rows, threads)
    return cross, sums


# Around the sizes of tiles of sources (6), of lanes, of blocks (256 rows, fewer for many columns) and of their groups.
SHAPES = [(1, 1, 1), (5, 2, 2), (255, 3, 5), (256, 6, 6), (257, 7, 7), (1000, 13, 12), (530, 600, 2), (17_000, 4, 3)]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_one_pass_is_the_sums_of_the_formulas(shape, weighted, dtype, rng):
    n, k, m = shape
    Z, W = rng.standard_normal((n, k)).astype(dtype), (rng.standard_normal((m, k)) / np.sqrt(k)).astype(dtype)
    weights = rng.integers(0, 4, n).astype(np.float64) if weighted else None
    y, w = Z.astype(np.float64) @ W.T.astype(np.float64), np.ones(n) if weights is None else weights
    eps = np.finfo(dtype).eps
    for fun in range(3):
        score, slope, value = contrast(y, fun)
        cross, sums = pass_of(Z, W, weights, fun)
        scale = 40 * eps * max(1.0, np.abs(y).max()) ** 4 * max(1, n)
        assert_allclose(cross, (w[:, None] * score).T @ Z, rtol=0, atol=scale)
        for column, truth in enumerate((slope, slope * y**2, value)):
            assert_allclose(sums[:, column], w @ truth, rtol=0, atol=scale)


@pytest.mark.parametrize("dtype", DTYPES)
def test_threads_change_no_bit(dtype, rng):
    Z, W = rng.standard_normal((20_011, 9)).astype(dtype), rng.standard_normal((9, 9)).astype(dtype)
    first, *others = (pass_of(Z, W, None, 0, threads) for threads in (1, 2, 4, 7))
    for other in others:
        for a, b in zip(first, other, strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("n", "block_rows"), [(1, 1), (40, 7), (640, 64), (3001, 700), (9000, 4000), (900, 5000)])
def test_blocks_are_added_along_the_tree_of_the_fold(n, block_rows, dtype, rng):
    """One call over all rows has the bits of a call per block, as rows come from a file or a cluster."""
    k, m = (31, 31) if n == 640 else (5, 4)
    Z, W = rng.standard_normal((n, k)).astype(dtype), rng.standard_normal((m, k)).astype(dtype)
    weights, tree = rng.random(n), BinaryCounter(lambda a, b: (a[0] + b[0], a[1] + b[1]))
    for start in range(0, n, block_rows):
        cut = slice(start, start + block_rows)
        tree.add(pass_of(Z[cut], W, weights[cut], 0, block_rows=block_rows))
    for here, there in zip(pass_of(Z, W, weights, 0, 2, block_rows), tree.total(), strict=True):
        np.testing.assert_array_equal(here, there)


def test_no_rows_give_zeros():
    cross, sums = pass_of(np.empty((0, 3)), np.eye(3), None, 0)
    assert not cross.any() and not sums.any()


@pytest.mark.parametrize("fun", [-1, 3])
def test_an_unknown_contrast_is_refused(fun):
    with pytest.raises(ValueError, match="logcosh"):
        pass_of(np.ones((4, 2)), np.eye(2), None, fun)
    with pytest.raises(ValueError, match="logcosh"):
        _native.contrast_values(np.ones(3), fun, np.empty(3), np.empty(3), np.empty(3))
