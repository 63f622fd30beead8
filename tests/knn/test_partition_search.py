"""Neighbors among the partitions of a Dask collection: exact with the bits of memory, or approximate."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import lowdim
from lowdim.errors import LowdimWarning
from lowdim.knn import partition_search

da = pytest.importorskip("dask.array")
dask = pytest.importorskip("dask")


@pytest.fixture
def rows():
    """Rows of which some are equal, in several partitions."""
    X = np.random.default_rng(0).normal(size=(403, 6)) + 2
    X[50] = X[300] = X[49]
    X[200:215] = X[3]
    return X


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "manhattan", "seuclidean", "canberra"])
@pytest.mark.parametrize("block", [40, 150, 20_000])
def test_pairs_of_blocks_give_the_bits_of_memory(rows, metric, block, monkeypatch):
    monkeypatch.setattr(partition_search, "BLOCK_ROWS", block)
    D = da.from_array(rows, chunks=((100, 3, 200, 100), 6))
    for k in (1, 17, 60):  # more than some blocks have rows
        found, expected = lowdim.neighbors(D, k, metric=metric), lowdim.neighbors(rows, k, metric=metric)
        assert found.algorithm == "exact" and found == expected


def test_sparse_rows_and_float32(rows, monkeypatch):
    monkeypatch.setattr(partition_search, "BLOCK_ROWS", 90)
    X = sp.csr_array(np.where(rows > 2, rows, 0).astype(np.float32))
    parts = [dask.delayed(X[a:b]) for a, b in ((0, 101), (101, 350), (350, 403))]
    assert lowdim.neighbors(parts, 7) == lowdim.neighbors(X, 7)


def mixture(n):
    random = np.random.default_rng(2)
    return (8 * random.normal(size=(12, 10)))[random.integers(0, 12, n)] + random.normal(size=(n, 10))


def test_overlapping_cells_reach_the_recall_that_they_report(monkeypatch):
    monkeypatch.setattr(partition_search, "BLOCK_ROWS", 400)
    monkeypatch.setattr(partition_search, "CELL_ROWS", 500)
    X = mixture(2500)
    D = da.from_array(X, chunks=(300, 10))
    found = lowdim.neighbors(D, 10, algorithm="approximate", recall=0.95)
    true = lowdim.neighbors(X, 10, algorithm="exact")
    recall = np.mean([len(np.intersect1d(a, b)) for a, b in zip(found.indices, true.indices, strict=True)]) / 10
    assert found.algorithm == "approximate" and found.recall >= 0.95 and abs(found.recall - recall) < 0.03
    right = found.indices == true.indices
    assert np.array_equal(found.distances[right], true.distances[right])
    assert found == lowdim.neighbors(D.rechunk((300, 10)), 10, algorithm="approximate", recall=0.95)


def test_a_recall_that_is_not_reached_is_said(monkeypatch):
    monkeypatch.setattr(partition_search, "CELL_ROWS", 100)
    monkeypatch.setattr(partition_search, "ROUNDS", 1)
    X = np.random.default_rng(0).normal(size=(1500, 30))  # without structure
    with pytest.warns(LowdimWarning, match="estimated recall of .*algorithm='exact' compares all pairs"):
        found = lowdim.neighbors(da.from_array(X, chunks=(500, 30)), 8, algorithm="approximate")
    assert found.recall < 0.99 and found.n == 1500


def test_a_layout_of_all_rows_from_a_graph_of_workers():
    X = mixture(600)
    graph = lowdim.neighbors(da.from_array(X, chunks=(200, 10)), 15)
    there, here = lowdim.UMAP(n_epochs=10).fit(graph), lowdim.UMAP(n_epochs=10).fit(lowdim.neighbors(X, 15))
    assert graph.rows is None and there.embedding_.shape == here.embedding_.shape
    assert np.array_equal(there.graph_.indices, here.graph_.indices)
