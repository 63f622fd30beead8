"""`lowdim subspace`: clusters as text, JSON, tables and pictures."""

from __future__ import annotations

import pandas as pd
import pytest

import lowdim
from cli_runner import run_lines

pytest.importorskip("typer")
pytest.importorskip("pyarrow")

GOOD = (
    "subspace wine --xi 5 --tau 0.2 --redundancy 1 -o wine.png --save-model clique.lowdim",
    "subspace wine --xi 5 --tau 0.2 --redundancy 1 --json",
    "subspace subspaces --method proclus --n-clusters 3 --n-dimensions 4 --n-init 2 -o parallel.svg -o rows.csv --json",
    "subspace iris --method subclu --eps 0.3 --min-samples 20 --standardize -o panels.png",
    "subspace eight --method pcluster --delta 0 --min-rows 2 --min-columns 2",
    "subspace --method proclus --help",
    "subspace --help",
    "subspace wine --columns flavanoids,proline --xi 12",
)
BAD = {
    "subspace wine --method cliqe": (2, "no subspace clusterer 'cliqe'. Did you mean clique"),
    "subspace wine --tau 3": (2, "--tau must be a number between 0 and 1"),
    "subspace wine --taux 3": (2, "no such option: --taux. Did you mean --tau"),
    "subspace cities": (3, "cities holds distances"),
    "subspace wine -o wine.html": (2, "must end in one of"),
    "subspace wine --tau 0 --max-units 10": (4, "--max-units 10"),
    "transform clique.lowdim wine -o z.csv": (3, "CLIQUE finds clusters, not coordinates"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("subspace")


@pytest.fixture(scope="module")
def results(folder):
    return run_lines(folder, [*GOOD, *BAD])


@pytest.mark.parametrize("line", GOOD)
def test_succeeds(results, line):
    assert results[line].code == 0, results[line].err


@pytest.mark.parametrize("line", BAD)
def test_fails_with_one_line_that_says_what_to_do(results, line):
    code, text = BAD[line]
    assert results[line].code == code
    assert text in results[line].err and results[line].err.count("\n") == 1


def test_text_and_json_say_the_same(results):
    text, data = results[GOOD[0]].out, results[GOOD[1]].data
    assert data["method"] == "CLIQUE" and data["rows"] == 178 and data["parameters"]["xi"] == 5
    first = data["clusters"][0]
    assert first["description"] in text.splitlines()[0] and f"{first['size']} rows" in text
    boxes = results["subspace wine --columns flavanoids,proline --xi 12"].out.splitlines()
    assert (
        boxes[1].lstrip().startswith("∨ (")
        and boxes[1].index("∨") == boxes[0].index("(")
        and max(map(len, boxes)) < 140
    )
    assert f"{len(data['clusters'])} clusters by CLIQUE" in text
    assert "more; --json has all of them" in text


def test_files(results, folder):
    for name in ("wine.png", "parallel.svg", "panels.png"):
        assert (folder / name).stat().st_size > 5000
    data, rows = results[GOOD[2]].data, pd.read_csv(folder / "rows.csv")
    assert len(rows) == 1000 and set(rows.columns) >= {"subspace_cluster", "in_cluster_0", "cluster"}
    for c, cluster in enumerate(data["clusters"]):
        assert rows.index[rows[f"in_cluster_{c}"] == 1].tolist() == cluster["rows"]
    model = lowdim.load(folder / "clique.lowdim")
    assert model.tau == 0.2 and model.clusters_[0].names


def test_help_has_the_options_of_the_clusterer(results):
    assert "--n-clusters VALUE" in results[GOOD[5]].out
    assert "--method NAME --help" in results[GOOD[6]].out and "lowdim methods" not in results[GOOD[6]].out
