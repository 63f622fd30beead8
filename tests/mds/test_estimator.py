"""MDS and NonmetricMDS: ties by hand, stochastic descent, odd input, named errors, files, progress."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.spatial.distance import cdist, pdist, squareform

import lowdim
from lowdim import MDS, NonmetricMDS
from lowdim.distance.condensed import Pairs, binary_unit
from lowdim.errors import BadInput, BadParameter, Cancelled, LowdimWarning, MemoryTooSmall, NotEnoughData
from lowdim.mds.isotonic import Ranks
from lowdim.mds.out_of_sample import bend

# Three points on a line: pairs (0,1), (0,2), (1,2) at 1, 5, 4.
LINE = np.array([[0.0, 1.0, 5.0]])


def disparities(given, ties):
    """d̂ of LINE for given dissimilarities, and Σ δ², to which d̂ is scaled."""
    pairs = Pairs(3, np.array(given, dtype=float), None, 1.0)
    ranks = Ranks(pairs, ties)
    return ranks.update(LINE, 1)[ranks.ranking.slots()], pairs.sum_of_squares


@pytest.mark.parametrize(
    ("ties", "want"),
    [
        # (0,1) and (0,2) are tied below (1,2). Primary: 1, 5, 4 in the order 1, 5 | 4 pools 5 and 4.
        ("primary", [1, 4.5, 4.5]),
        # Secondary: the tied mean 3 lies below 4.
        ("secondary", [3, 3, 4]),
        # Tertiary: the means rise already, so nothing moves.
        ("tertiary", [1, 5, 4]),
    ],
)
def test_three_rules_for_ties_by_hand(ties, want):
    got, total = disparities([2, 2, 3], ties)
    want = np.array(want, dtype=float)
    np.testing.assert_allclose(got, want * np.sqrt(total / (want @ want)), rtol=1e-12)


@pytest.mark.parametrize(
    ("ties", "want"),
    [
        # Now (0,2) comes first, and (0,1), (1,2) are tied behind it. Primary: 5 | 1, 4 pools 5 and 1 to 3.
        ("primary", [3, 3, 4]),
        # Secondary: 5 | 2.5, 2.5 falls, all pool.
        ("secondary", [10 / 3, 10 / 3, 10 / 3]),
        # Means 5 and 2.5 pool to 10/3: the tied pairs keep their deviations -1.5 and 1.5 from it.
        ("tertiary", [10 / 3 - 1.5, 10 / 3, 10 / 3 + 1.5]),
    ],
)
def test_ties_that_must_pool_by_hand(ties, want):
    got, total = disparities([3, 1, 3], ties)
    want = np.array(want, dtype=float)
    np.testing.assert_allclose(got, want * np.sqrt(total / (want @ want)), rtol=1e-12)


def test_ties_matter_for_ratings():
    rng = np.random.default_rng(0)
    D = squareform(rng.integers(1, 4, 105).astype(float))
    fits = {t: NonmetricMDS(metric="precomputed", ties=t, max_iter=3000).fit(D).stress1_ for t in
            ("primary", "secondary", "tertiary")}  # fmt: skip
    assert fits["tertiary"] < fits["secondary"]
    assert fits["primary"] < fits["secondary"]  # freer disparities fit better


def test_stochastic_descent_is_nearly_as_good(digits):
    X = digits[:400]
    full, quick = MDS().fit(X), MDS(solver="sgd").fit(X)
    assert quick.stress_ < 1.01 * full.stress_
    gaps = pdist(quick.embedding_) - pdist(X)
    assert quick.stress_ == pytest.approx(gaps @ gaps, rel=1e-6)
    assert quick.stress1_ == pytest.approx(np.sqrt(gaps @ gaps / (pdist(X) @ pdist(X))), rel=1e-6)
    np.testing.assert_allclose(quick.stress_per_point_, (squareform(gaps) ** 2).sum(axis=1), rtol=1e-6)
    given = MDS(solver="sgd", metric="precomputed").fit(squareform(pdist(X)))
    assert given.stress_ < 1.01 * full.stress_
    rough = MDS(solver="sgd", init="random").fit(X)
    assert rough.stress_ < 1.15 * full.stress_
    assert quick.solver_ == "sgd" and quick.converged_


def test_stochastic_descent_copes_with_missing_distances(rng):
    P = rng.standard_normal((80, 2))
    D = squareform(pdist(P))
    D[3, 4] = D[4, 3] = np.nan
    model = MDS(solver="sgd", metric="precomputed", max_iter=200).fit(D)
    gaps = pdist(model.embedding_) - squareform(np.nan_to_num(D))
    known = ~np.isnan(squareform(D, checks=False))
    assert model.stress_ == pytest.approx((gaps[known] ** 2).sum(), rel=1e-9)
    assert model.stress1_ < 0.02


@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean", "manhattan", "chebyshev", "cosine", "correlation"])
def test_metrics_are_scipys(metric, rng):
    X = rng.standard_normal((40, 6))
    name = {"manhattan": "cityblock"}.get(metric, metric)
    one = MDS(metric=metric).fit(X)
    np.testing.assert_allclose(one.shepard(X).distances, pdist(X, name), rtol=1e-5, atol=1e-6)
    other = MDS(metric="precomputed").fit(squareform(pdist(X, name)))
    assert one.stress_ == pytest.approx(other.stress_, rel=2e-2)  # the starts differ in rounding


@pytest.mark.parametrize("metric", ["hamming", "jaccard"])
def test_sets(metric, rng):
    X = rng.integers(0, 2, (20, 30))
    model = MDS(metric=metric).fit(X)
    np.testing.assert_allclose(model.shepard(X).distances, pdist(X != 0, metric))
    np.testing.assert_array_equal(model.transform(X[:3]), model.embedding_[:3])
    with pytest.raises(BadInput, match="0 or 1"):
        MDS(metric=metric).fit(X + 1)


def test_a_function_of_two_rows(rng):
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


def test_shepard(rng):
    X = rng.standard_normal((20, 5))
    for model in (MDS(), MDS(transformation="interval"), MDS(transformation="spline"), NonmetricMDS()):
        shown = model.fit(X).shepard(X)
        np.testing.assert_allclose(shown.distances, pdist(X))
        np.testing.assert_allclose(shown.mapped, pdist(model.embedding_))
        gaps = shown.disparities - shown.mapped
        assert gaps @ gaps == pytest.approx(model.stress_, rel=1e-2)
        assert (np.diff(shown.disparities[np.argsort(shown.distances)]) >= -1e-9).all()
    with pytest.raises(BadInput, match="20 fitted rows"):
        model.shepard(X[:5])


def test_a_curve_bends_and_goes_on_in_proportion():
    curve = np.array([[1.0, 2.0, 4.0], [2.0, 3.0, 3.0]])
    np.testing.assert_allclose(bend(np.array([0.0, 0.5, 1, 1.5, 3, 8]), curve), [0, 1, 2, 2.5, 3, 6])


@pytest.mark.parametrize(
    ("D", "words"),
    [
        (np.ones((3, 4)), "square"),
        ([[0, 1, 2], [1, 0, 3], [9, 3, 0]], "symmetric; from row 0 to row 2 it is 2.0 and back 9.0"),
        ([[0, -1], [-1, 0]], "from row 0 to row 1 it is -1.0"),
        ([[0, np.inf], [np.inf, 0]], "inf"),
        ([[1, 0.5], [0.5, 1]], "similarities"),
        ([[0, 1, np.nan], [1, 0, 2], [3, 2, 0]], "symmetric"),
        ([[0, np.nan], [np.nan, 0]], "2 groups"),
    ],
    ids=["shape", "asymmetric", "negative", "infinite", "similarities", "half missing", "apart"],
)
@pytest.mark.parametrize("cls", [MDS, NonmetricMDS])
def test_distances_that_are_none(cls, D, words):
    model = cls(metric="precomputed")
    with pytest.raises(BadInput, match=words):
        model.fit(np.asarray(D, dtype=float))
    assert not hasattr(model, "embedding_")


def test_other_named_errors(rng):
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


def test_stopping_early_is_said(rng):
    X = rng.standard_normal((30, 6))
    for model in (MDS(max_iter=2), NonmetricMDS(max_iter=2), MDS(loss="sstress", max_iter=1)):
        with pytest.warns(LowdimWarning, match="stopped after"):
            model.fit(X)
        assert not model.converged_
        assert model.n_iter_ <= 2
    assert MDS().fit(X).converged_


@pytest.mark.parametrize("cls", [MDS, NonmetricMDS])
def test_rows_in_one_place(cls):
    model = cls().fit(np.ones((5, 3)))
    assert not model.embedding_.any()
    assert model.stress_ == 0 and model.stress1_ == 0 and model.converged_
    np.testing.assert_array_equal(model.transform(np.ones((2, 3))), 0)


def test_equal_distances_are_shown_as_a_regular_figure():
    D = np.ones((3, 3)) - np.eye(3)
    model = MDS(metric="precomputed", tol=1e-15).fit(D)
    np.testing.assert_allclose(pdist(model.embedding_), 1, atol=1e-6)
    for transformation in ("interval", "spline"):
        assert MDS(metric="precomputed", transformation=transformation).fit(D).stress1_ < 1e-4


@pytest.mark.parametrize("scale", [1e-150, 1e-30, 1e30, 1e150])
def test_size_does_not_matter(scale, rng):
    X = rng.standard_normal((20, 5))
    one, other = MDS().fit(X), MDS().fit(X * scale)
    np.testing.assert_allclose(other.embedding_ / scale, one.embedding_, atol=1e-3)
    np.testing.assert_allclose(other.transform(X[:4] * scale * 1.01) / scale, one.transform(X[:4] * 1.01), atol=1e-2)


def test_the_unit_is_a_power_of_two():
    for value in (1e-300, 0.3, 1.0, 9e200):
        unit = binary_unit(value)
        assert np.frexp(unit)[0] == 0.5
        assert 0.5 < value / unit < 2
    assert binary_unit(0.0) == 1.0


@pytest.mark.parametrize(
    "model",
    [MDS(), MDS(transformation="spline"), MDS(solver="sgd"), NonmetricMDS(), NonmetricMDS(metric="precomputed")],
    ids=str,
)
def test_a_saved_model_places_rows_alike(model, rng, tmp_path):
    X = rng.standard_normal((20, 5))
    table = squareform(pdist(X)) if model.metric == "precomputed" else X
    model.fit(table)
    lowdim.save(model, tmp_path / "map.lowdim")
    loaded = lowdim.load(tmp_path / "map.lowdim")
    np.testing.assert_array_equal(loaded.transform(table[:7] * 1.1), model.transform(table[:7] * 1.1))
    assert vars(loaded).keys() == vars(model).keys()


def test_progress_and_cancelling(rng):
    X = rng.standard_normal((30, 6))
    heard = []
    with lowdim.watch(lambda step: heard.append((step.task, step.info["stress"]))):
        MDS().fit(X)
    stresses = [stress for task, stress in heard if task == "majorising stress"]
    assert len(stresses) > 3 and stresses[-1] < stresses[0]
    model = MDS()
    with pytest.raises(Cancelled), lowdim.watch(lambda step: step.done >= 3):
        model.fit(X)
    assert not hasattr(model, "embedding_")


def test_too_many_pairs_are_refused(monkeypatch, rng):
    from lowdim.runtime import memory

    X = rng.standard_normal((500, 3))
    monkeypatch.setattr(memory, "available_bytes", lambda: 1_000_000)
    with pytest.raises(MemoryTooSmall, match="solver='sgd'"):
        MDS().fit(X)
    MDS(solver="sgd", max_iter=3).fit(X)  # rows alone


def test_many_rows_go_to_stochastic_descent(monkeypatch, rng):
    import lowdim.mds.metric as home

    monkeypatch.setattr(home, "SGD_ROWS", 100)
    X = rng.standard_normal((120, 3))
    assert MDS(max_iter=30).fit(X).solver_ == "sgd"
    assert MDS(transformation="interval").fit(X).solver_ == "smacof"
    assert MDS(solver="smacof").fit(X).solver_ == "smacof"


@pytest.mark.parametrize("cls", [MDS, NonmetricMDS])
@pytest.mark.parametrize("metric", ["euclidean", "cosine", "manhattan", "precomputed"])
@pytest.mark.parametrize(("fitted", "placed"), [(np.float64, np.float32), (np.float32, np.float64)])
def test_a_dtype_other_than_the_fitted_one(cls, metric, fitted, placed, rng):
    X, new = rng.standard_normal((30, 4)), rng.standard_normal((5, 4))
    if metric == "precomputed":
        X, new = cdist(X, X), cdist(new, X)
    model = cls(metric=metric).fit(X.astype(fitted))
    Z = model.transform(new.astype(placed))
    assert Z.dtype == placed
    np.testing.assert_allclose(Z, model.transform(new.astype(fitted)), atol=1e-2)
    with pytest.raises(BadInput):
        MDS().fit(X.astype(np.float32)).transform(np.full(X[:1].shape, 1e300))


def test_rounding_does_not_make_a_distance(rng):
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


def test_a_stress_that_rose_at_the_end_is_no_rest(monkeypatch, rng):
    from lowdim import _native

    met = iter([10.0] * 12 * 3 + [100.0] * 12)
    monkeypatch.setattr(_native, "meeting_round", lambda *arguments: next(met))
    with pytest.warns(LowdimWarning, match=r"stopped after 4 epochs .* Raise max_iter\.$"):
        model = MDS(solver="sgd", max_iter=4).fit(rng.standard_normal((1200, 3)))
    assert not model.converged_


def test_what_ranks_need_is_refused_before_anything_is_measured(monkeypatch, rng):
    """About 80 bytes a pair in float64, for each of the starts that run at once."""
    from lowdim.mds import nonmetric as nonmetric_mds
    from lowdim.runtime import memory

    X = rng.standard_normal((300, 3))
    pairs = 300 * 299 // 2
    for starts, enough in ((1, 90), (4, 320)):
        model = NonmetricMDS(n_init=starts, n_jobs=4, max_iter=1)
        monkeypatch.setattr(memory, "available_bytes", lambda: 60 * starts * pairs)  # noqa: B023
        with pytest.raises(MemoryTooSmall, match=r"solver='sgd'"):
            model.fit(X)
        monkeypatch.setattr(memory, "available_bytes", lambda: enough * pairs)  # noqa: B023
        with pytest.warns(LowdimWarning, match="stopped after"):
            model.fit(X)
    monkeypatch.setattr(nonmetric_mds, "MOST_RANKED", 299)
    with pytest.raises(BadInput, match=r"at most 299 rows; got 300.*sgd"):
        NonmetricMDS().fit(X)


def test_the_memory_of_ranks_is_what_is_asked_for(rng):
    import tracemalloc

    X = rng.standard_normal((700, 3))
    tracemalloc.start()
    with pytest.warns(LowdimWarning, match="stopped after"):
        NonmetricMDS(max_iter=2, n_jobs=1).fit(X)
    peak = tracemalloc.get_traced_memory()[1] / (700 * 699 / 2)
    tracemalloc.stop()
    assert 0.6 * peak < 8 + Ranks.bytes_a_pair(8) < 1.4 * peak


@pytest.mark.parametrize("n_components", [520, 800])
def test_many_components(n_components, rng):
    """More axes than a few passes can find, and more than there are rows."""
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
        assert MDS(540, max_iter=2).fit(X).stress1_ < 1e-3  # all of it


def test_groups_that_nothing_joins_are_refused_by_stochastic_descent_too(rng):
    D = squareform(pdist(rng.standard_normal((20, 2))))
    D[:8, 8:] = D[8:, :8] = np.nan
    for solver in ("smacof", "sgd"):
        with pytest.raises(BadInput, match="2 groups"):
            MDS(metric="precomputed", solver=solver).fit(D)


def test_weights_that_rounding_loses(rng):
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
def test_a_metric_must_give_lengths(cls, value, rng):
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
