"""ICA as an estimator: how many components, errors, warnings, model files, and stability over runs."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

import lowdim
from lowdim import ICA, choose
from lowdim.errors import BadParameter, Cancelled, LowdimWarning, NotEnoughData
from lowdim.linear.ica.stability import ICAStability, _clusters, _quality_index
from mixtures import mixture

KINDS = ("laplace", "uniform", "exponential", "binary")


@pytest.fixture(scope="module")
def rows():
    return mixture(KINDS, 1200)[2]


def test_number_of_components(rows):
    assert ICA().fit(rows).n_components_ == 4
    assert ICA(3).fit(rows).components_.shape == (3, 4)
    shares = np.linalg.eigvalsh(np.cov(rows.T))[::-1].cumsum() / np.trace(np.cov(rows.T))
    assert ICA(0.9).fit(rows).n_components_ == 1 + np.argmax(shares > 0.9)
    assert ICA(choose.elbow()).fit(rows).n_components_ == lowdim.PCA(choose.elbow()).fit(rows).n_components_


def test_rank_deficient_rows(rows):
    X = np.column_stack([rows, rows @ [1.0, -1.0, 0.5, 2.0], np.full(len(rows), 0.1)]) + 1e3
    model = ICA().fit(X)
    assert model.rank_ == model.n_components_ == 4
    assert_allclose(model.inverse_transform(model.transform(X)), X, atol=1e-8)
    with pytest.raises(NotEnoughData, match="numerical rank 4"):
        ICA(5).fit(X)
    with pytest.raises(NotEnoughData, match="do not vary"):
        ICA().fit(np.full((9, 3), 0.1))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("form", ["dense", "sparse", "stream"])
def test_the_rank_does_not_hang_on_how_the_rows_come(form, dtype):
    """Sparse rows and streams have axes from squares, whose rounding is no component."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        n, d, r, offset = rng.integers(12, 60), rng.integers(5, 60), rng.integers(2, 5), rng.choice([0, 1, 30])
        X = (np.maximum(rng.laplace(size=(n, r)) + offset, 0) @ rng.random((r, d))).astype(dtype)
        given = {"dense": X, "sparse": sp.csr_array(X), "stream": lambda X=X: iter(np.array_split(X, 3))}[form]
        assert ICA(max_iter=1, tol=1.0).fit(given).rank_ == r


def test_named_errors(rows):
    with pytest.raises(BadParameter, match="fun must be one of 'logcosh', 'exp', 'cube'"):
        ICA(fun=np.tanh).fit(rows)
    with pytest.raises(BadParameter, match="no log-density"):
        ICA(algorithm="picard", fun="cube").fit(rows)
    with pytest.raises(BadParameter, match="algorithm must be"):
        ICA(algorithm="infomax").fit(rows)
    with pytest.raises(BadParameter, match="n_runs"):
        ICA().fit(rows).stability(rows, 1)


@pytest.mark.parametrize("algorithm", ["picard-o", "picard", "fastica", "deflation"])
def test_too_few_iterations_are_told(rows, algorithm):
    with pytest.warns(LowdimWarning, match="did not converge within max_iter=1 iterations"):
        model = ICA(algorithm=algorithm, max_iter=1, tol=1e-12).fit(rows)
    assert not model.converged_ and model.n_iter_ == 1


def test_gaussian_rows_converge(rng):
    """Nothing can be separated, yet the optimum of the contrast is found."""
    X = rng.standard_normal((2000, 5))
    for algorithm in ("picard-o", "picard"):
        assert ICA(algorithm=algorithm).fit(X).converged_


@pytest.mark.parametrize("algorithm", ["picard-o", "deflation"])
def test_progress_and_cancelling(rows, algorithm):
    tasks = set()
    with lowdim.watch(lambda step: tasks.add(step.task)):
        ICA(algorithm=algorithm).fit(rows)
    assert tasks & {"Picard", "FastICA by deflation"}
    model = ICA(algorithm=algorithm)
    with pytest.raises(Cancelled), lowdim.watch(lambda step: step.task != "reading rows"):
        model.fit(rows)
    assert not hasattr(model, "components_")


def test_model_file(rows, tmp_path):
    model = ICA(3, fun="exp").fit(rows)
    lowdim.save(model, tmp_path / "ica.lowdim")
    loaded = lowdim.load(tmp_path / "ica.lowdim")
    np.testing.assert_array_equal(loaded.transform(rows), model.transform(rows))
    np.testing.assert_array_equal(loaded.inverse_transform(rows[:, :3]), model.inverse_transform(rows[:, :3]))
    assert loaded.stability(rows, 3).runs_found.tolist() == model.stability(rows, 3).runs_found.tolist()


@pytest.mark.parametrize("bootstrap", [False, True])
def test_components_of_a_clear_mixture_are_stable(rows, bootstrap):
    found = ICA().fit(rows).stability(rows, 8, bootstrap=bootstrap)
    assert (found.quality > 0.9).all() and (found.runs_found == 8).all() and (found.cluster_sizes == 8).all()
    assert (found.similarity > 0.99).all() and found.n_converged == 8
    assert set(found.verdicts) == {"stable"}
    assert "Of 4 components: 4 stable." in str(found)
    assert ("resampled" in str(found)) == bootstrap


def test_gaussian_components_are_unstable_and_the_others_are_not(rng):
    S = np.column_stack([rng.laplace(size=1500), rng.uniform(-1, 1, 1500), rng.standard_normal((1500, 3))])
    X = S @ rng.normal(size=(5, 5))
    model = ICA(tol=1e-5).fit(X)
    found = model.stability(X, 12, bootstrap=True)
    truth = np.abs(np.corrcoef(model.transform(X).T, S.T)[:5, 5:]).argmax(axis=1)
    clear = truth < 2
    assert clear.sum() == 2
    assert found.quality[clear].min() > found.quality[~clear].max()
    assert set(np.array(found.verdicts)[clear]) == {"stable"}
    assert "stable" not in np.array(found.verdicts)[~clear]


def test_stability_is_seeded(rows):
    model = ICA(algorithm="fastica").fit(rows)
    first, second = (model.stability(rows, 4, bootstrap=True) for _ in range(2))
    np.testing.assert_array_equal(first.quality, second.quality)


def test_stability_takes_the_weights_of_the_fit(rows, rng):
    weights = rng.integers(1, 4, len(rows)).astype(float)
    model = ICA().fit(rows, sample_weight=weights)
    for bootstrap in (False, True):
        found = model.stability(rows, 4, sample_weight=weights, bootstrap=bootstrap)
        assert (found.quality > 0.9).all()


def test_quality_index_by_hand():
    S = np.array([[1.0, 0.8, 0.1], [0.8, 1.0, 0.3], [0.1, 0.3, 1.0]])
    labels = np.array([0, 0, 1])
    assert_allclose(_quality_index(S, labels, 2), [(2 + 2 * 0.8) / 4 - 0.4 / 2, 1 - 0.4 / 2])
    assert len(set(_clusters(S, 2)[:2])) == 1 and len(set(_clusters(S, 2))) == 2


def test_words_of_the_verdict():
    found = ICAStability(np.array([0.95, 0.7, 0.95]), np.array([10, 8, 3]), np.ones(3), np.full(3, 10), 10, 10, False)
    assert found.verdicts == ("stable", "doubtful", "unstable")
    assert str(found).endswith("Of 3 components: 1 stable, 1 doubtful, 1 unstable.")
