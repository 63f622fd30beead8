"""PCA: missing values, numbers of components, memory maps, errors, interruption."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import subspace_angles
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import lowdim
from lowdim import PCA
from lowdim.errors import BadInput, BadInputType, BadParameter, Cancelled, LowdimWarning, NotEnoughData


def low_rank(rng: np.random.Generator, n: int = 300, noise: float = 0.05) -> np.ndarray:
    return rng.standard_normal((n, 2)) * [3, 1] @ rng.standard_normal((2, 6)) + noise * rng.standard_normal((n, 6)) + 7


def test_em_without_gaps_is_pca(rng):
    X = low_rank(rng)
    X[0, 0] = np.nan
    for options in ({}, {"standardize": True}, {"ddof": 0}, {"whiten": True}):
        em = PCA(2, missing="em", **options).fit(X)
        plain = PCA(2, **options).fit(X[1:])
        assert em.solver_ == "em"
        assert em.converged_
        assert_allclose(em.explained_variance_, plain.explained_variance_, rtol=2e-2)
        assert_allclose(em.noise_variance_, plain.noise_variance_, rtol=4e-2)
        assert subspace_angles(em.components_.T, plain.components_.T).max() < 5e-3
    complete = PCA(2, missing="em").fit(X[1:])
    assert complete.solver_ == "covariance"


def test_em_recovers_the_axes_and_the_missing_values(rng):
    X = low_rank(rng, 600)
    gaps = rng.random(X.shape) < 0.2
    incomplete = np.where(gaps, np.nan, X)
    truth, model = PCA(2).fit(X), PCA(2, missing="em").fit(incomplete)
    assert subspace_angles(model.components_.T, truth.components_.T).max() < 0.02
    assert_allclose(model.mean_, truth.mean_, atol=0.1)
    assert_allclose(model.explained_variance_, truth.explained_variance_, rtol=0.05)
    Z = model.transform(incomplete)
    assert np.isfinite(Z).all()
    assert np.sqrt(((model.inverse_transform(Z) - X)[gaps] ** 2).mean()) < 0.3  # columns vary by 1.5 to 5
    assert np.isnan(incomplete[gaps]).all()  # the input is as it was


def test_em_maximizes_the_likelihood_of_the_observed_values(rng):
    """The fitted model is a stationary point of the observed-data likelihood."""
    X = rng.standard_normal((40, 1)) @ rng.standard_normal((1, 3)) + 0.5 * rng.standard_normal((40, 3))
    X[rng.random(X.shape) < 0.15] = np.nan
    X = X[~np.isnan(X).all(axis=1)]
    observed = ~np.isnan(X)

    def loss(theta: np.ndarray) -> float:
        mean, w, log_noise = theta[:3], theta[3:6], theta[6]
        C = np.outer(w, w) + np.exp(log_noise) * np.eye(3)
        total = 0.0
        for x, o in zip(X, observed, strict=True):
            r, S = x[o] - mean[o], C[np.ix_(o, o)]
            total += 0.5 * (np.linalg.slogdet(S)[1] + r @ np.linalg.solve(S, r))
        return total

    model = PCA(1, missing="em", ddof=0, tol=1e-10, max_iter=2000).fit(X)
    w = model.components_[0] * np.sqrt(model.explained_variance_[0] - model.noise_variance_)
    start = np.concatenate([model.mean_, w, [np.log(model.noise_variance_)]])
    best = minimize(loss, start, method="BFGS", options={"gtol": 1e-8})
    assert loss(start) - best.fun < 1e-6


def test_em_warns_if_it_does_not_converge(rng):
    X = low_rank(rng)
    X[rng.random(X.shape) < 0.4] = np.nan
    X = X[~np.isnan(X).all(axis=1)]
    with pytest.warns(LowdimWarning, match="max_iter"):
        model = PCA(2, missing="em", max_iter=2).fit(X)
    assert not model.converged_
    assert model.n_iter_ == 2


def test_em_refuses_empty_columns_and_infinity(rng):
    X = low_rank(rng)
    X[:, 3] = np.nan
    with pytest.raises(BadInput, match=r"columns without any value: \[3\]"):
        PCA(2, missing="em").fit(X)
    X[:, 3] = np.inf
    X[0, 0] = np.nan
    with pytest.raises(BadInput, match="infinity"):
        PCA(2, missing="em").fit(X)


def test_explained_variance_ratio(digits):
    full = PCA(None).fit(digits)
    for ratio in (0.3, 0.8, 0.95):
        k = PCA(ratio).fit(digits).n_components_
        reached = np.cumsum(full.explained_variance_ratio_)
        assert reached[k - 1] > ratio
        assert k == 1 or reached[k - 2] <= ratio


def test_a_rule_reads_the_spectrum(digits):
    seen = []

    def above_average(spectrum):
        seen.append(spectrum)
        return int((spectrum.values > spectrum.values.mean()).sum())

    model = PCA(above_average).fit(digits)
    values = PCA(None).fit(digits).explained_variance_
    assert model.n_components_ == (values > values.mean()).sum()
    assert_allclose(seen[0].values, values, atol=1e-9)
    assert (seen[0].n, seen[0].d, seen[0].rows.count) == (1797, 64, 1797)
    assert len(model.spectrum_) == 64
    with pytest.raises(BadParameter, match="whole number from 0 to 64"):
        PCA(lambda spectrum: 99).fit(digits)
    assert PCA(lambda spectrum: 0).fit(digits).n_components_ == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n_components": 0}, "n_components must be None or a whole number of at least 1"),
        ({"n_components": 1.5}, "strictly between 0 and 1"),
        ({"n_components": True}, "n_components"),
        ({"solver": "magic"}, "solver must be one of 'auto', 'covariance'"),
        ({"whiten": "yes"}, "True or False"),
        ({"ddof": 2}, "one of 0, 1"),
        ({"tol": -1.0}, "above 0"),
        ({"max_iter": 2.5}, "whole number"),
        ({"random_state": "x"}, "NumPy random generator"),
    ],
)
def test_parameters_are_named_with_rule_and_value(options, words, digits):
    with pytest.raises(BadParameter, match=words) as caught:
        PCA(**options).fit(digits)
    assert repr(next(iter(options.values()))) in str(caught.value)


def test_data_errors_say_what_to_do(digits):
    with pytest.raises(NotEnoughData, match="at most 5"):
        PCA(6).fit(digits[:5])
    with pytest.raises(NotEnoughData, match="1 row"):
        PCA(1).fit(digits[:1])
    assert PCA(1, ddof=0).fit(digits[:1]).explained_variance_[0] == 0
    with pytest.raises(BadInput, match="missing='em'"):
        PCA(2).fit(np.where(digits == 16, np.nan, digits))
    with pytest.raises(BadParameter, match="krylov"):
        PCA(0.9, solver="krylov").fit(digits)
    with pytest.raises(BadParameter, match="needs the rows"):
        PCA(2, solver="svd").fit(lowdim.moments(digits))
    with pytest.raises(BadInput, match="64 features"):
        PCA(2).fit(digits).transform(digits[:, :5])
    with pytest.raises(NotFittedError):
        PCA(2).transform(digits)
    with pytest.raises(BadInput, match="second pass"):
        PCA(2, solver="krylov").fit(iter([digits]))
    with pytest.raises(NotEnoughData, match="fewer components"):
        PCA(3).fit(digits[:4]).score_samples(digits[:4])


def test_a_text_column_is_named():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"width": [1.0, 2.0, 3.0], "species": ["a", "b", "c"]})
    with pytest.raises(BadInputType, match=r"'species'.*encode"):
        PCA(1).fit(frame)


def test_a_memory_map_is_not_changed(tmp_path, rng):
    X = rng.standard_normal((5000, 50))
    np.save(tmp_path / "x.npy", X)
    for mode in ("r", "r+", "c"):
        mapped = np.load(tmp_path / "x.npy", mmap_mode=mode)
        if mode == "c":
            mapped[0, 0] = 5.0  # in memory only, and must stay
        PCA(2).fit(mapped)
        assert mapped[0, 0] == (5.0 if mode == "c" else X[0, 0])
        assert_array_equal(mapped[1:], X[1:])


def test_steps_are_reported_and_can_be_stopped(rng):
    X = low_rank(rng)
    X[0, 0] = np.nan
    steps = []
    with lowdim.watch(steps.append):
        PCA(2, missing="em").fit(X)
    em = [step for step in steps if step.task == "EM"]
    assert [step.done for step in em] == list(range(1, len(em) + 1))
    assert em[-1].info["change"] <= 1e-6
    model = PCA(2, missing="em").fit(X)
    with pytest.raises(Cancelled), lowdim.watch(lambda step: step.task == "EM" and step.done == 2):
        model.fit(X)
    assert not hasattr(model, "components_")
    assert PCA(2).fit(np.nan_to_num(X)).n_components_ == 2  # the watch has ended


def test_interruption_leaves_it_unfitted(digits):
    model = PCA(2).fit(digits)

    def interrupt(step):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), lowdim.watch(interrupt):
        model.fit(digits)
    assert not hasattr(model, "components_")
    assert not hasattr(model, "n_features_in_")
    assert model.fit(digits).n_components_ == 2


def test_krylov_tells_if_it_did_not_converge(rng):
    X = rng.standard_normal((300, 200))
    model = PCA(5, solver="krylov", max_iter=1, tol=1e-14).fit(X)
    assert not model.converged_
    assert PCA(5, solver="krylov").fit(X).converged_


def test_pipelines_and_grid_search(digits):
    from sklearn.linear_model import LogisticRegression

    y = np.arange(200) % 2
    search = GridSearchCV(make_pipeline(PCA(), LogisticRegression(max_iter=50)), {"pca__n_components": [2, 5]}, cv=2)
    search.fit(digits[:200] / 16, y)
    assert search.best_params_["pca__n_components"] in (2, 5)
    copy = clone(PCA(0.5, whiten=True))
    assert copy.get_params()["whiten"] is True
    assert "PCA(n_components=0.5" in repr(copy)
    assert "number of at least 1" in PCA.__doc__


def test_one_row_at_a_time(rng):
    X = low_rank(rng, 20)
    model = PCA(2)
    for row in X:
        model.partial_fit(row[None])
    assert_allclose(model.components_, PCA(2).fit(X).components_, atol=1e-9)


@pytest.mark.parametrize(("dtype", "size"), [(np.float32, 1e-18), (np.float32, 1e-30), (np.float64, 1e-160)])
@pytest.mark.parametrize("solver", ["covariance", "gram", "svd", "krylov"])
def test_variances_that_underflow_are_refused(dtype, size, solver, rng):
    X = (rng.standard_normal((40, 5)) * size).astype(dtype)
    with pytest.raises(BadInput, match="squares underflow"):
        PCA(2, solver=solver).fit(X)


def test_rows_that_differ_by_rounding_do_not_underflow():
    """Their variance was lost next to 3e12, and the search for a unit in which it is not ended in NumPy's own error."""
    X = sp.csr_array(np.array([[-2999999999999.1865, 0, 0], [-2999999999999.4741, 0, 0]]))
    model = PCA(1).fit(X)
    assert np.isfinite(model.explained_variance_).all() and model.explained_variance_[0] < 1
    assert np.isfinite(model.transform(X)).all()


@pytest.mark.parametrize("value", [0.0, 1e-10, 1e-30, 3.3])
def test_constant_rows_do_not_underflow(value):
    X = np.full((50, 3), value, dtype=np.float32)
    assert not PCA(2).fit_transform(X).any()


def test_small_values_keep_their_digits(rng):
    X = rng.standard_normal((60, 6)) * np.arange(1, 7)
    want, small = PCA(3).fit_transform(X), PCA(3).fit_transform((X * 2.0**-45).astype(np.float32))
    np.testing.assert_allclose(small * 2.0**45, want, atol=1e-4)
