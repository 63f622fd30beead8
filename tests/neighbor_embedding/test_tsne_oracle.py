"""t-SNE against its peers: scikit-learn is asked here; openTSNE's figures are literals.

They come from openTSNE 1.0.4 (NumPy 2.4) on the twelve rows X below, with

    A = openTSNE.affinity.PerplexityBasedNN(X, perplexity=3, method="exact")
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import squareform
from sklearn.manifold import TSNE as SklearnTSNE
from sklearn.manifold._t_sne import _joint_probabilities
from sklearn.metrics import pairwise_distances

from lowdim import TSNE, Affinities, NeighborIndex, neighbors
from lowdim.neighbor_embedding.tsne.affinities import conditional_probabilities
from lowdim.neighbor_embedding.tsne.gradient_descent import GradientDescent, TsneOptions

ROW = np.arange(1, 13)[:, None]
COLUMN = np.arange(1, 4) ** 1.5
X = np.sin(ROW * COLUMN) * (1 + ROW / 12)  # (12, 3)
NEW = np.cos(ROW[:2] * COLUMN)  # (2, 3)
Y = np.cos(ROW * [1.0, 1.7]) * [2.0, 1.0]  # positions, (12, 2)

# A.P, its upper triangle by rows
PERPLEXITY_3 = """
    0.03565687 0.008169328 1.295193e-05 2.71015e-07 0.001014394 0.04310698 0.01157541 0.007929829 2.458975e-07
    6.408332e-06 0.003637914 0.0009241597 5.440045e-05 0 0.0189852 0.004301478 0.04901401 0.002999726 9.587944e-07
    6.127429e-06 0.0001415529 0.0001594572 0.01207005 0.0002505529 0.006385772 0.0005743707 0.05679615 0.0006078891
    0.0002412627 0.03108562 0.0002469403 0.02708348 0 4.070088e-05 0.0003586161 0.02912731 0.04148951 1.957036e-05
    1.140443e-07 8.436748e-06 0 0.001408175 0.03041217 0.005321142 0.009903002 2.706598e-05 0.003641804 0.0006973224
    0.00013414 0.002790032 0.0002337564 0.002724038 0.002411262 3.075552e-07 0 0.004892177 0.001631445 5.361773e-06 0
    5.696768e-05 0.00182565 0.0001505888 0.00136906 0.03587135 4.200579e-05 0.0003671798
"""
# openTSNE.affinity.Multiscale(X, perplexities=[2, 3], method="exact").P
PERPLEXITIES_2_3 = """
    0.03786868 0.006248028 6.476065e-06 1.356015e-07 0.0005268937 0.04519797 0.009613447 0.006536658 1.229488e-07
    3.204227e-06 0.002765615 0.0005259642 2.721661e-05 0 0.0176133 0.003127029 0.05530963 0.002051302 4.795588e-07
    3.06377e-06 7.68789e-05 7.978971e-05 0.01013297 0.000130184 0.005064423 0.0003390605 0.06248459 0.0003330984
    0.0001209721 0.03347072 0.0001237938 0.02709798 0 2.138087e-05 0.0001797888 0.02627374 0.0489724 9.785475e-06
    5.704454e-08 4.47368e-06 0 0.0008905805 0.03161477 0.003152186 0.007714865 1.479465e-05 0.002291057 0.0004100719
    6.719219e-05 0.001454028 0.0001298639 0.00181872 0.00169297 1.565248e-07 0 0.003588312 0.001044026 2.730644e-06
    0 3.018736e-05 0.001180524 7.540556e-05 0.0008889942 0.03938312 2.240934e-05 0.0001917197
"""
# openTSNE.affinity.Uniform(X, k_neighbors=4, method="exact", symmetrize="mean").P, in units of 1/96
UNIFORM_4 = """
    2 2 0 0 0 2 2 1 0 0 1 0 0 0 2 1 2 2 0 0 0 0 2 0 1 0 2 0 0 2 0 2 0
    0 1 2 2 0 0 0 0 0 2 2 2 0 2 0 0 2 0 1 0 0 0 2 0 0 0 0 2 0 0 2 0 0
"""
# A.to_new(NEW)
CONDITIONAL = """
    0.005491476 0.1642953 0.002988613 0.02914224 0 0.6060559 0 0.007070094 0.18466 0.0002881447 8.190445e-06 0
    0.06584181 0.002222608 0.3720726 0 0.005561668 0.00111771 0.01331306 0 0.02804734 0.000110193 0 0.511713
"""
# openTSNE.tsne.kl_divergence_bh(Y, A.P, 1.0, {"theta": 0.0}, should_eval_error=True); the gradient is over four
KL = 1.4012570983445105
GRADIENT = [
    [0.01016141, -0.01364633], [-0.02949695, -0.0109029], [0.001504787, 0.01992947], [-0.01461624, -0.00361179],
    [0.01624766, 0.01017414], [-0.004031272, 0.01366283], [0.001198706, 0.001542289], [0.003249014, 0.02107732],
    [0.01239216, -0.01063108], [-0.01619327, -0.01628697], [0.0251898, -0.007883511], [-0.00560582, -0.003423468],
]  # fmt: skip
# openTSNE.TSNE(random_state=0, n_jobs=1, negative_gradient_method="fft").fit(load_digits().data).kl_divergence
KL_OF_DIGITS = 0.7760154744503129


def literal(text):
    return np.array(text.split(), dtype=float)


def upper(P):
    return P.to_sparse().toarray()[np.triu_indices(P.n, 1)]


@pytest.mark.parametrize(("perplexity", "expected"), [(3, PERPLEXITY_3), ((2, 3), PERPLEXITIES_2_3)])
def test_affinities_are_opentsnes(perplexity, expected):
    P = Affinities.from_graph(neighbors(X, 9), perplexity)
    np.testing.assert_allclose(upper(P), literal(expected), rtol=2e-4, atol=1e-9)


def test_uniform_affinities_are_opentsnes():
    np.testing.assert_allclose(upper(Affinities.uniform(neighbors(X, 4))), literal(UNIFORM_4) / 96, rtol=1e-6)


def test_conditional_probabilities_of_new_rows_are_opentsnes():
    found = NeighborIndex(X).query(NEW, 9)
    P = np.zeros((2, 12))
    np.put_along_axis(P, found.indices.astype(np.int64), conditional_probabilities(found.distances, 3.0, 1), axis=1)
    np.testing.assert_allclose(P.ravel(), literal(CONDITIONAL), rtol=2e-4, atol=1e-9)


def test_divergence_and_its_gradient_are_opentsnes():
    """From rest, gains grow to 1.2, and a step at learning rate 1 is -1.2 × the gradient."""
    descent = GradientDescent(
        Affinities.from_graph(neighbors(X, 9), 3), TsneOptions(((750, 1.0),), learning_rate=1.0), 1
    )
    state = descent.initial_state(Y.astype(np.float32))
    assert descent.divergence(state) == pytest.approx(KL, rel=1e-5)
    np.testing.assert_allclose(descent.step(state, 0)["velocity"] / -1.2, GRADIENT, rtol=1e-3, atol=1e-6)


def test_affinities_are_scikit_learns(digits):
    """Exact joint probabilities over all neighbors."""
    rows = digits[:300]
    squares = pairwise_distances(rows, metric="euclidean", squared=True).astype(np.float32)
    expected = squareform(_joint_probabilities(squares, 20.0, verbose=0))
    graph = neighbors(rows, 299)
    P = np.zeros((300, 300))
    weights = conditional_probabilities(graph.distances, 20.0, 1)
    np.put_along_axis(P, graph.indices.astype(np.int64), weights, axis=1)
    np.testing.assert_allclose((P + P.T) / 600, expected, atol=2e-5 * expected.max())


def test_divergence_is_no_worse_than_the_peers(digits):
    """openTSNE with its defaults, 250 + 500 steps; and as many of scikit-learn for some of the rows."""
    assert TSNE().fit(digits).kl_divergence_ <= 1.02 * KL_OF_DIGITS
    some = digits[:500]
    theirs = SklearnTSNE(init="pca", random_state=0, max_iter=750).fit_transform(some)
    judge = GradientDescent(Affinities.from_graph(neighbors(some, 90), 30), TsneOptions(), 1)
    of_sklearn = judge.divergence(judge.initial_state(theirs.astype(np.float32)))
    assert TSNE().fit(some).kl_divergence_ <= 1.02 * of_sklearn
