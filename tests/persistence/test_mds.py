"""Model files of MDS, NonmetricMDS and ClassicalMDS: what comes back, and contradictions that are refused."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from lowdim import MDS, ClassicalMDS, NonmetricMDS
from lowdim.errors import ModelFileError
from lowdim.persistence import load, save
from lowdim.persistence.codec import encode
from lowdim.persistence.container import write_container
from lowdim.persistence.manifest import describe, to_text

N, D, K = 40, 4, 2


@pytest.fixture(scope="module")
def rows():
    return np.random.default_rng(0).standard_normal((N, D))


@pytest.fixture(scope="module")
def models(rows):
    distances = cdist(rows, rows, "cityblock")
    return {
        "MDS": MDS(transformation="spline").fit(rows),
        "MDS, ratio": MDS().fit(rows),
        "MDS, sgd": MDS(solver="sgd").fit(rows),
        "MDS, precomputed": MDS(metric="precomputed").fit(distances),
        "NonmetricMDS": NonmetricMDS().fit(rows),
        "ClassicalMDS": ClassicalMDS().fit(rows),
        "ClassicalMDS, landmarks": ClassicalMDS(n_landmarks=20).fit(rows),
        "ClassicalMDS, manhattan": ClassicalMDS(metric="manhattan", n_landmarks=20).fit(rows),
        "ClassicalMDS, precomputed": ClassicalMDS(metric="precomputed", correction="cailliez").fit(distances),
    }


def write(path, model, name=None, value=...):
    """A file with a correct checksum in which one attribute or field of the state is replaced, or absent (...)."""
    manifest, tensors = describe(model)
    if name is not None:
        in_state = name.startswith("state.")
        section = manifest["state"]["fields"] if in_state else manifest["fitted"]
        tensors.pop(name, None)
        if value is ...:
            del section[name.removeprefix("state.")]
        else:
            section[name.removeprefix("state.")] = encode(value, name, tensors)
    write_container(str(path), to_text(manifest, tensors), tensors)
    return path


def test_fitted_models_are_read(models, rows, tmp_path):
    for name, model in models.items():
        loaded = load(write(tmp_path / "m.lowdim", model))
        new = rows[:5] + 0.1
        if name.endswith("precomputed"):
            new = cdist(new, rows, "cityblock")
        np.testing.assert_array_equal(loaded.transform(new), model.transform(new))
        assert vars(loaded).keys() == vars(model).keys()


NO_EMBEDDING = [np.zeros(N), np.zeros((0, K)), np.full((N, K), np.nan), [1.0], None, ...]
STRESS = {
    "embedding_": [*NO_EMBEDDING, np.zeros((N - 1, K))],
    "X_fit_": [np.zeros((N - 1, D)), np.zeros((N, D + 1)), np.full((N, D), np.nan), None, ...],
    "disparity_curve_": [
        np.zeros((3, 5)),
        np.zeros((2, 0)),
        np.full((2, 3), np.nan),
        np.array([[3.0, 1.0, 2.0], [1.0, 2.0, 3.0]]),
        np.array([[1.0, 2.0], [-1.0, 2.0]]),
        "line",
        ...,
    ],
    "stress_": [-1.0, np.nan, "low", ...],
    "stress1_": [-1.0, None, ...],
    "stress_per_point_": [np.zeros(N - 1), -np.ones(N), None, ...],
    "stress_path_": [np.zeros((2, 2)), np.array([np.nan]), [1.0], ...],
    "solver_": ["newton", 3, ...],
    "n_iter_": [-1, 1.5, ...],
    "converged_": [1, None, ...],
}
CLASSICAL = {
    "embedding_": [*NO_EMBEDDING, np.zeros((N, K + 1))],  # nothing else depends on the number of Euclidean rows
    "eigenvalues_": [np.zeros((2, 2)), np.array([np.nan]), None, ...],
    "goodness_of_fit_": [np.ones(3), np.array([np.nan, 1.0]), -np.ones(2), None, ...],
    "correction_constant_": [-1.0, None, ...],
    "landmarks_": [np.array([0, N]), np.array([1, 0]), np.array([-1, 0]), np.array([0.0]), ...],
    "converged_": [1, ...],
    "X_fit_": [np.zeros((N, D)), ...],
    "state.means": [np.zeros(D + 1), np.full(D, np.nan), None],
    "state.axes": [np.zeros((D + 1, K)), np.zeros((D, K + 1)), np.full((D, K), np.inf), None],
    "state.unit": [0.0, -1.0, np.inf, None],
    "state.constant": [-1.0, 1.0, None],
}
LIES = {
    "MDS": STRESS,
    "NonmetricMDS": STRESS,
    "MDS, precomputed": {"X_fit_": [np.zeros((N, N))], "n_features_in_": [N - 1]},
    "ClassicalMDS": CLASSICAL,
    "ClassicalMDS, landmarks": {"landmarks_": [np.array([0, N])], "state.axes": [np.zeros((20, K))]},
    "ClassicalMDS, manhattan": {
        "embedding_": [np.zeros((15, K))],
        "X_fit_": [np.zeros((N, D)), np.zeros((20, D + 1)), np.full((20, D), np.inf), None],
        "landmarks_": [np.arange(19), None],
        "state.means": [np.zeros(D), np.zeros(N)],
        "state.axes": [np.zeros((19, K)), np.zeros((D, K))],
    },
    "ClassicalMDS, precomputed": {
        "embedding_": [np.zeros((N - 1, K))],
        "X_fit_": [np.zeros((N, D))],
        "n_features_in_": [N - 1],
        "state.means": [np.zeros(N - 1)],
        "state.axes": [np.zeros((N, K + 1))],
        "state.constant": [-1.0],
    },
}


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, lies in LIES.items() for name in lies])
def test_contradictions_are_refused(models, tmp_path, kind, name):
    for value in LIES[kind][name]:
        with pytest.raises(ModelFileError, match="contradicts itself: "):
            load(write(tmp_path / "m.lowdim", models[kind], name, value))


def test_a_missing_field_of_the_state_is_refused(models, tmp_path):
    for field in ("means", "axes", "unit", "constant"):
        with pytest.raises(ModelFileError):
            load(write(tmp_path / "m.lowdim", models["ClassicalMDS"], f"state.{field}", ...))


def test_parameters_changed_after_the_fit_are_refused(models, tmp_path):
    """The state belongs to the metric and the correction that it was fitted with."""
    for kind, changes in (
        ("MDS", {"metric": "precomputed"}),
        ("ClassicalMDS", {"metric": "manhattan"}),
        ("ClassicalMDS, manhattan", {"metric": "euclidean"}),
        ("ClassicalMDS, precomputed", {"correction": None}),
    ):
        model = models[kind]
        honest = {name: getattr(model, name) for name in changes}
        model.set_params(**changes)
        with pytest.raises(ModelFileError, match="contradicts itself: "):
            save(model, tmp_path / "m.lowdim")
        model.set_params(**honest)
