"""Isomap: unrolling, joined components, out-of-sample rows, landmarks, model files."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from scipy.spatial import procrustes
from scipy.spatial.distance import cdist, pdist
from scipy.stats import spearmanr
from sklearn.datasets import make_s_curve, make_swiss_roll

import lowdim
from determinism import assert_same_bits
from lowdim import Isomap
from lowdim.errors import BadInput, BadParameter, Cancelled, MemoryTooSmall, ModelFileError, NotEnoughData


def grid(rows=15, columns=10):
    return np.stack(np.meshgrid(np.arange(rows), np.arange(columns)), axis=-1).reshape(-1, 2).astype(float)


@pytest.mark.parametrize("options", [{}, {"n_landmarks": 60}, {"n_landmarks": 60, "landmarks": "farthest"}], ids=str)
@pytest.mark.parametrize("make", [make_swiss_roll, make_s_curve])
def test_it_unrolls(make, options):
    X, along = make(1000, random_state=0)
    model = Isomap(2, n_neighbors=8, **options).fit(X)
    assert abs(spearmanr(model.embedding_[:, 0], along)[0]) > 0.99
    assert abs(spearmanr(model.embedding_[:, 1], X[:, 1])[0]) > 0.97
    assert model.residual_variance_[1] < 0.002 < model.residual_variance_[0] / 5


@pytest.mark.filterwarnings("ignore::lowdim.errors.LowdimWarning")
def test_a_line_keeps_its_length(rng):
    t = np.sort(rng.random(50)) * 10
    X = np.stack([3 * t, 4 * t, 0 * t], axis=1) + 7
    Z = Isomap(2, n_neighbors=2).fit_transform(X)
    np.testing.assert_allclose(np.abs(np.diff(Z[:, 0])), 5 * np.diff(t), rtol=1e-4, atol=1e-5)
    assert np.abs(Z[:, 1]).max() < 0.01


def test_geodesics_of_a_grid_are_its_steps():
    """With 4 neighbors, geodesics are Manhattan distances; classical scaling of them is the oracle."""
    X = grid(6, 5)
    steps = cdist(X, X, "cityblock")
    J = np.eye(30) - 1 / 30
    values, vectors = np.linalg.eigh(-0.5 * J @ steps**2 @ J)
    model = Isomap(2, radius=1.0).fit(X)
    np.testing.assert_allclose(model.eigenvalues_, values[::-1][:2], rtol=1e-6)
    want = vectors[:, ::-1][:, :2] * np.sqrt(values[::-1][:2])
    np.testing.assert_allclose(np.abs(model.embedding_.T @ want), np.diag(values[::-1][:2]), atol=1e-4)
    explained = [np.corrcoef(steps.ravel(), cdist(want[:, :k], want[:, :k]).ravel())[0, 1] ** 2 for k in (1, 2)]
    np.testing.assert_allclose(model.residual_variance_, 1 - np.array(explained), atol=1e-6)


@pytest.mark.filterwarnings("ignore::lowdim.errors.LowdimWarning")
@pytest.mark.parametrize(
    "options",
    [{}, {"radius": 1.2}, {"conformal": True}, {"n_landmarks": 25}, {"n_landmarks": 25, "conformal": True}],
    ids=str,
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_fitted_rows_get_their_own_positions(options, dtype):
    X = make_s_curve(300, random_state=0)[0].astype(dtype)
    model = Isomap(2, n_neighbors=7, **options).fit(X)
    Z = model.transform(X)
    assert Z.dtype == model.embedding_.dtype == dtype
    np.testing.assert_allclose(Z, model.embedding_, atol=2e-5 * np.abs(Z).max())
    np.testing.assert_array_equal(Z[5:9], model.transform(X[5:9]))


def test_new_rows_get_positions_between_their_neighbors():
    X, along = make_s_curve(1500, random_state=0)
    model = Isomap(2, n_neighbors=8).fit(X[:1000])
    Z = model.transform(X[1000:])
    assert abs(spearmanr(Z[:, 0], along[1000:])[0]) > 0.99
    both = Isomap(2, n_neighbors=8).fit_transform(X)
    assert procrustes(np.vstack([model.embedding_, Z]), both)[2] < 5e-3


def test_landmarks_agree_with_all_rows():
    X, _ = make_swiss_roll(600, random_state=1)
    whole = Isomap(2, n_neighbors=8).fit(X)
    all_rows = Isomap(2, n_neighbors=8, n_landmarks=600).fit(X)
    np.testing.assert_allclose(np.abs(all_rows.embedding_), np.abs(whole.embedding_), atol=1e-3)
    np.testing.assert_allclose(all_rows.residual_variance_, whole.residual_variance_, atol=1e-5)
    some = Isomap(2, n_neighbors=8, n_landmarks=80).fit(X)
    assert procrustes(whole.embedding_, some.embedding_)[2] < 0.01
    assert some._state.landmark_geodesics.shape == (80, 600)


def test_farthest_landmarks_leave_no_row_far_from_all():
    X, _ = make_swiss_roll(800, random_state=0)
    gaps = {}
    for how in ("farthest", "random"):
        model = Isomap(2, n_landmarks=20, landmarks=how).fit(X)
        assert len(set(model.landmarks_.tolist())) == 20
        gaps[how] = model._state.landmark_geodesics.min(axis=0).max()
    assert gaps["farthest"] < 0.8 * gaps["random"]


def test_conformal_lengths_undo_a_conformal_map(rng):
    """A rectangle mapped conformally to a ring (angles kept, lengths not): only C-Isomap recovers it."""
    u = rng.random((1500, 2))
    X = np.exp(2 * u[:, :1]) * np.stack([np.cos(u[:, 1]), np.sin(u[:, 1])], axis=1)  # conformal image of a square
    plain = procrustes(Isomap(2, n_neighbors=10).fit_transform(X), u)[2]
    stretched = procrustes(Isomap(2, n_neighbors=10, conformal=True).fit_transform(X), u * [2, 1])[2]
    assert stretched < 0.05 < plain
    twice = Isomap(2, n_neighbors=10, conformal=True).fit_transform(2 * X)
    np.testing.assert_allclose(twice, Isomap(2, n_neighbors=10, conformal=True).fit_transform(X), rtol=1e-3, atol=1e-4)


@pytest.mark.filterwarnings("ignore::lowdim.errors.LowdimWarning")
def test_components_are_joined_or_refused(rng):
    A, B = rng.random((40, 2)), rng.random((30, 2)) + np.array([50, 0])
    X = np.vstack([A, B])
    model = Isomap(2, n_neighbors=4).fit(X)
    assert model.n_connected_components_ == 2
    gap = cdist(A, B).min()
    assert cdist(model.embedding_[:40], model.embedding_[40:]).min() == pytest.approx(gap, rel=0.05)
    with pytest.raises(BadInput, match=r"2 connected components.*disconnected='join'"):
        Isomap(2, n_neighbors=4, disconnected="error").fit(X)
    graph = lowdim.neighbors(X, 4)
    np.testing.assert_array_equal(Isomap(2, n_neighbors=4).fit(graph).embedding_, model.embedding_)
    with pytest.raises(BadInput, match="needs the rows"):
        Isomap(2, n_neighbors=4).fit(dataclasses.replace(graph, rows=None))
    D = cdist(X, X)
    given = Isomap(2, n_neighbors=4, metric="precomputed").fit(D)
    np.testing.assert_allclose(given.embedding_, model.embedding_, atol=1e-3)
    np.testing.assert_allclose(given.transform(D[:5]), given.embedding_[:5], atol=1e-3)
    narrow = Isomap(2, radius=0.3).fit(X)
    assert narrow.n_connected_components_ >= 2


@pytest.mark.filterwarnings("ignore::lowdim.errors.LowdimWarning")
def test_a_graph_and_its_rows_give_the_same_embedding():
    X = make_s_curve(200, random_state=0)[0].astype(np.float32)
    index = lowdim.NeighborIndex(X)
    model = Isomap(2, n_neighbors=6).fit(index.graph(9))
    np.testing.assert_array_equal(model.embedding_, Isomap(2, n_neighbors=6).fit(X).embedding_)
    np.testing.assert_array_equal(
        model.transform(index.query(X[:9] + 0.01, 6)), Isomap(2, n_neighbors=6).fit(X).transform(X[:9] + 0.01)
    )
    np.testing.assert_array_equal(model.transform(X), Isomap(2, n_neighbors=6).fit(X).transform(X))
    for unknown in (dataclasses.replace(index.graph(9), rows=None), lowdim.neighbors(X, 9, metric="cosine")):
        without = Isomap(2).fit(unknown)
        assert without.X_fit_ is None
        with pytest.raises(BadInput, match="has no rows"):
            without.transform(X)
    assert Isomap(2).fit(index.graph(9)).n_neighbors_ == 9  # all of a given graph, unless told otherwise
    np.testing.assert_array_equal(Isomap(2).fit(index.graph(9)).embedding_, Isomap(2, n_neighbors=9).fit(X).embedding_)
    np.testing.assert_array_equal(Isomap(2).fit(X).embedding_, Isomap(2, n_neighbors=5).fit(X).embedding_)
    with pytest.raises(NotEnoughData, match="n_neighbors=10"):
        Isomap(2, n_neighbors=10).fit(index.graph(9))


def test_a_radius_finds_all_rows_within_it():
    X = grid()
    model = Isomap(2, radius=1.0).fit(X)
    pairs = (pdist(X) <= 1).sum()
    assert len(model._state.graph.columns) == 2 * pairs
    duplicates = np.vstack([np.zeros((100, 2)), [[1, 0], [2, 0]]])  # more neighbors than are asked for first
    model = Isomap(1, radius=1.0).fit(duplicates)
    assert len(model._state.graph.columns) == 100 * 99 + 2 * 100 + 2
    np.testing.assert_allclose(np.ptp(model.embedding_), 2, rtol=1e-5)


@pytest.mark.parametrize("options", [{}, {"n_landmarks": 50}, {"radius": 3.0, "conformal": True}], ids=str)
def test_the_same_bits_for_any_number_of_threads(options):
    X = make_swiss_roll(700, random_state=0)[0]

    def work(threads):
        model = Isomap(2, n_jobs=threads, **options).fit(X)
        return model.embedding_, model.residual_variance_, model.transform(X[:40] + 0.1)

    assert_same_bits(work)


def test_dimensions_without_variance_are_zero(rng):
    X = np.arange(20.0)[:, None]
    model = Isomap(5, n_neighbors=2).fit(X)
    assert (model.eigenvalues_[1:] == 0).all()
    assert (model.transform(X + 0.3)[:, 1:] == 0).all()
    same = Isomap(2).fit(np.ones((9, 3)))
    assert (same.embedding_ == 0).all()
    assert (same.residual_variance_ == 0).all()


def test_invalid_requests(rng, monkeypatch):
    X = rng.random((20, 3))
    for options, words in [
        ({"n_landmarks": 21}, "at most the number of rows, 20; got 21"),
        ({"n_landmarks": 2}, "more than n_components = 2"),
        ({"n_components": 21}, "n_components=21 must be at most"),
        ({"radius": 0}, "radius must be"),
        ({"metric": "nonsense"}, "metric must be one of"),
    ]:
        with pytest.raises((BadInput, BadParameter, NotEnoughData), match=words):
            Isomap(**options).fit(X)
    with pytest.raises(BadInput, match="square"):
        Isomap(metric="precomputed").fit(X)
    monkeypatch.setattr("lowdim.runtime.memory.available_bytes", lambda: 1500)
    with pytest.raises(MemoryTooSmall, match="n_landmarks"):
        Isomap().fit(X)


def test_it_is_watched_and_cancelled():
    X = make_s_curve(600, random_state=0)[0]
    tasks = set()
    with lowdim.watch(lambda step: tasks.add(step.task)):
        Isomap().fit(X)
    assert "shortest paths" in tasks
    model = Isomap().fit(X)
    with pytest.raises(Cancelled), lowdim.watch(lambda step: step.task == "shortest paths"):
        model.fit(X)
    assert not hasattr(model, "embedding_")


@pytest.mark.parametrize("options", [{}, {"n_landmarks": 20}, {"conformal": True, "radius": 2.0}], ids=str)
def test_a_model_file_keeps_every_bit(options, tmp_path):
    X = make_s_curve(120, random_state=0)[0].astype(np.float32)
    model = Isomap(2, **options).fit(X)
    lowdim.save(model, tmp_path / "model")
    loaded = lowdim.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.embedding_, model.embedding_)
    np.testing.assert_array_equal(loaded.transform(X + 0.01), model.transform(X + 0.01))
    assert loaded.reconstruction_error() == model.reconstruction_error()


def test_a_model_that_contradicts_itself_is_refused(tmp_path):
    from dataclasses import replace

    X = make_s_curve(60, random_state=0)[0]
    good = Isomap(2).fit(X)
    graph, projection = good._state.graph, good._state.projection
    lies = [
        {"unit": 0.0},
        {"seed": -1},
        {"gram_norm_squared": np.nan},
        {"mean_neighbor_distances": np.ones(59)},
        {"mean_neighbor_distances": -np.ones(60)},
        {"landmark_geodesics": np.ones((5, 60), np.float32)},
        {"graph": Isomap(2).fit(X[:50])._state.graph},
        {"graph": None},
        {"projection": Isomap(2).fit(X[:50])._state.projection},
        {"projection": replace(projection, axes=projection.axes[:, :1], values=np.ones(1), shift=np.zeros(1))},
    ]
    for name, value in [
        ("X_fit_", X[:50]),
        ("embedding_", good.embedding_[:59]),
        ("embedding_", np.full((60, 2), np.nan)),
        ("eigenvalues_", np.ones(3)),
        ("landmarks_", np.arange(5)),
        ("n_connected_components_", 0),
        ("_state", None),
        *[("_state", replace(good._state, **changed)) for changed in lies],
    ]:
        model = Isomap(2).fit(X)
        setattr(model, name, value)
        with pytest.raises(ModelFileError, match="contradicts itself"):
            lowdim.save(model, tmp_path / "model")
    for part, value in [
        ("columns", graph.columns + 1),
        ("lengths", -graph.lengths),
        ("starts", graph.starts[:-1]),
    ]:
        with pytest.raises(BadInput, match="do not fit"):
            replace(graph, **{part: value})
