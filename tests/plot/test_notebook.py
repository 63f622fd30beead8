"""A notebook, executed by a real kernel: every picture shows, progress is one line, results are readable."""

from __future__ import annotations

import warnings

import pytest

CELLS = {
    "table": "import lowdim\ntable = lowdim.datasets.load('wine')\ntable",
    "fit": "model = lowdim.PCA(2, standardize=True).fit(table)\nmodel",
    "first picture": "lowdim.plot.scatter(model.transform(table), table.labels);",
    "choose": "choices = lowdim.choose.table(table, standardize=True, replicates=20)\nchoices",
    "second picture": "choices.plot();",
    "recommendation": "choices.recommendation",
    "quality": "lowdim.quality.table(table, {'PCA': model.transform(table)})",
    "diagnose": "lowdim.diagnose(table)",
    "progress": "with lowdim.watch():\n    umap = lowdim.Standardized(lowdim.UMAP(n_epochs=50)).fit(table)",
    "two pictures": "lowdim.plot.scatter(umap.model_.embedding_, table.labels)\nlowdim.plot.biplot(model, table);",
    "own picture": "import matplotlib.pyplot as plt\nplt.plot([1, 2, 3]);",
    "own axes": "fig, ax = plt.subplots()\nlowdim.plot.scatter(model.transform(table), ax=ax);",
    "state": "print(plt.isinteractive(), plt.rcParams['axes.spines.top'], plt.get_fignums())",
}


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    """The outputs of every cell, by its name."""
    with warnings.catch_warnings(), pytest.MonkeyPatch.context() as patch:
        warnings.simplefilter("ignore")
        patch.delenv("MPLBACKEND", raising=False)  # which other tests set, and the kernel would inherit
        import nbformat
        from nbclient import NotebookClient

        book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in CELLS.values()])
        client = NotebookClient(
            book,
            timeout=120,
            kernel_name="python3",
            resources={"metadata": {"path": str(tmp_path_factory.mktemp("notebook"))}},
        )
        done = client.execute()
    return dict(zip(CELLS, (cell["outputs"] for cell in done.cells), strict=True))


def pictures(cell) -> int:
    return sum("image/png" in output.get("data", {}) for output in cell)


def test_every_picture_shows_once(outputs):
    shown = {name: pictures(cell) for name, cell in outputs.items() if pictures(cell)}
    assert shown == {"first picture": 1, "second picture": 1, "two pictures": 2, "own picture": 1, "own axes": 1}


def test_matplotlib_is_left_as_it_was(outputs):
    assert outputs["state"][0]["text"].split() == ["True", "True", "[]"]


def test_results_are_html_with_the_same_text(outputs):
    for name, told in {
        "table": "178 rows × 13 columns",
        "fit": "2 components, 55.4% of the variance",
        "choose": "3 components (66.5% of the variance)",
        "diagnose": "PCA is worthwhile",
        "recommendation": "3 components: ",
        "quality": "PCA: Near neighbors: ",
    }.items():
        (result,) = [output for output in outputs[name] if output["output_type"] == "execute_result"]
        assert told in result["data"]["text/html"] and told in result["data"]["text/plain"]


def test_columns_of_numbers_stand_to_the_right(outputs):
    html = outputs["table"][0]["data"]["text/html"]
    assert "text-align:right" in html[: html.index(">alcohol<")].rpartition("<th")[2]
    assert "text-align:left" in html[: html.index(">class_0<")].rpartition("<td")[2]


def test_progress_is_one_line(outputs):
    """The client keeps the last state of a display that is updated in place; nothing is written to stderr."""
    assert [output["output_type"] for output in outputs["progress"]] == ["display_data"]
    assert "100%" in outputs["progress"][0]["data"]["text/plain"]
