"""Words of the command line as values: a name that a parameter knows is that name."""

from __future__ import annotations

import pytest

from lowdim import MDS, PCA, ClassicalMDS, Isomap, KernelPCA, NonmetricMDS, choose, kernels
from lowdim.cli.values import read_value, rule_names, takes_rules
from lowdim.errors import BadParameter
from lowdim.runtime.param import parameters


def read(method, name, word):
    return read_value(f"--{name}", word, parameters(method)[name])


@pytest.mark.parametrize("method", [MDS, NonmetricMDS, ClassicalMDS, Isomap])
def test_a_metric_is_a_word(method):
    for word in ("cosine", "precomputed", "manhattan"):
        assert read(method, "metric", word) == word
    assert not takes_rules(parameters(method)["metric"].domain)


def test_a_metric_that_is_none_is_refused():
    with pytest.raises(BadParameter, match=r"--metric must be .* got 'linear'"):
        read(MDS, "metric", "linear")


def test_kernels_by_their_names():
    for word in ("rbf", "cosine", "linear", "precomputed", "poly"):
        assert read(KernelPCA, "kernel", word) == word
    assert read(KernelPCA, "kernel", "from-distance") == kernels.from_distance()
    assert read(KernelPCA, "kernel", "from_dist") == kernels.from_distance()
    for word in ("exp", "exponential", "sum", "scaled", "kernel", "kaiser"):  # transforms and parts of an algebra
        with pytest.raises(BadParameter, match="--kernel must be"):
            read(KernelPCA, "kernel", word)


def test_rules_are_for_numbers_of_components():
    assert read(PCA, "n_components", "parallel") == choose.parallel_analysis()
    assert read(PCA, "n_components", "3") == 3
    assert read(PCA, "n_components", "none") is None
    assert {"kaiser", "broken-stick"} <= set(rule_names())
    assert not {"rbf", "exponential", "linear"} & set(rule_names())
    with pytest.raises(BadParameter, match="kaiser"):
        read(PCA, "n_components", "linear")
