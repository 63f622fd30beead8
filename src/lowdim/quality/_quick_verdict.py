"""A quick verdict: neighbor recall and Shepard correlation of a sample of rows, at a price far below that of a map.

The figures are those of `measure`. A random map needs no drawing here: on average it keeps k / (n - 1) of the
neighbors, and its distances have correlation 0 with the true ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.distance.metrics import MetricSpec
from lowdim.quality._assemble import shared_neighbors
from lowdim.quality._baselines import baseline_maps
from lowdim.quality._distance_source import DistanceSource, embedding_source, read_embedding, read_source
from lowdim.quality._intervals import Resamples, RowSample, sample_rows
from lowdim.quality._measure import DEFINITIONS, Measure
from lowdim.quality._rank_measures import Figure, as_figure
from lowdim.quality._shepard_correlation import shepard_correlation
from lowdim.quality._space_comparison import all_pairs
from lowdim.quality._words import far_sentence, near_sentence
from lowdim.runtime.blas import single_blas
from lowdim.runtime.random import Seed, seed_of
from lowdim.runtime.threads import thread_count

__all__ = ["QuickVerdict", "quick_verdict"]

Array = NDArray[Any]

SAMPLED = 400  # rows that are compared with all
PARTNERS = 64  # random others of each, for far distances
BLOCK_VALUES = 1 << 23  # distances in a block


@dataclass(frozen=True, eq=False)
class QuickVerdict:
    """Two figures of a map and their sentences."""

    n: int
    k: int
    sample: int  # rows that were compared with all
    recall: Measure
    correlation: Measure

    @property
    def sentences(self) -> list[str]:
        """On near neighbors, and on far distances."""
        return [near_sentence(self.recall, self.k), far_sentence(self.correlation)]

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and text, ready for JSON."""
        figures = {measure.name: measure.to_dict() for measure in (self.recall, self.correlation)}
        return {"verdict": self.sentences, "k": self.k, "sampled_rows": self.sample, **figures}


def quick_verdict(  # noqa: PLR0913
    X: Any,
    Z: Any,
    *,
    k: int = 15,
    metric: MetricSpec = "euclidean",
    metric_params: Mapping[str, Any] | None = None,
    beside_pca: bool = False,
    sample: int = SAMPLED,
    random_state: Seed = 0,
    n_jobs: int | None = None,
) -> QuickVerdict:
    """How many near neighbors a map keeps, and whether its far distances can be read, from a sample of its rows.

    Parameters are those of `measure`; `beside_pca` adds PCA with as many components to the random map. Of fewer than
    k + 2 rows, k is lowered.
    """
    threads, seed = thread_count(n_jobs), seed_of(random_state)
    with single_blas():
        original = read_source(X, metric, metric_params, None, threads)
        n = original.n
        k = min(k, n - 2)
        maps = {"map": read_embedding(Z, n, "Z")}
        if beside_pca:
            maps |= baseline_maps(original, ("pca",), maps["map"].shape[1], seed, threads)[0]
        rows = sample_rows(n, min(sample, n), PARTNERS, seed)
        true, pairs = _nearest(original, rows, k)
        resamples, for_pairs = Resamples.of(rows), Resamples.of(rows, always=True)
        found = {}
        for name, points in maps.items():
            drawn, flat = _nearest(embedding_source(points, threads), rows, k)
            kept = shared_neighbors(true, drawn) / k
            recall = as_figure(resamples.interval(kept[:, None], lambda means: means[..., 0]))
            found[name] = recall, shepard_correlation(pairs, flat, rows, for_pairs, threads)
    random = {"neighbor_recall": k / (n - 1), "shepard_correlation": 0.0}
    figures = zip(random, found["map"], found.get("pca", (None, None)), strict=True)
    recall_of, correlation_of = (_measure(name, own, random[name], pca, rows) for name, own, pca in figures)
    return QuickVerdict(n, k, len(rows.rows), recall_of, correlation_of)


def _nearest(source: DistanceSource, sample: RowSample, k: int) -> tuple[Array, Array]:
    """The k nearest rows of the sampled ones, (s, k), in any order, and the distances to their partners, (s, m).

    Of a small table whose rows are all sampled, the distances are those of all pairs, (n, n).
    """
    blocks, s = source.blocks(sample.rows), len(sample.rows)
    size = max(1, BLOCK_VALUES // sample.n)
    near, pairs = [], []
    for start in range(0, s, size):
        stop = min(start + size, s)
        distances = np.array(blocks(start, stop))
        own = sample.rows[start:stop]
        pairs.append(
            distances.copy()
            if all_pairs(sample)
            else np.take_along_axis(distances, sample.partners[start:stop], axis=1)
        )
        distances[np.arange(len(own)), own] = np.inf
        near.append(np.argpartition(distances, k - 1, axis=1)[:, :k].astype(np.int32))
    return np.concatenate(near), np.concatenate(pairs)


def _measure(name: str, own: Figure, random: float, pca: Figure | None, sample: RowSample) -> Measure:
    title, best, worst, per_point = DEFINITIONS[name]
    beside = {"random": random} | ({} if pca is None else {"pca": pca.value})
    exact = own.low is None
    used = sample.n if exact else len(sample.rows)
    return Measure(name, title, own.value, own.low, own.high, used, exact, best, worst, per_point, beside)
