"""Kernel PCA against scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import subspace_angles
from sklearn.decomposition import KernelPCA as Reference

from lowdim import KernelPCA
from lowdim.kernels import cosine, linear, polynomial, rbf

PAIRS = [
    (linear(), "linear", {}),
    (cosine(), "cosine", {}),
    (rbf(0.2), "rbf", {"gamma": 0.2}),
    (polynomial(3, 0.5, 2.0), "poly", {"degree": 3, "gamma": 0.5, "coef0": 2.0}),
]


@pytest.mark.parametrize("solver", ["dense", "lanczos"])
@pytest.mark.parametrize(("kernel", "name", "options"), PAIRS, ids=lambda v: str(v) if not isinstance(v, dict) else "")
def test_scikit_learn(solver, kernel, name, options, rng):
    X = rng.standard_normal((150, 6)) * [3, 2.5, 2, 1.5, 1, 0.5] + 1
    new = rng.standard_normal((20, 6)) + 1
    ours = KernelPCA(3, kernel=kernel, solver=solver)
    Z = ours.fit_transform(X)
    theirs = Reference(3, kernel=name, eigen_solver="dense", **options).fit(X)
    assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-9)
    signs = np.sign(np.sum(Z * theirs.transform(X), axis=0))
    assert_allclose(ours.transform(new), theirs.transform(new) * signs, atol=1e-6 * np.abs(theirs.transform(new)).max())
    assert_allclose(ours.alphas_, theirs.eigenvectors_ * signs / np.sqrt(theirs.eigenvalues_), atol=1e-6)
    assert subspace_angles(Z, theirs.transform(X)).max() < 1e-8


def test_precision_of_block_lanczos(digits):
    X = digits / 16
    exact = KernelPCA(10, gamma=0.02, solver="dense").fit_transform(X)
    for dtype, bound in ((np.float64, 1e-8), (np.float32, 1e-5)):
        model = KernelPCA(10, gamma=0.02, solver="lanczos")
        Z = model.fit_transform(X.astype(dtype))
        assert subspace_angles(Z.astype(float), exact).max() < bound
        assert model.converged_
