"""The same bits wherever rows live: arrays, memory maps, files, dataframes, streams, Dask with any partitioning."""

from __future__ import annotations

import os
import signal
import time
from functools import partial
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import lowdim
from lowdim.data.fold import BinaryCounter
from lowdim.data.rows import base

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
dask = pytest.importorskip("dask")

N, D = 331, 5


@pytest.fixture(autouse=True, scope="module")
def small_blocks():
    """Blocks of 16 dense rows and of 32 sparse ones, so that a few hundred rows make many."""
    kept = base.CHUNK_BYTES, base.SPARSE_ROWS
    base.CHUNK_BYTES, base.SPARSE_ROWS = 16, 32
    yield
    base.CHUNK_BYTES, base.SPARSE_ROWS = kept


def table(dtype, sparse=False):
    random = np.random.default_rng(7)
    X = random.normal(size=(N, D)) + 3
    X = np.where(random.random((N, D)) < 0.2, X, 0) if sparse else X
    return sp.csr_array(X.astype(dtype)) if sparse else X.astype(dtype)


def equal(a, b):
    assert (
        np.array_equal(a.means, b.means) and np.array_equal(a.within, b.within) and np.array_equal(a.counts, b.counts)
    )


@pytest.mark.parametrize("m", range(1, 40))
def test_the_tree_pairs_neighbors_at_every_level(m):
    counter = BinaryCounter(lambda a, b: (a, b))
    for i in range(m):
        counter.add(i)
    level = list(range(m))
    while len(level) > 1:  # the last one of an odd number goes up by itself
        paired = list(zip(level[::2], level[1::2], strict=False))
        level = paired + level[2 * len(paired) :]
    assert counter.total() == level[0]


cuts = st.lists(st.integers(0, N), max_size=9).map(lambda found: [0, *sorted(found), N])


@settings(max_examples=25, deadline=None)
@given(cuts, st.sampled_from([np.float32, np.float64]), st.booleans(), st.booleans())
def test_any_partitioning_has_the_same_bits(edges, dtype, classes, weighted):
    X, random = table(dtype), np.random.default_rng(1)
    y = np.sort(random.integers(0, 4, N)) if classes else None  # sorted: most blocks lack some of the classes
    w = random.random(N) if weighted else None
    pieces = [X[a:b] for a, b in pairwise(edges)]
    delayed = [dask.delayed(piece) for piece in pieces]
    expected = lowdim.moments(X, y, sample_weight=w, n_jobs=1)
    equal(lowdim.moments(delayed, y, sample_weight=w), expected)
    equal(lowdim.moments(pd.DataFrame(X, columns=list("abcde")), y, sample_weight=w), expected)
    if w is None and y is None:
        equal(lowdim.moments(iter(pieces)), expected)
        sparse = table(dtype, sparse=True)
        parts = [sparse[a:b] for a, b in pairwise(edges) if a < b]
        equal(lowdim.moments(iter(parts)), lowdim.moments(sparse))
        equal(lowdim.moments([dask.delayed(part) for part in parts]), lowdim.moments(sparse))


def test_files_and_memory_maps_too(tmp_path):
    X = table(np.float64)
    frame = pd.DataFrame(X, columns=list("abcde"))
    frame.to_parquet(tmp_path / "x.parquet", row_group_size=50)
    np.save(tmp_path / "x.npy", X)
    expected = lowdim.moments(X)
    equal(lowdim.moments(tmp_path / "x.parquet"), expected)
    equal(lowdim.moments(np.load(tmp_path / "x.npy", mmap_mode="r")), expected)
    equal(lowdim.moments(dd.from_pandas(frame, npartitions=7)), expected)  # of unknown lengths


MOMENTS = {
    "PCA": lowdim.PCA(2),
    "PCA-standardized": lowdim.PCA(2, standardize=True),
    "TruncatedSVD": lowdim.TruncatedSVD(2),
    "CA": lowdim.CA(2),
    "LDA": lowdim.LDA(2),
    "SIR": lowdim.SIR(2),
    "SAVE": lowdim.SAVE(2),
    "PHD": lowdim.PHD(2),
    "DirectionalRegression": lowdim.DirectionalRegression(2),
    "ICA": lowdim.ICA(2),
    "VarianceThreshold": lowdim.select.VarianceThreshold(),
    "FTest": lowdim.select.FTest(),
    "FisherScore": lowdim.select.FisherScore(),
    "CorrelationPruning": lowdim.select.CorrelationPruning(),
}


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    """One table in every place that rows can live."""
    folder, X = tmp_path_factory.mktemp("sources"), np.abs(table(np.float64))
    frame = pd.DataFrame(X, columns=list("abcde"))
    frame.to_csv(folder / "x.csv", index=False)
    frame.to_parquet(folder / "x.parquet", row_group_size=50)
    (folder / "parts").mkdir()
    for i, start in enumerate(range(0, N, 47)):
        frame[start : start + 47].to_parquet(folder / "parts" / f"{i}.parquet")
    np.save(folder / "x.npy", X)
    return {
        "array": X,
        "memory map": np.load(folder / "x.npy", mmap_mode="r"),
        "CSV": folder / "x.csv",
        "Parquet": folder / "x.parquet",
        "folder": folder / "parts",
        "dataframe": frame,
        "iterator": lambda: iter(np.array_split(X, 9)),
        "Dask array": da.from_array(X, chunks=((90, 1, 140, 100), D)),
        "Dask dataframe": dd.from_pandas(frame, npartitions=7),
        "Dask of unknown sizes": dd.from_pandas(frame, npartitions=3).to_dask_array(),
        "delayed": [dask.delayed(part) for part in np.array_split(X, 5)],
        "Parquet by Dask": dd.read_parquet(folder / "parts"),
    }


def learned(model):
    """What a model found, for a comparison of bits."""
    names = ("components_", "mean_", "eigenvalues_", "scores_", "explained_variance_ratio_")
    found = {name: np.asarray(getattr(model, name)) for name in names if getattr(model, name, None) is not None}
    return found | ({"support": model.get_support()} if hasattr(model, "get_support") else {})


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", MOMENTS)
def test_every_method_that_reads_moments_has_the_same_bits_from_every_source(sources, name, monkeypatch):
    from sklearn.base import clone

    from lowdim.data.io import arrow_source

    monkeypatch.setattr(arrow_source, "IN_MEMORY_BYTES", 1)  # files are read in passes
    X = sources["array"]
    y = (X[:, 0] + X[:, 1] ** 2 > 12).astype(int) + (X[:, 2] > 3)
    expected = learned(clone(MOMENTS[name]).fit(X, y))
    assert expected
    for source, rows in sources.items():
        model, target = clone(MOMENTS[name]), y
        if source == "iterator" and model._method.supervised:
            if name in ("FTest", "PHD"):
                continue  # these need the whole response before they read rows
            rows = partial(zip, np.array_split(X, 9), np.array_split(y, 9), strict=True)
        if source == "iterator":
            target = None
        found = learned(model.fit(rows, target))
        for what, values in expected.items():
            if source == "iterator" and name == "CA":  # one pass, where the others make two: equal to rounding
                assert np.allclose(found[what], values, rtol=1e-9), what
            else:
                assert np.array_equal(found[what], values), (source, what)


def test_column_chunks_are_put_together_with_a_word():
    X = table(np.float64)
    with pytest.warns(lowdim.errors.LowdimWarning, match="columns of the Dask array are in 2 chunks"):
        found = lowdim.moments(da.from_array(X, chunks=(100, 3)))
    equal(found, lowdim.moments(X))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("k", [1, 2, 17, 300])
def test_a_rows_product_does_not_depend_on_its_batch(dtype, k):
    from lowdim.linalg.row_products import row_products

    random = np.random.default_rng(0)
    A, B = random.normal(size=(67, 300)).astype(dtype), random.normal(size=(300, k)).astype(dtype)
    whole = row_products(A, B)
    assert np.allclose(whole, A.astype(float) @ B, atol=1e-3 if dtype == np.float32 else 1e-12)
    for start, stop in [(0, 1), (3, 5), (1, 8), (5, 22), (2, 67)]:
        assert np.array_equal(row_products(A[start:stop], B), whole[start:stop])


def test_a_layout_of_many_rows_is_fitted_to_a_sample(monkeypatch):
    from lowdim.base import dask_collections

    monkeypatch.setitem(dask_collections.MOST_FITTED, "graph", 60)
    X = table(np.float64)
    with pytest.warns(lowdim.errors.LowdimWarning, match="random sample of 60 of the 331 rows"):
        model = lowdim.LaplacianEigenmaps().fit(da.from_array(X, chunks=(100, D)))
    assert len(np.unique(model.fitted_rows_)) == 60 and model.embedding_.shape == (60, 2)
    again = lowdim.LaplacianEigenmaps().fit(X[model.fitted_rows_])
    assert np.array_equal(again.embedding_, model.embedding_)


METHODS = {
    "PCA": lowdim.PCA(2),
    "TruncatedSVD": lowdim.TruncatedSVD(2),
    "ICA": lowdim.ICA(2),
    "LDA": lowdim.LDA(2),
    "SIR": lowdim.SIR(2),
    "SAVE": lowdim.SAVE(2),
    "DirectionalRegression": lowdim.DirectionalRegression(2),
    "KernelPCA": lowdim.KernelPCA(2),
    "Isomap": lowdim.Isomap(),
    "UMAP": lowdim.UMAP(n_epochs=10),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", METHODS)
def test_worker_processes_give_the_same_bits(client, name):
    from sklearn.base import clone

    X, y = table(np.float64), np.random.default_rng(1).integers(0, 3, N)
    D_ = da.from_array(X, chunks=((90, 1, 140, 100), D))
    here, there = clone(METHODS[name]).fit(X, y), clone(METHODS[name]).fit(D_, y)
    lazy = there.transform(D_)
    assert isinstance(lazy, da.Array) and lazy.dtype == here.transform(X).dtype
    assert np.array_equal(lazy.compute(), here.transform(X))


@pytest.mark.filterwarnings("ignore")
def test_passes_of_ica_are_folds_of_worker_processes(client, monkeypatch):
    from lowdim.linalg import projected_rows

    X, w = table(np.float32), np.random.default_rng(2).random(N)
    here = lowdim.ICA(2, max_iter=5).fit(X, sample_weight=w)
    monkeypatch.setattr(projected_rows, "available_bytes", lambda: 1)
    there = lowdim.ICA(2, max_iter=5).fit(da.from_array(X, chunks=((90, 1, 140, 100), D)), sample_weight=w)
    assert np.array_equal(here.components_, there.components_) and here.n_iter_ == there.n_iter_


@pytest.mark.filterwarnings("ignore")
def test_a_worker_that_dies_changes_nothing(client, tmp_path):
    import threading

    def slow(block, pid_file):  # a local function goes to the workers whole, which need not find this module
        with open(pid_file, "a") as file:
            file.write(f"{os.getpid()}\n")
        time.sleep(0.2)
        return block

    X = table(np.float64)
    lazy = da.from_array(X, chunks=(30, D)).map_blocks(slow, pid_file=str(tmp_path / "pids"), meta=X[:0])

    def kill():
        while not (tmp_path / "pids").exists() or len((tmp_path / "pids").read_text().split()) < 3:
            time.sleep(0.02)
        os.kill(int((tmp_path / "pids").read_text().split()[0]), signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    found = lowdim.moments(lazy)
    killer.join()
    runs = (tmp_path / "pids").read_text().split()
    assert (
        len(runs) > lazy.numblocks[0] or len(set(runs)) > 2
    )  # work was done again, or by the one that came in its place
    equal(found, lowdim.moments(X))
