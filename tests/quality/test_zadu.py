"""The measures that ZADU has too, for whole maps and for points (Jeon, Cho, Jang, Lee, Hyeon, Ko, Jo, Seo 2023)."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits
from zadu.measures import (
    label_trustworthiness_and_continuity,
    local_continuity_meta_criteria,
    mean_relative_rank_error,
    neighborhood_hit,
    scale_normalized_stress,
    spearman_rho,
    trustworthiness_continuity,
)

import lowdim
from lowdim import quality

K = 12


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    X = X[:500] + np.random.default_rng(0).normal(scale=1e-3, size=(500, 64))  # no two distances are equal
    return X, y[:500], lowdim.PCA(2).fit_transform(X)


@pytest.fixture(scope="module")
def found(digits):
    X, y, Z = digits
    return quality.measure(X, Z, labels=y, k=K, baselines=())


def test_the_figures_of_a_map(digits, found):
    X, y, Z = digits
    expected = {
        **trustworthiness_continuity.measure(X, Z, k=K),
        **mean_relative_rank_error.measure(X, Z, k=K),
        **local_continuity_meta_criteria.measure(X, Z, k=K),
        **neighborhood_hit.measure(Z, y, k=K),
        **label_trustworthiness_and_continuity.measure(X, Z, y),
    }
    names = {"label_trustworthiness": "label_trustworthiness", "label_continuity": "label_continuity"}
    compared = 0
    for name, value in expected.items():
        assert found[names.get(name, name)].value == pytest.approx(value, abs=1e-9), name
        compared += 1
    assert compared == 8
    assert found["stress"].value == pytest.approx(
        scale_normalized_stress.measure(X, Z)["scale_normalized_stress"], abs=1e-9
    )
    assert found["shepard_correlation"].value == pytest.approx(spearman_rho.measure(X, Z)["spearman_rho"], abs=1e-6)


def test_the_figures_of_points(digits, found):
    X, y, Z = digits
    local = {
        **trustworthiness_continuity.measure(X, Z, k=K, return_local=True)[1],
        **neighborhood_hit.measure(Z, y, k=K, return_local=True)[1],
    }
    for name, expected in (
        ("trustworthiness", local["local_trustworthiness"]),
        ("continuity", local["local_continuity"]),
        ("neighborhood_hit", local["local_neighborhood_hit"]),
    ):
        np.testing.assert_allclose(found.point_values[name], expected, atol=1e-9)
