"""`lowdim.compare`: what it fits, what it leaves out, and that the code it prints makes the same again."""

from __future__ import annotations

import numpy as np
import pytest

import lowdim
from lowdim import errors
from lowdim.report.page_table import best_maps


def test_maps_are_those_of_the_methods_on_standardized_rows(blobs, result):
    X = np.asarray(blobs.X)
    np.testing.assert_allclose(result.maps["PCA"], lowdim.PCA(2, standardize=True).fit_transform(X))
    alone = lowdim.Standardized(lowdim.UMAP(n_epochs=30)).fit(X)
    np.testing.assert_array_equal(result.maps["UMAP"], alone.embedding_)
    np.testing.assert_array_equal(result.maps["mine"], X[:, :2])
    np.testing.assert_allclose(result.models["UMAP"].transform(blobs), alone.transform(X))
    assert list(result.table.maps) == ["PCA", "UMAP", "mine"] and "mine" not in result.models


def test_figures_are_those_of_quality_on_the_same_rows(blobs, result):
    X = np.asarray(blobs.X)
    Z = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    for name, embedding in result.maps.items():
        alone = lowdim.quality.measure(Z, embedding, labels=blobs.labels, k=7)
        for measure in alone:
            assert result.table[name][measure.name].value == pytest.approx(measure.value, abs=1e-6)


@pytest.mark.parametrize(
    "model", [lowdim.Isomap(), lowdim.TSNE(max_iter=30), lowdim.LaplacianEigenmaps(), lowdim.LLE()]
)
def test_the_shared_graph_gives_what_a_search_of_its_own_gives(digits, model):
    X = np.random.default_rng(1).normal(size=(150, 4))
    found = lowdim.compare(X, [model, "umap"], standardize=False, k=5)
    np.testing.assert_allclose(
        next(iter(found.maps.values())), type(model)(**model.get_params()).fit_transform(X), atol=1e-5
    )


def test_a_method_that_fails_is_left_out_unless_all_fail(blobs):
    found = lowdim.compare(np.asarray(blobs.X), ["pca", "lda"], k=5)
    assert list(found.maps) == ["PCA"] and "LDA" in found.left_out
    with pytest.raises(errors.LowdimError):
        lowdim.compare(np.asarray(blobs.X), ["lda"], k=5)
    with pytest.raises(errors.BadParameter, match="there is no method"):
        lowdim.compare(np.asarray(blobs.X), ["nothing"])
    with pytest.raises(errors.NotEnoughData):
        lowdim.compare(np.eye(3), ["pca"])


def test_missing_values_are_estimated_and_said(blobs):
    X = np.array(blobs.X)
    X[3, 2] = np.nan
    with pytest.warns(errors.LowdimWarning, match="1 value in 1 row estimated by EM"):
        found = lowdim.compare(X, "pca", k=5)
    assert ("missing", "1 value in 1 row estimated by EM") in found.done


def test_the_python_code_makes_the_same_again(blobs, tmp_path, monkeypatch):
    X = np.asarray(blobs.X)
    found = lowdim.compare(X, ["pca", lowdim.Isomap(n_neighbors=9)], labels=blobs.labels, k=5)
    monkeypatch.chdir(tmp_path)
    scope = {"X": X, "labels": blobs.labels}
    exec(found.again.python, scope)
    for name, Z in found.maps.items():
        np.testing.assert_array_equal(scope["result"].maps[name], Z)
    assert (tmp_path / "compare.html").exists()


def test_the_best_of_a_row_by_intervals(result):
    measure = result.table["PCA"]["trustworthiness"]
    from dataclasses import replace

    made = {"a": (0.9, 0.88, 0.92), "b": (0.89, 0.87, 0.91), "c": (0.5, 0.4, 0.6)}
    found = {name: replace(measure, value=v, low=low, high=high) for name, (v, low, high) in made.items()}
    assert best_maps(found) == {"a", "b"}
    lower = {name: replace(one, best=0.0) for name, one in found.items()}
    assert best_maps(lower) == {"c"}
