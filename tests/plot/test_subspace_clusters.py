"""Plots of subspace clusters draw the right rows, columns and numbers."""

from __future__ import annotations

import matplotlib
import numpy as np
import pytest

import lowdim
from lowdim import errors, plot
from lowdim.plot._subspace_clusters import sample_rows
from lowdim.subspace import CLIQUE, PROCLUS, planted_clusters

matplotlib.use("Agg")
from matplotlib.collections import PathCollection

pytestmark = pytest.mark.usefixtures("clean_matplotlib")


@pytest.fixture(scope="module")
def planted():
    return planted_clusters(200, 6, 2, 3, noise=0.2, random_state=1)


def test_heat_map_shows_rows_by_cluster_and_fades_other_dimensions(planted):
    ax = plot.subspace_heatmap(planted, planted.X, title="planted")
    faded, strong = ax.images
    order = np.argsort(np.where(planted.labels < 0, 9, planted.labels), kind="stable")
    scaled = (planted.X - planted.X.min(axis=0)) / np.ptp(planted.X, axis=0)
    np.testing.assert_allclose(faded.get_array(), scaled[order])
    shown = ~np.ma.getmaskarray(strong.get_array())
    for c, cluster in enumerate(planted.clusters):
        inside = shown[planted.labels[order] == c]
        assert inside[:, cluster.dimensions].all() and inside.sum() == cluster.size * 3
    assert not shown[planted.labels[order] < 0].any()
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["cluster 0 (80)", "cluster 1 (80)", "none (40)"]
    assert ax.texts[0].get_text() == "200 rows"


def test_many_rows_are_thinned_out():
    labels = np.repeat([1, -1, 0], 1000)
    order = sample_rows(labels, 300)
    assert len(order) == 300
    assert (np.diff(np.where(labels[order] < 0, 9, labels[order])) >= 0).all()
    np.testing.assert_allclose(np.bincount(labels[order] + 1), 100, atol=1)


def test_panels_show_the_narrowest_dimensions(planted):
    model = PROCLUS(2, 3, n_init=2).fit(planted.X)
    panels = plot.subspace_panels(model, planted.X, title="PROCLUS")
    assert len(panels) == 2
    for ax, cluster in zip(panels, model.clusters_, strict=True):
        every, own = (part.get_offsets() for part in ax.collections if isinstance(part, PathCollection))
        assert len(every) == 200 and len(own) == cluster.size
        a, b = (int(ax.get_xlabel()[1:]), int(ax.get_ylabel()[1:]))
        assert {a, b} <= set(cluster.dimensions.tolist())
        np.testing.assert_allclose(own, planted.X[cluster.rows][:, [a, b]])
    assert len(plot.subspace_panels(model, planted.X, most=1)) == 1


def test_a_cluster_of_one_dimension_is_a_histogram():
    X = np.concatenate([np.zeros(30), np.linspace(5, 9, 10)])[:, None]
    (ax,) = plot.subspace_panels(CLIQUE(9, 0.3).fit(X), X)
    assert sum(bar.get_height() for bar in ax.patches) == 40 + 30


def test_parallel_coordinates(planted):
    table = lowdim.Table(planted.X, tuple("abcdef"))
    ax = plot.parallel_coordinates(planted, table, title="planted")
    assert [tick.get_text() for tick in ax.get_xticklabels()] == list("abcdef")
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["cluster 0", "cluster 1", "none"]
    bars = [line for line in ax.lines if line.get_linewidth() == 4.5]
    assert len(bars) == 6  # three dimensions of two clusters
    faint, strong = ax.collections
    assert len(faint.get_segments()) == 200
    pairs = [int((np.diff(cluster.dimensions) == 1).sum()) for cluster in planted.clusters]
    assert len(strong.get_segments()) == sum(80 * pair for pair in pairs)


def test_refusals(planted):
    with pytest.raises(errors.BadInput, match="fitted subspace clusterer"):
        plot.subspace_heatmap(PROCLUS(), planted.X)
    with pytest.raises(errors.BadInput, match="200 rows that were clustered; got 10"):
        plot.parallel_coordinates(planted, planted.X[:10])
    with pytest.raises(errors.BadInput, match="fewer than the clusters"):
        plot.subspace_heatmap(planted, planted.X[:, :2])
    with pytest.raises(errors.BadInput, match="no clusters to draw"):
        plot.subspace_panels(CLIQUE(2, 1.0).fit(planted.X), planted.X)
    with pytest.raises(errors.BadInput, match="most must be"):
        plot.subspace_panels(planted, planted.X, most=0)
