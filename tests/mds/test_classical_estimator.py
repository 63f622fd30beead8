"""Classical scaling: weights, landmarks, out-of-sample extension, corrections, metrics, model files."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist

import lowdim
from lowdim import ClassicalMDS
from lowdim.decomposition import gram_eigen as solver
from lowdim.errors import BadInput, BadInputType, BadParameter, LowdimWarning, NotEnoughData
from lowdim.kernels import is_euclidean


def table(seed, n=40, d=4):
    return np.random.default_rng(seed).standard_normal((n, d)) * np.arange(d, 0, -1)


@given(st.integers(0, 1000))
def test_euclidean_distances_are_recovered(seed):
    X = table(seed)
    D = cdist(X, X)
    for model, given_rows in ((ClassicalMDS(4), X), (ClassicalMDS(4, metric="precomputed"), D)):
        Z = model.fit_transform(given_rows)
        assert_allclose(cdist(Z, Z), D, atol=1e-9)
        assert_allclose(model.goodness_of_fit_, 1, atol=1e-12)


@given(st.integers(0, 1000))
def test_new_rows_keep_their_distances(seed):
    """Gower's formula is exact for a new row of the same space."""
    X, new = table(seed), table(seed + 1, 6)
    D, between = cdist(X, X), cdist(new, X)
    for model, fitted, placed in (
        (ClassicalMDS(4), X, new),
        (ClassicalMDS(4, metric="precomputed"), D, between),
        (ClassicalMDS(4, metric=lambda x, y: np.sqrt(((x - y) ** 2).sum())), X, new),
    ):
        Z = model.fit_transform(fitted)
        assert_allclose(cdist(model.transform(placed), Z), between, atol=1e-8)
        assert_allclose(model.transform(fitted), Z, atol=1e-8)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "precomputed"])
@pytest.mark.parametrize("least", [0, 1])
def test_a_weight_of_two_is_a_row_given_twice(metric, least, rng):
    X, weights = table(0, 20), rng.integers(least, 3, 20).astype(float)
    weights[:2] = least, 2
    twice = np.repeat(np.arange(20), weights.astype(int))
    D = cdist(X, X, "cityblock")
    data, repeated = (D, D[np.ix_(twice, twice)]) if metric == "precomputed" else (X, X[twice])
    weighted = ClassicalMDS(3, metric=metric).fit(data, sample_weight=weights)
    longer = ClassicalMDS(3, metric=metric).fit(repeated)
    assert_allclose(weighted.eigenvalues_[:3], longer.eigenvalues_[:3], rtol=1e-9)
    assert_allclose(np.abs(weighted.embedding_[twice]), np.abs(longer.embedding_), atol=1e-8)
    assert np.isfinite(weighted.embedding_).all()  # rows of weight zero are embedded too


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "precomputed"])
def test_landmarks(metric):
    X = table(0, 120, 3)
    D = cdist(X, X)
    model = ClassicalMDS(3, metric=metric, n_landmarks=30)
    Z = model.fit_transform(D if metric == "precomputed" else X)
    assert len(model.landmarks_) == 30
    assert Z.shape == (120, 3)
    if metric != "manhattan":
        assert_allclose(cdist(Z, Z), D, atol=1e-8)  # flat rows need only a few landmarks
    assert_allclose(model.transform(D if metric == "precomputed" else X), Z, atol=1e-10)


@pytest.mark.parametrize("correction", [None, "lingoes"])
def test_iterative_eigenpairs_agree_with_dense_ones(correction, monkeypatch):
    X = table(0, 150, 5)
    D = cdist(X, X, "cityblock")
    dense = ClassicalMDS(2, metric="precomputed", correction=correction).fit(D)
    monkeypatch.setattr(solver, "GRAM_ROWS", 100)
    found = ClassicalMDS(2, metric="precomputed", correction=correction).fit(D)
    assert_allclose(found.embedding_, dense.embedding_, atol=1e-6)
    assert_allclose(found.eigenvalues_[:2], dense.eigenvalues_[:2], rtol=1e-8)
    assert found.correction_constant_ == pytest.approx(dense.correction_constant_, rel=1e-6)
    if correction is None:
        assert found.eigenvalues_[-1] == pytest.approx(dense.eigenvalues_[-1], rel=1e-6)
        assert dense.eigenvalues_[-1] < 0
        assert_allclose(found.goodness_of_fit_, dense.goodness_of_fit_, rtol=0.01)  # an estimate


def test_sparse_rows_and_float32():
    X = sp.random(50, 20, 0.3, format="csr", random_state=0)
    Z = ClassicalMDS(3).fit_transform(X)
    assert_allclose(Z, ClassicalMDS(3).fit_transform(X.toarray()), atol=1e-9)
    for metric in ("euclidean", "manhattan", "precomputed"):
        D = cdist(X.toarray(), X.toarray()).astype(np.float32)
        rows = D if metric == "precomputed" else X.toarray().astype(np.float32)
        model = ClassicalMDS(2, metric=metric).fit(rows)
        assert model.embedding_.dtype == model.transform(rows).dtype == np.float32


@pytest.mark.parametrize("correction", ["lingoes", "cailliez"])
def test_corrected_distances_and_their_extension_to_new_rows(correction):
    X = table(0, 30, 4)
    model = ClassicalMDS(29, metric="chebyshev", correction=correction).fit(X)
    assert model.correction_constant_ > 0
    D = cdist(X, X, "chebyshev")
    c = model.correction_constant_
    wanted = np.sqrt(D**2 + 2 * c) if correction == "lingoes" else D + c
    np.fill_diagonal(wanted, 0)
    assert_allclose(cdist(model.embedding_, model.embedding_), wanted, atol=1e-6)
    assert_allclose(model.transform(X), model.embedding_, atol=1e-5)


def test_invalid_input_is_refused():
    D = cdist(table(0), table(0))
    model = ClassicalMDS(2, metric="precomputed")
    for bad, words in ((D[:5], "square"), (-D, "negative"), (D + np.eye(40), "itself"), (np.triu(D), "symmetric")):
        with pytest.raises(BadInput, match=words):
            model.fit(bad)
    with pytest.raises(BadInput, match="negative"):
        model.fit(D).transform(-D)
    with pytest.raises(NotEnoughData, match="at most"):
        ClassicalMDS(41, metric="precomputed").fit(D)
    with pytest.raises(NotEnoughData, match="n_landmarks=41"):
        ClassicalMDS(2, n_landmarks=41).fit(table(0))
    with pytest.raises(BadParameter, match="correction"):
        ClassicalMDS(2, correction="both").fit(D)


@pytest.mark.parametrize("options", [{}, {"metric": "manhattan"}, {"metric": "precomputed", "correction": "cailliez"}])
def test_model_files(options, tmp_path):
    X = table(0)
    X = cdist(X, X, "cityblock") if options.get("metric") == "precomputed" else X
    model = ClassicalMDS(2, n_landmarks=20, **options).fit(X)
    lowdim.save(model, tmp_path / "m")
    assert_array_equal(lowdim.load(tmp_path / "m").transform(X), model.transform(X))


def test_identical_rows_are_one_point():
    for metric in ("euclidean", "manhattan", "precomputed"):
        rows = np.zeros((5, 5)) if metric == "precomputed" else np.full((5, 3), 0.1)
        model = ClassicalMDS(2, metric=metric).fit(rows)
        assert_allclose(model.embedding_, 0, atol=1e-15)
        assert np.isfinite(model.goodness_of_fit_).all()


@pytest.mark.parametrize("metric", ["cosine", "correlation", "sqeuclidean", "chebyshev", "manhattan"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_metrics_are_those_of_scipy(metric, dtype):
    """Distances as SciPy computes them; that of a row to itself is zero, without rounding."""
    X, new = (table(seed, n, 6).astype(dtype) for seed, n in ((0, 40), (1, 5)))
    name = {"manhattan": "cityblock"}.get(metric, metric)
    direct = ClassicalMDS(2, metric=metric).fit(X)
    given_table = ClassicalMDS(2, metric="precomputed").fit(cdist(X, X, name))
    close = {"rtol": 1e-9, "atol": 1e-9} if dtype == np.float64 else {"rtol": 1e-4, "atol": 1e-4}
    assert_allclose(np.abs(direct.embedding_), np.abs(given_table.embedding_), **close)
    signs = np.sign(np.sum(direct.embedding_ * given_table.embedding_, axis=0))
    close["atol"] *= np.abs(given_table.embedding_).max()
    assert_allclose(direct.transform(new), given_table.transform(cdist(new, X, name)) * signs, **close)
    assert_allclose(direct.transform(X), direct.embedding_, **close)


@pytest.mark.parametrize("metric", ["dice", "jaccard"])
def test_metrics_of_sets(metric, rng):
    X = rng.integers(0, 2, (30, 12)).astype(float)
    direct = ClassicalMDS(2, metric=metric).fit(X)
    by_table = ClassicalMDS(2, metric="precomputed").fit(cdist(X != 0, X != 0, metric))
    assert_allclose(direct.embedding_, by_table.embedding_, atol=1e-9)
    with pytest.raises(BadInput, match="0 or 1"):
        ClassicalMDS(2, metric=metric).fit(X + 1)


def test_one_minus_correlation_is_a_distance(rng):
    """1 - r is 2e-16 and -2e-16 where it should be zero."""
    X = rng.standard_normal((30, 8))
    D = 1 - np.corrcoef(X)
    assert np.diagonal(D).any() or (D < 0).any()
    model = ClassicalMDS(2, metric="precomputed", correction="lingoes").fit(D)
    assert_allclose(np.abs(model.embedding_), np.abs(
        ClassicalMDS(2, metric="correlation", correction="lingoes").fit(X).embedding_), atol=1e-8)  # fmt: skip
    assert_allclose(model.transform(D), model.embedding_, atol=1e-8)
    for scale in (1e-30, 1e30):  # rounding is a share of the largest
        assert_allclose(ClassicalMDS(2, metric="precomputed").fit(D * scale).embedding_ / scale,
                        ClassicalMDS(2, metric="precomputed").fit(D).embedding_, atol=1e-8)  # fmt: skip


@pytest.mark.parametrize("correction", ["lingoes", "cailliez"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("twice", [False, True])
def test_corrected_distances_are_euclidean(correction, weighted, twice, rng):
    X = table(3, 20, 4)
    X = np.vstack([X, X[:4]]) if twice else X
    n = len(X)
    D = cdist(X, X, "chebyshev")
    weights = rng.integers(1, 5, n).astype(float) if weighted else None
    model = ClassicalMDS(n - 1, metric="precomputed", correction=correction).fit(D, sample_weight=weights)
    c = model.correction_constant_
    wanted = np.sqrt(D**2 + 2 * c) if correction == "lingoes" else D + c
    np.fill_diagonal(wanted, 0)
    assert c > 0 and is_euclidean(wanted, tol=1e-9)
    assert_allclose(cdist(model.embedding_, model.embedding_), wanted, atol=1e-6 * wanted.max())
    assert model.eigenvalues_.min() > -1e-9 * model.eigenvalues_[0]
    # Of identical fitted rows, which a correction separates, a new one at distance 0 from both is the first.
    assert_allclose(model.transform(D)[:20], model.embedding_[:20], atol=1e-5)
    if correction == "lingoes":
        B = -0.5 * (np.eye(n) - 1 / n) @ D**2 @ (np.eye(n) - 1 / n)
        assert c == pytest.approx(-np.linalg.eigvalsh(B)[0], rel=1e-9)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("correction", ["lingoes", "cailliez"])
def test_euclidean_distances_need_no_correction(correction, dtype):
    X = table(1, 60, 3)
    D = cdist(X, X).astype(dtype)
    model = ClassicalMDS(2, metric="precomputed", correction=correction).fit(D)
    assert model.correction_constant_ == 0


def test_new_rows_of_another_dtype():
    X, new = table(0, 30, 3), table(1, 5, 3)
    for metric in ("euclidean", "manhattan", "cosine", "precomputed"):
        rows, others = (X, new) if metric != "precomputed" else (cdist(X, X), cdist(new, X))
        model = ClassicalMDS(2, metric=metric)
        for fitted, placed in ((np.float64, np.float32), (np.float32, np.float64)):
            Z = model.fit(rows.astype(fitted)).transform(others.astype(placed))
            assert Z.dtype == placed
            assert_allclose(Z, model.transform(others.astype(fitted)), atol=1e-4)


def test_eigenpairs_that_did_not_converge_warn(monkeypatch):
    X = table(0, 150, 5)
    D = cdist(X, X, "cityblock").astype(np.float32)
    monkeypatch.setattr(solver, "GRAM_ROWS", 100)
    assert ClassicalMDS(2, metric="precomputed").fit(D).converged_
    monkeypatch.setattr(solver, "MAX_PASSES", 2)
    with pytest.warns(LowdimWarning, match="did not converge within 2 passes"):
        model = ClassicalMDS(2, metric="precomputed").fit(D)
    assert not model.converged_


def test_principal_axes_that_did_not_converge_warn(monkeypatch, rng):
    from lowdim.decomposition import pca_solvers as solvers
    from lowdim.decomposition import principal_axes as principal

    monkeypatch.setattr(principal, "COVARIANCE_ROWS", 10)
    X = rng.standard_normal((200, 120))
    seeds = []
    original = solvers.block_lanczos

    def limited(apply, n, k, **options):
        seeds.append(options["seed"])
        return original(apply, n, k, **(options | {"max_iter": 3, "tol": 1e-15}))

    monkeypatch.setattr(solvers, "block_lanczos", limited)
    with pytest.warns(LowdimWarning, match="did not converge within 3 passes"):
        model = ClassicalMDS(2, random_state=7).fit(X)
    assert not model.converged_
    assert seeds == [7]


def test_missing_distances_are_refused():
    D = cdist(table(0), table(0))
    D[3, 5] = D[5, 3] = np.nan
    with pytest.raises(BadInput, match=r"row 3 to row 5 is NaN.*MDS\(metric='precomputed'\)"):
        ClassicalMDS(2, metric="precomputed").fit(D)


def test_fit_transform_returns_a_copy(rng):
    X = rng.standard_normal((30, 4))
    for model in (ClassicalMDS(), lowdim.MDS(), lowdim.NonmetricMDS(), lowdim.Isomap(), lowdim.LLE(),
                  lowdim.LaplacianEigenmaps()):  # fmt: skip
        Z = model.fit_transform(X)
        Z[:] = 0
        assert model.embedding_.any()


@pytest.mark.parametrize(("scale", "dtype"), [(1e-200, np.float64), (1e-30, np.float32), (1e145, np.float64)])
@pytest.mark.parametrize("correction", [None, "lingoes", "cailliez"])
def test_scale_equivariance(scale, dtype, correction):
    """Squares of such distances underflow, or their sum overflows."""
    X = table(2, 30, 4)
    D, new = (cdist(rows, X, "chebyshev").astype(dtype) for rows in (X, X[:5] + 1))
    options = {"metric": "precomputed", "correction": correction}
    one, other = ClassicalMDS(3, **options).fit(D), ClassicalMDS(3, **options).fit(D * dtype(scale))
    close = 1e-9 if dtype == np.float64 else 1e-4
    size = np.abs(one.embedding_).max()
    assert_allclose(other.embedding_ / scale, one.embedding_, atol=close * size)
    assert_allclose(other.goodness_of_fit_, one.goodness_of_fit_, rtol=1e-5)
    assert_allclose(other.transform(new * dtype(scale)) / scale, one.transform(new), atol=close * size)
    assert_allclose(other.transform(D * dtype(scale)) / scale, one.embedding_, atol=10 * close * size)
    if correction == "cailliez":
        assert other.correction_constant_ / scale == pytest.approx(one.correction_constant_, rel=1e-4)


@pytest.mark.parametrize("n_landmarks", [None, 30])
@pytest.mark.parametrize("metric", ["cosine", "sqeuclidean", "manhattan", "correlation"])
def test_sparse_rows_by_any_metric_are_as_dense_ones(metric, n_landmarks):
    X, new = (sp.random(n, 20, 0.3, format="csr", random_state=n) for n in (60, 7))
    ours, want = (ClassicalMDS(3, metric=metric, n_landmarks=n_landmarks).fit(table) for table in (X, X.toarray()))
    np.testing.assert_allclose(ours.embedding_, want.embedding_, atol=1e-9)
    np.testing.assert_allclose(ours.transform(new), want.transform(new.toarray()), atol=1e-9)
    np.testing.assert_allclose(want.transform(new), ours.transform(new.toarray()), atol=1e-9)
    np.testing.assert_allclose(ours.transform(X), ours.embedding_, atol=1e-9)
    assert sp.issparse(ours.X_fit_)
    again = pickle.loads(pickle.dumps(ours))
    np.testing.assert_array_equal(again.transform(new), ours.transform(new))


def test_sparse_rows_stay_sparse_for_cosine_distances(monkeypatch):
    """A million columns: a dense table of them would not fit."""
    rng = np.random.default_rng(0)
    wide = sp.csr_array((rng.random(1000), rng.integers(0, 10**6, 1000), np.arange(201) * 5), shape=(200, 10**6))
    wide.sum_duplicates()
    monkeypatch.setattr("lowdim.mds.classical.prepare_rows", None)
    assert ClassicalMDS(2, metric="cosine").fit(wide).transform(wide[:3]).shape == (3, 2)


def test_new_distances_must_not_be_sparse():
    D = np.abs(np.subtract.outer(np.arange(5.0), np.arange(5.0)))
    with pytest.raises(BadInputType, match="lacks most distances"):
        ClassicalMDS(2, metric="precomputed").fit(D).transform(sp.csr_array(D))
