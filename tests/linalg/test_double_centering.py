"""Double centering: three forms of one matrix, the Gram matrix of centered points."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from lowdim.linalg.double_centering import double_center, double_center_in_place, double_centered_times


@given(st.integers(0, 1000), st.integers(1, 40))
def test_all_forms_give_the_inner_products_about_the_centroid(seed, n):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    squares = ((X[:, None] - X) ** 2).sum(axis=2)
    centered = X - X.mean(axis=0)
    gram = centered @ centered.T
    assert_allclose(double_center(squares), gram, atol=1e-12 * n)
    V = rng.standard_normal((n, 4))
    assert_allclose(double_centered_times(squares, V), gram @ V, atol=1e-10)
    D = np.sqrt(squares).astype(np.float32)
    means, norm = double_center_in_place(D, 2)
    assert_allclose(D, gram, atol=1e-5 * max(squares.max(), 1))
    assert_allclose(means, squares.mean(axis=1), rtol=1e-5, atol=1e-12)
    assert_allclose(norm, (gram**2).sum(), rtol=1e-4, atol=1e-8)
