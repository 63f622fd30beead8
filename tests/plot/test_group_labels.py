"""Names of groups on maps of many points: on their groups, apart from each other, inside the axes."""

from __future__ import annotations

import numpy as np
import pytest

from lowdim import plot
from lowdim.plot._group_labels import densest_place

plt = pytest.importorskip("matplotlib.pyplot")


def groups(rng, n=21_000, names=("one", "two", "three")):
    centers = np.array([[0, 0], [10, 0], [0, 10]])
    codes = rng.integers(0, 3, n)
    return rng.normal(size=(n, 2)) + centers[codes], np.array(names)[codes], centers


def written(ax):
    return {text.get_text(): text for text in ax.texts if text.get_text()}


def test_groups_of_many_points_are_named_where_they_are(rng):
    points, labels, centers = groups(rng)
    ax = plot.scatter(points, labels)
    texts = written(ax)
    assert set(texts) == {"one", "two", "three"}
    for name, center in zip(("one", "two", "three"), centers, strict=True):
        assert np.linalg.norm(np.array(texts[name].xy) - center) < 1.5
    ax.figure.canvas.draw()
    boxes = [text.get_window_extent() for text in texts.values()]
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])
    assert all(ax.get_window_extent().contains(*box.min) and ax.get_window_extent().contains(*box.max) for box in boxes)
    plt.close(ax.figure)


def test_names_of_groups_in_one_place_do_not_cover_each_other(rng):
    points = rng.normal(size=(21_000, 2))
    labels = np.array([f"a group with a long name {i}" for i in range(6)])[rng.integers(0, 6, len(points))]
    ax = plot.scatter(points, labels)
    ax.figure.canvas.draw()
    boxes = [text.get_window_extent() for text in written(ax).values()]
    assert len(boxes) >= 3 and not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])
    plt.close(ax.figure)


def test_few_points_and_values_have_no_names(rng):
    points, labels, _ = groups(rng)
    few = plot.scatter(points[:500], labels[:500])
    values = plot.scatter(points, points[:, 0])
    assert not written(few) and not written(values)
    plt.close(few.figure)
    plt.close(values.figure)


def test_a_group_of_two_islands_is_named_on_one_of_them(rng):
    own = np.vstack([rng.normal(size=(300, 2)), rng.normal(size=(200, 2)) + 40])
    assert np.linalg.norm(densest_place(own)) < 2
    np.testing.assert_array_equal(densest_place(own[:1]), own[0])


def test_a_name_stands_beside_a_group_that_is_smaller_than_it(rng):
    codes = rng.integers(0, 3, 21_000)
    centers = np.array([[0, 0], [10, 3], [3, 10]])
    points = 0.05 * rng.normal(size=(21_000, 2)) + centers[codes]
    ax = plot.scatter(points, np.array(["the first group", "the second", "the third one"])[codes])
    ax.figure.canvas.draw()
    on_page = ax.transData.transform(points)
    texts = written(ax)
    assert len(texts) == 3
    for text in texts.values():
        box = text.get_window_extent()
        covered = ((on_page > box.min) & (on_page < box.max)).all(axis=1).mean()
        middle = (box.min + box.max) / 2
        gaps = np.linalg.norm(ax.transData.transform(centers) - middle, axis=1)
        own = np.linalg.norm(centers - np.array(text.xy), axis=1)
        assert covered < 0.01 and np.argmin(gaps) == np.argmin(own)
    plt.close(ax.figure)
