"""Bootstrap intervals over sampled rows, and the rows that are sampled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Resamples", "RowSample", "sample_rows"]

Array = NDArray[Any]
Floats = NDArray[np.float64]

EXACT_ROWS = 10_000  # up to so many, all rows are compared with all
MOST_SAMPLED, FEWEST_SAMPLED = 2000, 500
RANKED_VALUES = 70_000_000  # distances that are ranked per space, which bounds the sample of a large table
REPLICATES = 400  # of the bootstrap
CONFIDENCE = 0.95


@dataclass(frozen=True, eq=False)
class RowSample:
    """The rows whose distances to all rows are ranked, ascending, and the random partners of each."""

    rows: NDArray[np.intp]  # (s,)
    n: int
    partners: NDArray[np.intp]  # (s, m) other rows, of which pairs and triplets are made
    seed: int

    @property
    def exact(self) -> bool:
        """Whether these are all rows."""
        return len(self.rows) == self.n


def sample_rows(n: int, sample: int | None, partners: int, seed: int) -> RowSample:
    """All rows of a small table, else a random sample without replacement; `partners` random others for each."""
    size = _default_size(n) if sample is None else min(sample, n)
    generator = np.random.Generator(np.random.Philox(key=[seed % 2**64, 0x9A7]))
    rows = np.arange(n) if size == n else np.sort(generator.choice(n, size, replace=False, shuffle=False))
    others = generator.integers(0, n - 1, size=(len(rows), partners))
    return RowSample(rows.astype(np.intp), n, (others + (others >= rows[:, None])).astype(np.intp), seed)


def _default_size(n: int) -> int:
    return n if n <= EXACT_ROWS else int(np.clip(RANKED_VALUES // n, FEWEST_SAMPLED, MOST_SAMPLED))


@dataclass(frozen=True, eq=False)
class Resamples:
    """How often each sampled row is drawn in every bootstrap replicate; None of a table that was measured exactly.

    Rows are sampled without replacement, so that intervals shrink by √(1 - s / n).
    """

    counts: Floats | None  # (B, s)
    shrink: float

    @classmethod
    def of(cls, sample: RowSample, *, always: bool = False) -> Resamples:
        """Those of a sample; `always` for what is sampled even where all rows are."""
        s = len(sample.rows)
        if sample.exact and not always:
            return cls(None, 0.0)
        generator = np.random.Generator(np.random.Philox(key=[sample.seed % 2**64, 0xB007]))
        counts = generator.multinomial(s, np.full(s, 1 / s), size=REPLICATES).astype(np.float64)
        return cls(counts, 1.0 if sample.exact else float(np.sqrt(1 - s / sample.n)))

    def interval(self, statistics: Floats, measure: Callable[[Floats], Any]) -> tuple[Any, Any, Any]:
        """measure(means of the statistics, (…, c)), and its 95% interval; None twice without resamples."""
        value = measure(statistics.mean(axis=0))
        if self.counts is None:
            return value, None, None
        drawn = measure(self.counts @ statistics / len(statistics))
        return (value, *self.bounds(value, drawn))

    def bounds(self, value: Any, drawn: Array) -> tuple[Any, Any]:
        """The percentile interval of replicates, drawn in by the share of rows that were measured."""
        tail = (1 - CONFIDENCE) / 2
        low, high = (np.quantile(drawn, q, axis=0) for q in (tail, 1 - tail))
        return value - (value - low) * self.shrink, value + (high - value) * self.shrink
