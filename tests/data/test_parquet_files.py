"""Folders and patterns of Parquet files: one table, with the bits of one file, here and on workers."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import lowdim
from lowdim.data.io import arrow_source, parquet_files
from lowdim.data.io.parquet_files import ParquetFiles, parquet_paths, partitioned_rows
from lowdim.errors import BadInput

NAMES = ["a", "b", "c", "d"]


@pytest.fixture
def folder(tmp_path):
    """Twelve files, of which part.10 comes after part.9, and their rows."""
    X = np.random.default_rng(0).normal(size=(240, 4))
    (tmp_path / "rows").mkdir()
    for i, part in enumerate(np.array_split(X, 12)):
        frame = pd.DataFrame(part, columns=NAMES)
        frame.insert(0, "kind", np.where(part[:, 0] > 0, "up", "down"))
        frame.to_parquet(tmp_path / "rows" / f"part.{i}.parquet", row_group_size=7)
    return tmp_path / "rows", X


@pytest.mark.parametrize("limit", [256 << 20, 10])
def test_a_folder_is_one_table(folder, limit, monkeypatch):
    monkeypatch.setattr(arrow_source, "IN_MEMORY_BYTES", limit)  # in memory, and in passes over the files
    path, X = folder
    for given in (path, f"{path}/*.parquet", str(path)):
        table = lowdim.read_table(given)
        assert table.names == tuple(NAMES) and table.label_name == "kind"
        assert np.array_equal(table.array(), X) and np.array_equal(table.labels == "up", X[:, 0] > 0)
        here, there = lowdim.PCA(2).fit(X), lowdim.PCA(2).fit(given)
        assert np.array_equal(here.components_, there.components_)
        assert np.array_equal(here.transform(X), there.transform(given))


def test_workers_read_row_groups(folder, monkeypatch):
    pytest.importorskip("dask")
    path, X = folder
    monkeypatch.setattr(parquet_files, "PARTITION_BYTES", 15 * 4 * 8)
    rows = partitioned_rows(ParquetFiles(path, parquet_paths(path)), NAMES)
    assert len(rows.parts) == 24 and rows.n == 240 and rows.feature_names == tuple(NAMES)
    assert np.array_equal(rows.whole(), X)
    assert np.array_equal(lowdim.PCA(2).fit(rows).components_, lowdim.PCA(2).fit(X).components_)


def test_files_that_differ_are_refused(folder):
    path, _ = folder
    pd.DataFrame({"kind": ["up"], "a": [1], "b": [1.0], "c": [1.0], "d": [1.0]}).to_parquet(path / "part.99.parquet")
    with pytest.raises(BadInput, match=r"differ in column 'a' \(double, and int64\)"):
        lowdim.read_table(path)


def test_nothing_to_read(tmp_path):
    with pytest.raises(BadInput, match=r"folder without Parquet files"):
        lowdim.read_table(tmp_path)
    with pytest.raises(BadInput, match=r"no file matches"):
        lowdim.read_table(f"{tmp_path}/*.parquet")
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    with pytest.raises(BadInput, match=r"a.csv, which is not a Parquet file"):
        lowdim.read_table(f"{tmp_path}/*")
