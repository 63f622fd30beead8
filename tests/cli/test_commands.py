"""The command line, run as users and scripts run it: in a process of its own."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import lowdim
from cli_runner import CommandResult, run_lines
from lowdim import PCA
from lowdim.runtime.deferred_imports import DEFERRED
from lowdim.runtime.param import parameters

pytest.importorskip("typer")
pytest.importorskip("pyarrow")

FLOWERS = """name,species,length,width,height
f1,setosa,1,2,3
f2,setosa,2,1,4.5
f3,=cmd|' /C calc'!A0,5,5,1
f4,</script><script>alert(1)</script>,7,8,2
f5,virginica,6,9,2.5
"""
BIRDS = "name,species,island,bill,wing,mass\n" + "".join(
    f"b{i},{'chinstrap' if i % 3 else 'gentoo'},{'' if i == 4 else 'torgersen' if i % 2 else 'dream'},{40 + i},"
    f"{190 + i * i % 7},{3500 + 100 * (i % 5)}\n"
    for i in range(12)
)
NUMBERS = np.array([[1, 2, 3], [2, 1, 4.5], [5, 5, 1], [7, 8, 2], [6, 9, 2.5]])


def run(folder: Path, *words: str, **options) -> CommandResult:
    done = subprocess.run(
        [sys.executable, "-m", "lowdim", *words], capture_output=True, text=True, cwd=folder, **options
    )
    return CommandResult(done.returncode, done.stdout, done.stderr)


PENGUINS = """rownames,species,island,bill_length,bill_depth,flipper,mass,sex
1,Adelie,Torgersen,39.1,18.7,181,3750,male
2,Adelie,Torgersen,39.5,17.4,186,3800,female
3,Adelie,Torgersen,40.3,18,195,3250,female
4,Adelie,Torgersen,NA,NA,NA,NA,NA
5,Adelie,Biscoe,36.7,19.3,193,3450,female
6,Gentoo,Biscoe,46.1,13.2,211,4500,female
7,Gentoo,Biscoe,50,16.3,230,5700,male
8,Gentoo,Biscoe,48.7,14.1,210,,female
9,Gentoo,Torgersen,50,15.2,218,5700,male
"""

# Invalid commands: the line, the exit code, and a pattern of the message.
BAD = {
    # the data
    "map missing.csv": (3, "there is no file missing.csv"),
    "map empty.csv": (3, "empty.csv is empty"),
    "map flowers.csv --columns name,length": (3, "column 'name' holds text, not numbers"),
    "map words.csv": (3, "words.csv has no column of numbers.*--encode one-hot or gower"),
    "map birds.csv --encode ordinal": (2, "--encode must be one of drop, one-hot, gower; got 'ordinal'"),
    "map birds.csv --encode gower --method pca": (2, "--encode gower: PCA does not compare .* Methods that do: .*UMAP"),
    "map birds.csv --encode gower --method umap --metric cosine": (2, "--encode gower means --metric gower"),
    "map birds.csv --encode gower --method umap --standardize": (2, "ranges already. Omit --standardize"),
    "map birds.csv --encode gower --missing em": (2, "--missing em is not needed with Gower's distance"),
    "choose birds.csv --encode gower": (2, "--encode gower: this command does not compare"),
    "map iris --method isomap --metric minkowski --metric-params p=0.5": (2, "p of 'minkowski' must be a number of at"),
    "map iris --method isomap --metric-params three": (2, "--metric-params must be None, or a dict"),
    "map birds.csv --missing mean": (2, "--missing must be one of em, drop-rows, drop-columns, error; got 'mean'"),
    "map ragged.csv": (3, "line 3 .* 1 cells, but the first line has 2"),
    "map gaps.csv --missing error": (3, "row 1 has no value in 'b' .* use --missing em"),
    "map infinite.csv": (3, r"row 0 holds inf in 'a', .*leave the row out\.$"),
    "map holes.csv --missing error": (3, "row 1 has no value in 'a' "),
    "map birds.csv --id name --color plumage": (3, "--color: birds.csv has no column 'plumage'"),
    "map birds.csv --label island --color plumage --id name": (3, "--color: birds.csv has no column 'plumage'"),
    "map birds.csv --drop name,species,island --color plumage": (3, "--color: birds.csv has no column 'plumage'"),
    "map iris --method umap --target flower": (3, "no column 'flower'"),
    "map longcell.csv --columns a": (3, "longcell.csv can't be read|column 'a' holds text"),
    "map broken.npz": (3, "broken.npz: 'y' holds numbers that are no characters"),
    "diagnose longcell.csv --columns a": (3, "longcell.csv can't be read|column 'a' holds text"),
    "map digist": (3, "no file or built-in data set 'digist'.*digits"),
    "map zzzzz": (3, "Built-in data sets: digits, iris"),
    "map folder": (3, "folder"),
    "map table.xls": (3, "unknown extension '.xls'"),
    "map cities --method pca": (3, "cities holds distances .* PCA needs the rows"),
    "choose cities": (3, "cities holds distances"),
    "diagnose cities": (3, "cities holds distances"),
    "choose gaps.csv --missing error": (3, "row 1 has no value in 'b' "),
    "map iris --color petal": (3, "--color: iris has no column 'petal'"),
    "map iris --drop petal": (3, "no column 'petal'"),
    "map iris --n-components 9": (4, "--n-components 9 must be at most 4"),
    "map one.csv": (4, "minimum of 2"),
    # the line
    "map": (2, "Missing argument 'DATA'.* lowdim map --help"),
    "draw iris": (2, "No such command 'draw'"),
    "map iris iris": (2, r"unexpected extra argument\(s\) \(iris\)\. See"),
    "map iris -x": (2, "No such option: -x"),
    "map iris --method umapp": (2, "there is no method 'umapp'"),
    "map iris --method": (2, "requires an argument"),
    "map iris --n-component 3": (2, "no such option: --n-component. Did you mean --n-components"),
    "map iris --colour species": (2, "no such option: --colour. Did you mean --color"),
    "transform model.lowdim iris --n-components 3 -o z.csv": (2, "no such option: --n-components"),
    "map iris --n-components many": (2, "--n-components must be .* parallel-analysis.* got 'many'"),
    "map iris --n-components 0": (2, "--n-components must be .* got '0'"),
    "map iris --n-components": (2, "option --n-components requires a value"),
    "map iris --solver magic": (2, "--solver must be one of 'auto', .* got 'magic'"),
    "map iris --whiten=yes": (2, "option --whiten does not take a value"),
    "map iris --ddof 2": (2, "--ddof must be one of 0, 1; got '2'"),
    "map iris --target species": (2, "--target: PCA does not use a target. Methods that do: .*UMAP"),
    "map iris --method umap --target-weight 0.9": (2, "--target-weight has no effect without --target COLUMN"),
    "fit iris --method umap --target-metric numeric -o m.lowdim": (2, "--target-metric has no effect without --target"),
    "map iris --method projectionpursuit --target species": (2, "--target: the index 'holes' does not .* lda, pda"),
    "map iris --method projectionpursuit --index hole": (2, "--index must be one of 'holes', .* got 'hole'"),
    "map plain.csv --method projection-pursuit --index lda": (3, "needs a target, and plain.csv has no labels"),
    "tour iris --kind magic": (2, "--kind.*'grand', 'guided', 'local'"),
    "tour iris --target species": (2, "--target is for --kind guided with --index lda or pda"),
    "tour plain.csv": (3, "plain.csv has 2 column.*needs three"),
    "tour cities": (3, "cities holds distances"),
    "tour iris -o tour.png": (2, "tour.png must end in one of .html"),
    "tour birds.csv --drop name,species,island --kind guided --index lda": (3, "--index lda needs classes"),
    "map iris --plot circle": (2, "--plot must be one of map, biplot, .* got 'circle'"),
    "map iris --method umap --plot loadings -o l.png --n-epochs 5": (3, "UMAP has no loadings"),
    "plot model.lowdim --kind circle": (2, "--kind must be one of biplot, .* got 'circle'"),
    "plot model.lowdim --kind biplot": (3, "a biplot needs rows"),
    "plot model.lowdim -o l.csv": (2, "l.csv must end in one of .html, .png"),
    "transform model.lowdim iris -o z.csv --fitted-data iris": (2, "--fitted-data is for figures and pages"),
    "choose iris --replicates 0": (2, "--replicates"),
    "diagnose iris --sample few": (2, "--sample"),
    "methods umapp": (2, "there is no method 'umapp'"),
    # the files to write
    "map iris -o map.gif": (2, "map.gif must end in one of .html, .png"),
    "map iris -o map": (2, "map must end in one of"),
    "choose iris -o scree.csv": (2, "scree.csv must end in one of .html, .png"),
    "transform model.lowdim iris -o z.gif": (2, "z.gif must end in one of .html"),
    "transform model.lowdim iris": (2, "Missing option '--output'"),
    "map iris -o nowhere/map.png": (3, "there is no folder"),
    "map iris -o flowers.csv/map.png": (3, "there is no folder"),
    "map iris -o folder.png": (3, "it is a folder"),
    "map iris -o /proc/map.csv": (3, "can't write '/proc/map.csv'|not writable"),
    "fit iris -o nowhere/model.lowdim": (3, "there is no folder"),
    "map iris --save-model nowhere/model.lowdim": (3, "there is no folder"),
    "map plain.csv -o plain.csv": (2, "would overwrite the input"),
    "transform model.lowdim iris -o ./iris.npy -o model.lowdim": (2, "model.lowdim must end in"),
    # the model
    "transform nothing.lowdim iris -o z.csv": (3, "nothing.lowdim: there is no such file"),
    "transform damaged.lowdim iris -o z.csv": (3, "damaged.lowdim: .*damaged"),
    "transform flowers.csv iris -o z.csv": (3, "flowers.csv: not a lowdim model"),
    "transform unfitted.lowdim iris -o z.csv": (3, "saved before it was fitted"),
    "transform graph.lowdim iris -o z.csv": (3, "a neighbor graph, not a fitted model"),
    "transform model.lowdim plain.csv -o z.csv": (3, "plain.csv has no column 'sepal length"),
    "transform model.lowdim narrow.npy -o z.csv": (3, "2 columns, but the model needs 4"),
    "transform model.lowdim cities -o z.csv": (3, "no column|distances"),
    "transform plain.lowdim gaps.csv -o z.csv": (
        3,
        "row 1 has no value in 'b' .* --missing drop-rows, or a PCA that was",
    ),
    "inverse model.lowdim plain.csv -o x.csv": (3, "plain.csv has no column 'PC1'"),
    "inverse plain.lowdim gaps.npy -o x.csv": (3, r"row 1 has no value in 'x1' .* such rows\.$"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("cli")
    text = {
        "flowers.csv": FLOWERS,
        "empty.csv": "",
        "ragged.csv": "a,b\n1,2\n3\n",
        "gaps.csv": "a,b\n1,2\n3,\n5,6\n",
        "infinite.csv": "a,b\ninf,2\n3,4\n",
        "one.csv": "a,b\n1,2\n",
        "plain.csv": "a,b\n1,2\n3,5\n5,6\n",
        "headless.csv": "1,2,3,4\n3,5,6,2\n",
        "distances.csv": ",A,B,C\nA,0,3,4\nB,3,0,5\nC,4,5,0\n",
        "table.xls": "no",
        "words.csv": "a,b\nx,y\nz,w\n",
        "penguins.csv": PENGUINS,
        "strangers.csv": PENGUINS.replace("Biscoe", "Dream"),
        "holes.csv": "a,b\n1,2\n,\n3,5\n5,\n",
        "birds.csv": BIRDS,
        "longcell.csv": f"a,b\n{'x' * 200_000},1\n2,3\n",
    }
    for name, content in text.items():
        (folder / name).write_text(content, encoding="utf-8")
    labels = np.array(["a", "b", "c"])
    labels.view(np.uint32)[1] = 0x7FFFFFFF
    np.savez(folder / "broken.npz", X=np.eye(3), y=labels)
    (folder / "folder").mkdir()
    (folder / "folder.png").mkdir()
    np.save(folder / "narrow.npy", np.ones((3, 2)))
    np.save(folder / "gaps.npy", np.array([[1.0, 2.0], [3.0, np.nan]]))
    iris = lowdim.datasets.load("iris")
    lowdim.save(PCA(2, standardize=True).fit(iris.rows()), folder / "model.lowdim")
    lowdim.save(PCA(2).fit(lowdim.read_table(folder / "plain.csv").X), folder / "plain.lowdim")
    lowdim.save(PCA(2), folder / "unfitted.lowdim")
    lowdim.save(lowdim.neighbors(iris.X, 3), folder / "graph.lowdim")
    whole = bytearray((folder / "model.lowdim").read_bytes())
    whole[-9] ^= 1
    (folder / "damaged.lowdim").write_bytes(whole)
    return folder


@pytest.fixture(scope="module")
def refusals(folder) -> dict[str, CommandResult]:
    before = sorted(folder.iterdir())
    results = run_lines(folder, BAD)
    assert sorted(folder.iterdir()) == before, "a refused command left something behind"
    return results


@pytest.mark.parametrize("line", BAD)
def test_refusal(refusals, line):
    """The right exit code, nothing on stdout, and one line on stderr that says what to do."""
    result, (code, words) = refusals[line], BAD[line]
    assert result.code == code, result.err
    assert result.out == ""
    assert re.fullmatch(r"error: [^\n]+\n", result.err)
    assert re.search(words, result.err.rstrip("\n")), result.err
    assert "Traceback" not in result.err


GOOD = (
    "map iris --json -o iris.csv -o iris.npz -o iris.parquet -o iris.svg --save-model iris.lowdim",
    "map iris --json --no-standardize --n-components 3 --whiten --solver svd --ddof=0 -o plain.npz",
    "map wine --json --n-components parallel -o wine.npy",
    "map wine --json --n_components 0.95 --no-whiten -o wine.tsv",
    "map digits --json -o digits.npy",
    "map flowers.csv --json --id name --color species -o flowers.html -o safe.csv -o flowers.png",
    "map flowers.csv --json --drop name,species --color width -o amounts.pdf",
    "map flowers.csv --json --columns height,width --label species -o two.npy",
    "map gaps.csv --missing em --json -o gaps_z.csv",
    "map gaps.csv --json -o gaps_default.csv",
    "map penguins.csv --json -o penguins.html -o penguins.csv_z.csv",
    "map penguins.csv -o penguins.png",
    "map penguins.csv --encode one-hot --json -o encoded.csv --save-model encoded.lowdim",
    "transform encoded.lowdim penguins.csv --missing drop-rows -o encoded_new.csv --json",
    "map penguins.csv --encode gower --json -o gower.csv --save-model gower.lowdim",
    "map penguins.csv --encode gower -o gower.png",
    "transform gower.lowdim penguins.csv -o gower_new.csv --json",
    "transform gower.lowdim strangers.csv -o gower_strangers.csv",
    "map penguins.csv --method isomap --n-neighbors 3 --metric minkowski --metric-params p=3 --json -o minkowski.csv",
    "map penguins.csv --missing drop-rows --method umap --n-neighbors 3 --json -o umap.csv",
    "map penguins.csv --missing drop-columns --json -o columns.csv",
    "map penguins.csv --numeric-only --json -o numeric.csv",
    "choose penguins.csv --replicates 5",
    "diagnose penguins.csv",
    "map distances.csv --json -o distances_z.csv",
    "map gaps.csv --missing em -o gaps_z2.csv --save-model gaps.lowdim",
    "transform gaps.lowdim gaps.csv -o gaps_z3.csv",
    "map birds.csv --id name --drop species,island --color species --json -o dropped.html -o dropped.csv",
    "map birds.csv --id name --label island --color species --json -o both.html -o both.csv",
    "map birds.csv --drop name,island --color name --label species -o by_name.svg",
    "map iris --drop species --json --color species -o iris_species.html",
    "map birds.csv --id name --drop island --method umap --target species --n-neighbors 4 --json -o target.csv",
    "map birds.csv --id name --method umap --target island --label species --n-neighbors 4 --json -o target2.csv",
    "fit birds.csv --id name --drop island --method umap --target species --target-weight 1 --json -o target.lowdim",
    "map birds.csv --id name --drop island,species --method umap --n-neighbors 4 --json -o untargeted.csv",
    "fit iris -o fitted.lowdim --json --method PCA",
    "fit flowers.csv --label species --drop name -o flowers.lowdim --json",
    "transform fitted.lowdim iris -o iris_z.csv --json",
    "transform flowers.lowdim flowers.csv --id name -o flowers_z.csv",
    "transform model.lowdim headless.csv -o headless.npy",
    "inverse flowers.lowdim flowers_z.csv -o back.csv --json",
    "choose wine --json --replicates 20 --random-state 3 -o scree.svg -o scree.html",
    "choose wine --replicates 20 --random-state 3",
    "map iris --method projectionpursuit --index lda --n-null 0 --n-init 2 --json -o pursuit.csv",
    "fit iris --method projectionpursuit --n-null 2 --n-init 2 -o pursuit.lowdim",
    "transform pursuit.lowdim iris -o pursuit_z.csv",
    "tour iris --json -o tour.html --seconds 2",
    "tour birds.csv --id name --label island --kind guided --index lda --target species --seconds 1 -o guided.html",
    "tour iris --kind local --seconds 1 --color species --no-standardize -o local.html",
    "diagnose iris --json",
    "diagnose iris",
    "methods --json",
    "methods pca --json",
    "methods pca",
    "methods",
    "datasets --json",
    "config --json",
    "map iris -o quiet.csv --quiet",
    "map iris -o iris_again.csv",
    "map --method pca --help",
    "quality --help",
)


WARNED = {
    line: "warning: --n-neighbors 15 was lowered to 12 (the row itself included): no more other rows are different. "
    "Ask for fewer.\n"
    for line in GOOD
    if "--target-weight" in line
}
WARNED |= {
    line: "warning: the neighbor graph has 2 connected components, which were joined by their shortest edges: the "
    "distances between them mean little. More neighbors would connect them.\n"
    for line in GOOD
    if "--method isomap --n-neighbors 3" in line
}


def test_warnings_are_a_list_in_json(good):
    for line in GOOD:
        if "--json" in line:
            said = [f"warning: {text}\n" for text in json.loads(good[line].out)["warnings"]]
            assert "".join(said) == WARNED.get(line, "")
    assert len(WARNED) == 2


@pytest.fixture(scope="module")
def good(folder, refusals) -> dict[str, CommandResult]:
    return run_lines(folder, GOOD)


@pytest.mark.parametrize("line", GOOD)
def test_success(good, line):
    assert good[line].code == 0, good[line].err
    assert good[line].err == WARNED.get(line, "")


def first(good, start):
    return next(result for line, result in good.items() if line.startswith(start))


def test_map_writes_what_the_library_computes(good, folder):
    iris = lowdim.datasets.load("iris")
    model = PCA(2, standardize=True).fit(iris.X)
    Z = model.transform(iris.X)
    reported = first(good, "map iris --json -o iris.csv").data
    assert reported["method"] == "PCA" and reported["rows"] == 150 and reported["columns"] == list(iris.names)
    assert reported["standardized"] is True and reported["label"] == "species"
    np.testing.assert_allclose(reported["explained_variance_ratio"], model.explained_variance_ratio_, rtol=1e-15)
    names = ("iris.csv", "iris.npz", "iris.parquet", "iris.svg", "iris.lowdim")
    assert reported["written"] == [str(folder / name) for name in names]
    for name in names[:3]:
        back = lowdim.read_table(folder / name, label="labels" if name.endswith("npz") else "species")
        np.testing.assert_array_equal(back.array(), Z)
        np.testing.assert_array_equal(back.labels, iris.labels)
    assert lowdim.read_table(folder / "iris.csv", label="species").names == ("PC1", "PC2")
    kept = lowdim.load(folder / "iris.lowdim")
    np.testing.assert_array_equal(kept.transform(iris.rows()), Z)
    assert list(kept.feature_names_in_) == list(iris.names)
    assert "<svg" in (folder / "iris.svg").read_text(encoding="utf-8")


def test_flags_reach_the_method(good, folder):
    iris, wine, digits = (lowdim.datasets.load(name).X for name in ("iris", "wine", "digits"))
    want = PCA(3, whiten=True, solver="svd", ddof=0).fit_transform(iris)
    np.testing.assert_array_equal(np.load(folder / "plain.npz")["X"], want)
    result = first(good, "map iris --json --no-standardize").data
    assert result["solver"] == "svd" and result["parameters"]["whiten"] is True and result["standardized"] is False
    want = PCA(lowdim.choose.parallel_analysis(), standardize=True).fit_transform(wine)
    np.testing.assert_array_equal(np.load(folder / "wine.npy"), want)
    model = PCA(0.95, standardize=True).fit(wine)
    assert first(good, "map wine --json --n_components").data["n_components"] == model.n_components_ == 10
    np.testing.assert_array_equal(
        np.load(folder / "digits.npy"), PCA(2).fit_transform(digits)
    )  # images stay as they are


def test_any_column_colors_and_the_label_stays_the_label(good, folder):
    page = (folder / "dropped.html").read_text(encoding="utf-8")
    assert "chinstrap" in page and "torgersen" not in page
    assert (folder / "dropped.csv").read_text().splitlines()[0].replace('"', "") == "name,PC1,PC2"
    page = (folder / "both.html").read_text(encoding="utf-8")
    assert "<span>chinstrap</span>" in page and "<span>torgersen</span>" not in page
    assert "torgersen" in page  # in the tooltip
    table = pd.read_csv(folder / "both.csv")
    assert list(table.columns) == ["name", "PC1", "PC2", "island"]
    assert first(good, "map birds.csv --id name --label island").data["columns"] == ["bill", "wing", "mass"]
    assert "b11" in (folder / "by_name.svg").read_text(encoding="utf-8")
    assert "virginica" in (folder / "iris_species.html").read_text(encoding="utf-8")


def test_a_target_reaches_the_method(good, folder):
    frame = pd.read_csv(folder / "birds.csv", keep_default_na=False)
    X = frame[["bill", "wing", "mass"]].to_numpy(float)
    Z = {}
    for name, column in (("target", "species"), ("target2", "island"), ("untargeted", None)):
        y = None if column is None else frame[column].replace("", None).to_numpy(object)
        Z[name] = lowdim.Standardized(lowdim.UMAP(n_neighbors=4)).fit_transform(X, y)
        written = pd.read_csv(folder / f"{name}.csv")[["UMAP 1", "UMAP 2"]].to_numpy()
        np.testing.assert_array_equal(written, Z[name])
    assert not np.allclose(Z["target"], Z["untargeted"])
    result = first(good, "map birds.csv --id name --method umap --target island").data
    assert result["columns"] == ["bill", "wing", "mass"] and result["label"] == "species"
    assert lowdim.load(folder / "target.lowdim").model_.supervised_


def test_the_summary_says_how_many_values_were_estimated(good):
    assert "missing   1 value in 1 row estimated by EM" in first(good, "map gaps.csv --missing em -o").out
    assert "missing   1 value in 1 row estimated by EM" in first(good, "transform gaps.lowdim").out
    data = first(good, "map gaps.csv --missing em --json").data
    assert (data["missing_values"], data["rows_with_missing_values"]) == (1, 1)


def test_a_table_as_it_comes(good, folder):
    text = first(good, "map penguins.csv -o").out
    for line in (
        "penguins.csv  8 rows × 4 columns, labels 'species'",
        "label         species (text with few values; --label names another)",
        "not used      island, sex (text or dates, kept beside the numbers)",
        "left out      rownames (row numbers; --columns can name it)",
        "missing       1 value in 1 row estimated by EM; 1 row without any value left out",
    ):
        assert re.sub(" +", " ", line) in re.sub(" +", " ", text)
    data = first(good, "map penguins.csv --json").data
    assert data["columns"] == ["bill_length", "bill_depth", "flipper", "mass"] and data["rows"] == 8
    page = (folder / "penguins.html").read_text(encoding="utf-8")
    assert "Torgersen" in page and "island" in page  # hover data
    assert (first(good, "map gaps.csv --json").data["missing"], first(good, "map gaps.csv --missing em").code) == (
        "em",
        0,
    )
    for command in ("choose penguins.csv", "diagnose penguins.csv"):
        assert "1 row without any value left out" in first(good, command).out


def test_missing_values_are_left_out_or_estimated_for_every_method(good, folder):
    umap = first(good, "map penguins.csv --missing drop-rows").data
    assert (umap["rows"], umap["missing_values"], umap["rows_without_values"]) == (7, 1, 1)
    columns = first(good, "map penguins.csv --missing drop-columns").data
    assert columns["columns_left_out"] == ["mass"] and columns["rows"] == 8


def test_one_hot_columns_are_found_again_in_new_rows(good, folder):
    names = first(good, "map penguins.csv --encode one-hot").data["columns"]
    assert names[4:] == ["island=Biscoe", "island=Torgersen", "sex=female", "sex=male"]
    fitted = lowdim.read_table(folder / "encoded.csv", label="species").array()
    again = lowdim.read_table(folder / "encoded_new.csv").array()
    complete = [0, 1, 2, 4, 5, 6, 8]  # the island of the fourth row is known
    np.testing.assert_allclose(again, fitted[complete], atol=1e-12)


def test_categories_and_gaps_are_compared_by_gowers_distance(good, folder):
    result = first(good, "map penguins.csv --encode gower --json").data
    assert result["columns"] == ["bill_length", "bill_depth", "flipper", "mass", "island", "sex"]
    assert (result["method"], result["rows"], result["standardized"]) == ("ClassicalMDS", 9, False)
    assert (result["missing"], result["missing_values"], result["rows_with_missing_values"]) == ("gower", 6, 2)
    told = first(good, "map penguins.csv --encode gower -o gower.png").out
    assert re.search(r"encoded +island, sex \(Gower: equal or different\)", told)
    assert re.search(r"missing +6 values in 2 rows missing: left out of the comparisons", told)
    fitted = lowdim.read_table(folder / "gower.csv", label="species").array()
    again = lowdim.read_table(folder / "gower_new.csv").array()
    np.testing.assert_allclose(again, fitted, atol=1e-12)
    strangers = first(good, "transform gower.lowdim strangers.csv").out
    assert re.search(r"unknown +Dream in island: differs from all fitted rows", strangers)
    minkowski = first(good, "map penguins.csv --method isomap --n-neighbors 3 --metric minkowski").data
    assert minkowski["parameters"]["metric_params"] == {"p": 3}


def test_distances_are_recognized_and_get_a_method_that_takes_them(good, folder):
    data = first(good, "map distances.csv").data
    assert data["method"] == "ClassicalMDS"
    Z = lowdim.read_table(folder / "distances_z.csv", id="id", columns=["ClassicalMDS 1", "ClassicalMDS 2"]).array()
    assert np.linalg.norm(Z[0] - Z[1]) == pytest.approx(3)


def test_fit_and_transform_is_map(good, folder):
    assert (
        first(good, "fit iris").data["explained_variance_ratio"]
        == first(good, GOOD[0]).data["explained_variance_ratio"]
    )
    mapped, through = (lowdim.read_table(folder / f"{name}.csv", label="species") for name in ("iris", "iris_z"))
    np.testing.assert_array_equal(through.array(), mapped.array())
    np.testing.assert_array_equal(through.labels, mapped.labels)


def test_columns_are_found_by_the_names_that_the_model_knows(good, folder):
    model = PCA(2, standardize=True).fit(NUMBERS)
    z = lowdim.read_table(folder / "flowers_z.csv", id="name")
    np.testing.assert_array_equal(z.array(), model.transform(NUMBERS))
    assert list(z.ids) == ["f1", "f2", "f3", "f4", "f5"]
    back = lowdim.read_table(folder / "back.csv")
    assert back.names == ("length", "width", "height")
    np.testing.assert_allclose(back.array(), model.inverse_transform(model.transform(NUMBERS)), rtol=1e-14)
    rows = np.array([[1.0, 2, 3, 4], [3, 5, 6, 2]])  # a file without names goes by position
    model = lowdim.load(folder / "model.lowdim")
    want = model.transform(pd.DataFrame(rows, columns=model.feature_names_in_))
    np.testing.assert_array_equal(np.load(folder / "headless.npy"), want)
    want = PCA(2, standardize=True).fit_transform(NUMBERS[:, [2, 1]])
    np.testing.assert_array_equal(np.load(folder / "two.npy"), want)


def test_missing_values_by_em(good, folder):
    gaps = np.array([[1, 2], [3, np.nan], [5, 6]])
    want = PCA(2, standardize=True, missing="em").fit_transform(gaps)
    np.testing.assert_array_equal(lowdim.read_table(folder / "gaps_z.csv").array(), want)


def test_hostile_labels_stay_text(good, folder):
    table = (folder / "safe.csv").read_text(encoding="utf-8")
    assert "\"'=cmd|' /C calc'!A0\"" in table and '"=cmd' not in table
    page = (folder / "flowers.html").read_text(encoding="utf-8")
    assert "alert(1)" in page and "<script>alert(1)" not in page
    assert (folder / "flowers.png").read_bytes().startswith(b"\x89PNG")
    assert (folder / "amounts.pdf").read_bytes().startswith(b"%PDF")


def test_choose_says_what_the_library_says(good, folder):
    want = lowdim.choose.table(lowdim.datasets.load("wine").X, standardize=True, replicates=20, random_state=3)
    reported = first(good, "choose wine --json").data
    assert reported["verdicts"] == want.to_dict()["verdicts"]
    assert reported["eigenvalues"] == want.spectrum.values.tolist()
    assert reported["parallel"]["p_values"] == want.parallel.p_values.tolist()
    assert reported["written"] == [str(folder / "scree.svg"), str(folder / "scree.html")]
    assert (folder / "scree.svg").exists() and "parallel_analysis" in (folder / "scree.html").read_text("utf-8")
    shown = first(good, "choose wine --replicates").out
    assert str(want) in shown and "columns  standardized (--no-standardize keeps their units)" in shown


def test_projection_pursuit_takes_the_labels_and_says_whether_there_is_structure(good, folder):
    data = first(good, "map iris --method projectionpursuit").data
    table = lowdim.datasets.load("iris")
    model = lowdim.Standardized(lowdim.ProjectionPursuit(index="lda", n_null=0, n_init=2)).fit(table.X, table.labels)
    written = pd.read_csv(folder / "pursuit.csv")[["ProjectionPursuit 1", "ProjectionPursuit 2"]].to_numpy()
    np.testing.assert_array_equal(written, model.transform(table.X))
    assert data["index"] == model.model_.index_.tolist() and data["p_value"] is None
    said = first(good, "fit iris --method projectionpursuit").out
    assert re.search(r"ProjectionPursuit  index 0\.\d+, no more structure than .* \(p = 0.33\)|more structure", said)


def test_tours_are_pages_of_their_rows(good, folder):
    data = first(good, "tour iris --json").data
    assert (data["kind"], data["index"], data["rows"]) == ("grand", None, 150)
    assert data["written"] == [str(folder / "tour.html")]
    said = first(good, "tour birds.csv").out
    assert "guided tour by lda, 1 s" in said and "sphered" in said
    for name in ("tour", "guided", "local"):
        assert "Content-Security-Policy" in (folder / f"{name}.html").read_text(encoding="utf-8")
    assert "not standardized" in first(good, "tour iris --kind local").out


def test_diagnose_says_what_the_library_says(good):
    iris = lowdim.datasets.load("iris")
    want = lowdim.diagnose(iris.rows(), standardize=True)
    reported = first(good, "diagnose iris --json").data
    assert reported["intrinsic"] == want.to_dict()["intrinsic"] and reported["verdict"] == list(want.verdict)
    assert good["diagnose iris"].out.startswith(f"{want}\n\ncolumns  standardized")


def test_methods_and_flags_come_from_the_registry(good):
    reported = {method["name"]: method for method in good["methods --json"].data["methods"]}
    assert set(reported) == {method.name for method in lowdim.methods()}
    declared = parameters(PCA)
    one = good["methods pca --json"].data
    assert [p["name"] for p in one["parameters"]] == list(declared)
    assert one["traits"]["inverse"] is True and one["traits"]["supervised"] is False
    for name, parameter in declared.items():
        flag = f"--{name.replace('_', '-')}"
        assert flag in good["methods pca"].out
        assert flag in good["map --method pca --help"].out
        assert parameter.help.split()[0] in good["methods pca"].out
    assert good["quality --help"].out.startswith("Usage: lowdim quality [OPTIONS] DATA MAP...\n")
    assert "PCA" in good["methods"].out
    assert good["datasets --json"].data["datasets"] == lowdim.datasets.names()
    assert good["config --json"].data["lowdim"] == lowdim.__version__


def test_what_people_read(good, folder):
    text = good["map iris -o iris_again.csv"].out
    lines = text.splitlines()
    assert lines[0] == "iris     150 rows × 4 columns, labels 'species'"
    assert lines[1] == "columns  standardized (--no-standardize keeps their units)"
    assert lines[2] == "PCA      2 components, 95.8% of the variance (73.0% + 22.9%)"
    assert lines[-1] == f"wrote    {folder / 'iris_again.csv'}"
    assert good["map iris -o quiet.csv --quiet"].out == ""
    assert (folder / "quiet.csv").read_bytes() == (folder / "iris_again.csv").read_bytes()


def test_help_is_light(tmp_path):
    """Help must be immediate: nothing heavy is imported for it, rich included."""
    heavy = {"numpy", "scipy", "sklearn", "pandas", "polars", "pyarrow", "matplotlib", "bokeh", "narwhals", "rich"}
    code = (
        "import sys\nfrom lowdim.cli import main\nassert main(sys.argv[1:]) == 0\n"
        "print(*sorted({name.partition('.')[0] for name in sys.modules}), file=sys.stderr)"
    )
    for words in (["--help"], ["map", "--help"], ["--version"], []):
        done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert not heavy & set(done.stderr.split())
        if words != ["--version"]:
            assert ("Global options:" if words == ["map", "--help"] else "Exit codes: 0 success") in done.stdout
        else:
            assert done.stdout == f"lowdim {lowdim.__version__}\n"


# What numpy, scipy, scikit-learn, typer, Bokeh and Matplotlib consist of. Each line more is a slower start.
FOR_A_MAP = {
    *(
        "PIL",
        "annotated_doc",
        "annotated_types",
        "bokeh",
        "click",
        "cloudpickle",
        "cycler",
        "cython_runtime",
        "dateutil",
    ),
    *(
        "fontTools",
        "jinja2",
        "joblib",
        "kiwisolver",
        "lowdim",
        "lz4",
        "markupsafe",
        "matplotlib",
        "mpl_toolkits",
        "narwhals",
    ),
    *(
        "numpy",
        "packaging",
        "psutil",
        "pydantic",
        "pydantic_core",
        "pyparsing",
        "scipy",
        "shellingham",
        "six",
        "sklearn",
    ),
    *("threadpoolctl", "typer", "typing_extensions", "typing_inspection", "yaml"),
}


def test_default_outputs_in_a_process_of_its_own(tmp_path):
    """Quick from a cold start: a map of built-in data, its page and its figure load this much of other packages."""
    code = (
        "import json, sys, types\nsys.argv = ['lowdim', 'map', 'iris']\nfrom lowdim.cli import main\n"
        "assert main() == 0\n"
        "used = [name for name, module in sys.modules.items() if type(module) is types.ModuleType]\n"
        "print(json.dumps(used), file=sys.stderr)"
    )
    one_core = os.environ | {"LOWDIM_NUM_THREADS": "1"}  # with two, a child draws the figure
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, env=one_core)
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["map.html", "map.png"]
    assert [str(tmp_path / name) in done.stdout for name in ("map.html", "map.png")] == [True, True]
    loaded = set(json.loads(done.stderr))
    assert not loaded & {*DEFERRED, "matplotlib.pyplot", "sklearn.datasets", "sklearn.metrics", "lowdim.persistence"}
    packages = {name.partition(".")[0] for name in loaded} - set(sys.stdlib_module_names)
    assert {name for name in packages if not name.startswith("_")} <= FOR_A_MAP


@pytest.mark.skipif(sys.platform != "linux", reason="a command forks on Linux only")
def test_with_two_cores_other_processes_write_the_page_and_the_figure(tmp_path):
    """If one of them failed, this process would write its file, and import what that takes."""
    code = (
        "import sys\nsys.argv = ['lowdim', 'map', 'iris']\nfrom lowdim.cli import main\nassert main() == 0\n"
        "assert not {'bokeh', 'matplotlib'} & set(sys.modules)"
    )
    two_cores = os.environ | {"LOWDIM_NUM_THREADS": "2"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, env=two_cores)
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["map.html", "map.png"]


# Modules that cost a tenth of a second or more together, and that no command for a table of numbers uses.
UNUSED = {
    "asyncio",
    "sklearn.feature_selection",
    "sklearn.metrics",
    "sklearn.neighbors",
    "lowdim.select._selector",
    "lowdim.subspace._base",
    "lowdim.neighbor_embedding.umap.estimator",
}


def test_a_table_of_numbers_is_fitted_and_mapped_by_few_modules(tmp_path):
    """A model file names one estimator, and no other is imported."""
    (tmp_path / "rows.csv").write_text("a,b\n1,2\n3,1.5\n4,7\n8,9.5\n", encoding="utf-8")
    code = (
        "import sys, types\nfrom lowdim.cli import main\nassert main() == 0\n"
        "used = [name for name, module in sys.modules.items() if type(module) is types.ModuleType]\n"
        "print(*used, file=sys.stderr)"
    )
    one_core = os.environ | {"LOWDIM_NUM_THREADS": "1"}
    for line in ("fit rows.csv -o rows.lowdim", "transform rows.lowdim rows.csv -o z.csv", "choose rows.csv"):
        words = [sys.executable, "-c", code, *line.split()]
        done = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path, env=one_core)
        assert done.returncode == 0, done.stderr
        assert not set(done.stderr.split()) & UNUSED, line
    assert (tmp_path / "z.csv").read_text(encoding="utf-8").count("\n") == 5


def test_a_file_wins_over_a_data_set_of_its_name(tmp_path):
    (tmp_path / "iris").mkdir()  # a folder doesn't
    (tmp_path / "wine").write_text("a\n1\n", encoding="utf-8")
    results = run_lines(tmp_path, ["map iris -o z.csv --json", "map wine -o z.csv"])
    assert results["map iris -o z.csv --json"].data["rows"] == 150
    wine = results["map wine -o z.csv"]
    assert wine.code == 3 and "wine has the unknown extension ''" in wine.err


def test_names_in_data_can_not_steer_the_terminal(tmp_path):
    (tmp_path / "data.csv").write_text('"\x1b[31mred\n",b\n1,y\nx,3\n', encoding="utf-8")
    result = run(tmp_path, "map", "data.csv")
    assert result.code == 3 and "\x1b" not in result.err and result.err.count("\n") == 1


def test_debug_shows_the_traceback(tmp_path):
    result = run(tmp_path, "map", "nothing.csv", "--debug")
    assert (
        result.code == 3
        and "Traceback" in result.err
        and result.err.splitlines()[-1].startswith("error: there is no file")
    )


@pytest.mark.skipif(os.name == "nt", reason="pipes and signals of POSIX")
def test_a_reader_that_leaves(tmp_path):
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-m", "lowdim", "datasets"], stdout=writing, stderr=subprocess.PIPE, text=True, cwd=tmp_path
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(os.name == "nt", reason="pipes and signals of POSIX")
def test_ctrl_c(tmp_path):
    code = (
        "import sys, lowdim.choose, lowdim.data.io.read\nfrom lowdim.cli import main\n"
        "print('ready', file=sys.stderr, flush=True)\nsys.exit(main(sys.argv[1:]))"
    )
    words = ["choose", "digits", "--replicates", "1000000", "-o", "scree.png"]
    with subprocess.Popen(
        [sys.executable, "-c", code, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path
    ) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == "ready\n"
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (130, "")
    assert re.fullmatch(r"error: interrupted[^\n]+\n", err)
    assert not list(tmp_path.iterdir())


def test_without_typer_it_says_what_to_install(tmp_path):
    code = "import sys; sys.modules['typer'] = None; from lowdim.cli import main; sys.exit(main(['--help']))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 5
    assert re.fullmatch(r"error: [^\n]*pip install 'lowdim\[app\]'[^\n]*\n", done.stderr)


NEW_METHOD = """
import sys
import numpy as np
import lowdim
from lowdim.cli import main
from lowdim.base.estimator import Estimator, estimator
from lowdim.runtime.param import Choice, Flag, Integer, Maybe, Real, param

@estimator(title="the first columns, shrunk", summary="rows", supervised=True)
class FirstColumns(Estimator):
    \"\"\"First columns.

    {parameters}

    Attributes
    ----------
    classes_ : array
        The distinct labels.
    \"\"\"

    n_components: int = param(2, Integer(1), "How many.")
    factor: float | None = param(None, Maybe(Real(0, open=True)), "Shrink by it.")
    mirror: bool = param(True, Flag(), "Turn the signs.")
    metric: str = param("euclidean", Choice("euclidean", "precomputed"), "What X is.")

    def fit(self, X, y=None):
        self.n_features_in_, self.classes_ = np.asarray(X).shape[1], np.unique(y)
        self._n_features_out = self.n_components
        return self

    def transform(self, X):
        Z = np.asarray(X)[:, : self.n_components] * (self.factor or 1.0)
        return -Z if self.mirror else Z

    def _check_state(self, check):
        check.number("n_features_in_", Integer(1))

lowdim.FirstColumns = FirstColumns
lowdim._EXPORTS["FirstColumns"] = "lowdim.linear.first_columns"
codes = [main(line.split()) for line in sys.argv[1:]]
print(*codes)
"""


def test_a_new_method_appears_by_being_exported(tmp_path):
    """Flags, distances and labels follow from what it declares; the command line has no line about it."""
    lines = (
        "map iris --method firstcolumns --factor 0.5 --no-mirror --n-components 3 --no-standardize -o z.npy --json",
        "map iris --method first-columns --factor none -o turned.npy --quiet",
        "map cities --method firstcolumns --label Boston -o d.npy --json",
        "map arrests --method firstcolumns -o a.npy",  # it has no labels
        "map iris --method firstcolumns --factor 0 -o b.npy",
        "fit iris --method firstcolumns -o b.lowdim",
        "map cities -o c.npy",
        "methods firstcolumns",
    )
    done = subprocess.run(
        [sys.executable, "-c", NEW_METHOD, *lines], capture_output=True, text=True, cwd=tmp_path, check=True
    )
    *out, codes = done.stdout.splitlines()
    assert codes == "0 0 0 3 2 0 0 0", done.stderr
    iris = lowdim.datasets.load("iris").X
    np.testing.assert_array_equal(np.load(tmp_path / "z.npy"), 0.5 * iris[:, :3])
    scores = (iris - iris.mean(axis=0)) / iris.std(axis=0, ddof=1)
    np.testing.assert_allclose(np.load(tmp_path / "turned.npy"), -scores[:, :2], atol=1e-12)
    assert json.loads(out[1])["parameters"]["metric"] == "precomputed"
    errors = done.stderr.splitlines()
    assert "needs a target, and arrests has no labels. Name a column by --target" in errors[0]
    assert "--factor must be None or a number above 0; got '0'" in errors[1]
    assert "--mirror / --no-mirror" in done.stdout and "[default: --mirror]" in done.stdout


@pytest.mark.skipif(os.name == "nt", reason="terminals of POSIX")
def test_progress_is_for_terminals_and_goes_to_stderr(tmp_path):
    import pty

    ours, theirs = pty.openpty()
    words = ["choose", "digits", "--replicates", "300", "--json"]
    with subprocess.Popen(
        [sys.executable, "-m", "lowdim", *words], stdout=subprocess.PIPE, stderr=theirs, cwd=tmp_path
    ) as process:
        os.close(theirs)
        shown = b""
        try:
            while piece := os.read(ours, 4096):
                shown += piece
        except OSError:  # how Linux says that the other end is closed
            pass
        out, _ = process.communicate(timeout=60)
    os.close(ours)
    assert process.returncode == 0
    assert b"parallel analysis" in shown and b"%" in shown
    assert json.loads(out)["parallel"]["replicates"] == 300


def test_inverse_names_the_methods_that_have_one(tmp_path):
    lines = [
        "fit iris --method isomap -o isomap.lowdim --quiet",
        "transform isomap.lowdim iris -o z.csv",
        "inverse isomap.lowdim z.csv -o x.csv",
    ]
    fitted, transformed, refused = run_lines(tmp_path, lines).values()
    assert (fitted.code, fitted.out) == (0, "")
    assert transformed.out == f"iris   150 rows → 2 coordinates\nwrote  {tmp_path / 'z.csv'}\n"
    able = [method.name for method in lowdim.methods() if method.inverse]
    assert refused.code == 2
    assert refused.err == f"error: Isomap can't be inverted; {', '.join(able[:-1])} and {able[-1]} can.\n"
