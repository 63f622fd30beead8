"""Plots of models: scree plot, biplot, loadings, eigenimages and Shepard diagram draw the correct numbers."""

from __future__ import annotations

from types import SimpleNamespace

import matplotlib
import numpy as np
import pandas as pd
import pytest
import sklearn.decomposition
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from matplotlib.quiver import Quiver
from matplotlib.text import Text
from scipy.spatial.distance import pdist, squareform
from sklearn.datasets import load_iris, load_wine

import lowdim
from lowdim import PCA, UMAP, NonmetricMDS, Standardized, errors, plot
from lowdim.plot._eigenimages import reconstruct
from lowdim.plot._shepard import MOST_ROWS

matplotlib.use("Agg")
from matplotlib import pyplot

pytestmark = pytest.mark.usefixtures("clean_matplotlib")
SCALINGS = ("symmetric", "form", "covariance")


@pytest.fixture(scope="module")
def iris():
    return load_iris(as_frame=True)


def note_of(ax) -> str:
    return ax.texts[0].get_text()


def line(ax, label="eigenvalues"):
    (found,) = [drawn for drawn in ax.lines if drawn.get_label() == label]
    return found


def panels_of(ax):
    """The axes of the figure, in the order in which they were made."""
    return ax.get_figure().axes


# Scree plot


def choices(values, verdicts=(("elbow", 2), ("kaiser", 2), ("share", 4)), parallel=True):
    values = np.asarray(values, dtype=float)
    null = None
    if parallel:
        mean = np.linspace(1.2, 0.8, len(values))
        null = SimpleNamespace(mean=mean, band=1.1 * mean, p_values=None, quantile=0.95)
    return SimpleNamespace(
        spectrum=SimpleNamespace(values=values, shares=values / values.sum()),
        verdicts=tuple(SimpleNamespace(rule=rule, k=k, reason="") for rule, k in verdicts),
        parallel=null,
    )


def test_scree_of_a_model_draws_eigenvalues_and_cumulative_shares(digits) -> None:
    model = PCA(None).fit(digits)
    ax = plot.scree(model, most=10)
    np.testing.assert_array_equal(line(ax).get_xdata(), np.arange(1, 11))
    np.testing.assert_allclose(line(ax).get_ydata(), np.linalg.eigvalsh(np.cov(digits.T))[::-1][:10])
    bars = [bar.get_height() for bar in panels_of(ax)[1].patches]
    expected = sklearn.decomposition.PCA().fit(digits).explained_variance_ratio_.cumsum()
    np.testing.assert_allclose(bars, expected[:10])
    assert note_of(ax) == "the first 10 of 64"


def test_shares_refer_to_the_total_variance_if_few_eigenvalues_are_known(digits) -> None:
    ax = plot.scree(PCA(3).fit(digits))
    expected = sklearn.decomposition.PCA(3).fit(digits).explained_variance_ratio_.cumsum()
    np.testing.assert_allclose([b.get_height() for b in panels_of(ax)[1].patches][:3], expected)


def test_scree_reads_arrays_and_scikit_learn_models(digits) -> None:
    values = np.array([1.0, 5.0, 3.0, 1.0])
    ax = plot.scree(values)
    np.testing.assert_array_equal(line(ax).get_ydata(), [5, 3, 1, 1])
    np.testing.assert_allclose([b.get_height() for b in panels_of(ax)[1].patches], [0.5, 0.8, 0.9, 1.0])
    np.testing.assert_array_equal(values, [1, 5, 3, 1])
    peer = sklearn.decomposition.PCA(4).fit(digits)
    np.testing.assert_array_equal(line(plot.scree(peer)).get_ydata(), peer.explained_variance_)


def test_scree_draws_the_null_band_and_one_line_per_rule() -> None:
    source = choices([5, 3, 1, 0.5, 0.2])
    ax = plot.scree(source)
    np.testing.assert_array_equal(line(ax, "parallel analysis, mean").get_ydata(), source.parallel.mean)
    np.testing.assert_array_equal(line(ax, "parallel analysis, 95% quantile").get_ydata(), source.parallel.band)
    area = ax.collections[0].get_paths()[0].vertices
    assert area[:, 1].max() == source.parallel.band.max()
    rules = panels_of(ax)[2]
    markers = [(d.get_xdata()[0], d.get_ydata()[0]) for d in rules.lines if d.get_marker() == "o"]
    assert markers == [(2, 0), (2, 1), (4, 2)]
    assert [t.get_text() for t in rules.get_yticklabels()] == ["elbow", "kaiser", "share"]
    assert [t.get_text() for t in rules.texts] == ["2", "2", "4"]
    assert {p.get_xlim() for p in panels_of(ax)} == {(0.5, 5.5)}


def test_markers_of_rules_do_not_overlap() -> None:
    rules = [(f"rule {i}", k) for i, k in enumerate([0, 1, 1, 1, 2, 2, 3, 60])]
    ax = plot.scree(choices(np.linspace(9, 0.1, 64), rules))
    ax.figure.draw_without_rendering()
    texts = panels_of(ax)[2].texts
    boxes = [t.get_window_extent() for t in texts]
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])
    assert ax.get_xlim() == (-0.5, 64.5)


def test_a_choice_beyond_the_last_eigenvalue_shown_is_an_arrowhead() -> None:
    ax = plot.scree(choices(np.linspace(9, 1, 50), [("far", 40)]), most=10)
    (marker,) = [d for d in panels_of(ax)[2].lines if d.get_marker() == ">"]
    assert marker.get_xdata()[0] == 10
    assert panels_of(ax)[2].texts[0].get_text() == "40"


def test_scree_without_parallel_analysis_has_no_band() -> None:
    ax = plot.scree(choices([3, 2, 1], parallel=False))
    assert not ax.collections
    assert ax.get_legend() is None


def test_a_log_scree_leaves_out_eigenvalues_that_are_not_positive() -> None:
    ax = plot.scree([4.0, 1.0, 0.0, -0.5], log=True)
    assert ax.get_yscale() == "log"
    np.testing.assert_array_equal(line(ax).get_ydata(), [4, 1, np.nan, np.nan])
    ax.figure.draw_without_rendering()
    rounding = plot.scree([4.0, 1e-6, 1e-15], log=True)
    rounding.figure.draw_without_rendering()
    assert rounding.get_ylim()[0] > 1e-8
    assert note_of(rounding) == "1 that is zero but for rounding left out"
    assert rounding.get_title(loc="left") == "Scree plot"
    with pytest.raises(errors.BadInput, match="log=False"):
        plot.scree([0.0, 0.0], log=True)


@pytest.mark.parametrize("source", [np.zeros(3), [2.0], np.array([1e-300, 1e-310]), [1e150, 1.0]])
def test_extreme_spectra_are_drawn(source) -> None:
    plot.scree(source).figure.draw_without_rendering()


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ([], "at least 1"),
        ([np.nan], "finite"),
        (np.eye(2), "vector"),
        ("x", "got str"),
        (PCA(), "Call fit first"),
    ],
)
def test_errors_of_scree(source, words) -> None:
    with pytest.raises(errors.BadInput, match=words):
        plot.scree(source)


def test_scree_stays_within_the_given_axes() -> None:
    figure, (left, right) = pyplot.subplots(1, 2)
    area = left.get_position()
    assert plot.scree([3.0, 2.0, 1.0], ax=left) is left
    for ax in set(figure.axes) - {right}:
        box = ax.get_position()
        assert box.x1 <= area.x1 + 1e-9
        assert box.y0 >= area.y0 - 1e-9
    free = pyplot.figure().add_axes((0.2, 0.2, 0.5, 0.5))
    plot.scree([3.0, 2.0, 1.0], ax=free)
    assert all(ax.get_position().y0 >= 0.19 for ax in free.figure.axes)


# Biplot


@pytest.mark.parametrize("scaling", SCALINGS)
@pytest.mark.parametrize("options", [{}, {"standardize": True}, {"whiten": True}, {"ddof": 0}])
def test_rows_times_columns_are_the_centered_data(iris, scaling, options) -> None:
    X = iris.data.to_numpy()
    model = PCA(None, **options).fit(X)
    rows, columns = plot.biplot_coordinates(model, X, scaling)
    centered = X - X.mean(axis=0)
    if options.get("standardize"):
        centered = centered / X.std(axis=0, ddof=1)
    np.testing.assert_allclose(rows @ columns.T, centered, atol=1e-12)


# Of smaller magnitudes the squares underflow, which PCA refuses.
magnitudes = st.just(0.0) | st.floats(1e-60, 100) | st.floats(-100, -1e-60)


@given(arrays(np.float64, (7, 3), elements=magnitudes))
def test_the_identity_holds_for_any_rows_including_singular_ones(X) -> None:
    model = PCA(None).fit(X)
    for scaling in SCALINGS:
        rows, columns = plot.biplot_coordinates(model, X, scaling)
        np.testing.assert_allclose(rows @ columns.T, X - X.mean(axis=0), atol=1e-4)


def test_each_scaling_preserves_its_quantity(iris) -> None:
    X = iris.data.to_numpy()
    model = PCA(None).fit(X)
    rows, columns = plot.biplot_coordinates(model, X, "form")
    np.testing.assert_allclose(pdist(rows), pdist(X), atol=1e-10)
    np.testing.assert_allclose(columns.T @ columns, np.eye(4), atol=1e-12)
    rows, columns = plot.biplot_coordinates(model, X, "covariance")
    np.testing.assert_allclose(columns @ columns.T, np.cov(X.T), atol=1e-12)
    np.testing.assert_allclose(np.cov(rows.T), np.eye(4), atol=1e-10)
    rows, columns = plot.biplot_coordinates(model, X, "symmetric")
    np.testing.assert_allclose(rows.T @ rows, columns.T @ columns, atol=1e-8)
    np.testing.assert_allclose(np.diagonal(rows.T @ rows), np.linalg.svd(X - X.mean(axis=0))[1])


@pytest.mark.parametrize("scaling", SCALINGS)
def test_points_and_arrows_are_the_stated_coordinates(iris, scaling) -> None:
    model = PCA(2, standardize=True).fit(iris.data)
    ax = plot.biplot(model, iris.data, iris.target, scaling=scaling, names=iris.target_names)
    rows, columns = plot.biplot_coordinates(model, iris.data, scaling)
    (arrows,) = [c for c in ax.collections if isinstance(c, Quiver)]
    (points,) = [c for c in ax.collections if not isinstance(c, Quiver)]
    np.testing.assert_array_equal(points.get_offsets(), rows)
    words, factor = note_of(ax).split("; arrows × ")
    assert words.startswith(f"{scaling} scaling")
    drawn = np.column_stack([arrows.U, arrows.V])
    longest = np.argsort(-np.linalg.norm(columns, axis=1))
    np.testing.assert_allclose(drawn, float(factor) * columns[longest], rtol=5e-3)
    # The factor is exactly the same for all arrows.
    assert np.ptp(drawn / columns[longest]) < 1e-12
    assert [t.get_text() for t in ax.texts[1:] if t.get_text()] == [iris.data.columns[i] for i in longest]
    assert ax.get_xlabel() == "PC1 (73.0%)"
    assert [t.get_text() for t in ax.get_legend().get_texts()] == list(iris.target_names)


def test_only_the_longest_arrows_are_drawn(digits) -> None:
    model = PCA(2).fit(digits.astype(np.float32))
    ax = plot.biplot(model, digits.astype(np.float32), n_arrows=5)
    (arrows,) = [c for c in ax.collections if isinstance(c, Quiver)]
    _, columns = plot.biplot_coordinates(model, digits, "symmetric")
    expected = np.argsort(-np.linalg.norm(columns, axis=1))[:5]
    assert len(arrows.U) == 5
    assert [t.get_text() for t in ax.texts[1:] if t.get_text()] == [f"x{i}" for i in expected]
    assert not [c for c in plot.biplot(model, digits, n_arrows=0).collections if isinstance(c, Quiver)]


def test_biplots_of_a_scikit_learn_model_and_of_constant_rows(iris) -> None:
    peer = sklearn.decomposition.PCA(2).fit(iris.data)
    plot.biplot(peer, iris.data).figure.draw_without_rendering()
    flat = np.ones((5, 3))
    plot.biplot(PCA(2).fit(flat), flat).figure.draw_without_rendering()


@pytest.mark.parametrize(
    "model",
    [
        lowdim.LDA(2),
        lowdim.ICA(2, random_state=0),
        lowdim.TruncatedSVD(2),
        lowdim.SIR(2),
        Standardized(lowdim.TruncatedSVD(2)),
    ],
    ids=lambda model: type(getattr(model, "model", model)).__name__ + type(model).__name__,
)
def test_biplots_of_other_linear_methods_show_scores_and_correlations(iris, model) -> None:
    X = iris.data.to_numpy()
    model = model.fit(X, iris.target if isinstance(model, lowdim.LDA) else X[:, 0] + X[:, 1])
    rows, columns = plot.biplot_coordinates(model, X)
    scores = model.transform(X)
    np.testing.assert_array_equal(rows, scores)
    want = np.corrcoef(np.column_stack([X, scores]).T)[:4, 4:]
    np.testing.assert_allclose(columns, want, atol=1e-9)
    ax = plot.biplot(model, X, iris.target)
    assert note_of(ax).startswith("rows at their scores; arrows are correlations")
    circle = plot.correlation_circle(model, X)
    (arrows,) = [c for c in circle.collections if isinstance(c, Quiver)]
    order = np.argsort(-np.linalg.norm(want, axis=1))
    np.testing.assert_allclose(np.column_stack([arrows.U, arrows.V]), want[order], atol=1e-6)


def test_loadings_of_correspondence_analyses() -> None:
    counts = np.array([[9, 2, 3], [1, 8, 2], [3, 1, 7], [5, 5, 4]])
    ca = lowdim.CA(2).fit(counts)
    np.testing.assert_allclose(plot.loadings(ca).images[0].get_array(), ca.column_coordinates_)
    mixed = pd.DataFrame({"a": [1.0, 2, 3, 5, 8, 13], "b": [2.0, 1, 4, 3, 6, 5], "c": list("xyxyxx")})
    famd = lowdim.FAMD(2).fit(mixed)
    ax = plot.loadings(famd)
    np.testing.assert_allclose(ax.images[0].get_array(), famd.eta_squared_)
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["a", "b", "c"]
    assert {text.get_text() for text in plot.correlation_circle(famd).texts if text.get_text()} == {"a", "b"}


def test_errors_of_biplot(iris) -> None:
    X = iris.data.to_numpy()
    with pytest.raises(errors.BadInput, match="at least 2 components"):
        plot.biplot(PCA(1).fit(X), X)
    with pytest.raises(errors.BadInput, match="Call fit first"):
        plot.biplot(PCA(2), X)
    with pytest.raises(errors.BadParameter, match="scaling must be one of 'symmetric'"):
        plot.biplot(PCA(2).fit(X), X, scaling="other")
    with pytest.raises(errors.BadParameter, match="n_arrows"):
        plot.biplot(PCA(2).fit(X), X, n_arrows=-1)


# Loadings


def test_loadings_show_the_components_with_symmetric_colors() -> None:
    wine = load_wine(as_frame=True)
    model = PCA(3, standardize=True).fit(wine.data)
    ax = plot.loadings(model)
    image = ax.images[0]
    np.testing.assert_array_equal(image.get_array(), model.components_.T)
    low, high = image.get_clim()
    assert high == -low == np.abs(model.components_).max()
    assert [t.get_text() for t in ax.get_yticklabels()] == list(wine.data.columns)
    assert ax.get_xticklabels()[0].get_text() == "PC1\n(36.2%)"
    written = {t.get_position(): t.get_text() for t in ax.texts}
    assert written[1, 4] == f"{model.components_[1, 4]:.2f}".replace("-", "−")
    assert "−0.00" not in written.values()


def test_only_the_features_with_the_largest_loadings_are_kept(digits) -> None:
    model = PCA(4).fit(digits)
    ax = plot.loadings(model, n_components=2, n_features=6)
    size = np.abs(model.components_[:2]).max(axis=0)
    kept = np.sort(np.argsort(-size)[:6])
    np.testing.assert_array_equal(ax.images[0].get_array(), model.components_[:2, kept].T)
    assert [t.get_text() for t in ax.get_yticklabels()] == [f"x{i}" for i in kept]
    assert note_of_last(ax) == "the 6 largest of 64 features"
    with pytest.raises(errors.BadParameter, match="at least 1"):
        plot.loadings(model, n_features=0)
    with pytest.raises(errors.BadInput, match="Call fit first"):
        plot.loadings(PCA())


def note_of_last(ax) -> str:
    return ax.texts[-1].get_text()


def test_rotated_loadings_are_the_correlations_after_varimax() -> None:
    wine = load_wine(as_frame=True)
    model = PCA(3, standardize=True).fit(wine.data)
    ax = plot.loadings(model, rotation="varimax", n_features=10)
    rotated, _ = lowdim.varimax(model.correlation_loadings_)
    kept = [list(wine.data.columns).index(t.get_text()) for t in ax.get_yticklabels()]
    np.testing.assert_allclose(ax.images[0].get_array(), rotated[kept], atol=1e-6)
    assert set(kept) == set(np.argsort(-np.abs(rotated).max(axis=1))[:10])
    assert list(np.abs(rotated[kept]).argmax(axis=1)) == sorted(np.abs(rotated[kept]).argmax(axis=1))
    shares = (rotated**2).sum(axis=0) / 13
    assert ax.get_xticklabels()[0].get_text() == f"RC1\n({shares[0]:.1%})"
    assert note_of_last(ax) == "rotated by varimax; the 10 largest of 13 features"
    with pytest.raises(errors.BadParameter, match="one of 'varimax'"):
        plot.loadings(model, rotation="oblique")


def test_the_correlation_circle_draws_correlations(iris) -> None:
    model = PCA(3, standardize=True).fit(iris.data)
    ax = plot.correlation_circle(model, components=(0, 2), title="t")
    (arrows,) = [c for c in ax.collections if isinstance(c, Quiver)]
    scores = model.transform(iris.data)
    expected = np.array(
        [[np.corrcoef(column, scores[:, j])[0, 1] for j in (0, 2)] for column in iris.data.to_numpy().T]
    )
    order = np.argsort(-np.linalg.norm(expected, axis=1))
    np.testing.assert_allclose(np.column_stack([arrows.U, arrows.V]), expected[order], atol=1e-6)
    assert {t.get_text() for t in ax.texts if t.get_text()} == set(iris.data.columns)
    assert ax.get_ylabel().startswith("PC3 (")
    assert np.linalg.norm(expected, axis=1).max() <= 1
    with pytest.raises(errors.BadParameter, match="from 0 to 2"):
        plot.correlation_circle(model, components=(0, 3))
    with pytest.raises(errors.BadInput, match="at least 2 components"):
        plot.correlation_circle(PCA(1).fit(iris.data))
    with pytest.raises(errors.BadInput, match="UMAP has no loadings"):
        plot.correlation_circle(UMAP(n_epochs=5).fit(iris.data))


def test_new_rows_are_drawn_on_the_map_of_the_model(iris) -> None:
    X, y = iris.data.to_numpy(), iris.target
    model = PCA(2).fit(X[::2])
    ax = plot.new_rows(model, X[1::2], y[1::2], fitted=X[::2], fitted_labels=y[::2])
    behind, front = sorted(ax.collections, key=lambda drawn: drawn.get_zorder())
    np.testing.assert_allclose(behind.get_offsets(), model.transform(X[::2]))
    np.testing.assert_allclose(front.get_offsets(), model.transform(X[1::2]))
    assert ax.get_xlabel() == f"axis 1 ({model.explained_variance_ratio_[0]:.1%} of the variance)"
    assert len(plot.new_rows(model, X[1::2]).collections) == 1  # PCA keeps no rows
    kept = Standardized(UMAP(n_epochs=5, random_state=0)).fit(X[::2])
    behind, _ = sorted(plot.new_rows(kept, X[1::2]).collections, key=lambda drawn: drawn.get_zorder())
    np.testing.assert_array_equal(behind.get_offsets(), kept.model_.embedding_)


def test_names_of_rows_and_arrows_of_a_biplot_do_not_overlap(iris) -> None:
    model = PCA(2, standardize=True).fit(iris.data[:60])
    ax = plot.biplot(model, iris.data[:60], ids=[f"flower {i}" for i in range(60)], legend=False)
    ax.figure.draw_without_rendering()
    boxes = [Text.get_window_extent(t) for t in ax.texts[1:] if t.get_text()]
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])
    named = {t.get_text() for t in ax.texts}
    assert set(iris.data.columns) <= named and sum("flower" in name for name in named) > 20


# Eigenimages


def test_eigenimages_are_the_components_and_the_reconstructions(digits) -> None:
    model = PCA(20).fit(digits)
    axes = plot.eigenimages(model, (8, 8), digits, ks=(0, 1, 5, 20, 50), n_images=3)
    assert axes.shape == (4, 5)
    np.testing.assert_array_equal(axes[0, 0].images[0].get_array(), model.mean_.reshape(8, 8))
    for i in range(4):
        np.testing.assert_array_equal(axes[0, 1 + i].images[0].get_array(), model.components_[i].reshape(8, 8))
    np.testing.assert_array_equal(axes[2, 0].images[0].get_array(), digits[1].reshape(8, 8))
    peer = sklearn.decomposition.PCA(5).fit(digits)
    expected = peer.inverse_transform(peer.transform(digits[:3]))
    np.testing.assert_allclose(axes[2, 3].images[0].get_array(), expected[1].reshape(8, 8), atol=1e-9)
    error = np.linalg.norm(digits[1] - expected[1]) / np.linalg.norm(digits[1] - digits.mean(axis=0))
    assert axes[2, 3].get_xlabel() == f"k = 5, error {error:.0%}"
    assert axes[1, 1].get_xlabel() == "k = 0, error 100%"


@pytest.mark.parametrize(
    "options", [{}, {"standardize": True}, {"whiten": True}, {"standardize": True, "whiten": True}]
)
def test_all_components_reconstruct_the_row(eight_points, options) -> None:
    model = PCA(2, **options).fit(eight_points)
    np.testing.assert_allclose(reconstruct(model, eight_points, 2), eight_points)
    np.testing.assert_allclose(reconstruct(model, eight_points, 0), np.full((8, 2), 5.0))
    one = reconstruct(model, eight_points, 1)
    if not options:  # the mean squared error is the discarded eigenvalue
        assert ((one - eight_points) ** 2).sum(axis=1).mean() == pytest.approx(0.408108, abs=1e-6)


def test_eigenimages_without_rows_in_color_and_of_constant_images(rng) -> None:
    X = rng.uniform(size=(12, 4 * 5 * 3)).astype(np.float32)
    model = PCA(3).fit(X)
    axes = plot.eigenimages(model, (4, 5, 3))
    assert axes.shape == (1, 4)
    shown = np.asarray(axes[0, 1].images[0].get_array())
    limit = np.abs(model.components_[0]).max()
    np.testing.assert_allclose(shown, 0.5 + model.components_[0].reshape(4, 5, 3) / (2 * limit), rtol=1e-5)
    flat = np.full((4, 6), 3.0)
    figure = pyplot.figure()
    drawn = plot.eigenimages(PCA(2).fit(flat), (2, 3), flat, ks=(1,), title="$^$", figure=figure)
    assert drawn[0, 0].figure is figure
    figure.draw_without_rendering()


def test_eigenimages_of_a_dataframe(rng) -> None:
    """Rows become plain numbers for drawing, which is no reason for a warning about the names of their columns."""
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(rng.uniform(size=(12, 6)), columns=list("abcdef"))
    for missing in ("error", "em"):
        model = PCA(2, missing=missing).fit(frame)
        axes = plot.eigenimages(model, (2, 3), frame, ks=(1, 2), n_images=2)
        expected = model.inverse_transform(model.transform(frame))
        np.testing.assert_allclose(axes[1, 2].images[0].get_array(), expected[0].reshape(2, 3), atol=1e-12)


def test_errors_of_eigenimages(digits) -> None:
    model = PCA(3).fit(digits)
    with pytest.raises(errors.BadInput, match="product of 64"):
        plot.eigenimages(model, (8, 7))
    with pytest.raises(errors.BadInput, match=r"\(height, width\)"):
        plot.eigenimages(model, (64,))
    with pytest.raises(errors.BadParameter, match="from 0 to 3"):
        plot.eigenimages(model, (8, 8), digits, ks=(5,))


# Shepard diagram


def test_shepard_draws_each_pair_once_for_square_and_condensed_distances(rng) -> None:
    X = rng.normal(size=(9, 5))
    Z = X[:, :2]
    expected = np.column_stack([pdist(X), pdist(Z)])
    for D in (pdist(X), squareform(pdist(X))):
        ax = plot.shepard(D, Z)
        np.testing.assert_allclose(ax.collections[0].get_offsets(), expected)
    r = np.corrcoef(expected.T)[0, 1]
    assert note_of(ax).startswith(f"r = {r:.3f}, ")


def test_a_perfect_embedding_has_no_stress_at_any_scale(rng) -> None:
    Z = rng.normal(size=(20, 2))
    assert note_of(plot.shepard(7 * pdist(Z), Z)) == "r = 1.000, stress-1 = 0.000 at the optimal scale"


def test_many_pairs_are_counted_in_cells(rng) -> None:
    Z = rng.normal(size=(150, 3))
    ax = plot.shepard(pdist(Z), Z[:, :2])
    assert np.ma.getdata(ax.images[0].get_array()).sum() == 150 * 149 / 2


def test_of_many_rows_the_same_pairs_are_sampled_from_both_forms(monkeypatch, rng) -> None:
    monkeypatch.setattr("lowdim.plot._shepard.MOST_ROWS", 7)
    Z = rng.normal(size=(31, 2))
    given_ = [plot.shepard(D, Z) for D in (pdist(Z), squareform(pdist(Z)))]
    for ax in given_:
        np.testing.assert_allclose(*np.asarray(ax.collections[0].get_offsets()).T)
        assert len(ax.collections[0].get_offsets()) == 21
        assert note_of(ax).endswith("7 of 31 rows")
    assert MOST_ROWS == 2000


@pytest.mark.parametrize(
    ("D", "error", "words"),
    [
        (np.zeros((2, 2)), errors.BadInput, r"\(3, 3\) or \(3,\)"),
        (np.array([1.0, -1.0, 1.0]), errors.BadInput, "negative"),
        (np.array([1.0, np.inf, 1.0]), errors.BadInput, "infinite"),
        (np.full(3, np.nan), errors.BadInput, "no distance"),
        (np.array(["a", "b", "c"]), errors.BadInputType, "numbers"),
    ],
)
def test_errors_of_shepard(D, error, words) -> None:
    with pytest.raises(error, match=words):
        plot.shepard(D, np.eye(3, 2))


def test_shepard_draws_disparities_and_leaves_out_missing_pairs(rng) -> None:
    D = squareform(pdist(rng.normal(size=(12, 4))))
    D[2, 5] = D[5, 2] = D[0, 1] = D[1, 0] = np.nan
    model = NonmetricMDS(metric="precomputed").fit(D)
    shown = model.shepard(D)
    ax = plot.shepard(D, model.embedding_, disparities=shown.disparities)
    known = ~np.isnan(shown.distances)
    assert known.sum() == 64 and len(ax.collections[0].get_offsets()) == 64
    x, y = ax.get_lines()[-1].get_data()
    np.testing.assert_array_equal(x, np.sort(shown.distances[known]))
    np.testing.assert_allclose(y, shown.disparities[known][np.argsort(shown.distances[known])])
    assert (np.diff(y) >= 0).all()
    assert note_of(ax).endswith(f"stress-1 = {model.stress1_:.3f}; 2 of 66 pairs are missing")
    with pytest.raises(errors.BadInput, match="disparities must hold"):
        plot.shepard(D, model.embedding_, disparities=shown.disparities[1:])


def test_coincident_points_and_single_rows() -> None:
    plot.shepard(np.zeros(10), np.zeros((5, 2))).figure.draw_without_rendering()
    with pytest.raises(errors.NotEnoughData, match="2 rows"):
        plot.shepard(np.zeros((1, 1)), np.zeros((1, 2)))


def test_models_without_loadings_are_told_which_have_them(iris) -> None:
    X = iris.data.to_numpy()
    umap = UMAP(n_epochs=5).fit(X)
    for draw in (
        lambda model: plot.biplot(model, X),
        plot.loadings,
        lambda model: plot.eigenimages(model, (2, 2)),
    ):
        with pytest.raises(errors.BadInput, match=r"UMAP has no loadings.*Models with loadings: .*PCA"):
            draw(umap)
        with pytest.raises(errors.BadInput, match=r"this PCA has no components_.*Call fit first"):
            draw(PCA())
    for draw in (plot.loadings, lambda model: plot.eigenimages(model, (2, 2))):
        with pytest.raises(errors.BadInput, match=r"Standardized has no loadings.*PCA\(standardize=True\)"):
            draw(Standardized(PCA()).fit(X))
    with pytest.raises(errors.BadInput, match="UMAP has no eigenvalues"):
        plot.scree(umap)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_eigenimages_of_a_frame_have_no_warning_about_feature_names(library, digits) -> None:
    frames = pytest.importorskip(library)
    frame = frames.DataFrame({f"p{i}": column for i, column in enumerate(digits[:60].T)})
    model = PCA(5).fit(frame)
    of_frame = plot.eigenimages(model, (8, 8), frame, ks=(2,), n_images=2)
    of_array = plot.eigenimages(PCA(5).fit(digits[:60]), (8, 8), digits[:60], ks=(2,), n_images=2)
    for a, b in zip(of_frame.ravel(), of_array.ravel(), strict=True):
        assert a.get_xlabel() == b.get_xlabel()


def test_a_linear_method_without_loadings_is_not_called_nonlinear():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 4)), np.resize([0, 1, 2], 30)
    with pytest.raises(errors.BadInput, match=r"LDA has no loadings .*, though it is linear.*PCA"):
        plot.correlation_circle(lowdim.LDA(2).fit(X, y))
    with pytest.raises(errors.BadInput, match="does not project rows linearly"):
        plot.correlation_circle(lowdim.ClassicalMDS(2).fit(X))
