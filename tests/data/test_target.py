"""Targets: what is refused by name, where they come from, and rows of a stream that have the bits of an array."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import lowdim
from lowdim.data.rows import StreamRows, open_rows
from lowdim.data.target import class_labels, numeric_responses, read_supervised
from lowdim.data.validation import FeatureRecord
from lowdim.errors import BadInput, BadInputType

RNG = np.random.default_rng(0)
X = RNG.normal(size=(503, 7)) + 1e4
Y = RNG.integers(0, 4, 503)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr("lowdim.data.rows.base.CHUNK_BYTES", 1 << 12)  # 73 rows of 7 doubles


def cuts(sizes):
    """X and y cut into chunks of these sizes, and what is left."""
    edges = [*np.cumsum([0, *sizes]).clip(max=len(X)).tolist(), len(X)]
    return [(X[a:b], Y[a:b]) for a, b in itertools.pairwise(edges) if b > a]


def same_bits(a, b):
    return all(np.array_equal(getattr(a, part), getattr(b, part)) for part in ("counts", "means", "within"))


@pytest.mark.parametrize("sizes", [(), (1,), (73, 73), (10, 200, 3), (500,)])
def test_moments_of_a_stream_have_the_bits_of_the_array(sizes):
    assert same_bits(lowdim.moments(x for x, _ in cuts(sizes)), lowdim.moments(X))


@pytest.mark.parametrize("sizes", [(), (1,), (73, 73), (10, 200, 3), (500,)])
def test_moments_by_class_of_a_labeled_stream_have_the_bits_of_the_array(sizes):
    from lowdim.summaries.moments import moments_of

    rows, y = read_supervised(FeatureRecord(), iter(cuts(sizes)), None)
    assert y is None
    streamed, whole = moments_of(rows, None, None, 1), lowdim.moments(X, Y)
    assert same_bits(streamed, whole) and list(streamed.classes) == list(whole.classes)


def test_a_class_that_comes_late_or_leaves_early():
    from lowdim.summaries.moments import moments_of

    order = np.argsort(Y, kind="stable")
    chunks = [(X[rows], Y[rows]) for rows in np.array_split(order, 9)]
    streamed = moments_of(StreamRows(chunks.__iter__, labeled=True), None, None, 2)
    assert same_bits(streamed, lowdim.moments(X[order], Y[order]))


def test_a_stream_may_reuse_its_memory():
    buffer = np.empty((50, 7))

    def chunks():
        for start in range(0, 500, 50):
            buffer[:] = X[start : start + 50]
            yield buffer

    assert same_bits(lowdim.moments(chunks(), n_jobs=2), lowdim.moments(X[:500]))


def test_sparse_and_dense_chunks_in_one_stream():
    chunks = [X[:100], sp.csr_array(X[100:300]), pd.DataFrame(X[300:])]
    assert same_bits(lowdim.moments(iter(chunks)), lowdim.moments(X))
    first_sparse = [sp.csr_array(X[:100]), X[100:]]
    np.testing.assert_allclose(lowdim.moments(iter(first_sparse)).within, lowdim.moments(X).within, rtol=1e-9)


def test_targets_of_a_table_and_of_a_file(tmp_path):
    table = lowdim.datasets.load("iris")
    owner = FeatureRecord()
    assert read_supervised(owner, table, None)[1] is table.labels
    path = tmp_path / "t.csv"
    pd.DataFrame({"a": [1.0, 2.0], "kind": ["x", "y"]}).to_csv(path, index=False)
    rows, y = read_supervised(owner, path, "kind")
    assert rows.d == 1 and list(y) == ["x", "y"]


def test_what_is_refused():
    owner = FeatureRecord()
    with pytest.raises(BadInput, match="requires y to be passed, but the target y is None"):
        read_supervised(owner, X, None)
    with pytest.raises(BadInput, match=r"pairs \(X, y\)"):
        read_supervised(owner, iter([X]), Y)
    with pytest.raises(BadInputType, match=r"chunk 0 .* pairs \(X, y\)"):
        read_supervised(owner, iter([X]), None)
    with pytest.raises(BadInput, match="one target per row"):
        read_supervised(owner, iter([(X, Y[:3])]), None)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([0.5, 1.5, 2.5], "method for regression"),
        ([0.0, np.nan, 1.0], r"1 of its 3 rows \(the first is row 1\)"),
        (["a", None, "b"], "NaN or None in 1 of its 3 rows"),
        (["a", "b"], "one label per row"),
        (np.array([1, "a", 2], dtype=object), "text"),
    ],
)
def test_class_labels_refused(labels, message):
    with pytest.raises(BadInput, match=message):
        class_labels(labels, 3)


def test_class_labels():
    found = class_labels(["b", "a", "b"], 3)
    assert list(found.classes) == ["a", "b"] and list(found.codes) == [1, 0, 1]
    assert list(class_labels([True, False], 2).codes) == [1, 0]
    assert list(class_labels(np.array([3.0, 1.0]), 2).classes) == [1.0, 3.0]


def test_numeric_responses():
    assert numeric_responses([1, 2, 3], 3).shape == (3, 1)
    assert numeric_responses(np.ones((3, 2), dtype=np.float32), 3).dtype == np.float64
    with pytest.raises(BadInput, match="2 of its 3 rows"):
        numeric_responses([[np.nan, 1], [0, 1], [0, np.inf]], 3)
    with pytest.raises(BadInputType, match="y holds text, not real numbers"):
        numeric_responses(["a", "b"], 2)
    with pytest.raises(BadInput, match="got shape"):
        numeric_responses([1.0, 2.0], 3)


def test_open_rows_have_blocks_of_one_size():
    sizes = [chunk.stop - chunk.start for chunk in open_rows(X).chunks()]
    assert set(sizes[:-1]) == {73} and sum(sizes) == 503


def every_use_of_a_target():
    from lowdim import select

    supervised = [method.cls() for method in lowdim.methods() if method.supervised]
    own = [lowdim.UMAP(), lowdim.UMAP(target_metric="numeric"), lowdim.ProjectionPursuit(1, index="lda")]
    fits = {type(model).__name__ + str(i): model.fit for i, model in enumerate([*supervised, *own, select.FTest()])}
    return fits | {
        "recommend labels": lowdim.recommend,
        "recommend target": lambda X, y: lowdim.recommend(X, target=y),
        "quality": lambda X, y: lowdim.quality.measure(X, X, labels=y),
        "compare": lambda X, y: lowdim.compare(X, ["pca"], y=y),
    }


@pytest.mark.parametrize("name", every_use_of_a_target())
@pytest.mark.parametrize("y", [[[1]] * 19 + [[1, 2]], 3, [[1, 2]] * 10], ids=["ragged", "a number", "too few rows"])
def test_a_target_of_another_shape_is_named_everywhere(name, y):
    with pytest.raises((BadInput, BadInputType), match=r"per row|y must hold numbers"):
        every_use_of_a_target()[name](np.random.default_rng(0).normal(size=(20, 3)), y)


def test_a_masked_label_is_unknown_to_umap():
    X, y = np.random.default_rng(0).normal(size=(60, 3)), np.arange(60.0) % 3
    masked = np.ma.masked_array(y, mask=np.arange(60) < 20)
    expected = lowdim.UMAP(n_epochs=10).fit_transform(X, np.where(masked.mask, np.nan, y))
    np.testing.assert_array_equal(lowdim.UMAP(n_epochs=10).fit_transform(X, masked), expected)
