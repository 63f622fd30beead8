"""From the statistics of rows to measures with baselines, values of points, and words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.data.target import ClassLabels
from lowdim.distance.metrics import SQUARES
from lowdim.errors import BadParameter
from lowdim.knn.graph import Graph
from lowdim.knn.index import NeighborIndex, neighbors
from lowdim.quality._distance_source import DistanceSource
from lowdim.quality._intervals import Resamples, RowSample
from lowdim.quality._label_measures import arrangement, class_means, hits, label_separation, label_trustworthiness
from lowdim.quality._measure import DEFINITIONS, Measure
from lowdim.quality._quality import Quality
from lowdim.quality._rank_comparison import RankScale
from lowdim.quality._rank_measures import Figure, as_figure, point_figures, r_nx_curve, rank_figures
from lowdim.quality._shepard_correlation import shepard_correlation
from lowdim.quality._space_comparison import MapComparison, OriginalSpace
from lowdim.quality._steadiness import GroupReliability, MapGroups
from lowdim.quality._words import sentence

__all__ = ["Evaluation", "assemble"]

Array = NDArray[Any]
Lists = NDArray[np.int32]

GROUP_MEASURES = ("steadiness", "cohesiveness")
GRAPH_RECALL = 0.95  # at which the search for the true neighbors of rows that are not sampled may stop
TOLD_BELOW = 0.99  # recall of that search
MAP, BASELINE = "map", "baseline"  # kinds, so that a map may have the name of a baseline


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What all maps of one evaluation share."""

    original: DistanceSource
    space: OriginalSpace
    sample: RowSample
    scale: RankScale
    labels: ClassLabels | None
    graph: Graph | None
    seed: int
    threads: int
    notes: list[str]
    groups: MapGroups


def assemble(
    shared: Evaluation, maps: Mapping[str, Array], others: Mapping[str, Array], found: list[MapComparison]
) -> dict[str, Quality]:
    """The quality of every map, beside the others."""
    resamples = Resamples.of(shared.sample)
    for_pairs = Resamples.of(shared.sample, always=True)
    everything = {(MAP, name): Z for name, Z in maps.items()} | {(BASELINE, name): Z for name, Z in others.items()}
    compared = dict(zip(everything, found, strict=True))
    groups = dict(zip(everything, shared.groups.maps, strict=True))
    figures = {
        name: _figures(shared, everything[name], compared[name], resamples, for_pairs, groups[name])
        for name in everything
    }
    curves = {name: r_nx_curve(compared[name], shared.scale, resamples) for name in everything}
    beside = {name: figures[BASELINE, name] for name in others}
    baseline_curves = {name: curves[BASELINE, name] for name in others}
    true, recall = _true_neighbors(shared)
    notes = (*shared.notes, *_recall_note(recall))
    labels = None if shared.labels is None else shared.labels.classes[shared.labels.codes]
    out = {}
    for name, points in maps.items():
        drawn = _map_neighbors(shared, points, compared[MAP, name])
        out[name] = Quality(
            n=shared.sample.n,
            k=shared.scale.k,
            measures=_measures(shared, figures[MAP, name], beside),
            point_values=_point_values(shared, compared[MAP, name], groups[MAP, name], true, drawn),
            rows=shared.sample.rows,
            r_nx=curves[MAP, name],
            baseline_curves=baseline_curves,
            true_neighbors=true,
            map_neighbors=drawn,
            embedding=points,
            labels=labels,
            graph_recall=recall,
            notes=notes,
        )
    return out


def _figures(
    shared: Evaluation,
    points: Array,
    found: MapComparison,
    resamples: Resamples,
    for_pairs: Resamples,
    groups: Mapping[str, GroupReliability],
) -> dict[str, Figure]:
    figures = rank_figures(found, shared.scale, resamples)
    figures["shepard_correlation"] = shepard_correlation(
        shared.space.pairs, found.pairs, shared.sample, for_pairs, shared.threads
    )
    figures |= {name: group.figure for name, group in groups.items()}
    if shared.labels is not None:
        figures |= _label_figures(shared, points, found, resamples)
    return {name: figures[name] for name in DEFINITIONS if name in figures}


def _label_figures(shared: Evaluation, points: Array, found: MapComparison, resamples: Resamples) -> dict[str, Figure]:
    labels = shared.labels
    assert labels is not None
    shares = hits(found.neighbors, shared.sample.rows, labels.codes)
    out = {"neighborhood_hit": as_figure(resamples.interval(shares[:, None], lambda means: means[..., 0]))}
    prepared = shared.original.prepared
    if prepared is not None and prepared.metric.kernel == SQUARES:
        true, drawn = class_means(prepared.table, labels), class_means(points, labels)
        separations = label_separation(prepared.table, true, labels), label_separation(points, drawn, labels)
        out["label_trustworthiness"], out["label_continuity"] = label_trustworthiness(*separations)
        out |= arrangement(_distances(true), _distances(drawn))
    return out


def _distances(points: Array) -> Array:
    from scipy.spatial.distance import cdist

    return np.asarray(cdist(points, points))


def _measures(
    shared: Evaluation, figures: Mapping[str, Figure], beside: Mapping[str, Mapping[str, Figure]]
) -> dict[str, Measure]:
    out = {}
    for name, figure in figures.items():
        title, best, worst, per_point = DEFINITIONS[name]
        others = {other: values[name].value for other, values in beside.items() if name in values}
        if name == "neighborhood_hit":
            others["original"] = float(_original_hits(shared).mean())
        exact = figure.low is None
        n, k = shared.sample.n, shared.scale.k
        best, worst = (1 - k / (n - 1), -k / (n - 1)) if name == "lcmc" else (best, worst)
        worst = -k / (n - 1 - k) if name == "r_nx" else worst
        used = n if exact else len(shared.groups.rows if name in GROUP_MEASURES else shared.sample.rows)
        measure = Measure(
            name, title, figure.value, figure.low, figure.high, used, exact, best, worst, per_point, others
        )
        out[name] = replace(measure, words=sentence(measure, k))
    return out


def _original_hits(shared: Evaluation) -> Array:
    assert shared.labels is not None
    return hits(shared.space.neighbors, shared.sample.rows, shared.labels.codes)


def _true_neighbors(shared: Evaluation) -> tuple[Lists | None, float]:
    """The k true neighbors of all rows, and their recall."""
    if shared.sample.exact:
        return shared.space.neighbors, 1.0
    graph, k = shared.graph, shared.scale.k
    if graph is None:
        graph = _neighbor_graph(shared.original, k, shared.seed, shared.threads)
    return graph.nearest(k).indices, graph.recall


def _recall_note(recall: float) -> list[str]:
    if recall >= TOLD_BELOW:
        return []
    return [f"Values of rows that were not sampled rest on an approximate search: {recall:.0%} of the true neighbors."]


def _neighbor_graph(source: DistanceSource, k: int, seed: int, threads: int) -> Graph:
    """By an approximate search where there is one: the figures rest on sampled rows, which are compared with all."""
    options: dict[str, Any] = {"metric": source.metric, "random_state": seed, "n_jobs": threads}
    try:
        return NeighborIndex(source.rows, algorithm="approximate", recall=GRAPH_RECALL, **options).graph(k)
    except BadParameter:
        return NeighborIndex(source.rows, **options).graph(k)


def _map_neighbors(shared: Evaluation, points: Array, found: MapComparison) -> Lists:
    if shared.sample.exact:
        return found.neighbors
    return neighbors(points, shared.scale.k, random_state=shared.seed, n_jobs=shared.threads).indices


def _point_values(
    shared: Evaluation,
    found: MapComparison,
    groups: Mapping[str, GroupReliability],
    true: Lists | None,
    drawn: Lists | None,
) -> dict[str, Array]:
    n, rows = shared.sample.n, shared.sample.rows
    figures = point_figures(found, shared.scale)
    out = {}
    for name, values in figures.items():
        if DEFINITIONS[name].per_point:
            out[name] = np.full(n, np.nan)
            out[name][rows] = values
    for name, group in groups.items():
        out[name] = np.full(n, np.nan)
        out[name][shared.groups.rows] = group.points
    if not shared.sample.exact and true is not None and drawn is not None:
        recall = shared_neighbors(true, drawn) / shared.scale.k
        recall[rows] = figures["neighbor_recall"]
        out["neighbor_recall"] = recall
    if shared.labels is not None and true is not None and drawn is not None:
        everyone = np.arange(n)
        out["neighborhood_hit"] = hits(drawn, everyone, shared.labels.codes)
        out["neighborhood_hit_original"] = hits(true, everyone, shared.labels.codes)
    return out


def shared_neighbors(a: Lists, b: Lists) -> NDArray[np.float64]:
    """How many neighbors two lists have in common, row by row, (n,)."""
    both = np.sort(np.concatenate([a, b], axis=1), axis=1)
    return np.asarray((both[:, 1:] == both[:, :-1]).sum(axis=1), dtype=np.float64)
