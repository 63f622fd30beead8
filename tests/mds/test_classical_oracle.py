"""Classical scaling against lecture 2's cities, R's published figures for them, and scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import lowdim
from lowdim import ClassicalMDS
from lowdim.kernels import is_euclidean

VALUES = [13949791.247, 2124813.269, 183009.131, 90600.521, 37352.793, 0, -412.232, -62312.068, -323706.772]
MAP = [
    (1348.67, 462.40),
    (1198.87, 306.55),
    (1076.99, 136.43),
    (1226.94, -1013.63),
    (428.45, 174.60),
    (-1596.16, 639.31),
    (-1697.23, -131.69),
    (-1464.05, -560.58),
    (-522.49, -13.40),
]


@pytest.fixture(scope="module")
def cities():
    return lowdim.datasets.load("cities").X


def distances(Z):
    return np.sqrt(((Z[:, None] - Z[None]) ** 2).sum(axis=-1))


def test_cities(cities):
    model = ClassicalMDS(2, metric="precomputed")
    Z = model.fit_transform(cities)
    assert_allclose(model.eigenvalues_, VALUES, atol=6e-4)
    assert_allclose(Z * np.sign(Z[0]), MAP, atol=6e-3)
    assert_allclose(model.goodness_of_fit_, [0.958419, 0.981022], atol=6e-7)
    assert_allclose(model.transform(cities), Z, atol=1e-9)


def test_cities_are_not_euclidean_although_no_triangle_is_violated(cities):
    detours = cities[:, :, None] + cities[None]
    assert (cities[:, None, :] <= detours).all()
    verdict = is_euclidean(cities)
    assert not verdict
    assert verdict.smallest == pytest.approx(-323706.772, abs=1e-3)


def test_nine_components_have_no_nan(cities):
    model = ClassicalMDS(9, metric="precomputed").fit(cities)
    assert np.isfinite(model.embedding_).all()
    assert_allclose(model.embedding_[:, 5:], 0, atol=1e-3)
    assert ClassicalMDS(None, metric="precomputed").fit(cities).embedding_.shape == (9, 5)


@pytest.mark.parametrize(
    ("correction", "constant", "wanted"),
    [
        ("lingoes", 323706.772, lambda d, c: np.sqrt(d**2 + 2 * c)),
        ("cailliez", 372.4723, lambda d, c: d + c),
    ],
)
def test_corrections(cities, correction, constant, wanted):
    model = ClassicalMDS(8, metric="precomputed", correction=correction).fit(cities)
    found = model.correction_constant_
    assert found == pytest.approx(constant, abs=6e-4)
    expected = wanted(cities, found)
    np.fill_diagonal(expected, 0)
    assert_allclose(distances(model.embedding_), expected, atol=1e-6)
    assert model.eigenvalues_.min() > -1e-3
    assert_allclose(model.transform(cities), model.embedding_, atol=1e-6)
    assert not is_euclidean(wanted(cities, 0.99 * found) * (1 - np.eye(9)))  # no smaller constant will do
    plain = ClassicalMDS(2, metric="precomputed", correction=correction).fit(distances(model.embedding_))
    assert plain.correction_constant_ == 0


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "precomputed"])
def test_scikit_learn(metric, rng):
    from sklearn.manifold import ClassicalMDS as Reference

    X = rng.standard_normal((60, 5)) * [5, 4, 3, 2, 1] + 7
    X = distances(X) if metric == "precomputed" else X
    ours, theirs = ClassicalMDS(3, metric=metric).fit(X), Reference(3, metric=metric).fit(X)
    assert_allclose(ours.eigenvalues_[:3], theirs.eigenvalues_, rtol=1e-9)
    assert_allclose(np.abs(ours.embedding_), np.abs(theirs.embedding_), atol=1e-9)


# Road distances in kilometers between 21 European cities, Athens first: R's eurodist, by columns below the diagonal.
EUROPE = """
3313 2963 3175 3339 2762 3276 2610 4485 2977 3030 4532 2753 3949 2865 2282 2179 3000 817 3927 1991
1318 1326 1294 1498 2218 803 1172 2018 1490 1305 645 636 521 1014 1365 1033 1460 2868 1802
204 583 206 966 677 2256 597 172 2084 690 1558 1011 925 747 285 1511 1616 1175
460 409 1136 747 2224 714 330 2052 739 1550 1059 1077 977 280 1662 1786 1381
785 1545 853 2047 1115 731 1827 789 1347 1101 1209 1160 340 1794 2196 1588
760 1662 2436 460 269 2290 714 1764 1035 911 583 465 1497 1403 937
1418 3196 460 269 2971 1458 2498 1778 1537 1104 1176 2050 650 1455
1975 1118 895 1936 158 1439 425 328 591 513 995 2068 1019
2897 2428 676 1817 698 1693 2185 2565 1971 2631 3886 2974
550 2671 1159 2198 1479 1238 805 877 1751 949 1155
2280 863 1730 1183 1098 851 457 1683 1500 1205
1178 668 1762 2250 2507 1799 2700 3231 2937
1281 320 328 724 471 1048 2108 1157
1157 1724 2010 1273 2097 3188 2409
618 1109 792 1011 2428 1363
331 856 586 2187 898
821 946 1754 428
1476 1827 1249
2707 1209
2105
"""


@pytest.fixture(scope="module")
def europe():
    D = np.zeros((21, 21))
    D[np.triu_indices(21, 1)] = [float(word) for word in EUROPE.split()]
    return D + D.T


def test_rs_published_map_of_europe(europe):
    """cmdscale(eurodist, eig = TRUE): Athens, Stockholm and Vienna, up to the signs of the axes; GOF and eig[21]."""
    model = ClassicalMDS(2, metric="precomputed").fit(europe)
    assert_allclose(model.goodness_of_fit_, [0.7537543, 0.8679134], atol=5e-8)
    assert model.eigenvalues_[-1] == pytest.approx(-2251844, abs=0.5)
    assert_allclose(model.eigenvalues_[:2], [19538377.0895, 11856555.3340], rtol=1e-11)
    published = [(2290.274680, 1798.80293), (839.445911, -1836.79055), (911.2305, 205.9302)]
    Z = model.embedding_
    assert_allclose((Z * np.sign(Z[0]))[[0, 19, 20]], published, atol=6e-5)


def test_the_least_constants_that_make_europe_euclidean(europe):
    """R's add constant of Lingoes is minus the last eigenvalue; Cailliez's has no smaller one that will do."""
    n = len(europe)
    off = 1 - np.eye(n)
    lingoes = ClassicalMDS(2, metric="precomputed", correction="lingoes").fit(europe).correction_constant_
    assert lingoes == pytest.approx(2251844, abs=0.5)
    cailliez = ClassicalMDS(2, metric="precomputed", correction="cailliez").fit(europe).correction_constant_
    for wanted, constant in ((lambda c: np.sqrt(europe**2 + 2 * c), lingoes), (lambda c: europe + c, cailliez)):
        assert is_euclidean(wanted(constant) * off, tol=1e-9)
        assert not is_euclidean(wanted(0.9999 * constant) * off, tol=1e-9)
