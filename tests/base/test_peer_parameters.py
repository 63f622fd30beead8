"""Names of other packages get a hint: every one that a hint gives exists, and none is lowdim's own."""

from __future__ import annotations

import numpy as np
import pytest

import lowdim
from lowdim.base import peer_parameters
from lowdim.base.peer_parameters import PEER_PARAMETERS, hint_parameters, peer_hint
from lowdim.errors import BadParameter
from lowdim.registry import PEER_METHODS, find_method
from lowdim.runtime.param import parameters

HINTS = [(method, name) for method, hints in PEER_PARAMETERS.items() for name in hints]


@pytest.mark.parametrize(("method", "name"), HINTS)
def test_every_hint_names_parameters_that_exist(method, name):
    cls = getattr(lowdim, method)
    assert name not in parameters(cls)
    assert hint_parameters(PEER_PARAMETERS[method][name]) <= set(parameters(cls))
    hint = peer_hint(cls, name)
    assert hint and "{" not in hint
    with pytest.raises(TypeError, match=f"{method} has no parameter '{name}'") as raised:
        cls(**{name: None})
    assert hint in str(raised.value) and isinstance(raised.value, BadParameter)


@pytest.mark.parametrize("name", peer_parameters._COMMON)
def test_common_hints_serve_a_method_each(name):
    cls = [method.cls for method in lowdim.methods() if name not in parameters(method.cls)]
    assert any(peer_hint(one, name) for one in cls)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: lowdim.TSNE(n_iter=500), "use max_iter"),
        (lambda: lowdim.UMAP(verbose=True), "lowdim.watch()"),
        (lambda: lowdim.PCA(svd_solver="full"), "use solver"),
        (lambda: lowdim.MDS(dissimilarity="precomputed"), "metric='precomputed'"),
        (lambda: lowdim.KernelPCA(n_iter=3), "Its parameters: n_components"),
        (lambda: lowdim.UMAP(n_neighbours=5), "Did you mean n_neighbors?"),
        (lambda: lowdim.TSNE(2, 30), "TSNE takes n_components by position"),
        (lambda: lowdim.TSNE().set_params(angle=0.5), "repulsion is exact"),
        (lambda: lowdim.Standardized(lowdim.PCA()).set_params(with_mean=True), "Its parameters: model"),
        (lambda: lowdim.Standardized(lowdim.PCA()).set_params(model__svd_solver="full"), "use solver"),
        (lambda: lowdim.select.ReliefF(neighbors=3), "Did you mean n_neighbors?"),
    ],
)
def test_unknown_arguments(make, text):
    with pytest.raises(BadParameter) as raised:
        make()
    assert text in str(raised.value)


def test_known_arguments_stay_as_they_are():
    model = lowdim.UMAP(3, n_neighbors=7)
    assert (model.n_components, model.n_neighbors) == (3, 7)
    assert lowdim.KernelPCA(kernel=lowdim.kernels.rbf(1.0)).set_params(kernel__gamma=2.0).kernel.gamma == 2.0
    assert lowdim.Standardized(lowdim.PCA()).set_params(model__n_components=3).model.n_components == 3


def test_methods_of_peers_lead_to_methods_of_lowdim():
    known = {method.name.lower() for method in lowdim.methods()}
    for name, advice in PEER_METHODS.items():
        assert name not in known
        assert advice.replace(",", " ").split()[0] in known
        with pytest.raises(BadParameter, match="nearest to it is"):
            find_method(name)
    with pytest.raises(BadParameter, match="nearest to it is umap or tsne"):
        find_method("PaCMAP")
    assert find_method("kernel-pca").name == "KernelPCA"


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"metric": "cosin"}, "Did you mean 'cosine'"),
        ({"init": "spectrall"}, "Did you mean 'spectral'"),
        ({"target_metric": "numerical"}, "Did you mean 'numeric'"),
    ],
)
def test_a_misspelled_word_is_told_the_right_one(parameters, words):
    with pytest.raises(lowdim.errors.BadParameter, match=words):
        lowdim.UMAP(**parameters).fit(np.eye(9))
    (name,) = parameters
    with pytest.raises(lowdim.errors.BadParameter) as raised:
        lowdim.UMAP(**{name: "qqqqqq"}).fit(np.eye(9))
    assert "Did you mean" not in str(raised.value)
