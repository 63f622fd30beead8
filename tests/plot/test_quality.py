"""Plots of quality draw the curves, counts and values that were measured."""

from __future__ import annotations

import matplotlib
import numpy as np
import pytest
from sklearn.datasets import make_blobs

from lowdim import PCA, errors, plot, quality

matplotlib.use("Agg")

pytestmark = pytest.mark.usefixtures("clean_matplotlib")


@pytest.fixture(scope="module")
def rows():
    return make_blobs(80, n_features=6, centers=3, random_state=0)[0]


@pytest.fixture(scope="module")
def table(rows):
    return quality.table(rows, {"pca": PCA(2).fit_transform(rows), "_first": rows[:, :1]}, k=5, sample=40)


def test_r_nx_draws_every_curve_and_its_band(table):
    ax = table.plot(title="Maps")
    for found in table.maps.values():
        drawn = [line for line in ax.lines if np.array_equal(line.get_ydata(), found.r_nx.values)]
        assert drawn and np.array_equal(drawn[-1].get_xdata(), found.r_nx.ks)
    assert len(ax.collections) == 2 and ax.get_xscale() == "log"
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert len(texts) == 3 and any("_first" in text for text in texts)


def test_co_ranking_draws_shares_of_rows(rows, table):
    found = quality.co_ranking(rows, table["_first"].embedding)
    mesh = found.plot(k=5).collections[0]
    drawn = np.ma.filled(mesh.get_array(), 0).reshape(79, 79)
    np.testing.assert_allclose(drawn, found.matrix.T / 80)  # true ranks to the right, those in the map upward
    with pytest.raises(errors.BadParameter, match="from 1 to 79"):
        found.plot(k=80)


def test_point_quality_colors_by_the_values(table):
    ax = plot.point_quality(table["pca"], "trustworthiness")
    values = table["pca"].point_values["trustworthiness"]
    np.testing.assert_array_equal(np.ma.filled(ax.collections[0].get_array(), np.nan), values)
    assert "known of 40 of 80" in ax.texts[0].get_text()
    with pytest.raises(errors.BadParameter, match="known of points"):
        plot.point_quality(table["pca"], "lcmc")


def test_a_map_named_as_a_baseline_has_a_column_of_its_own(table):
    head, _ = table.rows()
    assert head == ["measure", "pca", "_first", "baseline: random map", "baseline: PCA"]
