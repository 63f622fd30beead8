"""The plot of ICA's sources draws the sources, their distributions and their kurtosis."""

from __future__ import annotations

import matplotlib
import numpy as np
import pytest
import scipy.stats

from lowdim import ICA, PCA, TSNE, errors, plot
from lowdim.plot._sources import MOST_VERTICES
from mixtures import mixture

matplotlib.use("Agg")
from matplotlib import pyplot

pytestmark = pytest.mark.usefixtures("clean_matplotlib")


@pytest.fixture(scope="module")
def rows():
    return mixture(("laplace", "uniform", "sine"), 500)[2]


@pytest.fixture(scope="module")
def model(rows):
    return ICA().fit(rows)


def test_signals_and_their_kurtosis(model, rows):
    axes, Y = plot.sources(model, rows, title="Sources of a mixture"), model.transform(rows)
    assert axes.shape == (3, 2)
    for i in range(3):
        np.testing.assert_allclose(axes[i, 0].lines[0].get_ydata(), Y[:, i])
        text = axes[i, 0].texts[0].get_text().replace("−", "-")
        assert f"source {i + 1}: {model.explained_variance_ratio_[i]:.0%} of the variance" in text
        assert text.endswith(f"{scipy.stats.kurtosis(Y[:, i]):+.2f}")
        low, high = axes[i, 0].get_ylim()
        assert low < Y[:, i].min() and high > Y[:, i].max()
    assert axes[0, 0].figure.get_suptitle() == "Sources of a mixture"


def test_histograms_are_densities(model, rows):
    for ax in plot.sources(model, rows)[:, 1]:
        (stairs,) = ax.patches
        counts, edges, _ = stairs.get_data()
        assert (counts * np.diff(edges)).sum() == pytest.approx(1, abs=0.01)  # few values lie beyond six deviations
        normal = ax.lines[0].get_xdata()
        assert normal.max() == pytest.approx(1 / np.sqrt(2 * np.pi), rel=1e-3)


def test_a_window_of_the_rows_and_the_first_sources(model, rows):
    axes = plot.sources(model, rows, window=(100, 160), most=2)
    assert axes.shape == (2, 2)
    np.testing.assert_array_equal(axes[0, 0].lines[0].get_xdata(), np.arange(100, 160))
    assert "the first 2 of 3 sources" in axes[0, 0].figure.get_suptitle()


def test_many_rows_become_a_band_that_reaches_every_extreme(model, rng):
    X = rng.normal(size=(4 * MOST_VERTICES, 3))
    X[1234] = 50
    ax = plot.sources(model, X)[0, 0]
    (band,) = ax.collections
    heights, Y = band.get_paths()[0].vertices[:, 1], model.transform(X)[:, 0]
    assert heights.max() == pytest.approx(Y.max()) and heights.min() == pytest.approx(Y.min())


def test_other_linear_models_and_a_figure_of_ones_own(rows):
    figure = pyplot.figure(layout="constrained")
    axes = plot.sources(PCA(2).fit(rows), rows, figure=figure)
    assert axes[0, 0].figure is figure


def test_named_errors(model, rows):
    for window in ((5, 5), (-1, 4), (0, 501), "ab", 3):
        with pytest.raises((errors.BadInput, errors.BadParameter), match="window must"):
            plot.sources(model, rows, window=window)
    with pytest.raises(errors.BadParameter, match="most must be"):
        plot.sources(model, rows, most=0)
    with pytest.raises(errors.BadInput, match="Call fit first"):
        plot.sources(ICA(), rows)
    with pytest.raises(errors.BadInput, match="linear"):
        plot.sources(TSNE(max_iter=5, perplexity=5).fit(rows[:30]), rows[:30])
