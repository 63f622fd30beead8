"""Scatter plots and densities draw the given points; inputs and settings of the user do not change."""

from __future__ import annotations

import os
import subprocess
import sys

import matplotlib
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.colors import to_hex, to_rgba
from matplotlib.text import Text

from lowdim import ICA, errors, plot
from lowdim.plot import _density_shading
from lowdim.plot._colors import ABSENT, GRAY, PALETTE, color_distance, palette
from lowdim.plot._density import density_cells
from lowdim.plot._density_shading import cell_edges, shade_cells
from lowdim.plot._label_placement import LabelPlacer
from lowdim.plot._point_colors import Categories, ColorScale, read_labels
from subprocesses import run_python

matplotlib.use("Agg")
from matplotlib import pyplot

pytestmark = pytest.mark.usefixtures("clean_matplotlib")


def markers(ax) -> PathCollection:
    (found,) = [c for c in ax.collections if isinstance(c, PathCollection)]
    return found


def legend_of(ax) -> dict[str, str]:
    legend = ax.get_legend()
    return {
        text.get_text(): to_hex(line.get_color())
        for text, line in zip(legend.get_texts(), legend.legend_handles, strict=True)
    }


# Points


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16])
def test_markers_are_the_rows_in_order(rng, dtype) -> None:
    Z = (100 * rng.normal(size=(50, 2))).astype(dtype)
    kept = Z.copy()
    ax = plot.scatter(Z)
    np.testing.assert_array_equal(markers(ax).get_offsets(), Z)
    np.testing.assert_array_equal(Z, kept)
    assert ax.get_aspect() == 1


def test_the_given_axes_are_returned_and_no_figure_is_made(rng) -> None:
    _, ax = pyplot.subplots()
    count = len(pyplot.get_fignums())
    Z = rng.normal(size=(30, 2))
    assert plot.scatter(Z, Z[:, 0], ax=ax) is ax
    assert plot.density(Z, ax=ax) is ax
    assert len(pyplot.get_fignums()) == count


def test_axes_with_shared_limits(rng) -> None:
    figure, (left, right) = pyplot.subplots(1, 2, sharex=True, sharey=True)
    for ax in (left, right):
        plot.scatter(rng.normal(size=(30, 2)), ax=ax)
    figure.draw_without_rendering()


def test_a_dataframe_and_an_array_give_the_same_plot(rng) -> None:
    Z = rng.normal(size=(20, 2))
    ax = plot.scatter(pd.DataFrame(Z), pd.Series(["a", "b"] * 10))
    np.testing.assert_array_equal(markers(ax).get_offsets(), Z)
    assert list(legend_of(ax)) == ["a", "b"]


def test_one_column_becomes_strips_that_do_not_overlap(rng) -> None:
    Z, labels = rng.normal(size=(300, 1)), rng.choice(["b", "a", "c"], 300)
    ax = plot.scatter(Z, labels)
    x, y = np.asarray(markers(ax).get_offsets()).T
    np.testing.assert_array_equal(x, Z[:, 0])
    np.testing.assert_array_equal(np.round(y), np.searchsorted(["a", "b", "c"], labels))
    assert [t.get_text() for t in ax.get_yticklabels()] == ["a", "b", "c"]


def test_of_many_columns_two_are_drawn_and_the_plot_says_so(rng) -> None:
    Z = rng.normal(size=(20, 5))
    ax = plot.scatter(Z)
    np.testing.assert_array_equal(markers(ax).get_offsets(), Z[:, :2])
    assert [t.get_text() for t in ax.texts] == ["the first 2 of 5 dimensions"]
    assert not plot.scatter(Z[:, :2]).texts


def test_three_dimensional_axes_draw_three_columns(rng) -> None:
    Z = rng.normal(size=(20, 3))
    ax = pyplot.figure().add_subplot(projection="3d")
    plot.scatter(Z, ax=ax, axis_names=("u", "v", "w"))
    ax.figure.draw_without_rendering()
    np.testing.assert_allclose(np.sort(np.ma.getdata(ax.collections[0]._offsets3d[2])), np.sort(Z[:, 2]))
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_zlabel()) == ("u", "v", "w")


@pytest.mark.parametrize(
    "Z", [np.zeros((1, 2)), np.zeros((5, 2)), np.full((5, 2), 1e30), np.zeros((5, 1)), np.full((25_000, 2), 3.0)]
)
def test_constant_points_are_drawn_without_a_warning(Z) -> None:
    plot.scatter(Z, ids=range(len(Z))).figure.draw_without_rendering()
    plot.density(np.hstack([Z, Z])).figure.draw_without_rendering()


@pytest.mark.parametrize(
    ("Z", "error", "words"),
    [
        (np.empty((0, 2)), errors.BadInput, "at least 1 row"),
        (np.empty((3, 0)), errors.BadInput, "1 column"),
        ([[1.0, np.nan]], errors.BadInput, "row 0, column 1"),
        ([[1.0, 2.0], [np.inf, 0.0]], errors.BadInput, "row 1, column 0"),
        (np.full((2, 2), 1e300), errors.BadInput, "too large"),
        (np.zeros(3), errors.BadInput, "two dimensions"),
        (np.zeros((3, 2, 2)), errors.BadInput, "two dimensions"),
        ([["a", "b"]], errors.BadInputType, "numbers"),
        ("text", errors.BadInputType, "table of numbers"),
        (None, errors.BadInputType, "table of numbers"),
    ],
)
def test_errors_of_points(Z, error, words) -> None:
    with pytest.raises(error, match=words):
        plot.scatter(Z)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"labels": [1, 2]}, r"one label per row \(3\)"),
        ({"labels": np.zeros((3, 2))}, "one label per row"),
        ({"ids": ["a"]}, r"one entry per row \(3\)"),
        ({"labels": [0, 1, 2], "names": ["a"]}, "each of the 3 labels"),
        ({"labels": [0, 1, 2], "names": 7}, "mapping or a sequence"),
        ({"labels": [-1e308, 0.5, 1e308]}, "too wide a range"),
        ({"axis_names": ["x"]}, "2 names"),
        ({"ax": "left"}, "matplotlib axes"),
    ],
)
def test_errors_of_other_arguments(arguments, words) -> None:
    with pytest.raises(errors.BadInput, match=words):
        plot.scatter(np.eye(3, 2), **arguments)


# Colors and labels


def test_each_category_has_the_color_of_the_legend(rng) -> None:
    labels = rng.choice(["c10", "c2", "c1"], 90)
    ax = plot.scatter(rng.normal(size=(90, 2)), labels)
    legend = legend_of(ax)
    assert list(legend) == ["c1", "c2", "c10"]
    assert list(legend.values()) == [c.lower() for c in PALETTE[:3]]
    for label, color in zip(labels, markers(ax).get_facecolors(), strict=True):
        assert to_hex(color) == legend[label]


def test_missing_labels_are_gray_and_last(rng) -> None:
    for labels in ([2.0, np.nan, 1.0, 2.0], ["2", None, "1", "2"], pd.array([2, None, 1, 2], dtype="Int64")):
        ax = plot.scatter(rng.normal(size=(4, 2)), labels)
        assert list(legend_of(ax)) == ["1", "2", "missing"]
        assert to_hex(markers(ax).get_facecolors()[1]) == ABSENT


def test_values_get_a_color_bar_with_their_limits(rng) -> None:
    Z, values = rng.normal(size=(40, 2)), rng.uniform(-3, 7, 40)
    values[5] = np.nan
    ax = plot.scatter(Z, values)
    bar = ax.figure.axes[-1]
    assert bar.get_ylim() == pytest.approx((np.nanmin(values), np.nanmax(values)))
    assert len(markers(ax).get_offsets()) == 40
    ax.figure.draw_without_rendering()
    colors = markers(ax).get_facecolors()
    assert to_hex(colors[5]) == ABSENT
    expected = matplotlib.colormaps["viridis"](0.0)
    np.testing.assert_allclose(colors[np.nanargmin(values)][:3], expected[:3])


def test_labels_are_categories_or_values() -> None:
    assert isinstance(read_labels(np.repeat(np.arange(30), 3), 90), Categories)
    assert isinstance(read_labels(np.repeat(np.arange(31), 3), 93), ColorScale)
    assert isinstance(read_labels([0.0, 1.0], 2), Categories)
    assert isinstance(read_labels([0.5, 1.0], 2), ColorScale)
    assert isinstance(read_labels([True, False], 2), Categories)
    assert isinstance(read_labels([str(i) for i in range(99)], 99), Categories)
    assert read_labels([0.5, 1.0], 2, {0.5: "half"}).names == ("half", "1")
    assert read_labels([b"b", b"a"], 2).names == ("a", "b")
    assert read_labels([None, None], 2).names == ("missing",)
    huge = read_labels(np.array([2**60, 2**60 + 1]), 2)
    assert len(huge.names) == 2
    one = read_labels([0.5, 0.5], 2)
    assert one.low < 0.5 < one.high


def test_names_replace_labels_by_order_or_by_mapping(rng) -> None:
    Z, labels = rng.normal(size=(6, 2)), [0, 1, 2, 2, 1, 0]
    assert list(legend_of(plot.scatter(Z, labels, names=["x", "y", "z"]))) == ["x", "y", "z"]
    assert list(legend_of(plot.scatter(Z, labels, names={2: "two"}))) == ["0", "1", "two"]


def test_of_many_categories_the_smallest_are_pooled() -> None:
    sizes = np.arange(1, 29)
    labels = np.repeat([f"c{i}" for i in range(28)], sizes)
    ax = plot.scatter(np.random.default_rng(0).normal(size=(len(labels), 2)), labels)
    legend = legend_of(ax)
    assert list(legend) == [*(f"c{i}" for i in range(9, 28)), "9 others"]
    assert legend["9 others"] == GRAY
    assert sum(to_hex(c) == GRAY for c in markers(ax).get_facecolors()) == sizes[:9].sum()


@pytest.mark.parametrize("word", ["$x^$", "_hidden", "a\nb", "</script>", "{0}", "%s", "x" * 500])
def test_labels_are_plain_text(word) -> None:
    Z = np.array([[0.0, 0.0], [1.0, 1.0]])
    ax = plot.scatter(Z, [word, "other"], title=word, ids=[word, "b"], axis_names=(word, word))
    shown = [text.get_text() for text in ax.get_legend().get_texts()]
    assert any(text.startswith(word[:4].split("\n")[0]) for text in shown)
    ax.figure.draw_without_rendering()
    plot.scatter(Z[:, :1], [word, "other"]).figure.draw_without_rendering()


def test_the_palette_has_24_colors_without_black_or_primaries() -> None:
    assert palette(30)[:11] == palette(11)
    assert len(set(palette(24))) == 24
    assert palette(25)[24] == palette(1)[0]
    for color in palette(24):
        channels = [int(color[i : i + 2], 16) for i in (1, 3, 5)]
        assert 70 < sum(channels) < 700 and max(channels) - min(channels) > 20 and color != "#0000FF"
        assert color_distance(color, "#000000") > 0.3 and color_distance(color, "#FFFFFF") > 0.1


def test_colors_are_distinguishable_with_color_vision_deficiency() -> None:
    first = palette(12)
    nearest = min(color_distance(a, b) for i, a in enumerate(first) for b in first[:i])
    assert nearest > 0.05
    everyone = palette(24)
    assert min(color_distance(a, b) for i, a in enumerate(everyone) for b in everyone[:i]) > 0.035
    # Red and green of equal lightness: far apart with normal vision, close without.
    assert color_distance("#c0504d", "#7f8f3f") < 0.09
    assert color_distance("#000000", "#ffffff") == pytest.approx(1.0, abs=1e-3)


@given(st.lists(st.one_of(st.none(), st.floats(), st.integers(-5, 5), st.text(max_size=4), st.booleans()), min_size=1))
def test_any_labels_are_read(labels) -> None:
    values = np.empty(len(labels), dtype=object)
    values[:] = labels
    try:
        point_colors = read_labels(values, len(labels))
    except errors.BadInput as error:
        assert "too wide a range" in str(error)
        return
    if isinstance(point_colors, Categories):
        assert point_colors.codes.min() >= 0
        assert point_colors.codes.max() == len(point_colors.names) - 1 == len(point_colors.colors) - 1
    else:
        assert point_colors.low < point_colors.high


# Many points


def test_many_points_become_shaded_cells(rng) -> None:
    Z = rng.normal(size=(21_000, 2))
    labels = np.where(Z[:, 0] < 0, "left", "right")
    ax = plot.scatter(Z, labels)
    assert not ax.collections
    (image,) = ax.images
    cells = np.asarray(image.get_array())
    left, right, low, high = image.get_extent()
    column, row = (
        int((value - start) / (end - start) * count)
        for value, start, end, count in (
            (Z[0, 0], left, right, cells.shape[1]),
            (Z[0, 1], low, high, cells.shape[0]),
        )
    )
    assert cells[row, column, 3] > 0
    expected, other = PALETTE[:2] if Z[0, 0] < 0 else PALETTE[1::-1]
    shown = to_hex(cells[row, column, :3])
    assert color_distance(shown, expected) < 0.25 < color_distance(shown, other)
    assert list(legend_of(ax)) == ["left", "right"]


def test_cells_mix_linear_light_by_counts_and_empty_ones_are_transparent(monkeypatch) -> None:
    points = np.array([[0.0, 0.0]] * 3 + [[1.0, 1.0]] * 2 + [[0.0, 0.0]])
    point_colors = Categories(("black", "white"), np.array([0, 0, 0, 1, 1, 1]), ("#000000", "#ffffff"))
    edges = (np.array([-0.5, 0.5, 1.5]), np.array([-0.5, 0.5, 1.5]))
    monkeypatch.setattr(_density_shading, "DEEPEST", 1.0)
    cells = shade_cells(points, point_colors, edges, spread=0)
    # A quarter of the light of white is 0.537 in sRGB.
    np.testing.assert_allclose(cells[0, 0, :3], 0.5371, atol=1e-3)
    np.testing.assert_allclose(cells[1, 1, :3], 1.0)
    assert cells[0, 1, 3] == cells[1, 0, 3] == 0
    assert cells[0, 0, 3] > cells[1, 1, 3] > 0


def test_cells_of_values_have_the_color_of_the_mean(monkeypatch) -> None:
    points = np.array([[0.0, 0.0], [0.0, 0.0], [1.0, 0.0]])
    edges = (np.array([-0.5, 0.5, 1.5]), np.array([-0.5, 0.5]))
    monkeypatch.setattr(_density_shading, "DEEPEST", 1.0)
    cells = shade_cells(points, ColorScale(np.array([0.0, 4.0, np.nan]), 0.0, 8.0), edges, spread=0)
    np.testing.assert_allclose(cells[0, 0, :3], matplotlib.colormaps["viridis"](0.25)[:3])
    np.testing.assert_allclose(cells[0, 1, :3], to_rgba(ABSENT)[:3])


def test_cells_cover_all_points_and_are_square(rng) -> None:
    points = rng.normal(size=(500, 2)) * (1, 7)
    x, y = cell_edges(points, square=True)
    assert np.diff(x)[0] == pytest.approx(np.diff(y)[0], rel=0.02)
    assert np.histogram2d(*points.T, bins=(x, y))[0].sum() == 500


# Density and text labels


def test_density_is_the_kernel_estimate_with_scotts_bandwidth(rng) -> None:
    points = rng.normal(size=(60, 2)) * (1.0, 3.0) + (5.0, -2.0)
    (x, y), heights = density_cells(points)
    assert heights.sum() * np.diff(x)[0] * np.diff(y)[0] == pytest.approx(1.0)
    width = points.std(axis=0) * 60 ** (-1 / 6)
    across, up = ((edge[:-1] + edge[1:]) / 2 for edge in (x, y))
    kernel_x = np.exp(-0.5 * ((across[:, None] - points[:, 0]) / width[0]) ** 2)
    kernel_y = np.exp(-0.5 * ((up[:, None] - points[:, 1]) / width[1]) ** 2)
    expected = kernel_y @ kernel_x.T / (60 * 2 * np.pi * width.prod())
    # Points move to the centers of their cells, an error of about 2%.
    np.testing.assert_allclose(heights, expected, atol=0.03 * expected.max())


def test_density_draws_its_cells(rng) -> None:
    Z = rng.normal(size=(200, 2))
    ax = plot.density(Z, title="t")
    _, heights = density_cells(Z)
    np.testing.assert_array_equal(np.ma.getdata(ax.images[0].get_array()), heights)
    assert ax.get_title(loc="left") == "t"


def label_boxes(ax) -> list:
    """The extents of row names, without their leader lines."""
    ax.figure.draw_without_rendering()
    return [Text.get_window_extent(t) for t in ax.texts if t.get_text()]


def assert_free(ax) -> None:
    boxes = label_boxes(ax)
    frame = ax.get_window_extent()
    for i, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:i])
        assert frame.x0 <= box.x0 and box.x1 <= frame.x1 and frame.y0 <= box.y0 and box.y1 <= frame.y1


def test_text_labels_do_not_overlap() -> None:
    # A tight row and column of points, where every label has to move.
    Z = np.array([(i * 0.4, 0.0) for i in range(6)] + [(0.0, i * 0.4) for i in range(1, 6)] + [(9.0, 9.0)])
    ids = [f"point {i}" for i in range(len(Z))]
    ax = plot.scatter(Z, ids=ids)
    assert_free(ax)
    named = {t.get_text(): t.xy for t in ax.texts if t.get_text()}
    assert len(named) >= len(ids) - 2
    for name, place in named.items():
        np.testing.assert_array_equal(place, Z[ids.index(name)])


@given(st.integers(1, 200), st.sampled_from([0.0, 1e-9, 1.0, 50.0]), st.integers(0, 5))
@settings(max_examples=5, deadline=None)
def test_no_two_row_names_overlap_at_any_size(n, spread, seed) -> None:
    """Also with coincident rows, outliers and names of any length; each name stands nearer to its own row."""
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, 2)) * (1, spread)
    Z[0] = 8.0
    ax = plot.scatter(Z, ids=["x" * (i % 30) + str(i) for i in range(n)])
    assert_free(ax)
    assert ax.texts, "the outlier, at least, has room"
    pyplot.close(ax.figure)


def test_the_most_isolated_rows_are_named_first(rng) -> None:
    Z = np.vstack([rng.normal(size=(3000, 2)), [[9, 0], [-9, 1], [0, 9], [1, -9]]])
    ids = [*map(str, range(3000)), "east", "west", "north", "south"]
    ax = plot.scatter(Z, ids=ids)
    named = {t.get_text() for t in ax.texts}
    assert {"east", "west", "north", "south"} <= named
    assert 5 < len(named) < 400
    assert_free(ax)
    markers = ax.transData.transform(Z)
    for box in label_boxes(ax):  # no name lies on a marker
        assert not ((markers > [box.x0, box.y0]) & (markers < [box.x1, box.y1])).all(axis=1).any()


def test_a_text_label_stays_inside_the_frame() -> None:
    _, ax = pyplot.subplots()
    ax.set(xlim=(0, 1), ylim=(0, 1))
    points = np.array([[0.99, 0.5], [0.01, 0.5]])
    assert LabelPlacer(ax, points, 3.0).place(points, ["at the right edge", "at the left edge"]) == 2
    assert_free(ax)


def test_row_names_in_a_column_that_is_reversed(rng) -> None:
    _, ax = pyplot.subplots()
    ax.set(xlim=(3, -3), ylim=(3, -3))
    points = rng.normal(size=(10, 2))
    assert LabelPlacer(ax, points, 3.0).place(points, [f"row {i}" for i in range(10)]) > 5
    assert_free(ax)


# Files


def test_save_writes_by_extension_and_closes_the_figure(tmp_path, rng) -> None:
    ax = plot.scatter(rng.normal(size=(20, 2)))
    number = ax.figure.number
    path = plot.save(ax, tmp_path / "map.png", dpi=50)
    assert path.read_bytes().startswith(b"\x89PNG")
    assert not pyplot.fignum_exists(number)
    assert "<svg" in plot.save(plot.scatter(np.eye(2)), tmp_path / "map.svg").read_text()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["map.png", "map.svg"]
    panels = plot.sources(ICA(2).fit(X := rng.laplace(size=(200, 2))), X)
    assert plot.save(panels, tmp_path / "sources.png", dpi=50).exists()  # of an array of axes


def test_errors_of_save(tmp_path) -> None:
    ax = plot.scatter(np.eye(2))
    with pytest.raises(errors.BadParameter, match=r"path must end in one of .*png"):
        plot.save(ax, tmp_path / "map.docx")
    with pytest.raises(errors.BadInput, match="folder that exists"):
        plot.save(ax, tmp_path / "nowhere" / "map.png")


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch) -> None:
    target = tmp_path / "map.png"
    target.write_bytes(b"old")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("lowdim.runtime.atomic_write.os.replace", fail)
    with pytest.raises(errors.BadInput, match="No space left"):
        plot.save(plot.scatter(np.eye(2)), target)
    assert [p.name for p in tmp_path.iterdir()] == ["map.png"]
    assert target.read_bytes() == b"old"


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(errors.MissingExtra, match=r"pip install 'lowdim\[app\]'"):
        plot.scatter(np.eye(2))


def test_nothing_heavy_is_imported_before_the_first_plot() -> None:
    code = "import sys, lowdim.plot as p; [getattr(p, n) for n in p.__all__]; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"matplotlib", "bokeh", "PIL", "pandas", "scipy.stats", "sklearn"} & set(loaded)


def test_public_names_are_functions() -> None:
    for name in plot.__all__:
        assert callable(getattr(plot, name)), name
    assert sorted(plot.__all__) == dir(plot)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        plot.nothing  # noqa: B018


# Edges


def test_edges_are_lines_between_their_rows(rng):
    Z, edges = rng.standard_normal((30, 3)), np.array([[0, 5], [7, 29], [3, 4]])
    ax = plot.scatter(Z, edges=edges)
    (lines,) = [c for c in ax.collections if isinstance(c, LineCollection)]
    np.testing.assert_array_equal(lines.get_segments(), Z[edges][:, :, :2])
    assert lines.get_zorder() < markers(ax).get_zorder()
    solid = plot.scatter(Z, ax=pyplot.figure().add_subplot(projection="3d"), edges=edges)
    solid.figure.canvas.draw()
    assert sum(isinstance(c, LineCollection) for c in solid.collections) == 1
    plot.scatter(Z, edges=np.empty((0, 2), int)).figure.canvas.draw()
    assert not any(isinstance(c, LineCollection) for c in plot.scatter(Z).collections)


@pytest.mark.parametrize("edges", [[[0, 30]], [[-1, 2]], [[0.0, 1.0]], [0, 1], [[0, 1, 2]]], ids=str)
def test_errors_of_edges(rng, edges):
    with pytest.raises(errors.BadInput, match="edges must be pairs of rows"):
        plot.scatter(rng.standard_normal((30, 2)), edges=edges)
    with pytest.raises(errors.BadInput, match="at least 2 dimensions"):
        plot.scatter(rng.standard_normal((30, 1)), edges=[[0, 1]])


def test_ellipses_hold_95_percent_of_each_category(rng) -> None:
    mix = np.array([[2.0, 0.0], [1.2, 0.4]])
    Z = np.vstack([rng.standard_normal((4000, 2)) @ mix, rng.standard_normal((4000, 2)) + 9, [[50.0, 50.0]]])
    labels = ["a"] * 4000 + ["b"] * 4000 + ["one row"]
    ax = plot.scatter(Z, labels, ellipses=True)
    first, second = ax.patches
    for ellipse, own in ((first, Z[:4000]), (second, Z[4000:8000])):
        unit = ellipse.get_patch_transform().inverted().transform(own)
        assert abs((np.linalg.norm(unit, axis=1) <= 1).mean() - 0.95) < 0.01
        np.testing.assert_allclose(ellipse.center, own.mean(axis=0), atol=1e-9)
    assert first.get_edgecolor() != second.get_edgecolor()
    for wrong, wrongly in ((Z[:, :1], labels), (Z, None), (Z, Z[:, 0])):
        with pytest.raises(errors.BadInput, match="ellipses need labels that are categories"):
            plot.scatter(wrong, wrongly, ellipses=True)


LAZY_BACKEND = """
import matplotlib
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backend_bases import FigureManagerBase
matplotlib.interactive(True)  # as the backend of notebooks does when it is first loaded
matplotlib.rcParams["savefig.dpi"] = 123
shown = []
class FigureManager(FigureManagerBase):
    def __init__(self, canvas, num):
        super().__init__(canvas, num)
        if matplotlib.is_interactive():
            shown.append(num)
class FigureCanvas(FigureCanvasAgg):
    manager_class = FigureManager
"""
NOTEBOOK = """
import numpy as np, matplotlib, lowdim.plot
Z = np.eye(3)[:, :2]
lowdim.plot.scatter(Z)
before = dict(matplotlib.rcParams)
lowdim.plot.density(np.random.default_rng(0).normal(size=(50, 2)))
from matplotlib import pyplot as plt
import lazy_backend
assert matplotlib.is_interactive() and plt.isinteractive()
assert matplotlib.rcParams["savefig.dpi"] == 123
assert dict(matplotlib.rcParams) == before
plt.figure(); plt.plot([1, 2])
lowdim.plot.scatter(Z, ax=plt.gca())
assert lazy_backend.shown == [1, 2, 3], lazy_backend.shown
"""


def test_every_figure_of_a_notebook_shows_also_the_users_own(tmp_path) -> None:
    """Nothing that a backend sets when it is first loaded is undone by the theme."""
    (tmp_path / "lazy_backend.py").write_text(LAZY_BACKEND)
    paths = os.pathsep.join([str(tmp_path), *sys.path])
    run_python(NOTEBOOK, MPLBACKEND="module://lazy_backend", PYTHONPATH=paths)


def test_rows_are_drawn_on_a_map_of_the_globe(clean_matplotlib):
    """Longitudes and latitudes, as UMAP(output_metric='haversine') has them in the other order."""
    from matplotlib import pyplot

    Z = np.random.default_rng(0).uniform(-1, 1, (20, 2))
    ax = plot.scatter(Z, list("ab") * 10, ax=pyplot.figure().add_subplot(projection="mollweide"))
    assert ax.name == "mollweide" and sum(len(c.get_offsets()) for c in ax.collections) == 20
