"""QualityTable: several maps of one table side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from lowdim.errors import BadParameter
from lowdim.quality._measure import Measure
from lowdim.quality._quality import Quality, baseline_names, baseline_title
from lowdim.runtime.display import count, grid, paragraph, titled

__all__ = ["QualityTable"]


NULL_KEY = "After the bar: the same method on shuffled columns."


@dataclass(frozen=True, eq=False, repr=False)
class QualityTable:
    """The measures of several maps of one table, beside the same baselines. `t["umap"]` is one map's `Quality`."""

    maps: Mapping[str, Quality]

    def __getitem__(self, name: str) -> Quality:
        if name not in self.maps:
            raise BadParameter(f"there is no map {name!r} here; there are {', '.join(self.maps)}.")
        return self.maps[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.maps)

    def __len__(self) -> int:
        return len(self.maps)

    def words(self) -> list[str]:
        """The verdict on every map: two sentences each."""
        return [f"{name}: {line}" for name, quality in self.maps.items() for line in quality.verdict()]

    def to_dict(self) -> dict[str, Any]:
        """Plain lists and numbers, ready for JSON."""
        return {"maps": {name: quality.to_dict() for name, quality in self.maps.items()}}

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """The R_NX curves of all maps."""
        from importlib import import_module

        return import_module("lowdim.plot").r_nx(self, ax=ax, **options)

    def rows(self) -> tuple[list[str], list[list[str]]]:
        """The head and the rows of the table: one measure per row, one map or baseline per column."""
        first = next(iter(self.maps.values()))
        names = [name for name in baseline_names(first) if name not in ("original", "null")]
        body = []
        for name, measure in first.measures.items():
            cells = [_cell(quality[name]) if name in quality else "" for quality in self.maps.values()]
            others = [f"{measure.baselines[other]:z.3f}" if other in measure.baselines else "" for other in names]
            body.append([measure.title, *cells, *others])
        return ["measure", *self.maps, *map(baseline_title, names)], body

    def __str__(self) -> str:
        head, body = self.rows()
        rows = [head, *body]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [
            "  ".join(f"{c:<{w}}" if j == 0 else f"{c:>{w}}" for j, (c, w) in enumerate(zip(row, widths, strict=True)))
            for row in rows
        ]
        key = [self._key(), ""] if self._key() else []
        return "\n".join(line.rstrip() for line in [self._title(), "", *lines, "", *key, *self.words()])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        head, body = self.rows()
        said = [paragraph(line) for line in (self._key(), *self.words()) if line]
        return titled(self._title(), grid(head, body), *said)

    def _key(self) -> str:
        return NULL_KEY if any(quality.null is not None for quality in self.maps.values()) else ""

    def _title(self) -> str:
        first = next(iter(self.maps.values()))
        compared = "all rows" if first.exact else f"{count(len(first.rows), 'sampled row')} against all"
        return f"Quality of {count(len(self.maps), 'map')} of {count(first.n, 'row')}: k = {first.k}, {compared}"


def _cell(measure: Measure) -> str:
    """The value with its interval, and that of the method on shuffled columns if it was fitted to them."""
    null = measure.baselines.get("null")
    return measure.text if null is None else f"{measure.text} | {null:z.3f}"
