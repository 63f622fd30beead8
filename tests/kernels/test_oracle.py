"""Kernels and kernel PCA against scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import subspace_angles
from sklearn.decomposition import KernelPCA as Reference
from sklearn.metrics import pairwise_kernels

from lowdim import KernelPCA
from lowdim.kernels import chi2, cosine, laplacian, linear, polynomial, rbf, sigmoid

PAIRS = [
    (linear(), "linear", {}),
    (cosine(), "cosine", {}),
    (rbf(0.2), "rbf", {"gamma": 0.2}),
    (polynomial(3, 0.5, 2.0), "poly", {"degree": 3, "gamma": 0.5, "coef0": 2.0}),
    (sigmoid(0.1, 0.3), "sigmoid", {"gamma": 0.1, "coef0": 0.3}),
    (laplacian(0.2), "laplacian", {"gamma": 0.2}),
    (chi2(0.2), "chi2", {"gamma": 0.2}),
]


@pytest.mark.parametrize(("ours", "name", "options"), PAIRS, ids=lambda v: str(v) if not isinstance(v, dict) else "")
def test_pairwise_kernels(ours, name, options, rng):
    X, Y = rng.uniform(0, 2, (40, 5)), rng.uniform(0, 2, (9, 5))
    X[3] = 0
    for other in (None, Y):
        assert_allclose(ours(X, other), pairwise_kernels(X, other, metric=name, **options), atol=1e-12)


@pytest.mark.parametrize("solver", ["dense", "lanczos"])
@pytest.mark.parametrize(
    ("kernel", "name", "options"), PAIRS[:4], ids=lambda v: str(v) if not isinstance(v, dict) else ""
)
def test_kernel_pca(solver, kernel, name, options, rng):
    X = rng.standard_normal((150, 6)) * [3, 2.5, 2, 1.5, 1, 0.5] + 1
    new = rng.standard_normal((20, 6)) + 1
    ours = KernelPCA(3, kernel=kernel, solver=solver).fit(X)
    theirs = Reference(3, kernel=name, eigen_solver="dense", **options).fit(X)
    assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-9)
    signs = np.sign(np.sum(ours.scores_ * theirs.transform(X), axis=0))
    assert_allclose(ours.transform(new), theirs.transform(new) * signs, atol=1e-6 * np.abs(theirs.transform(new)).max())
    angles = subspace_angles(ours.scores_, theirs.transform(X))
    assert angles.max() < 1e-8


def test_precision_of_the_iteration(digits):
    X = digits / 16
    exact = KernelPCA(10, gamma=0.02, solver="dense").fit(X)
    for dtype, bound in ((np.float64, 1e-8), (np.float32, 1e-5)):
        found = KernelPCA(10, gamma=0.02, solver="lanczos").fit(X.astype(dtype))
        assert subspace_angles(found.scores_.astype(float), exact.scores_).max() < bound
        assert found.converged_
