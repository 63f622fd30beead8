"""What can be said of every group of rows with one label, and of pairs of groups that overlap."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from lowdim.quality._quality import Quality

__all__ = ["group_values", "group_words", "overlap_words", "overlaps"]

Floats = NDArray[np.float64]

OF_GROUPS = ("neighbor_recall", "trustworthiness", "continuity", "triplet_accuracy", "steadiness", "cohesiveness")
OVERLAP = 0.02  # share of neighbors with the other's label from which two classes overlap
ALIKE = 2.0  # overlaps are alike in both spaces up to this ratio


def group_values(quality: Quality) -> dict[str, dict[str, float]]:
    """Of every label, its number of rows and the means over these of the values of points; NaN if none was measured."""
    if quality.labels is None:
        return {}
    out = {}
    labels = np.asarray(quality.labels)
    for name in np.unique(labels):
        own = labels == name
        values = {"rows": float(own.sum())}
        for measure in (*OF_GROUPS, "neighborhood_hit", "neighborhood_hit_original"):
            if measure in quality.point_values:
                known = quality.point_values[measure][own]
                known = known[~np.isnan(known)]
                values[measure] = float(known.mean()) if len(known) else float("nan")
        out[str(name)] = values
    return out


def group_words(quality: Quality) -> list[str]:
    """One sentence per group, the one that keeps fewest of its neighbors first, and then those on overlaps."""
    values, k = group_values(quality), quality.k
    words = []
    for name, group in sorted(values.items(), key=lambda item: item[1]["neighbor_recall"]):
        drawn, true = group["neighborhood_hit"], group["neighborhood_hit_original"]
        words.append(
            f"{name}: {group['neighbor_recall'] * k:.1f} of the {k} true neighbors are drawn near, on average; "
            f"{drawn:.0%} of those drawn near have the label ({true:.0%} in the data)."
        )
    return [*words, *overlap_words(quality)]


def overlap_words(quality: Quality, most: int = 5) -> list[str]:
    """Sentences on the pairs of classes that overlap most, in the map or in the data."""
    if quality.labels is None or quality.true_neighbors is None or quality.map_neighbors is None:
        return []
    names, codes = np.unique(np.asarray(quality.labels), return_inverse=True)
    true, drawn = (overlaps(lists, codes, len(names)) for lists in (quality.true_neighbors, quality.map_neighbors))
    a, b = np.triu_indices(len(names), 1)
    larger = np.maximum(true, drawn)[a, b]
    order = [p for p in np.argsort(-larger, kind="stable") if larger[p] >= OVERLAP][:most]
    return [_overlap(str(names[a[p]]), str(names[b[p]]), true[a[p], b[p]], drawn[a[p], b[p]]) for p in order]


def _overlap(a: str, b: str, true: float, drawn: float) -> str:
    figures = f"{drawn:.1%} of those drawn near have the other's label, and {true:.1%} of the true neighbors"
    if drawn > ALIKE * true:
        return f"{a} and {b} overlap more in the map than in the data: {figures}."
    if true > ALIKE * drawn:
        return f"{a} and {b} overlap less in the map than in the data: {figures}."
    return f"{a} and {b} overlap in the data too: {figures}."


def overlaps(lists: NDArray[Any], codes: NDArray[Any], classes: int) -> Floats:
    """Of the neighbors (n, k) of two classes, the share that have the other's label, (C, C)."""
    pairs = np.repeat(codes, lists.shape[1]) * classes + codes[lists].ravel()
    counts = np.bincount(pairs, minlength=classes * classes).reshape(classes, classes)
    sizes = np.bincount(codes, minlength=classes)
    return np.asarray((counts + counts.T) / ((sizes[:, None] + sizes) * lists.shape[1]))
