"""Sentences about figures: each says what its figure carries, and no more."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lowdim.quality._measure import Measure, beside

if TYPE_CHECKING:
    from lowdim.quality._quality import Quality

__all__ = ["far_sentence", "interval_text", "near_sentence", "neighbor_places", "point_words", "sentence"]

READABLE, ROUGHLY = 0.8, 0.5  # rank correlations from which far distances can be read, or read roughly
GAP = 0.1  # of the map's radius (root mean square distance from its center) that separates two places
CROWD = 2.0  # times the point's own distance to its k-th neighbor in the map, within which nothing is apart
FEWEST = 0.2  # of the neighbors, that make a place


def sentence(measure: Measure, k: int) -> str:
    """One sentence about a measure."""
    value, other = _number(measure), beside(measure.baselines)
    share = f"{measure.value:.0%}"
    said = {
        "trustworthiness": f"Trustworthiness {value}: 1 if only true neighbors are drawn among the {k} nearest{other}.",
        "continuity": f"Continuity {value}: 1 if all of the {k} true neighbors are drawn among the nearest{other}.",
        "neighbor_recall": _recall(measure, k),
        "r_nx": f"The gain over a random map at {k} neighbors is {value} of the possible{other}.",
        "r_nx_auc": f"Over all numbers of neighbors, small ones weighing most, that gain is {value}{other}.",
        "lcmc": f"The share of true neighbors kept, less that by chance, is {value}{other}.",
        "mrre_false": f"Ranks of those drawn near agree to {value} with their true ranks{other}.",
        "mrre_missing": f"Ranks of the true neighbors agree to {value} with their ranks in the map{other}.",
        "stress": f"At the best scale, map distances miss the true ones by {value} of their size{other}.",
        "shepard_correlation": f"True and map distances have rank correlation {value}{other}.",
        "triplet_accuracy": f"Which of two rows is nearer to a third, the map shows in {share} of cases"
        f"{beside(measure.baselines, '.0%')}.",
        "steadiness": f"Steadiness {value}: 1 if groups of the map are groups in the data{other}.",
        "cohesiveness": f"Cohesiveness {value}: 1 if groups in the data are groups of the map{other}.",
        "neighborhood_hit": f"Of the {k} drawn nearest, {share} have the label of the point"
        f"{beside(measure.baselines, '.0%')}.",
        "label_trustworthiness": f"Label trustworthiness {value}: 1 if none overlap more than in the data{other}.",
        "label_continuity": f"Label continuity {value}: 1 if no two classes are further apart than in the data{other}.",
        "centroid_triplet_accuracy": f"Which of two groups is nearer to a third, the map shows in {share} of cases"
        f"{beside(measure.baselines, '.0%')}.",
        "cluster_distance_correlation": f"Distances between groups {_readable(measure.value)}: "
        f"rank correlation {value} with the true ones{other}.",
    }
    return said[measure.name]


def near_sentence(recall: Measure, k: int) -> str:
    """The verdict on near neighbors."""
    many = "most" if recall.value >= 0.5 else "some" if recall.value >= 0.2 else "few"
    return f"Near neighbors: {many} are kept; {_recall(recall, k, start='on')}"


def far_sentence(correlation: Measure) -> str:
    """The verdict on far distances."""
    return (
        f"Far distances {_readable(correlation.value)}: ρ = {_number(correlation, 2)} with the true ones"
        f"{beside(correlation.baselines)}."
    )


def _readable(rho: float) -> str:
    return "can be read" if rho >= READABLE else "can be read roughly" if rho >= ROUGHLY else "can't be read"


def _recall(measure: Measure, k: int, start: str = "On") -> str:
    kept = f"{measure.value * k:.1f}"
    others = beside({name: value * k for name, value in measure.baselines.items()}, "z.1f")
    return f"{start} average {kept} of the {k} true neighbors of a point are drawn among its {k} nearest{others}."


def _number(measure: Measure, digits: int = 2) -> str:
    return f"{measure.value:z.{digits}f}{interval_text(measure, digits)}"


def interval_text(measure: Measure, digits: int = 2) -> str:
    """, 95% 0.27–0.35 (-0.11 to -0.07 if negative); nothing for an exact value."""
    if measure.low is None or measure.high is None:
        return ""
    low, high = f"{measure.low:z.{digits}f}", f"{measure.high:z.{digits}f}"
    return f", 95% {low} to {high}" if low.startswith("-") else f", 95% {low}–{high}"


def point_words(quality: Quality, i: int) -> list[str]:
    """Sentences about point i."""
    values, k = quality.point_values, quality.k
    kept = round(float(values["neighbor_recall"][i]) * k)
    words = [f"{kept} of its {k} true neighbors are drawn near it."]
    if kept < k:
        words.append(f"{k - kept} of the {k} drawn near it are false.")
    places = neighbor_places(quality, i)
    if len(places) > 1:
        number = {2: "two", 3: "three", 4: "four", 5: "five"}[len(places)]
        words.append(f"Its true neighbors are drawn in {number} places ({', '.join(map(str, places))}).")
    if "neighborhood_hit" in values and values["neighborhood_hit"][i] == values["neighborhood_hit"][i]:
        drawn, true = (round(float(values[name][i]) * k) for name in ("neighborhood_hit", "neighborhood_hit_original"))
        words.append(f"{drawn} of the {k} drawn near it have its label, and {true} of its {k} true neighbors.")
    if quality.null is not None:
        words.append(quality.null.point_verdict(i))
    return words


def neighbor_places(quality: Quality, i: int) -> list[int]:
    """How many of point i's true neighbors are drawn in each place, the largest first; single ones are no place.

    Places are single-linkage clusters: two neighbors are in one place if a chain of others connects them, each link of
    which is shorter than a tenth of the map's radius.
    """
    from scipy.cluster.hierarchy import fcluster, linkage

    if quality.true_neighbors is None or quality.map_neighbors is None:
        return []
    Z = np.asarray(quality.embedding, dtype=np.float64)
    radius = float(np.sqrt(((Z - Z.mean(axis=0)) ** 2).sum(axis=1).mean()))
    crowd = float(np.linalg.norm(Z[quality.map_neighbors[i, -1]] - Z[i]))
    near = Z[quality.true_neighbors[i]]
    if len(near) < 2:
        return [len(near)]
    sizes = np.bincount(fcluster(linkage(near, "single"), max(GAP * radius, CROWD * crowd), "distance"))[1:]
    return sorted((int(size) for size in sizes if size >= max(2, FEWEST * len(near))), reverse=True)
