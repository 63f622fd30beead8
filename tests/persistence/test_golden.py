"""Files that earlier lowdims wrote: they load, and give the numbers that they gave then.

golden/write_golden.py wrote them. Numbers of another instruction set differ by rounding, which the optimizers of t-SNE
and UMAP carry further; a fitted row comes back to its position bit for bit on any machine.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import lowdim
from lowdim import UMAP, Standardized
from lowdim.base.estimator import DeclaredEstimator
from lowdim.knn.graph import Graph
from lowdim.persistence import load, save
from lowdim.persistence.manifest import SCHEMA

GOLDEN = Path(__file__).parent / "golden"
FILES = sorted(str(path.relative_to(GOLDEN)) for path in GOLDEN.glob("*/*.lowdim"))
# Selectors and clusterers, which are no methods of dimensionality reduction.
OTHERS = {
    name
    for module in (lowdim.select, lowdim.subspace)
    for name in dir(module)
    if isinstance(getattr(module, name), type) and issubclass(getattr(module, name), DeclaredEstimator)
}
# Classes that no file of a schema can hold.
NEWER = {1: {"ICA", "LDA", "SIR", "SAVE", "PHD", "DirectionalRegression", "LSIR", "ProjectionPursuit"} | OTHERS}
NEWER[1] |= {"CA", "MCA", "FAMD", "TruncatedSVD"}
# Of the largest coordinate; others 1e-9, or 1e-5. MDS maps new rows by majorization, to within its tolerance.
TOLERANCES = {"TSNE": 1e-3, "UMAP": 1e-3, "Standardized": 1e-3, "MDS": 1e-7, "NonmetricMDS": 1e-7}


def stored_results(schema: str) -> dict[str, np.ndarray]:
    found: dict[str, np.ndarray] = {}
    for path in (GOLDEN / schema).glob("*.npz"):  # methods that came later have files of their own
        with np.load(path) as stored:
            found |= dict(stored)
    return found


def answer(model, table):
    return model.transform(table) if hasattr(model, "transform") else model.predict(table)


def classes_of(schema: int) -> set[str]:
    return {type(load(path)).__name__ for path in (GOLDEN / f"schema{schema}").glob("*.lowdim")}


def test_every_schema_has_a_file_of_every_class_of_its_time():
    assert classes_of(SCHEMA) == {method.name for method in lowdim.methods()} | {"Graph", "Standardized"} | OTHERS
    for schema in range(1, SCHEMA):
        assert classes_of(schema) == classes_of(SCHEMA) - NEWER[schema]


@pytest.mark.parametrize("name", [name for name in FILES if "graph" not in name])
def test_a_golden_model_gives_its_numbers(name):
    schema, stem = Path(name).parent.name, Path(name).stem
    results = stored_results(schema)
    (key,) = (key for key in results if key.startswith(f"{stem} of "))
    table, expected = results[key.removeprefix(f"{stem} of ")], results[key]
    model = load(GOLDEN / name)
    found = answer(model, table)
    assert found.dtype == expected.dtype
    default = 1e-9 if expected.dtype == np.float64 else 1e-5
    bound = TOLERANCES.get(type(model).__name__, default) * np.abs(expected).max()
    np.testing.assert_allclose(found, expected, rtol=0, atol=bound)
    inner = model.model_ if isinstance(model, Standardized) else model
    if isinstance(inner, UMAP | lowdim.TSNE):
        rows = results["narrow" if table.dtype == np.float32 else "X"]
        np.testing.assert_array_equal(model.transform(rows), inner.embedding_)


@pytest.mark.parametrize("name", FILES)
def test_a_golden_file_saved_again_is_of_the_present_schema(name, tmp_path):
    model = load(GOLDEN / name)
    save(model, tmp_path / "again.lowdim")
    again = load(tmp_path / "again.lowdim")
    if not isinstance(model, Graph):
        rows = stored_results(Path(name).parent.name)
        table = rows["new_distances" if "distances" in name else "new"]
        np.testing.assert_array_equal(answer(again, table), answer(model, table))


@pytest.mark.parametrize("schema", [f"schema{number}" for number in range(1, SCHEMA + 1)])
def test_a_golden_graph_has_its_neighbors(schema):
    graph, results = load(GOLDEN / schema / "graph.lowdim"), stored_results(schema)
    np.testing.assert_array_equal(graph.indices, results["graph indices"])
    np.testing.assert_array_equal(graph.distances, results["graph distances"])
    assert (graph.metric, graph.algorithm, graph.recall) == ("euclidean", "exact", 1.0)


def test_partial_fit_goes_on_from_a_golden_file():
    for schema in range(1, SCHEMA + 1):
        rows = stored_results(f"schema{schema}")["narrow"]
        model = load(GOLDEN / f"schema{schema}" / "pca_partial.lowdim").partial_fit(rows)
        whole = lowdim.PCA(2, whiten=True, standardize=True).fit(np.vstack([rows, rows]))
        np.testing.assert_allclose(model.explained_variance_, whole.explained_variance_, rtol=1e-5)
