"""Classical scaling against lecture 2's cities, R's published figures for them, and scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import lowdim
from lowdim import ClassicalMDS
from lowdim.kernels import is_euclidean

VALUES = [13949791.247, 2124813.269, 183009.131, 90600.521, 37352.793, 0, -412.232, -62312.068, -323706.772]
MAP = [
    (1348.67, 462.40),
    (1198.87, 306.55),
    (1076.99, 136.43),
    (1226.94, -1013.63),
    (428.45, 174.60),
    (-1596.16, 639.31),
    (-1697.23, -131.69),
    (-1464.05, -560.58),
    (-522.49, -13.40),
]


@pytest.fixture(scope="module")
def cities():
    return lowdim.datasets.load("cities").X


def distances(Z):
    return np.sqrt(((Z[:, None] - Z[None]) ** 2).sum(axis=-1))


def test_cities(cities):
    model = ClassicalMDS(2, metric="precomputed")
    Z = model.fit_transform(cities)
    assert_allclose(model.eigenvalues_, VALUES, atol=6e-4)
    assert_allclose(Z * np.sign(Z[0]), MAP, atol=6e-3)
    assert_allclose(model.goodness_of_fit_, [0.958419, 0.981022], atol=6e-7)
    assert_allclose(model.transform(cities), Z, atol=1e-9)


def test_cities_are_not_euclidean_although_no_triangle_is_violated(cities):
    detours = cities[:, :, None] + cities[None]
    assert (cities[:, None, :] <= detours).all()
    verdict = is_euclidean(cities)
    assert not verdict
    assert verdict.smallest == pytest.approx(-323706.772, abs=1e-3)


def test_nine_components_have_no_nan(cities):
    model = ClassicalMDS(9, metric="precomputed").fit(cities)
    assert np.isfinite(model.embedding_).all()
    assert_allclose(model.embedding_[:, 5:], 0, atol=1e-3)
    assert ClassicalMDS(None, metric="precomputed").fit(cities).embedding_.shape == (9, 5)


@pytest.mark.parametrize(
    ("correction", "constant", "wanted"),
    [
        ("lingoes", 323706.772, lambda d, c: np.sqrt(d**2 + 2 * c)),
        ("cailliez", 372.4723, lambda d, c: d + c),
    ],
)
def test_corrections(cities, correction, constant, wanted):
    model = ClassicalMDS(8, metric="precomputed", correction=correction).fit(cities)
    found = model.correction_constant_
    assert found == pytest.approx(constant, abs=6e-4)
    expected = wanted(cities, found)
    np.fill_diagonal(expected, 0)
    assert_allclose(distances(model.embedding_), expected, atol=1e-6)
    assert model.eigenvalues_.min() > -1e-3
    assert_allclose(model.transform(cities), model.embedding_, atol=1e-6)
    assert not is_euclidean(wanted(cities, 0.99 * found) * (1 - np.eye(9)))  # no smaller constant will do
    plain = ClassicalMDS(2, correction=correction).fit(model.embedding_)
    assert plain.correction_constant_ == 0


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "precomputed"])
def test_scikit_learn(metric, rng):
    from sklearn.manifold import ClassicalMDS as Reference

    X = rng.standard_normal((60, 5)) * [5, 4, 3, 2, 1] + 7
    X = distances(X) if metric == "precomputed" else X
    ours, theirs = ClassicalMDS(3, metric=metric).fit(X), Reference(3, metric=metric).fit(X)
    assert_allclose(ours.eigenvalues_[:3], theirs.eigenvalues_, rtol=1e-9)
    assert_allclose(np.abs(ours.embedding_), np.abs(theirs.embedding_), atol=1e-9)
