"""Measures of subspace clusterings against a known truth: F1, RNIA, CE and E4SC.

The micro-objects of a cluster are its pairs of a row and a dimension, so that wrong dimensions count as wrong rows do.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from lowdim.errors import BadInput
from lowdim.runtime.display import TextDisplay
from lowdim.subspace._cluster import SubspaceCluster

__all__ = ["SubspaceScores", "scores"]

Array = NDArray[np.float64]


@dataclass(frozen=True, repr=False)
class SubspaceScores(TextDisplay):
    """Agreement with the truth by four measures, each from 0 to 1, which is perfect."""

    f1: float  # of the rows of each true cluster, by the found clusters that cover most of it
    rnia: float  # 1 - relative non-intersecting area: micro-objects that are in both
    ce: float  # 1 - clustering error: those in both, if every cluster is matched with at most one
    e4sc: float  # F1 of micro-objects of the best matches, both ways

    def __str__(self) -> str:
        return f"F1 {self.f1:.3f}  1 - RNIA {self.rnia:.3f}  1 - CE {self.ce:.3f}  E4SC {self.e4sc:.3f}"

    def to_dict(self) -> dict[str, float]:
        """The measures by name."""
        return asdict(self)


def scores(found: Any, truth: Any) -> SubspaceScores:
    """Compare found subspace clusters with the true ones.

    Müller, Günnemann, Assent and Seidl 2009 (F1; 1 - RNIA and 1 - CE, after Patrikainen and Meila 2006); Günnemann,
    Färber, Müller, Assent and Seidl 2011 (E4SC). RNIA, CE and E4SC judge rows and dimensions, F1 rows alone. CE also
    penalizes a cluster that is split or found several times.

    Parameters
    ----------
    found, truth : a fitted clusterer, planted clusters, or a list of clusters
        Clusters are `SubspaceCluster` or pairs of rows and dimensions. The truth has at least one.

    """
    ours, true = _clusters(found, "found"), _clusters(truth, "truth")
    if not true:
        raise BadInput("truth has no clusters, so there is nothing to compare with.")
    if not ours:
        return SubspaceScores(0.0, 0.0, 0.0, 0.0)
    rows, common_rows = _overlaps(ours, true)
    dimensions, common_dimensions = _overlaps([(d, r) for r, d in ours], [(d, r) for r, d in true])
    common = common_rows * common_dimensions  # (found, true) micro-objects in both
    sizes = rows[0] * dimensions[0], rows[1] * dimensions[1]
    union, intersection = _areas(ours, true)
    matched = common[linear_sum_assignment(-common)].sum()
    return SubspaceScores(
        _f1_of_rows(ours, true, common_rows / rows[1]),
        intersection / union,
        float(matched) / union,
        _e4sc(common, *sizes),
    )


Cluster = tuple[NDArray[np.int64], NDArray[np.int64]]  # rows, dimensions


def _clusters(given: Any, what: str) -> list[Cluster]:
    held = getattr(given, "clusters_", getattr(given, "clusters", given))
    if not isinstance(held, list | tuple):
        raise BadInput(f"{what} must be a fitted clusterer, planted clusters or a list of clusters; got {given!r:.60}.")
    return [_cluster(cluster, what) for cluster in held]


def _cluster(given: Any, what: str) -> Cluster:
    pair = (given.rows, given.dimensions) if isinstance(given, SubspaceCluster) else given
    try:
        rows, dimensions = (np.unique(np.asarray(part)) for part in pair)
    except (TypeError, ValueError) as error:
        raise BadInput(f"a cluster of {what} must be a pair of rows and dimensions; got {given!r:.60}.") from error
    for part in (rows, dimensions):
        if part.dtype.kind not in "iu" or len(part) == 0 or part[0] < 0:
            raise BadInput(f"a cluster of {what} must have at least one row and one dimension, by their indices.")
    return rows.astype(np.int64), dimensions.astype(np.int64)


def _overlaps(ours: list[Cluster], true: list[Cluster]) -> tuple[tuple[Array, Array], Array]:
    """Sizes of the first sets of the clusters, and the sizes of their intersections (found, true)."""
    width = 1 + max(int(part[-1]) for part, _ in (*ours, *true))
    a, b = (_indicator([part for part, _ in clusters], width) for clusters in (ours, true))
    return (a.sum(axis=1), b.sum(axis=1)), np.asarray((a @ b.T).toarray())


def _indicator(sets: list[NDArray[np.int64]], width: int) -> sp.csr_array:
    starts = np.concatenate([[0], np.cumsum([len(one) for one in sets])])
    columns = np.concatenate(sets)
    return sp.csr_array((np.ones(len(columns)), columns, starts), shape=(len(sets), width))


def _areas(ours: list[Cluster], true: list[Cluster]) -> tuple[float, float]:
    """Union and intersection of the micro-objects; one in several clusters counts as often."""
    n, d = (1 + max(int(cluster[i][-1]) for cluster in (*ours, *true)) for i in (0, 1))
    union = intersection = 0.0
    for j in range(d):  # a column at a time, which keeps memory at n
        a, b = (_multiplicity(clusters, j, n) for clusters in (ours, true))
        union += float(np.maximum(a, b).sum())
        intersection += float(np.minimum(a, b).sum())
    return union, intersection


def _multiplicity(clusters: list[Cluster], dimension: int, n: int) -> NDArray[np.int64]:
    """In how many clusters each row is with this dimension."""
    counts = np.zeros(n, dtype=np.int64)
    for rows, dimensions in clusters:
        if dimension in dimensions:
            counts[rows] += 1
    return counts


def _f1_of_rows(ours: list[Cluster], true: list[Cluster], covered: Array) -> float:
    """The mean over true clusters of the F1 of all found clusters that cover it more than any other true cluster."""
    mapped = covered.argmax(axis=1)  # covered (found, true): shares of the true clusters
    total = 0.0
    for t, (rows, _) in enumerate(true):
        own = [ours[f][0] for f in np.flatnonzero((mapped == t) & (covered[:, t] > 0))]
        if own:
            union = np.unique(np.concatenate(own))
            total += 2 * len(np.intersect1d(union, rows)) / (len(union) + len(rows))
    return total / len(true)


def _e4sc(common: Array, found_sizes: Array, true_sizes: Array) -> float:
    """The harmonic mean of the mean best F1 of the found clusters and that of the true ones."""
    f1 = 2 * common / (found_sizes[:, None] + true_sizes[None])
    of_found, of_true = f1.max(axis=1).mean(), f1.max(axis=0).mean()
    return float(2 * of_found * of_true / (of_found + of_true)) if of_found + of_true > 0 else 0.0
