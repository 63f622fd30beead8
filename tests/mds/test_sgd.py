"""Stochastic gradient descent: its stress beside that of SMACOF, missing distances, convergence."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform

from lowdim import MDS
from lowdim.errors import LowdimWarning
from lowdim.mds import metric
from lowdim.mds.sgd import sgd_converged


def test_sgd_is_nearly_as_good_as_smacof(digits):
    X = digits[:400]
    smacof, sgd = MDS().fit(X), MDS(solver="sgd").fit(X)
    assert sgd.stress_ < 1.01 * smacof.stress_
    residuals = pdist(sgd.embedding_) - pdist(X)
    assert sgd.stress_ == pytest.approx(residuals @ residuals, rel=1e-6)
    assert sgd.stress1_ == pytest.approx(np.sqrt(residuals @ residuals / (pdist(X) @ pdist(X))), rel=1e-6)
    np.testing.assert_allclose(sgd.stress_per_point_, (squareform(residuals) ** 2).sum(axis=1), rtol=1e-6)
    precomputed = MDS(solver="sgd", metric="precomputed").fit(squareform(pdist(X)))
    assert precomputed.stress_ < 1.01 * smacof.stress_
    from_random = MDS(solver="sgd", init="random").fit(X)
    assert from_random.stress_ < 1.15 * smacof.stress_
    assert sgd.solver_ == "sgd" and sgd.converged_


def test_sgd_with_missing_distances(rng):
    P = rng.standard_normal((80, 2))
    D = squareform(pdist(P))
    D[3, 4] = D[4, 3] = np.nan
    model = MDS(solver="sgd", metric="precomputed", max_iter=200).fit(D)
    residuals = pdist(model.embedding_) - squareform(np.nan_to_num(D))
    known = ~np.isnan(squareform(D, checks=False))
    assert model.stress_ == pytest.approx((residuals[known] ** 2).sum(), rel=1e-9)
    assert model.stress1_ < 0.02


def test_many_rows_are_fitted_by_sgd(monkeypatch, rng):
    monkeypatch.setattr(metric, "SGD_ROWS", 100)
    X = rng.standard_normal((120, 3))
    assert MDS(max_iter=30).fit(X).solver_ == "sgd"
    assert MDS(transformation="interval").fit(X).solver_ == "smacof"
    assert MDS(solver="smacof").fit(X).solver_ == "smacof"


def test_convergence_of_sgd(rng):
    """Converged: the last epoch changed the stress by less than the choice of pairs may, in either direction."""
    embedding = rng.standard_normal((1000, 2)) * 0.01
    for last, wanted in ((10.0, True), (10.2, True), (9.9, True), (100.0, False), (5.0, False)):
        assert sgd_converged([50.0, 10.0, last], embedding) is wanted
    assert sgd_converged([50.0, 10.0, 100.0], 1000 * embedding)  # a change that can't be seen at this size
    assert not sgd_converged([10.0], embedding)  # one epoch tells nothing


def test_sgd_that_did_not_converge_warns(rng):
    with pytest.warns(LowdimWarning, match=r"MDS did not converge within 1 epoch\. Increase max_iter\.$"):
        model = MDS(solver="sgd", max_iter=1).fit(rng.standard_normal((200, 3)))
    assert not model.converged_


def test_the_stress_path_is_an_estimate_of_the_stress(digits):
    """Pairs within a block are never sampled, which is a tenth of 640 rows."""
    model = MDS(solver="sgd", max_iter=30).fit(digits[:640])
    assert len(model.stress_path_) == model.n_iter_ == 30
    assert model.stress_path_[-1] == pytest.approx(0.9 * model.stress_, rel=0.05)
    assert model.stress_path_[0] > model.stress_path_[-1]


def test_the_two_rows_of_a_pair_move_towards_their_distance():
    """Two rows alone: every update shortens the residual by the step size from both ends."""
    D = np.array([[0.0, 3.0], [3.0, 0.0]])
    model = MDS(1, solver="sgd", metric="precomputed", init=np.array([[0.0], [1.0]])).fit(D)
    np.testing.assert_allclose(np.abs(np.diff(model.embedding_[:, 0])), 3, rtol=1e-2)
    np.testing.assert_allclose(model.embedding_.sum(), 0, atol=1e-12)
