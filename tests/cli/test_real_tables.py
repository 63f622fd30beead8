"""Real tables through the command line, by every method: no traceback, and no column or row that goes unsaid."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import lowdim
from lowdim.cli import main
from real_tables import TABLES, load

FORMATS = ("csv", "parquet")
RESPONSES = ("SIR", "SAVE", "PHD", "DirectionalRegression", "LSIR")  # methods that take a response of many values
SLICED = ("SIR", "SAVE", "DirectionalRegression", "LSIR")
SETTINGS = {
    "UMAP": ["--n-epochs", "20"],
    "TSNE": ["--max-iter", "60"],
    "ProjectionPursuit": ["--n-init", "2", "--n-null", "0", "--max-iter", "20"],
    **{name: ["--n-slices", "2"] for name in SLICED},  # for twenty rows
}


# Where a method has nothing to work on, it says so.
REFUSED = {
    ("CA", "diabetes"): "Negative values",
    ("CA", "election"): "Negative values",
    ("CA", "quarters"): "Negative values",
    ("MCA", "breast_cancer"): "1 column (n_features=1) of 2 categories span no more axes",
    ("MCA", "states"): "1 column (n_features=1) of 2 categories span no more axes",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Every table as CSV and as Parquet."""
    path = tmp_path_factory.mktemp("tables")
    for name in TABLES:
        frame = load(name).frame
        frame.to_csv(path / f"{name}.csv", index=False)
        frame.to_parquet(path / f"{name}.parquet")
    return path


@pytest.fixture
def run(capsys):
    """Run a command line within this process, which must succeed; returns what --json tells."""

    def run(*words) -> dict:
        code = main([str(word) for word in (*words, "--json")])
        shown = capsys.readouterr()
        assert code == 0, (words, shown.err)
        assert "Traceback" not in shown.err
        return json.loads(shown.out)

    return run


def check_columns(frame: pd.DataFrame, report: dict, target: str | None = None) -> None:
    """Every column of the file is named once: as a number, label, row names, annotation, or left out with a reason."""
    named = [name for role in ("numbers", "annotations", "encoded", "categories") for name in report[role]]
    named += [name for name, _ in report["left_out"]]
    named += [report[role] for role in ("label", "id") if report[role] is not None]
    named += [] if target is None else [target]
    assert sorted(named) == sorted(frame.columns)
    assert all(reason for _, reason in report["left_out"])


def check_rows(frame: pd.DataFrame, data: dict) -> int:
    """Every row is used, or counted among those without values."""
    empty = data.get("rows_without_values", 0)
    assert data["rows"] + empty == len(frame)
    gaps = int(frame[data["columns"]].isna().to_numpy().sum()) - empty * len(data["columns"])
    assert data.get("missing_values", 0) == gaps
    return data["rows"]


@pytest.mark.parametrize("name", TABLES)
def test_every_method(name, folder, run, tmp_path, capsys):
    """Each method reads one format, and its model maps the rows of the other."""
    table = load(name)
    for turn, method in enumerate(lowdim.methods()):
        first, second = FORMATS if turn % 2 else FORMATS[::-1]
        target = None
        if method.supervised:
            target = table.response if method.name in RESPONSES else table.classes
        words = [folder / f"{name}.{first}", "--method", method.name.lower(), *SETTINGS.get(method.name, [])]
        words += [] if target is None else ["--target", target]
        model, z = tmp_path / f"{method.name}.lowdim", tmp_path / f"{method.name}.csv"
        if (method.name, name) in REFUSED:
            assert main([str(word) for word in ("fit", *words, "-o", model)]) in (3, 4)
            assert REFUSED[method.name, name] in capsys.readouterr().err
            continue
        if turn % 3:
            data = run("fit", *words, "-o", model)
        else:
            data = run("map", *words, "-o", z, "--save-model", model)
            assert len(pd.read_csv(z)) == data["rows"]
        check_columns(table.frame, data["column_report"], target)
        rows = check_rows(table.frame, data)
        mapped = run("transform", model, folder / f"{name}.{second}", "-o", z, "--missing", "drop-rows")
        used = [*dict.fromkeys([*data["columns"], *data["column_report"]["categories"]])]
        complete = int((~(table.frame[used].isna() | (table.frame[used] == "")).any(axis=1)).sum())
        assert mapped["rows"] in (complete, rows)
        axes = pd.read_csv(z)[lowdim.load(model).get_feature_names_out()].to_numpy()
        assert axes.shape == (mapped["rows"], mapped["columns"]) and np.isfinite(axes).all()


@pytest.mark.parametrize("name", TABLES)
def test_other_commands(name, folder, run):
    table = load(name)
    frame = table.frame
    told = run("choose", folder / f"{name}.csv", "--replicates", "10")
    assert 0 <= told["recommended"] <= told["d"] and told["reason"] and told["agreement"]
    check_columns(frame, told["column_report"])
    clusters = run("subspace", folder / f"{name}.parquet", "--method", "proclus", "--n-clusters", "2")
    selected = run("select", folder / f"{name}.csv", "--target", table.classes, "--method", "f")
    for data, target in ((clusters, None), (selected, table.classes)):
        check_columns(frame, data["column_report"], target)
    found = run("diagnose", folder / f"{name}.parquet")
    assert found["rows"] <= len(frame) and 2 <= len(found["verdict"]) <= 6
    assert found["standardized"] is True
    check_columns(frame, found["column_report"])
    assert not any("nan" in sentence.split() for sentence in found["verdict"])


@pytest.mark.parametrize("name", ["penguins", "states", "questionnaire", "words"])
def test_pictures(name, folder, run, tmp_path):
    outputs = [tmp_path / f"map.{ending}" for ending in ("html", "png")]
    run("map", folder / f"{name}.csv", "-o", outputs[0], "-o", outputs[1])
    assert all(path.stat().st_size > 5000 for path in outputs)
