"""The weighted χ² order tests and LSIR's weights keep the promises of every fit: streams, threads, sparse rows."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp

import lowdim
from determinism import assert_same_bits
from lowdim import LSIR, PHD, SAVE, SIR, DirectionalRegression
from sdr_models import rational_model

METHODS = {cls.__name__: cls for cls in (SIR, SAVE, PHD, DirectionalRegression)}
every = pytest.mark.parametrize("name", METHODS)


def weighted(name, **options):
    """A fit whose tests of every order have a weighted χ² law."""
    slices = {} if name == "PHD" else {"n_slices": 4}
    return METHODS[name](1, order_test="weighted_chi2", alpha=1 - 1e-9, **slices, **options)


def results(model):
    return [model.order_statistics_, model.order_dof_, model.order_p_values_]


@every
def test_a_stream_has_the_bits_of_the_array(name):
    X, y, _ = rational_model(60_000, d=3)
    cuts = [0, 1000, 33_333, 50_000, len(X)]
    want = weighted(name).fit(X, y)
    found = weighted(name).fit(lambda: ((X[a:b], y[a:b]) for a, b in pairwise(cuts)))
    for a, b in zip(results(found), results(want), strict=True):
        np.testing.assert_array_equal(a, b)


@every
def test_same_bits_for_any_number_of_threads(name):
    X, y, _ = rational_model(60_000, d=3)
    assert_same_bits(lambda threads: results(weighted(name, n_jobs=threads).fit(X, y)), (1, 2, 3))


@every
def test_sparse_rows_are_as_dense_ones(name):
    rng = np.random.default_rng(0)
    X = np.where(rng.random((500, 4)) < 0.3, rng.normal(size=(500, 4)), 0.0)
    y = X[:, 0] + X[:, 1] ** 2 + 0.1 * rng.normal(size=500)
    for found, want in zip(
        results(weighted(name).fit(sp.csr_array(X), y)), results(weighted(name).fit(X, y)), strict=True
    ):
        np.testing.assert_allclose(found, want, rtol=1e-7, atol=1e-12)


@every
def test_weights_are_repetitions(name):
    X, y, _ = rational_model(300, d=4)
    times = np.random.default_rng(0).integers(1, 4, 300)
    want = weighted(name).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    found = weighted(name).fit(X, y, sample_weight=times)
    for a, b in zip(results(found), results(want), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-12)


@every
def test_the_law_can_be_stopped_and_leaves_nothing_behind(name):
    X, y, _ = rational_model(60_000, d=3)
    model = weighted(name)
    with pytest.raises(lowdim.errors.Cancelled), lowdim.watch(lambda step: "order test" in step.task):
        model.fit(X, y)
    assert not [attribute for attribute in vars(model) if attribute.endswith("_")]


@every
def test_the_model_file_keeps_the_tests(name, tmp_path):
    X, y, _ = rational_model(300, d=4)
    model = weighted(name).fit(X, y)
    lowdim.save(model, tmp_path / "model.lowdim")
    for a, b in zip(results(lowdim.load(tmp_path / "model.lowdim")), results(model), strict=True):
        np.testing.assert_array_equal(a, b)


def test_weights_of_lsir():
    X, y, _ = rational_model(2000, d=4)
    weights = np.random.default_rng(0).random(2000) * 3
    options = {"n_slices": 5, "n_neighbors": 8}

    def fit(threads, rows=X):
        model = LSIR(2, n_jobs=threads, **options).fit(rows, y, sample_weight=weights)
        return [model.components_, model.eigenvalues_, model.mean_]

    assert_same_bits(fit, (1, 2, 3))
    for found, want in zip(fit(2, sp.csr_array(X)), fit(2), strict=True):
        np.testing.assert_allclose(found, want, atol=1e-9)
