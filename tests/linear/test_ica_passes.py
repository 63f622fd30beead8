"""ICA over rows that are read in passes: the bits of a fit in memory, whether whitened rows are kept or made again."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import lowdim
from lowdim import ICA
from lowdim.data.io import arrow_source
from lowdim.data.rows import StreamRows, base
from lowdim.decomposition.resolution import ScaledRows
from lowdim.errors import BadInput, Cancelled, NotEnoughData
from lowdim.linalg import projected_rows
from mixtures import mixture

KINDS = ("laplace", "uniform", "exponential", "binary")
N = 501


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Blocks of 64 float64 rows of four columns; files are read in passes."""
    monkeypatch.setattr(base, "CHUNK_BYTES", 64 * 4 * 8)
    monkeypatch.setattr(base, "SPARSE_ROWS", 64)
    monkeypatch.setattr(arrow_source, "IN_MEMORY_BYTES", 1)


@pytest.fixture
def no_room(monkeypatch):
    """No memory for whitened rows."""
    monkeypatch.setattr(projected_rows, "available_bytes", lambda: 1)


def learned(model):
    names = (
        "components_",
        "mixing_",
        "whitening_",
        "mean_",
        "kurtosis_",
        "explained_variance_",
        "n_samples_",
        "n_iter_",
    )
    return {name: getattr(model, name) for name in names}


def assert_same(model, other, where):
    for name, values in learned(model).items():
        found = getattr(other, name)
        assert np.array_equal(values, found) and np.asarray(values).dtype == np.asarray(found).dtype, (where, name)


def sources(X, folder):
    da, dd, dask = (pytest.importorskip(name) for name in ("dask.array", "dask.dataframe", "dask"))
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame.to_parquet(folder / "x.parquet", row_group_size=97)
    np.save(folder / "x.npy", X)
    found = {
        "memory map": np.load(folder / "x.npy", mmap_mode="r"),
        "Parquet": folder / "x.parquet",
        "function": lambda: iter(np.array_split(X, 7)),
        "Dask array": da.from_array(X, chunks=((90, 1, 300, 110), 4)),
        "Dask dataframe": dd.from_pandas(frame, npartitions=5),
        "delayed": [dask.delayed(part) for part in np.array_split(X, 3)],
    }
    if X.dtype == np.float64:  # a text file does not say that its numbers are narrow
        frame.to_csv(folder / "x.csv", index=False)
        found["CSV"] = folder / "x.csv"
    return found


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("algorithm", ["picard-o", "fastica"])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_same_bits_from_every_source(algorithm, dtype, weighted, tmp_path, rng, monkeypatch):
    X = mixture(KINDS, N)[2].astype(dtype)
    w = rng.integers(0, 4, N).astype(float) if weighted else None
    model = ICA(algorithm=algorithm, fun="exp", max_iter=40, tol=1e-3)
    expected = ICA(**model.get_params()).fit(X, sample_weight=w)
    assert expected.components_.dtype == dtype and expected.converged_
    for available in (1 << 40, 1):
        monkeypatch.setattr(projected_rows, "available_bytes", lambda a=available: a)
        assert_same(expected, ICA(**model.get_params()).fit(X, sample_weight=w), "array")
        for where, rows in sources(X, tmp_path).items():
            assert_same(expected, model.fit(rows, sample_weight=w), (where, available))


@pytest.mark.parametrize("algorithm", ["picard", "deflation"])
def test_the_same_bits_by_every_algorithm_on_any_threads(algorithm, no_room):
    X = mixture(KINDS, N)[2]
    expected = ICA(3, algorithm=algorithm, tol=1e-3, n_jobs=1).fit(X)
    for threads in (1, 3):
        found = ICA(3, algorithm=algorithm, tol=1e-3, n_jobs=threads).fit(lambda: iter(np.array_split(X, 5)))
        assert_same(expected, found, threads)


def test_sparse_rows_in_passes(no_room, rng, monkeypatch):
    X = sp.csr_array(mixture(KINDS, N)[2] * (rng.random((N, 4)) < 0.3))
    passes = ICA(tol=1e-3).fit(lambda: iter([X[:200], X[200:]]))
    monkeypatch.undo()
    monkeypatch.setattr(base, "CHUNK_BYTES", 64 * 4 * 8)
    monkeypatch.setattr(base, "SPARSE_ROWS", 64)
    assert_same(ICA(tol=1e-3).fit(X), passes, "sparse")


@pytest.mark.parametrize(("ratio", "dtype"), [(1e-9, np.float64), (1e-4, np.float32), (1.0, np.float64)])
def test_directions_that_squares_lose_are_found_in_a_stream_too(ratio, dtype, rng, no_room):
    """By the SVD, in float64, or (wide rows) by the Gram matrix, as those of an array."""
    X = (rng.laplace(size=(30, 40)) if ratio == 1 else rng.laplace(size=(N, 4)) * np.geomspace(1, ratio, 4)) @ (
        rng.normal(size=(40, 40)) if ratio == 1 else np.linalg.qr(rng.normal(size=(4, 4)))[0]
    )
    X = X.astype(dtype)
    k = 3 if ratio == 1 else 4
    expected = ICA(k, tol=1e-3).fit(X)
    assert expected.n_components_ == k
    assert_same(expected, ICA(k, tol=1e-3).fit(lambda: iter(np.array_split(X, 4))), ratio)


def test_whitening_again_after_resampling_takes_passes_too(no_room, monkeypatch):
    X = mixture(KINDS, N)[2]
    model = ICA(tol=1e-3).fit(X)
    passes = model.stability(lambda: iter(np.array_split(X, 3)), 3, bootstrap=True)
    monkeypatch.setattr(projected_rows, "available_bytes", lambda: None)
    assert np.array_equal(model.stability(X, 3, bootstrap=True).quality, passes.quality)


def test_what_can_be_read_only_once_is_refused_by_name():
    X = mixture(KINDS, N)[2]
    with pytest.raises(BadInput, match=r"ICA reads the rows several times.*Give a function"):
        ICA().fit(iter([X]))
    for second, now in (([X], "501"), ([X, X], "more")):
        passes = iter([[X, X[:2]], second])
        with pytest.raises(BadInput, match=f"gave 503 rows in its first pass, and {now} now"):
            ICA().fit(lambda passes=passes: iter(next(passes)))
    with pytest.raises(NotEnoughData, match="minimum of 2"):
        ICA().fit(lambda: iter([X[:1]]))


def test_passes_report_and_can_be_cancelled(no_room):
    X = mixture(KINDS, N)[2]
    model = ICA()
    with pytest.raises(Cancelled), lowdim.watch(lambda step: step.task != "ICA pass"):
        model.fit(X)
    assert not hasattr(model, "components_")


def test_rows_of_a_stream_come_in_blocks_of_any_size():
    """One pass gives blocks of another dtype, whose rows are fewer, and a block from the middle."""
    X = np.arange(400, dtype=np.float32).reshape(100, 4)
    passes = []

    def stream():
        passes.append(1)
        return iter(np.array_split(X, 3))

    rows = StreamRows(stream).counted()
    assert rows.count == 100 and len(passes) == 1
    wide = list(ScaledRows(rows).chunks())
    assert len(passes) == 2
    assert [chunk.stop - chunk.start for chunk in wide] == [64, 36]
    assert np.array_equal(np.concatenate([chunk.load() for chunk in wide]), X)
    assert np.array_equal(rows.block(30, 70), X[30:70]) and np.array_equal(rows.whole(), X)
