"""Projection indices: published definitions, known values, gradients, invariance."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
import scipy.stats
from scipy.special import eval_legendre, ndtr

from lowdim.linear.projection_pursuit.catalog import INDEX_NAMES, make_index
from lowdim.linear.projection_pursuit.density_indices import default_bandwidth

N, R = 300, 5
CODES = np.arange(N) % 3


def sphered(X):
    return np.linalg.qr(X - X.mean(axis=0))[0] * np.sqrt(len(X))


def shaped_rows(seed=0, n=N):
    """Skewed, heavy-tailed and clustered columns, mixed and sphered."""
    rng = np.random.default_rng(seed)
    columns = [rng.exponential(size=n), rng.standard_t(8, size=n), rng.normal(size=n), rng.uniform(size=n)]
    X = np.column_stack([*columns, rng.normal(size=n) * 0.3 + (np.arange(n) % 3)])
    return sphered(X @ rng.normal(size=(R, R)))


def frame(k, seed=1, r=R):
    return np.linalg.qr(np.random.default_rng(seed).normal(size=(r, k)))[0]


def dimensions(name):
    most = make_index(name).dimensions
    return [1, 2, 3] if most is None else list(range(1, most + 1))


CASES = [(name, k) for name in INDEX_NAMES for k in dimensions(name)]


def value_of(name, Z, codes=None, **options):
    """The index of scores themselves."""
    return make_index(name, **options).objective(Z, codes)(np.eye(Z.shape[1]))[0]


@pytest.mark.parametrize(("name", "k"), CASES)
def test_the_gradient_is_that_of_finite_differences(name, k):
    objective = make_index(name).objective(shaped_rows(), CODES)
    A, rng, step = frame(k), np.random.default_rng(2), 1e-6
    _, gradient = objective(A)
    for _ in range(4):
        D = rng.normal(size=A.shape)
        slope = (objective(A + step * D)[0] - objective(A - step * D)[0]) / (2 * step)
        assert np.vdot(gradient, D) == pytest.approx(slope, rel=2e-5, abs=1e-9)


@pytest.mark.parametrize(("name", "k"), CASES)
def test_a_rotation_of_the_rows_and_the_frame_changes_nothing(name, k):
    Y, A = shaped_rows(), frame(k)
    Q = scipy.stats.ortho_group.rvs(R, random_state=3)
    before = make_index(name).objective(Y, CODES)(A)[0]
    assert make_index(name).objective(Y @ Q, CODES)(Q.T @ A)[0] == pytest.approx(before, rel=1e-9)


@pytest.mark.parametrize(("name", "k"), [(name, k) for name, k in CASES if k > 1])
def test_a_rotation_within_the_projection(name, k):
    index, Y, A = make_index(name), shaped_rows(), frame(k)
    turned = A @ scipy.stats.ortho_group.rvs(k, random_state=4)
    values = [index.objective(Y, CODES)(B)[0] for B in (A, turned)]
    close = values[0] == pytest.approx(values[1], rel=2e-4 if name == "friedman_tukey" else 1e-9)
    assert close == index.rotation_invariant


@pytest.mark.parametrize(("name", "k"), [case for case in CASES if case[0] not in ("lda", "pda")])
def test_reflections_and_the_order_of_rows_do_not_matter(name, k):
    Z = shaped_rows()[:, :k]
    assert value_of(name, -Z[::-1]) == pytest.approx(value_of(name, Z), rel=1e-9)


# Known values


def quantiles(distribution, n=200_001):
    z = distribution.ppf((np.arange(n) + 0.5) / n)
    return ((z - z.mean()) / z.std())[:, None]


@pytest.mark.parametrize(
    ("distribution", "kurtosis", "skewness"),
    [
        (scipy.stats.norm, 0.0, 0.0),
        (scipy.stats.uniform, 1.44, 0.0),  # excess -6/5
        (scipy.stats.expon, 36.0, 4.0),
        (scipy.stats.laplace, 9.0, 0.0),
        (scipy.stats.bernoulli(0.5), 4.0, 0.0),  # two points: excess -2
    ],
)
def test_moments_of_known_distributions(distribution, kurtosis, skewness):
    z = quantiles(distribution)
    assert value_of("kurtosis", z) == pytest.approx(kurtosis, rel=0.02, abs=1e-2)
    assert value_of("skewness", z) == pytest.approx(skewness, rel=0.02, abs=1e-6)
    assert value_of("moment", z) == pytest.approx((skewness + kurtosis / 4) / 12, rel=0.02, abs=1e-3)


@pytest.mark.parametrize("k", [1, 2])
def test_indices_of_departure_vanish_for_the_normal_density(k):
    z = quantiles(scipy.stats.norm, 401)
    Z = z if k == 1 else np.column_stack([np.repeat(z, 401), np.tile(z[:, 0], 401)])
    assert value_of("legendre", Z) == pytest.approx(0, abs=1e-4)
    if k == 1:
        assert value_of("negentropy", z) == pytest.approx(0, abs=1e-4)


def test_negentropy_of_two_points():
    Z = np.array([[1.0], [-1.0]])
    by_hand = 24 / (16 * 3**0.5 - 27) * (np.exp(-0.5) - 0.5**0.5) ** 2
    assert value_of("negentropy", Z) == pytest.approx(by_hand)
    lopsided = np.array([[2.0], [-0.5], [-0.5], [-0.5], [-0.5]])
    odd = np.mean(lopsided * np.exp(-(lopsided**2) / 2))
    even = np.mean(np.exp(-(lopsided**2) / 2)) - 0.5**0.5
    by_hand = 36 / (8 * 3**0.5 - 9) * odd**2 + 24 / (16 * 3**0.5 - 27) * even**2
    assert value_of("negentropy", lopsided) == pytest.approx(by_hand)


def test_negentropy_approximates_that_of_a_density():
    """Negentropy of a skewed density near the normal one, by numerical integration."""
    density = scipy.stats.skewnorm(3)
    true = np.log(np.sqrt(2 * np.pi * np.e) * density.std()) - float(density.entropy())
    assert value_of("negentropy", quantiles(density, 2001)) == pytest.approx(true, rel=0.35)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_holes_and_central_mass_are_those_of_tourr(k):
    """R's tourr: holes = (1 - Σ exp(-½ Σ z²) / n) / (1 - exp(-k/2)), cmass = 1 - holes."""
    Z = shaped_rows()[:, :k]
    holes = (1 - sum(np.exp(-0.5 * (row @ row)) for row in Z) / N) / (1 - np.exp(-k / 2))
    assert value_of("holes", Z) == pytest.approx(holes)
    assert value_of("central_mass", Z) == pytest.approx(1 - holes)


def test_legendre_by_hand():
    Z, J = shaped_rows()[:, :2], 4
    r = 2 * ndtr(Z) - 1
    one = sum((2 * j + 1) * eval_legendre(j, r[:, 0]).mean() ** 2 for j in range(1, J + 1)) / 2
    assert value_of("legendre", Z[:, :1], order=J) == pytest.approx(one)
    two = sum(
        (2 * j + 1) * (2 * m + 1) * (eval_legendre(j, r[:, 0]) * eval_legendre(m, r[:, 1])).mean() ** 2
        for j in range(J + 1)
        for m in range(J + 1 - j)
        if j + m > 0
    )
    assert value_of("legendre", Z, order=J) == pytest.approx(two / 4)
    assert value_of("legendre", Z, order=1) > 0


@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("bandwidth", [None, 0.3, 1.5])
def test_friedman_tukey_is_the_sum_over_pairs(k, bandwidth):
    Z = shaped_rows()[:, :k]
    h = default_bandwidth(N, k) if bandwidth is None else bandwidth
    squares = ((Z[:, None] - Z) ** 2).sum(axis=2) / h**2
    pairs = (35 / 32 if k == 1 else 4 / np.pi) * np.maximum(1 - squares, 0) ** 3
    assert value_of("friedman_tukey", Z, bandwidth=bandwidth) == pytest.approx(pairs.sum() / (N**2 * h**k), rel=1e-3)


def test_friedman_tukey_estimates_the_integral_of_the_squared_density():
    assert value_of("friedman_tukey", quantiles(scipy.stats.uniform), bandwidth=0.05) == pytest.approx(
        1 / 12**0.5, rel=0.01
    )
    assert value_of("friedman_tukey", quantiles(scipy.stats.norm), bandwidth=0.1) == pytest.approx(
        1 / (2 * np.sqrt(np.pi)), rel=0.01
    )


def test_far_outliers_need_no_huge_grid():
    Z = np.zeros((20_000, 2))
    Z[:2] = [[1e5, 0], [0, -1e5]]
    assert np.isfinite(value_of("friedman_tukey", Z))


@pytest.mark.parametrize("k", [1, 2])
def test_lda_is_one_minus_wilks_lambda(k):
    """R's tourr: 1 - det(W) / det(W + B) of the projected rows."""
    Z = shaped_rows()[:, :k]
    W = sum(np.cov(Z[c == CODES].T, ddof=0).reshape(k, k) * (c == CODES).sum() for c in range(3))
    T = np.cov(Z.T, ddof=0).reshape(k, k) * N
    det = np.linalg.det
    assert value_of("lda", Z, CODES) == pytest.approx(1 - det(W) / det(T), rel=1e-9)
    assert value_of("pda", Z, CODES, penalty=0.0) == pytest.approx(value_of("lda", Z, CODES))
    ridge = 0.3 * N * np.eye(k)
    by_hand = 1 - det(0.7 * W + ridge) / det(0.7 * T + ridge)
    assert value_of("pda", Z, CODES, penalty=0.3) == pytest.approx(by_hand)
