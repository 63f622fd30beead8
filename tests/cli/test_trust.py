"""How far maps can be trusted, on the command line: verdicts of `map`, colors of trust, `quality` and `compare`."""

from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

import lowdim
from cli_runner import run_here
from lowdim.quality._words import far_sentence, interval_text, sentence
from lowdim.workflow import map_quality

pytest.importorskip("typer")
pytest.importorskip("bokeh")

QUICK = {"TSNE": "--max-iter 20", "UMAP": "--n-epochs 5"}


@pytest.fixture
def folder(tmp_path):
    """Iris with a class, a number to explain and a category, its rows in random order, and coordinates of it."""
    iris = load_iris(as_frame=True)
    table = iris.data.set_axis(["sl", "sw", "pl", "pw"], axis=1)
    table = table.assign(species=np.array(["s", "ve", "vi"])[iris.target], place=["here", "there", "far"] * 50)
    table = table.sample(frac=1, random_state=0).reset_index(drop=True)
    table["name"] = [f"flower {i}" for i in range(150)]
    table.to_csv(tmp_path / "iris.csv", index=False)
    table.drop(columns="name")[:60].to_csv(tmp_path / "short.csv", index=False)
    return tmp_path


def flags(method) -> str:
    """What a method needs on this table: a target, columns of text, or numbers alone."""
    columns = {
        "MCA": "--columns place,species",
        "FAMD": "--columns sl,sw,pl,pw,place,species",
        "CA": "--columns sl,sw,pl,pw",
        "LDA": "--drop place --target species",
    }
    others = "--drop place --target pw" if method.supervised else "--drop place --label species"
    return f"--method {method.name} {columns.get(method.name, others)} {QUICK.get(method.name, '')}"


def test_every_method_prints_two_lines_of_verdict(folder):
    lines = {method.name: f"map short.csv {flags(method)} -o z.csv" for method in lowdim.methods()}
    done = run_here(folder, lines.values())
    for name, line in lines.items():
        result = done[line]
        assert result.code == 0, (line, result.err)
        assert re.search(r"^quality +Near neighbors: (most|some|few) are kept; on average", result.out, re.M), name
        assert re.search(r"^ +Far distances can('t)? be read( roughly)?: ρ = ", result.out, re.M), name
        assert "cluster" not in result.out.lower() and "real" not in result.out.lower()


def test_the_verdict_is_the_librarys(folder):
    line = "map iris.csv --label species --id name --drop place -o z.csv -o page.html --json"
    told = run_here(folder, [line])[line].data["quality"]
    X = pd.read_csv(folder / "iris.csv")[["sl", "sw", "pl", "pw"]].to_numpy()
    Z = pd.read_csv(folder / "z.csv").select_dtypes("number").to_numpy()
    found = lowdim.quality.measure((X - X.mean(axis=0)) / X.std(axis=0, ddof=1), Z)
    assert told["neighbor_recall"]["value"] == pytest.approx(found["neighbor_recall"].value, abs=1e-9)
    assert told["shepard_correlation"]["value"] == pytest.approx(found["shepard_correlation"].value, abs=1e-6)
    assert "neighbor" in (folder / "page.html").read_text(encoding="utf-8")


def test_colors_of_trust(folder):
    asked = ["trust", "continuity", "neighbor-recall"]
    lines = [f"map iris.csv --drop place --color {color} -o {color}.html -o {color}.svg" for color in asked]
    lines.append("map iris.csv --drop place --color nothing -o x.html")
    done = run_here(folder, lines)
    assert [done[line].code for line in lines] == [0, 0, 0, 3], done
    titles = ["trustworthiness, k = 15", "continuity, k = 15", "neighbor recall, k = 15"]
    for color, title in zip(asked, titles, strict=True):
        assert title in (folder / f"{color}.svg").read_text(encoding="utf-8")


def test_colors_of_many_rows_are_those_of_the_nearest_measured_row(monkeypatch):
    monkeypatch.setattr(map_quality, "EXACT_COLORS", 100)
    monkeypatch.setattr(map_quality, "SAMPLED_COLORS", 50)
    X = load_iris().data
    Z = X[:, [0, 2]] + np.random.default_rng(0).normal(scale=1e-3, size=(150, 2))  # no two rows in one place
    values, title = map_quality.point_colors("trust", map_quality.SeenSpace(X), Z)
    assert title == "trustworthiness, k = 15 (50 rows sampled)"
    rows = lowdim.quality.measure(X, Z, baselines=(), sample=50).rows
    exact = lowdim.quality.measure(X, Z, baselines=()).point_values["trustworthiness"]
    nearest = rows[np.linalg.norm(Z[:, None] - Z[rows], axis=2).argmin(axis=1)]
    np.testing.assert_allclose(values, exact[nearest], atol=1e-12)


def test_no_figure_is_minus_zero_and_no_interval_has_two_dashes():
    from dataclasses import replace

    X = load_iris().data
    quality = lowdim.quality.measure(X, X[:, :2])
    tiny = replace(quality["r_nx"], value=-1e-5, low=-1e-5, high=1e-5, baselines={"random": -1e-5})
    for text in (str(tiny), tiny.text, sentence(tiny, 15), far_sentence(tiny)):
        assert "0.00" in text and "-0.0" not in text, text
    assert interval_text(replace(tiny, low=-0.11, high=-0.07)) == ", 95% -0.11 to -0.07"
    assert interval_text(replace(tiny, low=0.27, high=0.35)) == ", 95% 0.27–0.35"


def test_quality_of_coordinates_from_files(folder):
    frame = pd.read_csv(folder / "iris.csv")
    X = frame[["sl", "sw", "pl", "pw"]].to_numpy()
    frame.assign(x=X[:, 0], y=X[:, 2])[["name", "species", "x", "y"]].to_csv(folder / "axes.csv", index=False)
    np.save(folder / "two.npy", X[:, :2])
    frame[::-1][["name", "sl", "pl"]].to_csv(folder / "turned.csv", index=False)
    frame[:9][["sl", "pl"]].to_csv(folder / "few.csv", index=False)
    frame[["species"]].to_csv(folder / "text.csv", index=False)
    data = "quality iris.csv"
    rest = "--label species --id name --drop place --no-standardize --k 9"
    lines = [
        f"{data} axes.csv {rest} -o report.html -o points.csv --json",
        f"{data} axes.csv two.npy {rest} --json",
        f"{data} iris.csv --axes sl,pl {rest} --json",
        f"{data} turned.csv {rest}",
        f"{data} few.csv {rest}",
        f"{data} text.csv {rest}",
        f"{data} axes.csv {rest} -o iris.csv",
        f"{data} axes.csv {rest}",
    ]
    done = run_here(folder, lines)
    assert [done[line].code for line in lines] == [0, 0, 0, 3, 3, 3, 2, 0], {k: v.err for k, v in done.items()}
    found = lowdim.quality.measure(X, X[:, [0, 2]], labels=frame["species"], k=9)
    for told in (done[lines[0]].data["quality"]["maps"]["axes"], done[lines[2]].data["quality"]["maps"]["iris"]):
        for measure in told["measures"]:
            assert measure["value"] == pytest.approx(found[measure["name"]].value, abs=1e-6), measure["name"]
    assert set(done[lines[1]].data["quality"]["maps"]) == {"axes", "two"}
    points = pd.read_csv(folder / "points.csv")
    np.testing.assert_allclose(points["neighbor_recall"], found.point_values["neighbor_recall"], atol=1e-6)
    assert points.shape[0] == 150 and "steadiness" in points
    assert "row 0 is flower 149" in done[lines[3]].err and "9 rows, but" in done[lines[4]].err
    assert "Near neighbors" in done[lines[7]].out and "steadiness" in done[lines[7]].out
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "lowdim quality iris.csv axes.csv" in page and 'data-measure="cohesiveness"' in page


def test_compare_stands_beside_shuffled_columns(folder):
    base = "compare iris.csv --methods pca,isomap --label species --id name --drop place --k 9 --json"
    lines = [f"{base} -o a.html", f"{base} --no-null -o b.html"]
    done = run_here(folder, lines)
    with_null, without = (done[line].data["quality"]["maps"]["PCA"]["measures"] for line in lines)
    assert [m["value"] for m in with_null] == [m["value"] for m in without]
    assert all("null" in m["baselines"] for m in with_null) and not any("null" in m["baselines"] for m in without)
    recall = next(m for m in with_null if m["name"] == "neighbor_recall")
    assert recall["baselines"]["random"] < recall["baselines"]["null"] < recall["value"]
    page = (folder / "a.html").read_text(encoding="utf-8")
    assert page.count('class="null"') == 2 * len(with_null) and "shuffled columns" in page
    assert 'class="null"' not in (folder / "b.html").read_text(encoding="utf-8")
    json.dumps(with_null, allow_nan=False)


def test_the_quality_of_a_map_on_a_sphere_is_measured_on_the_sphere(tmp_path):
    """Longitudes jump and latitudes crowd: as plane coordinates they would look far worse than the map is."""
    X = np.random.default_rng(0).standard_normal((300, 3))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    np.save(tmp_path / "globe.npy", X)
    line = "map globe.npy --method umap --no-standardize --output-metric {} -o z.csv --json"
    done = run_here(tmp_path, [line.format(metric) for metric in ("haversine", "hyperboloid")])
    sphere, hyperbolic = (json.loads(result.out)["quality"] for result in done.values())
    assert sphere["shepard_correlation"]["value"] > 0.9
    assert "needs output_metric" in hyperbolic["not_measured"]
