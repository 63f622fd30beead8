"""What `map` and `fit` report about a fitted model, as text and as JSON."""

from __future__ import annotations

import json

import numpy as np
import pytest

from lowdim import (
    LDA,
    LLE,
    MDS,
    TSNE,
    UMAP,
    ClassicalMDS,
    Isomap,
    KernelPCA,
    LaplacianEigenmaps,
    NonmetricMDS,
    datasets,
    methods,
)
from lowdim.cli.output import to_json
from lowdim.errors import LowdimWarning
from lowdim.workflow.fit import FittedModel
from lowdim.workflow.summary import summarize_fit


def report(model):
    fitted = FittedModel(next(m for m in methods() if m.cls is type(model)), model, None, None)
    return summarize_fit(fitted), json.loads(to_json(fitted.to_dict()))


@pytest.fixture(scope="module")
def cities():
    return datasets.load("cities").X


@pytest.mark.parametrize("cls", [MDS, NonmetricMDS])
def test_stress(cls, cities):
    model = cls(metric="precomputed").fit(cities)
    text, data = report(model)
    assert f"stress-1 {model.stress1_:.4g}" in text
    assert data["stress1"] == pytest.approx(model.stress1_)
    assert data["stress"] == pytest.approx(model.stress_)


def test_between_class_variance():
    wine = datasets.load("wine")
    text, data = report(LDA().fit(wine.X, wine.labels))
    assert text == "2 components, 100.0% of the between-class variance (68.7% + 31.3%)"
    assert data["explained_variance_ratio"] == pytest.approx([0.687, 0.313], abs=1e-3)


def test_goodness_of_fit(cities):
    text, data = report(ClassicalMDS(metric="precomputed").fit(cities))
    assert "goodness of fit 95.8% (98.1% of the positive eigenvalues)" in text
    assert data["goodness_of_fit"] == pytest.approx([0.958419, 0.981022], abs=1e-6)


@pytest.mark.filterwarnings("ignore::lowdim.errors.LowdimWarning")
def test_embeddings_of_a_graph(rng):
    X = rng.standard_normal((60, 3))
    isomap, lle, tsne = Isomap().fit(X), LLE().fit(X), TSNE(max_iter=20).fit(X)
    assert report(isomap)[0].startswith(f"residual variance {isomap.residual_variance_[-1]:.1%}")
    assert report(lle)[0].startswith(f"reconstruction error {lle.reconstruction_error_:.3g}")
    assert report(tsne)[0] == f"KL divergence {tsne.kl_divergence_:.3g}, perplexity lowered to 19.7"
    assert report(LaplacianEigenmaps().fit(X))[0] == "1 connected component"
    apart = np.vstack([X[:30], X[30:] + 100])
    assert report(UMAP(n_neighbors=5, n_epochs=10).fit(apart))[0] == "2 connected components"


def test_an_approximation_says_so(rng):
    text, data = report(KernelPCA(2, solver="nystrom", n_landmarks=10).fit(rng.standard_normal((50, 3))))
    assert f"Nyström approximation with error {data['nystrom_error']:.1%}" in text
    assert 0 < data["nystrom_error"] < 1


def test_advice_names_flags_of_the_method(rng):
    X = rng.standard_normal((300, 30))
    with pytest.warns(LowdimWarning):
        assert report(KernelPCA(20, gamma=1e-3, solver="lanczos", tol=1e-300).fit(X))[0].endswith("NOT CONVERGED")
    with pytest.warns(LowdimWarning):
        assert report(MDS(max_iter=2).fit(X))[0].endswith("NOT CONVERGED; raise --max-iter")


@pytest.mark.filterwarnings("ignore::lowdim.errors.LowdimWarning")
def test_lowered_and_overruled_parameters_are_named(rng):
    X = rng.standard_normal((16, 3))
    assert report(TSNE(max_iter=5).fit(X))[0].endswith("perplexity lowered to 5")
    assert "perplexity" not in report(TSNE(max_iter=5, perplexity=5.0).fit(X))[0]
    assert report(UMAP(n_epochs=5, n_neighbors=30).fit(X))[0].endswith("fewer neighbors than 30, as there are 16 rows")
    assert report(Isomap(n_neighbors=15).fit(X))[0].endswith("connected component")
    assert report(Isomap(radius=2.5).fit(X))[0].endswith("neighbors within 2.5")


def test_a_target_that_is_not_used_is_said():
    from lowdim.registry import find_method
    from lowdim.workflow.fit import fit_method
    from lowdim.workflow.missing import complete_table

    method, table = find_method("projectionpursuit"), datasets.load("iris")
    complete = complete_table(table, None, method)
    settings = {"n_init": 1, "n_null": 0, "max_iter": 2}
    with pytest.warns(LowdimWarning, match="does not use --target as it is set"):
        fit_method(method, settings | {"index": "holes"}, complete, True, table.labels)
    fit_method(method, settings | {"index": "lda"}, complete, True, table.labels)
