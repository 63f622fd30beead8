"""UMAP against umap-learn, whose figures are literals.

They come from umap-learn 0.5.12 (NumPy 2.4) on the twelve rows X below and their six nearest neighbors, the row itself
included:

    from umap.umap_ import *
    D = scipy.spatial.distance.cdist(X, X)
    indices = np.argsort(D, axis=1)[:, :6]
    distances = np.take_along_axis(D, indices, axis=1).astype(np.float32)
    W = fuzzy_simplicial_set(X, 6, RandomState(0), "euclidean", knn_indices=indices, knn_dists=distances)[0]

Matrices are symmetric, and given by the rows of their upper triangle.
"""

from __future__ import annotations

import numpy as np
import pytest

from lowdim import UMAP, neighbors
from lowdim.data.duplicates import DistinctRows
from lowdim.errors import LowdimWarning
from lowdim.neighbor_embedding.umap.densmap import embedded_radii, embedding_radii, original_radii
from lowdim.neighbor_embedding.umap.find_ab import find_ab
from lowdim.neighbor_embedding.umap.fuzzy_graph import fuzzy_simplicial_set, smooth_knn_distances
from lowdim.neighbor_embedding.umap.supervision import categorical_intersection, class_codes, numeric_intersection

ROW = np.arange(1, 13)[:, None]
X = np.sin(ROW * np.arange(1, 4) ** 1.5) * (1 + ROW / 12)  # (12, 3)
Y = np.cos(ROW * [1.0, 1.7]) * [2.0, 1.0]  # positions, (12, 2)
CLASSES = [0, 0, 1, 1, 2, 2, -1, 0, 1, 2, -1, 0]
TARGET = np.cos(1.3 * np.arange(12))

# find_ab_params(spread, min_dist)
CURVES = {  # (min_dist, spread): (a, b)
    (0.1, 1.0): (1.57694346, 0.895060878),
    (0.0, 1.0): (1.932808398, 0.7904949737),
    (0.5, 1.0): (0.5830300204, 1.334166993),
    (0.99, 1.0): (0.1193053001, 1.916390416),
    (0.25, 2.0): (0.4162734968, 0.9218551323),
    (0.1, 0.3): (14.50671865, 1.148889379),
}
# smooth_knn_dist(distances, 6.0, local_connectivity=…)
SIGMAS_RHOS = {  # local_connectivity: (sigmas, rhos)
    1.0: (
        """
        0.3840103 1.023056 0.9287872 0.8164368 0.3863907 0.3803635 1.063583 1.549652 1.240845 0.4741821
        0.8334503 0.5753098
        """,
        """
        1.028505 0.6796479 0.8477409 1.152304 1.661791 1.713961 1.122075 0.6796479 0.8477409 1.293891
        1.152304 1.651041
        """,
    ),
    1.5: (
        """
        0.3221626 0.8052216 0.5712204 0.6530075 0.2819939 0.3441772 0.6283569 1.067566 0.8172913
        0.4108124 0.7310333 0.3654633
        """,
        """
        1.07529 0.8540766 1.169584 1.262926 1.746909 1.739135 1.518047 1.101322 1.223878 1.333719
        1.223098 1.835422
        """,
    ),
    2.0: (
        """
        0.2520599 0.5537567 0.1651497 0.4485016 0.1579247 0.3047676 0.1442986 0.5168915 0.3367233
        0.3372116 0.6164703 0.1198654
        """,
        """
        1.122075 1.028505 1.491427 1.373547 1.832027 1.764308 1.914018 1.522995 1.600015 1.373547
        1.293891 2.019804
        """,
    ),
}
# W for set_op_mix_ratio=…
FUZZY_GRAPHS = {
    1.0: """
        1 0.6498098 0 0 0.2199536 0.9999999 0.6960942 0.6480224 0 0 0.4210027 0 0 0 0.9189652 0.5688291 1 0.5487575
        0 0 0 0 0.7671489 0 0.6415104 0 1 0.1236369 0 1 0.1480366 1 0 0 0.1716854 0.9632941 1 0 0 0 0 0.1941667
        0.9999999 0.5679628 0.7141321 0 0.521731 0 0 0.4433878 0 0.3303762 0.5405791 0 0 0.6049576 0.3100484 0 0 0
        0.4451585 0 0.2555549 0.9999999 0 0.140724
    """,
    0.5: """
        0.8555311 0.399799 0 0 0.1099768 0.891875 0.4281003 0.3855756 0 0 0.2105013 0 0 0 0.6112012 0.3387801 1
        0.3256516 0 0 0 0 0.4951023 0 0.3960927 0 1 0.06181847 0 0.7105486 0.0740183 0.7513059 0 0 0.0858427
        0.8039967 1 0 0 0 0 0.09708337 0.7301534 0.3426487 0.4613451 0 0.305981 0 0 0.2538297 0 0.1651881 0.3221164
        0 0 0.3713928 0.1550242 0 0 0 0.2492641 0 0.1277775 0.9218826 0 0.07036202
    """,
    0.0: """
        0.7110622 0.1497882 0 0 0 0.7837501 0.1601064 0.1231288 0 0 0 0 0 0 0.3034373 0.1087312 1 0.1025457 0 0 0 0
        0.2230559 0 0.1506749 0 1 0 0 0.4210973 0 0.5026119 0 0 0 0.6446993 1 0 0 0 0 0 0.4603069 0.1173347
        0.2085582 0 0.09023087 0 0 0.06427173 0 0 0.1036537 0 0 0.137828 0 0 0 0 0.05336962 0 0 0.8437653 0 0
    """,
}
# discrete_metric_simplicial_set_intersection(W, CLASSES, far_dist=5.0): target_weight=0.5
CATEGORICAL = """
    1 0.008737599 0 0 0.0105545 1 0.9076413 0.008713615 0 0 1 0 0 0 0.04391787 0.6590562 1 0.007381327 0 0 0 0
    0.0103113 0 0.7261135 0 1 0.001665424 0 0.02263463 0.003706143 0.05886745 0 0 0.558251 0.02401946 1 0 0 0 0
    0.002614859 1 0.6582335 0.01618613 0 0.02499151 0 0 1 0 0.4117614 0.6319432 0 0 0.8137859 0.004173815 0 0 0
    0.005989913 0 0.005804907 1 0 0.2463867
"""
# reset_local_connectivity(general_simplicial_set_intersection(W, V, weight)), with V the fuzzy graph of TARGET
NUMERIC = {
    0.3: """
        1 0.0431052 0 0.109633 0.7586744 0.07619634 0.08029331 0.04298775 0.1607183 0.2040799 0.03243471 0 0
        0.1637769 0.9373223 1 0.1033973 0.03005581 0.1250547 0.07529486 0.1639386 0.4035566 0.03085242 0 0.4788877
        0.2825154 1 0.005004908 0 0.841141 0.0194581 0.151103 0.1037351 0.4887757 1 0.1249114 0.1316583 0.289097
        0.1249954 0.1211718 0 0.007854392 1 0.6420159 0.7867343 0 0.05937655 0 0.1581973 1 0 0.6174423 0.6757185
        0.06811737 0 1 1 0 0 0.1628319 0.01796167 0 0.5223615 1 0 0.00752216
    """,
    0.5: """
        0.6997821 0.000376453 0 0.08009791 0.9999999 0.0006198671 0.0006303411 0.0003754175 0.197261 0.3333531
        0.000260984 0 0 0.1637769 0.3839613 1 0.0006267617 0.0001649077 0.08694824 0.0263881 0.1255775 0.4094084
        0.000172389 0 0.1196748 0.3344308 1 2.778392e-05 0 0.3553059 0.0001010279 0.0008078656 0.01472828 0.4943772
        1 0.0006573563 0.0007128232 0.1700732 0.06960636 0.0849847 0 4.363334e-05 1 0.4442126 0.417326 0
        0.0003529638 0 0.1213789 0.9999999 0 0.2438014 0.3788979 0.02181882 0 1 1 0 0 0.07730303 0.0001000351 0
        0.4657948 1 0 4.16172e-05
    """,
    0.7: """
        0.3824098 0.0002627509 0 0.1991193 1 0.000315375 0.0003615888 0.0002624409 0.4622671 0.7371201 0.000217679 0
        0 0.5724447 0.2793205 0.9999999 0.0003583192 0.0001949019 0.3272901 0.1066989 0.4142691 0.7795975
        0.0002005808 0 0.1317609 0.8139104 1 9.174008e-05 0 0.3088205 0.0001379423 0.0003544725 0.03238859 0.8459989
        0.9999999 0.000307806 0.0003432106 0.3526593 0.241378 0.3275275 0 0.0001113188 1 0.5803797 0.4231026 0
        0.0002819908 0 0.4042003 1 0 0.2608485 0.4488805 0.08883371 0 1 1 0 0 0.2107158 0.0001588527 0 0.7515258 1 0
        0.0001098112
    """,
}
# UMAP(n_neighbors=6, precomputed_knn=(indices, distances), densmap=True, output_dens=True).fit(X).rad_orig_
ORIGINAL_RADII = """
    0.7821958 0.8069934 0.9167976 0.9303949 1.327072 1.338334 1.312087 1.093493 1.308031 0.9360424 1.023666 1.432164
"""
# umap.layouts._optimize_layout_euclidean_densmap_epoch_init(Y, Y, *W.tocoo().coords, 1.577, 0.8951, radii, phi_sums);
# it counts every edge in both directions, so its phi_sums are twice the sums
EMBEDDING_RADII = """
    0.6597645 1.166353 1.2232 1.153765 1.378544 1.478478 1.043349 1.220261 1.043023 0.2954096 1.213462 0.6549575
"""
PHI_SUMS = """
    3.784883 1.869261 2.217078 1.884011 1.890534 1.489132 2.520082 1.763543 3.753043 3.378652 1.776231 3.314727
"""
# UMAP(random_state=0).fit_transform(load_digits().data): trustworthiness(n_neighbors=10), the accuracy of
# KNeighborsClassifier(10) by 5-fold cross-validation, and the fraction of the 10 nearest neighbors that are kept
QUALITY_OF_DIGITS = 0.9884432703584466, 0.9738656762612194, 0.49710628825820813


def literal(text):
    return np.array(text.split(), dtype=float)


def upper(graph):
    """The upper triangle of a fuzzy graph, which must be symmetric."""
    W = graph.to_sparse().toarray()
    np.testing.assert_array_equal(W, W.T)
    return W[np.triu_indices(12, 1)]


@pytest.fixture(scope="module")
def graph():
    return neighbors(X, 5)


@pytest.fixture(scope="module")
def fuzzy(graph):
    return fuzzy_simplicial_set(graph, 1.0, 1.0, 1)


@pytest.mark.parametrize(("min_dist", "spread"), CURVES)
def test_find_ab(min_dist, spread):
    np.testing.assert_allclose(find_ab(min_dist, spread), CURVES[min_dist, spread], rtol=1e-5)


@pytest.mark.parametrize("local_connectivity", SIGMAS_RHOS)
def test_sigmas_and_rhos(graph, local_connectivity):
    ours = smooth_knn_distances(graph.distances, local_connectivity, 1)
    sigmas, rhos = map(literal, SIGMAS_RHOS[local_connectivity])
    np.testing.assert_allclose(ours.rhos, rhos, rtol=1e-6)
    np.testing.assert_allclose(ours.sigmas, sigmas, rtol=1e-4)


@pytest.mark.parametrize("mix", FUZZY_GRAPHS)
def test_fuzzy_graph(graph, mix):
    np.testing.assert_allclose(upper(fuzzy_simplicial_set(graph, 1.0, mix, 1)), literal(FUZZY_GRAPHS[mix]), atol=2e-5)


def test_categorical_intersection(fuzzy):
    ours = categorical_intersection(fuzzy, class_codes(CLASSES, 12), 0.5, 1)
    np.testing.assert_allclose(upper(ours), literal(CATEGORICAL), atol=2e-5)


@pytest.mark.parametrize("weight", NUMERIC)
def test_numeric_intersection(fuzzy, weight):
    ours = numeric_intersection(fuzzy, TARGET, DistinctRows.all_of(12), weight, 5, 1)
    np.testing.assert_allclose(upper(ours), literal(NUMERIC[weight]), rtol=2e-3, atol=2e-6)


def test_densmap_radii(fuzzy):
    radii = original_radii(fuzzy.rows, fuzzy.weights, fuzzy.lengths, 12)
    np.testing.assert_allclose(radii, literal(ORIGINAL_RADII), atol=2e-5)
    phi_sums, radii = embedding_radii(Y.astype(np.float32), None, fuzzy.starts, fuzzy.columns, 1.577, 0.8951, 1)
    np.testing.assert_allclose(2 * phi_sums, literal(PHI_SUMS), rtol=2e-5)
    np.testing.assert_allclose(radii, literal(EMBEDDING_RADII), atol=2e-5)


def test_the_embedding_of_the_digits_is_as_good(digits, labels):
    from sklearn.manifold import trustworthiness
    from sklearn.model_selection import cross_val_score
    from sklearn.neighbors import KNeighborsClassifier

    true = neighbors(digits, 10).indices

    def quality(Z):
        kept = np.mean([len(np.intersect1d(a, b)) for a, b in zip(neighbors(Z, 10).indices, true, strict=True)]) / 10
        accuracy = cross_val_score(KNeighborsClassifier(10), Z, labels, cv=5).mean()
        return np.array([trustworthiness(digits, Z, n_neighbors=10), accuracy, kept])

    ours = np.mean([quality(UMAP(random_state=seed).fit_transform(digits)) for seed in (0, 1)], axis=0)
    assert (ours >= np.array(QUALITY_OF_DIGITS) - 0.01).all(), ours


# Local radii of the positions Y, as umap-learn's simplicial_set_embedding(output_dens=True) has them as rad_emb.
EMBEDDED_RADII = """
    -0.00600395 0.51465149 0.2069025 0.34932576 0.51744501 0.38326588 0.41021284 0.56162602 0.35562104 -0.13252695
    0.47389448 -0.30411902
"""
# The edges of UMAP(n_neighbors=6, metric="precomputed", disconnection_distance=1.4).fit(D).graph_
CONNECTED = [(0, 1), (0, 6), (1, 7), (2, 8), (3, 9), (3, 10), (9, 10)]


def test_local_radii_of_an_embedding():
    found = embedded_radii(Y.astype(np.float32), 5, 1.0, 1)
    np.testing.assert_allclose(found, np.array(EMBEDDED_RADII.split(), dtype=float), atol=2e-5)


def test_edges_up_to_the_disconnection_distance():
    with pytest.warns(LowdimWarning, match="3 of 12 rows have no neighbor nearer than disconnection_distance=1.4"):
        model = UMAP(n_neighbors=6, n_epochs=5, disconnection_distance=1.4).fit(X)
    assert sorted(map(tuple, model.edges_.tolist())) == CONNECTED
    assert np.isfinite(model.embedding_).all()
    whole = UMAP(n_neighbors=6, n_epochs=5).fit(X).graph_.toarray()
    edges = tuple(np.transpose(CONNECTED))
    np.testing.assert_array_equal(model.graph_.toarray()[edges], whole[edges])
