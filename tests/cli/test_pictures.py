"""Pictures from the command line: figures of models, and new rows on the map of old ones."""

from __future__ import annotations

import re
from html import unescape

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

import lowdim
from cli_runner import run_lines
from lowdim import PCA, plot

pytest.importorskip("typer")
pytest.importorskip("pyarrow")

LINES = (
    "map old.csv --n-components 4 -o map.html -o map.svg --save-model old.lowdim",
    "map old.csv --plot biplot --color species -o biplot.svg -o biplot.html --json",
    "map old.csv --color species -o page.html",
    "map old.csv --plot varimax",
    "map old.csv --plot scree -o spectrum.png --json",
    "plot old.lowdim --kind correlation-circle -o circle.svg --json",
    "plot old.lowdim old.csv --kind biplot --color species -o biplot2.svg",
    "plot old.lowdim --kind loadings -o loadings.pdf",
    "plot old.lowdim --kind scree -o scree.png",
    "transform old.lowdim new.csv --color species --fitted-data old.csv -o new.html -o new.svg -o z.csv",
    "transform old.lowdim new.csv -o alone.html",
    "transform old.lowdim unlabeled.csv -o unlabeled.html",
    "transform bare.lowdim new.csv -o bare.html",
    "map old.csv --method umap --n-epochs 5 -o u.csv --save-model u.lowdim",
    "transform u.lowdim new.csv --color species -o u.html",
    "map old.csv --method lda --plot biplot -o lda-biplot.svg --save-model lda.lowdim",
    "plot lda.lowdim old.csv --kind correlation-circle -o lda-circle.svg",
    "plot lda.lowdim --kind loadings -o lda-loadings.svg",
    "map old.csv --method truncatedsvd --plot biplot -o svd-biplot.svg",
    "map old.csv --method ica --plot correlation-circle -o ica-circle.svg",
    "map old.csv --method sir --target species --plot sufficient-summary -o sir.svg --save-model sir.lowdim",
    "plot sir.lowdim old.csv --kind sufficient-summary --target place -o sir-place.svg",
    "map old.csv --method ica --plot sources -o sources.svg --save-model ica.lowdim",
    "plot ica.lowdim new.csv --kind sources -o ica-sources.svg",
    "map old.csv --method projection-pursuit --n-null 0 --plot index-path -o path.svg --save-model pp.lowdim",
    "plot pp.lowdim --kind index-path -o pp-path.svg",
    "map old.csv --method famd --plot biplot -o famd-biplot.svg",
    "map old.csv --method famd --plot loadings -o famd-loadings.svg",
    "map counts.csv --method ca --plot biplot -o ca-biplot.svg",
    "map counts.csv --method ca --plot loadings -o ca-loadings.svg",
    "map old.csv --method famd -o famd.html -o famd.svg --save-model famd.lowdim",
    "transform famd.lowdim new.csv -o famd-new.html",
)

# Files that can't show the figure.
REFUSED = ("map old.csv --plot biplot -o only.csv", "map old.csv --plot scree -o only.csv -o only.npy")


def write_tables(folder) -> None:
    iris = load_iris(as_frame=True)
    table = iris.data.assign(species=np.array(["s10", "s9", "s1"])[iris.target], place=["here", "there", "far"] * 50)
    table = table.sample(frac=1, random_state=0)
    table[:100].to_csv(folder / "old.csv", index=False)
    table[100:].to_csv(folder / "new.csv", index=False)
    table[100:].drop(columns="species").to_csv(folder / "unlabeled.csv", index=False)
    counts = pd.DataFrame({"word": ["cat", "dog", "cow"], "city": [9, 2, 3], "farm": [1, 4, 8], "sea": [2, 2, 1]})
    counts.to_csv(folder / "counts.csv", index=False)
    numbers = table[:100].select_dtypes("number")
    lowdim.save(PCA(2, standardize=True).fit(numbers), folder / "bare.lowdim")


def test_pictures_from_the_command_line(tmp_path) -> None:
    """One test, so that the commands run once, also where tests are spread over processes."""
    write_tables(tmp_path)
    done = run_lines(tmp_path, (*LINES, *REFUSED))
    for line in REFUSED:
        refused = done.pop(line)
        assert refused.code == 2 and ".html, .png, .svg, .pdf" in refused.err and not (tmp_path / "only.csv").exists()
    assert [(line, result.err) for line, result in done.items() if result.code] == []
    the_page_of_a_map_names_its_columns(done, tmp_path)
    one_category_has_one_color_in_every_picture(done, tmp_path)
    figures_of_models(done, tmp_path)
    figures_of_other_linear_methods(tmp_path)
    new_rows_are_drawn_on_the_rows_that_the_model_was_fitted_to(done, tmp_path)


def texts_of(path) -> set[str]:
    """The texts that matplotlib writes as comments into an SVG of outlines."""
    return {unescape(text.strip()) for text in re.findall(r"<!-- (.*?) -->", path.read_text(encoding="utf-8"))}


def legend(html: str) -> dict[str, str]:
    found = re.findall(r'<i style="background:(#\w+)"></i><span>(.*?)</span>', html)
    return {name: color for color, name in found}


def the_page_of_a_map_names_its_columns(done, folder) -> None:
    html = (folder / "map.html").read_text(encoding="utf-8")
    shares = re.findall(r"PC(\d) \(([\d.]+)% of the variance\)", html)
    assert {axis for axis, _ in shares} == set("1234") and "<h2>species</h2>" in html
    for name in ("sepal length (cm)", "petal width (cm)", "place"):  # tooltips
        assert f'["{name}","@hover' in unescape(html)


def one_category_has_one_color_in_every_picture(done, folder) -> None:
    old = pd.read_csv(folder / "old.csv").species
    colors = plot.category_colors(old)
    assert list(colors) == ["s1", "s9", "s10"]
    for name in ("map", "page", "new", "u", "famd", "famd-new"):
        assert legend((folder / f"{name}.html").read_text(encoding="utf-8")) == colors, name
    for name in ("map", "biplot", "new", "famd"):
        svg = (folder / f"{name}.svg").read_text(encoding="utf-8").upper()
        assert all(color in svg for color in colors.values()), name


def figures_of_models(done, folder) -> None:
    for name in ("biplot.svg", "biplot2.svg"):
        texts = texts_of(folder / name)
        assert any(text.startswith("symmetric scaling") for text in texts) and {"s1", "s9", "s10", "species"} <= texts
    assert any(re.fullmatch(r"PC2 \([\d.]+%\)", text) for text in texts_of(folder / "circle.svg"))
    assert (folder / "varimax.png").read_bytes().startswith(b"\x89PNG")
    for name, text in (("varimax", "RC1 ("), ("biplot", "species: s10")):
        assert text in (folder / f"{name}.html").read_text(encoding="utf-8")
    assert (folder / "scree.png").exists() and (folder / "loadings.pdf").exists()
    assert len(done["map old.csv --plot scree -o spectrum.png --json"].data["explained_variance_ratio"]) == 4
    circle = done["plot old.lowdim --kind correlation-circle -o circle.svg --json"].data
    assert circle["kind"] == "correlation-circle" and circle["written"] == [str(folder / "circle.svg")]


def figures_of_other_linear_methods(folder) -> None:
    columns = {"sepal length (cm)", "petal width (cm)"}  # names beside arrows are no comments in an SVG
    said = {
        "lda-biplot": ("rows at their scores; arrows are correlations", "LD1 ("),
        "svd-biplot": ("rows at their scores; arrows are correlations",),
        "lda-circle": ("LD1 (", "LD2 ("),
        "ica-circle": ("IC1", "IC2"),
        "sir": ("species", "s9", "score on direction 2"),
        "sir-place": ("place", "there", "score on direction 2"),
        "path": ("best ascent", "holes index"),
        "pp-path": ("best ascent", "holes index"),
        "famd-biplot": ("categories: means of the scores of their rows", "FAMD 1 (", "species"),
        "ca-biplot": ("symmetric biplot", "CA 2 (", "columns"),
    }
    for name, beginnings in said.items():
        texts = texts_of(folder / f"{name}.svg")
        assert all(any(text.startswith(begin) for text in texts) for begin in beginnings), (name, texts)
    for name in ("lda-loadings", "famd-loadings"):
        assert columns <= texts_of(folder / f"{name}.svg"), name
    assert {"city", "farm", "sea"} <= texts_of(folder / "ca-loadings.svg")


def new_rows_are_drawn_on_the_rows_that_the_model_was_fitted_to(done, folder) -> None:
    assert "50 rows on the map of 100 others (pale)" in (folder / "new.html").read_text(encoding="utf-8")
    assert any("50 rows on the map of 100 others" in text for text in texts_of(folder / "new.svg"))
    assert len(pd.read_csv(folder / "z.csv")) == 50
    assert "50 rows on the map of 100 others" in (folder / "u.html").read_text(encoding="utf-8")  # UMAP keeps its map
    kept = done["transform old.lowdim new.csv -o alone.html"]  # the file of a PCA has the old rows' scores
    assert "--fitted-data" not in kept.out
    page = (folder / "alone.html").read_text(encoding="utf-8")
    assert "50 rows on the map of 100 others (pale)" in page
    new, old = legend((folder / "new.html").read_text(encoding="utf-8")), legend(page)
    assert new == old  # the labels of the old rows came with the model
    unlabeled = (folder / "unlabeled.html").read_text(encoding="utf-8")
    assert "50 rows on the map of 100 others (pale)" in unlabeled and legend(unlabeled) == new
    assert "<h2>species</h2>" in unlabeled
    bare = done["transform bare.lowdim new.csv -o bare.html"]  # saved by Python, which keeps what `transform` needs
    assert "--fitted-data DATA draws them" in bare.out
    assert "on the map of" not in (folder / "bare.html").read_text(encoding="utf-8")
