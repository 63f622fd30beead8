"""Laws of MDS: monotone descent, equivariance, recovery, out-of-sample extension, the same bits on any threads."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist, pdist, squareform

from determinism import assert_same_bits
from lowdim import MDS, NonmetricMDS
from lowdim.mds.initialization import random_init
from lowdim.mds.out_of_sample import squared_range_least_squares

KINDS = {
    "ratio": MDS(),
    "interval": MDS(transformation="interval"),
    "spline": MDS(transformation="spline"),
    "sstress": MDS(loss="sstress"),
    "primary": NonmetricMDS(),
    "secondary": NonmetricMDS(ties="secondary"),
    "tertiary": NonmetricMDS(ties="tertiary"),
}


def kind(name, **params):
    from sklearn.base import clone

    return clone(KINDS[name]).set_params(**params)


def noisy(n=25, seed=0, whole=False):
    """Distances of no plane, symmetric; `whole` numbers have ties."""
    rng = np.random.default_rng(seed)
    d = pdist(rng.standard_normal((n, 6))) * 3 + rng.uniform(0, 2, n * (n - 1) // 2)
    return squareform(np.rint(d) if whole else d)


@pytest.mark.filterwarnings("ignore::lowdim.errors.LowdimWarning")
@pytest.mark.parametrize("pairs", ["all", "weights", "missing"])
@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("name", KINDS)
def test_no_iteration_raises_the_loss(name, pairs, whole):
    rng = np.random.default_rng(1)
    D, W = noisy(whole=whole), None
    if pairs == "weights":
        W = squareform(rng.uniform(0.1, 3, 300))
    if pairs == "missing":
        D[np.triu(rng.random(D.shape) < 0.3, 1)] = np.nan
        D = np.where(np.isnan(D.T), np.nan, D)
    for init in ("classical", "random"):
        model = kind(name, metric="precomputed", init=init, max_iter=60, tol=0).fit(D, weights=W)
        path = model.stress_path_
        assert len(path) > 3 or path[-1] < 1e-12  # tertiary ties may fit at once
        assert (np.diff(path) <= 1e-9 * path[0]).all()
        assert path[-1] < 0.9 * path[0] or init == "classical" or path[-1] < 1e-12
        assert model.stress_ == pytest.approx(path[-1], rel=1e-6)
        assert np.isfinite(model.embedding_).all()


@pytest.mark.parametrize("name", KINDS)
def test_equivariance_to_permutations(name, rng):
    D = noisy(18)
    order = rng.permutation(18)
    one = kind(name, metric="precomputed", tol=1e-12, max_iter=20000).fit(D)
    other = kind(name, metric="precomputed", tol=1e-12, max_iter=20000).fit(D[np.ix_(order, order)])
    assert other.stress_ == pytest.approx(one.stress_, rel=1e-4)
    np.testing.assert_allclose(
        pdist(other.embedding_), squareform(squareform(pdist(one.embedding_))[np.ix_(order, order)]), atol=0.05
    )


@given(st.integers(0, 10**6), st.floats(0.01, 1e6))
def test_invariance_to_rotation_and_shift_and_equivariance_to_scale(seed, scale):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((15, 4))
    rotation = np.linalg.qr(rng.standard_normal((4, 4)))[0]
    one, other = MDS(max_iter=30, tol=1).fit(X), MDS(max_iter=30, tol=1).fit(scale * X @ rotation + 3 * scale)
    np.testing.assert_allclose(pdist(other.embedding_), scale * pdist(one.embedding_), rtol=1e-6)
    assert other.stress_ == pytest.approx(scale**2 * one.stress_, rel=1e-6)


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("init", ["classical", "random"])
def test_points_of_a_plane_are_recovered(name, init, rng):
    P = rng.standard_normal((30, 2)) * [3, 1]
    D = squareform(pdist(P))
    model = kind(name, metric="precomputed", init=init, n_init=5, tol=1e-16, max_iter=5000).fit(D)
    tight = name not in (
        "primary",
        "secondary",
        "tertiary",
        "spline",
    )  # up to a monotone transformation
    np.testing.assert_allclose(pdist(model.embedding_), pdist(P), atol=1e-4 if tight else 0.15)
    assert model.stress1_ < (1e-5 if tight else 1e-3)
    assert model.embedding_.mean(axis=0) == pytest.approx([0, 0], abs=1e-9)
    cross = model.embedding_.T @ model.embedding_
    assert abs(cross[0, 1]) < 1e-8 * cross[0, 0] and cross[0, 0] > cross[1, 1]


@pytest.mark.parametrize("name", KINDS)
def test_fitted_rows_keep_their_positions(name, rng):
    X = rng.standard_normal((40, 5))
    model = kind(name, tol=1e-13, max_iter=30000).fit(X)
    np.testing.assert_array_equal(model.transform(X), model.embedding_)
    moved = np.abs(model.transform(X + 1e-9) - model.embedding_).max(axis=1)
    assert np.median(moved) < (1e-3 if name in ("ratio", "interval", "sstress") else 0.1)


def test_new_points_of_a_plane_are_recovered(rng):
    P, Q = rng.standard_normal((40, 2)), rng.standard_normal((9, 2))
    for loss in ("stress", "sstress"):
        by_rows = MDS(loss=loss, tol=1e-15).fit(P)
        by_table = MDS(loss=loss, tol=1e-15, metric="precomputed").fit(squareform(pdist(P)))
        D = cdist(Q, P)
        for Z, model in ((by_rows.transform(Q), by_rows), (by_table.transform(D), by_table)):
            np.testing.assert_allclose(cdist(Z, model.embedding_), D, atol=2e-4)
        missing = D.copy()
        missing[:, 5:15] = np.nan
        np.testing.assert_allclose(cdist(by_table.transform(missing), by_table.embedding_), D, atol=2e-4)


@pytest.mark.parametrize("loss", ["stress", "sstress"])
def test_a_new_row_minimizes_its_own_loss(loss, rng):
    """Against a general optimizer, with everything else fixed."""
    from scipy.optimize import minimize

    X = rng.standard_normal((30, 6))
    model = MDS(loss=loss).fit(X)
    new, power = rng.standard_normal((5, 6)), 1 if loss == "stress" else 2
    for row, position in zip(new, model.transform(new), strict=True):
        wanted = cdist(row[None], X)[0] ** power

        def own_loss(z, wanted=wanted):
            return ((cdist(z[None], model.embedding_)[0] ** power - wanted) ** 2).sum()

        starts = [position + away for away in 2 * rng.standard_normal((8, 2))]
        found = min(
            minimize(own_loss, at, method="Nelder-Mead", options={"xatol": 1e-8, "fatol": 1e-12}).fun for at in starts
        )
        assert own_loss(position) == pytest.approx(found, rel=1e-6)


@given(st.integers(0, 10**6), st.integers(1, 3), st.booleans(), st.floats(0, 5))
def test_squared_range_least_squares_finds_the_global_minimum(seed, k, some_missing, away):
    """No other start ends lower, also where the fixed points lie on a line and both sides are equal."""
    from scipy.optimize import minimize

    rng = np.random.default_rng(seed)
    fixed = rng.standard_normal((9, k))
    fixed[:, 1:] *= rng.integers(0, 2)  # on a line
    squares = rng.uniform(0, 4, (4, 9)) + away
    known = rng.random((4, 9)) < 0.7 if some_missing else np.ones((4, 9), dtype=bool)
    known[:, 0] = True
    squares[0, known[0]] = 2.5
    positions = squared_range_least_squares(fixed, squares, known)
    for y, wanted, there in zip(positions, squares, known, strict=True):

        def loss(z, wanted=wanted, there=there):
            return ((((z - fixed) ** 2).sum(axis=1) - wanted)[there] ** 2).sum()

        found = min(minimize(loss, start).fun for start in (y + 0.1, -y - 0.1, *rng.standard_normal((2, k))))
        assert loss(y) <= found * (1 + 1e-6) + 1e-9


@pytest.mark.parametrize("loss", ["stress", "sstress"])
@pytest.mark.parametrize("metric", ["euclidean", "precomputed"])
def test_new_rows_beside_a_flat_embedding(loss, metric, rng):
    """Fitted rows on a line, or identical: a new one beside them keeps its distances, on either side."""
    line, point = np.outer(rng.standard_normal(12), [1.0, 2.0, 2.0]), np.ones((5, 3))
    for X, new in ((line, rng.standard_normal((6, 3)) * 3), (point, 1 + rng.standard_normal((4, 3)))):
        given_rows, asked = (X, new) if metric == "euclidean" else (cdist(X, X), cdist(new, X))
        model = MDS(loss=loss, metric=metric).fit(given_rows)
        np.testing.assert_allclose(cdist(model.transform(asked), model.embedding_), cdist(new, X), atol=1e-5)
    inside = MDS(4, loss=loss).fit(rng.standard_normal((20, 2)))
    X = inside.X_fit_
    Z = inside.transform(X[:5] + 0.1)
    np.testing.assert_allclose(cdist(Z, inside.embedding_), cdist(X[:5] + 0.1, X), atol=1e-5)
    assert np.abs(Z[:, 2:]).max() < 1e-6


def test_errors_number_rows_across_blocks(monkeypatch, rng):
    """New rows are embedded in blocks; an error names the number of the row in X."""
    from lowdim.errors import BadInput
    from lowdim.mds import out_of_sample

    monkeypatch.setattr(out_of_sample, "BLOCK_VALUES", 30)
    X, new = rng.standard_normal((10, 3)), rng.standard_normal((9, 3))
    D, wrong = cdist(X, X), cdist(new, X)
    by_rows, by_table = MDS().fit(X), MDS(metric="precomputed").fit(D)
    new[7, 1] = np.nan
    with pytest.raises(BadInput, match="row 7, column 1"):
        by_rows.transform(new)
    wrong[5, 2] = -9
    with pytest.raises(BadInput, match="from row 5 to row 2"):
        by_table.transform(wrong)
    wrong[5], wrong[8] = 1, np.nan
    with pytest.raises(BadInput, match="row 8 of the new ones"):
        by_table.transform(wrong)


def test_the_best_of_several_starts_is_kept():
    D = noisy(20, seed=3)
    many = NonmetricMDS(metric="precomputed", init="random", n_init=6, max_iter=3000).fit(D)
    alone = []
    for number in range(6):
        start = random_init(20, 2, 0, number)
        unit = 2.0 ** np.round(np.log2(D.max()))
        alone.append(NonmetricMDS(metric="precomputed", init=start * unit, max_iter=3000).fit(D).stress_)
    assert many.stress_ == pytest.approx(min(alone), rel=1e-9)
    assert max(alone) > min(alone) * 1.001  # the starts differ


@pytest.mark.filterwarnings("ignore::lowdim.errors.LowdimWarning")
@pytest.mark.parametrize("name", [*KINDS, "sgd", "starts"])
def test_the_same_bits_for_any_number_of_threads(name, digits):
    X = digits[:700]  # up to 512 rows are fitted on one thread
    if name == "sgd":
        model = MDS(solver="sgd", max_iter=4)
    elif name == "starts":
        model = MDS(n_init=3, max_iter=5)
    else:
        model = kind(name, max_iter=6)

    def work(threads):
        model.set_params(n_jobs=threads).fit(X)
        return model.embedding_, model.transform(X[:20] + 0.5), model.stress_, model.stress_per_point_

    assert_same_bits(work)


def test_weights_of_one_are_no_weights(rng):
    D = noisy(15)
    plain = MDS(metric="precomputed", max_iter=20, tol=1).fit(D)
    weighted = MDS(metric="precomputed", max_iter=20, tol=1).fit(D, weights=np.ones((15, 15)))
    np.testing.assert_allclose(weighted.embedding_, plain.embedding_, atol=1e-9)


def test_a_pair_of_weight_zero_is_a_missing_pair(rng):
    D, W = noisy(15), np.ones((15, 15))
    W[2, 7] = W[7, 2] = 0
    lost = D.copy()
    lost[2, 7] = lost[7, 2] = np.nan
    for name in KINDS:
        a = kind(name, metric="precomputed").fit(D, weights=W)
        b = kind(name, metric="precomputed").fit(lost)
        np.testing.assert_array_equal(a.embedding_, b.embedding_)


def test_missing_distances_of_a_plane_are_recovered(rng):
    P = rng.standard_normal((25, 2))
    D = squareform(pdist(P))
    gone = np.triu(rng.random(D.shape) < 0.3, 1)
    lost = np.where(gone | gone.T, np.nan, D)
    model = MDS(metric="precomputed", tol=1e-16, max_iter=20000, n_init=4).fit(lost)
    np.testing.assert_allclose(pdist(model.embedding_), squareform(D), atol=1e-3)
