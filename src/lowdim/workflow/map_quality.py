"""How far a fitted map can be trusted, in the space that its method saw: a verdict, neighbors, colors of points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim import quality
from lowdim.base.standardized import Standardized
from lowdim.data.io.column_roles import ColumnSelection
from lowdim.data.rows import Rows
from lowdim.data.table import NamedArrayRows, Table
from lowdim.decomposition.ppca_em import impute_by_em
from lowdim.errors import BadInput, BadParameter, LowdimError
from lowdim.knn.index import NeighborIndex
from lowdim.quality._quick_verdict import QuickVerdict
from lowdim.runtime.display import count
from lowdim.runtime.threads import thread_count
from lowdim.workflow.fit import FittedModel
from lowdim.workflow.missing import SHARE
from lowdim.workflow.source import color_values

__all__ = ["POINT_COLORS", "JudgedMap", "color_or_measure", "point_colors", "seen_space"]

Array = NDArray[Any]

K = 15  # neighbors that a point is asked about
FEWEST_ROWS = 4  # of which neighbors can be told from others
CHEAP_PCA = 10_000_000  # values up to which PCA is fitted to be compared with
MOST_HOVERED = 20_000  # rows whose neighbors a page holds: 30 numbers each
EXACT_COLORS = 3000  # rows up to which every point is measured for its color; beyond, so many are sampled:
SAMPLED_COLORS = 2000

# By the word after --color.
POINT_COLORS = {
    "trust": "trustworthiness",
    "continuity": "continuity",
    "neighbor-recall": "neighbor_recall",
}


@dataclass(frozen=True)
class SeenSpace:
    """Rows as the method compared them, and its metric."""

    X: Any
    metric: Any = "euclidean"
    metric_params: Mapping[str, Any] | None = None

    @property
    def options(self) -> dict[str, Any]:
        """The metric, as functions of `quality` take it."""
        return {"metric": self.metric, "metric_params": self.metric_params}


@dataclass(frozen=True, eq=False)
class MapNeighbors:
    """The k nearest rows of every row, in the data and in the map."""

    true_neighbors: NDArray[np.int32]  # (n, k)
    map_neighbors: NDArray[np.int32]  # (n, k)


class PointMeasure(str):
    """The word after --color that names a measure of points and no column."""


@dataclass(frozen=True, eq=False)
class JudgedMap:
    """A map and what can be said of it."""

    fitted: FittedModel
    embedding: Any  # (n, k)
    space: SeenSpace | None  # None if nobody asked
    verdict: QuickVerdict | str | None = None  # None if nobody asked
    neighbors: MapNeighbors | None = None  # for a page

    @classmethod
    def of(cls, fitted: FittedModel, asked: bool, paths: Sequence[Path]) -> JudgedMap:
        """The map of a fitted model, to be judged if that is asked for, with neighbors if a page is written."""
        Z = fitted.embedding()
        if not asked:
            return cls(fitted, Z, None)
        try:
            flat, space = _flat(fitted.estimator, Z), seen_space(fitted)
            page = any(path.suffix.lower() == ".html" for path in paths)
            return cls(fitted, Z, space, neighbors=find_neighbors(space, flat) if page else None)
        except (LowdimError, MemoryError) as error:  # the map is there all the same
            return cls(fitted, Z, None, str(error))

    def with_verdict(self) -> JudgedMap:
        """The map with its verdict, if that was asked for."""
        if self.space is None:
            return self
        flat = _flat(self.fitted.estimator, self.embedding)
        return replace(self, verdict=judge_map(self.fitted, self.space, flat))

    def colors(self, values: Any, name: str | None) -> tuple[Any, str | None]:
        """The colors of the rows and their name: of a column, or of the measure that it stands for."""
        if not isinstance(values, PointMeasure):
            return values, name
        return point_colors(values, self.space or seen_space(self.fitted), _flat(self.fitted.estimator, self.embedding))

    def lines(self) -> list[tuple[str, str]]:
        """The verdict, in one line per sentence."""
        if self.verdict is None:
            return []
        said = [f"not measured: {self.verdict}"] if isinstance(self.verdict, str) else self.verdict.sentences
        return [("" if i else "quality", sentence) for i, sentence in enumerate(said)]

    def to_dict(self) -> dict[str, Any]:
        """For programs."""
        if self.verdict is None:
            return {}
        if isinstance(self.verdict, str):
            return {"quality": {"verdict": [], "not_measured": self.verdict}}
        return {"quality": self.verdict.to_dict()}


def color_or_measure(data: str, table: Table, selection: ColumnSelection, color: str | None) -> tuple[Any, str | None]:
    """What to color rows by, and its name: a measure of points, unless a column has that name."""
    try:
        return color_values(data, table, selection, color)
    except BadInput:
        if color in POINT_COLORS:
            return PointMeasure(color), color
        raise


def seen_space(fitted: FittedModel) -> SeenSpace:
    """Standardized rows, distances, categories: what the method saw."""
    estimator, rows = fitted.estimator, fitted.rows
    if isinstance(rows, Table):  # categories: distances between all principal coordinates are those of the method
        whole = type(estimator)(**{**estimator.get_params(), "n_components": None})
        return SeenSpace(whole.fit_transform(rows))
    metric = getattr(estimator, "metric", "euclidean")
    if getattr(estimator, "kernel", None) == "precomputed":
        raise BadParameter("a kernel matrix holds no rows to measure distances of")
    if isinstance(fitted.model, Standardized):
        return SeenSpace(fitted.model._z_scores(rows), metric, getattr(estimator, "metric_params", None))
    if getattr(estimator, "missing", None) == "em":
        rows = NamedArrayRows(impute_by_em(rows, SHARE, thread_count()))
    scale = getattr(estimator, "scale_", None) if getattr(estimator, "standardize", False) else None
    if scale is not None:
        whole = rows.whole()
        return SeenSpace((whole - estimator.mean_.astype(whole.dtype)) / scale.astype(whole.dtype))
    return SeenSpace(rows, metric, getattr(estimator, "metric_params", None))


def _flat(estimator: Any, Z: Any) -> Any:
    """Positions whose straight-line distances are those of the map: unit vectors of a UMAP on the sphere."""
    metric = getattr(estimator, "output_metric", "euclidean")
    if metric == "euclidean":
        return Z
    from lowdim.neighbor_embedding.umap.output_space import OutputSpace

    return OutputSpace(metric).flat(Z, "the quality of a map")


def judge_map(fitted: FittedModel, space: SeenSpace, Z: Any) -> QuickVerdict | str:
    """Two sentences on a map with their figures, from a sample of a large one; or why there are none."""
    if len(Z) < FEWEST_ROWS:
        return f"{count(len(Z), 'row')} are too few to tell near neighbors from far ones"
    values = space.X.count * space.X.d if isinstance(space.X, Rows) else np.size(space.X)
    with_pca = fitted.method.name not in ("PCA", "ClassicalMDS", "FAMD", "MCA", "CA") and values <= CHEAP_PCA
    try:
        return quality.quick_verdict(space.X, Z, k=_neighbor_count(len(Z)), **space.options, beside_pca=with_pca)
    except (LowdimError, MemoryError) as error:
        return str(error)


def _neighbor_count(n: int) -> int:
    """15, or of few rows a third: with most others as neighbors, every map is right."""
    return max(1, min(K, (n - 1) // 3))


def find_neighbors(space: SeenSpace, Z: Any) -> MapNeighbors | None:
    """Neighbors in both spaces for the page of a map; None for too many rows, or too few."""
    n = len(Z)
    if not FEWEST_ROWS <= n <= MOST_HOVERED:
        return None
    k = _neighbor_count(n)
    true = NeighborIndex(space.X, **space.options).graph(k)
    drawn = NeighborIndex(np.asarray(Z)).graph(k)
    return MapNeighbors(true.nearest(k).indices, drawn.nearest(k).indices)


def point_colors(name: str, space: SeenSpace, Z: Any) -> tuple[Array, str]:
    """A value per row, (n,), and what it is. Of many rows a sample is measured, and others show the nearest of it."""
    measure, n = POINT_COLORS[name], len(Z)
    k = _neighbor_count(n)
    if n < FEWEST_ROWS:
        raise BadParameter(f"--color {name} needs at least {FEWEST_ROWS} rows; got {n}. Omit it.")
    lists = measure == "neighbor_recall"
    title = f"{measure.replace('_', ' ')}, k = {k}"
    if lists and n > EXACT_COLORS:
        from lowdim.quality._assemble import shared_neighbors

        true = NeighborIndex(space.X, **space.options).graph(k).nearest(k).indices
        drawn = NeighborIndex(np.asarray(Z)).graph(k).nearest(k).indices
        return shared_neighbors(true, drawn) / k, title
    sample = None if n <= EXACT_COLORS else SAMPLED_COLORS
    found = quality.measure(space.X, Z, k=k, **space.options, baselines=(), sample=sample)
    values = np.asarray(found.point_values[measure])
    if found.exact:
        return values, title
    return _of_nearest(values, np.asarray(Z), found.rows), f"{title} ({len(found.rows):,} rows sampled)"


def _of_nearest(values: Array, Z: Array, rows: NDArray[np.intp]) -> Array:
    """Values of some rows, and for all others that of the nearest of these in the map, (n,)."""
    from scipy.spatial import cKDTree

    return np.asarray(values[rows][cKDTree(Z[rows]).query(Z)[1]])
