"""Order tests, tests of predictors and standard errors: their laws under the null, by seeded simulation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2, kstest

from lowdim import PHD, SAVE, SIR, DirectionalRegression
from lowdim.base.fit_summary import describe_fit
from lowdim.errors import BadInput, BadParameter, LowdimWarning
from lowdim.linear.sdr.weighted_chi2 import weighted_chi2_sf
from sdr_models import largest_angle, rational_model, symmetric_model

REPLICATES = 100


def p_values(model, draw, k, replicates=REPLICATES):
    """P-values of "k directions suffice" over tables of draw(rng)."""
    found = []
    for seed in range(replicates):
        X, y = draw(np.random.default_rng(seed))
        found.append(model.fit(X, y).order_p_values_[k])
    return np.array(found)


def normal(rng):
    return rng.normal(size=(200, 3)), rng.normal(size=200)


def heavy(rng):
    return rng.standard_t(6, size=(300, 3)), rng.normal(size=300)


def one_line(rng):
    X = rng.normal(size=(300, 3))
    return X, X[:, 0] + 0.3 * rng.normal(size=300)


def one_bend(rng):
    X = rng.normal(size=(300, 3))
    return X, X[:, 0] ** 2 + 0.3 * rng.normal(size=300)


def two_bends(rng):
    X = rng.normal(size=(400, 3))
    return X, X[:, 0] + 2 * X[:, 1] ** 2 + 0.3 * rng.normal(size=400)


def assert_uniform(values, level=1e-3):
    assert kstest(values, "uniform").pvalue > level
    assert abs((values < 0.05).mean() - 0.05) < 0.065  # three standard errors of a share of 100


@pytest.mark.parametrize(
    ("model", "draw", "k"),
    [
        (SIR(1, n_slices=5), normal, 0),
        (SIR(1, n_slices=5), one_line, 1),
        (SAVE(1, n_slices=4), normal, 0),
        (SAVE(1, n_slices=4), one_line, 1),
        (PHD(1), normal, 0),
        (PHD(1), one_bend, 1),
        (PHD(1, response="y"), normal, 0),
    ],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_chi2_p_values_are_uniform_under_the_null(model, draw, k):
    assert_uniform(p_values(model, draw, k))


@pytest.mark.parametrize(
    "model",
    [SIR(1, n_slices=5), SAVE(1, n_slices=4), PHD(1), DirectionalRegression(1, n_slices=4)],
    ids=lambda m: type(m).__name__,
)
def test_weighted_chi2_needs_no_normal_columns(model):
    """With heavy tails SAVE's and pHd's χ² rejects far too often, and the weighted sum does not."""
    values = p_values(model.set_params(order_test="weighted_chi2", alpha=0.5), heavy, 0, 60)
    assert (values < 0.05).mean() < 0.13
    assert 0.08 < (values < 0.25).mean() < 0.45
    if isinstance(model, SAVE):
        assert (p_values(model.set_params(order_test="chi2"), heavy, 0, 60) < 0.05).mean() > 0.3


@pytest.mark.parametrize(("draw", "k"), [(normal, 0), (one_line, 1), (one_bend, 1), (two_bends, 2)])
def test_the_weighted_chi2_law_of_directional_regression(draw, k):
    model = DirectionalRegression(1, n_slices=4, order_test="weighted_chi2", alpha=1 - 1e-9, n_jobs=1)
    assert_uniform(p_values(model, draw, k))
    assert (np.array(model.order_p_values_[:k]) < 1e-3).all() and model.order_dof_[k] > 1


def test_weighted_chi2_of_normal_columns_has_the_degrees_of_freedom_of_chi2():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 3))
    y = X[:, 0] + 0.5 * rng.normal(size=20_000)
    plain = SIR(1, n_slices=5).fit(X, y)
    weighted = SIR(1, n_slices=5, order_test="weighted_chi2").fit(X, y)
    tested = len(weighted.order_dof_)
    assert tested >= 2
    np.testing.assert_allclose(weighted.order_dof_[1], plain.order_dof_[1], rtol=0.03)
    np.testing.assert_allclose(weighted.order_statistics_, plain.order_statistics_[:tested])


def test_the_statistic_of_sir():
    """n Σ of the last d - k eigenvalues, χ² with (d - k)(H - k - 1) degrees of freedom (Li 1991)."""
    X, y, _ = rational_model(300)
    model = SIR(2, n_slices=7).fit(X, y)
    k = np.arange(6)
    tails = [300 * model.eigenvalues_[j:].sum() for j in k]
    np.testing.assert_allclose(model.order_statistics_, tails)
    np.testing.assert_array_equal(model.order_dof_, (6 - k) * (7 - k - 1))
    np.testing.assert_allclose(model.order_p_values_, chi2.sf(tails, (6 - k) * (6 - k)))


@pytest.mark.parametrize(
    "model", [SIR(1, n_slices=5), DirectionalRegression(1, n_slices=4)], ids=lambda m: type(m).__name__
)
def test_permutation_p_values_are_uniform_under_the_null(model):
    model.set_params(order_test="permutation", n_permutations=19, n_jobs=1)
    values = []
    for seed in range(16):
        rng = np.random.default_rng(seed)
        values.append(model.fit(rng.normal(size=(80, 3)), rng.normal(size=80)).order_p_values_[0])
    assert kstest(values, "uniform").pvalue > 1e-3
    assert model.order_dof_ is None


@pytest.mark.parametrize(
    "model",
    [SIR("test"), SIR("test", order_test="weighted_chi2"), SIR("test", order_test="permutation", n_permutations=30)],
    ids=["chi2", "weighted", "permutation"],
)
def test_the_order_is_found(model):
    X, y, basis = rational_model(1500)
    fitted = model.fit(X, y)
    assert fitted.n_components_ == 2 == len(fitted.components_)
    assert fitted.order_p_values_[2] >= 0.05 > fitted.order_p_values_[1]
    assert largest_angle(fitted.components_, basis) < 20


def test_the_order_of_a_symmetric_model():
    X, y, _ = symmetric_model(800)
    for model in (SAVE("test", n_slices=5), PHD("test"), DirectionalRegression("test", n_slices=5, n_permutations=30)):
        assert model.fit(X, y).n_components_ == 1


def test_no_direction_is_a_warning():
    rng = np.random.default_rng(0)
    with pytest.warns(LowdimWarning, match="no direction is significant"):
        assert SIR("test").fit(rng.normal(size=(100, 3)), rng.normal(size=100)).n_components_ == 1


def test_tests_that_have_no_law_are_refused():
    X, y, _ = rational_model(100)
    with pytest.raises(BadParameter, match="DirectionalRegression has none"):
        DirectionalRegression(order_test="chi2").fit(X, y)
    with pytest.raises(BadParameter, match="shrinkage and ridge change it"):
        DirectionalRegression(ridge=0.1, order_test="weighted_chi2").fit(X, y)
    with pytest.raises(BadParameter, match="shrinkage and ridge change it"):
        SIR(ridge=0.1, order_test="weighted_chi2").fit(X, y)
    with pytest.raises(BadInput, match="does not take weights"):
        SIR(order_test="permutation").fit(X, y, sample_weight=np.arange(100))
    assert SIR(ridge=0.1).fit(X, y).order_p_values_ is None
    assert SIR("test", ridge=0.1, n_permutations=20).fit(X, y).order_p_values_ is not None
    with pytest.raises(BadInput, match="known law"):
        DirectionalRegression(ridge=0.1).fit(X, y).test_predictors()
    with pytest.raises(BadInput, match="bias"):
        SIR(shrinkage=0.1).fit(X, y).standard_errors(X, y)


# ---- single predictors ----


@pytest.mark.parametrize(
    ("model", "bend"),
    [
        (SIR(1, n_slices=5), 0),
        (SAVE(1, n_slices=4), 0),
        (DirectionalRegression(1, n_slices=4), 0),
        (DirectionalRegression(1, n_slices=4), 1),
        (PHD(1), 1),
        (PHD(1, response="y"), 1),
    ],
    ids=lambda value: str(value),
)
def test_predictor_p_values_are_uniform_for_columns_that_do_not_matter(model, bend):
    values, real = [], []
    for seed in range(REPLICATES):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(300, 3)) @ np.array([[1, 0.5, 0], [0, 1, 0.5], [0, 0, 1]])
        y = (1 - bend) * X[:, 0] + bend * X[:, 0] ** 2 + 0.3 * rng.normal(size=300)
        tests = model.fit(X, y).test_predictors()
        values.append(tests.p_values[1])
        real.append(tests.p_values[0])
    assert_uniform(np.array(values))
    assert max(real) < 1e-3


def test_columns_that_interact_are_seen_by_their_row_of_the_hessian():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 4))
    y = X[:, 0] * X[:, 1] + 0.5 * rng.normal(size=500)  # both diagonal entries of the Hessian are zero
    p = PHD(1).fit(X, y).test_predictors().p_values
    assert p[:2].max() < 1e-6 and p[2:].min() > 0.01
    linear = PHD(1, response="y").fit(X, X[:, 0]).test_predictors().p_values
    assert linear.shape == (4,)
    with pytest.warns(LowdimWarning, match="linear function"):
        np.testing.assert_array_equal(PHD(1).fit(X, X[:, 0]).test_predictors().p_values, np.ones(4))


def test_the_statistic_of_directional_regression_is_those_of_sir_and_of_second_moments():
    X, y, _ = rational_model(300)
    n, codes = len(X), np.argsort(np.argsort(y)) // 75
    found = DirectionalRegression(1, n_slices=4).fit(X, y).test_predictors().statistics
    Z = X - X.mean(axis=0)
    P = np.linalg.inv(Z.T @ Z / n)
    units = Z @ P / np.sqrt(np.diag(P))  # (n, d) scores on whitened unit vectors of the columns
    slices = [units[codes == h] for h in range(4)]
    want = sum(75 * part.mean(axis=0) ** 2 + 75 / 2 * ((part**2).mean(axis=0) - 1) ** 2 for part in slices)
    np.testing.assert_allclose(found, want, rtol=1e-9)


def test_predictor_tests_read_well():
    pd = pytest.importorskip("pandas")
    X, y, _ = rational_model(400)
    model = SIR(2).fit(pd.DataFrame(X, columns=list("abcdef")), y)
    tests = model.test_predictors()
    assert str(tests).splitlines()[0].split() == ["statistic", "p-value"]
    assert str(tests).splitlines()[1].startswith("a ") and tests.p_values[:2].max() < 1e-6 < tests.p_values[2:].min()
    assert tests.to_dict()["names"] == list("abcdef")


# ---- standard errors ----


@pytest.mark.parametrize(
    "model",
    [SIR(1, n_slices=5), SAVE(1, n_slices=3), PHD(1), PHD(1, response="y"), DirectionalRegression(1, n_slices=3)],
    ids=str,
)
def test_standard_errors_are_the_spread_over_samples(model):
    draws, errors = [], []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(800, 3))
        y = X[:, 0] + 1.5 * X[:, 0] ** 2 + 0.3 * rng.normal(size=800)
        draws.append(model.fit(X, y).components_[0] * np.sign(model.components_[0, 0]))
        if seed < 5:
            errors.append(model.standard_errors(X, y)[0])
    np.testing.assert_allclose(np.mean(errors, axis=0), np.std(draws, axis=0), rtol=0.3)


def test_the_t_values_of_chen_and_li_agree_with_the_delta_method_for_normal_columns():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 4)) * [1, 2, 3, 4]
    y = X[:, 0] + 1.0 * rng.normal(size=3000)
    model = SIR(1).fit(X, y)
    t = model.direction_t_values()[0]
    delta = model.components_[0] / model.standard_errors(X, y)[0]
    assert abs(t[0]) > 20 and np.abs(t[1:]).max() < 4
    np.testing.assert_allclose(t[1:], delta[1:], rtol=0.15)


# ---- weighted sums of χ² ----


def test_weighted_chi2_tail():
    np.testing.assert_allclose(weighted_chi2_sf(7.0, np.full(4, 2.0)), chi2.sf(3.5, 4))
    np.testing.assert_allclose(weighted_chi2_sf(6.0, np.array([2.0, 0.0, 1e-14])), chi2.sf(3.0, 1))
    weights = np.array([1.0, 0.6, 0.3, 0.05])
    sums = (np.random.default_rng(0).chisquare(1, size=(400_000, 4)) * weights).sum(axis=1)
    for share in (0.9, 0.5, 0.1, 0.01):
        q = np.quantile(sums, 1 - share)
        np.testing.assert_allclose(weighted_chi2_sf(q, weights), share, rtol=0.05)
    assert weighted_chi2_sf(0.0, weights) == 1.0
    near = [
        weighted_chi2_sf(q, weights) for q in np.linspace(1.9, 2.0, 21)
    ]  # across the mean, where the formula is 0/0
    assert (np.diff(near) < 0).all()
    assert weighted_chi2_sf(1e5, weights) == 0.0 or weighted_chi2_sf(1e5, weights) < 1e-300


def test_a_fitted_model_tells_what_its_tests_found():
    X, y, _ = rational_model(1500)
    assert "2 directions by the order tests (p < 0.0001, < 0.0001, = 0." in words_of(SIR(2).fit(X, y))
    assert "order tests" not in words_of(SIR(2, ridge=0.1).fit(X, y))


def words_of(model):
    return ", ".join(describe_fit(model))
