"""ICA against scikit-learn's FastICA, python-picard, and mixtures whose sources are known."""

from __future__ import annotations

import numpy as np
import picard as python_picard
import pytest
from picard.densities import Exp
from sklearn.decomposition import FastICA

from lowdim import ICA
from lowdim.linear.ica.contrast import random_rotation
from mixtures import amari, mixture, same_sources

MIXED = ("laplace", "uniform", "student", "sine", "binary", "exponential")
SUPER = ("laplace", "student", "exponential", "laplace")
MIXTURES = {
    "mixed": MIXED,
    "super-Gaussian": SUPER,
    "sub-Gaussian": ("uniform", "sine", "square", "binary"),
    "two": ("uniform", "laplace"),
}


def peer(X, fun, algorithm="parallel", tol=1e-13, **options):
    model = FastICA(
        whiten="unit-variance", fun=fun, algorithm=algorithm, tol=tol, max_iter=2000, random_state=0, **options
    )
    return model.fit(X)


@pytest.mark.parametrize("fun", ["logcosh", "exp", "cube"])
def test_parallel_fastica_is_scikit_learns(fun):
    _, _, X = mixture(MIXED, 3000, seed=1)
    ours = ICA(algorithm="fastica", fun=fun, tol=1e-13, max_iter=2000).fit(X)
    assert same_sources(ours.components_, peer(X, fun).components_, np.cov(X.T)) < 1e-10


@pytest.mark.parametrize("fun", ["logcosh", "exp", "cube"])
def test_deflation_is_scikit_learns(fun):
    _, _, X = mixture(MIXED, 3000, seed=1)
    ours = ICA(algorithm="deflation", fun=fun, tol=1e-13, max_iter=2000).fit(X)
    white = peer(X, fun).whitening_  # the same axes, with other signs
    signs = np.sign(np.einsum("ij,ij->i", white, ours.whitening_))
    theirs = peer(X, fun, "deflation", w_init=random_rotation(6, 0) * signs)
    assert same_sources(ours.components_, theirs.components_, np.cov(X.T)) < 1e-10


@pytest.mark.parametrize("kinds", MIXTURES)
@pytest.mark.parametrize("fun", ["logcosh", "exp", "cube"])
def test_sources_are_as_near_to_the_truth_as_scikit_learns(kinds, fun):
    _, A, X = mixture(MIXTURES[kinds], 4000, seed=2)
    theirs = amari(peer(X, fun, tol=1e-8).components_, A)
    for algorithm in ("fastica", "picard-o"):
        ours = amari(ICA(algorithm=algorithm, fun=fun, tol=1e-8).fit(X).components_, A)
        assert ours <= theirs + 1e-4
        assert ours < 0.06


def unmixing(X, **options):
    K, W, _ = python_picard.picard(X.T, tol=1e-10, max_iter=150, random_state=0, **options)
    return W @ K


@pytest.mark.parametrize("kinds", [MIXED, SUPER], ids=["mixed", "super-Gaussian"])
@pytest.mark.parametrize("fun", ["logcosh", "exp", "cube"])
def test_picard_o_is_python_picards(kinds, fun):
    _, _, X = mixture(kinds, 3000, seed=3)
    theirs = unmixing(X, ortho=True, extended=True, fun={"logcosh": "tanh", "exp": Exp({"alpha": 1.0})}.get(fun, fun))
    ours = ICA(fun=fun, tol=1e-10, max_iter=2000).fit(X)
    assert ours.converged_
    assert same_sources(ours.components_, theirs, np.cov(X.T)) < 1e-10


@pytest.mark.parametrize(("kinds", "extended"), [(SUPER, False), (SUPER, True), (MIXED, True)])
def test_picard_is_python_picards(kinds, extended):
    _, _, X = mixture(kinds, 3000, seed=4)
    theirs = unmixing(X, ortho=False, extended=extended, fun="tanh")
    ours = ICA(algorithm="picard", extended=extended, tol=1e-9, max_iter=2000).fit(X)
    assert ours.converged_
    assert same_sources(ours.components_, theirs, np.cov(X.T)) < 1e-9


def test_without_extension_picard_o_takes_super_gaussian_sources():
    _, A, X = mixture(SUPER, 3000, seed=5)
    both = [ICA(extended=extended, tol=1e-9).fit(X) for extended in (False, True)]
    assert same_sources(both[0].components_, both[1].components_, np.cov(X.T)) < 1e-10
    assert amari(both[0].components_, A) < 0.05


def test_fewer_components_than_columns():
    S, _, _ = mixture(MIXED, 4000, seed=6)
    rng = np.random.default_rng(0)
    X = S @ rng.normal(size=(6, 15)) + 1e-3 * rng.normal(size=(4000, 15))
    ours = ICA(6).fit_transform(X)
    correlation = np.abs(np.corrcoef(ours.T, S.T)[:6, 6:])
    assert (correlation.max(axis=1) > 0.99).all() and set(correlation.argmax(axis=1)) == set(range(6))
