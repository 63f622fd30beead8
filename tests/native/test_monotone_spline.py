"""The kernels of rising curves, each beside its NumPy twin."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import pdist

from lowdim import _native

CLOSE = {np.float32: 2e-6, np.float64: 1e-12}
LOW, WIDTH = 0.3, 2.5


def functions(given, breaks):
    """1, t, t² and (t - b)₊²."""
    t = np.clip((given.astype(np.float64) - LOW) / WIDTH, 0, 1)
    return np.stack([np.ones_like(t), t, t**2, *(np.where(t > b, (t - b) ** 2, 0) for b in breaks)])


def pairs(n, dtype, seed=0):
    rng = np.random.default_rng(seed)
    y = np.ascontiguousarray(rng.standard_normal((2, n)).astype(dtype))
    given = rng.uniform(0, 4, n * (n - 1) // 2).astype(dtype)  # some lie below LOW, some beyond LOW + WIDTH
    weights = rng.uniform(0, 2, len(given)).astype(dtype) * (rng.random(len(given)) < 0.8)
    return y, given, weights.astype(dtype)


@pytest.mark.parametrize("dtype", CLOSE)
@pytest.mark.parametrize("breaks", [[], [0.2, 0.5, 0.55, 0.9]])
@pytest.mark.parametrize("n", [2, 16, 17, 33, 300])
def test_moments(n, breaks, dtype):
    y, given, weights = pairs(n, dtype)
    d = pdist(y.T.astype(np.float64))
    for heavy in (None, weights):
        mapped = np.empty_like(given)
        got = _native.spline_moments(y, given, heavy, np.array(breaks), LOW, WIDTH, mapped, 2)
        want = functions(given, breaks) @ (d if heavy is None else d * heavy)
        np.testing.assert_allclose(got, want, rtol=CLOSE[dtype], atol=CLOSE[dtype] * n)
        np.testing.assert_allclose(mapped, d, rtol=CLOSE[dtype], atol=CLOSE[dtype])


@pytest.mark.parametrize("dtype", CLOSE)
@pytest.mark.parametrize("count", [1, 255, 256, 257, 70_000])  # the last one spans several blocks
def test_curve(count, dtype, rng):
    given = rng.uniform(0, 4, count).astype(dtype)
    breaks, coefficients = np.array([0.3, 0.7]), np.array([-0.1, 0.5, 2.0, -3.0, 5.0])
    out = np.empty_like(given)
    _native.evaluate_spline(given, breaks, LOW, WIDTH, coefficients, out, 2)
    want = np.maximum(coefficients @ functions(given, breaks), 0)
    np.testing.assert_allclose(out, want, rtol=CLOSE[dtype], atol=CLOSE[dtype])


def test_bits_do_not_depend_on_threads():
    y, given, weights = pairs(500, np.float64)
    breaks, mapped, seen = np.array([0.4]), np.empty_like(given), set()
    for threads in (1, 2, 3, 8):
        sums = _native.spline_moments(y, given, weights, breaks, LOW, WIDTH, mapped, threads)
        _native.evaluate_spline(given, breaks, LOW, WIDTH, np.arange(4.0), mapped, threads)
        seen.add(np.array(sums).tobytes() + mapped.tobytes())
    assert len(seen) == 1


def test_what_does_not_fit_is_refused():
    y, given, _ = pairs(5, np.float64)
    for wrong in (given[:-1], given):
        width = WIDTH if wrong is not given else 0.0
        with pytest.raises(ValueError, match="must"):
            _native.spline_moments(y, wrong, None, np.empty(0), LOW, width, np.empty_like(given), 1)
    with pytest.raises(ValueError, match="three coefficients"):
        _native.evaluate_spline(given, np.empty(0), LOW, WIDTH, np.zeros(2), np.empty_like(given), 1)
