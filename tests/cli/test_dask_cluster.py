"""`--cluster`: a real scheduler with two worker processes fits and maps a folder of Parquet files."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import lowdim
from cli_runner import run_lines
from lowdim.errors import BadParameter
from lowdim.workflow.dask_cluster import cluster_client

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def address():
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        yield cluster.scheduler_address


@pytest.fixture
def folder(tmp_path):
    X = np.random.default_rng(0).normal(size=(200, 5)) @ np.diag([1, 2, 3, 4, 5])
    (tmp_path / "rows").mkdir()
    for i, part in enumerate(np.array_split(X, 4)):
        frame = pd.DataFrame(part, columns=list("abcde"))
        frame["kind"] = np.where(part[:, 0] > 0, "up", "down")
        frame.to_parquet(tmp_path / "rows" / f"part.{i}.parquet")
    return tmp_path / "rows", X


def test_fit_and_transform_on_workers(address, folder, tmp_path):
    path, X = folder
    frame, kind = pd.DataFrame(X, columns=list("abcde")), np.where(X[:, 0] > 0, "up", "down")
    files = " ".join(sorted(f"rows/{file.name}" for file in path.iterdir()))  # as a shell replaces rows/*.parquet
    fit = f"fit {files} --method lda --target kind --cluster {address} -o m.lowdim"
    here = "fit rows --method lda --target kind -o here.lowdim"
    transform = f"transform m.lowdim rows/*.parquet --cluster {address} -o z.parquet --label kind --json"
    done = run_lines(tmp_path, [fit, here, transform])
    assert [result.code for result in done.values()] == [0, 0, 0], [result.err for result in done.values()]
    there, expected = lowdim.load(tmp_path / "m.lowdim"), lowdim.load(tmp_path / "here.lowdim")
    assert np.array_equal(there.transform(frame), expected.transform(frame))
    assert done[transform].data["rows"] == 200 and len(list((tmp_path / "z.parquet").iterdir())) == 4
    written = pd.read_parquet(tmp_path / "z.parquet")
    assert (written["kind"] == kind).all()
    assert np.array_equal(written.drop(columns="kind").to_numpy(), expected.transform(frame))


def test_what_can_not_be_done_is_said(address, folder, tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n1,2\n3,5\n4,4\n")
    expected = {
        f"fit a.csv --cluster {address} -o m": "reads Parquet files",
        "fit rows/part.0.parquet rows/part.1.parquet -o m": "not all .parquet files of one folder",
        f"transform m.lowdim rows --cluster {address} -o z.csv": "Name it *.parquet",
    }
    run_lines(tmp_path, ["fit rows -o m.lowdim"])
    for line, result in run_lines(tmp_path, expected).items():
        assert result.code != 0 and expected[line] in result.err, (line, result.err)


def test_a_scheduler_that_is_not_there():
    with (
        dask.config.set({"distributed.comm.timeouts.connect": "1s"}),
        pytest.raises(BadParameter, match="there is no Dask scheduler"),
        cluster_client("tcp://127.0.0.1:9"),
    ):
        pass
