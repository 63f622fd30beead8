"""Invariances of Isomap and Laplacian eigenmaps, and laws of geodesic distances."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.datasets import make_s_curve

from lowdim import Isomap, LaplacianEigenmaps
from lowdim.errors import LowdimError

X = make_s_curve(150, random_state=0)[0] * [1.0, 1.3, 0.8]
MODELS = {
    "isomap": Isomap(2, n_neighbors=7),
    "by radius": Isomap(2, radius=1.0),
    "conformal": Isomap(2, n_neighbors=7, conformal=True),
    "laplacian": LaplacianEigenmaps(2),
    "laplacian, one γ": LaplacianEigenmaps(2, gamma="median", laplacian="symmetric"),
    "diffusion": LaplacianEigenmaps(2, diffusion_time=2, alpha=1.0),
    "binary": LaplacianEigenmaps(2, affinity="binary", laplacian="unnormalized"),
}


def close(A, B, atol=1e-3):
    signs = np.sign((A * B).sum(axis=0))
    np.testing.assert_allclose(A * signs, B, atol=atol * np.abs(B).max())


@pytest.mark.parametrize("name", MODELS)
@settings(max_examples=8)
@given(seed=st.integers(0, 2**32 - 1))
def test_invariance_to_the_order_of_the_rows(name, seed):
    order = np.random.default_rng(seed).permutation(len(X))
    close(MODELS[name].fit_transform(X[order]), MODELS[name].fit_transform(X)[order])


@pytest.mark.parametrize("name", MODELS)
@settings(max_examples=8)
@given(seed=st.integers(0, 2**32 - 1))
def test_invariance_to_rigid_motions(name, seed):
    rng = np.random.default_rng(seed)
    turn = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    # A radius may fall between two roundings of a distance; here no distance comes near it.
    close(MODELS[name].fit_transform(X @ turn + rng.standard_normal(3)), MODELS[name].fit_transform(X))


@settings(max_examples=8)
@given(exponent=st.integers(-20, 20))
def test_scale(exponent):
    """Isomap scales with the rows, exactly by powers of two; Laplacian eigenmaps do not depend on it."""
    factor = 2.0**exponent
    for name in ("isomap", "conformal", "laplacian", "laplacian, one γ", "binary"):
        got, want = MODELS[name].fit_transform(X * factor), MODELS[name].fit_transform(X)
        np.testing.assert_allclose(got, want * factor if name == "isomap" else want, rtol=1e-6, atol=1e-9 * factor)


@pytest.mark.filterwarnings("ignore::lowdim.errors.LowdimWarning")
@given(
    hnp.arrays(np.float64, st.tuples(st.integers(2, 14), st.integers(1, 3)), elements=st.floats(-100, 100, width=16)),
    st.sampled_from(list(MODELS)),
)
def test_finite_whatever_the_rows(rows, name):
    before = rows.copy()
    try:
        model = MODELS[name].fit(rows)
    except LowdimError:
        assume(False)
    assert np.isfinite(model.embedding_).all()
    assert np.isfinite(model.transform(rows + 0.5)).all()
    np.testing.assert_array_equal(rows, before)


@given(st.integers(0, 10**6))
def test_geodesics_are_never_shorter_than_straight_lines(seed):
    """They are a metric."""
    rng = np.random.default_rng(seed)
    strip = rng.random((80, 2)) * [4, 1]
    model = Isomap(3, n_neighbors=8).fit(strip)
    geodesics = model._state.graph.geodesics_from_rows(np.arange(80), 1) * model._state.unit
    straight = np.linalg.norm(strip[:, None] - strip, axis=2)
    assert (geodesics >= straight * (1 - 1e-6)).all()
    np.testing.assert_allclose(geodesics, geodesics.T, rtol=1e-5)
    assert (geodesics[:, :, None] + geodesics[None] >= geodesics[:, None, :] * (1 - 1e-5)).all()
