"""What takes a Dask collection beside `fit`: lazy methods of fitted models, the choice of components, the diagnosis."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

import lowdim

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
pd = pytest.importorskip("pandas")

N, D = 240, 6


def table():
    random = np.random.default_rng(3)
    return random.normal(size=(N, D)) + 4 * random.integers(0, 3, (N, 1))


LAZY = {
    "PCA": (lowdim.PCA(2), ("transform", "reconstruction_error")),
    "LDA": (lowdim.LDA(2), ("transform", "predict", "predict_proba", "decision_function")),
    "KernelPCA": (lowdim.KernelPCA(2), ("transform",)),
    "UMAP": (lowdim.UMAP(n_epochs=5), ("transform",)),
    "Standardized": (lowdim.Standardized(lowdim.PCA(2)), ("transform",)),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", LAZY)
def test_methods_of_fitted_models_are_lazy_with_the_bits_of_memory(name):
    model, methods = LAZY[name]
    X, y = table(), np.arange(N) % 3
    model.fit(X, y)
    for method in methods:
        expected = getattr(model, method)(X)
        found = getattr(model, method)(da.from_array(X, chunks=(70, D)))
        assert isinstance(found, da.Array) and found.shape == expected.shape and found.dtype == expected.dtype
        assert np.array_equal(found.compute(), expected)
        frame = pd.DataFrame(X, columns=list("abcdef"))
        kept = clone(model).fit(frame, y)
        mapped = getattr(kept, method)(dd.from_pandas(frame, npartitions=4))
        assert not isinstance(mapped, np.ndarray | pd.DataFrame)
        assert np.array_equal(np.asarray(mapped.compute()), np.asarray(getattr(kept, method)(frame)))


def test_inverse_transform_is_lazy():
    X = table()
    model = lowdim.PCA(2).fit(X)
    Z = model.transform(X)
    found = model.inverse_transform(da.from_array(Z, chunks=(70, 2)))
    assert isinstance(found, da.Array) and np.array_equal(found.compute(), model.inverse_transform(Z))


@pytest.mark.filterwarnings("ignore")
def test_parallel_analysis_by_workers(client):
    X = table()
    lazy = da.from_array(X, chunks=(50, D))
    here, there = (lowdim.PCA(lowdim.choose.parallel_analysis(20)).fit(rows) for rows in (X, lazy))
    assert here.n_components_ == there.n_components_ < D
    assert np.array_equal(here.components_, there.components_)


@pytest.mark.filterwarnings("ignore")
def test_diagnosis_of_workers_is_that_of_memory():
    X = table()
    here, there = lowdim.diagnose(X), lowdim.diagnose(da.from_array(X, chunks=(50, D)))
    assert str(here) == str(there)


def no_second_copy(rows, model, size):
    import tracemalloc

    pa = pytest.importorskip("pyarrow")
    kept, pool = pa.default_memory_pool(), pa.proxy_memory_pool(pa.system_memory_pool())
    pa.set_memory_pool(pool)
    before = pool.max_memory()
    tracemalloc.start()
    try:
        model.fit(rows)
        traced = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        pa.set_memory_pool(kept)
    assert traced + pool.max_memory() - before < size


def test_float16_memory_maps_and_parquet_files_are_not_copied(tmp_path, monkeypatch):
    """768 columns, as embeddings of texts have them; a hundredth of the rows."""
    from pyarrow import Table, parquet

    from lowdim.data.io import arrow_source

    monkeypatch.setattr(arrow_source, "IN_MEMORY_BYTES", 1)
    monkeypatch.setattr("lowdim.data.rows.base.CHUNK_BYTES", 1 << 20)
    n, d = 20_000, 768
    random = np.random.default_rng(0)
    out = np.lib.format.open_memmap(tmp_path / "x.npy", mode="w+", dtype=np.float16, shape=(n, d))
    for start in range(0, n, 1000):
        out[start : start + 1000] = random.normal(size=(1000, d))
    del out
    X = np.load(tmp_path / "x.npy", mmap_mode="r")
    parquet.write_table(
        Table.from_arrays(list(X.T.astype(np.float32)), names=[f"x{j}" for j in range(d)]),
        tmp_path / "x.parquet",
        row_group_size=1000,
    )
    wide = np.array(X, dtype=np.float32)
    expected = lowdim.PCA(3, n_jobs=1).fit(wide)
    size = wide.nbytes
    del wide
    for rows in (X, tmp_path / "x.parquet"):
        model = lowdim.PCA(3, n_jobs=1)
        no_second_copy(rows, model, size + 2 * 8 * d * d)
        assert np.array_equal(model.components_, expected.components_)
