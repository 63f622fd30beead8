"""Pictures of feature selection: what is drawn is what was found."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.naive_bayes import GaussianNB

from lowdim import plot, select
from lowdim.errors import BadInput, BadParameter

pyplot = pytest.importorskip("matplotlib.pyplot")
pyplot.switch_backend("agg")

DATA = load_wine(as_frame=True)


@pytest.fixture(autouse=True)
def _close():
    yield
    pyplot.close("all")


def test_the_path_with_its_error_band(tmp_path):
    model = select.SequentialSelection("parsimonious", estimator=GaussianNB(), cv=3).fit(
        DATA.data.iloc[:, :5], DATA.target
    )
    ax = plot.selection_path(model, title="Wine")
    means = model.cv_scores_.mean(axis=1)
    errors = model.cv_scores_.std(axis=1, ddof=1) / np.sqrt(3)
    line = ax.lines[0]
    assert list(line.get_xdata()) == [1, 2, 3, 4, 5] and np.allclose(line.get_ydata(), means)
    corners = ax.collections[0].get_paths()[0].vertices
    assert corners[:, 1].max() == pytest.approx((means + errors).max())
    assert corners[:, 1].min() == pytest.approx((means - errors).min())
    chosen = model.support_.sum()
    assert (
        ax.lines[2].get_xdata()[0] == chosen
        and f"selected: {chosen} feature" in ax.get_legend().get_texts()[2].get_text()
    )
    assert plot.save(ax, tmp_path / "path.png").stat().st_size > 5000
    with pytest.raises(BadInput, match="has no path"):
        plot.selection_path(select.FTest().fit(DATA.data, DATA.target))


def test_scores_of_a_filter_and_importances_of_boruta():
    model = select.FTest(3).fit(DATA.data, DATA.target)
    ax = plot.feature_scores(model, most=5)
    assert [bar.get_width() for bar in ax.patches] == pytest.approx(np.sort(model.scores_)[::-1][:5])
    assert ax.get_yticklabels()[0].get_text() == "flavanoids"
    shades = {bar.get_facecolor() for bar in ax.patches[:3]}, {bar.get_facecolor() for bar in ax.patches[3:]}
    assert len(shades[0]) == len(shades[1]) == 1 and shades[0] != shades[1]
    boruta = select.Boruta(estimator=ExtraTreesClassifier(5), max_iter=3).fit(DATA.data, DATA.target)
    ax = plot.feature_scores(boruta)
    assert ax.lines[0].get_xdata()[0] == pytest.approx(boruta.shadow_importances_.mean())
    y = np.repeat([0, 1], 5)
    infinite = select.FTest(1).fit(np.column_stack([y, np.arange(10) % 3]), y)
    assert all(np.isfinite(bar.get_width()) for bar in plot.feature_scores(infinite).patches)
    with pytest.raises(BadInput, match="has no scores"):
        plot.feature_scores(select.PrincipalFeatureAnalysis().fit(DATA.data))
    with pytest.raises(BadParameter, match="most must be"):
        plot.feature_scores(model, most=0)


def test_rankings_side_by_side():
    found = select.compare(
        DATA.data, DATA.target, filters=["f", "mrmr", "variance"], n_resamples=2, cv=2, estimator=GaussianNB()
    )
    ax = found.plot()
    assert ax.get_yticklabels()[0].get_text() == found.features[found.order[0]]
    cells = [text.get_text() for text in ax.texts]
    assert cells[:3] == [str(result.ranking[found.order[0]]) for result in found.results]
    assert len(ax.patches) == 3 * found.k  # a frame for everything selected
    panels = ax.figure.axes
    assert len(panels) == 3 and panels[2].get_ylabel() == "score"
    assert len(plot.rankings(found, most=4).get_yticklabels()) == 4
    with pytest.raises(BadInput, match=r"result of lowdim\.select\.compare"):
        plot.rankings(3)
    with pytest.raises(BadParameter, match="most must be"):
        plot.rankings(found, most=0)
