"""Rules that read eigenvalues only: closed forms, planted ranks, laws, and the ends of their domains."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from lowdim import PCA, choose
from lowdim.decomposition.component_count import Spectrum
from lowdim.errors import BadParameter, NotEnoughData

EIGEN_RULES = [
    choose.share(0.8),
    choose.minka(),
    choose.broken_stick(),
    choose.kaiser(),
    choose.kaiser(0.7),
    choose.gavish_donoho(),
    choose.marchenko_pastur(),
    choose.elbow(),
    choose.elbow("likelihood"),
]
PLANTED = [choose.minka(), choose.gavish_donoho(), choose.marchenko_pastur(), choose.elbow()]


def planted(n: int, d: int, k: int, seed: int = 0, noise: float = 1.0) -> np.ndarray:
    """n rows of k equally strong directions in white noise."""
    rng = np.random.default_rng(seed)
    axes = np.linalg.qr(rng.normal(size=(d, k)))[0]
    return 6 * rng.normal(size=(n, k)) @ axes.T + noise * rng.normal(size=(n, d)) + 100


def of(values, n=100, d=None, **more) -> Spectrum:
    values = np.asarray(values, dtype=float)
    return Spectrum(values, n, len(values) if d is None else d, **more)


@pytest.mark.parametrize("rule", PLANTED, ids=repr)
@pytest.mark.parametrize(("n", "d"), [(300, 20), (60, 200), (100, 100)])
def test_a_planted_rank_is_found(rule, n, d):
    assert rule(choose.spectrum(planted(n, d, 5))) == 5


@pytest.mark.parametrize("rule", [choose.kaiser(), choose.broken_stick(), choose.share(0.85)], ids=repr)
def test_rules_of_thumb_find_it_where_rows_are_many(rule):
    assert rule(choose.spectrum(planted(300, 20, 5))) == 5


@pytest.mark.parametrize("rule", [choose.gavish_donoho(), choose.minka(), choose.broken_stick()], ids=repr)
def test_white_noise_has_no_component(rule):
    X = np.random.default_rng(3).normal(size=(500, 20))
    assert rule(choose.spectrum(X)) == 0


def test_marchenko_pastur_edge_bounds_the_noise():
    for n, d in [(2000, 200), (200, 2000), (1000, 1000)]:
        X = 3 * np.random.default_rng(1).normal(size=(n, d))
        spectrum = choose.spectrum(X)
        edge = 9 * (1 + np.sqrt(d / (n - 1))) ** 2
        said = float(choose.marchenko_pastur().verdict(spectrum).reason.split()[2].rstrip(","))
        assert said == pytest.approx(edge, rel=0.02)
        assert spectrum.values[0] == pytest.approx(edge, rel=0.03)


@pytest.mark.parametrize("rule", PLANTED, ids=repr)
def test_pca_takes_a_rule(rule):
    X = planted(200, 12, 3)
    assert PCA(n_components=rule).fit(X).n_components_ == 3
    assert PCA(n_components=rule).fit(iter(np.split(X, 4))).n_components_ == 3


def test_pca_keeps_at_least_one_component():
    X = np.random.default_rng(0).normal(size=(500, 10))
    assert choose.gavish_donoho()(choose.spectrum(X)) == 0
    assert PCA(choose.gavish_donoho()).fit(X).n_components_ == 1


def test_share_exceeds_and_does_not_only_reach():
    spectrum = of([5, 3, 2])
    assert choose.share(0.79)(spectrum) == 2
    assert choose.share(0.5)(spectrum) == 2  # one component has exactly half
    assert choose.share(0.99)(spectrum) == 3


def test_broken_stick_closed_form():
    # Four pieces: 25/48, 13/48, 7/48, 3/48 of the stick.
    assert choose.broken_stick()(of([25.1, 13.1, 6.9, 2.9])) == 2
    assert choose.broken_stick()(of([24.9, 13.1, 7.0, 3.0])) == 0
    assert choose.broken_stick()(of([25.0, 13.0, 7.0, 3.0])) == 0  # a tie is no excess


def test_kaiser_compares_with_the_average():
    assert choose.kaiser()(of([4, 2.6, 1, 0.4])) == 2  # average 2
    assert choose.kaiser(0.7)(of([4, 1.5, 1.3, 1.2])) == 2  # 0.7 · 2 = 1.4
    assert choose.kaiser()(of([1.2, 1.0, 0.8], standardized=True)) == 1
    # A constant column counts in the average of a covariance, not in the 1 of a correlation matrix.
    assert choose.kaiser()(of([1.2, 0.8, 0.0], standardized=True)) == 1
    # n < d: the zeros that are not listed count as well.
    assert choose.kaiser()(of([3.0, 1.5, 0.0], n=3, d=9)) == 2


def test_elbow_by_chord_stops_before_the_elbow():
    assert choose.elbow()(of([10, 9, 8, 1, 0.9, 0.8])) == 3
    assert choose.elbow()(of([10, 1, 0.9, 0.8])) == 1
    assert choose.elbow()(of([6, 5, 4, 3, 2, 1])) == 0  # a straight scree


def test_elbow_by_likelihood_is_zhu_and_ghodsi():
    values = np.sort(np.random.default_rng(2).exponential(size=15))[::-1]

    def profile(q):
        a, b = values[:q], values[q:]
        variance = (((a - a.mean()) ** 2).sum() + ((b - b.mean()) ** 2).sum()) / (len(values) - 2)
        density = -0.5 * np.log(2 * np.pi * variance)
        inside = ((a - a.mean()) ** 2).sum() + ((b - b.mean()) ** 2).sum()
        return len(values) * density - inside / (2 * variance)

    best = max(range(1, len(values)), key=profile)
    assert choose.elbow("likelihood")(of(values)) == best


def test_minka_finds_an_exact_subspace_and_handles_ties():
    rng = np.random.default_rng(0)
    plane = rng.normal(size=(50, 3)) @ rng.normal(size=(3, 8))
    assert choose.minka()(choose.spectrum(plane)) == 3
    assert choose.minka()(of([4.0, 4.0, 4.0, 1.0, 1.0, 1.0], n=500)) == 3
    assert choose.minka()(of([1.0, 1.0, 1.0, 1.0], n=500)) == 0


@pytest.mark.filterwarnings("ignore::lowdim.errors.LowdimWarning")
@pytest.mark.parametrize("rule", EIGEN_RULES, ids=repr)
@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize(
    "X",
    [
        np.ones((5, 3)),
        np.zeros((2, 1)),
        np.arange(5.0)[:, None],
        np.eye(6),
        np.random.default_rng(0).normal(size=(2, 7)),
        np.random.default_rng(0).normal(size=(3, 3)) * 1e140,
        np.random.default_rng(0).normal(size=(9, 3)) * 1e-140,
        np.random.default_rng(0).normal(size=(9, 3)).astype(np.float32),
    ],
    ids=["constant", "one zero column", "one column", "identity", "two rows", "huge", "tiny", "float32"],
)
def test_degenerate_tables_get_a_count(rule, standardize, X):
    spectrum = choose.spectrum(X, standardize=standardize)
    assert 0 <= rule(spectrum) <= min(X.shape)
    assert "nan" not in rule.verdict(spectrum).reason


def test_too_few_rows_is_a_named_error():
    with pytest.raises(NotEnoughData):
        choose.table(np.ones((1, 3)))
    weighted = of([2.0, 1.0], n=0.5, ddof=0)
    for rule in (choose.minka(), choose.gavish_donoho(), choose.marchenko_pastur()):
        with pytest.raises(NotEnoughData, match="share"):
            rule(weighted)


@pytest.mark.parametrize(
    "make",
    [
        lambda: choose.share(0),
        lambda: choose.share(1.0),
        lambda: choose.kaiser(-1),
        lambda: choose.elbow("knee"),
        lambda: choose.parallel_analysis(0),
        lambda: choose.parallel_analysis(quantile=95),
        lambda: choose.parallel_analysis(form="bootstrap"),
        lambda: choose.parallel_analysis(random_state=np.random.default_rng(0)),
    ],
)
def test_a_bad_parameter_is_refused_when_the_rule_is_made(make):
    with pytest.raises(BadParameter):
        make()


@pytest.mark.parametrize("rule", [*EIGEN_RULES, choose.parallel_analysis(20, alpha=0.1)], ids=repr)
def test_rules_are_values(rule):
    assert copy.deepcopy(rule) == rule == pickle.loads(pickle.dumps(rule))
    assert hash(copy.deepcopy(rule)) == hash(rule)
    assert eval(repr(rule), vars(choose)) == rule
    assert clone(PCA(rule)).n_components == rule
    assert rule != choose.share(0.123)
    with pytest.raises(AttributeError):
        rule.q = 3


tables = st.tuples(st.integers(0, 10_000), st.integers(5, 40), st.integers(2, 12))


@given(tables)
def test_verdicts_ignore_order_of_rows_rotation_and_units(shape):
    seed, n, d = shape
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, min(d, 3))) @ rng.normal(size=(min(d, 3), d)) + 0.3 * rng.normal(size=(n, d))
    rotation = np.linalg.qr(rng.normal(size=(d, d)))[0]
    base = choose.spectrum(X)
    others = [choose.spectrum(Y) for Y in (X[rng.permutation(n)], X @ rotation, 1024 * X - 3)]
    for rule in EIGEN_RULES:
        assert all(rule(other) == rule(base) for other in others), rule
    by_column = choose.spectrum(X, standardize=True)
    rescaled = choose.spectrum(X * 2.0 ** rng.integers(-6, 6, d), standardize=True)
    assert all(rule(by_column) == rule(rescaled) for rule in EIGEN_RULES)


@given(st.integers(0, 10_000), st.sampled_from([0, 1]))
def test_verdicts_do_not_depend_on_ddof(seed, standardize):
    X = planted(40, 6, 2, seed, noise=2)
    zero, one = (choose.spectrum(X, ddof=ddof, standardize=bool(standardize)) for ddof in (0, 1))
    assert all(rule(zero) == rule(one) for rule in EIGEN_RULES)
