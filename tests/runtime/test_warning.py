"""What lowdim changes or decides is said: one warning each, at the caller's line, through one function."""

from __future__ import annotations

import ast
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

from lowdim import PCA, TSNE, UMAP, Affinities, Graph, Isomap, LaplacianEigenmaps, Standardized, neighbors
from lowdim.errors import LowdimWarning

SOURCES = Path(__file__).parents[2] / "src" / "lowdim"
RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 4))
APART = np.vstack([X, X + 100])
QUICK = {"n_epochs": 5}


def self_inclusive():
    graph = neighbors(X, 5)
    own = np.arange(60)[:, None]
    return Graph(np.hstack([own, graph.indices]), np.hstack([np.zeros((60, 1)), graph.distances]))


SAID = {
    "perplexity, rows": (lambda: TSNE(perplexity=50, max_iter=2).fit(X), "perplexity=50 was lowered to 19.6667"),
    "perplexity, graph": (lambda: Affinities.from_graph(neighbors(X, 20), 30), "lowered to 6.66667, a third of the 20"),
    "n_neighbors of UMAP": (lambda: UMAP(n_neighbors=70, **QUICK).fit(X), "n_neighbors=70 was lowered to 60"),
    "UMAP of a graph": (lambda: UMAP(**QUICK).fit(neighbors(X, 9)), "n_neighbors=15 was lowered to 10"),
    "n_neighbors of Isomap": (lambda: Isomap(n_neighbors=99).fit(X), "n_neighbors=99 was lowered to 59"),
    "n_neighbors of Laplacian": (lambda: LaplacianEigenmaps(n_neighbors=99).fit(X), "was lowered to 59"),
    "joined": (lambda: Isomap().fit(APART), "2 connected components, which were joined by their shortest edges"),
    "side by side": (lambda: LaplacianEigenmaps().fit(APART), "2 connected components, which were embedded one by one"),
    "radius": (lambda: Isomap(n_neighbors=5, radius=9.0).fit(X), "radius=9 was used, and n_neighbors=5 ignored"),
    "constant": (lambda: Standardized(PCA()).fit(np.c_[X, np.ones(60)]), "1 of 5 columns are constant"),
    "constant, PCA": (lambda: PCA(standardize=True).fit(np.c_[X, np.full((60, 2), 7)]), "2 of 6 columns are constant"),
    "repeated": (lambda: UMAP(n_neighbors=5, **QUICK).fit(np.tile(X[:20], (3, 1))), "40 of 60 rows repeat another"),
    "unlabeled": (lambda: UMAP(**QUICK).fit(X, np.full(60, -1)), "every row as unknown"),
    "another metric": (
        lambda: UMAP(metric="cosine", n_neighbors=5, **QUICK).fit(neighbors(X, 9)),
        "the graph was made by metric='euclidean'",
    ),
    "self": (self_inclusive, "among their own neighbors, and were left out of them: 5 neighbors per row remain"),
    "disconnected": (
        lambda: UMAP(n_neighbors=5, disconnection_distance=1e-3, **QUICK).fit(X),
        "60 of 60 rows have no neighbor nearer than disconnection_distance=0.001",
    ),
}


@pytest.mark.parametrize("name", SAID)
def test_it_is_said_once_at_the_callers_line(name):
    work, text = SAID[name]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        work()
    assert [warning.category for warning in caught] == [LowdimWarning]
    assert text in str(caught[0].message)
    assert caught[0].filename == __file__


SILENT = {
    "defaults that adapt": lambda: (Isomap().fit(X[:4]), LaplacianEigenmaps().fit(X[:8])),
    "a perplexity between two numbers of neighbors": lambda: TSNE(perplexity=10.1, max_iter=2).fit(X),
    "all that a graph has": lambda: (Isomap().fit(neighbors(X, 20)), UMAP(n_neighbors=6, **QUICK).fit(neighbors(X, 5))),
    "standardized before": lambda: PCA(standardize=True).fit((X - X.mean(axis=0)) / X.std(axis=0, ddof=1)),
    "some equal rows": lambda: UMAP(n_neighbors=5, **QUICK).fit(np.vstack([X, X[:50]])),
    "y that a method has no use for": lambda: TSNE(perplexity=5, max_iter=2).fit(X, np.zeros(60)),
}


@pytest.mark.parametrize("name", SILENT)
def test_what_is_as_asked_for_is_silent(name):
    SILENT[name]()  # warnings are errors here


def test_the_line_is_the_callers_through_scikit_learn_too():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        make_pipeline(PCA(3), Isomap(n_neighbors=99)).fit_transform(X)
    assert [warning.filename for warning in caught] == [__file__]


def test_one_function_warns():
    """All others call it; scikit-learn's own warning about y, which its checks expect, is the exception."""
    callers = set()
    for path in SOURCES.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "warnings.warn":
                callers.add(path.relative_to(SOURCES).as_posix())
    assert callers == {"runtime/warning.py", "data/target.py"}
