"""Measure: one figure about a map, with its interval and the same figure of baselines; and their names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from lowdim.runtime.display import SummaryDisplay

__all__ = ["BASELINE_NAMES", "DEFINITIONS", "Definition", "Measure", "beside"]


BASELINE_NAMES = {"random": "random map", "pca": "PCA", "null": "shuffled columns", "original": "in the data"}


class Definition(NamedTuple):
    """What a measure is called, and its best and worst values; None where it depends on n, or has no bound."""

    title: str
    best: float
    worst: float | None
    per_point: bool


DEFINITIONS = {
    "trustworthiness": Definition("trustworthiness", 1.0, 0.0, True),
    "continuity": Definition("continuity", 1.0, 0.0, True),
    "neighbor_recall": Definition("neighbor recall, Q_NX(k)", 1.0, 0.0, True),
    "r_nx": Definition("R_NX(k)", 1.0, None, False),
    "r_nx_auc": Definition("AUC of R_NX over ln k", 1.0, None, True),
    "lcmc": Definition("LCMC", 1.0, None, False),
    "mrre_false": Definition("MRRE, false neighbors", 1.0, 0.0, False),
    "mrre_missing": Definition("MRRE, missing neighbors", 1.0, 0.0, False),
    "stress": Definition("stress-1, scale-normalized", 0.0, 1.0, True),
    "shepard_correlation": Definition("Shepard correlation (Spearman)", 1.0, -1.0, False),
    "triplet_accuracy": Definition("random-triplet accuracy", 1.0, 0.0, True),
    "steadiness": Definition("steadiness", 1.0, 0.0, True),
    "cohesiveness": Definition("cohesiveness", 1.0, 0.0, True),
    "neighborhood_hit": Definition("neighborhood hit", 1.0, 0.0, True),
    "label_trustworthiness": Definition("label trustworthiness", 1.0, 0.0, False),
    "label_continuity": Definition("label continuity", 1.0, 0.0, False),
    "centroid_triplet_accuracy": Definition("centroid-triplet accuracy", 1.0, 0.0, False),
    "cluster_distance_correlation": Definition("cluster-distance correlation", 1.0, -1.0, False),
}


@dataclass(frozen=True, repr=False)
class Measure(SummaryDisplay):
    """One figure about a map. `low` and `high` are its 95% interval, None if it is exact."""

    name: str
    title: str
    value: float
    low: float | None
    high: float | None
    n: int  # rows that it was computed from
    exact: bool
    best: float
    worst: float | None
    per_point: bool
    baselines: Mapping[str, float] = field(default_factory=dict)  # the same figure of other maps, by name
    words: str = ""  # what the figure carries, in one sentence

    @property
    def text(self) -> str:
        """The value, with its interval."""
        interval = "" if self.low is None or self.high is None else f" [{self.low:z.3f}, {self.high:z.3f}]"
        return f"{self.value:z.3f}{interval}"

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, ready for JSON."""
        plain = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return plain | {"baselines": dict(self.baselines)}

    def _summary(self) -> str:
        return f"{self.title} {self.text}{beside(self.baselines)}"


def beside(baselines: Mapping[str, float], form: str = "z.2f") -> str:
    """Baselines in parentheses: (random 0.50, PCA 0.81); nothing without any."""
    parts = [f"{BASELINE_NAMES.get(name, name)} {value:{form}}" for name, value in baselines.items()]
    return f" ({', '.join(parts)})" if parts else ""
