"""Labels as categories, values and dates: their order, their names, and one color for each category everywhere."""

from __future__ import annotations

from datetime import UTC, date, datetime

import matplotlib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_hex

from lowdim import errors, plot
from lowdim.plot._colors import ABSENT, GRAY, PALETTE, tint
from lowdim.plot._density_shading import cell_edges, shade_cells
from lowdim.plot._page_legend import legend_html
from lowdim.plot._point_colors import MOST_IN_LEGEND, Categories, ColorScale, read_labels, read_with_background

matplotlib.use("Agg")
from matplotlib import pyplot

pytestmark = pytest.mark.usefixtures("clean_matplotlib")


def read(labels, **options):
    return read_labels(labels, len(labels), **options)


def colors_of(categories: Categories) -> dict[str, str]:
    return dict(zip(categories.names, categories.colors, strict=True))


# Order and names


def test_ordered_categories_keep_their_order_and_unordered_ones_are_sorted() -> None:
    values, order = ["high", "low", "medium", "low"], ["low", "medium", "high", "never"]
    for labels in (
        pd.Categorical(values, order, ordered=True),
        pd.Series(pd.Categorical(values, order, ordered=True)),
        pl.Series(values, dtype=pl.Enum(order)),
    ):
        found = read(labels)
        assert found.names == ("low", "medium", "high")
        np.testing.assert_array_equal(found.codes, [2, 0, 1, 0])
    assert read(pd.Categorical(["c10", "c2"], ["c10", "c2"])).names == ("c2", "c10")
    many = pd.Categorical(np.arange(60) % 50, np.arange(50)[::-1], ordered=True)  # not a scale
    assert read(many).names[:2] == ("49", "48")


def test_numbers_that_are_text_are_sorted_as_numbers() -> None:
    assert read(["10", "9", "-1", "1.5", "1.25"]).names == ("-1", "1.25", "1.5", "9", "10")
    assert read(["v10", "v9", "v1"]).names == ("v1", "v9", "v10")


def test_empty_labels_are_shown_as_such_in_gray() -> None:
    found = read(["b", "", "a", "  "])
    assert found.names == ("a", "b", "(empty)") and found.colors[-1] == ABSENT
    np.testing.assert_array_equal(found.codes, [1, 2, 0, 2])
    assert read(["b", "", None]).names == ("b", "missing")
    assert read(["b", ""], names={"": "control"}).names == ("control", "b")


def test_whole_numbers_that_hardly_recur_are_values() -> None:
    """Horsepower of 32 cars has 22 values; cylinders are three classes, and so are labels of as many rows."""
    assert isinstance(read(np.repeat(np.arange(50, 72), 2)), ColorScale)
    assert isinstance(read(np.repeat(np.arange(22), 3)), Categories)
    assert isinstance(read(np.repeat([4, 6, 8], 10)), Categories)
    assert isinstance(read(np.arange(12)), Categories)


def test_few_dates_are_categories_in_the_order_of_time_and_many_are_a_scale() -> None:
    few = [date(2024, 2, 1), date(2023, 12, 31), None, date(2024, 2, 1)]
    for labels in (
        np.array(few, dtype="datetime64[D]"),
        np.array(few, dtype=object),
        pd.Series(few, dtype="datetime64[ns]"),
    ):
        assert read(labels).names == ("2023-12-31", "2024-02-01", "missing")
    assert read([datetime(2024, 1, 1, 13, 30, tzinfo=UTC)]).names == ("2024-01-01T13:30",)
    days = pd.date_range("2020-02-28", periods=50)
    for labels in (days, days.strftime("%Y-%m-%d"), np.array([*days[:-1].date, None], dtype=object)):
        found = read(labels)
        assert isinstance(found, ColorScale) and found.dates
        assert found.values[0] == (date(2020, 2, 28) - date(1970, 1, 1)).days
        assert found.high - found.low in (48, 49)
    assert "2020-02-28</span>" in legend_html(read(days))
    assert isinstance(read([f"2023-02-{day}" for day in range(10, 40)]), Categories)  # no such days
    ax = plot.scatter(np.random.default_rng(0).normal(size=(50, 2)), pd.Series(days, name="visit"))
    ax.figure.draw_without_rendering()
    bar = ax.figure.axes[-1]
    assert bar.get_ylabel() == "visit" and any("Apr" in text.get_text() for text in bar.get_yticklabels())


def test_the_name_of_the_column_is_the_title_of_legend_and_color_bar(rng) -> None:
    Z = rng.normal(size=(40, 2))
    ax = plot.scatter(Z, pd.Series(["a", "b"] * 20, name="species"))
    assert ax.get_legend().get_title().get_text() == "species"
    assert plot.scatter(Z, Z[:, 0], label_name="$width$").figure.axes[-1].get_ylabel() == "$width$"
    assert plot.scatter(Z, ["a", "b"] * 20, legend=False).get_legend() is None
    assert len(plot.scatter(Z, Z[:, 0], legend=False).figure.axes) == 1
    long = plot.scatter(Z, ["x" * 300, "a word " * 50] * 20)
    long.figure.draw_without_rendering()
    assert long.get_window_extent().width > 0.5 * long.figure.bbox.width


@pytest.mark.parametrize("place", ["subplot", "free", "3d"])
def test_a_legend_on_given_axes_stays_off_the_points(rng, place) -> None:
    figure = pyplot.figure()
    ax = (
        figure.add_axes((0.1, 0.1, 0.8, 0.8))
        if place == "free"
        else figure.add_subplot(projection="3d" if place == "3d" else None)
    )
    plot.scatter(rng.normal(size=(60, 3)), rng.choice(["first", "second"], 60), ax=ax)
    figure.draw_without_rendering()
    legend = ax.get_legend().get_window_extent()
    assert legend.x0 >= ax.get_window_extent().x1
    assert legend.x1 <= figure.bbox.x1 + 1


# One color everywhere


@given(st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=30), st.data())
def test_a_category_keeps_its_color_where_others_are_absent_or_new(labels, data) -> None:
    colors = plot.category_colors(labels)
    some = data.draw(st.lists(st.sampled_from([*labels, "new", "other"]), min_size=1))
    found = colors_of(read(some, colors=colors))
    assert {name: found[name] for name in found if name in colors} == {n: c for n, c in colors.items() if n in found}
    assert len(set(found.values())) == len(found)
    assert plot.category_colors(np.random.default_rng(0).permutation(labels)) == colors


def test_new_rows_keep_the_colors_and_the_range_of_the_map() -> None:
    old, new = ["b", "c", "b"], ["a", "c"]
    front, behind = read_with_background(new, 2, old, 3, colors=None, title=None)
    assert front.colors == behind.colors and front.names == ("a", "b", "c")
    alone = plot.category_colors(old)
    assert {name: colors_of(front)[name] for name in alone} == alone
    np.testing.assert_array_equal(front.codes, [0, 2])
    np.testing.assert_array_equal(behind.codes, [1, 2, 1])
    front, behind = read_with_background([0.5, 9.5], 2, [1.5, 3.5, 2.5], 3, colors=None, title=None)
    assert (front.low, front.high) == (behind.low, behind.high) == (0.5, 9.5)
    with pytest.raises(errors.BadInput, match="background_labels must have one label per row"):
        read_with_background(new, 2, old, 4, colors=None, title=None)


def test_of_too_many_categories_the_smallest_are_gray_in_figure_and_page() -> None:
    labels = np.repeat([f"c{i}" for i in range(30)], np.arange(1, 31))
    colors = plot.category_colors(labels)
    assert [name for name, color in colors.items() if color == GRAY] == [
        f"c{i}" for i in range(30 - MOST_IN_LEGEND + 1)
    ]
    assert len(set(colors.values())) == MOST_IN_LEGEND


def test_background_rows_are_tints_and_lie_beneath(rng) -> None:
    old, new = rng.normal(size=(20, 2)), rng.normal(size=(6, 2))
    ax = plot.scatter(new, ["a", "b"] * 3, background=old, background_labels=["b", "c"] * 10)
    behind, front = sorted(ax.collections, key=lambda drawn: drawn.get_zorder())
    np.testing.assert_array_equal(behind.get_offsets(), old)
    np.testing.assert_array_equal(front.get_offsets(), new)
    own = plot.category_colors(["b", "c"])
    assert to_hex(front.get_facecolors()[1]) == own["b"].lower()
    assert to_hex(behind.get_facecolors()[0]) == tint(own["b"], 0.42)
    assert ax.texts[0].get_text() == "6 rows on the map of 20 others (pale)"
    plain = plot.scatter(new, background=old[:, :2], background_labels=["b", "c"] * 10)
    assert [text.get_text() for text in plain.get_legend().get_texts()] == ["b", "c"]
    strips = plot.scatter(new[:, :1], ["a", "b"] * 3, background=old[:, :1], background_labels=["b", "c"] * 10)
    assert [text.get_text() for text in strips.get_yticklabels()] == ["a", "b", "c"]
    many = plot.scatter(new, background=rng.normal(size=(25_000, 2)))
    assert len(many.images) == 1 and len(many.collections) == 1


# Shading


def test_shading_grows_with_density_and_no_row_vanishes(rng) -> None:
    """Ink is opacity; it never falls where points are added, and every lone point has some."""
    edges = (np.linspace(0, 1, 61), np.linspace(0, 1, 61))
    places = (np.arange(6) + 0.5) / 6
    points = np.vstack([np.tile([[place, 0.5]], (2**i, 1)) for i, place in enumerate(places)])
    for colors in (None, Categories(("a",), np.zeros(len(points), dtype=np.intp), (PALETTE[0],))):
        cells = shade_cells(points, colors, edges)
        at = [cells[30, int(place * 60)] for place in places]
        opacity = [cell[3] for cell in at]
        assert all(np.diff(opacity) > 0) and opacity[0] > 0.6 and opacity[-1] > 0.95
        light = [cell[:3].sum() for cell in at]
        assert all(np.diff(light) < 0)  # deeper where denser
        ink = cells[..., 3].sum()
        more = shade_cells(np.vstack([points, rng.uniform(size=(40, 2))]), None, edges)[..., 3].sum()
        assert more > ink > 0
    grid = rng.uniform(size=(30_000, 2))
    shaded = shade_cells(grid, None, cell_edges(grid, square=True))
    assert shaded.shape[2] == 4 and np.isfinite(shaded).all() and shaded.min() >= 0 and shaded.max() <= 1
