"""Kernel PCA: concentric rings, solvers that agree, new rows, the Nyström approximation, pre-images, model files."""

from __future__ import annotations

from copy import copy
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import subspace_angles
from sklearn.metrics import roc_auc_score

import lowdim
from lowdim import PCA, ClassicalMDS, KernelPCA
from lowdim.errors import BadInput, BadParameter, Cancelled, LowdimWarning, ModelFileError, NotEnoughData
from lowdim.kernels import from_distance, linear, polynomial, precomputed, rbf, sigmoid


def auc(labels, scores):
    area = roc_auc_score(labels, scores)
    return max(area, 1 - area)


def test_concentric_rings_separate_on_the_first_component():
    """By default kernel PCA separates the rings on its first component; no axis of PCA does."""
    for seed in range(3):
        table = lowdim.datasets.load("rings", random_state=seed)
        assert auc(table.labels, KernelPCA().fit_transform(table.X)[:, 0]) >= 0.99
        assert max(auc(table.labels, z) for z in PCA(2).fit_transform(table.X).T) < 0.65


def test_close_rings_separate_on_a_later_component():
    """Radii 1 and 2: the angular components of a ring have more variance than the one that separates the rings."""
    table = lowdim.datasets.load("rings", gap=1.0)
    Z = KernelPCA(3, gamma=0.3).fit_transform(table.X)
    assert [auc(table.labels, z) >= 0.99 for z in Z.T] == [False, False, True]


@pytest.mark.parametrize("solver", ["dense", "lanczos", "nystrom"])
def test_linear_kernel_pca_is_pca_is_classical_mds(solver, rng):
    X = rng.standard_normal((80, 5)) * [5, 4, 3, 2, 1] + 10
    new = rng.standard_normal((7, 5)) + 10
    pca, mds = PCA(3, ddof=0).fit(X), ClassicalMDS(3).fit(X)
    kernel = KernelPCA(3, kernel="linear", solver=solver).fit(X)
    assert_allclose(kernel.eigenvalues_, 80 * pca.explained_variance_, rtol=1e-6)
    assert_allclose(mds.eigenvalues_[:3], 80 * pca.explained_variance_, rtol=1e-10)
    assert_allclose(kernel.explained_variance_ratio_, pca.explained_variance_ratio_, rtol=1e-6)
    for rows in (X, new):
        assert_allclose(np.abs(kernel.transform(rows)), np.abs(pca.transform(rows)), atol=1e-5)
        assert_allclose(mds.transform(rows), pca.transform(rows), atol=1e-10)
    same = KernelPCA(3, kernel=from_distance()).fit_transform(X)
    assert_allclose(np.abs(same), np.abs(mds.embedding_), atol=1e-9)


def test_components_are_unit_vectors_in_feature_space(rng):
    """α scaled by 1/√λ: αᵀ G α = 1, so scores have variance λ / n."""
    X = rng.standard_normal((60, 3))
    model = KernelPCA(4, gamma=0.2)
    Z = model.fit_transform(X)
    G = lowdim.gram(X, "rbf", gamma=0.2).dense()
    assert_allclose(model.alphas_.T @ G @ model.alphas_, np.eye(4), atol=1e-10)
    assert_allclose(Z.T @ Z, np.diag(model.eigenvalues_), atol=1e-10)
    assert_allclose(Z, G @ model.alphas_, atol=1e-10)
    assert model.explained_variance_ratio_.sum() == pytest.approx(model.eigenvalues_.sum() / np.trace(G))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("solver", ["dense", "lanczos", "nystrom"])
def test_transform_of_the_fitted_rows_is_fit_transform(solver, dtype, digits):
    X = (digits[:500] / 16).astype(dtype)
    model = KernelPCA(5, gamma=0.05, solver=solver, n_landmarks=100)
    Z = model.fit_transform(X)
    assert Z.dtype == model.transform(X).dtype == dtype
    assert_allclose(model.transform(X), Z, atol=1e-4 if dtype == np.float32 else 1e-9)
    before = model.transform(X)
    X_changed = X.copy()
    X[:] = 0
    assert_array_equal(model.transform(X_changed), before)  # the model keeps its own rows


def test_rows_gram_and_kernel_matrix_give_the_same_components(rng):
    X, new = rng.standard_normal((50, 3)), rng.standard_normal((6, 3))
    kernel = rbf(0.5) + 0.1 * linear()
    direct = KernelPCA(3, kernel=kernel).fit(X)
    given = KernelPCA(3, kernel="precomputed").fit(kernel(X))
    summary = KernelPCA(3).fit(lowdim.gram(X, kernel))
    assert_allclose(given.transform(kernel(new, X)), direct.transform(new), atol=1e-10)
    assert_allclose(summary.transform(new), direct.transform(new), atol=1e-12)
    assert summary.kernel_ == kernel
    by_hand = KernelPCA(3, kernel=lambda x, y: np.exp(-0.5 * ((x - y) ** 2).sum()) + 0.1 * x @ y).fit(X)
    assert_allclose(by_hand.transform(new), direct.transform(new), atol=1e-9)


@pytest.mark.parametrize("landmarks", ["uniform", "kmeans++"])
def test_nystrom(landmarks, digits):
    X = digits / 16
    exact = KernelPCA(5, gamma=0.02, solver="lanczos")
    exact_scores = exact.fit_transform(X)
    errors, angles = [], []
    for count in (20, 100, 400):
        model = KernelPCA(5, gamma=0.02, solver="nystrom", n_landmarks=count, landmarks=landmarks)
        Z = model.fit_transform(X)
        errors.append(model.nystrom_error_)
        angles.append(subspace_angles(Z, exact_scores).max())
        assert (model.eigenvalues_ <= exact.eigenvalues_ * (1 + 1e-9)).all()  # a projection can't gain variance
        assert model.X_fit_.shape == (count, 64)
    assert errors[0] > errors[1] > errors[2] > 0
    assert angles[0] > angles[1] > angles[2]
    assert angles[2] < 0.02


def test_the_nystrom_error_is_the_relative_trace_of_the_residual(rng):
    X = rng.standard_normal((90, 3))
    model = KernelPCA(2, gamma=0.3, solver="nystrom", n_landmarks=15).fit(X)
    K, C, L = rbf(0.3)(X), rbf(0.3)(X, model.X_fit_), rbf(0.3)(model.X_fit_)
    missed = np.trace(K - C @ np.linalg.solve(L, C.T)) / np.trace(K)
    assert model.nystrom_error_ == pytest.approx(missed, rel=1e-6)


def test_kmeans_plus_plus_landmarks_find_rare_clusters():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.standard_normal((2000, 2)), 50 + rng.standard_normal((4, 2))])
    seen = {}
    for how in ("uniform", "kmeans++"):
        models = [
            KernelPCA(2, gamma=0.01, solver="nystrom", n_landmarks=20, landmarks=how, random_state=seed).fit(X)
            for seed in range(5)
        ]
        seen[how] = sum((model.X_fit_ > 25).all(axis=1).any() for model in models)
        assert all(len(np.unique(model.X_fit_, axis=0)) == 20 for model in models)
    assert seen["kmeans++"] >= 3 > seen["uniform"]


def test_all_landmarks_are_no_approximation(rng):
    X = rng.standard_normal((40, 3))
    exact, model = KernelPCA(3).fit(X), KernelPCA(3, solver="nystrom").fit(X)
    assert model.nystrom_error_ < 1e-9
    assert_allclose(model.eigenvalues_, exact.eigenvalues_, rtol=1e-7)
    assert_allclose(np.abs(model.transform(X)), np.abs(exact.transform(X)), atol=1e-6)


@pytest.mark.parametrize("solver", ["dense", "nystrom"])
def test_pre_images_of_all_components_are_the_rows(solver, rng):
    X = rng.standard_normal((40, 2)) * 3
    model = KernelPCA(None, gamma=0.2, solver=solver).fit(X)
    assert_allclose(model.inverse_transform(model.transform(X)), X, atol=1e-4)


def test_pre_images_denoise():
    """Noisy rows about a circle: the pre-images of their first components lie nearer to it (Mika et al. 1999)."""
    rng = np.random.default_rng(1)
    angle = rng.uniform(0, 2 * np.pi, 400)
    circle = 3 * np.column_stack([np.cos(angle), np.sin(angle)])
    noisy = circle + 0.25 * rng.standard_normal(circle.shape)

    def distance(X):
        return np.sqrt(((np.linalg.norm(X, axis=1) - 3) ** 2).mean())

    for options, factor in (({"pre_image": "fixed_point"}, 0.6), ({"pre_image": "ridge"}, 0.6)):
        model = KernelPCA(6, gamma=0.1, **options)
        clean = model.inverse_transform(model.fit_transform(noisy))
        assert distance(clean) < factor * distance(noisy)
        assert (
            np.sqrt(((clean - circle) ** 2).sum(axis=1)).mean()
            < 0.9 * np.sqrt(((noisy - circle) ** 2).sum(axis=1)).mean()
        )


def test_ridge_serves_any_kernel(rng):
    X = rng.standard_normal((200, 3))
    model = KernelPCA(3, kernel=polynomial(2), alpha=1e-3)
    back = model.inverse_transform(model.fit_transform(X.astype(np.float32)))
    assert back.dtype == np.float32
    squares = np.corrcoef(np.abs(back[:, 0]), np.abs(X[:, 0]))[0, 1] ** 2
    assert squares > 0.2  # squares have lost the signs, and three of nine components keep a part
    linear_model = KernelPCA(3, kernel="linear", alpha=1e-6)
    assert_allclose(linear_model.inverse_transform(linear_model.fit_transform(X)), X, atol=0.05)


def test_what_is_refused(rng):
    X = rng.standard_normal((20, 3))
    with pytest.raises(NotEnoughData, match="at most the number of rows, 20"):
        KernelPCA(21).fit(X)
    with pytest.raises(NotEnoughData, match="landmarks"):
        KernelPCA(6, solver="nystrom", n_landmarks=5).fit(X)
    with pytest.raises(NotEnoughData, match="n_landmarks=50"):
        KernelPCA(2, solver="nystrom", n_landmarks=50).fit(X)
    with pytest.raises(BadParameter, match="needs the rows"):
        KernelPCA(2, kernel="precomputed", solver="nystrom").fit(X @ X.T)
    with pytest.raises(BadParameter, match="fixed_point"):
        KernelPCA(2, kernel="linear", pre_image="fixed_point").fit(X).inverse_transform(X[:, :2])
    with pytest.raises(BadInput, match="no pre-images"):
        KernelPCA(2, kernel="precomputed").fit(X @ X.T).inverse_transform(X[:, :2])
    with pytest.raises(BadInput, match="3 columns, but the model has 2"):
        KernelPCA(2).fit(X).inverse_transform(X)
    with pytest.raises(BadParameter, match="gamma"):
        KernelPCA(2, kernel="linear", gamma=1.0).fit(X)


def test_an_indefinite_kernel_gives_no_nan(rng):
    X = rng.standard_normal((40, 3))
    model = KernelPCA(40, kernel=sigmoid(1.0, -1.0)).fit(X)
    assert np.isfinite(model.transform(X)).all()
    assert (model.eigenvalues_ >= 0).all() and (model.eigenvalues_[-5:] == 0).all()


def test_lanczos_warns_if_it_does_not_converge(rng):
    X = rng.standard_normal((300, 30))
    with pytest.warns(LowdimWarning, match="did not converge within 300 passes"):
        model = KernelPCA(20, gamma=1e-3, solver="lanczos", tol=1e-300).fit(X)
    assert not model.converged_
    assert np.isfinite(model.transform(X)).all()


def test_cancelling_leaves_it_unfitted(digits):
    model = KernelPCA(2, solver="lanczos")
    with pytest.raises(Cancelled), lowdim.watch(lambda step: step.task == "block Lanczos"):
        model.fit(digits)
    assert not hasattr(model, "alphas_")


@pytest.mark.parametrize("kernel", [rbf(0.5) + 2 * linear() * rbf("median"), "rbf", "precomputed"])
def test_model_files(kernel, tmp_path, rng):
    X = rng.standard_normal((30, 3))
    X = rbf(0.5)(X) if isinstance(kernel, str) and kernel == "precomputed" else X
    model = KernelPCA(3, kernel=kernel).fit(X)
    lowdim.save(model, tmp_path / "m")
    loaded = lowdim.load(tmp_path / "m")
    assert loaded.kernel == kernel
    assert loaded.kernel_ == model.kernel_
    assert_array_equal(loaded.transform(X), model.transform(X))
    if loaded.X_fit_ is not None:
        assert_array_equal(loaded.inverse_transform(X), model.inverse_transform(X))


@pytest.mark.parametrize("name", ["alphas_", "X_fit_", "eigenvalues_", "explained_variance_ratio_"])
def test_an_inconsistent_model_is_not_saved(name, tmp_path, rng):
    model = KernelPCA(3).fit(rng.standard_normal((30, 3)))
    for wrong in (getattr(model, name)[:-1], np.full_like(getattr(model, name), np.nan), None):
        broken = copy(model)
        setattr(broken, name, wrong)
        with pytest.raises(ModelFileError, match="contradicts itself"):
            lowdim.save(broken, tmp_path / "m")


@pytest.mark.parametrize("name", ["kernel_means", "mean_weights", "scores"])
def test_an_inconsistent_state_is_not_saved(name, tmp_path, rng):
    model = KernelPCA(3).fit(rng.standard_normal((30, 3)))
    found = getattr(model._state, name)
    for wrong in (found[:-1], np.full_like(found, np.inf), None):
        broken = copy(model)
        broken._state = replace(model._state, **{name: wrong})
        with pytest.raises(ModelFileError, match=rf"contradicts itself: state\.{name}"):
            lowdim.save(broken, tmp_path / "m")


@pytest.mark.parametrize("kernel", [precomputed(), rbf("scale"), 2 * rbf("median"), "rbf"])
def test_the_fitted_kernel_must_fit_the_rows(kernel, tmp_path, rng):
    model = KernelPCA(3).fit(rng.standard_normal((30, 3)))
    model.kernel_ = kernel
    with pytest.raises(ModelFileError, match="kernel_"):
        lowdim.save(model, tmp_path / "m")
    model = KernelPCA(2, kernel="precomputed").fit(np.eye(4))
    model.n_features_in_ = 5
    with pytest.raises(ModelFileError, match="for every column"):
        lowdim.save(model, tmp_path / "m")


@pytest.mark.parametrize("solver", ["dense", "lanczos"])
@pytest.mark.parametrize("least", [0, 1])
def test_a_weight_of_two_is_a_row_given_twice(solver, least, rng):
    X, new = rng.standard_normal((60, 3)), rng.standard_normal((7, 3))
    weights = rng.integers(least, 4, 60)
    weights[:3] = least, 2, 3
    twice = np.repeat(np.arange(60), weights)
    kernel = rbf(0.2)
    weighted, longer = KernelPCA(3, solver=solver), KernelPCA(3, solver=solver)
    Z_weighted = weighted.fit_transform(lowdim.gram(X, kernel, sample_weight=weights))
    Z_longer = longer.fit_transform(lowdim.gram(X[twice], kernel))
    assert_allclose(weighted.eigenvalues_, longer.eigenvalues_, rtol=1e-8)
    assert_allclose(weighted.explained_variance_ratio_, longer.explained_variance_ratio_, rtol=1e-8)
    signs = np.sign(np.sum(Z_weighted[twice] * Z_longer, axis=0))
    assert_allclose(Z_weighted[twice], Z_longer * signs, atol=1e-7)
    for rows in (X, new):  # also rows of no weight
        assert_allclose(weighted.transform(rows), longer.transform(rows) * signs, atol=1e-7)
    assert_allclose(weighted.transform(X), Z_weighted, atol=1e-7)
    Z = weighted.transform(new)
    assert_allclose(weighted.inverse_transform(Z), longer.inverse_transform(Z * signs), atol=1e-4)


@pytest.mark.parametrize("solver", ["dense", "nystrom"])
def test_a_dtype_other_than_the_fitted_one(solver, rng):
    X, new = rng.standard_normal((40, 3)), rng.standard_normal((6, 3))
    for fitted, placed in ((np.float64, np.float32), (np.float32, np.float64)):
        model = KernelPCA(2, gamma=0.3, solver=solver).fit(X.astype(fitted))
        Z = model.transform(new.astype(placed))
        assert Z.dtype == model.inverse_transform(Z).dtype == placed
        assert_allclose(Z, model.transform(new.astype(fitted)), atol=1e-4)


@pytest.mark.parametrize("kernel", [sigmoid(1.0, -1.0), from_distance("manhattan"), rbf(1.0) + sigmoid()])
def test_nystrom_warns_of_kernels_that_may_be_indefinite(kernel, rng):
    X = rng.standard_normal((50, 3))
    with pytest.warns(LowdimWarning, match=r"not known to be one.*lanczos"):
        model = KernelPCA(2, kernel=kernel, solver="nystrom", n_landmarks=20).fit(X)
    assert np.isnan(model.nystrom_error_)


def test_many_rows_are_approximated_by_default(monkeypatch, rng):
    import lowdim.kernel_pca.estimator as home

    monkeypatch.setattr(home, "NYSTROM_ROWS", 200)
    model = KernelPCA(2, n_landmarks=50)
    assert model.fit(rng.standard_normal((200, 3))).solver_ == "nystrom"
    assert 0 < model.nystrom_error_ < 1
    assert model.fit(rng.standard_normal((199, 3))).solver_ == "dense"


def test_fitted_rows_are_the_landmarks_for_nystrom_and_never_share_memory_with_X(rng):
    X = rng.standard_normal((300, 4))
    nystrom, exact = KernelPCA(2, solver="nystrom", n_landmarks=20).fit(X), KernelPCA(2).fit(X)
    assert nystrom.X_fit_.shape == (20, 4)
    for model in (nystrom, exact):
        assert not np.shares_memory(model.X_fit_, X)  # what is kept for new rows must not change with X


def test_pre_images_that_did_not_converge_are_counted(monkeypatch, rng):
    from lowdim.kernel_pca import preimage

    X = rng.standard_normal((40, 2)) * 3
    model = KernelPCA(3, gamma=0.2)
    Z = model.fit_transform(X)
    model.inverse_transform(Z)
    monkeypatch.setattr(preimage, "MAX_STEPS", 1)
    with pytest.warns(LowdimWarning, match=r"\d+ of 40 pre-images did not converge"):
        model.inverse_transform(Z)


def test_what_pre_images_refuse(rng):
    X = np.repeat(rng.standard_normal((20, 3)), 2, axis=0)
    model = KernelPCA(2, gamma=0.2)
    Z = model.fit_transform(X)
    with pytest.raises(BadInput, match="Z contains NaN"):
        model.inverse_transform(np.full((1, 2), np.nan))
    model.set_params(pre_image="ridge", alpha=1e-300)
    with pytest.raises(BadParameter, match="alpha=1e-300 is too small"):
        model.inverse_transform(Z)
