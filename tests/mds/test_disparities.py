"""Disparities: ties by hand, the disparity curve, the Shepard diagram, memory of the ranks."""

from __future__ import annotations

import tracemalloc
import warnings

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform
from sklearn.base import clone

from lowdim import MDS, NonmetricMDS
from lowdim.distance.condensed import Pairs
from lowdim.errors import BadInput, LowdimWarning, MemoryTooSmall
from lowdim.mds import nonmetric
from lowdim.mds.disparities import apply_disparity_curve
from lowdim.mds.isotonic import IsotonicDisparities
from lowdim.runtime import memory

# Three points on a line: pairs (0,1), (0,2), (1,2) at 1, 5, 4.
LINE = np.array([[0.0, 1.0, 5.0]])


def disparities(dissimilarities, ties):
    """The disparities of LINE, and Σ δ², to which they are scaled."""
    pairs = Pairs(3, np.array(dissimilarities, dtype=float), None, 1.0)
    ranks = IsotonicDisparities(pairs, ties)
    return ranks.update(LINE, 1)[ranks.ranking.slots()], pairs.sum_of_squares


@pytest.mark.parametrize(
    ("ties", "want"),
    [
        # (0,1) and (0,2) are tied below (1,2). Primary: 1, 5, 4 in the order 1, 5 | 4 pools 5 and 4.
        ("primary", [1, 4.5, 4.5]),
        # Secondary: the tied mean 3 lies below 4.
        ("secondary", [3, 3, 4]),
        # Tertiary: the means are monotone already, so nothing changes.
        ("tertiary", [1, 5, 4]),
    ],
)
def test_three_treatments_of_ties_by_hand(ties, want):
    got, total = disparities([2, 2, 3], ties)
    want = np.array(want, dtype=float)
    np.testing.assert_allclose(got, want * np.sqrt(total / (want @ want)), rtol=1e-12)


@pytest.mark.parametrize(
    ("ties", "want"),
    [
        # Now (0,2) comes first, and (0,1), (1,2) are tied behind it. Primary: 5 | 1, 4 pools 5 and 1 to 3.
        ("primary", [3, 3, 4]),
        # Secondary: 5 | 2.5, 2.5 decreases, so all pool.
        ("secondary", [10 / 3, 10 / 3, 10 / 3]),
        # Means 5 and 2.5 pool to 10/3: the tied pairs keep their deviations -1.5 and 1.5 from it.
        ("tertiary", [10 / 3 - 1.5, 10 / 3, 10 / 3 + 1.5]),
    ],
)
def test_pooled_ties_by_hand(ties, want):
    got, total = disparities([3, 1, 3], ties)
    want = np.array(want, dtype=float)
    np.testing.assert_allclose(got, want * np.sqrt(total / (want @ want)), rtol=1e-12)


def test_treatments_of_ties_differ_on_ratings():
    rng = np.random.default_rng(0)
    D = squareform(rng.integers(1, 4, 105).astype(float))
    fits = {t: NonmetricMDS(metric="precomputed", ties=t, max_iter=3000).fit(D).stress1_ for t in
            ("primary", "secondary", "tertiary")}  # fmt: skip
    assert fits["tertiary"] < fits["secondary"]
    assert fits["primary"] < fits["secondary"]  # freer disparities fit better


def test_a_disparity_curve_interpolates_and_extrapolates_in_proportion():
    curve = np.array([[1.0, 2.0, 4.0], [2.0, 3.0, 3.0]])
    np.testing.assert_allclose(apply_disparity_curve(np.array([0.0, 0.5, 1, 1.5, 3, 8]), curve), [0, 1, 2, 2.5, 3, 6])


def test_shepard_diagram(rng):
    X = rng.standard_normal((20, 5))
    for model in (MDS(), MDS(transformation="interval"), MDS(transformation="spline"), NonmetricMDS()):
        shown = model.fit(X).shepard(X)
        np.testing.assert_allclose(shown.distances, pdist(X))
        np.testing.assert_allclose(shown.mapped, pdist(model.embedding_))
        residuals = shown.disparities - shown.mapped
        assert residuals @ residuals == pytest.approx(model.stress_, rel=1e-2)
        assert (np.diff(shown.disparities[np.argsort(shown.distances)]) >= -1e-9).all()
    with pytest.raises(BadInput, match="20 fitted rows"):
        model.shepard(X[:5])


def test_memory_of_ranks_is_required_before_any_distance_is_computed(monkeypatch, rng):
    """About 80 bytes per pair in float64, for each of the starts that run at once."""
    X = rng.standard_normal((300, 3))
    pairs = 300 * 299 // 2
    for starts, enough in ((1, 90), (4, 320)):
        model = NonmetricMDS(n_init=starts, n_jobs=4, max_iter=1)
        monkeypatch.setattr(memory, "available_bytes", lambda: 60 * starts * pairs)  # noqa: B023
        with pytest.raises(MemoryTooSmall, match=r"solver='sgd'"):
            model.fit(X)
        monkeypatch.setattr(memory, "available_bytes", lambda: enough * pairs)  # noqa: B023
        with pytest.warns(LowdimWarning, match="did not converge within"):
            model.fit(X)
    monkeypatch.setattr(nonmetric, "MAX_RANKED_ROWS", 299)
    with pytest.raises(BadInput, match=r"at most 299 rows; got 300.*sgd"):
        NonmetricMDS().fit(X)


def test_bytes_per_pair_is_the_memory_in_use(rng):
    X = rng.standard_normal((700, 3))
    tracemalloc.start()
    with pytest.warns(LowdimWarning, match="did not converge within"):
        NonmetricMDS(max_iter=2, n_jobs=1).fit(X)
    peak = tracemalloc.get_traced_memory()[1] / (700 * 699 / 2)
    tracemalloc.stop()
    assert 0.6 * peak < 8 + IsotonicDisparities.bytes_per_pair(8) < 1.4 * peak


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    "model",
    [
        *(NonmetricMDS(ties=ties) for ties in ("primary", "secondary", "tertiary")),
        *(MDS(transformation=kind) for kind in ("ratio", "interval", "spline")),
    ],
    ids=lambda model: getattr(model, "ties", getattr(model, "transformation", "")),
)
def test_the_shepard_diagram_has_the_stress_of_the_fit(model, dtype):
    """Ties, missing distances and weights included; Σ w d̂² = Σ w δ² as well."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(25, 4))
    D = np.round(squareform(pdist(X)))  # integers, many of them equal
    D[2, 7] = D[7, 2] = np.nan
    W = squareform(rng.uniform(0.5, 2, 300))
    bound = {"rel": 1e-9} if dtype is np.float64 else {"rel": 1e-3, "abs": 1e-6}  # rounding of a perfect fit
    for weights in (None, W):
        fitted = clone(model).set_params(metric="precomputed", tol=0.0 if dtype is np.float64 else 1e-6)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a few iterations will do
            fitted.set_params(max_iter=60).fit(D.astype(dtype), weights=weights)
        shown = fitted.shepard(D.astype(dtype), weights=weights)
        known = ~np.isnan(shown.distances)
        w = np.ones(300) if weights is None else squareform(weights)
        given, wanted, mapped, w = (part[known] for part in (shown.distances, shown.disparities, shown.mapped, w))
        stress1 = np.sqrt((w * (wanted - mapped) ** 2).sum() / (w * wanted**2).sum())
        assert stress1 == pytest.approx(fitted.stress1_, **bound)
        rel = 1e-9 if dtype is np.float64 else 1e-5
        assert (w * wanted**2).sum() == pytest.approx((w * given**2).sum(), rel=rel)
