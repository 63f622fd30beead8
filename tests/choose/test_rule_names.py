"""Rules of `choose` by their names, in Python as on the command line."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from sklearn.base import clone

import lowdim
from lowdim import FAMD, ICA, PCA, TruncatedSVD, choose
from lowdim.choose._rules import Rule
from lowdim.decomposition.component_count import RULE_NAMES, Spectrum, count_components, rule_name
from lowdim.errors import BadParameter

RNG = np.random.default_rng(2)
AXES = np.linalg.qr(RNG.normal(size=(12, 3)))[0]
X = RNG.normal(size=(200, 3)) @ AXES.T * 6 + RNG.normal(size=(200, 12))


def rules() -> dict[str, type]:
    exported = {name: getattr(choose, name) for name in choose.__all__}
    return {n.replace("_", "-"): r for n, r in exported.items() if isinstance(r, type) and issubclass(r, Rule)}


def test_every_rule_has_a_name():
    assert sorted(rules()) == list(RULE_NAMES)
    assert all(dataclasses.is_dataclass(rule) for rule in rules().values())


@pytest.mark.parametrize("name", [*RULE_NAMES, "parallel", "mle", "gavish_donoho", "Kaiser", "marchenko"])
def test_a_name_is_the_rule_with_its_defaults(name):
    rule = rules()[rule_name(name)]()
    assert PCA(name).fit(X).n_components_ == PCA(rule).fit(X).n_components_
    assert clone(PCA(name)).n_components == name
    spectrum = Spectrum(PCA(None).fit(X).spectrum_, 200, 12, variances=X.var(axis=0, ddof=1), rows=None)
    if rule_name(name) != "parallel-analysis":
        assert count_components(name, spectrum) == max(1, rule(spectrum))


def test_names_elsewhere(tmp_path):
    assert PCA("parallel").fit(X).n_components_ == 3
    assert ICA("parallel").fit(X).n_components_ == 3
    assert TruncatedSVD("gavish-donoho").fit(X).n_components_ == 3
    assert FAMD("broken-stick").fit(X).n_components_ == PCA("broken-stick", standardize=True).fit(X).n_components_
    gaps = np.where(RNG.random(X.shape) < 0.01, np.nan, X)
    assert PCA("parallel", missing="em").fit(gaps).n_components_ == 3
    lowdim.save(PCA("mle").fit(X), tmp_path / "m.lowdim")
    assert lowdim.load(tmp_path / "m.lowdim").n_components == "mle"


@pytest.mark.parametrize("word", ["", "m", "minke", "auto", "linear"])
def test_unknown_names_are_refused_with_those_that_are_known(word):
    with pytest.raises(BadParameter, match="parallel-analysis"):
        PCA(word).fit(X)
