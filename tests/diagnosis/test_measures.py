"""Measures of the diagnosis: known dimensions, laws of concentration and hubness, definitions by brute force."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.datasets import load_iris

from lowdim.diagnosis import diagnose
from lowdim.diagnosis._concentration import hubness, noise_rows
from lowdim.diagnosis._empty_space import empty_space
from lowdim.diagnosis._intrinsic_dimension import correlation_dimension, levina_bickel, two_nn
from lowdim.knn.exact import euclidean_distances, neighbors_in_double


def embedded(rows: np.ndarray, d: int = 12) -> np.ndarray:
    """The same distances in d columns."""
    axes = np.linalg.qr(np.random.default_rng(9).normal(size=(d, rows.shape[1])))[0]
    return rows @ axes.T


def sphere(rng) -> np.ndarray:
    rows = rng.normal(size=(1500, 3))
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.mark.parametrize(
    ("make", "dimension"),
    [
        (lambda rng: rng.uniform(size=(1500, 1)), 1),
        (lambda rng: rng.uniform(size=(1500, 2)), 2),
        (sphere, 2),
        (lambda rng: rng.normal(size=(1500, 3)), 3),
        (lambda rng: rng.normal(size=(1500, 5)), 5),
    ],
    ids=["line", "plane", "sphere", "Gaussian 3", "Gaussian 5"],
)
def test_known_dimensions(rng, make, dimension):
    found = diagnose(embedded(make(rng))).intrinsic
    for estimate in (found.two_nn, found.levina_bickel, found.correlation):
        assert estimate == pytest.approx(dimension, rel=0.12)


def test_two_nn_by_its_distribution():
    """Ratios with F(μ) = 1 - μ^-d have the dimension d."""
    ratio = (1 - np.random.default_rng(0).uniform(size=20_000)) ** (-1 / 7)
    near = np.column_stack([np.ones_like(ratio), ratio])
    assert two_nn(near) == pytest.approx(7, rel=0.02)
    near[:200, 1] = 1e6  # outliers among the ratios are discarded with the tail
    assert two_nn(near, discard=0.1) == pytest.approx(7, rel=0.05)
    assert two_nn(near, discard=0.001) < 1


def test_levina_bickel_by_its_formula(rng):
    near = np.sort(rng.uniform(0.1, 1, size=(20, 6)), axis=1)
    inverses = [np.mean([np.log(row[-1] / row[j]) for j in range(5)]) for row in near]
    assert levina_bickel(near) == pytest.approx(1 / np.mean(inverses), rel=1e-12)


def test_correlation_dimension_of_a_power_law():
    """C(r) = r^d exactly."""
    far = (np.arange(1, 100_001) / 100_000) ** (1 / 4)
    assert correlation_dimension(far[:, None]) == pytest.approx(4, rel=0.01)


def test_a_lattice_has_no_distance_ratio():
    assert diagnose(np.arange(50.0)[:, None] * 0.1).intrinsic.two_nn is None
    assert diagnose(np.eye(20)).intrinsic.typical is None


def test_nearest_neighbors_by_sorting_all_distances(rng):
    X = rng.normal(size=(300, 5)) + 1000
    full = cdist(X, X)
    np.fill_diagonal(full, np.inf)
    numbers, near = neighbors_in_double(X, 7, threads=2)
    np.testing.assert_array_equal(numbers, np.argsort(full, axis=1)[:, :7])
    np.testing.assert_allclose(near, np.sort(full, axis=1)[:, :7], rtol=1e-12)


def test_nearest_neighbors_keep_the_precision_of_close_pairs(rng):
    X = rng.normal(size=(50, 3))
    X[1] = X[0] + [1e-9, 0, 0]
    _, near = neighbors_in_double(X, 2, threads=1)
    assert near[0, 0] == pytest.approx(X[1, 0] - X[0, 0], rel=1e-12)


def test_contrast_and_variation_by_definition(rng):
    X = rng.normal(size=(120, 4)) * [1, 2, 3, 4] + 50
    full = cdist(X, X)
    off = full[~np.eye(120, dtype=bool)].reshape(120, 119)
    contrast = (off.max(axis=1) - off.min(axis=1)) / off.min(axis=1)
    found = diagnose(X).concentration
    assert found.relative_contrast == pytest.approx(np.median(contrast), rel=1e-9)
    assert found.variation == pytest.approx(off.std() / off.mean(), rel=1e-9)


def test_distances_concentrate_and_hubs_grow_with_the_columns(rng):
    found = [diagnose(rng.normal(size=(600, d))) for d in (2, 8, 32, 128)]
    contrast = [f.concentration.relative_contrast for f in found]
    variation = [f.concentration.variation for f in found]
    hubs = [f.hubness.skewness for f in found]
    assert contrast == sorted(contrast, reverse=True) and contrast[-1] < 0.1 * contrast[0]
    assert variation == sorted(variation, reverse=True)
    # |x - y|² ~ 2 χ²_d: the distance has about the variation 1/√(2d).
    assert variation[-1] == pytest.approx(1 / np.sqrt(2 * 128), rel=0.1)
    assert hubs[1:] == sorted(hubs[1:]) and hubs[-1] > 2 > abs(hubs[0])
    for f in found:  # these rows are noise, and so must look like it
        assert f.concentration.variation == pytest.approx(f.concentration_noise.variation, rel=0.1)


def test_hubness_by_definition():
    neighbors = np.array([[1, 2], [0, 2], [0, 1], [0, 2], [0, 1], [0, 1]])
    found = hubness(neighbors, np.array([10, 20, 30, 40, 50, 60]))
    appears = np.array([5, 4, 3, 0, 0, 0])
    assert abs(scipy.stats.skew(appears)) > 0.1
    assert found.skewness == pytest.approx(scipy.stats.skew(appears), rel=1e-12)
    assert (found.k, found.antihubs, found.largest, found.hub) == (2, 0.5, 5, 10)


def test_the_hub_is_a_row_of_the_table(rng):
    X = rng.normal(size=(101, 40))
    X[37] = 0  # the center is close to all rows
    assert diagnose(X).hubness.hub == 37


@pytest.mark.parametrize(("n", "d"), [(40, 6), (40, 300)])
def test_noise_drawn_in_fewer_coordinates_has_the_same_distances(n, d):
    tables = [noise_rows(n, d, seed) for seed in range(30)]
    squares = [euclidean_distances(R, R)[np.triu_indices(n, 1)] ** 2 for R in tables]
    assert np.mean([np.mean(square) for square in squares]) == pytest.approx(2 * d, rel=0.05)
    assert np.mean([np.var(square) for square in squares]) == pytest.approx(8 * d, rel=0.15)  # Var of 2 χ²_d


def test_empty_cells_by_hand():
    corners = np.array([[0, 0], [0, 10], [9, 0], [9, 10]], dtype=float)
    found = empty_space(corners, rows=4, bins=5)
    assert found.cells == (5, 25)
    assert found.empty == pytest.approx((3 / 5, 21 / 25))
    assert found.expected_empty == pytest.approx(((4 / 5) ** 4, (24 / 25) ** 4))
    assert found.log10_cells == pytest.approx(2 * np.log10(5))
    diagonal = np.repeat(np.arange(5.0)[:, None], 2, axis=1)
    assert empty_space(diagonal, rows=5, bins=5).empty == pytest.approx((0, 20 / 25))
    # The column that varies most comes first: two values of it leave three of five bins empty.
    unequal = np.column_stack([np.arange(10.0), np.repeat([0.0, 100.0], 5)])
    assert empty_space(unequal, rows=10, bins=5).empty[0] == pytest.approx(3 / 5)


def test_uniform_rows_leave_the_expected_share_of_empty_cells(rng):
    found = diagnose(rng.uniform(size=(2000, 6))).space
    np.testing.assert_allclose(found.empty, found.expected_empty, atol=0.02)


def test_correlations_by_definition(rng):
    X = rng.normal(size=(200, 4)) @ rng.normal(size=(4, 4))
    R = np.corrcoef(X.T)
    r = R[np.triu_indices(4, 1)]
    found = diagnose(X).correlations
    assert found.mean_correlation == pytest.approx(np.abs(r).mean(), rel=1e-10)
    assert found.strong == pytest.approx((np.abs(r) > 0.5).mean())
    assert found.largest == pytest.approx(r[np.argmax(np.abs(r))], rel=1e-10)
    shares = np.linalg.eigvalsh(R) / 4
    assert found.effective_rank == pytest.approx(np.exp(-(shares * np.log(shares)).sum()), rel=1e-8)


def test_kmo_by_residuals_and_bartlett_by_its_statistic():
    X = load_iris().data
    n, p = X.shape
    Z = X - X.mean(axis=0)
    R = np.corrcoef(Z.T)
    related = partial = 0.0
    for i in range(p):
        for j in set(range(p)) - {i}:
            others = Z[:, [c for c in range(p) if c not in (i, j)]]
            a, b = (Z[:, c] - others @ np.linalg.lstsq(others, Z[:, c], rcond=None)[0] for c in (i, j))
            partial += (a @ b) ** 2 / (a @ a) / (b @ b)
            related += R[i, j] ** 2
    found = diagnose(X).correlations
    assert found.kmo == pytest.approx(related / (related + partial), rel=1e-9)
    assert found.kmo == pytest.approx(0.54, abs=0.005)
    chi2 = -(n - 1 - (2 * p + 5) / 6) * np.linalg.slogdet(R)[1]
    assert found.bartlett_p == pytest.approx(scipy.stats.chi2.sf(chi2, p * (p - 1) / 2), rel=1e-6)


def test_sphericity_is_uniform_under_the_null():
    p = [diagnose(np.random.default_rng(s).normal(size=(60, 5))).correlations.bartlett_p for s in range(60)]
    assert scipy.stats.kstest(p, "uniform").pvalue > 0.01


def test_sphericity_is_not_reported_where_its_approximation_fails(rng):
    assert diagnose(rng.normal(size=(300, 100))).correlations.bartlett_p is None


@given(st.integers(0, 10_000), st.integers(-30, 30))
def test_geometry_ignores_units_and_shift(seed, power):
    X = np.random.default_rng(seed).normal(size=(25, 3))
    here, there = diagnose(X), diagnose(X * 2.0**power)
    assert here.hubness == there.hubness
    assert here.intrinsic.two_nn == pytest.approx(there.intrinsic.two_nn, rel=1e-9)
    assert here.concentration.relative_contrast == pytest.approx(there.concentration.relative_contrast, rel=1e-9)
    assert here.correlations.effective_rank == pytest.approx(there.correlations.effective_rank, rel=1e-9)


@given(st.integers(0, 10_000))
def test_geometry_ignores_order_of_rows_and_rotation(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(25, 3))
    here = diagnose(X)
    for Y in (X[rng.permutation(25)], X @ np.linalg.qr(rng.normal(size=(3, 3)))[0]):
        there = diagnose(Y)
        assert here.hubness.skewness == pytest.approx(there.hubness.skewness, rel=1e-9, abs=1e-9)
        assert here.intrinsic.levina_bickel == pytest.approx(there.intrinsic.levina_bickel, rel=1e-9)
        assert here.concentration.variation == pytest.approx(there.concentration.variation, rel=1e-9)
