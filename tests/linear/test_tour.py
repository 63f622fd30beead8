"""Tours: geodesics, and iterators of frames along them."""

from __future__ import annotations

from itertools import islice, pairwise

import numpy as np
import pytest
from scipy.linalg import subspace_angles

import lowdim
from lowdim.errors import BadInput, BadParameter, MemoryTooSmall
from lowdim.linalg.grassmann import geodesic, polar_frame, principal_angles
from lowdim.linear.projection_pursuit.catalog import make_index
from lowdim.linear.tour import interpolate


def frame(d, k, seed):
    return np.linalg.qr(np.random.default_rng(seed).normal(size=(d, k)))[0]


def distance(A, B):
    return np.linalg.norm(subspace_angles(A, B))


def assert_orthonormal(frames, d, k):
    for F in frames:
        assert F.shape == (d, k)
        np.testing.assert_allclose(F.T @ F, np.eye(k), atol=1e-12)


# Geodesics


@pytest.mark.parametrize(("d", "k"), [(2, 1), (3, 2), (4, 2), (6, 3), (9, 1)])
def test_a_geodesic_is_the_shortest_way_at_constant_speed(d, k):
    A, B = frame(d, k, 0), frame(d, k, 1)
    way = geodesic(A, B)
    np.testing.assert_allclose(principal_angles(A, B), np.sort(subspace_angles(A, B)), atol=1e-7)
    assert way.length == pytest.approx(distance(A, B))
    np.testing.assert_allclose(way.frame(0), A, atol=1e-12)
    assert distance(way.frame(1), B) < 1e-7
    points = [way.frame(t) for t in np.linspace(0, 1, 6)]
    assert_orthonormal(points, d, k)
    parts = [distance(P, Q) for P, Q in pairwise(points)]
    np.testing.assert_allclose(parts, way.length / 5, rtol=1e-6)  # as long as the whole: no shorter way


def test_a_geodesic_does_not_turn_within_the_projection():
    A, B = frame(5, 2, 0), frame(5, 2, 1)
    way, t = geodesic(A, B), 1e-6
    velocity = (way.frame(t) - A) / t
    np.testing.assert_allclose(A.T @ velocity, 0, atol=1e-5)
    turned = A @ np.array([[0.6, -0.8], [0.8, 0.6]])
    assert geodesic(A, turned).length < 1e-7
    np.testing.assert_allclose(geodesic(A, turned).frame(1.0), A, atol=1e-9)


def test_geodesics_between_orthogonal_and_sharing_subspaces():
    eye = np.eye(4)
    opposite = geodesic(eye[:, :2], eye[:, 2:])
    assert opposite.length == pytest.approx(np.pi / 2 * 2**0.5)
    sharing = geodesic(eye[:, :2], eye[:, [0, 2]])
    assert sharing.length == pytest.approx(np.pi / 2)
    np.testing.assert_allclose(sharing.frame(0.5)[:, 0], eye[0], atol=1e-9)  # the common axis stays
    assert distance(sharing.frame(1), eye[:, [0, 2]]) < 1e-7


def test_the_polar_frame_is_the_nearest():
    A = np.random.default_rng(0).normal(size=(5, 2))
    best = polar_frame(A)
    for seed in range(20):
        near = polar_frame(best + 0.1 * np.random.default_rng(seed).normal(size=(5, 2)))
        assert np.linalg.norm(A - best) <= np.linalg.norm(A - near) + 1e-12


# Tours


def test_a_tour_reaches_its_targets_in_equal_steps():
    start, targets = frame(5, 2, 0), [frame(5, 2, i) for i in (1, 2, 3)]
    frames = list(interpolate(start, targets, step=0.1))
    assert_orthonormal(frames, 5, 2)
    np.testing.assert_array_equal(frames[0], start)
    reached = [min(range(len(frames)), key=lambda i: distance(frames[i], target)) for target in targets]
    assert reached == sorted(reached) and reached[-1] == len(frames) - 1
    for begin, end, target in zip([0, *reached], reached, targets, strict=False):
        assert distance(frames[end], target) < 1e-6
        steps = [distance(P, Q) for P, Q in zip(frames[begin:end], frames[begin + 1 : end + 1], strict=True)]
        np.testing.assert_allclose(steps, steps[0], rtol=1e-4)
        assert 0.05 < steps[0] <= 0.1 + 1e-9


def test_a_grand_tour_is_seeded_without_end_and_goes_everywhere():
    tours = [list(islice(lowdim.grand_tour(4, 2, random_state=seed), 400)) for seed in (0, 0, 1)]
    assert len(tours[0]) == 400
    assert_orthonormal(tours[0], 4, 2)
    np.testing.assert_array_equal(tours[0], tours[1])
    assert not np.array_equal(tours[0], tours[2])
    np.testing.assert_array_equal(tours[0][0], np.eye(4, 2))
    long = list(islice(lowdim.grand_tour(3, 1, step=0.2), 1500))
    for axis in frame(3, 3, 5).T:
        assert max(abs(float(F[:, 0] @ axis)) for F in long) > 0.98


def test_a_local_tour_stays_near_and_comes_back():
    start = frame(6, 2, 0)
    frames = list(islice(lowdim.local_tour(start, radius=0.3), 200))
    assert_orthonormal(frames, 6, 2)
    far = [distance(F, start) for F in frames]
    assert max(far) == pytest.approx(0.3, abs=1e-6)
    assert sum(value < 1e-6 for value in far) > 5


def two_groups(n=200, d=4):
    """Sphered rows of two groups, apart in the third column."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d)) * 0.3
    X[:, 2] += 2 * np.sign(rng.normal(size=n))
    return lowdim.sphere(X), np.sign(X[:, 2])


@pytest.mark.parametrize("index", ["holes", lambda Z: -float(np.mean(Z**4))])
def test_a_guided_tour_climbs_the_index(index):
    Y, groups = two_groups()
    options = {"n_components": 1, "restarts": 1, "step": 0.02}
    frames = list(lowdim.guided_tour(Y, index, **options))
    assert_orthonormal(frames, 4, 1)
    objective = make_index(index).objective(Y, None)
    measured = [objective(F)[0] for F in frames]
    assert measured[-1] > max(measured) - 1e-6 > measured[0]
    if index == "holes":  # a step of the random search may lead through a dip
        assert (np.diff(measured) > -0.05 * np.ptp(measured)).all()
    np.testing.assert_array_equal(frames, list(lowdim.guided_tour(Y, index, **options)))
    two = list(islice(lowdim.guided_tour(Y, "lda", groups, restarts=None), 60))
    assert_orthonormal(two, 4, 2)


@pytest.mark.parametrize("index", ["holes", lambda Z: -float(np.mean(Z**4))])
def test_a_few_local_maxima_of_a_guided_tour_contain_the_groups(index):
    Y, _ = two_groups()
    for seed in range(4):
        frames = lowdim.guided_tour(Y, index, n_components=1, restarts=4, step=0.1, random_state=seed)
        assert max(abs(F[2, 0]) for F in frames) > 0.99


def test_the_way_of_a_guided_tour_does_not_hang_on_rounding():
    """Of sphered rows, the axes are those of rounding: starts must not be drawn among them."""
    Y, _ = two_groups()
    noise = 1e-13 * np.random.default_rng(1).normal(size=Y.shape)
    ways = [list(lowdim.guided_tour(rows, "holes", restarts=2)) for rows in (Y, Y + noise)]
    assert len(ways[0]) == len(ways[1])
    np.testing.assert_allclose(ways[0], ways[1], atol=1e-6)


def test_sphered_columns_are_uncorrelated_and_near_their_own():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3)) @ [[1, 0.6, 0], [0, 1, 0.2], [0, 0, 1]] * [1, 10, 100] + 7
    Y = lowdim.sphere(X)
    np.testing.assert_allclose(Y.T @ Y / 300, np.eye(3), atol=1e-9)
    C = np.corrcoef(X.T)
    values, vectors = np.linalg.eigh(C)
    cross = np.corrcoef(np.hstack([X, Y]).T)[:3, 3:]
    np.testing.assert_allclose(cross, vectors * values**0.5 @ vectors.T, atol=1e-9)  # ZCA-cor: the root of C
    deficient = lowdim.sphere(np.column_stack([X, X[:, 0] + X[:, 1], np.ones(300)]))
    assert deficient.shape == (300, 5)
    assert np.linalg.matrix_rank(deficient, tol=1e-6) == 3
    frames = list(lowdim.guided_tour(deficient, "central_mass", restarts=1))
    np.testing.assert_allclose([np.var(deficient @ F, axis=0) for F in frames], 1, atol=1e-6)


@pytest.mark.parametrize("unit", [1e-301, 1e-160, 1e140])
def test_sphered_rows_do_not_depend_on_the_unit(unit):
    X = np.random.default_rng(2).normal(size=(40, 3)) @ [[1, 0.6, 0], [0, 1, 0.2], [0, 0, 1]]
    np.testing.assert_allclose(lowdim.sphere(X * unit), lowdim.sphere(X), atol=1e-9)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: lowdim.grand_tour(2, 2), BadParameter, "more columns than components"),
        (lambda: lowdim.grand_tour(0), BadParameter, "n_features"),
        (lambda: lowdim.grand_tour(np.uint64(2**64 - 100)), BadParameter, "n_features"),
        (lambda: lowdim.grand_tour(2**31 - 1, 2**20), MemoryTooSmall, "Give fewer columns"),
        (lambda: lowdim.grand_tour(4, step=0), BadParameter, "step must be"),
        (lambda: lowdim.local_tour(np.ones((3, 2))), BadInput, "orthonormal"),
        (lambda: lowdim.local_tour(np.eye(3)[:, :2], radius=9), BadParameter, "radius"),
        (lambda: lowdim.local_tour(np.ones(3)), BadInput, "must be"),
        (lambda: lowdim.guided_tour(np.eye(5), "skewness"), BadParameter, "at most 1 dimension"),
        (lambda: lowdim.guided_tour(np.eye(5), "lda"), BadInput, "needs classes"),
        (lambda: lowdim.guided_tour(np.eye(5), "hole"), BadParameter, "index must be"),
        (lambda: lowdim.guided_tour(np.ones((5, 3))), BadInput, "vary in 0"),
        (lambda: next(lowdim.guided_tour(np.eye(3, 6))), BadInput, "vary in 2 dimensions only"),
        (lambda: lowdim.guided_tour(np.eye(5), restarts=0), BadParameter, "restarts"),
    ],
)
def test_errors_of_tours(call, error, words):
    with pytest.raises(error, match=words):
        call()
