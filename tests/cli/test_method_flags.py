"""`lowdim map` with every method: standardized columns, the fitted embedding, and saved models that keep the scale."""

from __future__ import annotations

import numpy as np
import pytest

import lowdim
from cli_runner import run_lines
from targets import target_for

pytest.importorskip("typer")
pytest.importorskip("pyarrow")

NAMES = [method.name for method in lowdim.methods() if not method.own_scale]  # the others: test_categories.py
WISHES = ("", "--no-standardize")
QUICK = {"ICA": "--n-components 2", "TSNE": "--max-iter 60", "UMAP": "--n-epochs 20"}  # ICA takes all by default


def lines_for(name):
    quick = QUICK.get(name, "")
    low = name.lower()
    lines = {
        "map": f"map table.csv --method {low} {quick} --label kind -o {low}.npy --json",
        "plain": f"map table.csv --method {low} {quick} --label kind --no-standardize -o {low}_plain.npy --json",
        "refitted": f"fit table.csv --method {low} {quick} --label kind -o {low}_refitted.lowdim --json",
        "other": f"transform {low}_refitted.lowdim table.csv --label kind -o {low}_other.npy --json",
    }
    for wish in WISHES:
        model = f"{low}{wish}.lowdim"
        lines[f"kept{wish}"] = (
            f"map table.csv --method {low} {quick} --label kind {wish} -o {model}_kept.npy --save-model {model} --json"
        )
        lines[f"again{wish}"] = f"transform {model} table.csv --label kind -o {model}_again.npy --json"
    return lines


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("methods")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 4)) * [1, 1000, 0.01, 10] + [5, 0, 3, -7]
    X = np.vstack([X, X[:3]])  # some rows twice
    np.save(folder / "X.npy", X)
    rows = [",".join([*(repr(float(value)) for value in row), str(i % 3)]) for i, row in enumerate(X)]
    (folder / "table.csv").write_text("a,b,c,d,kind\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def results(folder):
    return run_lines(folder, [line for name in NAMES for line in lines_for(name).values()])


def fitted(name, X):
    options = {"TSNE": {"max_iter": 60}, "UMAP": {"n_epochs": 20}}.get(name, {})
    model = getattr(lowdim, name)(2, **options).fit(X, target_for(name, X, 3))
    found = getattr(model, "embedding_", None)
    return model.transform(X) if found is None else found


@pytest.mark.filterwarnings("ignore::lowdim.errors.LowdimWarning")
@pytest.mark.parametrize("name", NAMES)
def test_every_method_maps_standardized_columns(name, results, folder):
    reported = results[lines_for(name)["map"]]
    assert reported.code == 0, reported.err
    assert reported.data["standardized"] is True and reported.data["method"] == name
    X = np.load(folder / "X.npy")
    scores = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    Z, want = np.load(folder / f"{name.lower()}.npy"), fitted(name, scores)
    if name in ("TSNE", "UMAP"):  # a rounding error of the scores grows along the way
        assert Z.shape == want.shape and np.isfinite(Z).all()
    else:
        np.testing.assert_allclose(np.abs(Z), np.abs(want), atol=1e-3 * np.abs(want).max())


@pytest.mark.filterwarnings("ignore::lowdim.errors.LowdimWarning")
@pytest.mark.parametrize("name", NAMES)
def test_the_map_is_what_fitting_found(name, results, folder):
    """Not what transform makes of the fitted rows, which takes as long again and may move duplicates."""
    reported = results[lines_for(name)["plain"]]
    assert reported.code == 0, reported.err
    np.testing.assert_array_equal(
        np.load(folder / f"{name.lower()}_plain.npy"), fitted(name, np.load(folder / "X.npy"))
    )


@pytest.mark.parametrize("wish", WISHES)
@pytest.mark.parametrize("name", NAMES)
def test_a_saved_model_transforms_rows_in_their_original_units(name, wish, results, folder):
    lines, model = lines_for(name), f"{name.lower()}{wish}.lowdim"
    for step in (f"kept{wish}", f"again{wish}", "refitted", "other"):
        assert results[lines[step]].code == 0, results[lines[step]].err
    Z, again = np.load(folder / f"{model}_kept.npy"), np.load(folder / f"{model}_again.npy")
    assert np.median(np.linalg.norm(Z - again, axis=1)) < 0.1 * np.ptp(Z)
    if not wish:
        np.testing.assert_array_equal(np.load(folder / f"{name.lower()}_other.npy"), again)


def test_distances_and_directions_are_left_as_they_are(tmp_path):
    lines = [
        "map cities --method classicalmds -o c.npy --json",
        "map cities --method classicalmds --standardize -o d.npy",
        "map wine --method isomap --metric cosine -o w.npy --json",
        "map digits --method lle -o l.npy --json",
    ]
    cities, refused, wine, digits = run_lines(tmp_path, lines).values()
    assert cities.data["standardized"] is None
    assert refused.code == 2 and "can't be standardized" in refused.err
    assert wine.data["standardized"] is False
    assert digits.data["standardized"] is False
