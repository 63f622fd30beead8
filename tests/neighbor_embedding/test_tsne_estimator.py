"""TSNE: what it promises to those who use it."""

from __future__ import annotations

import hashlib
import pickle
import subprocess
import sys
import textwrap

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.neighbors import KNeighborsClassifier

import lowdim
from lowdim import TSNE, NeighborIndex, _native, neighbors
from lowdim.errors import BadInput, BadParameter, Cancelled, MemoryTooSmall, NotEnoughData
from lowdim.knn import fitted_rows
from lowdim.neighbor_embedding.checkpoint import Checkpoint
from lowdim.neighbor_embedding.optimizer_loop import OptimizerLoop
from lowdim.neighbor_embedding.tsne import gradient_descent as descent
from lowdim.neighbor_embedding.tsne import repulsion


@pytest.fixture(scope="module")
def groups():
    rng = np.random.default_rng(0)
    return np.vstack([rng.standard_normal((100, 10)) + 12 * rng.standard_normal(10) for _ in range(3)])


def digest(*arrays):
    return hashlib.sha256(b"".join(np.ascontiguousarray(a).tobytes() for a in arrays)).hexdigest()


@pytest.mark.parametrize("axes", [1, 2, 3])
@pytest.mark.parametrize("many", [False, True])
def test_same_bits_for_any_number_of_threads(digits, many, axes, monkeypatch):
    """Direct sums, the mesh (one and two axes) and the tree (three)."""
    if many:
        monkeypatch.setattr(repulsion, "EXACT_ROWS", 10)
        monkeypatch.setattr(descent, "REORDER_ROWS", 10)
    seen = set()
    for threads in (1, 2, 4, 8):
        model = TSNE(axes, max_iter=60, n_jobs=threads).fit(digits[:1500])
        seen.add(digest(model.embedding_, model.transform(digits[1500:]), np.array(model.kl_divergence_)))
    assert len(seen) == 1


def test_mesh_and_direct_maps_are_equally_good(digits, monkeypatch):
    """The exact divergence of a map made with the mesh, rows reordered on the way."""
    direct = TSNE().fit(digits)
    monkeypatch.setattr(repulsion, "EXACT_ROWS", 10)
    monkeypatch.setattr(descent, "REORDER_ROWS", 10)
    mesh = TSNE().fit(digits)
    assert mesh.kl_divergence_ == pytest.approx(direct.kl_divergence_, rel=0.03)
    monkeypatch.undo()
    P = lowdim.Affinities.from_graph(neighbors(digits, 90), 30)
    exact = descent.GradientDescent(P, descent.TsneOptions(), 1)
    assert exact.divergence(exact.initial_state(mesh.embedding_)) == pytest.approx(mesh.kl_divergence_, rel=1e-3)


def test_new_digits_land_among_their_like(lands_among_its_like):
    lands_among_its_like(TSNE())


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_new_rows_by_mesh_or_tree_and_by_sum_agree(digits, axes, monkeypatch):
    model = TSNE(axes, max_iter=400).fit(digits[:1200])
    direct = model.transform(digits[1200:])
    monkeypatch.setattr(repulsion, "EXACT_ROWS", 10)
    np.testing.assert_array_equal(model.transform(digits[1200:]), direct)  # by what was made for the first call
    fresh = pickle.loads(pickle.dumps(model))
    other = fresh.transform(digits[1200:])
    assert not np.array_equal(other, direct)
    assert np.median(np.linalg.norm(direct - other, axis=1)) < 0.3


def test_rows_are_indexed_once(groups, monkeypatch):
    made = []

    class Counted(NeighborIndex):
        def __init__(self, *args, **options):
            made.append(options)
            super().__init__(*args, **options)

    monkeypatch.setattr(fitted_rows, "NeighborIndex", Counted)
    model = TSNE(max_iter=20).fit(groups)
    made.clear()  # that of the fit, which may be approximate
    first = model.transform(groups[:5] + 0.1)
    np.testing.assert_array_equal(model.transform(groups[:5] + 0.1), first)
    assert len(made) == 1
    again = pickle.loads(pickle.dumps(model))
    assert "_cache" not in vars(again)
    np.testing.assert_array_equal(again.transform(groups[:5] + 0.1), first)
    assert len(made) == 2
    model.fit(groups[:200])
    assert model.transform(groups[:5] + 0.1).shape == (5, 2) and len(made) == 4
    with pytest.raises(BadInput, match="row 3, column 2"):
        model.transform(np.where(np.arange(50).reshape(5, 10) == 32, np.nan, groups[:5]))
    with pytest.raises(NotEnoughData):
        model.fit(groups[:1])
    assert "_cache" not in vars(model)


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "manhattan"])
@pytest.mark.parametrize("init", ["pca", "random", "spectral"])
def test_equal_rows_share_one_place_and_come_back_to_it(metric, init):
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
    monkeypatch.setattr(descent, "REORDER_ROWS", 10)  # rows are put in another order on the way
    mesh = TSNE(perplexity=5, max_iter=200).fit(X)
    for model, table in (
        (sparse, sp.csr_array(X)),
        (sparse, X),
        (given, cdist(X, X)),
        (mesh, X),
        (mesh, sp.csr_array(X)),
    ):
        Z = model.embedding_
        assert len(np.unique(Z, axis=0)) == 60
        np.testing.assert_array_equal(model.transform(table), Z)


def test_a_map_without_finite_places_is_an_error(groups):
    start = np.zeros((300, 2))
    for value in (1e300, np.inf, np.nan, 1e7):
        start[5, 1] = value
        with pytest.raises(BadParameter, match="init must be finite"):
            TSNE(init=start).fit(groups)
    with pytest.raises(BadParameter, match="all rows at one position"):
        TSNE(init=np.ones((300, 2))).fit(groups)
    for rate in (1e25, 1e30, 1e37):
        assert np.isfinite(TSNE(learning_rate=rate, max_iter=50).fit_transform(groups)).all()  # steps have a longest
    model = TSNE(learning_rate=1e300, max_iter=50)
    with pytest.raises(BadParameter, match="the optimization diverged"):
        model.fit(groups)
    assert not hasattr(model, "embedding_")


def test_what_does_not_fit_is_refused_before_the_work(groups, tmp_path, monkeypatch):
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
        (P, "the affinities"),
    ):
        with pytest.raises(MemoryTooSmall, match=name):
            TSNE(max_iter=5).fit(X)
    monkeypatch.setattr(memory, "available_bytes", lambda: 3_000_000)
    monkeypatch.setattr(repulsion, "EXACT_ROWS", 10)
    far = np.random.default_rng(0).standard_normal((300, 2)) * 1000
    with pytest.raises(MemoryTooSmall, match="the FFT mesh"):
        TSNE(max_iter=5, init=far).fit(groups)


def test_divergence_falls_and_the_map_can_be_watched(digits):
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


def test_tol_ends_early(digits):
    full, early = TSNE().fit(digits), TSNE(tol=0.02).fit(digits)
    assert 250 < early.n_iter_ < full.n_iter_ == 750
    assert early.kl_divergence_ < 1.2 * full.kl_divergence_


def test_the_start_is_kept(groups):
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
@pytest.mark.parametrize("axes", [1, 2, 3])
def test_groups_stay_groups(groups, axes, init):
    Z = TSNE(axes, init=init).fit_transform(groups)
    group = np.repeat(range(3), 100)
    assert KNeighborsClassifier(5).fit(Z[::2], group[::2]).score(Z[1::2], group[1::2]) == 1


def test_the_schedule(monkeypatch, rng):
    """12 for 250 steps at rate n / 12, then 1 at rate n, momentum 0.8; late exaggeration and rates as asked for."""
    X, told, step = rng.standard_normal((60, 4)), [], _native.tsne_step
    monkeypatch.setattr(_native, "tsne_step", lambda *parts: (told.append(parts[5][:3]), step(*parts))[1])

    def schedule(**options):
        told.clear()
        TSNE(**options).fit(X)
        return list(told)

    assert schedule() == [(12.0, 60 / 12, 0.8)] * 250 + [(1.0, 60.0, 0.8)] * 500
    assert schedule(exaggeration=4.0, max_iter=300) == [(12.0, 5.0, 0.8)] * 100 + [(4.0, 15.0, 0.8)] * 200
    late = schedule(early_exaggeration=6.0, learning_rate=33.0, max_iter=6)
    assert late == [(6.0, 33.0, 0.8)] * 2 + [(1.0, 33.0, 0.8)] * 4


def test_affinities_are_apart_from_the_descent(rng):
    """Several perplexities, given to TSNE or to Affinities, are one map; even weights are another."""
    X = rng.standard_normal((150, 5))
    graph, options = neighbors(X, 60), {"max_iter": 60, "init": 1e-4 * rng.standard_normal((150, 2))}
    several = TSNE(perplexity=(5, 20), **options).fit(X)
    assert several.perplexity_.tolist() == [5, 20]
    by_hand = TSNE(**options).fit(lowdim.Affinities.from_graph(graph, (5, 20)))
    np.testing.assert_array_equal(by_hand.embedding_, several.embedding_.astype(np.float32))
    assert by_hand.kl_divergence_ == several.kl_divergence_
    even = TSNE(**options).fit(lowdim.Affinities.uniform(graph))
    assert even.kl_divergence_ != by_hand.kl_divergence_ and np.isfinite(even.embedding_).all()
    with pytest.raises(BadInput, match="fitted to a graph"):
        even.transform(X)
    given = TSNE(metric="precomputed", **options).fit(lowdim.Affinities.uniform(graph))
    with pytest.raises(BadInput, match="fitted to Affinities"):
        given.transform(np.ones((2, 150)))


def test_exaggeration_tightens_and_heavy_tails_spread(digits):
    def inner(**options):
        model = TSNE(max_iter=400, **options).fit(digits[:400])
        nearest = neighbors(model.embedding_, 5).distances.mean()
        return nearest / model.embedding_.std()

    plain = inner()
    assert inner(exaggeration=4.0) < plain
    assert inner(dof=0.5) < plain


def test_table_graph_and_distances_give_one_map(groups):
    from scipy.spatial.distance import cdist

    start = np.random.default_rng(0).standard_normal((300, 2)).astype(np.float32) * 1e-4
    options = {"init": start, "max_iter": 100}
    Z = TSNE(**options).fit_transform(groups)
    np.testing.assert_array_equal(TSNE(**options).fit(neighbors(groups, 90)).embedding_, Z.astype(np.float32))
    given = TSNE(metric="precomputed", **options).fit(cdist(groups, groups))
    assert given.kl_divergence_ == pytest.approx(TSNE(**options).fit(groups).kl_divergence_, abs=0.02)
    new = groups[:4] + 0.01
    places = given.transform(cdist(new, groups))
    assert np.linalg.norm(places - given.embedding_[:4], axis=1).max() < 0.1 * np.ptp(given.embedding_)
    with pytest.raises(BadInput, match="fitted to a graph"):
        TSNE(**options).fit(neighbors(groups, 90)).transform(groups)
    sparse = TSNE(**options).fit(sp.csr_array(groups))
    np.testing.assert_allclose(sparse.embedding_, Z, atol=0.01 * np.abs(Z).max())  # rounding grows on the way
    np.testing.assert_array_equal(sparse.transform(sp.csr_array(groups[:7])), sparse.embedding_[:7])


def test_odd_tables():
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


def test_a_loop_can_be_run_in_parts(tmp_path):
    def step(state, first, last):
        x = state["x"]
        for t in range(first, last):
            x = x * np.float32(0.9) + np.float32(t)
        return {"x": x}

    whole = OptimizerLoop({"x": np.ones(3, np.float32)}, step, 20).run()
    parts = OptimizerLoop({"x": np.ones(3, np.float32)}, step, 20).run(7).run(1).run()
    strides = OptimizerLoop({"x": np.ones(3, np.float32)}, step, 20, stride=6).run(9).run()
    np.testing.assert_array_equal(strides.state["x"], whole.state["x"])
    assert parts.done == strides.done == 20
    np.testing.assert_array_equal(parts.state["x"], whole.state["x"])
    kept = Checkpoint(tmp_path / "c", "me", every=5)
    OptimizerLoop({"x": np.ones(3, np.float32)}, step, 20, checkpoint=kept).run(13)
    resumed = OptimizerLoop({"x": np.zeros(3, np.float32)}, step, 20, checkpoint=kept).resume()
    assert resumed.done == 10
    np.testing.assert_array_equal(resumed.run().state["x"], whole.state["x"])
    with pytest.raises(BadInput, match="other data"):
        Checkpoint(tmp_path / "c", "you").read()
    (tmp_path / "d").write_bytes(b"\x80\x04nonsense")
    with pytest.raises(BadInput, match="damaged"):
        Checkpoint(tmp_path / "d", "me").read()


@pytest.mark.parametrize("model", [TSNE(), lowdim.UMAP()], ids=lambda model: type(model).__name__)
def test_a_checkpoint_that_cannot_be_written_is_known_before_the_work(model, rng, tmp_path):
    seen = []
    for path, words in ((tmp_path / "nowhere" / "c", "can't write"), (tmp_path, "is a folder")):
        with pytest.raises(BadInput, match=words), lowdim.watch(lambda step: seen.append(step.task)):
            model.set_params(checkpoint=path).fit(rng.standard_normal((50, 3)))
    assert not {"t-SNE", "UMAP epochs"} & set(seen)


def test_a_converged_fit_resumes_as_converged(digits, tmp_path):
    path = str(tmp_path / "c")
    first = TSNE(tol=0.05, checkpoint=path).fit(digits[:400])
    again = TSNE(tol=0.05, checkpoint=path).fit(digits[:400])
    assert first.n_iter_ == again.n_iter_ < 750
    np.testing.assert_array_equal(first.embedding_, again.embedding_)
    with pytest.raises(BadInput, match="other data"):
        TSNE(tol=0.05, checkpoint=path).fit(digits[:401])


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_ctrl_c_leaves_it_unfitted():
    code = """
        import os, signal, threading, time, numpy as np
        from lowdim import TSNE
        X = np.random.default_rng(0).standard_normal((3000, 4))
        model = TSNE(max_iter=10).fit(X[:50])
        model.max_iter = 100_000
        pressed = []
        def press():
            pressed.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)
        threading.Timer(2.0, press).start()
        try:
            model.fit(X)
        except KeyboardInterrupt:
            late = time.monotonic() - pressed[0]
            print("unfitted" if not hasattr(model, "embedding_") else "fitted", "soon" if late < 1 else late)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == ["unfitted", "soon"], done.stderr


KILLED = """
    import sys, numpy as np
    from sklearn.datasets import load_digits
    from lowdim import TSNE
    from lowdim.neighbor_embedding.tsne import gradient_descent as descent
    from lowdim.neighbor_embedding.tsne import repulsion
    repulsion.EXACT_ROWS = descent.REORDER_ROWS = {few}
    X = load_digits().data[:900]
    Z = TSNE(checkpoint=sys.argv[1] or None, max_iter={steps}).fit_transform(X)
    np.save(sys.argv[2], Z)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
@pytest.mark.parametrize(("few", "steps"), [(4000, 1500), (10, 400)])
def test_killed_and_resumed_gives_the_same_bits(resumes_after_kills, few, steps):
    resumes_after_kills(KILLED.format(few=few, steps=steps))
