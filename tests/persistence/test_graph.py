"""Files of a graph: every bit comes back, and what is no graph is refused."""

from __future__ import annotations

import numpy as np
import pytest

import lowdim
from lowdim import Graph, Isomap
from lowdim.errors import BadParameter, ModelFileError
from lowdim.persistence.container import write_container
from lowdim.persistence.manifest import describe, to_text


@pytest.fixture
def graph(rng):
    return lowdim.neighbors(np.repeat(rng.normal(size=(40, 3)), 2, axis=0), 6, metric="manhattan")


@pytest.mark.parametrize("algorithm", ["exact", "approximate"])
def test_a_graph_comes_back_with_every_bit(algorithm, rng, tmp_path):
    X = rng.normal(size=(500, 3))
    graph = lowdim.neighbors(X, 7, algorithm=algorithm)
    lowdim.save(graph, tmp_path / "graph.lowdim")
    again = lowdim.load(tmp_path / "graph.lowdim")
    assert type(again) is Graph
    assert again == graph
    for name in ("indices", "distances"):
        one, other = getattr(graph, name), getattr(again, name)
        assert one.dtype == other.dtype and one.tobytes() == other.tobytes()
    assert (again.metric, again.algorithm, again.recall) == ("euclidean", algorithm, graph.recall)
    known = Isomap(2).fit_transform(graph)  # in the precision of the rows, which a file does not keep
    np.testing.assert_array_equal(Isomap(2).fit_transform(again), known.astype(np.float32))
    lowdim.save(again, tmp_path / "twice.lowdim")
    assert (tmp_path / "twice.lowdim").read_bytes() == (tmp_path / "graph.lowdim").read_bytes()


def lying(graph, path, fields=None, tensors=None, **manifest):
    """A file with a right checksum whose parts are not those of the graph."""
    told, arrays = describe(graph)
    told = {**told, **manifest}
    if fields is not None:
        told["fields"] = {**told["fields"], **fields}
    for name, value in (tensors or {}).items():
        arrays[f"graph.{name}"] = np.ascontiguousarray(value)
        told["fields"][name] = {"array": value.dtype.name, "shape": list(value.shape)}
    write_container(str(path), to_text(told, arrays), arrays)
    return path


def changed(array, value):
    array = array.copy()
    array[3, 2] = value
    return array


LIES = {
    "an index too high": lambda g: {"tensors": {"indices": changed(g.indices, g.n)}},
    "an index below zero": lambda g: {"tensors": {"indices": changed(g.indices, -1)}},
    "a row that is its own neighbor": lambda g: {"tensors": {"indices": changed(g.indices, 3)}},
    "the same neighbor twice": lambda g: {"tensors": {"indices": changed(g.indices, g.indices[3, 1])}},
    "fractions for indices": lambda g: {"tensors": {"indices": g.indices.astype(float)}},
    "fewer rows of distances": lambda g: {"tensors": {"distances": g.distances[:-1]}},
    "fewer columns of indices": lambda g: {"tensors": {"indices": g.indices[:, :-1]}},
    "no columns": lambda g: {"tensors": {"indices": g.indices[:, :0], "distances": g.distances[:, :0]}},
    "one axis": lambda g: {"tensors": {"indices": g.indices[0], "distances": g.distances[0]}},
    "NaN": lambda g: {"tensors": {"distances": changed(g.distances, np.nan)}},
    "infinity": lambda g: {"tensors": {"distances": changed(g.distances, np.inf)}},
    "a negative distance": lambda g: {"tensors": {"distances": changed(g.distances, -1)}},
    "beyond float32": lambda g: {"tensors": {"distances": changed(g.distances.astype(float), 1e40)}},
    "truth values": lambda g: {"tensors": {"distances": g.distances > 0}},
    "a metric that is a number": lambda g: {"fields": {"metric": 5}},
    "an unknown algorithm": lambda g: {"fields": {"algorithm": "magic"}},
    "a list for an algorithm": lambda g: {"fields": {"algorithm": ["exact"]}},
    "a recall above one": lambda g: {"fields": {"recall": 1.5}},
    "a recall that is no number": lambda g: {"fields": {"recall": {"float": "nan"}}},
    "a strange field": lambda g: {"fields": {"extra": 1}},
    "texts for distances": lambda g: {"fields": {"distances": {"strings": ["a"], "dtype": "object"}}},
    "no fields": lambda g: {"manifest_fields": None},
    "a class that is no name": lambda g: {"class": ["Graph"]},
    "a method's name": lambda g: {"class": "PCA"},
}


@pytest.mark.parametrize("lie", LIES)
def test_what_is_no_graph_is_refused(lie, graph, tmp_path):
    parts = LIES[lie](graph)
    if parts.pop("manifest_fields", 0) is None:
        told, arrays = describe(graph)
        del told["fields"]
        write_container(str(tmp_path / "graph"), to_text(told, arrays), arrays)
    else:
        lying(graph, tmp_path / "graph", **parts)
    with pytest.raises(ModelFileError):
        lowdim.load(tmp_path / "graph")


def test_tensors_that_belong_to_nothing_are_refused(graph, tmp_path):
    told, arrays = describe(graph)
    arrays["graph.more"] = np.zeros(3)
    write_container(str(tmp_path / "graph"), to_text(told, arrays), arrays)
    with pytest.raises(ModelFileError, match=r"graph\.more"):
        lowdim.load(tmp_path / "graph")


def test_an_honest_file_written_by_the_same_means_is_read(graph, tmp_path):
    assert lowdim.load(lying(graph, tmp_path / "graph")) == graph


def test_a_damaged_file_is_refused(graph, tmp_path):
    path = tmp_path / "graph"
    lowdim.save(graph, path)
    raw = bytearray(path.read_bytes())
    raw[-1] ^= 1
    path.write_bytes(raw)
    with pytest.raises(ModelFileError, match="checksum"):
        lowdim.load(path)


def test_a_subclass_is_no_graph(graph, tmp_path):
    class Mine(Graph):
        pass

    with pytest.raises(BadParameter, match="got Mine"):
        lowdim.save(Mine(graph.indices, graph.distances), tmp_path / "graph")
