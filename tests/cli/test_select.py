"""`lowdim select`: tables, pictures, JSON, and errors that name the flag."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine

from cli_runner import run_lines
from lowdim.select import MRMR, FTest

pytest.importorskip("typer")
pytest.importorskip("pyarrow")

# Invalid commands: the line, the exit code, and a part of the message.
BAD = {
    "select wine --method mrmrr": (2, "there is no selector 'mrmrr'. Did you mean mrmr"),
    "select wine --method mrmr --k 20": (4, "k must be at most 13"),
    "select wine --method mrmr --k many": (2, "--k must be None or a whole number"),
    "select wine --k many": (2, "--k must be a whole number of at least 1"),
    "select wine --method boruta --k 3": (2, "--k has no effect on Boruta"),
    "select wine --n-neighbors 3": (2, "no such option: --n-neighbors"),
    "select wine --method relieff --bins 3": (2, "no such option: --bins"),
    "select wine --target nothing": (3, "nothing"),
    "select plain.csv --method f": (3, "FTest needs a target"),
    "select plain.csv": (3, "a comparison needs a target"),
    "select gaps.csv --method variance --missing error": (3, "row 1 has no value in 'b' (1 value in 1 row is missing)"),
    "select wine --method principal_features -o p.png": (3, "has no scores"),
    "select wine -o p.txt": (2, "must end in one of"),
}
GOOD = [
    "select wine --method f --k 3 --json",
    "select wine --method mrmr --k 4 -o chosen.csv -o scores.png",
    "select plain.csv --target c --method relieff --n-neighbors 2 --task regression",
    "select wine --method correlation --threshold 0.5 --json",
    "select wine --method forward --k 2 --cv 2 -o path.svg --json",
    "select flowers.csv --target species --drop name --method mutual-information",
    "select wine --resamples 2 --cv 2 -o ranks.png -o ranks.csv",
    "select wine --resamples 2 --cv 2 --k 3 --json",
    "select wine --method relieff --help",
]


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    folder = tmp_path_factory.mktemp("select")
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(30, 3))
    pd.DataFrame(numbers, columns=list("abc")).to_csv(folder / "plain.csv", index=False)
    (folder / "gaps.csv").write_text("a,b\n1,2\n3,\n4,5\n")
    flowers = pd.DataFrame({"name": [f"f{i}" for i in range(30)], "length": numbers[:, 0], "width": numbers[:, 1]})
    flowers["species"] = np.where(numbers[:, 0] > 0, "iris", "rose")
    flowers.to_csv(folder / "flowers.csv", index=False)
    return folder, run_lines(folder, [*GOOD, *BAD])


@pytest.mark.parametrize("line", BAD)
def test_errors(done, line):
    code, message = BAD[line]
    result = done[1][line]
    assert result.code == code and message in result.err


def test_one_filter(done):
    folder, results = done
    found = results[GOOD[0]].data
    X, y = load_wine(return_X_y=True)
    assert found["scores"] == pytest.approx(FTest().fit(X, y).scores_)
    assert found["selector"] == "FTest" and found["selected"][0] in found["features"] and len(found["selected"]) == 3
    text = results[GOOD[1]].out
    chosen = pd.read_csv(folder / "chosen.csv")
    kept = np.array(found["features"])[MRMR(4).fit(X, y).support_]
    assert list(chosen.columns[:4]) == list(kept) and len(chosen) == 178
    assert "selected  4 of 13 features" in text and all(f"*  {name}" in text for name in kept)
    assert (folder / "scores.png").stat().st_size > 5000
    assert results[GOOD[2]].code == 0 and "ReliefF" in results[GOOD[2]].out
    assert results[GOOD[3]].data["parameters"]["threshold"] == 0.5
    assert results[GOOD[5]].out.splitlines()[3].split()[1] == "length"
    assert "--n-neighbors VALUE" in results[GOOD[8]].out


def test_a_search(done):
    folder, results = done
    found = results[GOOD[4]].data
    assert [step["size"] for step in found["path"]] == [1, 2]
    assert found["path"][1]["features"] == found["selected"] and len(found["path"][0]["scores"]) == 2
    assert b"<svg" in (folder / "path.svg").read_bytes()


def test_all_filters(done):
    folder, results = done
    text = results[GOOD[6]].out
    assert "Which features?" in text and "optimism" in text and "ranks.png" in text
    ranks = pd.read_csv(folder / "ranks.csv")
    assert ranks.columns[0] == "feature" and {"relieff", "mean"} <= set(ranks.columns) and len(ranks) == 13
    assert sorted(ranks["f"]) == list(range(1, 14))
    found = results[GOOD[7]].data
    assert found["k"] == 3 and len(found["filters"]) == 11
    assert all(len(part["selected"]) == 3 for part in found["filters"])
