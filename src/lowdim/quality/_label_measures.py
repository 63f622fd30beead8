"""Measures that need labels: neighborhood hit, label trustworthiness and continuity, and the arrangement of the groups.

Labels alone say nothing about a map: each figure stands beside that of the original space, or compares the two.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.data.target import ClassLabels
from lowdim.quality._rank_measures import Figure

__all__ = ["arrangement", "class_means", "hits", "label_separation", "label_trustworthiness"]

Array = NDArray[Any]
Floats = NDArray[np.float64]

CHUNK_ROWS = 4096


def hits(neighbors: NDArray[np.int32], rows: NDArray[np.intp], codes: NDArray[np.int32]) -> Floats:
    """The share of each row's neighbors that have its label, (s,)."""
    return np.asarray((codes[neighbors] == codes[rows][:, None]).mean(axis=1))


def class_means(points: Array, labels: ClassLabels) -> Floats:
    """The centroid of every class, (C, d)."""
    sizes = np.bincount(labels.codes)
    sums = np.stack([np.bincount(labels.codes, column, minlength=len(sizes)) for column in np.asarray(points).T])
    return np.asarray((sums / sizes).T)


def label_separation(points: Array, centroids: Floats, labels: ClassLabels) -> Floats:
    """Distance consistency of every pair of classes: the share of their rows that are nearer to their own centroid.

    (C, C), the upper triangle (Sips, Neubert, Lewis, Hanrahan 2009).
    """
    C = len(centroids)
    middle = centroids.mean(axis=0)  # near the origin, squares lose fewer digits
    centroids = centroids - middle
    squares = np.empty((len(points), C))  # less |x|², which all of a row have in common
    for start in range(0, len(points), CHUNK_ROWS):
        some = points[start : start + CHUNK_ROWS] - middle
        squares[start : start + CHUNK_ROWS] = (centroids**2).sum(axis=1) - 2 * some @ centroids.T
    out = np.zeros((C, C))
    for a, b in combinations(range(C), 2):
        in_a, in_b = labels.codes == a, labels.codes == b
        right = (squares[in_a, a] <= squares[in_a, b]).sum() + (squares[in_b, b] < squares[in_b, a]).sum()
        out[a, b] = right / (in_a.sum() + in_b.sum())
    return out


def label_trustworthiness(true: Floats, drawn: Floats) -> tuple[Figure, Figure]:
    """Label trustworthiness and continuity (Jeon, Kuo, Aupetit, Ma, Seo 2023), of separations in both spaces."""
    above = np.triu_indices(len(true), 1)
    gap = (true - drawn)[above]
    return Figure(1 - float(np.maximum(gap, 0).mean())), Figure(1 - float(np.maximum(-gap, 0).mean()))


def arrangement(true: Floats, drawn: Floats) -> dict[str, Figure]:
    """Centroid-triplet accuracy (Wang, Huang, Rudin, Shaposhnik 2021) and the rank correlation of distances of groups.

    `true` and `drawn` are the distances of the groups in both spaces, (C, C). Of two groups nothing can be said.
    """
    from scipy.stats import spearmanr

    C = len(true)
    if C < 3:
        return {}
    agree = np.array(
        [np.sign(true[i, j] - true[i, k]) == np.sign(drawn[i, j] - drawn[i, k]) for i, j, k in _triplets(C)]
    )
    above = np.triu_indices(C, 1)
    varied = all(np.ptp(distances[above]) > 0 for distances in (true, drawn))  # equal distances have no order
    ranks = spearmanr(true[above], drawn[above]).statistic if varied else 0.0
    return {
        "centroid_triplet_accuracy": Figure(float(agree.mean())),
        "cluster_distance_correlation": Figure(float(ranks)),
    }


def _triplets(C: int) -> list[tuple[int, int, int]]:
    return [(i, j, k) for i in range(C) for j, k in combinations([other for other in range(C) if other != i], 2)]
