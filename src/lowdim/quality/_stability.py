"""Stability: does a map change when the method runs again, with other seeds or on resamples of the rows?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.data.table import NamedArrayRows
from lowdim.errors import BadParameter, NotEnoughData
from lowdim.knn.index import neighbors
from lowdim.quality._distance_source import read_embedding, read_source
from lowdim.quality._refits import fitted_map, model_metric, refit
from lowdim.runtime.blas import single_blas
from lowdim.runtime.display import SummaryDisplay, count
from lowdim.runtime.param import Integer, Maybe, Real
from lowdim.runtime.progress import report
from lowdim.runtime.random import Seed, seed_of
from lowdim.runtime.threads import thread_count

__all__ = ["MapStability", "procrustes", "stability"]

Array = NDArray[Any]
Floats = NDArray[np.float64]

LANDMARKS = 500  # rows that the variation of distances is measured to
MOVED = 0.5  # a point has moved in a run if fewer of its neighbors return


@dataclass(frozen=True, eq=False, repr=False)
class MapStability(SummaryDisplay):
    """How a map changes over runs. Values of points are NaN where no run has the point."""

    runs: int
    resample: float | None  # the share of rows in every run; None: all rows, other seeds
    k: int
    neighbor_return: Floats  # (n,) share of the k neighbors in the map that are neighbors in a run again
    distance_variation: Floats  # (n,) mean over others of the variance of their distance, over its squared mean
    displacement: Floats  # (n,) root mean square distance from the first map after Procrustes, in units of its radius
    moved: NDArray[np.int64]  # (n,) runs in which fewer than half of the neighbors return
    present: NDArray[np.int64]  # (n,) runs that had the point
    embedding: Array = field(repr=False)  # (n, c) the map that the runs are compared with
    embeddings: tuple[Array, ...] = field(repr=False)  # the runs, superimposed on it; NaN of rows left out

    @property
    def value(self) -> float:
        """The share of neighbors that return, over all points."""
        return float(np.nanmean(self.neighbor_return))

    @property
    def chance(self) -> float:
        """The same share of a random map."""
        return self.k / (len(self.neighbor_return) - 1)

    @property
    def point_values(self) -> Mapping[str, Array]:
        """What is told of every point."""
        return {
            "neighbor_return": self.neighbor_return,
            "distance_variation": self.distance_variation,
            "displacement": self.displacement,
            "moved": np.where(self.present > 0, self.moved / np.maximum(self.present, 1), np.nan),
        }

    def point_words(self, i: int) -> list[str]:
        """What the runs say of point i."""
        if self.present[i] == 0:
            return ["No run had this point."]
        return [
            f"It moved in {self.moved[i]} of {self.present[i]} reruns.",
            f"On average {self.neighbor_return[i] * self.k:.1f} of the {self.k} drawn near it return.",
        ]

    def words(self) -> list[str]:
        """What the runs say of the map."""
        what = "other seeds" if self.resample is None else f"{self.resample:.0%} of the rows"
        often = int((self.moved > self.present / 2).sum())
        return [
            f"In {count(self.runs, 'rerun')} with {what}, {self.value:.0%} of the {self.k} nearest in the map return "
            f"(a random map: {self.chance:.1%}).",
            f"{count(often, 'point')} of {len(self.moved):,} moved in more than half of the reruns.",
        ]

    def to_dict(self) -> dict[str, Any]:
        """Plain lists and numbers, ready for JSON."""
        points = {
            name: [None if value != value else value for value in values.tolist()]
            for name, values in self.point_values.items()
        }
        return {
            "runs": self.runs,
            "resample": self.resample,
            "k": self.k,
            "value": self.value,
            "chance": self.chance,
            "points": points,
        }

    def _summary(self) -> str:
        return " ".join(self.words())


def stability(
    model: Any,
    X: Any,
    *,
    runs: int = 10,
    resample: float | None = None,
    k: int = 15,
    Z: Any = None,
    random_state: Seed = 0,
    n_jobs: int | None = None,
) -> MapStability:
    """Fit a method again, and say how far its map stays as it is.

    Parameters
    ----------
    model : estimator
        The method, with its parameters; if it is fitted to X, its `embedding_` is the map that runs are compared with.
    X : array, sparse matrix, memory map or dataframe
        The rows.
    runs : int
        Fits.
    resample : float, optional
        Share of the rows, drawn without replacement, that every run is fitted to; None takes all, with other seeds.
    k : int
        Neighbors in the map of which it is asked whether they return.
    Z : table (n, c), optional
        The map, if it is known.
    random_state : int, generator or None
        Seed of the runs.
    n_jobs : int, optional
        Threads.

    """
    _check_options(runs, resample, k)
    threads, seed = thread_count(n_jobs), seed_of(random_state)
    metric = model_metric(model)
    source = read_source(X, metric["metric"], metric["metric_params"], None, threads)
    n = source.n
    kept = n if resample is None else max(4, round(resample * n))
    if k > kept - 2:
        raise NotEnoughData(f"k must be at most {kept - 2}, two less than the rows of a run ({kept}); got {k}.")
    reference = read_embedding(fitted_map(model, X, n) if Z is None else Z, n, "Z")
    tally = _Tally(reference, k, seed, threads)
    for run in range(runs):
        generator = np.random.Generator(np.random.Philox(key=[seed % 2**64, 0x57AB + run]))
        rows = np.arange(n) if resample is None else np.sort(generator.choice(n, kept, replace=False))
        data = X if resample is None else _part(source, rows)
        with single_blas():
            tally.add(rows, refit(model, data, (seed + 1 + run) % 2**31))
        report("refitting", run + 1, runs)
    return tally.result(resample)


class _Tally:
    """What the runs so far say of every point."""

    def __init__(self, reference: Array, k: int, seed: int, threads: int) -> None:
        self.reference, self.k, self.seed, self.threads = reference.astype(np.float64), k, seed, threads
        n = len(reference)
        generator = np.random.Generator(np.random.Philox(key=[seed % 2**64, 0x1A2]))
        self.landmarks = np.sort(generator.choice(n, min(n, LANDMARKS), replace=False))
        self.returned, self.moved, self.present = np.zeros(n), np.zeros(n, np.int64), np.zeros(n, np.int64)
        self.squares = np.zeros(n)
        self.runs: list[Array] = []

    def add(self, rows: NDArray[np.intp], Z: Array) -> None:
        """One more run, which had these rows."""
        before = neighbors(self.reference[rows], self.k, n_jobs=self.threads, random_state=self.seed).indices
        after = neighbors(Z, self.k, n_jobs=self.threads, random_state=self.seed).indices
        both = np.sort(np.concatenate([before, after], axis=1), axis=1)
        share = (both[:, 1:] == both[:, :-1]).sum(axis=1) / self.k
        self.returned[rows] += share
        self.moved[rows] += share < MOVED
        self.present[rows] += 1
        whole = np.full(self.reference.shape, np.nan)
        whole[rows] = procrustes(self.reference[rows], Z)
        self.squares[rows] += ((whole - self.reference)[rows] ** 2).sum(axis=1)
        self.runs.append(whole)

    def result(self, resample: float | None) -> MapStability:
        """What all runs say."""
        times = np.where(self.present > 0, self.present, np.nan)
        centered = self.reference - self.reference.mean(axis=0)
        radius = np.sqrt((centered**2).sum(axis=1).mean())
        return MapStability(
            len(self.runs),
            resample,
            self.k,
            self.returned / times,
            self._variation(),
            np.sqrt(self.squares / times) / radius,
            self.moved,
            self.present,
            self.reference,
            tuple(self.runs),
        )

    def _variation(self) -> Floats:
        """The mean over landmarks of Var(d_ij) / E(d_ij)² over the runs that had both, (n,)."""
        n, out = len(self.reference), np.full(len(self.reference), np.nan)
        for start in range(0, n, 256):
            stop = min(start + 256, n)
            some = np.stack([_distances(run[start:stop], run[self.landmarks]) for run in self.runs])
            own = np.arange(start, stop)[:, None] == self.landmarks
            there = np.isfinite(some)
            times = np.maximum(there.sum(axis=0), 1)
            mean = np.where(there, some, 0).sum(axis=0) / times
            variance = np.where(there, (some - mean) ** 2, 0).sum(axis=0) / times
            known = (there.sum(axis=0) > 1) & ~own & (mean > 0)
            ratio = np.divide(variance, mean**2, out=np.zeros_like(mean), where=known)
            counted = known.sum(axis=1)
            out[start:stop] = np.where(counted > 0, ratio.sum(axis=1) / np.maximum(counted, 1), np.nan)
        return out


def procrustes(target: Array, Z: Array) -> Floats:
    """Z moved, turned, reflected and scaled so that it is nearest to the target in squares, (n, c)."""
    target, Z = np.asarray(target, dtype=np.float64), np.asarray(Z, dtype=np.float64)
    middle, own = target.mean(axis=0), Z.mean(axis=0)
    A, B = target - middle, Z - own
    U, s, Vt = np.linalg.svd(B.T @ A, full_matrices=False)
    norm = (B * B).sum()
    scale = s.sum() / norm if norm > 0 else 0.0
    moved: Floats = scale * B @ (U @ Vt) + middle
    return moved


def _distances(A: Floats, B: Floats) -> Floats:
    apart = A[:, None, :] - B
    return np.sqrt((apart * apart).sum(axis=2))


def _part(source: Any, rows: NDArray[np.intp]) -> Any:
    if source.metric.precomputed:
        return source.rows.whole()[np.ix_(rows, rows)]
    chosen = source.rows.whole()[rows]
    return chosen if source.rows.sparse else NamedArrayRows(chosen, getattr(source.rows, "feature_names", None))


def _check_options(runs: int, resample: float | None, k: int) -> None:
    for name, value, domain in (
        ("runs", runs, Integer(2)),
        ("resample", resample, Maybe(Real(0, 1, open=True))),
        ("k", k, Integer(1)),
    ):
        if not domain.accepts(value):
            raise BadParameter(f"{name} must be {domain.text}; got {value!r:.60}.")
