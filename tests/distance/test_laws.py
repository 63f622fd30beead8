"""Laws of distances: condensed order, units, weights, rounding in distance matrices, unit rows, names of metrics."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist, pdist, squareform

from lowdim import LLE, MDS, TSNE, UMAP, ClassicalMDS, Isomap, neighbors
from lowdim.data.rows import open_rows
from lowdim.distance.condensed import binary_unit, condensed_weights, pairs_of_matrix, safe_factor
from lowdim.distance.matrix_checks import checked_distances, checked_new_distances, precomputed_distances
from lowdim.distance.metrics import METRICS, PLAIN_METRICS, MetricLike, metric_of
from lowdim.distance.pairwise import prepare_rows
from lowdim.distance.unit_rows import unit_rows
from lowdim.errors import BadInput, BadParameter, MemoryTooSmall


@given(st.integers(2, 30), st.floats(1e-200, 1e200))
def test_pairs_are_in_scipys_condensed_order(n, scale):
    D = scale * squareform(np.random.default_rng(n).uniform(0.5, 1, n * (n - 1) // 2))
    pairs = pairs_of_matrix(D, None)
    np.testing.assert_allclose(pairs.distances * pairs.unit, squareform(D), rtol=1e-15)
    for i in range(n - 1):
        np.testing.assert_array_equal(pairs.distances[pairs.row(i)] * pairs.unit, D[i, i + 1 :])
    assert 0.25 < pairs.distances.max() < 2  # so that squares are safe
    assert pairs.sum_of_squares == pytest.approx(float((pairs.distances**2).sum()))


def test_missing_distances_have_weight_zero():
    D = squareform(np.arange(1.0, 7.0))
    D[0, 2] = D[2, 0] = np.nan
    W = squareform(np.arange(2.0, 8.0))
    pairs = pairs_of_matrix(D, W)
    np.testing.assert_array_equal(pairs.weights, [2, 0, 4, 5, 6, 7])
    np.testing.assert_array_equal(pairs.distances * pairs.unit, [1, 0, 3, 4, 5, 6])
    wanted = 2 * 1 + 4 * 9 + 5 * 16 + 6 * 25 + 7 * 36
    assert pairs.sum_of_squares * pairs.unit**2 == pytest.approx(wanted)
    assert pairs.to_float32().distances.dtype == pairs.to_float32().weights.dtype == np.float32


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        (np.ones(3), "shape"),
        (-np.ones((3, 3)), "not negative"),
        (np.full((3, 3), np.nan), "finite"),
        (np.arange(9.0).reshape(3, 3), "symmetric"),
        (np.zeros((3, 3)), "zero for every pair"),
        (np.full((3, 3), 1e-60), "too large or too small"),
        (np.full((3, 3), "a"), "numbers"),
    ],
)
def test_invalid_weights_are_refused(weights, words):
    with pytest.raises(BadInput, match=words):
        condensed_weights(weights, 3, np.dtype(np.float32))


def test_the_unit_is_a_power_of_two():
    for value in (1e-300, 0.3, 1.0, 9e200):
        unit = binary_unit(value)
        assert np.frexp(unit)[0] == 0.5
        assert 0.5 < value / unit < 2
    assert binary_unit(0.0) == 1.0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_safe_factor_is_1_unless_squares_would_overflow_or_underflow(dtype):
    info = np.finfo(dtype)
    for value in (info.tiny, info.smallest_subnormal, info.max / 4, 1.0, 1e-3, 0.0):
        table = np.full((3, 2), value, dtype=dtype)
        factor = safe_factor(table)
        assert np.frexp(factor)[0] == 0.5 and np.isfinite(dtype(factor))
        squares = float(np.square(table * dtype(factor)).sum())
        assert np.isfinite(squares) and (value == 0 or squares > 0)
    assert safe_factor(np.ones((2, 2), dtype=dtype)) == 1


def test_rounding_is_removed_and_anything_larger_refused():
    D = squareform([1.0, 2.0, 3.0])
    noisy = D + 1e-16
    noisy[0, 1] = noisy[1, 0] = -1e-16
    clean = checked_distances(noisy)
    assert (np.diagonal(clean) == 0).all() and clean[0, 1] == 0
    assert noisy[0, 1] < 0  # in a copy
    assert checked_distances(D) is D
    assert (checked_new_distances(noisy) >= 0).all()
    for i, j, value, words in (
        (0, 1, -0.1, "from row 0 to row 1 it is -0.1"),
        (2, 2, 0.1, "row 2 to itself is 0.1"),
        (1, 2, np.inf, "inf"),
        (1, 2, np.nan, "row 1 to row 2 is NaN"),
    ):
        wrong = D.copy()
        wrong[i, j] = wrong[j, i] = value
        with pytest.raises(BadInput, match=words):
            checked_distances(wrong)
    wrong = D.copy()
    wrong[0, 2] = 9
    with pytest.raises(BadInput, match=r"from row 0 to row 2 it is 9\.0 and back 2\.0"):
        checked_distances(wrong)


def test_asymmetry_is_found_in_any_tile(rng):
    D = squareform(pdist(rng.standard_normal((600, 2))))
    D[599, 300] += 1
    with pytest.raises(BadInput, match="from row 300 to row 599"):
        checked_distances(D)


def test_errors_of_new_rows_number_them_in_the_table():
    with pytest.raises(BadInput, match=r"from row 11 to row 0 it is -1\.0"):
        checked_new_distances(np.array([[1.0, 2.0], [-1.0, 2.0]]), first=10)
    assert np.isnan(checked_new_distances(np.array([[np.nan, 1.0]]), missing=True)[0, 0])


def test_precomputed_distances_are_a_dense_square_matrix():
    for X, words in ((np.ones((3, 4)), r"dense one of shape \(3, 4\)"), (sp.csr_array(np.eye(3)), "sparse one")):
        with pytest.raises(BadInput, match=words):
            precomputed_distances(open_rows(X), missing=False)


@pytest.mark.parametrize("metric", ["cosine", "correlation"])
def test_unit_rows_have_length_one_and_a_column_for_those_without_direction(metric, rng):
    X = rng.standard_normal((6, 5)) * [[1e-200], [1e200], [1], [1], [1], [1]]
    X[3] = 0
    units = unit_rows(open_rows(X), METRICS[metric], 1, np.float64)
    np.testing.assert_allclose(np.linalg.norm(units, axis=1), 1, rtol=1e-14)
    np.testing.assert_array_equal(units[:, -1], np.arange(6) == 3)
    if metric == "correlation":
        np.testing.assert_allclose(units[:, :-1].sum(axis=1), 0, atol=1e-14)
    prepared = prepare_rows(open_rows(X), METRICS[metric], 1)
    distances = prepared.distances_from(prepared)
    assert distances[3, 3] == 0
    np.testing.assert_allclose(np.delete(distances[3], 3), 1, rtol=1e-14)


@pytest.mark.parametrize(("alias", "name"), [("l1", "manhattan"), ("cityblock", "manhattan"), ("l2", "euclidean"),
                                             ("linf", "chebyshev")])  # fmt: skip
def test_aliases_are_the_same_metric_for_every_method(alias, name, rng):
    X = rng.standard_normal((20, 3))
    assert metric_of(alias) is metric_of(name)
    for model in (MDS(max_iter=5, tol=1), ClassicalMDS(), Isomap(2, n_neighbors=5)):
        one, other = (type(model)(**model.get_params()).set_params(metric=metric).fit(X) for metric in (alias, name))
        np.testing.assert_array_equal(one.embedding_, other.embedding_)


def test_a_metric_is_a_name_or_a_function():
    domain = MetricLike()
    assert domain.accepts("precomputed") and domain.accepts(lambda a, b: 0.0)
    for wrong in ("far", "", 3, None, ("l1",)):
        assert not domain.accepts(wrong)
        with pytest.raises(BadParameter, match="metric must be one of 'euclidean'"):
            metric_of(wrong)
    for method in (MDS, ClassicalMDS, Isomap, UMAP):
        with pytest.raises(BadParameter, match=rf"{method.__name__}: metric must be one of .* got 'far'"):
            method(metric="far").fit(np.eye(9))


def test_pairwise_tag():
    from sklearn.utils import get_tags

    for method in (MDS, ClassicalMDS):
        assert get_tags(method(metric="precomputed")).input_tags.pairwise
        assert not get_tags(method()).input_tags.pairwise


def test_memory_of_all_pairs_is_required_first(monkeypatch):
    monkeypatch.setattr("lowdim.runtime.memory.available_bytes", lambda: 10_000)
    prepared = prepare_rows(open_rows(np.ones((100, 2))), METRICS["euclidean"], 1)
    with pytest.raises(MemoryTooSmall, match="all pairs of 100 rows"):
        prepared.pairs()


@pytest.mark.parametrize("name", [name for name in PLAIN_METRICS if name not in ("hamming", "jaccard")])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("scale", [1.0, 1e-19, 1e18])
def test_distances_are_those_of_scipy(name, dtype, scale, rng):
    """Also where squares leave the dtype, and of new rows to old ones."""
    X, new = (rng.standard_normal((n, 6)) for n in (15, 4))
    scipy_name = {"manhattan": "cityblock"}.get(name, name)
    fitted = prepare_rows(open_rows((X * scale).astype(dtype)), METRICS[name], 1)
    others = prepare_rows(open_rows((new * scale).astype(dtype)), METRICS[name], 1, fitted)
    power = {"sqeuclidean": 2, "cosine": 0, "correlation": 0}.get(name, 1)
    close = {"rtol": 1e-10 if dtype == np.float64 else 2e-5}
    close["atol"] = close["rtol"] * float(scale) ** power
    pairs = fitted.pairs()
    np.testing.assert_allclose(pairs.distances.astype(float) * pairs.unit, pdist(X * scale, scipy_name), **close)
    between = cdist(new * scale, X * scale, scipy_name)
    np.testing.assert_allclose(fitted.distances_from(others).astype(float), between, **close)


@pytest.mark.parametrize("value", [(1.0, 2.0), [1.0, 2.0], None, "far", np.ones(2), 1 + 2j, {}], ids=repr)
def test_a_metric_must_give_one_number(value):
    X = np.random.default_rng(0).normal(size=(20, 3))

    def metric(a, b):
        return value

    for fit in (MDS, Isomap, UMAP, LLE, TSNE, lambda metric: ClassicalMDS(metric=metric)):
        with pytest.raises(BadInput, match="the metric must give one number for two rows; it gave"):
            fit(metric=metric).fit(X)


@pytest.mark.parametrize("form", [float, np.float32, np.asarray, np.longdouble])
def test_numbers_of_any_type_are_distances(form):
    X = np.random.default_rng(0).normal(size=(20, 3))
    found = neighbors(X, 3, metric=lambda a, b: form(np.abs(a - b).sum()))
    np.testing.assert_allclose(found.distances, neighbors(X, 3, metric="manhattan").distances, rtol=1e-6)


@pytest.mark.parametrize(("dtype", "bound"), [(np.float64, 4e-15), (np.float32, 2e-6)])
@pytest.mark.parametrize("p", [1.01, 2.7, 7, 40, 300, 5000])
@pytest.mark.parametrize("d", [1, 3, 16, 67])
def test_minkowski_of_any_exponent_by_its_formula(rng, dtype, bound, p, d):
    """In units of the largest difference, with more digits; powers that neither overflow nor vanish."""
    X = (rng.normal(size=(40, d)) * np.exp(3 * rng.normal(size=(40, d)))).astype(dtype)
    X[1] = X[0]
    apart = np.abs(X[:, None].astype(np.longdouble) - X.astype(np.longdouble))
    largest = apart.max(axis=-1)
    shares = apart / np.where(largest > 0, largest, 1)[..., None]
    expected = largest * (shares**p).sum(axis=-1) ** (np.longdouble(1) / p)
    found = prepare_rows(open_rows(X), metric_of("minkowski", {"p": p}), 1)
    np.testing.assert_allclose(found.distances_from(found), expected.astype(np.float64), rtol=bound, atol=0)
