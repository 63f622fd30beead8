"""MDS and NonmetricMDS: metrics, dtypes, degenerate input, named errors, model files, progress."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.spatial.distance import cdist, pdist, squareform

import lowdim
from lowdim import MDS, NonmetricMDS
from lowdim.errors import BadInput, BadParameter, Cancelled, LowdimWarning, MemoryTooSmall, NotEnoughData


@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean", "manhattan", "chebyshev", "cosine", "correlation"])
def test_metrics_are_those_of_scipy(metric, rng):
    X = rng.standard_normal((40, 6))
    name = {"manhattan": "cityblock"}.get(metric, metric)
    one = MDS(metric=metric).fit(X)
    np.testing.assert_allclose(one.shepard(X).distances, pdist(X, name), rtol=1e-5, atol=1e-6)
    other = MDS(metric="precomputed").fit(squareform(pdist(X, name)))
    assert one.stress_ == pytest.approx(other.stress_, rel=2e-2)  # the initial embeddings differ in rounding


@pytest.mark.parametrize("metric", ["dice", "jaccard"])
def test_metrics_of_sets(metric, rng):
    X = rng.integers(0, 2, (20, 30))
    model = MDS(metric=metric).fit(X)
    np.testing.assert_allclose(model.shepard(X).distances, pdist(X != 0, metric))
    np.testing.assert_array_equal(model.transform(X[:3]), model.embedding_[:3])
    with pytest.raises(BadInput, match="0 or 1"):
        MDS(metric=metric).fit(X + 1)


def test_a_metric_may_be_a_function_of_two_rows(rng):
    X = rng.standard_normal((12, 3))
    model = MDS(metric=lambda a, b: float(np.abs(a - b).max())).fit(X)
    np.testing.assert_allclose(model.shepard(X).distances, pdist(X, "chebyshev"))


@pytest.mark.parametrize("model", [MDS(), MDS(solver="sgd"), MDS(loss="sstress"), NonmetricMDS()], ids=str)
def test_float32_stays_float32(model, rng):
    X = rng.standard_normal((30, 4)).astype(np.float32)
    before = X.copy()
    assert model.fit_transform(X).dtype == np.float32
    assert model.transform(X[:3] + 1).dtype == np.float32
    np.testing.assert_array_equal(X, before)
    wide = type(model)(**model.get_params()).fit(X.astype(float))
    assert model.stress1_ == pytest.approx(wide.stress1_, rel=2e-2)


@pytest.mark.parametrize(
    ("D", "words"),
    [
        (np.ones((3, 4)), "square"),
        ([[0, 1, 2], [1, 0, 3], [9, 3, 0]], "symmetric; from row 0 to row 2 it is 2.0 and back 9.0"),
        ([[0, -1], [-1, 0]], "from row 0 to row 1 it is -1.0"),
        ([[0, np.inf], [np.inf, 0]], "inf"),
        ([[1, 0.5], [0.5, 1]], "similarities"),
        ([[0, 1, np.nan], [1, 0, 2], [3, 2, 0]], "symmetric"),
        ([[0, np.nan], [np.nan, 0]], "2 separate components"),
    ],
    ids=["shape", "asymmetric", "negative", "infinite", "similarities", "half missing", "apart"],
)
@pytest.mark.parametrize("cls", [MDS, NonmetricMDS])
def test_invalid_distance_matrices_are_refused(cls, D, words):
    model = cls(metric="precomputed")
    with pytest.raises(BadInput, match=words):
        model.fit(np.asarray(D, dtype=float))
    assert not hasattr(model, "embedding_")


def test_errors_name_the_cause(rng):
    X = rng.standard_normal((10, 3))
    with pytest.raises(BadInput, match="NaN or infinity at row 2, column 1"):
        MDS().fit(np.where(np.arange(30).reshape(10, 3) == 7, np.nan, X))
    with pytest.raises(NotEnoughData, match="minimum of 2"):
        MDS().fit(X[:1])
    for weights in (np.ones(10), -np.ones((10, 10)), np.arange(100.0).reshape(10, 10), np.zeros((10, 10))):
        with pytest.raises(BadInput, match="weights"):
            MDS().fit(X, weights=weights)
    with pytest.raises(BadParameter, match=r"shape \(10, 2\)"):
        MDS(init=np.zeros((4, 2))).fit(X)
    with pytest.raises(BadParameter, match="ratio"):
        MDS(loss="sstress", transformation="spline").fit(X)
    with pytest.raises(BadParameter, match="sgd"):
        MDS(solver="sgd", loss="sstress").fit(X)
    with pytest.raises(BadParameter, match="sgd"):
        MDS(solver="sgd").fit(X, weights=np.ones((10, 10)))
    with pytest.raises(BadParameter, match="metric"):
        MDS(metric="far").fit(X)
    table = MDS(metric="precomputed").fit(squareform(pdist(X)))
    with pytest.raises(BadInput, match="no known distance"):
        table.transform(np.full((1, 10), np.nan))
    with pytest.raises(BadInput, match="not negative"):
        table.transform(-np.ones((1, 10)))


def test_a_fit_that_did_not_converge_warns(rng):
    X = rng.standard_normal((30, 6))
    for model in (MDS(max_iter=2), NonmetricMDS(max_iter=2), MDS(loss="sstress", max_iter=1)):
        with pytest.warns(LowdimWarning, match="did not converge within"):
            model.fit(X)
        assert not model.converged_
        assert model.n_iter_ <= 2
    assert MDS().fit(X).converged_


@pytest.mark.parametrize("cls", [MDS, NonmetricMDS])
def test_identical_rows(cls):
    model = cls().fit(np.ones((5, 3)))
    assert not model.embedding_.any()
    assert model.stress_ == 0 and model.stress1_ == 0 and model.converged_
    np.testing.assert_array_equal(model.transform(np.ones((2, 3))), 0)


def test_equal_distances_of_three_rows_give_an_equilateral_triangle():
    D = np.ones((3, 3)) - np.eye(3)
    model = MDS(metric="precomputed", tol=1e-15).fit(D)
    np.testing.assert_allclose(pdist(model.embedding_), 1, atol=1e-6)
    for transformation in ("interval", "spline"):
        assert MDS(metric="precomputed", transformation=transformation).fit(D).stress1_ < 1e-4


@pytest.mark.parametrize("scale", [1e-150, 1e-30, 1e30, 1e150])
def test_scale_equivariance(scale, rng):
    X = rng.standard_normal((20, 5))
    one, other = MDS().fit(X), MDS().fit(X * scale)
    np.testing.assert_allclose(other.embedding_ / scale, one.embedding_, atol=1e-3)
    np.testing.assert_allclose(other.transform(X[:4] * scale * 1.01) / scale, one.transform(X[:4] * 1.01), atol=1e-2)


@pytest.mark.parametrize(
    "model",
    [MDS(), MDS(transformation="spline"), MDS(solver="sgd"), NonmetricMDS(), NonmetricMDS(metric="precomputed")],
    ids=str,
)
def test_a_saved_model_embeds_new_rows_alike(model, rng, tmp_path):
    X = rng.standard_normal((20, 5))
    table = squareform(pdist(X)) if model.metric == "precomputed" else X
    model.fit(table)
    lowdim.save(model, tmp_path / "mds.lowdim")
    loaded = lowdim.load(tmp_path / "mds.lowdim")
    np.testing.assert_array_equal(loaded.transform(table[:7] * 1.1), model.transform(table[:7] * 1.1))
    assert vars(loaded).keys() == vars(model).keys()


def test_progress_and_cancellation(rng):
    X = rng.standard_normal((30, 6))
    heard = []
    with lowdim.watch(lambda step: heard.append((step.task, step.info["stress"]))):
        MDS().fit(X)
    stresses = [stress for task, stress in heard if task == "SMACOF"]
    assert len(stresses) > 3 and stresses[-1] < stresses[0]
    model = MDS()
    with pytest.raises(Cancelled), lowdim.watch(lambda step: step.done >= 3):
        model.fit(X)
    assert not hasattr(model, "embedding_")


def test_too_many_pairs_for_the_memory_are_refused(monkeypatch, rng):
    from lowdim.runtime import memory

    X = rng.standard_normal((500, 3))
    monkeypatch.setattr(memory, "available_bytes", lambda: 1_000_000)
    with pytest.raises(MemoryTooSmall, match="solver='sgd'"):
        MDS().fit(X)
    MDS(solver="sgd", max_iter=3).fit(X)  # rows alone


@pytest.mark.parametrize("cls", [MDS, NonmetricMDS])
@pytest.mark.parametrize("metric", ["euclidean", "cosine", "manhattan", "precomputed"])
@pytest.mark.parametrize(("fitted", "placed"), [(np.float64, np.float32), (np.float32, np.float64)])
def test_new_rows_of_another_dtype(cls, metric, fitted, placed, rng):
    X, new = rng.standard_normal((30, 4)), rng.standard_normal((5, 4))
    if metric == "precomputed":
        X, new = cdist(X, X), cdist(new, X)
    model = cls(metric=metric).fit(X.astype(fitted))
    Z = model.transform(new.astype(placed))
    assert Z.dtype == placed
    np.testing.assert_allclose(Z, model.transform(new.astype(fitted)), atol=1e-2)
    with pytest.raises(BadInput):
        MDS().fit(X.astype(np.float32)).transform(np.full(X[:1].shape, 1e300))


def test_rounding_errors_in_distances_are_removed(rng):
    X = rng.standard_normal((30, 8))
    D = 1 - np.corrcoef(X)
    assert np.diagonal(D).any() or (D < 0).any()
    D[0, 1] = D[1, 0] = -1e-16
    clean = np.maximum(D, 0)
    np.fill_diagonal(clean, 0)
    for model in (
        MDS(metric="precomputed"),
        MDS(metric="precomputed", solver="sgd"),
        NonmetricMDS(metric="precomputed"),
    ):
        np.testing.assert_array_equal(model.fit_transform(D), type(model)(**model.get_params()).fit_transform(clean))
        assert np.isfinite(model.transform(D)).all()


@pytest.mark.parametrize("n_components", [520, 800])
def test_many_components(n_components, rng):
    """More dimensions than block Lanczos is used for, and more than there are rows."""
    X = rng.standard_normal((700, 540))
    for model in (
        MDS(n_components),
        MDS(n_components, solver="sgd", max_iter=2),
        MDS(n_components, metric="manhattan"),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LowdimWarning)
            model.set_params(max_iter=2).fit(X)
        assert model.embedding_.shape == (700, n_components)
        assert np.isfinite(model.embedding_).all()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LowdimWarning)
        assert MDS(540, max_iter=2).fit(X).stress1_ < 1e-3  # no loss


def test_disconnected_distances_are_refused(rng):
    D = squareform(pdist(rng.standard_normal((20, 2))))
    D[:8, 8:] = D[8:, :8] = np.nan
    for solver in ("smacof", "sgd"):
        with pytest.raises(BadInput, match="2 separate components"):
            MDS(metric="precomputed", solver=solver).fit(D)


def test_weights_that_rounding_loses_are_refused(rng):
    X, W = rng.standard_normal((30, 3)), np.ones((30, 30))
    W[:15, 15:] = W[15:, :15] = 0
    W[0, 20] = W[20, 0] = 1e-30
    with pytest.raises(BadInput, match="weights so small"):
        MDS().fit(X, weights=W)
    for size in (1e60, 1e-60):
        assert MDS().fit(X, weights=np.full((30, 30), size)).stress1_ == pytest.approx(MDS().fit(X).stress1_, rel=1e-3)
        with pytest.raises(BadInput, match="too large or too small for float32"):
            MDS().fit(X.astype(np.float32), weights=np.full((30, 30), size))


@pytest.mark.parametrize("cls", [MDS, NonmetricMDS, lowdim.ClassicalMDS])
@pytest.mark.parametrize("value", [np.nan, -1.0, np.inf])
def test_a_function_must_return_distances(cls, value, rng):
    X = rng.standard_normal((10, 3))
    with pytest.raises(BadInput, match=rf"the metric must give .* it gave {value}"):
        cls(metric=lambda a, b: value).fit(X)
    rounding = cls(metric=lambda a, b: float(np.abs(a - b).sum()) or -1e-17).fit(X)
    np.testing.assert_array_equal(
        rounding.embedding_, cls(metric=lambda a, b: float(np.abs(a - b).sum())).fit(X).embedding_
    )


def test_subnormal_rows(rng):
    X = rng.standard_normal((20, 3))
    Z = MDS().fit_transform((X * 1e-42).astype(np.float32))
    np.testing.assert_allclose(pdist(Z.astype(float)) / 1e-42, pdist(MDS().fit_transform(X)), atol=0.02)
