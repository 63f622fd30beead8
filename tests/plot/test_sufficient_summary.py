"""The sufficient summary plot draws scores, slices and a smooth of the right numbers."""

from __future__ import annotations

import matplotlib
import numpy as np
import pandas as pd
import pytest
from statsmodels.nonparametric.smoothers_lowess import lowess

from lowdim import PCA, PHD, SIR, Standardized, datasets, errors, plot
from lowdim.plot._sufficient_summary import local_linear
from sdr_models import rational_model

matplotlib.use("Agg")

pytestmark = pytest.mark.usefixtures("clean_matplotlib")


@pytest.fixture(scope="module")
def fitted():
    X, y, _ = rational_model(300)
    return SIR(2).fit(X, y), X, y


def test_scores_slices_and_means(fitted):
    model, X, y = fitted
    ax = plot.sufficient_summary(model, X, y, title="t", response="amount")
    assert len(ax.figure.axes) == 2 and ax.get_ylabel() == "amount"
    points, means = (drawn.get_offsets() for drawn in ax.collections)
    np.testing.assert_allclose(points, np.column_stack([model.transform(X)[:, 0], y]))
    lowest = np.argsort(y)[:30]
    np.testing.assert_allclose(means[0], [model.transform(X)[lowest, 0].mean(), y[lowest].mean()])
    edges = [line.get_ydata()[0] for line in ax.lines if len(line.get_ydata()) == 2]
    np.testing.assert_allclose(edges, model.slice_edges_)
    assert "eigenvalue" in ax.texts[0].get_text() and "of the variance" in ax.texts[0].get_text()
    assert ax.texts[0].get_text().endswith("◆ means of slices")
    named = plot.sufficient_summary(model, X, pd.Series(y, name="amount"))
    assert named.get_ylabel() == "amount" and "◆" not in named.figure.axes[1].texts[0].get_text()


def test_a_standardized_model_draws_the_rows_in_their_own_units(fitted):
    _, X, y = fitted
    model = Standardized(SIR(2)).fit(100 * X + 7, y)
    ax = plot.sufficient_summary(model, 100 * X + 7, y)
    np.testing.assert_allclose(ax.collections[0].get_offsets()[:, 0], model.transform(100 * X + 7)[:, 0])
    assert "◆ means of slices" in ax.texts[0].get_text()


def test_classes_are_rows_of_points():
    wine = datasets.load("wine")
    ax = plot.sufficient_summary(SIR(2).fit(wine.X, wine.labels), wine.X, wine.labels, directions=1)
    assert len(ax.figure.axes) == 1 and not ax.lines
    assert [text.get_text() for text in ax.get_yticklabels()] == ["class_0", "class_1", "class_2"]


def test_the_smooth_is_loess():
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(size=200))
    y = np.sin(6 * x) + 0.1 * rng.normal(size=200)
    np.testing.assert_allclose(local_linear(x, y, x, 0.3), lowess(y, x, frac=0.3, it=0)[:, 1], atol=2e-3)
    np.testing.assert_allclose(local_linear(x, 3 - 2 * x, x[:5], 0.2), 3 - 2 * x[:5])  # a line is a line
    np.testing.assert_allclose(local_linear(np.ones(9), np.arange(9.0), np.ones(1), 0.5), 4)


def test_other_models_and_many_rows(fitted):
    _, X, y = fitted
    plot.sufficient_summary(PHD(1).fit(X, y), X, y, span=None)
    plot.sufficient_summary(PCA(2).fit(X), X, y > 0)
    many = np.tile(X, (80, 1))
    plot.sufficient_summary(fitted[0], many, np.tile(y, 80), directions=1)


@pytest.mark.parametrize(
    ("options", "words"),
    [({"directions": 3}, "directions must be from 1 to 2"), ({"span": 0.0}, "span must be a share")],
)
def test_what_cant_be_drawn_is_refused(fitted, options, words):
    with pytest.raises(errors.BadParameter, match=words):
        plot.sufficient_summary(*fitted, **options)


def test_bad_responses_are_refused(fitted):
    model, X, y = fitted
    with pytest.raises(errors.BadInput, match="one label per row"):
        plot.sufficient_summary(model, X, y[:5])
    with pytest.raises(errors.BadInput, match="finite number"):
        plot.sufficient_summary(model, X, np.where(y > 1, np.nan, y))
    with pytest.raises(errors.BadInput, match="must be fitted"):
        plot.sufficient_summary(SIR(), X, y)
