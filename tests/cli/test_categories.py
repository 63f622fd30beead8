"""Methods that weigh their columns themselves on the command line: CA, MCA, FAMD, TruncatedSVD; text as categories."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import lowdim
from cli_runner import run_here, run_lines

pytest.importorskip("typer")
pytest.importorskip("pyarrow")

FAMD_MAP = "map birds.csv --method famd --color species -o famd.npy -o famd.html --save-model famd.lowdim --json"
LINES = {
    "famd": FAMD_MAP,
    "famd again": "transform famd.lowdim birds.csv -o again.npy --json",
    "famd rows": "map birds.csv --method famd --missing drop-rows -o rows.npy --json",
    "famd error": "map birds.csv --method famd --missing error -o error.npy",
    "famd scale": "map birds.csv --method famd --standardize -o scale.npy",
    "famd inverse": "inverse famd.lowdim famd.npy -o back.csv",
    "unknown": "transform famd.lowdim strange.csv -o strange.npy",
    "mca": "fit birds.csv --method mca --n-components kaiser -o mca.lowdim --json",
    "mca again": "transform mca.lowdim birds.csv -o mca.npy --json",
    "ca": "map counts.csv --method ca -o ca.npy --json",
    "svd": "map counts.csv --method truncatedsvd -o svd.npy --json",
    "parallel": "map wine --method pca --n-components parallel -o wine.npy --json",
}


def birds() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    kind = np.arange(60) % 3
    table = pd.DataFrame(
        {
            "species": np.array(["finch", "wren", "tit"])[kind],
            "bill": rng.normal(size=60) + kind,
            "mass": 20 * rng.normal(size=60) + 300 * kind,
            "sex": np.array(["male", "female"])[rng.integers(0, 2, 60)],
            "year": 2007 + rng.integers(0, 3, 60),
        }
    )
    table.loc[[4, 9], "sex"] = None
    return table


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("categories")
    birds().to_csv(folder / "birds.csv", index=False)
    birds().assign(species="eagle").to_csv(folder / "strange.csv", index=False)
    counts = np.random.default_rng(1).poisson(5, size=(20, 4))
    pd.DataFrame(counts, columns=list("abcd")).to_csv(folder / "counts.csv", index=False)
    return folder


@pytest.fixture(scope="module")
def results(folder):
    return dict(zip(LINES, run_lines(folder, list(LINES.values())).values(), strict=True))


def test_text_of_a_file_is_used_as_categories(results, folder):
    found = results["famd"]
    assert found.code == 0, found.err
    assert found.data["standardized"] is None and found.data["missing_categories"] == 2
    assert found.data["column_report"]["categories"] == ["species", "sex"]
    want = lowdim.FAMD(2, handle_missing="category").fit_transform(birds())
    np.testing.assert_allclose(np.abs(np.load(folder / "famd.npy")), np.abs(want), atol=1e-6)
    assert results["famd again"].code == 0, results["famd again"].err
    np.testing.assert_allclose(np.load(folder / "again.npy"), np.load(folder / "famd.npy"), atol=1e-12)


def test_rows_with_missing_text_can_be_dropped_or_refused(results, folder):
    assert results["famd rows"].code == 0 and len(np.load(folder / "rows.npy")) == 58
    assert results["famd error"].code != 0 and "--handle-missing category" in results["famd error"].err
    assert "'eagle'" in results["unknown"].err and results["unknown"].code != 0


def test_what_makes_no_sense_is_refused(results):
    assert results["famd scale"].code == 2 and "weighs its columns itself" in results["famd scale"].err
    assert results["famd inverse"].code == 2 and "columns of text" in results["famd inverse"].err


def test_mca_takes_text_and_codes_and_leaves_out_measurements(results, folder):
    found = results["mca"]
    assert found.code == 0, found.err
    assert found.data["column_report"]["categories"] == ["year", "species", "sex"]
    assert [name for name, _ in found.data["column_report"]["left_out"]] == ["bill", "mass"]
    table = birds()[["year", "species", "sex"]]
    model = lowdim.MCA("kaiser", handle_missing="category").fit(table)
    assert (model.eigenvalues_ > 1 / 3).all() and model.n_components_ == found.data["n_components"]
    assert results["mca again"].code == 0, results["mca again"].err
    np.testing.assert_allclose(np.abs(np.load(folder / "mca.npy")), np.abs(model.transform(table)), atol=1e-9)


def test_counts_are_never_standardized(results, folder):
    counts = pd.read_csv(folder / "counts.csv").to_numpy()
    for name, model in (("ca", lowdim.CA(2)), ("svd", lowdim.TruncatedSVD(2))):
        assert results[name].code == 0, results[name].err
        assert results[name].data["standardized"] is None
        np.testing.assert_allclose(
            np.abs(np.load(folder / f"{name}.npy")), np.abs(model.fit_transform(counts)), atol=1e-9
        )


def test_a_rule_by_its_name(results):
    assert results["parallel"].code == 0, results["parallel"].err
    assert (
        results["parallel"].data["n_components"]
        == lowdim.PCA("parallel", standardize=True).fit(lowdim.datasets.load("wine")).n_components_
    )


def test_methods_of_categories_refuse_sparse_files_by_name(tmp_path):
    import scipy.sparse as sp

    sp.save_npz(tmp_path / "words.npz", sp.random_array((20, 6), density=0.4, rng=0, format="csr"))
    lines = [f"map words.npz --method {method} -o z.csv" for method in ("mca", "famd")]
    for result in run_here(tmp_path, lines).values():
        assert result.code == 3 and "is sparse, but" in result.err and "toarray" in result.err
