"""One pass over the original space, block by block, that compares it with all maps at once.

The distances of a block of sampled rows to all rows are measured and ranked once, and then compared with those in every
map. Nothing of size n × n is kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.quality._distance_source import DistanceSource
from lowdim.quality._intervals import RowSample
from lowdim.quality._rank_comparison import RankScale, compare_ranks, concordance, rank_rows, squared_sums
from lowdim.runtime.progress import report

__all__ = ["MapComparison", "OriginalSpace", "all_pairs", "compare_spaces"]

Array = NDArray[Any]
Floats = NDArray[np.float64]

BLOCK_VALUES = 1 << 22  # distances in a block
ALL_PAIRS_ROWS = 1500  # up to so many, the Shepard correlation is that of all pairs
MAX_EXPONENT = 400  # of a distance whose squares, and sums of them, are finite and do not vanish
SHEPARD_PAIRS = 200_000  # pairs that it is estimated from beyond


@dataclass(frozen=True, eq=False)
class OriginalSpace:
    """What is kept of the original space: the true neighbors of the sampled rows, and the distances of pairs."""

    neighbors: NDArray[np.int32]  # (s, k)
    pairs: Array  # (s, m) distances to the first m partners; (s, n) if all pairs are taken


@dataclass(frozen=True, eq=False)
class MapComparison:
    """What is kept of the comparison with one map, for every sampled row."""

    neighbors: NDArray[np.int32]  # (s, k) in the map
    pairs: Array  # (s, m)
    sums: Floats  # (s, 6), see `compare_ranks`
    counts: NDArray[np.int64]  # (s, g) others within K neighbors in both spaces
    squares: Floats  # (s, 3) Σ d², Σ d δ, Σ δ² of original (d) and map (δ) distances, each in a unit of its own
    concordant: Floats  # (s,) share of pairs of others that are ordered alike


def compare_spaces(
    original: DistanceSource, maps: list[DistanceSource], sample: RowSample, scale: RankScale, threads: int
) -> tuple[OriginalSpace, list[MapComparison]]:
    """Compare the original space with all maps, in one pass over the sampled rows."""
    s, n = len(sample.rows), sample.n
    size = max(1, min(1024, BLOCK_VALUES // n))
    measured = [source.blocks(sample.rows) for source in [original, *maps]]
    true: list[tuple[Any, ...]] = []
    drawn: list[list[tuple[Any, ...]]] = [[] for _ in maps]
    exponents = [_exponent(source(0, 1)) for source in measured]
    for start in range(0, s, size):
        stop = min(start + size, s)
        own, partners = sample.rows[start:stop], _partners(sample, start, stop)
        distances = measured[0](start, stop)
        ranks, nearest = rank_rows(distances, own, scale.k, threads)
        true.append((nearest, _pairs(distances, sample, start, stop)))
        units = _in_units(distances, exponents[0])
        for blocks, exponent, parts in zip(measured[1:], exponents[1:], drawn, strict=True):
            flat = blocks(start, stop)
            flat_ranks, flat_nearest = rank_rows(flat, own, scale.k, threads)
            sums, counts = compare_ranks(ranks, flat_ranks, scale, threads)
            parts.append(
                (
                    flat_nearest,
                    _pairs(flat, sample, start, stop),
                    sums,
                    counts,
                    squared_sums(units, _in_units(flat, exponent), own, threads),
                    concordance(ranks, flat_ranks, partners, threads),
                )
            )
        report("comparing neighbors", stop, s)
    return OriginalSpace(*_joined(true)), [MapComparison(*_joined(parts)) for parts in drawn]


def _exponent(distances: Array) -> int:
    """The power of two that distances are divided by before they are squared: 0 unless squares leave float64's range.

    It is read from one row: by the triangle inequality no distance is more than twice its largest.
    """
    exponent = int(np.frexp(distances.max(initial=0))[1])
    return exponent if abs(exponent) > MAX_EXPONENT else 0


def _in_units(distances: Array, exponent: int) -> Array:
    return np.ldexp(distances, -exponent) if exponent else distances


def _partners(sample: RowSample, start: int, stop: int) -> Array | None:
    return None if sample.exact else sample.partners[start:stop]


def _pairs(distances: Array, sample: RowSample, start: int, stop: int) -> Array:
    """The distances of the pairs that the Shepard correlation reads."""
    if all_pairs(sample):
        return distances
    m = -(-SHEPARD_PAIRS // len(sample.rows))
    return np.take_along_axis(distances, sample.partners[start:stop, :m], axis=1)


def all_pairs(sample: RowSample) -> bool:
    """Whether all pairs are taken."""
    return sample.exact and sample.n <= ALL_PAIRS_ROWS


def _joined(parts: list[tuple[Any, ...]]) -> list[Array]:
    return [np.concatenate(part) for part in zip(*parts, strict=True)]
