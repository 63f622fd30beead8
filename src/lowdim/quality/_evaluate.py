"""`measure` and `table`: every measure of one or several maps, beside baselines, in one pass over the rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lowdim.data.table import Table
from lowdim.data.target import ClassLabels, class_labels
from lowdim.distance.metrics import MetricSpec
from lowdim.errors import BadInput, BadParameter, NotEnoughData
from lowdim.knn.graph import Graph
from lowdim.quality._assemble import Evaluation, assemble
from lowdim.quality._baselines import BASELINES, baseline_maps
from lowdim.quality._distance_source import DistanceSource, embedding_source, read_embedding, read_source
from lowdim.quality._intervals import sample_rows
from lowdim.quality._quality import Quality
from lowdim.quality._quality_table import QualityTable
from lowdim.quality._rank_comparison import RankScale
from lowdim.quality._space_comparison import compare_spaces
from lowdim.quality._steadiness import map_groups
from lowdim.runtime.blas import single_blas
from lowdim.runtime.param import Integer, Maybe
from lowdim.runtime.random import Seed, seed_of
from lowdim.runtime.threads import thread_count

if TYPE_CHECKING:
    from lowdim.quality._null import NullComparison

__all__ = ["measure", "table"]

Array = NDArray[Any]

PARTNERS = 256  # random others of a sampled row, of which pairs and triplets are made
GIVEN = "precomputed"  # the metric of a graph whose own is not known
MAP = "map"  # what a single map is called


def measure(  # noqa: PLR0913
    X: Any,
    Z: Any,
    *,
    labels: Any = None,
    k: int = 15,
    metric: MetricSpec = "euclidean",
    metric_params: Mapping[str, Any] | None = None,
    graph: Graph | None = None,
    baselines: Sequence[str] = BASELINES,
    sample: int | None = None,
    null: NullComparison | None = None,
    random_state: Seed = 0,
    n_jobs: int | None = None,
) -> Quality:
    """How far a map can be trusted: every measure, for the whole map and for its points, beside baselines.

    Parameters
    ----------
    X : array, sparse matrix, memory map, dataframe, Table or path
        The original rows, or n × n distances with metric="precomputed"; None takes the rows that `graph` remembers.
    Z : table (n, c)
        The map, one row of coordinates per row of X. Its distances are Euclidean.
    labels : array (n,), optional
        Classes of the rows, for the measures that need groups. A Table gives its own.
    k : int
        The number of neighbors that a point is asked about, at most n - 2.
    metric, metric_params
        The distance in the original space, as `lowdim.neighbors` takes it.
    graph : Graph, optional
        Neighbors of X that are known already, at least k of every row.
    baselines : sequence of "random" and "pca"
        Maps that are measured beside this one: normal numbers, and PCA with as many components.
    sample : int, optional
        Rows that are compared with all rows. None takes all up to 10,000, and then 500 to 2,000, with intervals.
    null : NullComparison, optional
        What `quality.null` found; the method on shuffled columns becomes a baseline.
    random_state : int, generator or None
        Seed of the sample, of the random map and of the bootstrap.
    n_jobs : int, optional
        Threads. The result has the same bits for any number of them.

    Returns
    -------
    Quality
        `q["trustworthiness"]`, `q.verdict()`, `q.words()`, `q.points`, `q.point_words(i)`, `q.plot()`, `q.to_dict()`.

    """
    options = EvaluationOptions(labels, k, metric, metric_params, graph, baselines, sample, random_state, n_jobs)
    found = evaluate(X, {MAP: Z}, options)[MAP]
    return found if null is None else found.beside(null)


def table(  # noqa: PLR0913
    X: Any,
    maps: Mapping[str, Any],
    *,
    labels: Any = None,
    k: int = 15,
    metric: MetricSpec = "euclidean",
    metric_params: Mapping[str, Any] | None = None,
    graph: Graph | None = None,
    baselines: Sequence[str] = BASELINES,
    sample: int | None = None,
    random_state: Seed = 0,
    n_jobs: int | None = None,
) -> QualityTable:
    """Measure several maps of one table side by side: {"umap": Z1, "pca": Z2}. One pass over X serves them all.

    The options are those of `measure`.
    """
    if not isinstance(maps, Mapping) or not maps:
        raise BadParameter(f"maps must be a dict of names and maps, one at least; got {maps!r:.60}.")
    options = EvaluationOptions(labels, k, metric, metric_params, graph, baselines, sample, random_state, n_jobs)
    return QualityTable(evaluate(X, {str(name): Z for name, Z in maps.items()}, options))


@dataclass(frozen=True)
class EvaluationOptions:
    """The options of `measure`, as they were given."""

    labels: Any
    k: int
    metric: MetricSpec
    metric_params: Mapping[str, Any] | None
    graph: Graph | None
    baselines: Sequence[str]
    sample: int | None
    random_state: Seed
    n_jobs: int | None


def evaluate(X: Any, maps: Mapping[str, Any], options: EvaluationOptions) -> dict[str, Quality]:
    """The quality of every map."""
    threads, seed = thread_count(options.n_jobs), seed_of(options.random_state)
    with single_blas():
        _require_graph(options.graph)
        original = read_source(X, options.metric, options.metric_params, options.graph, threads)
        _check_options(options, original)
        points = {name: read_embedding(Z, original.n, _name(name)) for name, Z in maps.items()}
        labels = _read_labels(options.labels, X, original.n)
        columns = max(Z.shape[1] for Z in points.values())
        others, notes = baseline_maps(original, options.baselines, columns, seed, threads)
        sample = sample_rows(original.n, options.sample, PARTNERS, seed)
        scale = RankScale.of(original.n, options.k)
        sources = [embedding_source(Z, threads) for Z in [*points.values(), *others.values()]]
        space, found = compare_spaces(original, sources, sample, scale, threads)
        groups = map_groups(original, sources, seed, threads)
        evaluation = Evaluation(original, space, sample, scale, labels, options.graph, seed, threads, notes, groups)
        return assemble(evaluation, points, others, found)


def _require_graph(graph: Any) -> None:
    if graph is not None and not isinstance(graph, Graph):
        raise BadParameter(
            f"graph must be a lowdim Graph, as lowdim.neighbors(X, k) gives; got {type(graph).__name__}."
        )


def _check_options(options: EvaluationOptions, original: DistanceSource) -> None:
    n, k, graph = original.n, options.k, options.graph
    if not Integer(1).accepts(k):
        raise BadParameter(f"k must be {Integer(1).text}; got {k!r:.60}.")
    if k > n - 2:
        raise NotEnoughData(
            f"k must be at most {n - 2}, two less than the number of rows ({n}): with all others as neighbors, every "
            f"map is right; got {k}. Ask for fewer neighbors."
        )
    if not Maybe(Integer(4)).accepts(options.sample):
        raise BadParameter(f"sample must be {Maybe(Integer(4)).text}; got {options.sample!r:.60}.")
    if graph is not None and graph.metric not in (GIVEN, original.metric.name):
        raise BadParameter(
            f"the graph holds neighbors by metric={graph.metric!r}, and quality measures by "
            f"metric={original.metric.name!r}. Give one metric to both."
        )
    if graph is not None and graph.k < k:
        raise NotEnoughData(
            f"the graph has {graph.k} neighbors per row, and k is {k}. Give k={graph.k}, or a larger graph."
        )


def _read_labels(labels: Any, X: Any, n: int) -> ClassLabels | None:
    if labels is None and isinstance(X, Table) and X.labels is not None and np.ndim(X.labels) == 1:
        labels = X.labels if np.asarray(X.labels).dtype.kind != "f" else None  # a measurement has no classes
    if labels is None:
        return None
    found = class_labels(labels, n)
    if len(found.classes) < 2:
        raise BadInput(f"labels must have at least 2 classes; all rows have {str(found.classes[0])!r:.60}.")
    return found


def _name(name: str) -> str:
    return "Z" if name == MAP else f"the map {name!r:.60}"
