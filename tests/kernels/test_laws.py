"""Kernels: closure properties, Schoenberg's theorems and tests of definiteness, for any rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from lowdim import ClassicalMDS, KernelPCA, kernels
from lowdim.errors import BadInput, BadParameter
from lowdim.kernels import (
    chi2,
    cosine,
    exponential,
    from_distance,
    from_function,
    identity,
    is_completely_monotone,
    is_conditionally_negative_definite,
    is_euclidean,
    is_psd,
    laplacian,
    linear,
    logarithm,
    polynomial,
    polynomial_of,
    power,
    radial,
    ratio,
    rational_quadratic,
    rbf,
    sigmoid,
)

seeds = st.integers(0, 10_000)
numbers = st.floats(0.05, 5)
simple = st.one_of(
    st.just(linear()),
    st.just(cosine()),
    st.builds(rbf, numbers),
    st.builds(laplacian, numbers),
    st.builds(polynomial, st.integers(1, 4), numbers, st.floats(0, 3)),
    st.builds(rational_quadratic, numbers, numbers),
    st.builds(lambda a: radial(logarithm(a)), numbers),
)
composite = st.recursive(
    simple,
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(lambda ab: ab[0] + ab[1]),
        st.tuples(inner, inner).map(lambda ab: ab[0] * ab[1]),
        st.tuples(numbers, inner).map(lambda ca: ca[0] * ca[1]),
        st.tuples(inner, st.tuples(numbers, st.just(0.0), numbers)).map(lambda ac: polynomial_of(*ac)),
    ),
    max_leaves=3,
)


def rows(seed: int, n: int = 25, d: int = 3) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((n, d))


def squares(X: np.ndarray) -> np.ndarray:
    return ((X[:, None] - X[None]) ** 2).sum(axis=-1)


def test_the_package_shows_its_public_names_alone():
    assert dir(kernels) == sorted(kernels.__all__)
    for name in kernels.__all__:
        found = getattr(kernels, name)
        assert found.__doc__ and not found.__doc__.startswith(f"{name}("), name  # not the one that dataclasses make up
        for method in (m for m in vars(found) if not m.startswith("_") and callable(getattr(found, m))):
            assert getattr(found, method).__doc__ or getattr(kernels.Kernel, method).__doc__, (name, method)


@given(composite, seeds)
def test_sums_products_and_polynomials_of_kernels_are_positive_semidefinite(kernel, seed):
    assert kernel.psd
    verdict = is_psd(kernel(rows(seed)), tol=1e-10)
    assert verdict, verdict


@given(simple, simple, seeds, numbers)
def test_composite_kernels_are_the_composites_of_their_matrices(a, b, seed, c):
    X, Y = rows(seed), rows(seed + 1, 7)
    assert_allclose((a + b)(X, Y), a(X, Y) + b(X, Y), rtol=1e-12)
    assert_allclose((a * b)(X, Y), a(X, Y) * b(X, Y), rtol=1e-12)
    assert_allclose((c * a)(X, Y), c * a(X, Y), rtol=1e-12)
    assert_allclose((a**3)(X, Y), a(X, Y) ** 3, rtol=1e-10)
    assert_allclose((a + c)(X, Y), a(X, Y) + c, rtol=1e-12, atol=1e-12)
    assert sum([a, b, a]) == a + b + a and 1 + a == a + 1
    assert_allclose(polynomial_of(a, [c, 2.0, 1.0])(X, Y), c + 2 * a(X, Y) + a(X, Y) ** 2, rtol=1e-12, atol=1e-12)


@given(composite, seeds)
def test_diagonal_and_symmetry(kernel, seed):
    from lowdim.kernels._row_blocks import PreparedRows

    X = rows(seed)
    K = kernel(X)
    assert_allclose(K, K.T, rtol=1e-12, atol=1e-12)
    assert_allclose(kernel.diagonal(PreparedRows(X)), np.diagonal(K), rtol=1e-9)
    assert (np.outer(np.diagonal(K), np.diagonal(K)) * (1 + 1e-9) + 1e-12 >= K**2).all()  # Cauchy-Schwarz inequality


@given(composite)
def test_kernels_are_values_that_compare_hash_and_print(kernel):
    names = {name: getattr(kernels, name) for name in kernels.__all__}
    assert kernel == clone(kernel)
    assert hash(kernel) == hash(clone(kernel))
    assert eval(repr(kernel), names) == kernel


def test_sums_and_products_are_associative():
    a, b, c = rbf(1.0), linear(), cosine()
    assert (a + b) + c == a + (b + c)
    assert (a * b) * c == a * (b * c)
    assert repr(rbf(0.5) + 2 * linear()) == "rbf(gamma=0.5) + 2 * linear()"
    assert repr(linear() * (rbf(1.0) + cosine())) == "linear() * (rbf(gamma=1.0) + cosine())"
    assert repr(2 * (3 * linear())) == "2 * (3 * linear())"
    assert repr((1 / 3) * rbf(np.float64(0.1))) == "0.3333333333333333 * rbf(gamma=0.1)"


@pytest.mark.parametrize(
    "invalid",
    [
        lambda: -1 * rbf(1.0),
        lambda: 0 * rbf(1.0),
        lambda: rbf(1.0) - rbf(0.5),
        lambda: rbf(1.0) + -1,
        lambda: 1 - rbf(1.0),
        lambda: -rbf(1.0),
        lambda: polynomial_of(rbf(1.0), [1.0, -2.0]),
        lambda: polynomial_of(rbf(1.0), [0.0]),
        lambda: rbf(-1.0),
        lambda: rbf("wide"),
        lambda: polynomial(0),
        lambda: polynomial(2, 1.0, -1.0),
        lambda: rbf(1.0) ** 0.5,
        lambda: exponential(0.0),
        lambda: power(1.0),
        lambda: power(0.0),
        lambda: logarithm(-1.0),
        lambda: ratio(0),
        lambda: radial(lambda t: 1 + t),
        lambda: radial(lambda t: np.cos(t)),
        lambda: kernels.as_kernel("nothing"),
        lambda: linear().with_gamma(1.0),
    ],
)
def test_what_is_not_positive_semidefinite_is_refused_with_the_reason(invalid):
    with pytest.raises(BadParameter, match=r".{25}"):
        invalid()


@given(seeds)
def test_scale_and_median_do_not_depend_on_units(seed):
    X = rows(seed)
    for kernel in (rbf("scale"), rbf("median"), laplacian("scale"), laplacian("median"), polynomial(2), sigmoid()):
        assert_allclose(kernel(X), kernel(1000 * X), rtol=1e-9)
    assert rbf("scale").resolve(X).gamma == pytest.approx(1 / X.var(axis=0).sum())
    apart = squares(X)[np.triu_indices(len(X), 1)]
    assert rbf("median").resolve(X).gamma == pytest.approx(1 / np.median(apart))
    nested = (2 * (rbf("median") + linear()) * rbf(1.0)).resolve(X)
    assert nested == 2 * (rbf(rbf("median").resolve(X).gamma) + linear()) * rbf(1.0)


def test_distances_do_not_cancel_far_from_the_origin():
    X = rows(0)
    assert_allclose(rbf(1.0)(X + 1e6), rbf(1.0)(X), rtol=1e-8)
    narrow = (X + 100).astype(np.float32)
    assert_allclose(rbf(1.0)(narrow), rbf(1.0)(narrow.astype(float)), rtol=1e-4)
    assert rbf(1.0)(narrow).dtype == np.float32
    assert_array_equal(np.diagonal(rbf(1e6)(X)), 1)


def test_sigmoid_need_not_be_positive_semidefinite():
    X = rows(0)
    assert sigmoid().psd is None
    assert (rbf(1.0) + sigmoid()).psd is None
    verdict = is_psd(sigmoid(1.0, -1.0)(X))
    assert not verdict
    assert verdict.smallest < -verdict.tolerance < 0


@pytest.mark.parametrize("quick", [False, True])
def test_definiteness_and_its_eigenvalues(quick):
    X = rows(3, 60)
    D = np.sqrt(squares(X))
    assert is_psd(X @ X.T, quick=quick)
    assert is_euclidean(D, quick=quick)
    assert is_euclidean(D**2, squared=True, quick=quick)
    assert is_conditionally_negative_definite(D**2, quick=quick)
    assert is_conditionally_negative_definite(D**2 + 7, quick=quick)  # vᵀ11ᵀv = 0 where v sums to zero
    assert not is_euclidean(D**3, quick=quick)
    bad = X @ X.T - 0.5 * np.eye(60)
    verdict = is_psd(bad, quick=quick)
    assert not verdict
    assert verdict.exact is not quick
    assert -0.5 - 1e-9 <= verdict.smallest < -1e-3
    if not quick:
        assert verdict.smallest == pytest.approx(-0.5)
        assert str(verdict).startswith("no: the smallest eigenvalue, -0.5, is below -")
    assert ("another may be smaller" in str(is_psd(X @ X.T, quick=quick))) is quick


def test_the_tolerance_follows_the_dtype_of_the_matrix():
    """Distances and products rounded to float32 are those of points nevertheless; in float64 they would not be."""
    X = rows(5, 40, 2).astype(np.float32)
    D, K = np.sqrt(squares(X.astype(float))).astype(np.float32), X @ X.T
    for verdict, wide in (
        (is_euclidean(D), is_euclidean(D.astype(float))),
        (is_conditionally_negative_definite(D**2), is_conditionally_negative_definite((D**2).astype(float))),
        (is_psd(K), is_psd(K.astype(float))),
    ):
        assert verdict and not wide
        assert verdict.tolerance > -verdict.smallest > wide.tolerance
    assert not is_euclidean(D**3)


def test_rounding_errors_on_the_diagonal_are_no_distances():
    """A correlation of a row with itself misses one by a bit."""
    X = rows(2, 30, 5)
    D = 1 - np.corrcoef(X)
    assert np.diagonal(D).any() or (D < 0).any()
    assert is_euclidean(np.sqrt(np.maximum(D, 0)), tol=1e-6)
    assert is_euclidean(D, squared=True, tol=1e-6)


def test_too_large_a_matrix_is_refused_before_memory_is_filled(monkeypatch):
    from lowdim.errors import MemoryTooSmall
    from lowdim.runtime import memory

    monkeypatch.setattr(memory, "available_bytes", lambda: 1000)
    for verdict in (is_psd, is_euclidean, is_conditionally_negative_definite):
        with pytest.raises(MemoryTooSmall, match="fewer rows"):
            verdict(np.zeros((30, 30)))


def test_definiteness_needs_symmetric_matrices():
    with pytest.raises(BadInput, match="symmetric"):
        is_psd(np.triu(np.ones((3, 3))))
    with pytest.raises(BadInput, match="symmetric"):
        is_psd(np.ones((3, 2)))
    with pytest.raises(BadInput, match="negative"):
        is_euclidean(np.array([[0.0, -1.0], [-1.0, 0.0]]))


@pytest.mark.parametrize(
    ("make", "formula"),
    [
        (lambda a: identity(), lambda t, a: t),
        (exponential, lambda t, a: (1 - np.exp(-a * t)) / a),
        (logarithm, lambda t, a: np.log(1 + t / a)),
        (ratio, lambda t, a: t / (a * (a + t))),
        (lambda a: power(a / 6), lambda t, a: t ** (a / 6)),
    ],
)
@given(numbers, seeds)
def test_schoenberg_transforms_keep_distances_euclidean(make, formula, a, seed):
    D = squares(rows(seed, 15))
    transform = make(a)
    assert_allclose(transform(D), formula(D, a), rtol=1e-10, atol=1e-12)
    assert is_euclidean(transform(D), squared=True, tol=1e-10)
    assert is_psd(radial(transform)(rows(seed, 15)), tol=1e-10)
    with pytest.raises(BadInput, match="negative"):
        transform(-D)


@given(numbers)
def test_schoenberg_transforms_are_integrals_over_their_measures(a):
    """Φ(t) = ∫ (1 - e^{-λt}) / λ g(λ) dλ."""
    from scipy.integrate import quad

    for transform, g in ((logarithm(a), lambda x: np.exp(-a * x)), (ratio(a), lambda x: x * np.exp(-a * x))):
        value, _ = quad(lambda x, g=g: -np.expm1(-1.7 * x) / x * g(x), 0, np.inf)
        assert transform(1.7) == pytest.approx(value, rel=1e-6)


def test_complete_monotonicity():
    assert is_completely_monotone(lambda t: np.exp(-2 * t))
    assert is_completely_monotone(lambda t: 1 / (1 + t))
    assert not is_completely_monotone(lambda t: np.exp(-(t**2)))  # not convex near 0
    assert not is_completely_monotone(lambda t: np.maximum(1 - t / 5, 0))
    X = rows(0)
    assert_allclose(radial(lambda t: np.exp(-0.3 * t))(X), rbf(0.3)(X))
    assert_allclose(radial(lambda t: 1 / (1 + t))(X), rational_quadratic(1.0, 1.0)(X))


def test_a_function_and_a_distance_as_kernels():
    X, Y = rows(0), rows(1, 5)
    assert_allclose(from_function(lambda x, y: (x @ y) ** 2)(X, Y), (X @ Y.T) ** 2)
    assert_allclose(from_distance()(X), -squares(X) / 2, atol=1e-12)
    manhattan = np.abs(X[:, None] - Y[None]).sum(axis=-1)
    assert_allclose(from_distance("manhattan")(X, Y), -(manhattan**2) / 2)
    assert_allclose(from_distance("sqeuclidean")(X), -(squares(X) ** 2) / 2, atol=1e-12)
    bits = (X > 0).astype(float)
    assert_allclose(from_distance("hamming")(bits), -((bits[:, None] != bits[None]).mean(axis=-1) ** 2) / 2)
    assert_allclose(from_distance(lambda x, y: abs(x - y).sum())(X, Y), -(manhattan**2) / 2)


def test_what_kernels_refuse():
    with pytest.raises(BadInput, match="nonnegative"):
        chi2()(rows(0))
    with pytest.raises(BadInput, match="3 columns and Y 2"):
        rbf(1.0)(rows(0), rows(0, 5, 2))
    with pytest.raises(BadInput, match="NaN"):
        rbf(1.0)(np.full((3, 3), np.nan))


def test_nested_parameters():
    kernel = rbf(0.5) + 2 * (linear() * rational_quadratic(0.1, 3.0))
    assert kernel.get_params()["k1__gamma"] == 0.5
    assert kernel.get_params()["k2__kernel__k2__alpha"] == 3.0
    assert set(kernel.get_params(deep=False)) == {"parts"}
    given_part = kernel.parts[0]
    changed = clone(kernel).set_params(k1__gamma=0.25, k2__factor=5.0, k2__kernel__k2__alpha=7.0)
    assert changed == rbf(0.25) + 5 * (linear() * rational_quadratic(0.1, 7.0))
    assert kernel == rbf(0.5) + 2 * (linear() * rational_quadratic(0.1, 3.0)) and given_part == rbf(0.5)
    assert clone(kernel).set_params(k1=cosine()) == cosine() + 2 * (linear() * rational_quadratic(0.1, 3.0))
    for wrong in ({"k3__gamma": 1.0}, {"gamma": 1.0}, {"k1__alpha": 1.0}, {"k2__factor": -1.0}):
        with pytest.raises(BadParameter):
            clone(kernel).set_params(**wrong)


def test_grid_search_over_nested_kernel_parameters():
    from sklearn.model_selection import GridSearchCV
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.pipeline import make_pipeline

    X, given_kernel = rows(0, 40), rbf(1.0)
    y = (np.linalg.norm(X, axis=1) > 1.5).astype(int)
    search = GridSearchCV(
        make_pipeline(KernelPCA(2, kernel=given_kernel), KNeighborsClassifier(3)),
        {"kernelpca__kernel__gamma": [1e-3, 0.1, 1.0]},
        cv=2,
    ).fit(X, y)
    assert search.best_params_["kernelpca__kernel__gamma"] in (1e-3, 0.1, 1.0)
    assert given_kernel == rbf(1.0)  # only clones are changed
    with pytest.raises(BadParameter, match="gamma"):
        rbf(1.0).set_params(gamma=-1.0)
    search = GridSearchCV(
        make_pipeline(KernelPCA(2, kernel=rbf(0.5) + 2 * linear()), KNeighborsClassifier(3)),
        {"kernelpca__kernel__k1__gamma": [0.1, 3.0], "kernelpca__kernel__k2__factor": [1e-9]},
        cv=2,
    ).fit(X, y)
    best = search.best_params_["kernelpca__kernel__k1__gamma"]
    assert search.best_estimator_[0].kernel == rbf(best) + 1e-9 * linear()


def test_overflow_and_underflow_are_reported():
    X = rows(0)
    with pytest.raises(BadInput, match="overflow"):
        is_euclidean(np.sqrt(squares(X)) * 1e200)
    with pytest.raises(BadInput, match="underflow"):
        rbf()(X * 1e-200)
    with pytest.raises(BadInput, match=r"gamma=.* too large for float32"):
        KernelPCA().fit((X * 1e-25).astype(np.float32))
    assert_allclose(rbf()(X * 1e-150), rbf()(X), rtol=1e-9)
    with pytest.raises(BadInput, match=r"must return finite numbers.* returned nan"):
        KernelPCA(kernel=lambda x, y: np.nan).fit(X)
    for value in ("x", None, (1.0, 2.0), np.ones(2), 1j, 10**400):
        with pytest.raises(BadInput, match="kernel function must give one number for two rows; it gave"):
            KernelPCA(kernel=lambda x, y, value=value: value).fit(X)
        with pytest.raises(BadInput, match="metric must give one number for two rows; it gave"):
            ClassicalMDS(metric=lambda x, y, value=value: value).fit(X)
    for tol in (-1.0, "a", np.nan):
        with pytest.raises(BadParameter, match="tol must be a number of at least 0"):
            is_psd(np.eye(3), tol=tol)


@pytest.mark.parametrize(
    "kernel", [kernels.linear(), kernels.polynomial(), kernels.linear() * kernels.linear()], ids=repr
)
def test_values_whose_products_overflow_are_refused(kernel):
    X = np.array([[1e200, 1.0], [2.0, 1e200]])
    with pytest.raises(BadInput, match="overflow"), np.errstate(over="ignore", invalid="ignore"):
        kernel(X)
    assert np.isfinite(kernel(X * 1e-200)).all()


def test_the_scale_of_rows_in_several_chunks_is_their_total_variance(rng):
    X = rng.normal(size=(400_000, 8)).astype(np.float32)
    X[200_000:] += 5  # so that the first chunk's mean is not that of all
    gamma = kernels.rbf(gamma="scale").resolve(X).gamma
    assert_allclose(gamma, 1 / X.var(axis=0, dtype=np.float64).sum(), rtol=1e-10)


@pytest.mark.parametrize("dtypes", [(">f8", "<f8"), ("<f4", "<f8"), (">f4", ">f4")])
def test_rows_of_two_dtypes_or_orders_of_bytes(dtypes):
    random = np.random.default_rng(0)
    X, Y = (random.normal(size=(n, 3)).astype(dtype) for n, dtype in zip((7, 5), dtypes, strict=True))
    np.testing.assert_allclose(linear()(X, Y), X.astype(float) @ Y.astype(float).T, rtol=1e-5)
