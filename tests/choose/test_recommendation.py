"""The recommended number of components: planted ranks, noise, agreement and disagreement of the rules."""

from __future__ import annotations

import re

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine

from lowdim import choose
from lowdim.choose._recommendation import NOISE_RULES, recommend
from lowdim.choose._rules import Verdict


def planted(rank: int, n: int = 300, d: int = 15, noise: float = 0.5) -> np.ndarray:
    rng = np.random.default_rng(rank)
    axes = np.linalg.qr(rng.normal(size=(d, rank)))[0]
    return 3 * rng.normal(size=(n, rank)) @ axes.T + noise * rng.normal(size=(n, d))


@pytest.mark.parametrize("rank", [1, 2, 4, 7])
@pytest.mark.parametrize("standardize", [False, True])
def test_a_planted_rank_is_recommended(rank, standardize):
    found = choose.table(planted(rank), standardize=standardize, replicates=40)
    assert found.recommended == found.recommendation.k == rank
    assert found.recommendation.warning is None
    kept = "component 1 is larger" if rank == 1 else f"components 1 to {rank} are larger"
    assert found.reason.startswith(f"{kept} than in 40 tables of shuffled columns (p < 0.025)")
    assert f"component {rank + 1} is not" in found.reason
    shares = np.cumsum(found.spectrum.shares)
    plural = "" if rank == 1 else "s"
    assert f"recommended  {rank} component{plural} ({shares[rank - 1]:.1%} of the variance)" in str(found)


@pytest.mark.parametrize("shape", [(300, 8), (40, 120)])
def test_noise_is_called_noise(shape):
    found = choose.table(np.random.default_rng(1).normal(size=shape), standardize=True, replicates=40)
    assert found.recommended == 0
    assert found.reason.startswith("no component stands out from noise")
    assert "recommended  none" in str(found)
    assert found.agreement == "all 5 rules that tell components from noise say 0"


def test_agreement_is_counted_among_rules_of_the_same_question():
    X = planted(3)
    found = choose.table(X, replicates=40)
    assert found.agreement == "all 5 rules that tell components from noise say 3"
    assert {v.rule: v.k for v in found.verdicts}["share(0.95)"] != 3  # how much to keep is another question


def verdicts(*counts: int) -> list[Verdict]:
    return [
        Verdict("share(0.95)", 99, ""),
        *(Verdict(rule, k, "") for rule, k in zip(NOISE_RULES, counts, strict=True)),
    ]


@pytest.mark.parametrize(
    ("counts", "agreement", "warning"),
    [
        ((3, 3, 3, 3, 3), "all 5 rules that tell components from noise say 3", None),
        ((3, 12, 2, 3, 4), "2 of the 5 rules that tell components from noise say 3, 4 say 2 to 4; minka 12", None),
        ((3, 9, 3, 8, 3), "3 of the 5 rules that tell components from noise say 3; minka 9, gavish_donoho 8", None),
        ((3, 61, 1, 23, 28), "1 of the 5 rules that tell components from noise says 3; minka 61,", "23 components"),
        ((3, 0, 0, 1, 1), "1 of the 5 rules that tell components from noise says 3;", "with 1 component"),
    ],
)
def test_wide_disagreement_is_a_warning(counts, agreement, warning):
    found = choose.table(planted(3), replicates=10)
    best = recommend(found.spectrum, verdicts(*counts), found.parallel)
    assert best.agreement.startswith(agreement)
    if warning is None:
        assert best.warning is None
    else:
        ends = f"from {min(counts)} to {max(counts)}"
        assert ends in best.warning and warning in best.warning
        assert ("cautious" in best.warning) == (sorted(counts)[2] > 3)


def test_known_tables():
    """Wine has three components by common consent; the rules differ widely on the breast cancer table."""
    wine = choose.table(load_wine().data, standardize=True, replicates=40)
    assert wine.recommended == 3 and wine.recommendation.warning is None
    cancer = choose.table(load_breast_cancer().data, standardize=True, replicates=40)
    assert cancer.recommended == 5 and "disagree widely" in str(cancer)


def test_tables_with_nothing_to_choose():
    still = choose.table(np.ones((10, 3)), replicates=3)
    assert still.recommended == 0 and still.reason == "the rows do not vary"
    one = choose.table(np.arange(10.0)[:, None], replicates=3)
    assert one.recommended == 1 and "one column" in one.reason


def test_dict_and_html_say_the_same():
    found = choose.table(planted(2), replicates=20)
    data = found.to_dict()
    assert data["recommended"] == 2 and data["warning"] is None
    assert (data["reason"], data["agreement"]) == (found.reason, found.agreement)
    html = found._repr_html_()
    assert "2 components" in html and "p &lt; 0.05" in html
    assert all(f">{v.rule}<" in html for v in found.verdicts)
    assert re.findall(r"<(?!/?(?:div|b|table|thead|tbody|tr|th|td)\b)", html) == []
    assert repr(found) == str(found)


def test_streams_compare_with_normal_columns():
    X = planted(2)
    found = choose.table(iter(np.array_split(X, 5)), standardize=True, replicates=20)
    assert found.recommended == 2 and "tables of normal columns" in found.reason
