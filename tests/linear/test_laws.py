"""PCA: laws that hold for any data."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import subspace_angles

import lowdim
from determinism import THREADS, assert_same_bits
from lowdim import PCA

SOLVERS = ["covariance", "gram", "svd", "krylov"]

seeds = st.integers(0, 10_000)


def table(seed: int, n: int = 50, d: int = 6) -> np.ndarray:
    """Rows with well separated variances, so that every axis is determined."""
    rng = np.random.default_rng(seed)
    axes = np.linalg.qr(rng.standard_normal((d, d)))[0]
    return rng.standard_normal((n, d)) * 3.0 ** -np.arange(d) @ axes.T + rng.standard_normal(d)


def angle(A: np.ndarray, B: np.ndarray) -> float:
    return float(subspace_angles(A.T, B.T).max())


@given(seeds)
def test_axes_are_orthonormal_and_scores_uncorrelated(seed):
    X = table(seed)
    model = PCA(4, ddof=0).fit(X)
    Z = model.transform(X)
    assert_allclose(model.components_ @ model.components_.T, np.eye(4), atol=1e-12)
    assert_allclose(Z.T @ Z / len(X), np.diag(model.explained_variance_), atol=1e-12)
    assert_allclose(Z.mean(axis=0), 0, atol=1e-12)


@given(seeds)
def test_whitened_scores_have_unit_covariance(seed):
    X = table(seed)
    Z = PCA(4, whiten=True).fit_transform(X)
    assert_allclose(np.cov(Z.T), np.eye(4), atol=1e-10)


@given(seeds)
def test_equivariance_under_translation_and_rotation(seed):
    X = table(seed)
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.standard_normal((6, 6)))[0]
    plain, turned = PCA(3).fit(X), PCA(3).fit(X @ Q + 50)
    assert_allclose(turned.explained_variance_, plain.explained_variance_, rtol=1e-8)
    assert angle(turned.components_, plain.components_ @ Q) < 1e-7


@given(seeds, st.floats(1e-6, 1e6))
def test_scale_scales_variances(seed, factor):
    X = table(seed)
    assert_allclose(PCA(3).fit(factor * X).spectrum_, factor**2 * PCA(3).fit(X).spectrum_, rtol=1e-8)


@given(seeds)
def test_row_order_does_not_matter(seed):
    X = table(seed)
    order = np.random.default_rng(seed).permutation(len(X))
    a, b = PCA(3).fit(X), PCA(3).fit(X[order])
    assert_allclose(a.components_, b.components_, atol=1e-10)


@given(seeds)
def test_reconstruction_error_is_the_sum_of_the_variances_left_out(seed):
    X = table(seed)
    full, model = PCA(None, ddof=0).fit(X), PCA(2, ddof=0).fit(X)
    errors = model.reconstruction_error(X)
    assert_allclose(errors.mean(), full.explained_variance_[2:].sum(), rtol=1e-9)
    assert_allclose(errors, ((X - model.inverse_transform(model.transform(X))) ** 2).sum(axis=1), rtol=1e-8, atol=1e-12)


@given(seeds, st.booleans(), st.booleans())
def test_all_components_reconstruct_the_rows(seed, whiten, standardize):
    X = table(seed)
    model = PCA(None, whiten=whiten, standardize=standardize).fit(X)
    assert_allclose(model.inverse_transform(model.transform(X)), X, atol=1e-9)


@given(seeds)
def test_standardize_is_pca_of_z_scores(seed):
    X = table(seed) * [1, 10, 100, 1, 1e3, 1]
    Y = (X - X.mean(0)) / X.std(0, ddof=1)
    a, b = PCA(3, standardize=True).fit(X), PCA(3).fit(Y)
    assert_allclose(a.explained_variance_, b.explained_variance_, rtol=1e-9)
    assert_allclose(a.transform(X), b.transform(Y), atol=1e-7)
    assert a.total_variance_ == pytest.approx(6)


@pytest.mark.filterwarnings("ignore::lowdim.errors.LowdimWarning")
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_a_constant_column_is_not_divided_by_its_rounding_error(solver, weighted, form, rng):
    """Its mean is not quite its value: 60 times 0.1 is not 6."""
    X = np.column_stack([rng.standard_normal((60, 4)), np.full(60, 0.1), np.full(60, 1e6 / 3)])
    weights = rng.uniform(0.5, 2, 60) if weighted else None
    model = PCA(2, solver=solver, standardize=True).fit(form(X), sample_weight=weights)
    assert_array_equal(model.scale_[4:], 1)
    assert_allclose(model.scale_[:4], PCA(2, standardize=True).fit(X[:, :4], sample_weight=weights).scale_, rtol=1e-12)


@given(seeds, st.sampled_from(SOLVERS), st.sampled_from([(50, 6), (8, 40)]), st.booleans(), st.booleans())
def test_all_solvers_agree(seed, solver, shape, standardize, weighted):
    n, d = shape
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 5)) * [9, 5, 3, 2, 1] @ rng.standard_normal((5, d)) + rng.standard_normal(d)
    w = rng.uniform(0.5, 2, n) if weighted else None
    a = PCA(3, solver="svd", standardize=standardize).fit(X, sample_weight=w)
    b = PCA(3, solver=solver, standardize=standardize).fit(X, sample_weight=w)
    assert b.solver_ == solver
    assert_allclose(b.explained_variance_, a.explained_variance_, rtol=1e-8)
    assert_allclose(b.total_variance_, a.total_variance_, rtol=1e-10)
    assert angle(a.components_, b.components_) < 1e-7
    assert_allclose(b.components_, a.components_, atol=1e-6)  # signs too


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("standardize", [False, True])
def test_sparse_is_dense(solver, standardize, rng):
    S = sp.random(200, 40, density=0.1, random_state=1, format="csr")
    w = rng.uniform(0, 2, 200)
    dense = PCA(4, solver="svd", standardize=standardize).fit(S.toarray(), sample_weight=w)
    sparse = PCA(4, solver=solver, standardize=standardize).fit(S, sample_weight=w)
    assert angle(dense.components_, sparse.components_) < 1e-8
    assert_allclose(sparse.transform(S), dense.transform(S.toarray()), atol=1e-8)
    assert_allclose(sparse.total_variance_, dense.total_variance_, rtol=1e-9)


@given(seeds, st.sampled_from(SOLVERS))
def test_weights_are_multiplicities(seed, solver):
    X = table(seed)
    w = np.random.default_rng(seed).integers(0, 3, len(X))
    a = PCA(3, solver=solver).fit(X, sample_weight=w)
    b = PCA(3, solver=solver).fit(np.repeat(X, w, axis=0))
    assert_allclose(a.explained_variance_, b.explained_variance_, rtol=1e-7)
    assert_allclose(a.components_, b.components_, atol=1e-6)
    assert_allclose(a.noise_variance_, b.noise_variance_, rtol=1e-7)


@given(seeds, st.integers(1, 49))
def test_partial_fit_is_fit(seed, cut):
    X = table(seed)
    parts = PCA(3).partial_fit(X[:cut]).partial_fit(X[cut:])
    whole = PCA(3).fit(X)
    assert_allclose(parts.components_, whole.components_, atol=1e-9)
    assert_allclose(parts.explained_variance_, whole.explained_variance_, rtol=1e-9)
    assert_allclose(parts.mean_, whole.mean_, atol=1e-12)


def test_moments_stream_and_array_agree():
    X = table(0, n=200)
    whole = PCA(3).fit(X)
    for other in (
        PCA(3).fit(lowdim.moments(X)),
        PCA(3).fit(iter([X[:70], X[70:71], X[71:]])),
        PCA(3).fit(lambda: (X[i : i + 33] for i in range(0, 200, 33))),
    ):
        assert_allclose(other.components_, whole.components_, atol=1e-10)
        assert other.solver_ == "covariance"
        assert_allclose(other.transform(iter([X[:3], X[3:]])), whole.transform(X), atol=1e-10)


@given(
    hnp.arrays(
        np.float64,
        st.tuples(st.integers(2, 12), st.integers(1, 6)),
        elements=st.floats(-1e6, 1e6, allow_subnormal=False),
    )
)
def test_finite_in_finite_out(X):
    before = X.copy()
    model = PCA(1).fit(X)
    for value in (
        model.transform(X),
        model.components_,
        model.explained_variance_ratio_,
        model.reconstruction_error(X),
    ):
        assert np.isfinite(value).all()
    assert_array_equal(X, before)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_dtype_is_kept(solver, dtype):
    X = table(0).astype(dtype)
    model = PCA(3, solver=solver).fit(X)
    for value in (
        model.transform(X),
        model.components_,
        model.mean_,
        model.explained_variance_,
        model.inverse_transform(model.transform(X)),
    ):
        assert value.dtype == dtype
    reference = PCA(3, solver="svd").fit(X.astype(np.float64))
    assert angle(model.components_.astype(float), reference.components_) < (2e-3 if dtype == np.float32 else 1e-8)


@pytest.mark.parametrize(
    "form", ["fortran", "strided", "read-only", "big-endian", "memory map", "int", "bool", "list", "half"]
)
def test_memory_layout_and_dtype_of_the_input_do_not_matter(form, tmp_path):
    X = np.round(table(0) * 100)
    expected = PCA(2).fit(X).transform(X)
    if form == "fortran":
        Y = np.asfortranarray(X)
    elif form == "strided":
        Y = np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3]
    elif form == "read-only":
        Y = X.copy()
        Y.flags.writeable = False
    elif form == "big-endian":
        Y = X.astype(">f8")
    elif form == "memory map":
        np.save(tmp_path / "x.npy", X)
        Y = np.load(tmp_path / "x.npy", mmap_mode="r")
    elif form == "int":
        Y = X.astype(np.int32)
    elif form == "bool":
        Y = X > 0
        expected = PCA(2).fit(Y.astype(float)).transform(Y.astype(float))
    elif form == "list":
        Y = X.tolist()
    else:
        Y = (X / 100).astype(np.float16)
        expected = PCA(2).fit(Y.astype(np.float32)).transform(Y.astype(np.float32))
    assert_allclose(PCA(2).fit(Y).transform(Y), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_dataframes(library):
    X = table(0)
    module = pytest.importorskip(library)
    frame = module.DataFrame({f"c{j}": X[:, j] for j in range(6)})
    model = PCA(2).set_output(transform=library).fit(frame)
    out = model.transform(frame)
    assert isinstance(out, module.DataFrame)
    assert list(out.columns) == ["PC1", "PC2"]
    assert list(model.feature_names_in_) == [f"c{j}" for j in range(6)]
    assert_allclose(np.asarray(out), PCA(2).fit(X).transform(X), atol=1e-12)
    narrow = module.DataFrame({f"c{j}": X[:, j].astype(np.float32) for j in range(6)})
    assert PCA(2).fit(narrow).components_.dtype == np.float32


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("shape", [(3000, 300), (120, 5000)])
def test_same_bits_for_any_number_of_threads(solver, shape, rng):
    most = {"covariance": (3000, 1500), "gram": (1000, 5000)}.get(solver, shape)  # their matrices are d × d and n × n
    shape = (min(shape[0], most[0]), min(shape[1], most[1]))
    X = (rng.standard_normal((shape[0], 8)) @ rng.standard_normal((8, shape[1]))).astype(np.float32)
    X += rng.standard_normal(shape, dtype=np.float32)

    def work(threads):
        model = PCA(5, solver=solver, n_jobs=threads).fit(X)
        return model.components_, model.transform(X)

    assert_same_bits(work, (*THREADS, 2))


def test_transform_of_the_fitted_rows_is_fit_transform(rng):
    X = rng.standard_normal((700, 20))
    model = PCA(3)
    Z = model.fit_transform(X)
    assert_array_equal(model.transform(X), Z)
