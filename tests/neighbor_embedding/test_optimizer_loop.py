"""The optimizer loop and its checkpoints: runs that are split, stopped, killed and resumed end with the same bits."""

from __future__ import annotations

import os
import sys

import numpy as np
import pytest

import lowdim
from lowdim import TSNE, UMAP
from lowdim.errors import BadInput, Cancelled
from lowdim.neighbor_embedding.optimizer_loop import OptimizerLoop
from lowdim.runtime.checkpoint import Checkpoint

MODELS = {"t-SNE": TSNE(max_iter=60), "UMAP epochs": UMAP(n_epochs=60)}


def advance(state, first, last):
    x = state["x"]
    for t in range(first, last):
        x = x * np.float32(0.9) + np.float32(t)
    return {"x": x}


def loop(start=1.0, **options):
    return OptimizerLoop({"x": np.full(3, start, np.float32)}, advance, 20, **options)


def test_a_run_can_be_split():
    whole = loop().run()
    for parts in (loop().run(7).run(1).run(), loop(stride=6).run(9).run()):
        assert parts.done == 20
        np.testing.assert_array_equal(parts.state["x"], whole.state["x"])


def test_a_run_ends_when_it_converged():
    asked = []
    ended = loop(interval=5, converged=lambda state, done: asked.append(done) or done == 10).run()
    assert asked == [5, 10] and ended.done == ended.total == 10
    np.testing.assert_array_equal(ended.state["x"], loop().run(10).state["x"])


def test_a_run_resumes_from_its_checkpoint(tmp_path):
    file = Checkpoint(tmp_path / "c", "ours", every=5)
    loop(checkpoint=file).run(13)
    resumed = loop(0.0, checkpoint=file).resume()
    assert resumed.done == 10
    np.testing.assert_array_equal(resumed.run().state["x"], loop().run().state["x"])


def test_a_checkpoint_of_other_work_or_another_format_is_refused(tmp_path):
    loop(checkpoint=Checkpoint(tmp_path / "c", "ours", every=5)).run()
    with pytest.raises(BadInput, match="other data or other parameters"):
        Checkpoint(tmp_path / "c", "theirs").read({})
    (tmp_path / "d").write_bytes(b"\x80\x04nonsense")
    with pytest.raises(BadInput, match="not a lowdim checkpoint, or is damaged"):
        Checkpoint(tmp_path / "d", "ours").read({})


def test_a_damaged_checkpoint_is_refused(tmp_path):
    file = Checkpoint(tmp_path / "c", "ours", every=5)
    loop(checkpoint=file).run()
    whole = (tmp_path / "c").read_bytes()
    initial = loop().state
    for changed in (
        whole[:-1] + bytes([whole[-1] ^ 1]),  # one bit of an array
        whole.replace(b'"done":"20"', b'"done":"10"'),
    ):
        assert changed != whole
        (tmp_path / "c").write_bytes(changed)
        with pytest.raises(BadInput, match="damaged"):
            file.read(initial)
    wrong = [{}, {"y": initial["x"]}, {"x": initial["x"][:-1]}, {"x": initial["x"].astype(np.float64)}]
    wrong += [{"x": np.full_like(initial["x"], np.nan)}]
    for state in wrong:  # with checksums that fit
        file.write(state, 5, 20)
        with pytest.raises(BadInput, match="damaged"):
            file.read(initial)
    file.write(initial, 30, 20)
    with pytest.raises(BadInput, match="damaged"):
        file.read(initial)
    orders = {"order": np.arange(4, dtype=np.int32)}
    file.write({"order": np.array([3, 1, 0, 2], dtype=np.int32)}, 5, 20)
    assert file.read(orders) is not None
    file.write({"order": np.array([3, 1, 1, 2], dtype=np.int32)}, 5, 20)
    with pytest.raises(BadInput, match="damaged"):
        file.read(orders)


@pytest.mark.filterwarnings("ignore::lowdim.errors.LowdimWarning")
@pytest.mark.parametrize("task", MODELS)
def test_a_path_that_cannot_be_written_is_refused_before_the_work(task, rng, tmp_path):
    seen = []
    for path, words in ((tmp_path / "nowhere" / "c", "can't write"), (tmp_path, "is a folder")):
        model = lowdim.TSNE(checkpoint=path) if task == "t-SNE" else lowdim.UMAP(checkpoint=path)
        with pytest.raises(BadInput, match=words), lowdim.watch(lambda step: seen.append(step.task)):
            model.fit(rng.standard_normal((50, 3)))
    assert task not in seen


@pytest.mark.parametrize("task", MODELS)
def test_a_stopped_fit_resumes_to_the_same_bits(task, digits, tmp_path):
    from sklearn.base import clone

    X, plain = digits[:300], clone(MODELS[task])
    model = clone(plain).set_params(checkpoint=tmp_path / "c")
    with pytest.raises(Cancelled), lowdim.watch(lambda step: step.task == task and step.done >= 55):
        model.fit(X)
    assert not hasattr(model, "embedding_")
    with pytest.raises(BadInput, match="other data or other parameters"):
        clone(model).fit(digits[:301])
    with pytest.raises(BadInput, match="other data or other parameters"):
        clone(model).set_params(learning_rate=0.5).fit(X)
    np.testing.assert_array_equal(model.fit_transform(X), plain.fit_transform(X))


def test_a_converged_fit_resumes_as_converged(digits, tmp_path):
    path = str(tmp_path / "c")
    first = TSNE(tol=0.05, checkpoint=path).fit(digits[:400])
    again = TSNE(tol=0.05, checkpoint=path).fit(digits[:400])
    assert first.n_iter_ == again.n_iter_ < 750
    np.testing.assert_array_equal(first.embedding_, again.embedding_)


def test_a_checkpoint_of_densmap_knows_the_distances(tmp_path, rng):
    """Rows twice as far apart have the same memberships, and other densities."""
    X, path = rng.standard_normal((60, 3)), str(tmp_path / "c")
    options = {"n_epochs": 20, "checkpoint": path, "init": "random"}
    UMAP(densmap=True, **options).fit(X)
    with pytest.raises(BadInput, match="other data"):
        UMAP(densmap=True, **options).fit(2 * X)
    os.remove(path)
    UMAP(**options).fit(X)
    UMAP(**options).fit(2 * X)


# ---- killed ----

KILLED_TSNE = """
    import sys, numpy as np
    from sklearn.datasets import load_digits
    from lowdim import TSNE
    from lowdim.neighbor_embedding.tsne import gradient_descent, repulsion
    repulsion.EXACT_ROWS = gradient_descent.REORDER_ROWS = {few}
    X = load_digits().data[:500]
    Z = TSNE(checkpoint=sys.argv[1] or None, max_iter=200).fit_transform(X)
    np.save(sys.argv[2], Z)
"""

KILLED_UMAP = """
    import sys, numpy as np
    from sklearn.datasets import load_digits
    from lowdim import UMAP
    X = load_digits().data[:500]
    Z = UMAP(checkpoint=sys.argv[1] or None, n_epochs=200, densmap={densmap}).fit_transform(X)
    np.save(sys.argv[2], Z)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
@pytest.mark.parametrize("few", [4000, 10])
def test_a_killed_tsne_resumes_to_the_same_bits(resumes_after_kills, few):
    """With exact repulsion, and with FFT and rows that are reordered in memory."""
    resumes_after_kills(KILLED_TSNE.format(few=few), kills=(73, 144))


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
@pytest.mark.parametrize("densmap", [False, True])
def test_a_killed_umap_resumes_to_the_same_bits(resumes_after_kills, densmap):
    resumes_after_kills(KILLED_UMAP.format(densmap=densmap), kills=(73, 164))
