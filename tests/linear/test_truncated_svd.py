"""TruncatedSVD: scikit-learn's ARPACK as the oracle, laws, streams, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.decomposition import TruncatedSVD as SklearnSVD

import lowdim
from lowdim import PCA, TruncatedSVD
from lowdim.errors import BadInput, BadParameter, NotEnoughData

RNG = np.random.default_rng(0)
TALL = RNG.normal(size=(300, 20)) * np.linspace(1, 3, 20) + 2
WIDE = RNG.normal(size=(30, 200)) + 1
SPARSE = sp.random(900, 620, 0.02, format="csr", random_state=0)
TABLES = {"tall": TALL, "wide": WIDE, "sparse": SPARSE}


def angle(A: np.ndarray, B: np.ndarray) -> float:
    """The largest principal angle between the spans of the rows."""
    return float(np.arccos(np.clip(np.linalg.svd(A @ B.T)[1].min(), -1, 1)))


@pytest.mark.parametrize("solver", ["auto", "covariance", "svd", "krylov"])
@pytest.mark.parametrize("name", TABLES)
def test_agrees_with_arpack(name, solver):
    X = TABLES[name]
    theirs = SklearnSVD(5, algorithm="arpack", tol=1e-13).fit(X)
    ours = TruncatedSVD(5, solver=solver).fit(X)
    assert ours.converged_
    np.testing.assert_allclose(ours.singular_values_, theirs.singular_values_, rtol=1e-8)
    np.testing.assert_allclose(ours.explained_variance_, theirs.explained_variance_, rtol=1e-8)
    np.testing.assert_allclose(ours.explained_variance_ratio_, theirs.explained_variance_ratio_, rtol=1e-8)
    assert angle(ours.components_, theirs.components_) < 1e-7
    np.testing.assert_allclose(np.abs(ours.transform(X)), np.abs(theirs.transform(X)), atol=1e-6)
    back = theirs.inverse_transform(theirs.transform(X))
    np.testing.assert_allclose(ours.inverse_transform(ours.transform(X)), back, atol=1e-6)


def test_the_solver_that_auto_takes():
    assert TruncatedSVD(2).fit(TALL).solver_ == "covariance"
    assert TruncatedSVD(2).fit(WIDE).solver_ == "svd"
    assert TruncatedSVD(2).fit(SPARSE).solver_ == "krylov"


def test_tiny_singular_values_keep_their_digits():
    U, V = (np.linalg.qr(RNG.normal(size=size))[0] for size in ((60, 4), (8, 4)))
    sizes = np.array([1.0, 1e-3, 1e-7, 1e-10])
    model = TruncatedSVD(4).fit(U * sizes @ V.T)
    assert model.solver_ == "svd"
    np.testing.assert_allclose(model.singular_values_, sizes, rtol=1e-4)


def test_centered_rows_give_pca():
    X = TALL - TALL.mean(axis=0)
    svd, pca = TruncatedSVD(3).fit(X), PCA(3).fit(X)
    np.testing.assert_allclose(svd.singular_values_, pca.singular_values_, rtol=1e-12)
    np.testing.assert_allclose(svd.components_, pca.components_, atol=1e-9)


def test_all_components_give_the_rows_back():
    model = TruncatedSVD(None).fit(TALL)
    np.testing.assert_allclose(model.inverse_transform(model.transform(TALL)), TALL, atol=1e-11)
    np.testing.assert_allclose((model.singular_values_**2).sum(), (TALL**2).sum())
    share = TruncatedSVD(0.9).fit(TALL)
    squares = np.cumsum(model.singular_values_**2) / (TALL**2).sum()
    assert share.n_components_ == int(np.argmax(squares > 0.9)) + 1


def test_weights_are_multiplicities():
    weights = RNG.integers(0, 4, size=len(TALL))
    repeated = np.repeat(TALL, weights, axis=0)
    for solver in ("covariance", "svd", "krylov"):
        weighted = TruncatedSVD(3, solver=solver).fit(TALL, sample_weight=weights)
        whole = TruncatedSVD(3).fit(repeated)
        np.testing.assert_allclose(weighted.singular_values_, whole.singular_values_, rtol=1e-9)
        np.testing.assert_allclose(weighted.explained_variance_ratio_, whole.explained_variance_ratio_, rtol=1e-8)


def test_parts_add_to_the_whole():
    whole = TruncatedSVD(3).fit(TALL)
    streamed = TruncatedSVD(3).fit(iter(np.array_split(TALL, 7)))
    partial = TruncatedSVD(3).partial_fit(TALL[:100]).partial_fit(TALL[100:])
    summed = TruncatedSVD(3).fit(lowdim.moments(TALL[:90]) + lowdim.moments(TALL[90:]))
    for model in (streamed, partial, summed):
        np.testing.assert_allclose(model.singular_values_, whole.singular_values_, rtol=1e-12)
        np.testing.assert_allclose(model.components_, whole.components_, atol=1e-9)


def test_sparse_rows_are_never_made_dense(monkeypatch):
    monkeypatch.setattr(sp.csr_array, "toarray", lambda *_: pytest.fail("a sparse matrix was made dense"))
    TruncatedSVD(3).fit(SPARSE).transform(SPARSE)


def test_what_is_refused_by_name():
    with pytest.raises(NotEnoughData, match="n_components=21 must be at most 20"):
        TruncatedSVD(21).fit(TALL)
    with pytest.raises(BadParameter, match="krylov"):
        TruncatedSVD(0.5, solver="krylov").fit(TALL)
    with pytest.raises(BadParameter, match="Moments allow"):
        TruncatedSVD(solver="svd").fit(lowdim.moments(TALL))
    with pytest.raises(BadInput, match="include their weights"):
        TruncatedSVD().fit(lowdim.moments(TALL), sample_weight=np.ones(300))
    for solver in ("covariance", "svd", "krylov"):
        with pytest.raises(BadInput, match="underflow"):
            TruncatedSVD(solver=solver).fit(TALL * 1e-170)
        with pytest.raises(BadInput, match="overflow"):
            TruncatedSVD(solver=solver).fit(TALL * 1e160)


def test_a_table_of_zeros_has_singular_values_of_zero():
    for solver in ("covariance", "svd", "krylov"):
        model = TruncatedSVD(2, solver=solver).fit(np.zeros((9, 4)))
        assert (model.singular_values_ == 0).all()
        assert (model.transform(np.zeros((2, 4))) == 0).all()
