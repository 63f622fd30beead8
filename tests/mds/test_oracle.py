"""MDS against published numbers, scikit-learn's SMACOF and independent NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.spatial.distance import pdist, squareform
from sklearn.isotonic import IsotonicRegression
from sklearn.manifold import smacof

from lowdim import MDS, NonmetricMDS, datasets
from lowdim.distance.condensed import Pairs
from lowdim.mds.disparities import RatioDisparities
from lowdim.mds.isotonic import IsotonicDisparities
from lowdim.mds.monotone_spline import SplineDisparities
from lowdim.mds.smacof import MDSOptions, guttman_solver, majorize, majorize_in_stages
from lowdim.mds.sstress import sstress_gradient


@pytest.fixture(scope="module")
def cities():
    return datasets.load("cities").X


def pairs_of(D, weights=None):
    upper = np.triu_indices(len(D), 1)
    return Pairs(len(D), D[upper].copy(), None if weights is None else weights[upper].copy(), 1.0)


def test_published_stress_of_nine_cities(cities):
    model = MDS(metric="precomputed", tol=1e-15, n_init=8).fit(cities)
    assert model.stress_ == pytest.approx(28187.044, abs=5e-4)
    assert model.stress1_ == pytest.approx(0.013991, abs=5e-7)
    residuals = pdist(model.embedding_) - squareform(cities)
    assert model.stress_ == pytest.approx(residuals @ residuals, rel=1e-12)
    assert model.stress1_ == pytest.approx(np.sqrt(residuals @ residuals / (squareform(cities) @ squareform(cities))))
    np.testing.assert_allclose(model.stress_per_point_, (squareform(residuals) ** 2).sum(axis=1), rtol=1e-9)


@pytest.mark.parametrize("steps", [1, 2, 7, 40])
def test_smacof_iterations_are_those_of_scikit_learn(steps, cities, rng):
    start = rng.standard_normal((9, 2)) * 1000
    points, _ = smacof(
        cities, n_components=2, init=start, n_init=1, max_iter=steps, eps=0, normalized_stress=False, random_state=0
    )
    pairs = pairs_of(cities)
    # scikit-learn's n-th iteration ends with the embedding, lowdim's with its stress: one more pass computes it
    options = MDSOptions(steps + 1, 0.0, 1, relaxed=False)
    ours = majorize(pairs, start, RatioDisparities(pairs), options, guttman_solver(pairs))
    np.testing.assert_allclose(pdist(ours.embedding), pdist(points), rtol=1e-8)
    best = ((pdist(points) - squareform(cities)) ** 2).sum()
    assert ours.loss == pytest.approx(best, rel=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
def test_an_iteration_is_the_guttman_transform(weighted, rng):
    """V⁺ B(Y) Y with a pseudo-inverse, straight from the definition."""
    D = squareform(rng.uniform(1, 3, 45))
    W = squareform(rng.uniform(0.1, 2, 45) * (rng.random(45) < 0.8)) if weighted else None
    pairs, Y = pairs_of(D, W), rng.standard_normal((10, 3))
    w = np.ones((10, 10)) - np.eye(10) if W is None else W
    V = np.diag(w.sum(axis=1)) - w
    d = squareform(pdist(Y)) + np.eye(10)
    B = -w * D / d
    B -= np.diag(B.sum(axis=1))
    guttman = np.linalg.pinv(V) @ B @ Y
    ours = majorize(pairs, Y, RatioDisparities(pairs), MDSOptions(2, 0.0, 1, relaxed=False), guttman_solver(pairs))
    np.testing.assert_allclose(ours.embedding, guttman, atol=1e-10)


def test_relaxed_updates_converge_in_fewer_iterations(digits):
    X = digits[:150]
    pairs = pairs_of(squareform(pdist(X)))
    start = X[:, 10:12] - X[:, 10:12].mean(axis=0)
    plain, relaxed = (
        majorize(pairs, start, RatioDisparities(pairs), MDSOptions(2000, 1e-8, 1, relaxed), guttman_solver(pairs))
        for relaxed in (False, True)
    )
    assert relaxed.n_iter < plain.n_iter
    assert len(relaxed.path) == relaxed.n_iter  # no update had to be halved
    assert relaxed.path[20] < plain.path[20]


@pytest.mark.parametrize("kind", ["ratio", "spline", "isotonic"])
def test_a_single_precision_stage_ends_at_the_same_stress(kind, digits):
    """More than 512 rows begin in float32; the loss never rises, and ends where float64 alone does."""
    X = digits[:530]
    pairs = pairs_of(squareform(pdist(X)))
    make = {
        "ratio": RatioDisparities,
        "spline": lambda p: SplineDisparities(p, 2),
        "isotonic": lambda p: IsotonicDisparities(p, "primary"),
    }[kind]
    start = (X - X.mean(axis=0)) @ np.linalg.svd(X - X.mean(axis=0), full_matrices=False)[2][:2].T
    options = MDSOptions(400, 1e-8, 1)
    alone = majorize(pairs, start, make(pairs), options, guttman_solver(pairs))
    staged = majorize_in_stages(pairs, start, make(pairs), options, guttman_solver(pairs))
    assert staged.loss == pytest.approx(alone.loss, rel=1e-3)
    assert (np.diff(staged.path) <= 1e-6 * staged.path[0]).all()
    assert len(staged.path) > 20


def test_gradient_of_sstress_by_finite_differences(rng):
    D, W = squareform(rng.uniform(1, 3, 45)), squareform(rng.uniform(0, 2, 45))
    pairs, Y = pairs_of(D, W), rng.standard_normal((10, 2))

    def loss(flat):
        return (squareform(W) * (pdist(flat.reshape(10, 2)) ** 2 - squareform(D) ** 2) ** 2).sum()

    value, gradient = sstress_gradient(pairs, Y, 1)
    assert value == pytest.approx(loss(Y.ravel()))
    offsets = np.eye(20) * 1e-5
    numeric = [(loss(Y.ravel() + e) - loss(Y.ravel() - e)) / 2e-5 for e in offsets]
    np.testing.assert_allclose(gradient.ravel(), numeric, rtol=1e-5, atol=1e-4)


def test_sstress_is_as_low_as_a_general_optimizer_finds(cities):
    """Lecture 2, equation (4)."""
    wanted = squareform(cities / 1000) ** 2

    def loss(flat):
        return ((pdist(flat.reshape(9, 2)) ** 2 - wanted) ** 2).sum()

    model = MDS(metric="precomputed", loss="sstress", tol=1e-15).fit(cities)
    assert model.stress_ == pytest.approx(loss(model.embedding_.ravel() / 1000) * 1e12, rel=1e-9)
    found = minimize(loss, model.embedding_.ravel() / 1000 + 0.01, method="BFGS", tol=1e-12)
    assert model.stress_ <= found.fun * 1e12 * (1 + 1e-9)


def test_nonmetric_disparities_are_isotonic_regression(cities, rng):
    """d̂ is scikit-learn's isotonic regression of the embedding's distances on the dissimilarities, to scale."""
    pairs, Y = pairs_of(cities), rng.standard_normal((9, 2))
    isotonic = IsotonicDisparities(pairs, "primary")
    targets = isotonic.update(np.ascontiguousarray(Y.T), 1)[isotonic.ranking.slots()]
    fitted = IsotonicRegression().fit_transform(squareform(cities), pdist(Y))
    np.testing.assert_allclose(targets, fitted * np.sqrt(pairs.sum_of_squares / (fitted @ fitted)), rtol=1e-12)


def test_a_line_is_the_least_squares_fit(cities, rng):
    """No nondecreasing line fits the distances of the embedding better (on Σ d̂² = Σ δ²)."""
    pairs, Y = pairs_of(cities), rng.standard_normal((9, 2))
    d, delta = pdist(Y), squareform(cities)

    def cosine(targets):
        return targets @ d / np.linalg.norm(targets) / np.linalg.norm(d)

    line = SplineDisparities(pairs, 1)
    best = cosine(line.update(np.ascontiguousarray(Y.T), 1))
    for a in np.linspace(-400, 20000, 800):
        for slope in (0.0, 1.0):
            candidate = a + slope * delta
            if (candidate >= 0).all() and candidate.any():
                assert cosine(candidate) <= best + 1e-12
    spline = SplineDisparities(pairs, 2)
    targets = spline.update(np.ascontiguousarray(Y.T), 1)
    assert cosine(targets) >= best - 1e-12  # a line is a spline
    order = np.argsort(delta)
    assert (np.diff(targets[order]) >= -1e-9).all()
    assert (targets >= 0).all()
    np.testing.assert_allclose(np.interp(delta, *spline.curve()), targets, rtol=2e-3, atol=1)


def test_nonmetric_is_no_worse_than_scikit_learn(digits):
    X = digits[:120]
    D = squareform(pdist(X))
    theirs = smacof(D, metric=False, n_init=1, init=None, random_state=0, max_iter=300, normalized_stress=True)[1]
    ours = NonmetricMDS(metric="precomputed", n_init=2).fit(D)
    assert ours.stress1_ <= theirs * 1.01


def test_a_spline_is_the_least_squares_fit(rng):
    """Against a general optimizer over the spline's own coefficients, with weights and a missing pair."""
    from scipy.interpolate import BSpline

    D, W = squareform(rng.uniform(1, 9, 66)), squareform(rng.uniform(0.2, 2, 66))
    W[0, 1] = W[1, 0] = 0
    pairs, Y = pairs_of(D, W), rng.standard_normal((12, 2))
    delta, w, d = pairs.distances, pairs.weights, pdist(Y)
    fit = SplineDisparities(pairs, 2)
    targets = fit.update(np.ascontiguousarray(Y.T), 1)
    assert (w * targets) @ targets == pytest.approx(pairs.sum_of_squares, rel=1e-12)
    t = (delta - fit.low) / fit.width
    knots = np.concatenate([[0.0] * 3, fit.knots, [1.0] * 3])
    assert len(fit.knots) == 4 and abs((t[w > 0] < fit.knots[1]).mean() - 0.4) < 0.02
    splines = BSpline(knots, np.eye(len(knots) - 3), 2)(np.clip(t, 0, 1))

    def loss(increments):
        return (w * (splines @ np.cumsum(increments) - d) ** 2).sum()

    best = minimize(loss, np.ones(splines.shape[1]), bounds=[(0, None)] * splines.shape[1], tol=1e-14).x
    fitted = splines @ np.cumsum(best)
    fitted *= np.sqrt(pairs.sum_of_squares / ((w * fitted) @ fitted))
    np.testing.assert_allclose(targets[w > 0], fitted[w > 0], atol=2e-3 * fitted.max())


def test_knots_that_nearly_coincide_are_merged(rng):
    """Most distances are nearly equal: knots that coincide would divide by zero."""
    d = np.concatenate([5 + 1e-9 * rng.random(55), rng.uniform(1, 9, 11)])
    fit = SplineDisparities(Pairs(12, d, None, 1.0), 2)
    targets = fit.update(np.ascontiguousarray(rng.standard_normal((2, 12))), 1)
    assert len(fit.knots) <= 2
    assert np.isfinite(targets).all() and (np.diff(targets[np.argsort(d)]) >= -1e-9).all()
    assert targets @ targets == pytest.approx(d @ d, rel=1e-9)
