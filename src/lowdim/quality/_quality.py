"""Quality: what was measured about one map, as figures, values of points, words and tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput, BadParameter, MissingExtra
from lowdim.quality._label_groups import group_values, group_words
from lowdim.quality._measure import BASELINE_NAMES, Measure
from lowdim.quality._rank_measures import RnxCurve
from lowdim.quality._words import far_sentence, near_sentence, point_words, sentence
from lowdim.runtime.display import count, grid, paragraph, titled

if TYPE_CHECKING:
    from lowdim.quality._null import NullComparison

__all__ = ["Quality", "baseline_names", "baseline_title"]

Array = NDArray[Any]


@dataclass(frozen=True, eq=False, repr=False)
class Quality:
    """What was measured about one map. `q["trustworthiness"]` is one measure; iterating gives all."""

    n: int
    k: int
    measures: Mapping[str, Measure]
    point_values: Mapping[str, Array]  # name to (n,); NaN of rows that were not sampled
    rows: NDArray[np.intp]  # those that were sampled, (s,); all of a small table
    r_nx: RnxCurve
    baseline_curves: Mapping[str, RnxCurve]
    true_neighbors: NDArray[np.int32] | None  # (n, k)
    map_neighbors: NDArray[np.int32] | None  # (n, k)
    embedding: Array = field(repr=False)  # (n, c), as it was measured
    labels: Array | None = None  # (n,)
    graph_recall: float = 1.0  # estimated share of the true neighbors in `true_neighbors`
    notes: tuple[str, ...] = ()  # what was left out, and why
    null: NullComparison | None = None

    def __getitem__(self, name: str) -> Measure:
        if name not in self.measures:
            raise BadParameter(f"there is no measure {name!r} here; there are {', '.join(self.measures)}.")
        return self.measures[name]

    def __iter__(self) -> Iterator[Measure]:
        return iter(self.measures.values())

    def __len__(self) -> int:
        return len(self.measures)

    def __contains__(self, name: object) -> bool:
        return name in self.measures

    @property
    def exact(self) -> bool:
        """Whether all rows were compared with all."""
        return len(self.rows) == self.n

    @property
    def points(self) -> Any:
        """The values of all points as a dataframe, one row each: pandas if it is installed, else polars."""
        return _dataframe(dict(self.point_values))

    @property
    def groups(self) -> Any:
        """Means over the rows of every label as a dataframe, one row each; empty without labels."""
        return _dataframe([{"label": name, **values} for name, values in group_values(self).items()])

    def words(self) -> list[str]:
        """One sentence per measure."""
        return [measure.words for measure in self]

    def group_words(self) -> list[str]:
        """One sentence per label, and on the pairs of labels that overlap in the map or in the data."""
        return group_words(self)

    def verdict(self) -> list[str]:
        """Two sentences: on near neighbors and on far distances, each with its figure and that of baselines."""
        return [near_sentence(self["neighbor_recall"], self.k), far_sentence(self["shepard_correlation"])]

    def point_words(self, i: int) -> list[str]:
        """What the figures say of point i."""
        if not 0 <= i < self.n:
            raise BadParameter(f"i must be the number of a row, from 0 to {self.n - 1}; got {i!r:.60}.")
        return point_words(self, int(i))

    def beside(self, null: NullComparison) -> Quality:
        """The same with the method on shuffled columns as one more baseline, and its verdict on every point."""
        measures = {
            name: _with_baseline(measure, null.quality.measures.get(name), self.k)
            for name, measure in self.measures.items()
        }
        curves = {**self.baseline_curves, "null": null.quality.r_nx}
        values = {**self.point_values, **null.point_values}
        return replace(self, measures=measures, baseline_curves=curves, point_values=values, null=null)

    def to_dict(self) -> dict[str, Any]:
        """Plain lists and numbers, ready for JSON; of points, the values of those that have one."""
        return {
            "n": self.n,
            "k": self.k,
            "rows": len(self.rows),
            "exact": self.exact,
            "verdict": self.verdict(),
            "measures": [measure.to_dict() for measure in self],
            "r_nx": curve_dict(self.r_nx),
            "baseline_r_nx": {name: curve_dict(curve) for name, curve in self.baseline_curves.items()},
            "groups": group_values(self),
            "group_words": self.group_words(),
            "points": {name: plain_values(values) for name, values in self.point_values.items()},
            "notes": list(self.notes),
        }

    def add_to_obs(self, adata: Any, prefix: str = "map_") -> None:
        """Write the values of points into the `obs` of an AnnData object, one column per measure."""
        if len(getattr(adata, "obs", ())) != self.n:
            raise BadInput(f"adata must have an `obs` of {self.n} rows, one per point; got {type(adata).__name__}.")
        for name, values in self.point_values.items():
            adata.obs[f"{prefix}{name}"] = values

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """The R_NX curve beside those of the baselines."""
        from importlib import import_module

        return import_module("lowdim.plot").r_nx(self, ax=ax, **options)

    def __str__(self) -> str:
        names = baseline_names(self)
        rows = [["", "value", "95% interval", *map(baseline_title, names)]]
        rows += [_cells(measure, names) for measure in self]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [
            "  ".join(f"{c:<{w}}" if j == 0 else f"{c:>{w}}" for j, (c, w) in enumerate(zip(row, widths, strict=True)))
            for row in rows
        ]
        tail = [f"Note: {note}" for note in self.notes]
        return "\n".join(line.rstrip() for line in [self._title(), "", *lines, "", *self.verdict(), *tail])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        names = baseline_names(self)
        rows = [_cells(measure, names) for measure in self]
        said = [paragraph(text) for text in [*self.verdict(), *self.notes]]
        return titled(
            self._title(), grid(["measure", "value", "95% interval", *map(baseline_title, names)], rows), *said
        )

    def _title(self) -> str:
        compared = "all rows" if self.exact else f"{count(len(self.rows), 'sampled row')} against all"
        return f"Quality of a map of {count(self.n, 'row')}: k = {self.k}, {compared}"


def _dataframe(values: Any) -> Any:
    for package in ("pandas", "polars"):
        try:
            return __import__(package).DataFrame(values)
        except ImportError:
            continue
    raise MissingExtra("a table of points needs a dataframe package: pip install pandas (or polars)")


def baseline_names(quality: Quality) -> list[str]:
    """The baselines that any measure has, in order."""
    return list(dict.fromkeys(name for measure in quality for name in measure.baselines))


def baseline_title(name: str) -> str:
    """The head of a baseline's column, which no map's own name is mistaken for."""
    return BASELINE_NAMES[name] if name == "original" else f"baseline: {BASELINE_NAMES[name]}"


def _cells(measure: Measure, names: list[str]) -> list[str]:
    interval = "" if measure.low is None or measure.high is None else f"{measure.low:z.3f}–{measure.high:z.3f}"
    others = [f"{measure.baselines[name]:z.3f}" if name in measure.baselines else "" for name in names]
    return [measure.title, f"{measure.value:z.3f}", interval, *others]


def _with_baseline(measure: Measure, other: Measure | None, k: int) -> Measure:
    if other is None:
        return measure
    new = replace(measure, baselines={**measure.baselines, "null": other.value})
    return replace(new, words=sentence(new, k))


def curve_dict(curve: RnxCurve) -> dict[str, Any]:
    """A curve as plain lists."""
    parts = {"ks": curve.ks, "values": curve.values, "low": curve.low, "high": curve.high}
    return {name: None if part is None else part.tolist() for name, part in parts.items()}


def plain_values(values: Array) -> list[float | None]:
    """Numbers for JSON, None for NaN."""
    return [None if value != value else value for value in values.tolist()]
