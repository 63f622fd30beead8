"""Kernel PCA of sparse rows: as of the same rows dense, and as scikit-learn's, without making them dense."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.decomposition import KernelPCA as SklearnKernelPCA
from sklearn.metrics.pairwise import pairwise_kernels

import lowdim
from lowdim import KernelPCA, kernels
from lowdim.data.rows import chunk_rows
from lowdim.errors import BadInput, BadInputType
from lowdim.kernels import _row_blocks

X = sp.random(120, 40, 0.15, format="csr", random_state=0)
NEW = sp.random(9, 40, 0.15, format="csr", random_state=1)
KERNELS = {
    "linear": "linear",
    "cosine": "cosine",
    "rbf": "rbf",
    "rbf, median": kernels.rbf("median"),
    "polynomial": "polynomial",
    "sigmoid": "sigmoid",
    "laplacian": "laplacian",
    "chi2": "chi2",
    "rational quadratic": "rational_quadratic",
    "function": lambda x, y: float(x @ y) ** 2,
    "distance": kernels.from_distance("manhattan"),
    "sum": kernels.linear() + kernels.rbf(0.1),
}


@pytest.mark.parametrize("name", KERNELS)
def test_sparse_rows_give_what_dense_ones_give(name, monkeypatch):
    monkeypatch.setattr(_row_blocks, "chunk_rows", lambda d, itemsize: 16)  # several dense parts of a block
    ours, want = KernelPCA(3, kernel=KERNELS[name]), KernelPCA(3, kernel=KERNELS[name])
    Z, dense = ours.fit_transform(X), want.fit_transform(X.toarray())
    assert_allclose(Z, dense, atol=1e-10)
    assert_allclose(ours.transform(NEW), want.transform(NEW.toarray()), atol=1e-10)
    assert_array_equal(ours.transform(NEW.toarray()), ours.transform(NEW))
    assert_array_equal(want.transform(NEW), want.transform(NEW.toarray()))
    assert_allclose(ours.explained_variance_ratio_, want.explained_variance_ratio_, atol=1e-12)
    assert sp.issparse(ours.X_fit_)
    if name in ("rbf", "linear"):
        assert_allclose(ours.inverse_transform(Z[:4]), want.inverse_transform(dense[:4]), atol=1e-6)


@pytest.mark.parametrize(
    ("kernel", "options"),
    [
        ("linear", {}),
        ("cosine", {}),
        ("rbf", {"gamma": 0.3}),
        ("poly", {"gamma": 0.3, "degree": 2, "coef0": 0.5}),
        ("sigmoid", {"gamma": 0.2, "coef0": 0.1}),
    ],
)
def test_scikit_learn_agrees(kernel, options):
    named = {"poly": kernels.polynomial, "sigmoid": kernels.sigmoid}.get(kernel)
    ours = KernelPCA(3, kernel=named(**options)) if named else KernelPCA(3, kernel=kernel, gamma=options.get("gamma"))
    peer = SklearnKernelPCA(3, kernel=kernel, **options)
    Z, want = ours.fit_transform(X), peer.fit_transform(X)
    signs = np.sign((Z * want).sum(axis=0))
    assert_allclose(Z, want * signs, atol=1e-8)
    assert_allclose(ours.transform(NEW), peer.transform(NEW) * signs, atol=1e-8)
    assert_allclose(ours.kernel_(X, NEW), pairwise_kernels(X, NEW, kernel, **options), atol=1e-12)


@pytest.mark.parametrize("solver", ["lanczos", "nystrom"])
def test_the_other_solvers_and_float32(solver):
    options = {"solver": solver, "n_landmarks": 50 if solver == "nystrom" else None}
    narrow, wide = KernelPCA(3, **options).fit(X.astype(np.float32)), KernelPCA(3, **options).fit(X.toarray())
    assert narrow.transform(NEW.astype(np.float32)).dtype == np.float32
    assert_allclose(narrow.transform(NEW), wide.transform(NEW), atol=1e-4)


def test_a_model_file_keeps_sparse_rows(tmp_path):
    model = KernelPCA(2).fit(X)
    lowdim.save(model, tmp_path / "model.lowdim")
    again = lowdim.load(tmp_path / "model.lowdim")
    assert sp.issparse(again.X_fit_)
    assert_array_equal(again.transform(NEW), model.transform(NEW))


def test_rows_are_never_all_dense(monkeypatch):
    """Of 100,000 columns a row has five: blocks of products are made dense, or a few rows at a time."""
    rng = np.random.default_rng(0)
    wide = sp.csr_array((rng.random(1500), rng.integers(0, 10**5, 1500), np.arange(301) * 5), shape=(300, 10**5))
    wide.sum_duplicates()
    seen, toarray = [], sp.csr_array.toarray
    monkeypatch.setattr(sp.csr_array, "toarray", lambda self, *a: seen.append(self.shape) or toarray(self, *a))
    for kernel in ("linear", "rbf", "cosine"):
        assert np.isfinite(KernelPCA(2, kernel=kernel).fit_transform(wide)).all()
    assert max(shape[1] for shape in seen) <= 1024  # blocks of products
    KernelPCA(2, kernel="chi2").fit(wide[:40])
    assert max(shape[0] for shape in seen if shape[1] == 10**5) <= chunk_rows(10**5, 8) < 40


def test_gram_and_definiteness_take_sparse_matrices():
    assert_allclose(lowdim.gram(X, "linear").dense(), lowdim.gram(X.toarray(), "linear").dense(), atol=1e-12)
    assert kernels.is_psd(sp.csr_array(X @ X.T))
    assert not kernels.is_psd(sp.diags_array([1.0, -1.0, 2.0]))
    assert kernels.is_conditionally_negative_definite(sp.csr_array(-(X @ X.T)))
    with pytest.raises(BadInputType, match="D is sparse"):
        kernels.is_euclidean(X @ X.T)
    with pytest.raises(BadInputType, match="a precomputed kernel must be dense"):
        KernelPCA(2, kernel="precomputed").fit(X @ X.T)
    with pytest.raises(BadInput, match="row 3, column 5"):
        kernels.rbf()(sp.csr_array(([np.nan], ([3], [5])), shape=(9, 9)))
    with pytest.raises(BadInput, match="nonnegative"):
        kernels.chi2()(-X)


def test_the_scale_of_sparse_rows_does_not_depend_on_what_is_stored():
    stored = X.copy()
    stored.data[::3] = 0  # stored zeros
    for kernel in (kernels.rbf(), kernels.polynomial(), kernels.laplacian(), kernels.rbf("median")):
        assert kernel.resolve(stored).gamma == pytest.approx(kernel.resolve(stored.toarray()).gamma, rel=1e-12)
