"""The examples of every --help and of the README, run as they stand, on files as they describe them."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris

from cli_runner import run_words
from lowdim.data import datasets
from lowdim.data.datasets import load

pytest.importorskip("typer")
pytest.importorskip("pyarrow")

ROOT = Path(__file__).resolve().parents[2]
ADDRESS = "tcp://head:8786"  # of the examples' cluster
ROWS = 60  # of the data sets that they name, as of the files: what is tested is that the lines are right


def example_lines() -> list[str]:
    """All lines that begin with the name of the program, in the helps of the commands and in the README."""
    from lowdim.cli.app import COMMANDS

    lines = []
    for _, function in COMMANDS.values():
        _, _, examples = (function.__doc__ or "").partition("Example")
        lines += re.findall(r"^ +(lowdim .+)$", examples, re.MULTILINE)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    return lines + re.findall(r"^\$ (lowdim .+)$", readme, re.MULTILINE)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The files that the examples read, and the models that they take for granted."""
    iris, wine = load_iris(as_frame=True), fewer_rows(load("wine"))
    flowers = iris.data.set_axis(["sl", "sw", "pl", "pw"], axis=1).assign(species=iris.target_names[iris.target])
    flowers[1::2].to_csv(tmp_path / "new.csv", index=False)
    flowers = flowers.sample(ROWS, random_state=0)
    flowers.to_csv(tmp_path / "flowers.csv", index=False)
    pd.DataFrame(wine.array(), columns=wine.names).assign(cultivar=wine.labels).to_csv(tmp_path / "wine.csv")
    pd.DataFrame(wine.array()[::2], columns=wine.names).to_csv(tmp_path / "new-bottles.csv", index=False)
    rng = np.random.default_rng(0)
    homes = pd.DataFrame(rng.normal(size=(ROWS, 4)), columns=["area", "rooms", "age", "distance"])
    homes = homes.assign(price=np.exp(homes.area) + homes.rooms)
    for name in ("homes.csv", "houses.csv"):
        homes.to_csv(tmp_path / name, index=False)
    cells = flowers.rename(columns={"species": "type"})
    cells.to_parquet(tmp_path / "cells.parquet")
    for name in ("tsne.csv", "umap.csv"):
        pd.DataFrame(rng.normal(size=(ROWS, 2)), columns=["x", "y"]).to_csv(tmp_path / name, index=False)
    words = sp.random(80, 300, 0.05, format="csr", random_state=0)
    sp.save_npz(tmp_path / "words.npz", words + sp.csr_array(([1.0] * 80, (range(80), range(80))), shape=(80, 300)))
    (tmp_path / "rows").mkdir()
    for part in range(2):
        flowers.drop(columns="species")[part::2].to_parquet(tmp_path / "rows" / f"{part}.parquet")
    monkeypatch.setattr(datasets, "load", lambda name, **options: fewer_rows(load(name, **options)))
    return tmp_path


def fewer_rows(table):
    n = len(table.X)
    return table if n <= ROWS else table.select_rows(np.linspace(0, n - 1, ROWS).astype(np.intp))


@pytest.fixture(scope="module")
def address():
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(processes=False, **options) as cluster:
        yield cluster.scheduler_address


@pytest.mark.filterwarnings("ignore")
def test_every_example_runs(folder, address):
    lines = example_lines()
    assert len(lines) > 30
    before = (
        "fit wine.csv --label cultivar --columns alcohol,ash,hue,proline -o wine.lowdim",
        "fit homes.csv --method sir --target price -o sir.lowdim",
    )
    failed = {}
    for line in [*before, *lines]:
        for part in line.split(" && "):
            result = run_words(folder, shlex.split(part.removeprefix("lowdim ").replace(ADDRESS, address)))
            if result.code:
                failed[part] = result.err
    assert failed == {}


def test_helps_are_free_of_pythons_names(folder):
    from lowdim.cli.app import COMMANDS

    for command in COMMANDS:
        text = run_words(folder, [command, "--help"]).out
        found = re.findall(r"<str>|list\[|x>=|<=x|default: \(|\(s\)", text)
        assert found == [], (command, found)
