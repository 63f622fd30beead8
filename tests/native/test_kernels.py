"""Every native kernel against its NumPy twin, in every instruction set that this machine has."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from lowdim import _native
from lowdim.runtime import random
from subprocesses import run_python

DTYPES = [np.float32, np.float64]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(1, 1), (33, 65), (100, 200), (7, 64), (64, 3)])
def test_column_sums(dtype, shape, rng):
    X = rng.standard_normal(shape).astype(dtype)
    codes, weights = rng.integers(0, 3, shape[0]).astype(np.int32), rng.random(shape[0])
    plain, by_class = np.empty((1, shape[1])), np.empty((3, shape[1]))
    assert _native.column_sums(X, None, None, plain)
    assert_allclose(plain[0], X.sum(axis=0, dtype=float), atol=1e-12)
    assert _native.column_sums(X, codes, weights, by_class)
    for c in range(3):
        assert_allclose(by_class[c], (weights[codes == c] @ X[codes == c].astype(float)), atol=1e-12)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(1, 1), (33, 65), (100, 200), (40, 128)])
def test_shift_rows(dtype, shape, rng):
    X = rng.standard_normal((shape[0], 2 * shape[1])).astype(dtype)[:, : shape[1]]  # rows with a stride
    shift, out, sums = rng.standard_normal(shape[1]).astype(dtype), np.empty(shape, dtype), np.empty(shape[1])
    assert _native.shift_rows(X, shift, out, sums)
    assert_array_equal(out, X - shift)
    assert_allclose(sums, (X - shift).sum(axis=0, dtype=float), atol=1e-4 if dtype == np.float32 else 1e-12)


@pytest.mark.parametrize("dtype", DTYPES)
def test_center(dtype, rng):
    X = rng.standard_normal((50, 70)).astype(dtype)
    means, codes = rng.standard_normal((2, 70)), rng.integers(0, 2, 50).astype(np.int32)
    scale, roots = rng.random(70), rng.random(50)
    out = np.empty_like(X)
    assert _native.center(X, means, out, codes)
    assert_array_equal(out, (X.astype(float) - means[codes]).astype(dtype))
    assert _native.center(X, means[:1].copy(), out, None, scale, roots)
    assert_allclose(
        out, (X - means[0]) * scale * roots[:, None], rtol=2e-7 if dtype == np.float32 else 1e-14, atol=1e-12
    )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("start", "rows", "width"), [(0, 1, 16), (0, 9, 32), (600, 7, 16), (1100, 513, 48)])
def test_mirrored_times(dtype, start, rows, width, rng):
    stop = start + rows
    strip = rng.standard_normal((rows, stop + 3)).astype(dtype)[:, :stop]  # rows with a stride
    v = rng.standard_normal((stop + 5, width)).astype(dtype)
    own, above = np.ones((rows, width)), np.ones((start, width), dtype)
    _native.half_symmetric_times(strip, start, v, own, above)
    wide = strip.astype(float)
    atol = 1e-3 if dtype == np.float32 else 1e-11
    assert_allclose(own, 1 + wide @ v[:stop], atol=atol)
    assert_allclose(above, 1 + wide[:, :start].T @ v[start:stop], atol=atol)
    for args in ((strip[:, 1:], start, v), (strip, start, v[:, :5].copy()), (strip, start, v[: stop - 1])):
        with pytest.raises(ValueError):
            _native.half_symmetric_times(*args, own, above)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("place", [(0, 0), (49, 69), (20, 33)])
def test_what_is_not_finite_is_noticed(bad, place, rng):
    X = rng.standard_normal((50, 70))
    X[place] = bad
    means, out, sums = np.zeros((1, 70)), np.empty_like(X), np.empty((1, 70))
    assert not _native.column_sums(X, None, None, sums)
    assert not _native.center(X, means, out)
    assert not _native.shift_rows(X, np.zeros(70), out, sums[0])


@pytest.mark.parametrize("dtype", DTYPES)
def test_add_scatter_and_subtract_outer(dtype, rng):
    part, shifts = rng.standard_normal((31, 31)).astype(dtype), rng.standard_normal((2, 31))
    total = rng.standard_normal((31, 31))
    expected = total + part + shifts.T @ shifts
    _native.add_scatter(total, part, shifts)
    assert_allclose(total, expected, atol=1e-12)
    v = rng.standard_normal(31)
    expected = part - 3 * np.outer(v, v)
    _native.subtract_outer(part, v, 3.0)
    assert_allclose(part, expected, atol=1e-6 if dtype == np.float32 else 1e-12)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_sparse_products(dtype, index, rng):
    X = sp.random(60, 40, 0.2, format="csr", random_state=0, dtype=dtype)
    entries = X.indptr.astype(index), X.indices.astype(index), X.data
    V, U = rng.standard_normal((40, 7)).astype(dtype), rng.standard_normal((60, 7)).astype(dtype)
    out, back = np.empty((60, 7), dtype), np.ones((40, 7))
    _native.sparse_times(*entries, V, out)
    assert_allclose(out, X @ V, rtol=1e-5, atol=1e-6 if dtype == np.float32 else 1e-14)
    _native.sparse_transpose_times(*entries, U, back)
    assert_allclose(back, 1 + X.T.astype(float) @ U.astype(float), atol=1e-12)
    with pytest.raises(ValueError, match="column is out of range"):
        _native.sparse_times(*entries, V[:5].copy(), out)
    with pytest.raises(ValueError, match="ascend"):
        _native.sparse_times(entries[0][::-1].copy(), *entries[1:], V, out)


def test_shapes_are_checked(rng):
    X = rng.standard_normal((5, 4))
    with pytest.raises(ValueError, match="out of range"):
        _native.column_sums(X, np.array([0, 1, 2, 9, 0], dtype=np.int32), None, np.empty((3, 4)))
    with pytest.raises(ValueError, match="shape of x"):
        _native.center(X, np.zeros((1, 4)), np.empty((4, 4)))
    with pytest.raises(ValueError, match="next to each other"):
        _native.center(X.T, np.zeros((1, 5)), np.empty((4, 5)))


def test_philox_published_vectors():
    """Known answers of Philox 4x32-10 (Salmon et al. 2011)."""
    out = np.empty(4, dtype=np.uint32)
    _native.fill_words(out, 0, 0)
    assert [f"{word:08x}" for word in out] == ["6627e8d5", "e169c58d", "bc57ac4c", "9b00dbd8"]
    # counter 243f6a88 85a308d3 13198a2e 03707344, key a4093822 299f31d0
    words = _philox((0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344), (0xA4093822, 0x299F31D0))
    assert [f"{word:08x}" for word in words] == ["d16cfe09", "94fdcceb", "5001e420", "24126ea1"]


def _philox(counter, key):
    """The twin, in Python's integers."""
    c, k = list(counter), list(key)
    for _ in range(10):
        p0, p1 = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(p1 >> 32) ^ c[1] ^ k[0], p1 & 0xFFFFFFFF, (p0 >> 32) ^ c[3] ^ k[1], p0 & 0xFFFFFFFF]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c


@pytest.mark.parametrize(("seed", "stream"), [(1, 0), (2**63 + 5, 7), (12345, 2**40)])
def test_philox_against_its_twin(seed, stream):
    out = np.empty(40, dtype=np.uint32)
    _native.fill_words(out, seed, stream)
    for index in range(10):
        counter = (index, 0, stream & 0xFFFFFFFF, stream >> 32)
        assert list(out[4 * index : 4 * index + 4]) == _philox(counter, (seed & 0xFFFFFFFF, seed >> 32))


@pytest.mark.parametrize("dtype", DTYPES)
def test_normals_do_not_depend_on_threads(dtype):
    draws = [random.normal((100_001,), 3, 1, dtype, threads) for threads in (1, 2, 5)]
    assert_array_equal(draws[0], draws[1])
    assert_array_equal(draws[0], draws[2])
    assert_array_equal(draws[0][:77], random.normal((77,), 3, 1, dtype))
    assert not np.array_equal(draws[0], random.normal((100_001,), 4, 1, dtype))
    assert not np.array_equal(draws[0], random.normal((100_001,), 3, 2, dtype))


def test_normals_are_normal():
    from scipy.stats import kstest

    sample = random.normal((200_000,), 0)
    assert kstest(sample, "norm").pvalue > 0.01
    assert abs(np.corrcoef(sample[:-1], sample[1:])[0, 1]) < 0.01


def test_seeds():
    assert random.seed_of(7) == 7
    assert random.seed_of(None) != random.seed_of(None)
    assert random.seed_of(np.random.default_rng(1)) == random.seed_of(np.random.default_rng(1))
    assert random.seed_of(np.random.RandomState(1)) == random.seed_of(np.random.RandomState(1))


def test_every_instruction_set_agrees():
    """The kernels of each set give the same sums, to rounding, on the same rows."""
    code = """
        import numpy as np
        from lowdim import _native, PCA
        X = np.random.default_rng(0).standard_normal((300, 77)).astype("f4")
        print(_native.instruction_set())
        print(" ".join(f"{v:.5f}" for v in PCA(5).fit(X).explained_variance_))
    """
    answers = {}
    for isa in ("baseline", "avx2", "avx512"):
        name, values = run_python(code, LOWDIM_ISA=isa).splitlines()
        answers[name] = values
        assert isa != "baseline" or name == "baseline"
    assert len(set(answers.values())) == 1


def test_stub_is_what_the_module_says():
    """The committed stub can't drift: it is what nanobind prints for the module as built."""
    stubgen = pytest.importorskip("nanobind.stubgen")
    generator = stubgen.StubGen(_native)
    generator.put(_native)
    committed = Path(__file__).parents[2] / "src" / "lowdim" / "_native.pyi"
    assert committed.read_text(encoding="utf-8") == generator.get(), "run `make stubs`"
