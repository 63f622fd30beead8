"""TSNE: the same bits for any number of threads, its parameters and inputs, degenerate tables, and progress."""

from __future__ import annotations

import dataclasses
import hashlib
import pickle
import signal

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError
from sklearn.neighbors import KNeighborsClassifier

import lowdim
from lowdim import TSNE, NeighborIndex, neighbors
from lowdim.errors import BadInput, BadParameter, Cancelled, MemoryTooSmall, NotEnoughData
from lowdim.neighbor_embedding.tsne import gradient_descent, repulsion


@pytest.fixture(scope="module")
def groups():
    rng = np.random.default_rng(0)
    return np.vstack([rng.standard_normal((100, 10)) + 12 * rng.standard_normal(10) for _ in range(3)])


def digest(*arrays):
    return hashlib.sha256(b"".join(np.ascontiguousarray(a).tobytes() for a in arrays)).hexdigest()


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("many", [False, True])
def test_same_bits_for_any_number_of_threads(digits, many, k, monkeypatch):
    """Exact repulsion, FFT (one and two dimensions) and Barnes-Hut (three)."""
    if many:
        monkeypatch.setattr(repulsion, "EXACT_ROWS", 10)
        monkeypatch.setattr(gradient_descent, "REORDER_ROWS", 10)
    seen = set()
    for threads in (1, 2, 4, 8):
        model = TSNE(k, max_iter=60, n_jobs=threads).fit(digits[:1500])
        seen.add(digest(model.embedding_, model.transform(digits[1500:]), np.array(model.kl_divergence_)))
    assert len(seen) == 1


def test_fft_and_exact_repulsion_reach_the_same_divergence(digits, monkeypatch):
    """By FFT rows are reordered on the way, and the divergence is compared with the exact one."""
    exact = TSNE().fit(digits)
    monkeypatch.setattr(repulsion, "EXACT_ROWS", 10)
    monkeypatch.setattr(gradient_descent, "REORDER_ROWS", 10)
    fft = TSNE().fit(digits)
    assert fft.kl_divergence_ == pytest.approx(exact.kl_divergence_, rel=0.03)
    monkeypatch.undo()
    P = lowdim.Affinities.from_graph(neighbors(digits, 90), 30)
    judge = gradient_descent.GradientDescent(P, gradient_descent.TsneOptions(), 1)
    assert judge.divergence(judge.initial_state(fft.embedding_)) == pytest.approx(fft.kl_divergence_, rel=1e-3)


def test_new_digits_are_embedded_well(embeds_new_digits_well):
    embeds_new_digits_well(TSNE())


@pytest.mark.parametrize("k", [1, 2, 3])
def test_new_rows_by_fft_or_barnes_hut_and_by_exact_repulsion_agree(digits, k, monkeypatch):
    model = TSNE(k, max_iter=400).fit(digits[:1200])
    direct = model.transform(digits[1200:])
    monkeypatch.setattr(repulsion, "EXACT_ROWS", 10)
    np.testing.assert_array_equal(model.transform(digits[1200:]), direct)  # the field is reused
    fresh = pickle.loads(pickle.dumps(model))
    other = fresh.transform(digits[1200:])
    assert not np.array_equal(other, direct)
    assert np.median(np.linalg.norm(direct - other, axis=1)) < 0.3


def test_fitted_rows_are_indexed_once(groups, monkeypatch):
    made, init = [], NeighborIndex.__init__

    def counted(self, *args, **options):
        made.append(self)
        init(self, *args, **options)

    monkeypatch.setattr(NeighborIndex, "__init__", counted)
    model = TSNE(max_iter=20).fit(groups)
    made.clear()  # that of the fit, which may be approximate
    first = model.transform(groups[:5] + 0.1)
    np.testing.assert_array_equal(model.transform(groups[:5] + 0.1), first)
    assert len(made) == 1
    again = pickle.loads(pickle.dumps(model))  # without the index
    np.testing.assert_array_equal(again.transform(groups[:5] + 0.1), first)
    assert len(made) == 2
    model.fit(groups[:200])
    assert model.transform(groups[:5] + 0.1).shape == (5, 2) and len(made) == 4
    with pytest.raises(BadInput, match="row 3, column 2"):
        model.transform(np.where(np.arange(50).reshape(5, 10) == 32, np.nan, groups[:5]))
    with pytest.raises(NotEnoughData):
        model.fit(groups[:1])
    with pytest.raises(NotFittedError):
        model.transform(groups[:5])


@pytest.mark.filterwarnings("ignore::lowdim.errors.LowdimWarning")
@pytest.mark.parametrize("metric", ["euclidean", "cosine", "manhattan"])
@pytest.mark.parametrize("init", ["pca", "random", "spectral"])
def test_equal_rows_share_a_position_and_keep_it(metric, init):
    rng = np.random.default_rng(2)
    once = rng.standard_normal((60, 4)) + 2
    order = rng.permutation(np.r_[np.arange(60), np.arange(30), np.full(70, 3)])  # one of them more often than k
    X = once[order]
    model = TSNE(perplexity=10, metric=metric, init=init, max_iter=200).fit(X)
    Z = model.embedding_
    for row in range(60):
        assert len(np.unique(Z[order == row], axis=0)) == 1
    assert len(np.unique(Z, axis=0)) == 60
    np.testing.assert_array_equal(model.transform(X), Z)
    np.testing.assert_array_equal(model.transform(np.vstack([X[7:9], X[7:9] + 0.1]))[:2], Z[7:9])
    narrow = TSNE(perplexity=10, metric=metric, init=init, max_iter=50).fit(X.astype(np.float32))
    np.testing.assert_array_equal(narrow.transform(X.astype(np.float32).astype(float)), narrow.embedding_)


def test_equal_rows_of_other_tables(rng, monkeypatch):
    from scipy.spatial.distance import cdist

    order = rng.permutation(np.r_[np.arange(60), np.arange(40)])
    X = (rng.random((60, 12)) * (rng.random((60, 12)) < 0.4) + np.eye(60, 12))[order]
    sparse = TSNE(perplexity=5, max_iter=100).fit(sp.csr_array(X))
    given = TSNE(perplexity=5, metric="precomputed", max_iter=100).fit(cdist(X, X))
    monkeypatch.setattr(repulsion, "EXACT_ROWS", 10)
    monkeypatch.setattr(gradient_descent, "REORDER_ROWS", 10)  # rows are reordered on the way
    fft = TSNE(perplexity=5, max_iter=200).fit(X)
    for model, table in (
        (sparse, sp.csr_array(X)),
        (sparse, X),
        (given, cdist(X, X)),
        (fft, X),
        (fft, sp.csr_array(X)),
    ):
        Z = model.embedding_
        assert len(np.unique(Z, axis=0)) == 60
        np.testing.assert_array_equal(model.transform(table), Z)


def test_an_embedding_that_is_not_finite_is_an_error(groups):
    start = np.zeros((300, 2))
    for value in (1e300, np.inf, np.nan, 1e7):
        start[5, 1] = value
        with pytest.raises(BadParameter, match="init must be finite"):
            TSNE(init=start).fit(groups)
    with pytest.raises(BadParameter, match="all rows at one position"):
        TSNE(init=np.ones((300, 2))).fit(groups)
    for rate in (1e25, 1e30, 1e37):
        assert np.isfinite(
            TSNE(learning_rate=rate, max_iter=50).fit_transform(groups)
        ).all()  # by the maximum norm of a step
    model = TSNE(learning_rate=1e300, max_iter=50)
    with pytest.raises(BadParameter, match="the optimization diverged"):
        model.fit(groups)
    assert not hasattr(model, "embedding_")


def test_what_does_not_fit_into_memory_is_refused_before_the_work(groups, tmp_path, monkeypatch):
    from lowdim.runtime import memory

    path = tmp_path / "rows.npy"
    np.save(path, groups)
    mapped = np.load(path, mmap_mode="r")
    graph = neighbors(groups, 90)
    P = lowdim.Affinities.from_graph(graph, 30)
    monkeypatch.setattr(memory, "available_bytes", lambda: 20_000)
    for X, name in (
        (mapped, "the affinities"),
        (groups, "the affinities"),
        (graph, "the affinities"),
        (P, "a copy of the affinities"),
    ):
        with pytest.raises(MemoryTooSmall, match=name):
            TSNE(max_iter=5).fit(X)
    monkeypatch.setattr(memory, "available_bytes", lambda: 3_000_000)
    monkeypatch.setattr(repulsion, "EXACT_ROWS", 10)
    far = np.random.default_rng(0).standard_normal((300, 2)) * 1000
    with pytest.raises(MemoryTooSmall, match="the FFT mesh"):
        TSNE(max_iter=5, init=far).fit(groups)


def test_divergence_decreases_and_the_embedding_can_be_watched(digits):
    seen = []

    def look(step):
        if step.task == "t-SNE":
            seen.append((step.done, step.info.get("kl"), None if step.done % 100 else step.snapshot()))

    with lowdim.watch(look):
        model = TSNE().fit(digits)
    late = [kl for done, kl, _ in seen if done >= 300 and done % 50 == 0]
    assert np.all(np.diff(late) < 0.002) and late[-1] < late[0]
    assert late[-1] == model.kl_divergence_
    assert [done for done, _, _ in seen] == list(range(1, 751))
    assert seen[699][2].shape == (1797, 2)
    with pytest.raises(Cancelled), lowdim.watch(lambda step: step.task == "t-SNE" and step.done == 5):
        model.fit(digits)
    assert not hasattr(model, "embedding_")


def test_tol_ends_the_descent_early(digits):
    full, early = TSNE().fit(digits), TSNE(tol=0.02).fit(digits)
    assert 250 < early.n_iter_ < full.n_iter_ == 750
    assert early.kl_divergence_ < 1.2 * full.kl_divergence_


def test_the_initialization_is_used(groups):
    start = np.random.default_rng(0).standard_normal((300, 2)).astype(np.float32)
    model = TSNE(init=start, max_iter=1, learning_rate=1e-12)
    np.testing.assert_allclose(model.fit_transform(groups), start - start.mean(axis=0), atol=1e-6)
    for init in ("pca", "spectral", "random"):
        Z = TSNE(init=init, max_iter=1, learning_rate=1e-12).fit_transform(groups)
        assert Z[:, 0].std() == pytest.approx(1e-4, rel=0.1)
    scores = lowdim.PCA(2).fit_transform(groups)
    Z = TSNE(max_iter=1, learning_rate=1e-12).fit_transform(groups)
    np.testing.assert_allclose(Z, scores * (1e-4 / scores[:, 0].std()), atol=1e-8)
    with pytest.raises(BadParameter, match="init must be an array of numbers of shape"):
        TSNE(init=start[:5]).fit(groups)


@pytest.mark.parametrize("init", ["pca", "spectral", "random"])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_clusters_stay_clusters(groups, k, init):
    Z = TSNE(k, init=init).fit_transform(groups)
    group = np.repeat(range(3), 100)
    assert KNeighborsClassifier(5).fit(Z[::2], group[::2]).score(Z[1::2], group[1::2]) == 1


def descend(P, Y, steps, early, early_exaggeration=12.0, exaggeration=1.0, learning_rate=None):
    """t-SNE as it is written: exact gradient over four, momentum 0.8, gains + 0.2 or × 0.8, centered."""
    velocity, gains = np.zeros_like(Y), np.ones_like(Y)
    for t in range(steps):
        factor = early_exaggeration if t < early else exaggeration
        rate = len(Y) / factor if learning_rate is None else learning_rate
        difference = Y[:, None] - Y[None]
        kernel = 1 / (1 + (difference**2).sum(axis=2))
        np.fill_diagonal(kernel, 0)
        gradient = (((factor * P - kernel / kernel.sum()) * kernel)[:, :, None] * difference).sum(axis=1)
        gains = np.where(np.sign(gradient) != np.sign(velocity), gains + 0.2, gains * 0.8 + 0.01)
        velocity = 0.8 * velocity - rate * gains * gradient
        Y = Y + velocity
        Y = Y - Y.mean(axis=0)
    return Y


@pytest.mark.parametrize(
    ("options", "steps", "early"),
    [
        ({}, 9, 3),
        ({"exaggeration": 4.0}, 6, 2),
        ({"early_exaggeration": 6.0, "learning_rate": 3.0}, 8, 2),
    ],
    ids=str,
)
def test_the_descent_is_the_one_that_is_written(rng, options, steps, early):
    """Exaggeration 12 for a third of the steps at rate n / 12, then 1 at rate n; both as asked for otherwise."""
    X, start = rng.standard_normal((60, 4)), rng.standard_normal((60, 2)).astype(np.float32)
    P = lowdim.Affinities.from_graph(neighbors(X, 30), 10)
    Z = TSNE(init=start, max_iter=steps, **options).fit(P).embedding_
    expected = descend(P.to_sparse().toarray().astype(float), start.astype(float), steps, early, **options)
    np.testing.assert_allclose(Z, expected, rtol=2e-3, atol=2e-3)


def test_early_exaggeration_takes_250_steps_and_at_most_a_third_of_all(rng):
    """Runs of different lengths are equal up to the first step whose exaggeration differs."""
    X = rng.standard_normal((60, 4))

    def snapshots(max_iter):
        seen = {}
        with lowdim.watch(lambda step: seen.update({step.done: step.snapshot()}) if step.task == "t-SNE" else None):
            TSNE(max_iter=max_iter, perplexity=10).fit(X)
        return seen

    short, default, long = (snapshots(steps) for steps in (600, 750, 1200))
    np.testing.assert_array_equal(default[750], long[750])
    np.testing.assert_array_equal(short[200], default[200])
    assert not np.array_equal(short[201], default[201])


def test_tsne_of_affinities(rng):
    """Several perplexities, given to TSNE or to Affinities, give one embedding; uniform weights give another."""
    X = rng.standard_normal((150, 5))
    graph, options = neighbors(X, 60), {"max_iter": 60, "init": 1e-4 * rng.standard_normal((150, 2))}
    several = TSNE(perplexity=(5, 20), **options).fit(X)
    assert several.perplexity_.tolist() == [5, 20]
    by_hand = TSNE(**options).fit(lowdim.Affinities.from_graph(graph, (5, 20)))
    np.testing.assert_array_equal(by_hand.embedding_, several.embedding_.astype(np.float32))
    assert by_hand.kl_divergence_ == several.kl_divergence_
    uniform = TSNE(**options).fit(lowdim.Affinities.uniform(graph))
    assert uniform.kl_divergence_ != by_hand.kl_divergence_ and np.isfinite(uniform.embedding_).all()
    with pytest.raises(BadInput, match="fitted to a graph"):
        uniform.transform(X)
    given = TSNE(metric="precomputed", **options).fit(lowdim.Affinities.uniform(graph))
    with pytest.raises(BadInput, match="fitted to Affinities"):
        given.transform(np.ones((2, 150)))


def test_exaggeration_and_heavy_tails_tighten_clusters(digits):
    def compactness(**options):
        model = TSNE(max_iter=400, **options).fit(digits[:400])
        nearest = neighbors(model.embedding_, 5).distances.mean()
        return nearest / model.embedding_.std()

    plain = compactness()
    assert compactness(exaggeration=4.0) < plain
    assert compactness(dof=0.5) < plain


def test_rows_a_graph_and_distances_give_one_embedding(groups):
    from scipy.spatial.distance import cdist

    start = np.random.default_rng(0).standard_normal((300, 2)).astype(np.float32) * 1e-4
    options = {"init": start, "max_iter": 100}
    Z = TSNE(**options).fit_transform(groups)
    graph = neighbors(groups, 90)
    np.testing.assert_array_equal(TSNE(**options).fit(graph).embedding_, Z)
    unknown = TSNE(**options).fit(dataclasses.replace(graph, rows=None))
    np.testing.assert_array_equal(unknown.embedding_, Z.astype(np.float32))
    given = TSNE(metric="precomputed", **options).fit(cdist(groups, groups))
    assert given.kl_divergence_ == pytest.approx(TSNE(**options).fit(groups).kl_divergence_, abs=0.02)
    new = groups[:4] + 0.01
    positions = given.transform(cdist(new, groups))
    assert np.linalg.norm(positions - given.embedding_[:4], axis=1).max() < 0.1 * np.ptp(given.embedding_)
    by_rows = TSNE(**options).fit(groups)
    for known in (graph, lowdim.Affinities.from_graph(graph, 30)):
        model = TSNE(**options).fit(known)
        np.testing.assert_array_equal(model.embedding_, Z)
        np.testing.assert_array_equal(model.transform(new), by_rows.transform(new))
    for other in (unknown, TSNE(**options).fit(lowdim.Affinities.uniform(graph))):
        with pytest.raises(BadInput, match=r"has no rows to compare new ones with.*lowdim\.neighbors"):
            other.transform(groups)
    sparse = TSNE(**options).fit(sp.csr_array(groups))
    np.testing.assert_allclose(sparse.embedding_, Z, atol=0.01 * np.abs(Z).max())  # rounding grows on the way
    np.testing.assert_array_equal(sparse.transform(sp.csr_array(groups[:7])), sparse.embedding_[:7])


@pytest.mark.filterwarnings("ignore::lowdim.errors.LowdimWarning")
def test_degenerate_tables():
    rng = np.random.default_rng(0)
    equal = TSNE().fit_transform(np.ones((50, 3)))
    assert np.ptp(equal) == 0
    for n in (2, 3, 5):
        assert np.isfinite(TSNE().fit_transform(rng.standard_normal((n, 4)))).all()
    outlier = np.vstack([rng.standard_normal((300, 5)), np.full((1, 5), 1e6)])
    Z = TSNE(init="random").fit_transform(outlier)
    assert np.isfinite(Z).all() and np.ptp(Z) < 1000
    with pytest.raises(NotEnoughData):
        TSNE().fit(np.ones((1, 3)))
    for bad in ({"perplexity": 0}, {"perplexity": []}, {"n_components": 4}, {"init": "best"}, {"dof": 0}):
        with pytest.raises(BadParameter):
            TSNE(**bad).fit(rng.standard_normal((20, 3)))
    assert TSNE().fit(rng.standard_normal((31, 3))).perplexity_ == [10]


def test_ctrl_c_leaves_it_unfitted(groups):
    """At the step of the signal, and not at a later one."""
    model, seen = TSNE().fit(groups), []

    def press(step):
        seen.append(step.done)
        if step.task == "t-SNE" and step.done == 20:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt), lowdim.watch(press):
        model.fit(groups)
    assert seen[-1] == 20 and not hasattr(model, "embedding_")


def test_affinities_that_change_during_the_fit_change_nothing(groups):
    """Neither a callback nor another thread can lead the kernels out of bounds."""
    want = TSNE(max_iter=20).fit(lowdim.Affinities.uniform(neighbors(groups, 10))).embedding_
    P = lowdim.Affinities.uniform(neighbors(groups, 10))
    parts = [part.copy() for part in (P.starts, P.columns, P.values)]
    given = lowdim.Affinities(*parts)

    def spoil(step):
        parts[1][:] = 2**30
        parts[2][:] = np.nan

    with lowdim.watch(spoil):
        found = TSNE(max_iter=20).fit(given).embedding_
    np.testing.assert_array_equal(found, want)
    graph = neighbors(groups, 90)
    want = TSNE(max_iter=20).fit(graph).embedding_

    def spoil_graph(step):
        graph.indices[:] = 2**30

    with lowdim.watch(spoil_graph):
        np.testing.assert_array_equal(TSNE(max_iter=20).fit(graph).embedding_, want)
    for use in (lambda: TSNE(max_iter=2).fit(graph), lambda: lowdim.Affinities.uniform(graph)):
        with pytest.raises(BadInput, match="indices of a graph must be integers from 0"):
            use()


def test_stages_of_the_descent(groups):
    default = TSNE(max_iter=90).fit(groups)
    np.testing.assert_array_equal(TSNE(stages=[(30, 12), (60, 1)]).fit(groups).embedding_, default.embedding_)
    early = TSNE(max_iter=90, early_exaggeration_iter=30).fit(groups)
    np.testing.assert_array_equal(early.embedding_, default.embedding_)
    three = TSNE(stages=[(30, 12), (30, 4), (30, 1)]).fit(groups)
    assert three.n_iter_ == 90 and not np.array_equal(three.embedding_, default.embedding_)
    plain = TSNE(max_iter=20, early_exaggeration_iter=0).fit(groups)
    np.testing.assert_array_equal(plain.embedding_, TSNE(stages=((20, 1.0),)).fit(groups).embedding_)
    with pytest.raises(BadParameter, match="must be at most max_iter=20"):
        TSNE(max_iter=20, early_exaggeration_iter=21).fit(groups)
    for wrong in ([], [5], [(0, 1)], [(5, 0)], [(5, 1, 2)], "12"):
        with pytest.raises(BadParameter, match="pairs"):
            TSNE(stages=wrong).fit(groups)


def test_exaggeration_by_stage():
    options = gradient_descent.TsneOptions(((2, 12.0), (3, 4.0), (1, 1.0)))
    assert [options.at(t, 120) for t in range(6)] == [(12, 10)] * 2 + [(4, 30)] * 3 + [(1, 120)]
    assert (options.max_iter, options.last_stage) == (6, 5)


def test_a_finished_embedding_is_continued(groups):
    """From its positions with other settings, as openTSNE's embedding.optimize: the divergence goes on falling."""
    first = TSNE(max_iter=150).fit(groups)
    more = TSNE(init=first.embedding_, stages=[(100, 1)]).fit(groups)
    assert more.kl_divergence_ < first.kl_divergence_ - 0.01
    moved = np.linalg.norm(more.embedding_ - first.embedding_, axis=1)
    assert np.median(moved) < 0.3 * np.ptp(more.embedding_)
    attracted = TSNE(init=first.embedding_, stages=[(100, 4)]).fit(groups)
    assert np.ptp(attracted.embedding_) < np.ptp(more.embedding_)


def test_a_checkpoint_of_stages_resumes_to_the_same_bits(groups, tmp_path):
    model = TSNE(stages=[(40, 12), (50, 4), (30, 1)], checkpoint=tmp_path / "run")
    want = TSNE(stages=[(40, 12), (50, 4), (30, 1)]).fit(groups)
    with pytest.raises(Cancelled), lowdim.watch(lambda step: step.task == "t-SNE" and step.done == 75):
        model.fit(groups)
    np.testing.assert_array_equal(model.fit(groups).embedding_, want.embedding_)


def test_the_affinities_of_new_rows_and_their_start(groups):
    model, new = TSNE(perplexity=10, max_iter=30).fit(groups), groups[:4] + 0.2
    P = model.transform_graph(new)
    assert P.shape == (4, 300)
    np.testing.assert_allclose(P.sum(axis=1), 1, rtol=1e-5)
    p = np.maximum(P.toarray().astype(np.float64), 1e-300)
    np.testing.assert_allclose(np.exp2(-(p * np.log2(p)).sum(axis=1)), 10, rtol=1e-3)  # the perplexity
    nearest = np.argsort(np.linalg.norm(new[:, None] - groups, axis=2), axis=1)[:, :10]
    np.testing.assert_allclose(model.transform_init(new), np.median(model.embedding_[nearest], axis=1), rtol=1e-5)
    np.testing.assert_array_equal(model.transform_init(groups), model.embedding_)
    uniform = lowdim.Affinities.uniform(neighbors(groups, 30))
    for ask in (TSNE.transform_graph, TSNE.transform_init, TSNE.transform):
        with pytest.raises(BadInput, match="fitted to a graph or affinities"):
            ask(TSNE(max_iter=5).fit(uniform), new)


def test_affinities_that_know_their_rows_embed_new_ones(groups):
    P = lowdim.Affinities.from_graph(neighbors(groups, 30), 10)
    model, want = TSNE(max_iter=50).fit(P), TSNE(perplexity=10, max_iter=50).fit(groups)
    np.testing.assert_array_equal(model.embedding_, want.embedding_)
    np.testing.assert_array_equal(model.transform(groups[:5] + 0.1), want.transform(groups[:5] + 0.1))
