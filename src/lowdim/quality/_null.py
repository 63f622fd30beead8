"""The null model: the same method on shuffled columns (scDEED, EMBEDR). Is a point placed better than by chance?

A point's reliability is the correlation of two lists of map distances: those to the truly nearest half of the rows, in
the order of their true distances, and those to the half that is nearest in the map, sorted (Xia, Lee, Li 2024).
Shuffling every column keeps its values and destroys all relations between columns. Below the 5% quantile of the null a
point is dubious, above the 95% quantile it is trusted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.errors import BadInput, BadParameter
from lowdim.quality._distance_source import DistanceSource, embedding_source, read_embedding, read_source
from lowdim.quality._evaluate import measure
from lowdim.quality._quality import Quality
from lowdim.quality._refits import fitted_map, model_metric, refit
from lowdim.runtime.blas import single_blas
from lowdim.runtime.display import SummaryDisplay, count
from lowdim.runtime.param import Real
from lowdim.runtime.progress import report
from lowdim.runtime.random import Seed, seed_of
from lowdim.runtime.threads import thread_count

__all__ = ["NullComparison", "null", "reliability", "shuffled_columns"]

Array = NDArray[Any]
Floats = NDArray[np.float64]

LANDMARKS = 2000  # rows that all distances are measured to; all rows of a smaller table
DUBIOUS, TRUSTED = 0.05, 0.95  # quantiles of the null


@dataclass(frozen=True, eq=False, repr=False)
class NullComparison(SummaryDisplay):
    """The reliability of every point beside that of the same method on shuffled columns."""

    reliability: Floats  # (n,)
    null_reliability: Floats  # (n,) of the points of the null map
    quality: Quality  # of the null map, as a map of the shuffled rows
    embedding: Array = field(repr=False)  # (n, c) the null map

    @property
    def low(self) -> float:
        """The reliability below which a point is dubious."""
        return float(np.quantile(self.null_reliability, DUBIOUS))

    @property
    def high(self) -> float:
        """The reliability above which a point is trusted."""
        return float(np.quantile(self.null_reliability, TRUSTED))

    @property
    def dubious(self) -> NDArray[np.bool_]:
        """Whether a point is placed worse than nearly all of the null map, (n,)."""
        return np.asarray(self.reliability < self.low)

    @property
    def trusted(self) -> NDArray[np.bool_]:
        """Whether a point is placed better than nearly all of the null map, (n,)."""
        return np.asarray(self.reliability > self.high)

    @property
    def p_values(self) -> Floats:
        """The share of null points (and the point itself) that are at least as reliable, (n,), as in EMBEDR."""
        ordered = np.sort(self.null_reliability)
        above = len(ordered) - np.searchsorted(ordered, self.reliability, side="left")
        return np.asarray((1 + above) / (1 + len(ordered)))

    @property
    def point_values(self) -> Mapping[str, Array]:
        """What is told of every point."""
        return {"reliability": self.reliability, "null_p_value": self.p_values}

    def point_verdict(self, i: int) -> str:
        """What the comparison says of point i."""
        figures = f"reliability {self.reliability[i]:.2f}, p = {self.p_values[i]:.2g}"
        if self.trusted[i]:
            return f"It is placed better than on shuffled columns ({figures})."
        worse = "worse than nearly all points" if self.dubious[i] else "no better than points"
        return f"It is placed {worse} on shuffled columns ({figures})."

    def words(self) -> list[str]:
        """What the comparison says of the map."""
        n = len(self.reliability)
        return [
            f"{count(int(self.trusted.sum()), 'point')} of {n:,} are placed better than 95% of those on shuffled "
            "columns.",
            f"{count(int(self.dubious.sum()), 'point')} of {n:,} are dubious: worse than 95% of those on shuffled "
            "columns.",
        ]

    def to_dict(self) -> dict[str, Any]:
        """Plain lists and numbers, ready for JSON."""
        return {
            "reliability": self.reliability.tolist(),
            "null_reliability": self.null_reliability.tolist(),
            "p_values": self.p_values.tolist(),
            "low": self.low,
            "high": self.high,
            "dubious": int(self.dubious.sum()),
            "trusted": int(self.trusted.sum()),
            "measures": [measure.to_dict() for measure in self.quality],
        }

    def _summary(self) -> str:
        return " ".join(self.words())


def null(  # noqa: PLR0913
    model: Any,
    X: Any,
    *,
    Z: Any = None,
    k: int = 15,
    share: float = 0.5,
    labels: Any = None,
    sample: int | None = None,
    random_state: Seed = 0,
    n_jobs: int | None = None,
) -> NullComparison:
    """Fit a method to shuffled columns, and compare every point's reliability with that of the null map.

    Parameters
    ----------
    model : estimator
        The method, with its parameters; if it is fitted to X, its `embedding_` is the map.
    X : array, sparse matrix, memory map or dataframe
        The rows. Distances have no columns to shuffle.
    Z : table (n, c), optional
        The map, if it is known; else that of the model.
    k, labels, sample
        As in `measure`, for the measures of the null map.
    share : float
        The share of rows, the nearest ones, that the reliability of a point is computed from.
    random_state : int, generator or None
        Seed of the shuffles, and of the sample.
    n_jobs : int, optional
        Threads.

    """
    if not Real(0, 1, open=True).accepts(share):
        raise BadParameter(f"share must be {Real(0, 1, open=True).text}; got {share!r:.60}.")
    threads, seed = thread_count(n_jobs), seed_of(random_state)
    metric = model_metric(model)
    with single_blas():
        original = read_source(X, metric["metric"], metric["metric_params"], None, threads)
        points = read_embedding(fitted_map(model, X, original.n) if Z is None else Z, original.n, "Z")
        shuffled = shuffled_columns(original, seed)
        drawn = refit(model, shuffled)
        noise = read_source(shuffled, metric["metric"], metric["metric_params"], None, threads)
        ask = partial(reliability, share=share, seed=seed, threads=threads)
        values, null_values = ask(original, points), ask(noise, read_embedding(drawn, original.n, "the null map"))
        options = {"k": k, "labels": labels, "sample": sample, "baselines": (), "random_state": seed, "n_jobs": n_jobs}
        quality = measure(shuffled, drawn, **metric, **options)
    return NullComparison(values, null_values, quality, drawn)


def shuffled_columns(original: DistanceSource, seed: int) -> Any:
    """A copy of the rows in which every column is permuted by itself: an array, or a CSR matrix."""
    if original.metric.precomputed:
        raise BadInput("the null model shuffles columns, and distances have none. Give the rows, and their metric.")
    generator = np.random.Generator(np.random.Philox(key=[seed % 2**64, 0x5F]))
    whole = original.rows.whole()
    if not sp.issparse(whole):
        return generator.permuted(whole, axis=0)
    columns = sp.csc_array(whole, copy=True)
    for j in range(columns.shape[1]):
        part = slice(columns.indptr[j], columns.indptr[j + 1])
        columns.indices[part] = generator.choice(columns.shape[0], part.stop - part.start, replace=False)
    columns.has_sorted_indices = False
    columns.sort_indices()
    return sp.csr_array(columns)


def reliability(original: DistanceSource, points: Array, *, share: float, seed: int, threads: int) -> Floats:
    """The correlation of map distances in true order and in their own, of every point, (n,)."""
    n = original.n
    generator = np.random.Generator(np.random.Philox(key=[seed % 2**64, 0x1A]))
    landmarks = np.arange(n) if n <= LANDMARKS + 1 else np.sort(generator.choice(n, LANDMARKS, replace=False))
    half = max(2, int(share * (len(landmarks) - 1)))
    rows = np.arange(n)
    true, flat = original.blocks(rows, landmarks), embedding_source(points, threads).blocks(rows, landmarks)
    out = np.empty(n)
    size = max(1, (1 << 20) // len(landmarks))
    for start in range(0, n, size):
        stop = min(start + size, n)
        own = np.searchsorted(landmarks, rows[start:stop])
        own[own == len(landmarks)] = 0
        mine = landmarks[own] == rows[start:stop]
        d, z = true(start, stop).astype(np.float64), flat(start, stop).astype(np.float64)
        for part in (d, z):  # a row is not its own neighbor; it comes last
            part[np.flatnonzero(mine), own[mine]] = np.inf
        in_order = np.take_along_axis(z, np.argsort(d, axis=1, kind="stable")[:, :half], axis=1)
        out[start:stop] = _correlations(in_order, np.sort(z, axis=1)[:, :half])
        report("reliability of points", stop, n)
    return out


def _correlations(a: Floats, b: Floats) -> Floats:
    """Pearson's correlation row by row; 0 where a row is constant."""
    a, b = a - a.mean(axis=1, keepdims=True), b - b.mean(axis=1, keepdims=True)
    norms = np.sqrt((a * a).sum(axis=1) * (b * b).sum(axis=1))
    return np.divide((a * b).sum(axis=1), norms, out=np.zeros(len(a)), where=norms > 0)
