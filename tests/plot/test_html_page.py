"""The interactive HTML page: its content, and how a browser renders it."""

from __future__ import annotations

import asyncio
import base64
import gzip
import json
import re
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from browser_pages import HOSTILE, Tab
from browser_pages import visit as visit_page
from lowdim import errors, plot


def documents(html: str) -> dict[str, Any]:
    """The Bokeh models of the page, by type."""
    from html import unescape

    text = re.search(r'<script type="application/json"[^>]*>(.*?)</script>', html, re.DOTALL)[1]
    (document,) = json.loads(unescape(text)).values()
    found: dict[str, list[dict[str, Any]]] = {}

    def walk(node: Any) -> None:
        if isinstance(node, dict):
            if node.get("type") == "object" and "name" in node:
                found.setdefault(node["name"], []).append(node.get("attributes", {}))
            for value in node.values():
                walk(value)
        elif isinstance(node, list):
            for value in node:
                walk(value)

    walk(document["roots"])
    return found


def columns(source: dict[str, Any]) -> dict[str, np.ndarray]:
    """The columns of a data source, decoded."""

    def decode(value: Any) -> np.ndarray:
        if isinstance(value, list):
            return np.asarray(value, dtype=object)
        if value["type"] == "ndarray" and isinstance(value["array"], dict):
            data = base64.b64decode(value["array"]["data"])
            plain = gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data
            return np.frombuffer(plain, dtype=np.dtype(value["dtype"]))
        return np.asarray(value["array"], dtype=object)

    return {key: decode(value) for key, value in source["data"]["entries"]}


def legend(html: str) -> list[str]:
    """The names of the legend's entries."""
    from html import unescape

    return [unescape(name) for name in re.findall(r"<button[^>]*data-code.*?<span>(.*?)</span>", html, re.DOTALL)]


def tooltip(html: str) -> list[tuple[str, str]]:
    return [tuple(line) for line in documents(html)["HoverTool"][0]["tooltips"]]


# The text


@pytest.mark.parametrize("n_categories", [20, 45])
def test_a_figure_and_a_page_of_the_same_labels_color_them_the_same(n_categories) -> None:
    sizes = np.random.default_rng(0).permutation(n_categories) + 1
    labels = np.repeat([f"c{i}" for i in range(n_categories)], sizes).astype(object)
    labels[::7] = None
    Z = np.random.default_rng(1).normal(size=(len(labels), 2))
    drawn_legend = plot.scatter(Z, labels).get_legend()
    handles = zip(drawn_legend.get_texts(), drawn_legend.legend_handles, strict=True)
    drawn = {text.get_text(): handle.get_color() for text, handle in handles if "others" not in text.get_text()}
    renderers = documents(plot.page(Z, labels))["GlyphRenderer"]
    on_page = {drawn["name"]: drawn["glyph"]["attributes"]["fill_color"]["value"] for drawn in renderers}
    assert len(drawn) > 2 and "missing" in drawn
    assert {name: on_page[name] for name in drawn} == drawn
    assert len(set(drawn.values())) == len(drawn)


CONTROLS = ["bell\a", "nul\0nul", "half\ud800", "\udfff\x1b[31m", "non\uffff", "\x85\x9f", "line\nfeed\r"]


def test_control_characters_and_half_surrogates_leave_every_file_valid(tmp_path) -> None:
    """Each word as label, id, title, hover name and value; a strict reader takes every file."""
    from xml.etree import ElementTree

    from PIL import Image

    Z = np.random.default_rng(0).normal(size=(len(CONTROLS), 2))
    word = "".join(CONTROLS)
    for suffix in ("svg", "png", "pdf"):
        ax = plot.scatter(Z, CONTROLS, ids=CONTROLS, title=word, axis_names=(word, word))
        plot.save(ax, tmp_path / f"map.{suffix}")
    ElementTree.parse(tmp_path / "map.svg")
    Image.open(tmp_path / "map.png").verify()
    html = plot.page(Z, CONTROLS, ids=CONTROLS, hover={word: CONTROLS}, title=word, path=tmp_path / "map.html")
    assert (tmp_path / "map.html").read_bytes().decode("utf-8") == html
    forbidden = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
    sources = [columns(source) for source in documents(html)["ColumnDataSource"]]
    texts = "".join(text for source in sources for key in ("id", "hover0", "name") for text in source.get(key, []))
    assert "half\N{REPLACEMENT CHARACTER}" in texts and not forbidden.search(texts)


def test_points_are_stored_by_category_as_float32(rng) -> None:
    Z, labels = rng.normal(size=(60, 2)), rng.choice(["b", "a", "c"], 60)
    html = plot.page(Z, labels)
    found = documents(html)
    assert len(found["ColumnDataSource"]) == 3
    for name, source in zip("abc", found["ColumnDataSource"], strict=True):
        data = columns(source)
        assert data["x"].dtype == np.float32
        np.testing.assert_array_equal(data["id"], np.flatnonzero(labels == name))
        np.testing.assert_array_equal(np.column_stack([data["x"], data["y"]]), Z[labels == name].astype(np.float32))
    assert legend(html) == ["a", "b", "c"]
    assert [drawn["tags"] for drawn in found["GlyphRenderer"]] == [[0], [1], [2]]


def test_values_have_a_color_bar_with_their_limits(rng) -> None:
    Z, values = rng.normal(size=(40, 2)), rng.uniform(2, 9, 40)
    html = plot.page(Z, values, label_name="age & sex")
    found = documents(html)
    mapper = found["LinearColorMapper"][0]
    assert (mapper["low"], mapper["high"]) == (values.min(), values.max())
    assert (mapper["palette"][0], mapper["palette"][-1]) == ("#440154", "#fde725")
    assert "<h2>age &amp; sex</h2>" in html and not legend(html)
    assert [text for _, text in re.findall(r"--at:([0-9.]+)%\">(.*?)</span>", html)] == ["4", "6", "8"]
    assert ("age & sex", "@label{%.6g}") in tooltip(html)
    np.testing.assert_array_equal(columns(found["ColumnDataSource"][0])["label"], values.astype(np.float32))


def test_tooltip_columns_never_have_names_of_the_user(rng) -> None:
    Z = rng.normal(size=(3, 2))
    hover = {"age@x": [1, 2, 3], "w{safe}": [0.5, 1.5, np.nan], HOSTILE: ["a", None, "c"]}
    found = documents(plot.page(Z, ids=["p", "q", "r"], hover=hover))
    lines = [line["entries"] if isinstance(line, dict) else line for line in found["HoverTool"][0]["tooltips"]]
    columns_shown = ["@id", "@x{%.4g}", "@y{%.4g}", "@hover0", "@hover1{%.6g}", "@hover2"]
    assert [line[1] for line in lines] == columns_shown
    data = columns(found["ColumnDataSource"][0])
    np.testing.assert_array_equal(data["hover0"], [1, 2, 3])
    assert list(data["hover2"]) == ["a", "None", "c"]
    assert list(data["id"]) == ["p", "q", "r"]


def test_thumbnails_decode_to_the_images(rng) -> None:
    from matplotlib.image import imread

    images = rng.integers(0, 17, size=(4, 5, 6))
    found = documents(plot.page(rng.normal(size=(4, 2)), images=images))
    tags = columns(found["ColumnDataSource"][0])["image"]
    low, high = images.min(), images.max()
    for tag, image in zip(tags, images, strict=True):
        data = re.fullmatch(r'<img src="data:image/png;base64,([A-Za-z0-9+/=]+)" width="84" style="[^"<>]*">', tag)[1]
        shown = imread(BytesIO(base64.b64decode(data)), format="png")
        np.testing.assert_allclose(shown, (image - low) / (high - low), atol=1 / 255)


def test_only_thumbnails_are_html(rng) -> None:
    html = plot.page(rng.normal(size=(2, 2)), [HOSTILE, "b"], ids=[HOSTILE] * 2, hover={HOSTILE: [HOSTILE] * 2})
    found = documents(html)
    assert "safe" not in " ".join(line[1] for line in found["HoverTool"][0]["tooltips"])
    assert "<img" not in re.sub(r"<script>.*?</script>", "", html, flags=re.DOTALL)


def test_math_is_not_typeset(rng) -> None:
    html = plot.page(rng.normal(size=(2, 2)), ["$$x$$", "b"], title="$$y$$", axis_names=("$$z$$", "axis 2"))
    found = documents(html)
    assert "<h1>$$y$$</h1>" in html and legend(html) == ["$$x$$", "b"]
    axes = [axis["axis_label"]["attributes"]["text"] for axis in found["LinearAxis"]]
    assert set(axes) == {"$$z$$", "axis 2"} and all(a["axis_label"]["name"] == "PlainText" for a in found["LinearAxis"])
    assert len(html) < len(plot.page(rng.normal(size=(2, 2)))) + 5000  # no MathJax was included


def test_the_page_makes_no_network_request(rng) -> None:
    html = plot.page(rng.normal(size=(5, 2)), title="t")
    own = re.sub(r"<script.*?</script>", "", html, flags=re.DOTALL)
    assert not re.search(r"(src|href)\s*=", own)
    assert not re.search(r"<script[^>]*\bsrc=", html)
    assert "default-src &#x27;none&#x27;; script-src &#x27;sha256-" in html
    assert "unsafe-eval" not in html.partition("</title>")[0]
    assert html.index("Content-Security-Policy") < html.index("<script")


def test_70000_points_take_a_few_megabytes() -> None:
    rng = np.random.default_rng(0)
    html = plot.page(rng.normal(size=(70_000, 2)), rng.integers(0, 10, 70_000))
    assert len(html) < 3_000_000


def test_many_categories_are_pooled(rng) -> None:
    names = legend(plot.page(rng.normal(size=(900, 2)), rng.permutation(np.arange(900) % 90).astype(str)))
    assert len(names) == 60
    assert names[-1] == "31 others"


@pytest.mark.parametrize("Z", [np.zeros((1, 2)), np.zeros((4, 1)), np.ones((4, 3), dtype=np.float32)])
def test_degenerate_tables(Z) -> None:
    html = plot.page(Z, [None] * len(Z))
    found = documents(html)
    assert [drawn["name"] for drawn in found["GlyphRenderer"]] == ["missing"]
    assert legend(html) == (["missing"] if Z.shape[1] > 1 else [])  # strips are named by the axis


def test_components_to_choose_from_are_named_with_their_shares(rng) -> None:
    Z, names = (
        rng.normal(size=(30, 4)),
        [f"PC{i + 1} ({share}% of the variance)" for i, share in enumerate((50, 9, 5, 1))],
    )
    html = plot.page(Z, axis_names=names)
    data = columns(documents(html)["ColumnDataSource"][0])
    for i in range(4):
        np.testing.assert_array_equal(data[f"c{i}"], Z[:, i].astype(np.float32))
    assert tooltip(html)[1:] == [(name, f"@c{i}{{%.4g}}") for i, name in enumerate(names)]
    assert html.count("<select id=") == 2
    given = json.loads(re.search(r'id="components">(.*?)</script>', html)[1])
    assert given == {"names": [name[:39] + "…" if len(name) > 40 else name for name in names], "axes": names}
    assert "<select id=" not in plot.page(Z[:, :2])
    assert "the first 20 of 25 components" in plot.page(rng.normal(size=(5, 25)))
    with pytest.raises(errors.BadInput, match="4 names for 4 components"):
        plot.page(Z, axis_names=names[:3])


def test_one_component_is_a_strip_per_category(rng) -> None:
    labels = rng.choice(["b", "a"], 40)
    found = documents(plot.page(rng.normal(size=(40, 1)), labels, label_name="kind"))
    for code, source in enumerate(found["ColumnDataSource"]):
        assert np.all(np.round(columns(source)["y"]) == code)
    (axis,) = [axis for axis in found["LinearAxis"] if "major_label_overrides" in axis]
    names = dict(axis["major_label_overrides"]["entries"])
    assert {code: name["attributes"]["text"] for code, name in names.items()} == {0: "a", 1: "b"}
    assert axis["axis_label"]["attributes"]["text"] == "kind"


def test_new_rows_lie_on_the_pale_map_and_categories_keep_their_colors(rng) -> None:
    old, new = rng.normal(size=(30, 2)), rng.normal(size=(9, 2))
    old_labels, new_labels = np.array(["b", "d", "c"] * 10), np.array(["a", "c", "d"] * 3)
    html = plot.page(new, new_labels, background=old, background_labels=old_labels)
    found = documents(html)
    behind, front = found["GlyphRenderer"][:4], found["GlyphRenderer"][4:]
    color = {drawn["name"]: drawn["glyph"]["attributes"]["fill_color"]["value"] for drawn in front}
    alone = plot.category_colors(old_labels)
    assert {name: color[name] for name in alone} == alone and color["a"] not in alone.values()
    assert [drawn["tags"] for drawn in behind] == [drawn["tags"] for drawn in front]
    assert len(found["HoverTool"]) == 1 and len(found["HoverTool"][0]["renderers"]) == 4
    assert "9 rows on the map of 30 others (pale)" in html
    with pytest.raises(errors.BadInput, match="2 dimensions of Z"):
        plot.page(new, background=old[:, :1])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"images": np.zeros((2, 3, 3))}, r"\(3, height, width\)"),
        ({"images": np.full((3, 2, 2), np.nan)}, "not finite"),
        ({"hover": {"age": [1]}}, r"hover\['age'\] must have one entry per row"),
        ({"hover": [1, 2, 3]}, "map names"),
        ({"ids": [1]}, "ids must have"),
        ({"labels": [1]}, "one label per row"),
    ],
)
def test_errors_of_page(arguments, words) -> None:
    with pytest.raises(errors.BadInput, match=words):
        plot.page(np.eye(3, 2), **arguments)


def test_thumbnails_are_for_small_tables() -> None:
    with pytest.raises(errors.BadInput, match="at most 5000 rows"):
        plot.page(np.zeros((5001, 2)), images=np.zeros((5001, 1, 1)))


def test_the_page_is_written_atomically(tmp_path, monkeypatch) -> None:
    target = tmp_path / "map.html"
    assert plot.page(np.eye(2), path=target) == target.read_text(encoding="utf-8")
    target.write_text("old")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("lowdim.runtime.atomic_write.os.replace", fail)
    with pytest.raises(errors.BadInput, match="No space left"):
        plot.page(np.eye(2), path=target)
    assert [p.name for p in tmp_path.iterdir()] == ["map.html"]
    assert target.read_text() == "old"


def test_without_bokeh_the_error_says_what_to_install(monkeypatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "bokeh.embed", None)
    with pytest.raises(errors.MissingExtra, match=r"pip install 'lowdim\[app\]'"):
        plot.page(np.eye(2))


# The browser

READY = "window.lowdimPage !== undefined"
# Everything on the page, also inside shadow roots.
DEEP = """
const deep = (root) => [...root.querySelectorAll('*')].flatMap(
    (node) => [node, ...(node.shadowRoot ? deep(node.shadowRoot) : [])]);
"""
# Where the first point of the first renderer lies on the screen.
FIRST_POINT = """(() => {
    const view = window.lowdimPage.view;
    const glyph = view.model.renderers[0];
    const {x, y} = Object.fromEntries(glyph.data_source.data instanceof Map
        ? glyph.data_source.data : Object.entries(glyph.data_source.data));
    const box = view.el.getBoundingClientRect();
    return [box.x + view.frame.x_scale.compute(x[0]), box.y + view.frame.y_scale.compute(y[0])];
})()"""


def visit(port: int, path: Path, look: Any) -> Any:
    return visit_page(port, path, look, READY)


def test_points_are_drawn_in_the_colors_of_their_categories(browser, tmp_path) -> None:
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 3000)
    Z = rng.normal(size=(3000, 2)) + 8 * np.eye(3)[labels][:, :2]
    plot.page(Z, labels, title="Three", path=tmp_path / "map.html")

    async def look(tab: Tab) -> tuple[np.ndarray, str]:
        return await tab.screenshot(), await tab.value("document.title")

    screenshot, title = visit(browser, tmp_path / "map.html", look)
    assert title == "Three"
    for color in plot.palette(3):
        wanted = [int(color[i : i + 2], 16) for i in (1, 3, 5)]
        # Three quarters of the color and a quarter of white; several dots on top of one another are fuller.
        near = (np.abs(screenshot - wanted).max(axis=-1) < 70) & (np.ptp(screenshot, axis=-1) > 60)
        assert near.sum() > 500, color


def test_a_hostile_label_stays_text(browser, tmp_path) -> None:
    Z = np.array([[0.0, 0.0], [1.0, 0.7], [1.0, 0.0]])
    labels = [HOSTILE, "b", "c"]
    path = tmp_path / "map.html"
    plot.page(Z, labels, ids=[HOSTILE] * 3, hover={HOSTILE: [HOSTILE] * 3}, title=HOSTILE, path=path)

    async def look(tab: Tab) -> dict[str, Any]:
        # Labels are sorted, and "<" comes before letters: the hostile one is the first renderer.
        x, y = await tab.value(FIRST_POINT)
        await tab.call("Input.dispatchMouseEvent", type="mouseMoved", x=x - 30, y=y - 30)
        await tab.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        tips = DEEP + "deep(document).filter((e) => (e.className + '').includes('bk-tooltip'))"
        await tab.until(f"(() => {{{tips.replace('deep(document)', 'return deep(document)')}.length > 0}})()")
        await asyncio.sleep(0.3)
        return await tab.value(
            f"""(() => {{{DEEP}
            const all = deep(document);
            const body = all.filter((e) => !['SCRIPT', 'STYLE'].includes(e.tagName));
            return {{
                title: document.title,
                images: all.filter((e) => e.tagName === 'IMG').length,
                handlers: all.filter((e) => e.hasAttribute('onerror')).length,
                math: all.filter((e) => (e.tagName + '').toLowerCase().startsWith('mjx')).length,
                texts: body.flatMap((e) => [...e.childNodes].filter((c) => c.nodeType === 3).map((c) => c.data)),
            }}; }})()"""
        )

    seen = visit(browser, path, look)
    assert seen["title"] == HOSTILE
    assert seen["images"] == seen["handlers"] == seen["math"] == 0
    texts = [" ".join(text.split()) for text in seen["texts"]]
    # Tooltip: the id, the label and the further line, whole.
    assert texts.count(HOSTILE) >= 3, texts
    assert texts.count(HOSTILE) >= 4  # and the legend


def test_a_tooltip_shows_the_thumbnail_and_a_click_hides_a_category(browser, tmp_path) -> None:
    Z = np.array([[0.0, 0.0], [1.0, 0.7], [1.0, 0.0]])
    path = tmp_path / "map.html"
    plot.page(Z, ["a", "b", "b"], images=np.arange(12).reshape(3, 2, 2), path=path)

    async def look(tab: Tab) -> list[Any]:
        x, y = await tab.value(FIRST_POINT)
        await tab.call("Input.dispatchMouseEvent", type="mouseMoved", x=x - 30, y=y - 30)
        await tab.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        await tab.until(f"(() => {{{DEEP} return deep(document).some((e) => e.tagName === 'IMG'); }})()")
        await tab.until(
            f"(() => {{{DEEP} return deep(document).find((e) => e.tagName === 'IMG').naturalWidth === 2; }})()"
        )
        entry = await tab.value(
            f"""(() => {{{DEEP}
            const box = document.querySelector('#legend button').getBoundingClientRect();
            return [box.x + box.width / 2, box.y + box.height / 2]; }})()"""
        )
        for kind in ("mousePressed", "mouseReleased"):
            await tab.call("Input.dispatchMouseEvent", type=kind, x=entry[0], y=entry[1], button="left", clickCount=1)
        await tab.until("!lowdimPage.plot.renderers[0].visible")
        return await tab.value("lowdimPage.plot.renderers.map((r) => r.visible)")

    assert visit(browser, path, look) == [False, True]


MIDDLE = """(() => {
    const box = lowdimPage.view.el.getBoundingClientRect();
    return [box.x + box.width / 2, box.y + box.height / 2]; })()"""
THIRD_ON_Y = """(() => {
    const y = document.getElementById('y-component');
    y.value = '2';
    y.dispatchEvent(new Event('change')); })()"""
RANGES = "[lowdimPage.plot.x_range, lowdimPage.plot.y_range].flatMap((r) => [r.start, r.end])"


def test_keys_touch_and_the_selector_of_components(browser, tmp_path) -> None:
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(200, 3)) * (1, 1, 40)
    plot.page(Z, rng.choice(["a", "b"], 200), axis_names=("PC1", "PC2", "PC3"), path=tmp_path / "map.html")

    async def press(tab: Tab, key: str) -> list[float]:
        for kind in ("keyDown", "keyUp"):
            await tab.call("Input.dispatchKeyEvent", type=kind, key=key)
        return await tab.value(RANGES)

    async def look(tab: Tab) -> dict[str, Any]:
        await tab.call("Emulation.setDeviceMetricsOverride", width=390, height=800, deviceScaleFactor=1, mobile=True)
        await tab.until("document.querySelector('#legend').getBoundingClientRect().top > 500")
        await asyncio.sleep(0.3)
        wide = await tab.value("document.documentElement.scrollWidth")
        await tab.value("document.getElementById('plot').focus()")
        seen = {"wide": wide, "start": await tab.value(RANGES)}
        for name, key in (("right", "ArrowRight"), ("up", "ArrowUp"), ("closer", "+"), ("reset", "0")):
            seen[name] = await press(tab, key)
        x, y = await tab.value(MIDDLE)
        for kind, reach in (("touchStart", 40), ("touchMove", 60), ("touchMove", 80), ("touchEnd", None)):
            fingers = [] if reach is None else [{"x": x - reach, "y": y, "id": 0}, {"x": x + reach, "y": y, "id": 1}]
            await tab.call("Input.dispatchTouchEvent", type=kind, touchPoints=fingers)
        await asyncio.sleep(0.3)
        seen["pinched"] = await tab.value(RANGES)
        await tab.value("lowdimPage.plot.renderers[0].data_source.selected.indices = [1, 2]")
        await press(tab, "Escape")
        seen["selected"] = await tab.value("lowdimPage.plot.renderers[0].data_source.selected.indices.length")
        await tab.value(THIRD_ON_Y)
        await asyncio.sleep(0.3)
        seen["third"] = await tab.value(RANGES)
        seen["label"] = await tab.value("lowdimPage.plot.left[0].axis_label.text")
        return seen

    seen = visit(browser, tmp_path / "map.html", look)
    assert seen["wide"] <= 390
    x0, x1, y0, y1 = seen["start"]
    step = (0.1 * (x1 - x0), 0.1 * (y1 - y0))
    np.testing.assert_allclose(seen["right"], [x0 + step[0], x1 + step[0], y0, y1])
    np.testing.assert_allclose(seen["up"], [x0 + step[0], x1 + step[0], y0 + step[1], y1 + step[1]])
    assert seen["closer"][1] - seen["closer"][0] == pytest.approx(0.8 * (x1 - x0))
    np.testing.assert_allclose(seen["reset"], seen["start"])
    assert seen["pinched"][1] - seen["pinched"][0] < 0.95 * (x1 - x0)
    assert seen["selected"] == 0
    assert seen["label"] == "PC3" and seen["third"][3] > 40


NAMES = """(() => {
    const { source } = lowdimPage.plot.center.find((each) => each.name === 'row names');
    return Object.fromEntries(['text', 'x', 'y', 'dx', 'dy'].map((name) => [name, [...source.data[name]]])); })()"""
PIXELS = """(() => {
    const { x_range, y_range, inner_width, inner_height } = lowdimPage.plot;
    return [(x_range.end - x_range.start) / inner_width, (y_range.end - y_range.start) / inner_height]; })()"""


def test_row_names_stand_beside_points_where_there_is_room(browser, tmp_path) -> None:
    rng = np.random.default_rng(0)
    Z = np.vstack([rng.normal(size=(10, 2)), 1e-3 * rng.normal(size=(30, 2)) + (9, 9)])
    ids = [f"row {i}" for i in range(40)]
    labels = np.repeat(["a", "b", "c"], [8, 2, 30])
    plot.page(Z, labels, ids=ids, path=tmp_path / "map.html")

    async def look(tab: Tab) -> dict[str, Any]:
        await tab.until(f"{NAMES}.text.length > 0")
        seen = {"names": await tab.value(NAMES), "pixels": await tab.value(PIXELS)}
        await tab.value("document.querySelector('#legend button').click()")
        await tab.until(f"!{NAMES}.text.includes('row 0')")
        seen["hidden"] = (await tab.value(NAMES))["text"]
        await tab.value("document.getElementById('plot').focus()")
        for kind in ("keyDown", "keyUp"):
            await tab.call("Input.dispatchKeyEvent", type=kind, key="+")
        seen["closer"] = await tab.value(RANGES)
        await asyncio.sleep(0.3)  # names are placed anew, and the view stays
        seen["later"] = await tab.value(RANGES)
        for axis in ("x", "y"):
            await tab.value(f"lowdimPage.plot.{axis}_range.setv({{ start: 8.997, end: 9.003 }})")
        await tab.until(f"!{NAMES}.text.includes('row 9') && {NAMES}.text.length > 20")
        return seen

    seen = visit(browser, tmp_path / "map.html", look)
    assert seen["later"] == seen["closer"]
    names, size = seen["names"], np.array(seen["pixels"])
    assert {f"row {i}" for i in range(10)} <= set(names["text"]) and len(names["text"]) < 40
    rows = [ids.index(text) for text in names["text"]]
    np.testing.assert_allclose(np.column_stack([names["x"], names["y"]]), Z[rows], atol=1e-5)
    middles = Z[rows] / size + np.column_stack([names["dx"], names["dy"]])  # in pixels
    apart = np.abs(middles[:, None] - middles[None])
    separate = (apart[..., 0] >= 25) | (apart[..., 1] >= 12)  # "row 1" is wider and as high
    assert (separate | np.eye(len(rows), dtype=bool)).all()
    to_markers = np.abs(middles[:, None] - (Z / size)[None])
    assert ((to_markers[..., 0] >= 12) | (to_markers[..., 1] >= 6)).all()
    assert {"row 8", "row 9"} <= set(seen["hidden"]) and not {f"row {i}" for i in range(8)} & set(seen["hidden"])


def test_ids_can_be_for_tooltips_only() -> None:
    ids = ["a", "b", "c"]
    assert "LabelSet" in documents(plot.page(np.eye(3), ids=ids))
    assert "LabelSet" not in documents(plot.page(np.eye(3), ids=ids, show_ids=False))
