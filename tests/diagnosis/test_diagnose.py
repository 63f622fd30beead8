"""The diagnosis as a whole: findings, text, and degenerate tables."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from sklearn.datasets import load_wine

import lowdim
from lowdim.diagnosis import Diagnosis, diagnose
from lowdim.diagnosis._advice import advise
from lowdim.errors import BadInput, BadParameter, Cancelled


@pytest.fixture
def X(rng) -> np.ndarray:
    return rng.normal(size=(300, 6))


def test_problematic_columns_are_named(rng):
    frame = pd.DataFrame(rng.normal(size=(400, 4)), columns=["a", "b", "c", "d"])
    frame["still"] = 3.5
    frame["rare"] = np.where(np.arange(400) == 7, 1.0, 0.0)
    frame["a again"] = frame["a"]
    frame["wide"] = 1e4 * rng.normal(size=400)
    found = diagnose(frame)
    assert found.columns.constant == ("still",)
    assert found.columns.nearly_constant == ("rare",)
    assert found.columns.duplicates == (("a", "a again"),)
    assert found.columns.widest == "wide"
    assert found.columns.scale_ratio == pytest.approx(
        frame["wide"].std() / frame[["a", "b", "c", "d"]].std().min(), rel=1e-12
    )
    assert (found.columns_count, found.used_columns) == (8, 5)  # figures are of what the advice would leave
    assert found.correlations == diagnose(frame[["a", "b", "c", "d", "wide"]]).correlations
    assert any("Standardize" in sentence and "wide" in sentence for sentence in found.verdict)
    assert any("2 (nearly) constant and 1 duplicate" in sentence for sentence in found.verdict)


def test_a_column_with_an_offset_is_not_constant(rng):
    X = 1e9 + rng.normal(size=(100, 2))
    assert diagnose(X).columns.constant == ()
    X[:, 1] = 0.1 + 0.2  # what rounding leaves of a mean of equal numbers is no variation
    assert diagnose(X).columns.constant == ("1",)


def test_duplicate_rows_are_counted_in_the_whole_table(rng):
    X = rng.integers(0, 3, size=(500, 3)).astype(float)
    X[10] = [0.0, -0.0, 0.0]
    X[11] = [0.0, 0.0, -0.0]
    found = diagnose(X, sample=20)
    assert found.duplicate_rows == 500 - len(np.unique(X, axis=0))
    assert found.sample == 20
    assert any("are duplicates" in sentence for sentence in found.verdict)


def test_columns_in_another_order_of_rows_are_not_equal():
    X = np.array([[1.0, 2.0, 1.0], [2.0, 1.0, 2.0], [3.0, 3.0, 3.0], [5.0, 5.0, 5.0]])
    assert diagnose(X).columns.duplicates == (("0", "2"),)


def test_missing_values_are_counted_and_complete_rows_are_used(X):
    with_gaps = X.copy()
    with_gaps[::3, 1] = np.nan
    with_gaps[0, 4] = np.nan
    found = diagnose(with_gaps)
    assert found.columns.missing == 101 / 1800
    assert found.columns.most_missing == "1"
    assert found.complete == found.sample == 200
    alone = diagnose(with_gaps[~np.isnan(with_gaps).any(axis=1)])
    assert found.intrinsic == alone.intrinsic
    assert found.correlations == alone.correlations
    # Spreads are of all values that are there, not only of the complete rows.
    spread = np.nanstd(with_gaps, axis=0)
    assert found.columns.scale_ratio == pytest.approx(spread.max() / spread.min(), rel=1e-12)
    assert "complete rows" in found.verdict[0]


def test_all_values_missing(X):
    found = diagnose(np.full((5, 3), np.nan))
    assert found.columns.missing == 1 and found.complete == 0
    assert found.correlations is found.intrinsic is found.space is None
    assert 2 <= len(found.verdict) <= 6


def test_infinity_is_a_named_error(X):
    X[4, 2] = np.inf
    with pytest.raises(BadInput, match="row 4, column 2"):
        diagnose(X)


def test_overflow_is_a_named_error(X):
    with pytest.raises(BadInput, match="Rescale"):
        diagnose(X * 1e200)


@pytest.mark.parametrize(
    "X",
    [
        np.ones((1, 1)),
        np.ones((1, 4)),
        np.ones((6, 3)),
        np.arange(4.0)[:, None],
        np.arange(200.0)[:, None],
        np.eye(12),
        np.repeat(np.eye(2), 30, axis=0),
        np.random.default_rng(0).normal(size=(2, 5)),
        np.random.default_rng(0).normal(size=(3, 50)),
        np.random.default_rng(0).normal(size=(40, 3)) * 1e140,
        np.random.default_rng(0).normal(size=(40, 3)) * 1e-140,
        np.random.default_rng(0).normal(size=(40, 3)).astype(np.float32) + np.float32(1e6),
        np.random.default_rng(0).integers(0, 2, size=(40, 5)).astype(bool),
        np.arange(60).reshape(20, 3)[::2, ::-1],
    ],
    ids=lambda X: f"{X.shape}-{X.dtype}",
)
def test_degenerate_tables_get_finite_measures(X):
    before = X.copy()
    found = diagnose(X)
    json.dumps(found.to_dict(), allow_nan=False)
    assert 2 <= len(found.verdict) <= 6
    assert "nan" not in str(found)
    np.testing.assert_array_equal(X, before)


def test_no_columns_or_rows_are_named_errors():
    for shape in [(0, 3), (3, 0)]:
        with pytest.raises(lowdim.errors.LowdimError):
            diagnose(np.empty(shape))
    with pytest.raises(BadParameter, match="sample"):
        diagnose(np.eye(3), sample=2)


def test_the_source_of_the_rows_does_not_matter(X):
    X[np.abs(X) < 0.8] = 0
    expected = diagnose(X, sample=100)
    for source in (sp.csr_array(X), iter(np.array_split(X, 7)), pd.DataFrame(X), np.asfortranarray(X)):
        found = diagnose(source, sample=100)
        assert found.concentration == expected.concentration
        assert found.hubness == expected.hubness
        assert found.duplicate_rows == expected.duplicate_rows
        assert found.columns.scale_ratio == pytest.approx(expected.columns.scale_ratio, rel=1e-12)


def test_same_bits_for_any_number_of_threads(rng):
    X = rng.normal(size=(900, 30))
    assert len({json.dumps(diagnose(X, sample=700, n_jobs=jobs).to_dict()) for jobs in (1, 2, 4)}) == 1


def test_the_sample_is_uniform_and_seeded(rng):
    X = np.arange(3000.0)[:, None] + np.zeros((1, 2))
    hubs = [diagnose(X, sample=100, random_state=seed).hubness.hub for seed in range(30)]
    assert np.std(hubs) > 500 and 1000 < np.mean(hubs) < 2000
    assert diagnose(X, sample=100, random_state=3).to_dict() == diagnose(X, sample=100, random_state=3).to_dict()


def test_it_can_be_cancelled(X):
    with pytest.raises(Cancelled), lowdim.watch(lambda step: "neighbors" in step.task):
        diagnose(X)


def test_advice_for_correlated_and_uncorrelated_columns(rng):
    wine = load_wine(as_frame=True).data
    found = diagnose(wine)
    assert any("PCA is worthwhile" in s for s in found.verdict)
    assert any("Standardize" in s and "proline" in s for s in found.verdict)
    noise = diagnose(rng.normal(size=(1000, 5)))
    assert any("nothing to gain" in s for s in noise.verdict)
    wide = diagnose(rng.normal(size=(300, 2000)))
    assert any("Distances are concentrated" in s for s in wide.verdict)
    assert not any("PCA is worthwhile" in s for s in wide.verdict)  # 299 axes hold all variation of 300 rows


def test_text_shows_sample_seed_and_verdict(X):
    found = diagnose(X, sample=77, random_state=5)
    text = str(found)
    assert "300 rows × 6 columns; measured on 77 rows (seed 5)" in text
    assert all(sentence in text for sentence in found.verdict)
    assert isinstance(found, Diagnosis)


def test_figures_are_of_the_columns_as_they_will_be_used():
    wine = load_wine(as_frame=True).data
    Z = (wine - wine.mean()) / wine.std(ddof=0)
    advised, asked, plain = diagnose(wine), diagnose(wine, standardize=True), diagnose(wine, standardize=False)
    z_scores = diagnose(Z, standardize=False)
    for found in (advised, asked):
        assert found.standardized and "13 columns, standardized" in str(found)
        assert found.intrinsic.two_nn == pytest.approx(z_scores.intrinsic.two_nn, rel=1e-9)
        assert found.concentration.relative_contrast == pytest.approx(
            z_scores.concentration.relative_contrast, rel=1e-9
        )
        assert found.hubness == z_scores.hubness
    assert not plain.standardized and plain.hubness != advised.hubness
    said = [next((s for s in found.verdict if s.startswith("Standardize")), None) for found in (advised, asked, plain)]
    assert said[0].startswith("Standardize the columns, as these figures do: proline varies")
    assert said[1] is None  # it was asked for
    assert said[2].startswith("Standardize the columns: proline varies")


def test_columns_of_one_scale_are_left_alone(X):
    assert not diagnose(X).standardized
    assert diagnose(X).intrinsic == diagnose(X, standardize=False).intrinsic


@pytest.mark.parametrize("d", [2, 6, 15, 40, 200])
def test_the_figure_and_the_sentence_about_contrast_agree(d):
    found = diagnose(np.random.default_rng(d).normal(size=(200, d)))
    contrast = found.concentration.relative_contrast
    assert f"{contrast:.3g} (noise" in str(found)
    assert f"is {1 + contrast:.3g} times as far as the nearest" in str(found)
    assert any("less than twice as far" in s for s in found.verdict) == (contrast < 1)


def test_pixels_share_one_scale():
    found = diagnose(lowdim.datasets.load("digits"), sample=300)
    assert found.columns.scale_ratio > 10 and not found.standardized
    assert not any(s.startswith("Standardize") for s in found.verdict)


def test_a_questionnaire(rng):
    factors = rng.normal(size=(400, 5)) @ np.kron(np.eye(5), np.ones((1, 5))) + 0.4 * rng.normal(size=(400, 1))
    answers = np.clip(np.rint(3 + 0.8 * factors + 0.9 * rng.normal(size=(400, 25))), 1, 5)
    found = diagnose(answers)
    assert found.columns.answers == (1, 5) and not found.standardized
    assert any(s.startswith("All columns are answers from 1 to 5") for s in found.verdict)
    related = f"Columns are clearly related (KMO {found.correlations.kmo:.2f}), but no few components dominate."
    assert found.correlations.kmo > 0.8 and related in found.verdict
    assert diagnose(answers + 0.5).columns.answers is None
    assert diagnose(rng.integers(0, 2, size=(100, 6))).columns.answers is None  # yes and no is no scale


def test_weights_of_words(rng):
    X = np.where(
        rng.uniform(size=(150, 200)) < rng.choice([0.01, 0.3], size=200, p=[0.8, 0.2]), rng.uniform(size=200), 0
    )
    found = diagnose(sp.csr_array(X))
    rare = float(((X == 0).mean(axis=0) >= 0.95).mean())
    assert found.columns.rare == pytest.approx(rare) and rare > 0.7
    first = (
        f"{rare:.0%} of columns are almost always zero, as usual for counts and text: keep them, and compare rows by"
    )
    assert found.verdict[0] == f"{first} direction (metric='cosine')."
    assert not found.standardized and not any("nearly" in s or "Standardize" in s for s in found.verdict)
    assert found.used_columns == (X.std(axis=0) > 0).sum()
    assert any(s.startswith("Don't standardize counts") for s in diagnose(X, standardize=True).verdict)
    assert diagnose(-X).columns.rare == 0


def test_remedies_are_arguments_in_python_and_flags_on_the_command_line(X):
    X[3, 1] = X[3, 2] = X[9, 2] = np.nan
    found = diagnose(X)
    assert found.verdict[0].startswith("3 values in 2 rows are missing (0.2%), most in column 2; the rest describes")
    assert found.verdict[0].endswith("use PCA(missing='em').") and not any("--" in s for s in found.verdict)
    assert advise(found, flags=True)[0].endswith("use --missing em.")


def test_names_cannot_write_html_or_control_a_terminal(rng):
    hostile = "<img src=x onerror=alert(1)>\x1b[31m"
    found = diagnose(pd.DataFrame({hostile: 1e4 * rng.normal(size=50), "b": rng.normal(size=50)}))
    html = found._repr_html_()
    assert "<img" not in html and "&lt;img" in html and "\x1b" not in html
    assert "\x1b" not in str(found) and repr(found) == str(found)


# ---- metrics ----


def figures(found):
    """What depends on the metric alone, and not on the columns."""
    return found.concentration, found.hubness, found.intrinsic, found.modes


def assert_alike(a, b, rel=1e-9):
    for one, other in zip(figures(a), figures(b), strict=True):
        one, other = (vars(part) if hasattr(part, "__dict__") else {"": part} for part in (one, other))
        for name, value in one.items():
            assert other[name] == pytest.approx(value, rel=rel), name


def test_seuclidean_is_euclidean_of_standardized_columns(rng):
    X = rng.normal(size=(200, 5)) * [1, 10, 3, 0.1, 70] + 5
    scaled = diagnose(X, metric="seuclidean")
    assert not scaled.standardized and not scaled.standardize_advised
    assert_alike(scaled, diagnose(X, standardize=True))


def test_mahalanobis_is_euclidean_of_whitened_rows(rng):
    X = rng.normal(size=(200, 4)) @ rng.normal(size=(4, 4))
    L = np.linalg.cholesky(np.linalg.inv(np.cov(X.T)))
    assert_alike(diagnose(X, metric="mahalanobis"), diagnose(X @ L, standardize=False), rel=1e-7)


def test_cosine_has_the_dimension_of_unit_rows_and_its_own_contrast(rng):
    X = rng.gamma(2.0, size=(200, 6))
    units = X / np.linalg.norm(X, axis=1, keepdims=True)
    by_cosine, by_chord = diagnose(X, metric="cosine"), diagnose(units, metric="euclidean", standardize=False)
    assert vars(by_cosine.intrinsic) == pytest.approx(vars(by_chord.intrinsic), rel=1e-9)
    assert (by_cosine.hubness, by_cosine.modes) == (by_chord.hubness, by_chord.modes)
    D = np.sort(cdist(X, X, "cosine"), axis=1)
    contrast = np.median((D[:, -1] - D[:, 1]) / D[:, 1])
    assert by_cosine.concentration.relative_contrast == pytest.approx(contrast, rel=1e-6)
    assert "cosine distances" in str(by_cosine)


METRIC_TABLES = {
    "cityblock": (1, None),
    "chebyshev": (1, None),
    "minkowski": (1, {"p": 3}),
    "canberra": (1, None),
    "braycurtis": (1, None),
    "correlation": (1, None),
    "hellinger": (1, None),
    "jaccard": (0, None),
    "dice": (0, None),
}


@pytest.mark.parametrize("metric", METRIC_TABLES)
def test_contrast_and_hubs_by_scipys_distances(rng, metric):
    numbers, params = METRIC_TABLES[metric]
    X = rng.gamma(2.0, size=(120, 9)) if numbers else (rng.random((120, 30)) < 0.4).astype(float)
    found = diagnose(X, metric=metric, metric_params=params, standardize=False)
    if metric == "hellinger":
        roots = np.sqrt(X / X.sum(axis=1, keepdims=True))
        D = cdist(roots, roots) / np.sqrt(2)
    else:
        D = cdist(X if numbers else X > 0, X if numbers else X > 0, metric, **(params or {}))
    np.fill_diagonal(D, np.inf)
    nearest, farthest = D.min(axis=1), np.where(np.isinf(D), 0, D).max(axis=1)
    contrast = float(np.median((farthest - nearest) / nearest))
    assert found.concentration.relative_contrast == pytest.approx(contrast, rel=1e-5)
    if numbers:  # distances of sets have ties
        occurrences = np.bincount(np.argsort(D, axis=1, kind="stable")[:, : found.hubness.k].ravel(), minlength=120)
        assert found.hubness.largest == occurrences.max()


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "manhattan", "jaccard", "hellinger"])
def test_sparse_rows_that_stay_sparse_are_measured_as_dense_ones(rng, metric, monkeypatch):
    X = sp.random(150, 90, 0.1, random_state=3, format="csr")
    X.data = np.ones_like(X.data) if metric == "jaccard" else X.data
    X.data[0] = np.nan
    dense = diagnose(X.toarray(), metric=metric, standardize=False)
    monkeypatch.setattr("lowdim.diagnosis._profile.DENSE_VALUES", 0)
    kept = diagnose(X, metric=metric, standardize=False)
    assert (kept.complete, kept.duplicate_rows) == (149, dense.duplicate_rows)
    assert (kept.columns.missing, kept.columns.rare) == (dense.columns.missing, dense.columns.rare)
    assert kept.columns.scale_ratio == pytest.approx(dense.columns.scale_ratio, rel=1e-12)
    assert_alike(kept, dense, rel=1e-5)
    assert kept.correlations.effective_rank == pytest.approx(dense.correlations.effective_rank, rel=1e-6)


def test_a_function_of_two_rows_and_gowers_distance(rng):
    X = rng.normal(size=(60, 3)) * [1, 5, 2]
    by_function = diagnose(X, metric=lambda a, b: float(np.abs(a - b).sum()), standardize=False)
    assert_alike(by_function, diagnose(X, metric="manhattan", standardize=False), rel=1e-5)
    ranges = np.ptp(X, axis=0)
    assert_alike(diagnose(X, metric="gower"), diagnose(X / ranges, metric="manhattan", standardize=False), rel=1e-5)
    with pytest.raises(BadInput, match="holds text"):
        diagnose(pd.DataFrame({"a": [1.0, 2, 4], "b": ["x", "y", "x"], "c": [0.0, 1, 5]}), metric="gower")
    with pytest.raises(BadParameter, match="precomputed"):
        diagnose(X, metric="precomputed")


def test_noise_of_other_metrics_is_shuffled_columns(rng):
    """Related columns lose their relation, and independent ones nothing."""
    t = rng.normal(size=(400, 1))
    related = diagnose(np.hstack([t + 0.1 * rng.normal(size=(400, 1)) for _ in range(8)]), metric="manhattan")
    assert related.concentration.relative_contrast > 5 * related.concentration_noise.relative_contrast
    alone = diagnose(rng.normal(size=(400, 8)), metric="manhattan")
    assert alone.concentration_noise.relative_contrast == pytest.approx(alone.concentration.relative_contrast, rel=0.1)
    assert "shuffled" in str(alone)


def test_the_unit_of_a_metric_changes_no_figure(rng):
    X = rng.normal(size=(100, 4))
    for metric in ("manhattan", "chebyshev", "cosine"):
        assert_alike(
            diagnose(X, metric=metric, standardize=False),
            diagnose(1e100 * X, metric=metric, standardize=False),
            rel=1e-5,
        )
