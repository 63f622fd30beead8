"""UMAP into other spaces than the Euclidean one: gradients by finite differences, invariances, new rows, files."""

from __future__ import annotations

import numpy as np
import pytest

import lowdim
from lowdim import UMAP, _native
from lowdim.errors import BadParameter, ModelFileError
from lowdim.neighbor_embedding.umap.output_space import OUTPUT_METRICS, OutputSpace

A, B = 1.577, 0.895
CURVED = ["haversine", "hyperboloid"]


def on_sphere(points):
    return points / np.linalg.norm(points, axis=-1, keepdims=True)


def lifted(x):
    """Points of the hyperboloid, whose first coordinate follows from the others."""
    return np.concatenate([np.sqrt(1 + (x**2).sum(-1, keepdims=True)), x], axis=-1)


def great_circle(x, y):
    return 2 * np.arcsin(np.minimum(np.linalg.norm(on_sphere(x) - on_sphere(y), axis=-1) / 2, 1))


def hyperbolic(x, y):
    x, y = lifted(x), lifted(y)
    return np.arccosh(np.maximum(x[..., 0] * y[..., 0] - (x[..., 1:] * y[..., 1:]).sum(-1), 1))


def city_block(x, y):
    return np.abs(x - y).sum(-1)


DISTANCES = {"haversine": great_circle, "hyperboloid": hyperbolic, "manhattan": city_block}


def displacement(metric, point, fixed, negatives=0, alpha=1e-3):
    """What one epoch moves a point by, per learning rate: attracted to a fixed one, repelled by it some times."""
    out, rates = point[None].astype(np.float32), np.full(1, 2**32 - 1, np.uint32)
    edge = np.array([0, 1], np.int64), np.zeros(1, np.int32), rates
    rule = 2 * alpha, np.array([A, B, 1], np.float32), negatives, 0
    space = OUTPUT_METRICS.index(metric)
    _native.umap_epochs(out, fixed[None].astype(np.float32), *edge, 1, 2, 2, *rule, None, None, 1, space)
    return (out[0] - point.astype(np.float32)).astype(float) / alpha


def slope(metric, point, loss):
    """The gradient of a loss, by finite differences of the coordinates, in the metric of the space."""
    steps = 1e-5 * np.eye(len(point))
    gradient = np.array([(loss(point + step) - loss(point - step)) / 2e-5 for step in steps])
    if metric == "hyperboloid":  # the inverse of the metric tensor I - xxᵀ / (1 + |x|²)
        return gradient + point * (point @ gradient)
    return gradient


def pair_of_points(metric, rng):
    x, y = rng.standard_normal((2, 3))
    return (on_sphere(x), on_sphere(y)) if metric == "haversine" else (x, y)


@pytest.mark.parametrize("metric", DISTANCES)
@pytest.mark.parametrize("seed", range(5))
def test_an_edge_moves_its_row_down_the_gradient(metric, seed):
    x, y = pair_of_points(metric, np.random.default_rng(seed))
    distance = DISTANCES[metric]

    def attraction(z):
        return np.log1p(A * distance(z, y) ** (2 * B))

    def repulsion(z):
        return -np.log(1 - 1 / (1 + A * distance(z, y) ** (2 * B)))

    pulled = displacement(metric, x, y)
    np.testing.assert_allclose(pulled, -slope(metric, x, attraction), rtol=2e-3, atol=2e-3)
    pushed = displacement(metric, x, y, negatives=3) - pulled
    np.testing.assert_allclose(pushed, -3 * slope(metric, x, repulsion), rtol=1e-2, atol=5e-3)


@pytest.mark.parametrize("metric", CURVED)
def test_a_large_step_follows_the_geodesic(metric):
    """The distance shrinks by as much as the step is long, however far out; a step may lead beyond the other point."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        x, y = pair_of_points(metric, rng)
        x, y = (x, y) if metric == "haversine" else (20 * x, 20 * y)
        before = DISTANCES[metric](x, y)
        moved = x.astype(np.float32) + displacement(metric, x, y, alpha=0.5) * 0.5
        length = 0.5 * min(2 * A * B * before ** (2 * B - 1) / (1 + A * before ** (2 * B)), 4)
        assert DISTANCES[metric](moved, y) == pytest.approx(abs(before - length), rel=2e-3)


def test_equal_and_opposite_points_stay_finite():
    north = np.array([0.0, 0.0, 1.0])
    for metric, other in (("haversine", -north), ("haversine", north), ("hyperboloid", north), ("manhattan", north)):
        assert np.isfinite(displacement(metric, north, other, negatives=5)).all()
    far = np.array([1e6, 0, 0])
    assert np.isfinite(displacement("hyperboloid", far, -far, negatives=5)).all()


@pytest.fixture(scope="module")
def groups():
    rng = np.random.default_rng(0)
    return np.repeat(3 * rng.standard_normal((4, 6)), 40, axis=0) + rng.standard_normal((160, 6))


@pytest.mark.parametrize("metric", DISTANCES)
def test_same_bits_new_rows_and_files(metric, groups, tmp_path):
    fit = UMAP(output_metric=metric, n_epochs=60, random_state=0).fit
    model = fit(groups)
    Z = model.embedding_
    assert Z.shape == (160, 2) and np.isfinite(Z).all()
    one_thread = UMAP(output_metric=metric, n_epochs=60, random_state=0, n_jobs=1).fit(groups.astype(np.float32))
    np.testing.assert_array_equal(UMAP(**one_thread.set_params(n_jobs=5).get_params()).fit(groups).embedding_, Z)
    assert one_thread.embedding_.dtype == np.float32
    np.testing.assert_array_equal(model.transform(groups), Z)
    new = model.transform(groups[::7] + 1e-3)
    np.testing.assert_array_equal(model.transform(groups[7:8] + 1e-3), new[1:2])
    distance = great_circle_of_angles if metric == "haversine" else DISTANCES[metric]
    spread = np.median(distance(Z[:, None], Z[None]))
    assert np.median(distance(new, Z[::7])) < spread / 4
    lowdim.save(model, tmp_path / "map.lowdim")
    np.testing.assert_array_equal(lowdim.load(tmp_path / "map.lowdim").transform(groups[::7] + 1e-3), new)
    assert np.isfinite(fit(groups).update(groups[:5] + 0.1).embedding_).all()


def great_circle_of_angles(first, second):
    space = OutputSpace("haversine")
    shape = np.broadcast_shapes(first.shape, second.shape)[:-1]
    points = (space.points(np.broadcast_to(Z, (*shape, 2)).reshape(-1, 2)) for Z in (first, second))
    return great_circle(*(part.astype(float) for part in points)).reshape(shape)


@pytest.mark.parametrize("seed", range(3))
def test_a_sphere_is_found_again(seed):
    """Rows on a sphere: great-circle distances are kept, which no plane can do."""
    X = on_sphere(np.random.default_rng(seed).standard_normal((600, 3)))
    truth = great_circle(X[:, None], X[None])

    def kept(output_metric, distance):
        Z = UMAP(output_metric=output_metric, random_state=seed).fit_transform(X)
        return np.corrcoef(truth.ravel(), distance(Z[:, None], Z[None]).ravel())[0, 1]

    assert kept("haversine", great_circle_of_angles) > 0.97
    assert kept("euclidean", lambda x, y: np.linalg.norm(x - y, axis=-1)) < 0.85


def test_latitudes_and_longitudes_are_in_range_and_the_poles_are_reached():
    X = on_sphere(np.random.default_rng(1).standard_normal((400, 3)))
    latitude, longitude = UMAP(output_metric="haversine", random_state=0).fit_transform(X).T
    assert np.abs(latitude).max() <= np.pi / 2 and np.abs(latitude).max() > 1.3
    assert np.abs(longitude).max() <= np.pi and np.abs(longitude).max() > 3


def test_given_positions_are_latitudes_and_longitudes(groups):
    start = np.random.default_rng(0).uniform(-1, 1, (160, 2))
    model = UMAP(output_metric="haversine", init=start, n_epochs=1, learning_rate=1e-9).fit(groups)
    np.testing.assert_allclose(model.embedding_, start, atol=1e-6)


def test_hyperbolic_means_and_recentering_are_isometric(rng):
    space = OutputSpace("hyperboloid")
    x = rng.standard_normal((30, 2)) + np.array([4, 0])
    moved = space.recentered(x).astype(float)
    np.testing.assert_allclose(hyperbolic(moved[:, None], moved), hyperbolic(x[:, None], x), atol=1e-4)
    np.testing.assert_allclose(moved.mean(axis=0), 0, atol=1e-5)
    middle = space.mean(np.array([[0.5, 0.5]]), x[None, :2])[0].astype(float)
    assert hyperbolic(middle, x[0]) == pytest.approx(hyperbolic(middle, x[1]), rel=1e-4)
    assert 2 * hyperbolic(middle, x[0]) == pytest.approx(hyperbolic(x[0], x[1]), rel=1e-4)


def test_the_inverse_on_the_sphere_gives_fitted_rows_back(groups):
    model = UMAP(output_metric="haversine", n_epochs=60, random_state=0).fit(groups)
    np.testing.assert_array_equal(model.inverse_transform(model.embedding_), groups)
    beside = model.embedding_ + np.array([1e-4, 0])
    around = beside + np.array([0, 2 * np.pi])  # the same places
    np.testing.assert_allclose(model.inverse_transform(around), model.inverse_transform(beside), atol=1e-6)


def test_a_model_whose_coordinates_do_not_suit_the_space_is_refused(groups, tmp_path):
    model = UMAP(3, n_epochs=5).fit(groups)
    for parameters in ({"output_metric": "haversine"}, {"output_metric": "hyperboloid", "n_components": 2}):
        with pytest.raises(ModelFileError, match="contradicts itself"):  # as what `load` reads is checked
            lowdim.save(model.set_params(**parameters), tmp_path / "odd.lowdim")


def test_what_does_not_go_together_is_named(groups):
    for parameters, words in (
        ({"output_metric": "haversine", "n_components": 3}, "n_components must be 2; got 3"),
        ({"output_metric": "hyperboloid", "densmap": True}, "densmap=True needs output_metric='euclidean'"),
        ({"output_metric": "cosine"}, "output_metric"),
    ):
        with pytest.raises(BadParameter, match=words):
            UMAP(**parameters).fit(groups)
    model = UMAP(output_metric="hyperboloid", n_components=3, n_epochs=5).fit(groups)
    with pytest.raises(BadParameter, match="inverse_transform needs output_metric"):
        model.inverse_transform(model.embedding_)
