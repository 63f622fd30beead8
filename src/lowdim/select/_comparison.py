"""The result of `select.compare`: a table that can be printed, plotted, and made a dict or a dataframe."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import MissingExtra
from lowdim.runtime.display import TextDisplay
from lowdim.select._stability import Stability

__all__ = ["Comparison", "FilterResult", "aligned"]

Floats = NDArray[np.float64]

MOST_PRINTED = 25  # features in the printed table
NAME_WIDTH = 28


@dataclass(frozen=True, eq=False)
class FilterResult:
    """One filter: its ranking on all rows, how stable it is, and the scores of its features."""

    name: str
    scores: Floats  # (d,)
    ranking: NDArray[np.int64]  # (d,), 1 is the best
    support: NDArray[np.bool_]  # (d,)
    stability: Stability
    outside: Floats  # (folds,) scores after a selection on all rows: optimistic
    nested: Floats  # (folds,) scores with the selection repeated on the training rows of every fold

    @property
    def optimism(self) -> float:
        """By how much selecting before cross-validating overstates the score."""
        return float(self.outside.mean() - self.nested.mean())


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(TextDisplay):
    """Filters side by side on one table."""

    features: tuple[str, ...]
    k: int
    n: int
    classification: bool
    results: tuple[FilterResult, ...]
    agreement: Floats  # (F, F) Kendall's τ between rankings
    overlap: Floats  # (F, F) Jaccard index of the selections
    baseline: Floats  # (folds,) scores with all features

    @property
    def mean_ranking(self) -> Floats:
        """The mean rank of each feature over the filters, (d,)."""
        return np.mean([result.ranking for result in self.results], axis=0)

    @property
    def order(self) -> NDArray[np.intp]:
        """The features by their mean rank, best first, (d,)."""
        return np.argsort(self.mean_ranking, kind="stable")

    def to_dict(self) -> dict[str, Any]:
        """Plain lists and numbers, ready for JSON."""
        return {
            "n": self.n,
            "d": len(self.features),
            "k": self.k,
            "task": "classification" if self.classification else "regression",
            "features": list(self.features),
            "mean_ranking": self.mean_ranking.tolist(),
            "filters": [
                {
                    "name": result.name,
                    "scores": result.scores.tolist(),
                    "ranking": result.ranking.tolist(),
                    "selected": [self.features[j] for j in np.flatnonzero(result.support)],
                    "stability": result.stability.to_dict(),
                    "score_outside": result.outside.tolist(),
                    "score_nested": result.nested.tolist(),
                    "optimism": result.optimism,
                }
                for result in self.results
            ],
            "agreement": self.agreement.tolist(),
            "overlap": self.overlap.tolist(),
            "score_all_features": self.baseline.tolist(),
        }

    def to_pandas(self) -> Any:
        """One row per feature: its rank by each filter and the mean of them, best first."""
        try:
            import pandas as pd
        except ImportError as error:
            raise MissingExtra("a pandas table needs pandas: pip install pandas") from error
        columns = {result.name: result.ranking for result in self.results} | {"mean": self.mean_ranking}
        return pd.DataFrame(columns, index=pd.Index(self.features, name="feature")).iloc[self.order]

    def plot(self, ax: Any = None) -> Any:
        """The rankings as a heat map, with stability and scores below."""
        from importlib import import_module

        return import_module("lowdim.plot").rankings(self, ax=ax)

    def __str__(self) -> str:
        kind = "classes" if self.classification else "a measurement"
        head = (
            f"Which features? {self.n} rows, {len(self.features)} columns, target: {kind}. "
            f"Each filter selects {self.k} (marked *)."
        )
        return "\n\n".join([head, self._rank_table(), self._score_table(), self._agreement_table()])

    def _rank_table(self) -> str:
        names = [result.name for result in self.results]
        rows = [["feature", *names, "mean"]]
        for j in self.order[:MOST_PRINTED]:
            ranks = [f"{result.ranking[j]}{'*' if result.support[j] else ' '}" for result in self.results]
            rows.append([_short(self.features[j]), *ranks, f"{self.mean_ranking[j]:.1f}"])
        more = len(self.features) - MOST_PRINTED
        return aligned(rows) + (f"\n… and {more} more" if more > 0 else "")

    def _score_table(self) -> str:
        rows = [["filter", "stability", "score: selected outside", "nested", "optimism"]]
        rows += [
            [r.name, str(r.stability), f"{r.outside.mean():.3f}", f"{r.nested.mean():.3f}", f"{r.optimism:+.3f}"]
            for r in self.results
        ]
        rows.append(["all features", "", "", f"{self.baseline.mean():.3f}", ""])
        return aligned(rows)

    def _agreement_table(self) -> str:
        names = [result.name for result in self.results]
        rows = [["Kendall's τ", *names]]
        rows += [[name, *(f"{value:.2f}" for value in line)] for name, line in zip(names, self.agreement, strict=True)]
        return aligned(rows)


def _short(name: str) -> str:
    return name if len(name) <= NAME_WIDTH else name[: NAME_WIDTH - 1] + "…"


def aligned(rows: list[list[str]], left: int = 1) -> str:
    """Columns of equal width: the first ones to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for cells in rows:
        padded = [
            f"{cell:<{width}}" if j < left else f"{cell:>{width}}"
            for j, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ]
        lines.append("  ".join(padded).rstrip())
    return "\n".join(lines)
