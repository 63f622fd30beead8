"""The page of a comparison: its numbers, and how a browser shows and links its maps."""

from __future__ import annotations

import base64
import json
import re
from typing import Any

import numpy as np
import pytest

from browser_pages import HOSTILE, Tab, visit

READY = "window.lowdimReport !== undefined"


def payload(page) -> dict[str, Any]:
    html = page.read_text(encoding="utf-8")
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', html, re.DOTALL)[1])


def array(text: str, dtype: Any) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), dtype=dtype)


def test_every_number_of_the_page_is_the_librarys(result, page):
    found = payload(page)
    assert (found["n"], found["k"]) == (120, 7)
    ranges = {measure["name"]: (measure["low"], measure["high"]) for measure in found["trust"]}
    for drawn, (name, quality) in zip(found["maps"], result.table.maps.items(), strict=True):
        assert drawn["name"] == name
        np.testing.assert_array_equal(
            array(drawn["points"], "<f4").reshape(120, 2), result.maps[name].astype(np.float32)
        )
        for measure, text in drawn["trust"].items():
            low, high = ranges[measure]
            steps = array(text, "<u2")
            values = np.where(steps == 65535, np.nan, low + (high - low) * steps / 65534)
            np.testing.assert_allclose(values, quality.point_values[measure], atol=(high - low) / 65534)
        for figure in found["quality"][name]["measures"]:
            assert figure["value"] == pytest.approx(quality[figure["name"]].value)
    true = array(found["neighbors"]["indices"], "<u2").reshape(120, 7)
    np.testing.assert_array_equal(true, result.table["PCA"].true_neighbors)
    html = page.read_text(encoding="utf-8")
    for measure in result.table["PCA"]:
        row = re.search(rf'<tr data-measure="{measure.name}">.*?</tr>', html, re.DOTALL)[0]
        shown = [float(text.replace("−", "-")) for text in re.findall(r'class="value">([−\d.]+)<', row)]
        wanted = [quality[measure.name].value for quality in result.table.maps.values()]
        np.testing.assert_allclose(shown, wanted, atol=5.1e-4)
        the_row_shows_intervals_and_baselines(row, measure, result)


def numbers(row: str, pattern: str) -> list[float]:
    return [float(text.replace("−", "-")) for text in re.findall(pattern, row)]


def the_row_shows_intervals_and_baselines(row, measure, result):
    qualities = result.table.maps.values()
    bounds = [(q[measure.name].low, q[measure.name].high) for q in qualities if q[measure.name].low is not None]
    shown = re.findall(r'class="interval">([−\d.]+)–([−\d.]+)<', row)
    assert len(shown) == len(bounds)
    for texts, values in zip(shown, bounds, strict=True):
        np.testing.assert_allclose([float(text.replace("−", "-")) for text in texts], values, atol=5.1e-3)
    nulls = [q[measure.name].baselines["null"] for q in qualities if q.null is not None]
    np.testing.assert_allclose(numbers(row, r'class="null">([−\d.]+)<'), nulls, atol=5.1e-4)
    random = numbers(row, r'class="baseline" data-map="random map">([−\d.]+)<')
    np.testing.assert_allclose(random, [measure.baselines["random"]], atol=5.1e-4)
    if "original" in measure.baselines:
        inside = numbers(row, r"In the data it is ([−\d.]+)\.<")
        np.testing.assert_allclose(inside, [measure.baselines["original"]], atol=5.1e-4)


def test_words_rules_and_curves_are_the_librarys(result, page):
    from html import unescape

    html = unescape(page.read_text(encoding="utf-8"))
    text = " ".join(re.sub(r"<[^>]+>", " ", html).split())
    for quality in result.table.maps.values():
        assert " ".join(quality.verdict()) in text
        if quality.null is not None:
            assert " ".join(quality.null.words()) in text
    rules = re.search(r'<table class="rules">.*?</table>', html, re.DOTALL)[0]
    for verdict in result.choices.verdicts:
        assert f">{verdict.rule}</th><td>{verdict.k}</td>" in rules
    found = payload(page)
    for name, quality in result.table.maps.items():
        np.testing.assert_allclose(found["quality"][name]["r_nx"]["values"], quality.r_nx.values)
    assert {name for name, quality in result.table.maps.items() if quality.null is None} == {"mine"}


def test_no_text_of_the_data_is_markup(page):
    html = page.read_text(encoding="utf-8")
    assert html.count("</script>") == html.count("<script") == 2 and "<img" not in html
    assert html.index("Content-Security-Policy") < html.index("<script")


async def drag(tab: Tab, places: list[tuple[float, float]]) -> None:
    kinds = ["mousePressed", *["mouseMoved"] * (len(places) - 1), "mouseReleased"]
    for kind, (x, y) in zip(kinds, [*places, places[-1]], strict=True):
        await tab.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=1, clickCount=1)


BOX = """(() => { const v = lowdimReport.views[1]; v.over.scrollIntoView({ block: 'center' });
    const b = v.over.getBoundingClientRect(); return [b.x, b.y, b.width, b.height]; })()"""
INK = """lowdimReport.views.map((v) => {
    const d = v.base.getContext('2d').getImageData(0, 0, v.base.width, v.base.height).data;
    let s = 0; for (let i = 3; i < d.length; i += 4) s += d[i] > 0; return s; })"""

LEFT_EDGES = """['.figures thead th', '.figures tr[data-measure] td'].map((cells) =>
    [...document.querySelectorAll(cells)].slice(0, 6).map((c) => Math.round(c.getBoundingClientRect().left)))"""


def test_the_page_in_a_browser(browser, page, result):
    async def look(tab: Tab) -> dict[str, Any]:
        seen: dict[str, Any] = {"ink": await tab.value(INK)}
        x, y, width, height = await tab.value(BOX)
        await drag(
            tab, [(x + 2, y + 2), (x + width / 2, y + 2), (x + width / 2, y + height - 2), (x + 2, y + height - 2)]
        )
        seen["selected"] = await tab.value("lowdimReport.selectedRows()")
        seen["half"] = await tab.value(
            "Array.from({length: 120}, (_, i) => i).filter((i) => lowdimReport.views[1].x(i) < lowdimReport.views[1].width / 2)"  # noqa: E501
        )
        seen["panel"] = await tab.value("document.getElementById('selection').innerText")
        await tab.call("Input.dispatchKeyEvent", type="keyDown", key="Escape")
        seen["cleared"] = await tab.value("lowdimReport.selectedRows().length")
        place = await tab.value("[lowdimReport.views[1].x(5), lowdimReport.views[1].y(5)]")
        await tab.call("Input.dispatchMouseEvent", type="mouseMoved", x=x + place[0], y=y + place[1])
        seen["hovered"] = await tab.value("lowdimReport.state.hovered")
        seen["words"] = await tab.value("lowdimReport.views.map((v) => v.words.textContent)")
        seen["tip"] = await tab.value("document.getElementById('tip').innerText")
        seen["lines"] = await tab.value(INK.replace("base", "over"))
        seen["near"] = await tab.value("lowdimReport.maps.map((m) => lowdimReport.neighborsOf(m, 5))")
        before = await tab.value("lowdimReport.views[0].base.toDataURL()")
        await tab.value(
            "(() => { const c = document.getElementById('color'); c.value = c.options.length - 1;"
            " c.dispatchEvent(new Event('change')); lowdimReport.views[0].draw(); })()"
        )
        seen["recolored"] = before != await tab.value("lowdimReport.views[0].base.toDataURL()")
        seen["printed"] = await tab.value(
            "(() => { const c = lowdimReport.views[0].base, before = c.toDataURL();"
            " window.dispatchEvent(new Event('beforeprint'));"
            " return before === c.toDataURL() && c.width >= 2 * c.clientWidth - 1; })()"
        )
        seen["hostile"] = await tab.value("[document.images.length, document.querySelectorAll('[onerror]').length]")
        await tab.call("Emulation.setDeviceMetricsOverride", width=390, height=844, deviceScaleFactor=1, mobile=True)
        seen["overflow"] = await tab.value(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
        seen["columns"] = await tab.value(LEFT_EDGES)
        return seen

    seen = visit(browser, page, look, READY)
    assert min(seen["ink"]) > 500 and min(seen["lines"]) > 30
    assert seen["selected"] == seen["half"] and 0 < len(seen["half"]) < 120
    assert seen["printed"]  # what is drawn during printing would leave the paper blank
    assert seen["panel"].startswith(f"{len(seen['half'])} rows selected") and seen["cleared"] == 0
    i = seen["hovered"]
    assert i >= 0 and seen["recolored"] and seen["hostile"] == [0, 0] and seen["overflow"] == 0
    head, row = seen["columns"]  # on a phone, "Measure" is not drawn, and the names stand over the values
    assert head[1:4] == row[:3] == sorted(set(row[:3]))
    for words, quality in zip(seen["words"], result.table.maps.values(), strict=True):
        assert " ".join(quality.point_words(i)).startswith(words)
    for near, quality in zip(seen["near"], result.table.maps.values(), strict=True):
        assert near["near"] == quality.true_neighbors[5].tolist()
        assert set(near["wrong"]) == set(quality.map_neighbors[5].tolist()) - set(near["near"])
    assert HOSTILE[:20] in seen["tip"] or "one" in seen["tip"] or "two" in seen["tip"]
