"""The animated page of a tour, and the index path: their content, and how a browser renders the page."""

from __future__ import annotations

import base64
import json
import re
from itertools import islice
from typing import Any

import numpy as np
import pytest

import lowdim
from browser_pages import HOSTILE, Tab, visit
from lowdim import errors, plot

READY = "window.lowdimTour !== undefined"


def payload(html: str) -> dict[str, Any]:
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', html, re.DOTALL)[1])


def array(text: str, dtype: Any) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), dtype=dtype)


def tour_of(X, labels=None, seconds=2, **options):
    return plot.tour(X, lowdim.grand_tour(X.shape[1]), labels, seconds=seconds, **options)


def test_rows_colors_and_frames_are_in_the_page(rng):
    X, labels = rng.normal(size=(60, 4)) + 3, np.arange(60) % 3
    found = payload(tour_of(X, labels, columns=["a", "b", "c", "d"]))
    assert (found["n"], found["d"], found["columns"]) == (60, 4, ["a", "b", "c", "d"])
    codes = array(found["codes"], np.uint8)
    np.testing.assert_array_equal(codes, np.sort(labels))
    assert found["palette"] == list(plot.palette(3)) and [e["name"] for e in found["legend"]] == ["0", "1", "2"]
    frames = array(found["frames"], "<f4").reshape(-1, 4, 2)
    np.testing.assert_allclose(frames, list(islice(lowdim.grand_tour(4), 41)), atol=1e-6)
    rows = array(found["rows"], "<f4").reshape(60, 4)
    order = np.argsort(labels, kind="stable")
    centered = (X - X.mean(axis=0))[order]
    np.testing.assert_allclose(rows * (centered[0, 0] / rows[0, 0]), centered, rtol=1e-4, atol=1e-5)
    radii = np.linalg.norm(rows @ frames, axis=2)
    assert 0.9 < np.quantile(radii, 0.99, axis=1).max() < 1.1


def test_values_have_shades_and_missing_ones_gray(rng):
    X, values = rng.normal(size=(50, 3)), np.linspace(0, 1, 50) + 0.001
    values[7] = np.nan
    found = payload(tour_of(X, values))
    codes = array(found["codes"], np.uint8)
    assert (codes[0], codes[-2], codes[-1]) == (0, 63, 64)
    assert found["palette"][0] == "#440154" and found["palette"][63] == "#fde725" and len(found["palette"]) == 65
    assert found["legend"][0]["name"] == "0.001 – 1.001"
    assert payload(tour_of(X))["legend"] == []


def test_many_values_are_thinned_out(monkeypatch, rng):
    monkeypatch.setattr("lowdim.plot._tour_page.MOST_VALUES", 100)
    html = tour_of(rng.normal(size=(90, 5)), np.arange(90) % 2)
    assert payload(html)["n"] == 18
    assert "18 of 90 rows are shown" in html


def test_hostile_texts_stay_text(rng):
    html = tour_of(rng.normal(size=(9, 3)), [HOSTILE] * 9, columns=[HOSTILE, "{{script}}", "{{title}}"], title=HOSTILE)
    assert html.count("</script>") == html.count("<script") == 2
    assert "<img" not in html
    assert payload(html)["columns"][0].startswith("</script><img")
    plain = tour_of(rng.normal(size=(9, 3)))
    assert not re.search(r"(src|href)\s*=", re.sub(r"<script.*?</script>", "", plain, flags=re.DOTALL))
    assert html.index("Content-Security-Policy") < html.index("<script")
    assert "default-src &#x27;none&#x27;; script-src &#x27;sha256-" in html


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda X: plot.tour(X, []), r"shape \(3, 2\), one at least; got none"),
        (lambda X: plot.tour(X, [np.eye(3, 1)]), r"shape \(3, 2\), one at least; got \(3, 1\)"),
        (lambda X: plot.tour(X, [np.eye(3, 2) * np.nan]), "finite"),
        (lambda X: plot.tour(X, [np.eye(3, 2)], columns=["a"]), "columns must have one entry"),
        (lambda X: plot.tour(X, [np.eye(3, 2)], [1]), "one label per row"),
        (lambda X: plot.tour(X[:, :1], [np.eye(1)]), "at least 1 row and 2 column"),
    ],
)
def test_errors_of_the_tour_page(call, words, rng):
    with pytest.raises(errors.BadInput, match=words):
        call(rng.normal(size=(5, 3)))


# The browser


async def drag(tab: Tab, begin: tuple[float, float], end: tuple[float, float]) -> None:
    for kind, (x, y) in (("mousePressed", begin), ("mouseMoved", end), ("mouseReleased", end)):
        await tab.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=1, clickCount=1)


GEOMETRY = """(() => { const box = document.getElementById("axes").getBoundingClientRect();
    return [box.x + box.width / 2, box.y + box.width / 2, 0.33 * box.width]; })()"""


def test_the_page_plays_pauses_and_is_dragged(browser, tmp_path):
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 600)
    X = rng.normal(size=(600, 4)) + 6 * np.eye(3, 4)[labels]
    tour_of(X, labels, seconds=20, title="Three", label_name="kind", columns=list("abcd"), path=tmp_path / "tour.html")

    async def look(tab: Tab) -> dict[str, Any]:
        await tab.until("lowdimTour.state.position > 0.5")
        await tab.value("document.getElementById('play').click()")
        paused = await tab.value("lowdimTour.state.position")
        seen = {"title": await tab.value("document.title"), "picture": await tab.screenshot()}
        seen["button"] = await tab.value("document.getElementById('play').textContent")
        x, y, radius = await tab.value(GEOMETRY)
        before = np.reshape(await tab.value("Array.from(lowdimTour.frame())"), (4, 2))
        begin = (x + radius * before[0, 0], y - radius * before[0, 1])
        await drag(tab, begin, (x + 0.2 * radius, y - 0.3 * radius))
        seen["column"] = await tab.value("document.getElementById('column').value")
        seen["dragged"] = np.reshape(await tab.value("Array.from(lowdimTour.frame())"), (4, 2))
        await tab.value("document.getElementById('axes').focus()")
        for key in ("ArrowRight", "ArrowUp"):
            await tab.call("Input.dispatchKeyEvent", type="keyDown", key=key)
        seen["keyed"] = np.reshape(await tab.value("Array.from(lowdimTour.frame())"), (4, 2))
        seen["still"] = paused == await tab.value("lowdimTour.state.position")
        await tab.call("Input.dispatchKeyEvent", type="keyDown", key=" ")
        await tab.until(f"lowdimTour.state.playing && lowdimTour.state.position > {paused} + 0.5")
        seen["legend"] = await tab.value("document.getElementById('legend').innerText")
        return seen

    seen = visit(browser, tmp_path / "tour.html", look, READY)
    assert (seen["title"], seen["button"], seen["column"]) == ("Three", "Play", "0")
    assert seen["legend"].split() == ["kind", "0", "1", "2"] and seen["still"]
    np.testing.assert_allclose(seen["dragged"][0], [0.2, 0.3], atol=0.03)
    np.testing.assert_allclose(seen["keyed"][0], seen["dragged"][0] + 0.05, atol=0.01)
    for frame in (seen["dragged"], seen["keyed"]):
        np.testing.assert_allclose(frame.T @ frame, np.eye(2), atol=1e-9)
    for color in plot.palette(3):
        wanted = [int(color[i : i + 2], 16) for i in (1, 3, 5)]
        near = (np.abs(seen["picture"] - wanted).max(axis=-1) < 70) & (np.ptp(seen["picture"], axis=-1) > 60)
        assert near.sum() > 500, color


def test_hostile_texts_stay_text_in_the_browser(browser, tmp_path):
    X, path = np.random.default_rng(0).normal(size=(20, 3)), tmp_path / "tour.html"
    tour_of(X, [HOSTILE] * 20, columns=[HOSTILE] * 3, title=HOSTILE, path=path)

    async def look(tab: Tab) -> list[Any]:
        await tab.until("lowdimTour.state.position > 0.2")
        return await tab.value(
            "[document.title, document.images.length, document.querySelectorAll('[onerror]').length, "
            "document.getElementById('legend').innerText]"
        )

    title, images, handlers, legend = visit(browser, path, look, READY)
    assert title == HOSTILE and images == handlers == 0
    assert legend.startswith("</script><img")


# The index path


def test_the_index_path_shows_every_ascent_and_the_noise(rng, clean_matplotlib):
    model = lowdim.ProjectionPursuit(2, n_init=3, n_null=5).fit(rng.normal(size=(60, 4)))
    ax = plot.index_path(model, title="Noise")
    lines = [line.get_ydata() for line in ax.get_lines()]
    for path in model.restart_paths_[0]:
        assert any(len(line) == len(path) and np.allclose(line, path) for line in lines)
    bold = max(ax.get_lines(), key=lambda line: line.get_linewidth())
    np.testing.assert_allclose(bold.get_ydata(), model.index_path_[0])
    level = np.quantile(model.null_index_, 0.95)
    assert any(np.allclose(line, level) for line in lines)
    texts = [text.get_text() for text in ax.texts]
    assert model.verdict_ in texts and "95% of noise stays below" in texts
    assert ax.get_ylabel() == "holes index"
    with pytest.raises(errors.BadInput, match="fitted ProjectionPursuit"):
        plot.index_path(lowdim.PCA())


def test_an_index_path_for_each_component(rng, clean_matplotlib):
    model = lowdim.ProjectionPursuit(2, index="skewness", n_init=2, n_null=0).fit(rng.normal(size=(60, 4)))
    ax = plot.index_path(model)
    assert {"component 1", "component 2"} <= {text.get_text() for text in ax.texts}
    assert len(ax.get_lines()) == 2 * (2 + 2)
