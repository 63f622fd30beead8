"""ProjectionPursuit: finds what PCA misses, calls noise noise, and keeps the promises of an estimator."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import subspace_angles
from sklearn.cluster import KMeans
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.metrics import adjusted_rand_score

import lowdim
from determinism import assert_same_bits
from lowdim import PCA, ProjectionPursuit
from lowdim.base.state import check_state
from lowdim.errors import BadInput, BadParameter, Cancelled, ModelFileError, NotEnoughData
from lowdim.linear.projection_pursuit.catalog import INDEX_NAMES, make_index
from lowdim.linear.projection_pursuit.search import kurtosis_frames, remove_structure
from lowdim.linear.projection_pursuit.significance import monte_carlo_p_values
from lowdim.linear.projection_pursuit.stiefel import ascend, maximize, random_frame, retract, tangent

QUICK = {"n_init": 3, "n_null": 0}


def hidden_clusters(n=300, d=6, seed=0):
    """Three clusters in a plane of small variance, and columns of large variance without structure."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 3, n)
    plane = np.array([[0, 0], [4.8, 0], [2.4, 4.2]])[labels] + 0.5 * rng.normal(size=(n, 2))
    X = np.column_stack([plane, 10 * rng.normal(size=(n, d - 2))])
    rotation = np.linalg.qr(rng.normal(size=(d, d)))[0]
    return X @ rotation + 5, labels, rotation[:2]


def agreement(Z, labels):
    return adjusted_rand_score(labels, KMeans(3, n_init=5, random_state=0).fit_predict(Z))


# Structure


@pytest.mark.parametrize("index", ["holes", "friedman_tukey", "legendre", "negentropy", "skewness", "lda", "pda"])
def test_clusters_that_pca_misses_are_found(index):
    X, labels, plane = hidden_clusters()
    assert agreement(PCA(2).fit_transform(X), labels) < 0.1
    assert agreement(PCA(2, standardize=True).fit_transform(X), labels) < 0.6
    model = ProjectionPursuit(2, index=index, n_null=0).fit(X, labels)
    assert agreement(model.transform(X), labels) > 0.98
    if index in ("holes", "friedman_tukey", "legendre"):
        sphered = np.linalg.inv(np.cov(X.T))  # the best directions are S⁻¹ times those of the clusters
        assert np.degrees(subspace_angles(model.components_.T, sphered @ plane.T)).max() < 5


@pytest.mark.parametrize("shape", ["clusters", "ring"])
def test_most_ascents_of_friedman_tukey_find_a_planted_plane(shape):
    """Between noise and groups the index has a valley, which random starts do not cross; those of `guide` do."""
    for seed in range(3):
        X, _, plane = hidden_clusters(d=9, seed=seed)
        if shape == "ring":
            rng = np.random.default_rng(seed)
            angles = rng.uniform(0, 2 * np.pi, len(X))
            points = 3 * np.column_stack([np.cos(angles), np.sin(angles)]) + 0.25 * rng.normal(size=(len(X), 2))
            X = X @ (np.eye(9) - plane.T @ plane) + points @ plane
        model = ProjectionPursuit(2, index="friedman_tukey", n_init=7, n_null=0, random_state=seed).fit(X)
        reached = np.array([path[-1] for path in model.restart_paths_[0]])
        assert (reached > 0.99 * model.index_[0]).sum() >= 2 + (shape == "ring")
        assert np.degrees(subspace_angles(model.components_.T, np.linalg.inv(np.cov(X.T)) @ plane.T)).max() < 5


def test_outliers_and_a_dense_core_are_found():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 6))
    X[:, 3] = 0.1 * rng.normal(size=400)
    X[:40, 3] *= 30  # a dense core with a few far rows
    for index in ("central_mass", "kurtosis", "moment"):
        model = ProjectionPursuit(1, index=index, n_init=6, n_null=19).fit(X)
        assert np.argmax(np.abs(model.components_[0]) * X.std(axis=0)) == 3
        assert model.p_value_[0] == 0.05


def test_directions_of_extreme_kurtosis_are_those_of_clusters_and_of_outliers():
    X, _, plane = hidden_clusters(n=3000)
    Y = np.linalg.qr(X - X.mean(axis=0))[0] * np.sqrt(len(X))
    in_scores = np.linalg.lstsq(Y, (X - X.mean(axis=0)) @ plane.T, rcond=None)[0]
    least, largest = kurtosis_frames(Y, 2)
    assert np.degrees(subspace_angles(least, in_scores)).max() < 8
    Y[:5, 0] = 15  # outliers
    assert np.degrees(subspace_angles(kurtosis_frames(Y, 1)[1], np.eye(6)[:, :1])).max() < 8
    np.testing.assert_allclose(largest.T @ largest, np.eye(2), atol=1e-12)


def test_structure_is_called_structure_and_noise_noise():
    X, _, _ = hidden_clusters(n=300, d=5)
    model = ProjectionPursuit(2, n_init=4).fit(X)
    assert model.p_value_ == [1 / 20]
    assert model.verdict_ == "more structure than in 19 samples of spherical noise of this size (p = 0.05)"
    p_values = []
    for seed in range(8):
        noise = np.random.default_rng(seed).normal(size=(120, 4)) * [1, 2, 3, 4]
        index = ("holes", "kurtosis")[seed % 2]
        model = ProjectionPursuit(1, index=index, n_init=2, random_state=seed).fit(noise)
        p_values.append(float(model.p_value_[0]))
    assert np.mean(p_values) > 0.25
    assert sum(p <= 0.05 for p in p_values) <= 2
    last = ProjectionPursuit(1, n_init=2).fit(np.random.default_rng(9).normal(size=(120, 4)))
    assert last.verdict_.startswith("no more structure than spherical noise of this size (p = ")
    assert "not compared" in ProjectionPursuit(1, **QUICK).fit(X).verdict_


@pytest.mark.parametrize(
    ("index", "shape", "sphere"),
    [("holes", (60, 4), "auto"), ("kurtosis", (60, 4), True), ("holes", (60, 4), False), ("pda", (20, 30), "auto")],
)
def test_p_values_of_noise_are_uniform(index, shape, sphere):
    """Rows that are only standardized differ from spherical noise by their correlations; classes by the columns."""
    p_values = []
    options = {"index": index, "sphere": sphere, "n_init": 1, "n_null": 9, "max_iter": 30}
    for seed in range(30):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=shape) @ rng.normal(size=(shape[1], shape[1]))
        y = np.arange(shape[0]) % 2 if index == "pda" else None
        p_values.append(float(ProjectionPursuit(1, random_state=seed, **options).fit(X, y).p_value_[0]))
    assert abs(np.mean(p_values) - 0.55) < 0.16  # of 0.1, 0.2 … 1: three standard deviations
    assert np.mean(np.array(p_values) <= 0.1) <= 0.27
    assert np.mean(np.array(p_values) > 0.9) <= 0.27


@pytest.mark.parametrize(
    ("index", "sphere", "words"),
    [
        ("holes", True, "spherical noise of this size"),
        ("holes", False, "noise of this size and covariance"),
        ("friedman_tukey", True, "spherical noise of this size"),
        ("lda", True, "these rows with classes in random order"),
        ("pda", False, "these rows with classes in random order"),
    ],
)
def test_a_planted_cluster_has_a_small_p_value(index, sphere, words):
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(150, 4)), np.arange(150) % 2
    X[:, 1] += 8 * labels
    model = ProjectionPursuit(1, index=index, sphere=sphere, n_init=3).fit(X @ rng.normal(size=(4, 4)), labels)
    assert model.verdict_ == f"more structure than in 19 samples of {words} (p = 0.05)"


def test_p_values_are_ranks():
    null = np.array([1.0, 2.0, 3.0, 4.0])
    np.testing.assert_allclose(monte_carlo_p_values(np.array([0.0, 2.0, 2.5, 9.0]), null), [1, 0.8, 0.6, 0.2])


def test_the_best_lda_index_is_that_of_the_discriminant_axes():
    X, labels, _ = hidden_clusters()
    model = ProjectionPursuit(2, index="lda", tol=1e-10, **QUICK).fit(X, labels)
    solver = LinearDiscriminantAnalysis(solver="eigen").fit(X, labels)
    assert np.degrees(subspace_angles(model.components_.T, solver.scalings_[:, :2])).max() < 0.01
    Z = solver.transform(X)
    within = Z - np.array([Z[labels == c].mean(axis=0) for c in range(3)])[labels]
    det = np.linalg.det
    wilks = det(within.T @ within) / det((Z - Z.mean(axis=0)).T @ (Z - Z.mean(axis=0)))
    assert model.index_[0] == pytest.approx(1 - wilks, rel=1e-8)


def test_pda_on_more_columns_than_rows_keeps_classes_apart_with_a_penalty():
    rng = np.random.default_rng(0)
    labels = np.arange(40) % 2
    X = rng.normal(size=(40, 100))
    X[:, 0] += 6 * labels
    model = ProjectionPursuit(1, index="pda", penalty=0.5, **QUICK).fit(X, labels)
    assert (
        np.argmax(np.abs(model.components_[0]) * X.std(axis=0)) == 0
    )  # and none of the columns that separate by chance
    assert model.n_sphere_ == 100


# Laws


def test_scores_are_sphered_and_the_inverse_is_the_best_linear_one():
    X, _, _ = hidden_clusters()
    model = ProjectionPursuit(2, **QUICK).fit(X)
    Z = model.transform(X)
    np.testing.assert_allclose(Z.T @ Z / len(Z), np.eye(2), atol=1e-9)
    np.testing.assert_allclose(Z.mean(axis=0), 0, atol=1e-9)
    best = Z @ np.linalg.lstsq(Z, X - X.mean(axis=0), rcond=None)[0] + X.mean(axis=0)
    np.testing.assert_allclose(model.inverse_transform(Z), best, atol=1e-8)
    np.testing.assert_allclose(model.transform(model.inverse_transform(Z)), Z, atol=1e-8)
    assert model.index_[0] == pytest.approx(make_index("holes").objective(Z, None)(np.eye(2))[0], rel=1e-9)
    assert model.n_features_in_ == model.n_sphere_ == 6


@pytest.mark.parametrize("index", ["holes", "negentropy"])
def test_affine_maps_of_the_rows_change_nothing(index):
    X, _, _ = hidden_clusters()
    rng = np.random.default_rng(1)
    A = rng.normal(size=(6, 6)) * np.logspace(-2, 2, 6)
    options = {"index": index, "n_init": 8, "n_null": 0, "tol": 1e-10}
    plain = ProjectionPursuit(1, **options).fit(X)
    mapped = ProjectionPursuit(1, **options).fit(X @ A.T + 7)
    assert mapped.index_[0] == pytest.approx(plain.index_[0], rel=1e-6)
    correlation = np.corrcoef(plain.transform(X)[:, 0], mapped.transform(X @ A.T + 7)[:, 0])[0, 1]
    assert abs(correlation) > 0.9999


def test_the_path_rises_and_every_restart_is_told():
    X, _, _ = hidden_clusters()
    model = ProjectionPursuit(3, index="negentropy", n_init=4, n_null=0).fit(X)
    assert len(model.index_) == len(model.index_path_) == len(model.restart_paths_) == 3
    for value, best, restarts in zip(model.index_, model.index_path_, model.restart_paths_, strict=True):
        assert len(restarts) == 4
        assert (np.diff(best) >= 0).all() and best[-1] == value == max(path[-1] for path in restarts)
    assert model.n_iter_ == max(len(path) - 1 for path in model.index_path_) and model.converged_
    short = ProjectionPursuit(2, max_iter=1, **QUICK).fit(X)
    assert short.n_iter_ == 1 and not short.converged_


def test_structure_removal_makes_scores_normal_and_leaves_the_rest():
    X, _, _ = hidden_clusters()
    Y = np.linalg.qr(X - X.mean(axis=0))[0] * np.sqrt(len(X))
    a = random_frame(6, 1, 0, 0)[:, 0]
    removed = remove_structure(Y, a)
    np.testing.assert_allclose(removed - np.outer(removed @ a, a), Y - np.outer(Y @ a, a), atol=1e-12)
    z = (removed @ a)[:, None]
    assert z.std() == pytest.approx(1)
    assert make_index("legendre").objective(z, None)(np.eye(1))[0] < 1e-4
    np.testing.assert_array_equal(np.argsort(z[:, 0], kind="stable"), np.argsort(Y @ a, kind="stable"))
    assert remove_structure(np.zeros((4, 2)), np.array([1.0, 0.0])).tolist() == [[0, 0]] * 4


def test_further_directions_are_other_ones():
    X, _, _ = hidden_clusters()
    for deflation in ("structure_removal", "orthogonal"):
        model = ProjectionPursuit(2, index="skewness", deflation=deflation, n_init=8, n_null=0).fit(X)
        Z = model.transform(X)
        correlation = abs(np.corrcoef(Z.T)[0, 1])
        assert correlation < (1e-9 if deflation == "orthogonal" else 0.9)
    joint = ProjectionPursuit(3, index="legendre", **QUICK).fit(X)  # of two dimensions at most: one by one
    assert len(joint.index_) == 3 and joint.components_.shape == (3, 6)


def test_an_index_of_ones_own_is_maximized_without_a_gradient():
    X, _, _ = hidden_clusters()
    told = []

    def negative_kurtosis(Z):
        told.append(Z.shape)
        return -np.mean(Z[:, 0] ** 4)

    model = ProjectionPursuit(1, index=negative_kurtosis, n_init=3, n_null=0).fit(X)
    assert set(told) == {(300, 1)}
    kurtosis = ProjectionPursuit(1, index=lambda Z: (np.mean(Z**4) - 3) ** 2, n_init=4, n_null=0).fit(X)
    known = ProjectionPursuit(1, index="kurtosis", n_init=8, n_null=0).fit(X)
    assert model.index_[0] == pytest.approx(-(3 - known.index_[0] ** 0.5), rel=1e-3)
    assert kurtosis.index_[0] == pytest.approx(known.index_[0], rel=1e-3)
    for wrong in (lambda Z: "much", lambda Z: np.nan, lambda Z: [1, 2]):
        with pytest.raises(BadInput, match="index function must return a"):
            ProjectionPursuit(1, index=wrong, **QUICK).fit(X)


def test_tangents_and_retractions_stay_on_the_manifold(rng):
    A, G = random_frame(6, 3, 0, 1), rng.normal(size=(6, 3))
    D = tangent(A, G)
    np.testing.assert_allclose(A.T @ D + D.T @ A, 0, atol=1e-12)
    np.testing.assert_allclose(tangent(A, D), D, atol=1e-12)
    B = retract(A, D)
    np.testing.assert_allclose(B.T @ B, np.eye(3), atol=1e-12)
    t = 1e-6
    np.testing.assert_allclose((retract(A, t * D) - A) / t, D, atol=1e-4)


@pytest.mark.parametrize("with_gradient", [True, False])
def test_the_ascent_finds_the_largest_eigenvectors(rng, with_gradient):
    C = np.diag([9.0, 7, 3, 2, 1])

    def rayleigh(A):
        return float(np.trace(A.T @ C @ A)), 2 * C @ A if with_gradient else None

    found = maximize(rayleigh, random_frame(5, 2, 1, 1), 500, 1e-9, 0, lambda value: None)
    assert found.converged and found.value == pytest.approx(16, rel=1e-5)
    steps = list(zip(ascend(rayleigh, random_frame(5, 2, 1, 1), 1e-9, 0), range(20), strict=False))
    values = [value for (_, value), _ in steps]
    assert (np.diff(values) >= 0).all()


# Estimator


def test_same_bits_for_any_number_of_threads():
    X, labels, _ = hidden_clusters(n=200)

    def work(threads):
        for index in ("holes", "legendre", "friedman_tukey", "lda"):
            model = ProjectionPursuit(2, index=index, n_init=2, n_null=2, max_iter=5, n_jobs=threads).fit(X, labels)
            yield from (model.components_, model.index_, model.null_index_, model.transform(X))

    assert_same_bits(work, (1, 3))


def test_many_rows_are_searched_on_a_sample():
    X, labels, _ = hidden_clusters(n=12_000, d=5)
    model = ProjectionPursuit(2, n_init=2, n_null=2).fit(X)
    assert agreement(model.transform(X), labels) > 0.98
    whole = make_index("holes").objective(model.transform(X), None)(np.eye(2))[0]
    assert model.index_[0] == pytest.approx(whole, rel=1e-9)
    assert model.p_value_[0] == pytest.approx(1 / 3)


def test_leading_principal_components_alone():
    X, _, _ = hidden_clusters()
    model = ProjectionPursuit(2, n_sphere=3, **QUICK).fit(X)
    assert model.n_sphere_ == 3
    assert ProjectionPursuit(2, n_sphere=0.9, **QUICK).fit(X).n_sphere_ < 6
    np.testing.assert_allclose(np.cov(model.transform(X).T, ddof=0), np.eye(2), atol=1e-9)


def test_collinear_and_constant_columns_are_left_out():
    X, _, _ = hidden_clusters()
    wide = np.column_stack([X, X[:, 0] + X[:, 1], np.full(len(X), 3.0)])
    model, plain = ProjectionPursuit(1, **QUICK).fit(wide), ProjectionPursuit(1, **QUICK).fit(X)
    assert model.n_sphere_ == 6
    assert model.index_[0] == pytest.approx(plain.index_[0], rel=1e-3)
    assert np.isfinite(model.transform(wide)).all()


@pytest.mark.parametrize("index", INDEX_NAMES)
def test_float32_rows_give_float32_scores(index):
    X, labels, _ = hidden_clusters(n=150)
    model = ProjectionPursuit(2, index=index, **QUICK).fit(X.astype(np.float32), labels)
    assert model.transform(X.astype(np.float32)).dtype == model.components_.dtype == np.float32
    assert model.inverse_transform(model.transform(X.astype(np.float32))).dtype == np.float32


@pytest.mark.parametrize("index", ["lda", "pda"])
@pytest.mark.parametrize(
    ("y", "error", "words"),
    [
        (None, BadInput, "needs classes"),
        (["a"] * 20, BadInput, "y has one class"),
        (list(range(20)), NotEnoughData, "single row"),
        ([None, *["a", "b"] * 9, "a"], BadInput, "no class for 1 of 20 rows"),
        ([np.nan, *[1.0, 2.0] * 9, 1.0], BadInput, "no class for 1 of 20 rows"),
        (np.linspace(0, 1, 20), BadInput, "numbers with decimals"),
        (["a", "b"], BadInput, "one class per row"),
    ],
)
def test_what_is_no_class_is_refused(index, y, error, words, rng):
    model = ProjectionPursuit(1, index=index, **QUICK)
    with pytest.raises(error, match=words):
        model.fit(rng.normal(size=(20, 3)), y)
    assert not hasattr(model, "n_features_in_")


def test_a_class_of_one_row_is_no_error_and_columns_of_labels_are_taken(rng):
    X, y = rng.normal(size=(20, 3)), np.array(["a"] * 10 + ["b"] * 9 + ["c"], dtype=object)
    assert ProjectionPursuit(1, index="lda", **QUICK).fit(X, y[:, None]).index_[0] > 0


def test_errors_and_parameters(rng):
    X = rng.normal(size=(30, 3))
    with pytest.raises(BadParameter, match="index must be one of 'holes'"):
        ProjectionPursuit(index="hole").fit(X)
    with pytest.raises(NotEnoughData, match="n_components=4 must be at most 3"):
        ProjectionPursuit(4, **QUICK).fit(X)
    with pytest.raises(NotEnoughData, match="constant"):
        ProjectionPursuit(1, **QUICK).fit(np.ones((5, 2)))
    with pytest.raises(BadInput, match="reads the rows several times"):
        ProjectionPursuit(1, **QUICK).fit(iter([X, X]))
    tags = ProjectionPursuit(index="lda").__sklearn_tags__()
    assert tags.target_tags.required and not ProjectionPursuit().__sklearn_tags__().target_tags.required


def test_progress_is_reported_and_can_cancel(rng):
    X, steps = rng.normal(size=(100, 4)), []
    with lowdim.watch(steps.append):
        ProjectionPursuit(2, n_init=2, n_null=2, n_jobs=1).fit(X)
    assert {"projection pursuit", "noise"} <= {step.task for step in steps}
    model = ProjectionPursuit(2)
    with pytest.raises(Cancelled), lowdim.watch(lambda step: step.task == "projection pursuit"):
        model.fit(X)
    assert not hasattr(model, "components_")


def test_the_model_file_keeps_everything(tmp_path):
    X, _, _ = hidden_clusters(n=100)
    model = ProjectionPursuit(2, index="negentropy", n_init=2, n_null=3).fit(X)
    lowdim.save(model, tmp_path / "pursuit.lowdim")
    loaded = lowdim.load(tmp_path / "pursuit.lowdim")
    Z = model.transform(X)
    np.testing.assert_array_equal(loaded.transform(X), Z)
    np.testing.assert_array_equal(loaded.inverse_transform(Z), model.inverse_transform(Z))
    assert loaded.verdict_ == model.verdict_
    for restarts, kept in zip(model.restart_paths_, loaded.restart_paths_, strict=True):
        assert [p.tolist() for p in restarts] == [p.tolist() for p in kept]
    loaded.p_value_ = np.array([0.0, 2.0])
    with pytest.raises(ModelFileError, match="p_value_ must be"):
        check_state(loaded)
