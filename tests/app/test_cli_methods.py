"""`lowdim map` with every method: it runs, it standardises, and it shows what fitting found."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

import lowdim
from lowdim.param import parameters

pytest.importorskip("typer")
pytest.importorskip("pyarrow")

NAMES = [method.name for method in lowdim.methods()]
QUICK = {"TSNE": "--max-iter 60", "UMAP": "--n-epochs 20"}

DRIVER = """
import contextlib, io, json, sys
from lowdim.cli import main
said = []
for line in json.load(sys.stdin):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(line.split())
    said.append([code, out.getvalue(), err.getvalue()])
json.dump(said, sys.stdout)
"""


def lines_for(name):
    quick = QUICK.get(name, "")
    low = name.lower()
    return {
        "map": f"map table.csv --method {low} {quick} --label kind -o {low}.npy --json",
        "plain": f"map table.csv --method {low} {quick} --label kind --no-standardize -o {low}_plain.npy --json",
        "kept": f"map table.csv --method {low} {quick} --label kind --no-standardize "
        f"-o {low}_kept.npy --save-model {low}.lowdim --json",
        "again": f"transform {low}.lowdim table.csv --label kind -o {low}_again.npy --json",
        "unkept": f"fit table.csv --method {low} {quick} --label kind -o {low}_scaled.lowdim --json",
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("methods")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 4)) * [1, 1000, 0.01, 10] + [5, 0, 3, -7]
    X = np.vstack([X, X[:3]])  # some rows twice
    np.save(folder / "X.npy", X)
    rows = [",".join([*(repr(float(value)) for value in row), "ab"[i % 2]]) for i, row in enumerate(X)]
    (folder / "table.csv").write_text("a,b,c,d,kind\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def said(folder):
    """Everything in one process, because importing takes a second."""
    lines = [line for name in NAMES for line in lines_for(name).values()]
    done = subprocess.run(
        [sys.executable, "-c", DRIVER], input=json.dumps(lines), capture_output=True, text=True, cwd=folder
    )
    assert done.returncode == 0, done.stderr
    return dict(zip(lines, json.loads(done.stdout), strict=True))


def fitted(name, X):
    options = {"TSNE": {"max_iter": 60}, "UMAP": {"n_epochs": 20}}.get(name, {})
    model = getattr(lowdim, name)(2, **options).fit(X)
    found = getattr(model, "embedding_", None)
    return model.transform(X) if found is None else found


@pytest.mark.parametrize("name", NAMES)
def test_every_method_maps_standardised_columns(name, said, folder):
    code, out, err = said[lines_for(name)["map"]]
    assert code == 0, err
    told = json.loads(out)
    assert told["standardized"] is True and told["method"] == name
    X = np.load(folder / "X.npy")
    scores = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    Z, want = np.load(folder / f"{name.lower()}.npy"), fitted(name, scores)
    if name in ("TSNE", "UMAP"):  # a rounding error of the scores grows along the way
        assert Z.shape == want.shape and np.isfinite(Z).all()
    else:
        np.testing.assert_allclose(np.abs(Z), np.abs(want), atol=1e-3 * np.abs(want).max())


@pytest.mark.parametrize("name", NAMES)
def test_the_map_is_what_fitting_found(name, said, folder):
    """Not what transform makes of the fitted rows, which takes as long again and may move duplicates."""
    code, _, err = said[lines_for(name)["plain"]]
    assert code == 0, err
    np.testing.assert_array_equal(
        np.load(folder / f"{name.lower()}_plain.npy"), fitted(name, np.load(folder / "X.npy"))
    )


@pytest.mark.parametrize("name", NAMES)
def test_a_kept_model_is_in_the_units_of_the_file(name, said, folder):
    lines = lines_for(name)
    for line in ("kept", "again"):
        code, _, err = said[lines[line]]
        assert code == 0, err
    Z, again = np.load(folder / f"{name.lower()}_kept.npy"), np.load(folder / f"{name.lower()}_again.npy")
    assert np.median(np.linalg.norm(Z - again, axis=1)) < 0.1 * np.ptp(Z)
    code, _, err = said[lines["unkept"]]
    if "standardize" in parameters(getattr(lowdim, name)):
        assert code == 0, err
    else:
        assert code == 2 and "can't hold the scale of the columns" in err and "--no-standardize" in err
        assert not (folder / f"{name.lower()}_scaled.lowdim").exists()


def test_distances_and_directions_are_left_as_they_are(tmp_path):
    lines = [
        "map cities --method classicalmds -o c.npy --json",
        "map cities --method classicalmds --standardize -o d.npy",
        "map wine --method isomap --metric cosine -o w.npy --json",
        "map digits --method lle -o l.npy --json",
    ]
    done = subprocess.run(
        [sys.executable, "-c", DRIVER], input=json.dumps(lines), capture_output=True, text=True, cwd=tmp_path
    )
    cities, refused, wine, digits = json.loads(done.stdout)
    assert json.loads(cities[1])["standardized"] is None
    assert refused[0] == 2 and "no columns to standardise" in refused[2]
    assert json.loads(wine[1])["standardized"] is False
    assert json.loads(digits[1])["standardized"] is False
