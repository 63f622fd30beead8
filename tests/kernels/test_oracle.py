"""Kernels against scikit-learn."""

from __future__ import annotations

import pytest
from numpy.testing import assert_allclose
from sklearn.metrics import pairwise_kernels

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
