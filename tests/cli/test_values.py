"""Words of the command line as values of parameters."""

from __future__ import annotations

import pytest

from lowdim import MDS, PCA, ClassicalMDS, Isomap, KernelPCA, NonmetricMDS, kernels
from lowdim.cli.values import parse_value
from lowdim.errors import BadParameter
from lowdim.runtime.param import parameters


def parse(method, name, word):
    return parse_value(f"--{name}", word, parameters(method)[name])


@pytest.mark.parametrize("method", [MDS, NonmetricMDS, ClassicalMDS, Isomap])
def test_a_metric_is_a_word(method):
    for word in ("cosine", "precomputed", "manhattan"):
        assert parse(method, "metric", word) == word
    with pytest.raises(BadParameter, match="--metric must be"):
        parse(method, "metric", "kaiser")


def test_parameters_of_a_metric():
    for word, expected in (
        ("p=3", {"p": 3}),
        ("p=2.5", {"p": 2.5}),
        ("categorical=sex,city; ordinal=4", {"categorical": ["sex", "city"], "ordinal": 4}),
        ('{"weights": {"age": 2}}', {"weights": {"age": 2}}),
        ("none", None),
    ):
        assert parse(MDS, "metric_params", word) == expected
    for word in ("3", "p", "{p: 3}"):
        with pytest.raises(BadParameter, match=r"metric_params must be|not a JSON object"):
            parse(MDS, "metric_params", word)


def test_a_metric_that_is_none_is_refused():
    with pytest.raises(BadParameter, match=r"--metric must be .* got 'linear'"):
        parse(MDS, "metric", "linear")


def test_kernels_by_their_names():
    for word in ("rbf", "cosine", "linear", "precomputed", "poly"):
        assert parse(KernelPCA, "kernel", word) == word
    assert parse(KernelPCA, "kernel", "from-distance") == kernels.from_distance()
    assert parse(KernelPCA, "kernel", "from_dist") == kernels.from_distance()
    for word in ("exp", "exponential", "sum", "scaled", "kernel", "kaiser"):  # transforms and parts of an algebra
        with pytest.raises(BadParameter, match="--kernel must be"):
            parse(KernelPCA, "kernel", word)


def test_rules_are_for_numbers_of_components():
    assert parse(PCA, "n_components", "parallel") == "parallel"
    assert parse(PCA, "n_components", "3") == 3
    assert parse(PCA, "n_components", "none") is None
    with pytest.raises(BadParameter, match="kaiser"):
        parse(PCA, "n_components", "linear")
