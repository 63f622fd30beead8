"""Built-in data sets have the documented numbers and geometry."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from lowdim import PCA
from lowdim.data import datasets
from lowdim.errors import BadInput, BadParameter

SYNTHETIC = {"faces", "rings", "spiral", "swissroll", "scurve", "subspaces", "clusters"}


def test_every_data_set_loads_and_names_its_source():
    listed = datasets.names()
    assert {"digits", "iris", "wine", "arrests", "eight", "cities"} | SYNTHETIC == set(listed)
    for name, line in listed.items():
        table = datasets.load(name)
        assert table.source and table.source in line
        assert "\n" not in line
        assert np.isfinite(table.X).all()
        assert table.X.shape == (len(table.X), len(table.names))
        assert len(set(table.names)) == len(table.names)
        for column in (table.labels, table.ids):
            assert column is None or column.shape == (len(table.X),)
        if table.image_shape is not None:
            assert np.prod(table.image_shape) == len(table.names)


def test_arrests_have_the_published_standard_deviations():
    table = datasets.load("arrests")
    found = PCA(n_components=None, standardize=True).fit(table.X)
    published = [1.5748783, 0.9948694, 0.5971291, 0.4164494]
    assert_allclose(np.sqrt(found.explained_variance_), published, atol=5e-8)
    # First loadings as R's prcomp prints them.
    assert_allclose(np.abs(found.components_[0]), [0.5358995, 0.5831836, 0.2781909, 0.5434321], atol=5e-8)
    assert_allclose(table.X.mean(axis=0), [7.788, 170.76, 65.54, 21.232])
    assert table.ids[28] == "New Hampshire" and len(set(table.ids)) == 50
    assert_array_equal(table.X[list(table.ids).index("Wyoming")], [6.8, 161, 60, 15.6])


def test_eight_points_have_lecture_4s_axes():
    found = PCA(2, ddof=0).fit(datasets.load("eight").X)
    assert_allclose(found.explained_variance_, 4.875 + np.array([1, -1]) * np.sqrt(19.953125))
    assert_allclose(found.components_[0], [0.808647, 0.588294], atol=5e-7)
    assert_allclose(found.mean_, [5, 5])


def test_cities_have_lecture_2s_spectrum():
    table = datasets.load("cities")
    assert table.kind == "distances"
    assert list(table.ids) == list(table.names) and table.ids[5] == "Seattle"
    assert_array_equal(table.X, table.X.T)
    H = np.eye(9) - 1 / 9
    spectrum = np.linalg.eigvalsh(-0.5 * H @ table.X**2 @ H)[::-1]
    golden = [
        13949791.247,
        2124813.269,
        183009.131,
        90600.521,
        37352.793,
        0,
        -412.232,
        -62312.068,
        -323706.772,
    ]
    assert_allclose(spectrum, golden, atol=1e-3)


def test_scikit_learn_data_sets_keep_their_labels():
    digits, iris, wine = (datasets.load(name) for name in ("digits", "iris", "wine"))
    assert digits.image_shape == (8, 8) and digits.X.max() == 16
    assert_array_equal(np.unique(iris.labels, return_counts=True)[1], [50, 50, 50])
    assert set(iris.labels) == {"setosa", "versicolor", "virginica"}
    assert wine.names[-1] == "proline" and len(set(wine.labels)) == 3
    # Iris: the first component explains 92.46% of the variance.
    assert_allclose(PCA(1).fit(iris.X).explained_variance_ratio_, 0.924619, atol=5e-7)


@pytest.mark.parametrize("name", sorted(SYNTHETIC))
def test_synthetic_data_depend_on_the_seed_only(name):
    same, again, other = (datasets.load(name, n=60, noise=0.1, random_state=s).X for s in (3, 3, 4))
    assert_array_equal(same, again)
    assert not np.allclose(same, other)
    assert len(same) == 60


def path_lengths(table, columns):
    """The length of the path through the points in label order, and the arc length that the labels claim."""
    order = np.argsort(table.labels)
    steps = np.linalg.norm(np.diff(table.X[order][:, columns], axis=0), axis=1)
    return np.concatenate([[0], np.cumsum(steps)]), table.labels[order] - table.labels.min()


@pytest.mark.parametrize(("name", "columns"), [("spiral", [0, 1]), ("swissroll", [0, 2]), ("scurve", [0, 2])])
def test_the_label_is_the_arc_length(name, columns):
    path, label = path_lengths(datasets.load(name, n=20_000), columns)
    assert_allclose(path, label, atol=2e-3 * label.max() / 10)
    # Points are uniform along the curve, so the labels are uniform.
    assert_allclose(label / label.max(), np.linspace(0, 1, len(label)), atol=0.02)


@pytest.mark.parametrize(("name", "columns"), [("spiral", [0, 1]), ("swissroll", [0, 2]), ("scurve", [0, 2])])
def test_noise_is_normal_to_the_curve(name, columns):
    clean, noisy = datasets.load(name, n=4000), datasets.load(name, n=4000, noise=0.01)
    assert_array_equal(noisy.labels, clean.labels)
    off = (noisy.X - clean.X)[:, columns]
    assert_allclose(off.std(), 0.01 / np.sqrt(2), rtol=0.05)
    order = np.argsort(clean.labels)
    tangent = np.gradient(clean.X[order][:, columns], axis=0)
    tangent /= np.linalg.norm(tangent, axis=1, keepdims=True)
    assert np.abs((off[order] * tangent).sum(axis=1)).max() < 1e-3
    if "height" in clean.names:
        assert_array_equal(noisy.X[:, 1], clean.X[:, 1])


def test_rings_lie_on_circles():
    table = datasets.load("rings", rings=3, noise=0.0)
    assert_allclose(np.hypot(*table.X.T), 1 + 3 * table.labels)
    assert_allclose(np.hypot(*datasets.load("rings", gap=1.5, noise=0.0).X.T), 1 + 1.5 * (np.arange(400) % 2))
    assert set(table.labels) == {0, 1, 2}
    radii = np.hypot(*datasets.load("rings", n=5000, rings=1, noise=0.1).X.T)
    assert_allclose([radii.mean(), radii.std()], [1, 0.1], atol=0.005)


def test_clusters_have_their_spread_and_distance():
    table = datasets.load("clusters", n=20_000, d=40, clusters=10, separation=8.0, noise=0.5)
    centers = np.array([table.X[table.labels == c].mean(axis=0) for c in range(10)])
    assert_allclose((table.X - centers[table.labels]).std(), 0.5, rtol=0.01)
    gaps = np.linalg.norm(centers[:, None] - centers, axis=2)[np.triu_indices(10, 1)]
    assert_allclose(gaps.mean(), 8, rtol=0.15)
    assert_array_equal(np.bincount(table.labels), [2000] * 10)


def test_faces_have_few_factors_of_variation():
    table = datasets.load("faces", noise=0.0)
    assert table.X.min() >= 0 and table.X.max() <= 1
    within = np.mean([table.X[table.labels == p].var(axis=0).sum() for p in range(40)])
    total = table.X.var(axis=0).sum()
    assert within < 0.6 * total  # a person is recognizable
    assert PCA(30).fit(table.X).explained_variance_ratio_.sum() > 0.97  # of 1,024 pixels


def test_errors_for_unknown_names_and_options():
    for arguments, options, word in [
        (("swisroll",), {}, "Did you mean swissroll"),
        (("zzzzz",), {}, "Available: digits"),
        ((["digits"],), {}, "no data set"),
        (("rings",), {"sigma": 1}, "n=400, rings=2, gap=3.0, noise=0.05, random_state=0"),
        (("iris",), {"n": 3}, "no options"),
        (("rings",), {"n": 1.5}, "whole number"),
        (("rings",), {"noise": -1}, "at least 0"),
        (("rings",), {"random_state": "a"}, "random_state must be"),
    ]:
        with pytest.raises(BadParameter, match=word):
            datasets.load(*arguments, **options)


def test_a_table_is_fitted_with_its_column_names():
    wine, cities = datasets.load("wine"), datasets.load("cities")
    model = PCA(2).fit(wine)
    assert model.feature_names_in_.tolist() == list(wine.names)
    assert_allclose(model.transform(wine), PCA(2).fit(wine.X).transform(wine.X))
    with pytest.raises(BadInput, match="distances, not rows"):
        PCA(2).fit(cities)
