"""Figures as pages: the drawing of the figure, tooltips where their points are drawn, and how a browser shows them."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pytest

import lowdim
from browser_pages import HOSTILE, Tab, visit
from lowdim import plot

NAMES = ["length", "width", "height", "weight"]


@pytest.fixture
def table():
    import pandas as pd

    return pd.DataFrame(np.random.default_rng(0).normal(size=(30, 4)) * [4, 3, 2, 1], columns=NAMES)


def page_of(ax: Any, folder) -> str:
    return plot.save(ax, folder / "figure.html").read_text(encoding="utf-8")


def noted(html: str) -> list[dict[str, Any]]:
    """The tooltips of the page, by group: places and texts."""
    data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', html, re.DOTALL)[1])
    assert all(len(group["places"]) == len(group["texts"]) for group in data["tooltips"])
    return data["tooltips"]


def test_tooltips_lie_where_the_points_are_drawn(table, tmp_path, clean_matplotlib):
    model = lowdim.PCA(2).fit(table)
    html = page_of(plot.biplot(model, table, list("ab") * 15, ids=[f"r{i}" for i in range(30)]), tmp_path)
    rows, arrows = noted(html)
    markers = re.findall(r'<use xlink:href="#\w+" x="([\d.]+)" y="([\d.]+)" style="fill: #\w+; fill-opacity', html)
    drawn = np.array(markers, dtype=float)
    apart = np.linalg.norm(np.array(rows["places"])[:, None] - drawn[None], axis=2).min(axis=1)
    assert len(apart) == 30 and apart.max() < 0.05
    scores = plot.biplot_coordinates(model, table)[0]
    head, label, first, second, *values = rows["texts"][3].split("\n")
    assert (head, label) == ("r3", "b")
    assert first.startswith("PC1 (") and first.endswith(f": {scores[3, 0]:.4g}".replace("-", "−"))
    assert second.startswith("PC2 (")
    assert values == [f"{name}: {table[name][3]:.4g}".replace("-", "−") for name in NAMES]
    assert sorted(text.partition("\n")[0] for text in arrows["texts"]) == sorted(NAMES)


def test_every_kind_of_figure_says_its_values(table, tmp_path, clean_matplotlib):
    model = lowdim.PCA(3).fit(table)

    def texts(ax: Any) -> list[list[str]]:
        return [group["texts"] for group in noted(page_of(ax, tmp_path))]

    (cells,) = texts(plot.loadings(model))
    assert len(cells) == 12 and cells[1].startswith("length\nPC2 (")
    assert cells[1].endswith(f"coefficient: {model.components_[1, 0]:.4g}".replace("-", "−"))
    (rotated,) = texts(plot.loadings(model, rotation="varimax"))
    assert rotated[0].split("\n")[1].startswith("RC1 (")
    (circle,) = texts(plot.correlation_circle(model))
    assert len(circle) == 4 and "correlation with PC1 (" in circle[0]
    values, shares, rules = texts(plot.scree(lowdim.choose.table(table)))
    assert values == shares and values[0].startswith("component 1\neigenvalue: ")
    assert values[-1].endswith("cumulative share: 100.0%")
    assert any(re.fullmatch(r".+\n\d components?", rule) for rule in rules)
    sir = lowdim.SIR().fit(table, table.length + table.width**2)
    summary = texts(plot.sufficient_summary(sir, table, table.length, response="size"))
    assert len(summary) == 2 and summary[0][0].startswith("row 0\nscore on direction 1: ")
    assert summary[0][0].split("\n")[2].startswith("size: ")
    classes = texts(plot.sufficient_summary(sir, table, list("ab") * 15, response="kind"))
    assert len(classes) == 2 and classes[1][1].split("\n")[2] == "kind: b"
    ica = lowdim.ICA(2).fit(table)
    assert [group[4].partition(": ")[0] for group in texts(plot.sources(ica, table))] == [
        "row 4\nsource 1",
        "row 4\nsource 2",
    ]
    pursuit = lowdim.ProjectionPursuit(2, n_init=2, n_null=0).fit(table)
    (path,) = texts(plot.index_path(pursuit))
    assert len(path) == len(pursuit.index_path_[0])
    ca = lowdim.CA(2).fit(np.abs(table))
    columns, rows = texts(plot.correspondence_biplot(ca, np.abs(table)))
    assert len(columns) == 4 and columns[0].startswith("length\n") and len(rows) == 30
    famd = lowdim.FAMD(2).fit(table.assign(color=list("rgb") * 10))
    categories, points = texts(plot.category_map(famd, table.assign(color=list("rgb") * 10)))
    assert (len(categories), len(points)) in ((3, 30), (30, 3))


def test_figures_without_notes_are_pages_too(tmp_path, clean_matplotlib):
    html = page_of(plot.scatter(np.random.default_rng(0).normal(size=(9, 2))), tmp_path)
    assert noted(html) == [] and "<svg" in html and "Content-Security-Policy" in html


def test_the_same_figure_gives_the_same_page(table, tmp_path, clean_matplotlib):
    model = lowdim.PCA(2).fit(table)
    assert page_of(plot.biplot(model, table), tmp_path) == page_of(plot.biplot(model, table), tmp_path)


def test_a_browser_shows_tooltips_and_zooms(browser, table, tmp_path, clean_matplotlib):
    """Hostile names stay text, in tooltips, too."""
    model = lowdim.PCA(2).fit(table)
    ids = [HOSTILE, *(f"r{i}" for i in range(1, 30))]
    page_of(plot.biplot(model, table, [HOSTILE] * 30, ids=ids, title=HOSTILE), tmp_path)
    script = """(() => {
      const {tooltips} = JSON.parse(document.getElementById("data").textContent);
      const svg = document.querySelector("svg"), tooltip = document.getElementById("tooltip");
      const [x, y] = tooltips[0].places[0], at = new DOMPoint(x, y).matrixTransform(svg.getScreenCTM());
      const point = {clientX: at.x, clientY: at.y, pointerId: 1, bubbles: true};
      const before = svg.getAttribute("viewBox").split(" ").map(Number);
      svg.dispatchEvent(new PointerEvent("pointermove", point));
      const seen = [tooltip.hidden, tooltip.innerText];
      const key = (name) => document.getElementById("figure").dispatchEvent(new KeyboardEvent("keydown", {key: name}));
      const view = () => svg.getAttribute("viewBox").split(" ").map(Number);
      key("+");
      const closer = view();
      svg.dispatchEvent(new WheelEvent("wheel", {...point, deltaY: -100, cancelable: true}));
      const wheeled = view();
      key("0");
      return {seen, before, closer, wheeled, after: view(), title: document.title,
              handlers: document.querySelectorAll("[onerror]").length, images: document.images.length};
    })()"""

    async def look(tab: Tab) -> Any:
        return await tab.value(script)

    found = visit(browser, tmp_path / "figure.html", look, "document.readyState === 'complete'")
    assert found["seen"][0] is False and "</script><img" in found["seen"][1] and "PC1 (" in found["seen"][1]
    assert found["closer"][2] == pytest.approx(found["before"][2] / 1.3)
    assert found["wheeled"][2] < found["closer"][2] and found["after"] == found["before"]
    assert found["handlers"] == found["images"] == 0 and found["title"].startswith("</script>")
