"""The search for a frame: seeded restarts of the ascent, and further directions after the structure of the first.

Two restarts begin where clusters and outliers usually lie, in the eigenvectors of a fourth moment; the others in random
frames, or where a smoother index leads from there. On many rows the restarts see a sample of them, and the best one
goes on with all rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.special
import scipy.stats
from numpy.typing import NDArray

from lowdim.linalg.dense_eigen import eigh
from lowdim.linear.projection_pursuit.indices import Array, Codes, Objective, ProjectionIndex
from lowdim.linear.projection_pursuit.row_passes import RowPasses, times
from lowdim.linear.projection_pursuit.stiefel import Ascent, maximize, random_frame
from lowdim.runtime.progress import report
from lowdim.runtime.random import normal
from lowdim.runtime.threads import ordered_map

__all__ = ["Found", "PursuitOptions", "kurtosis_frames", "pursue", "remove_structure", "rows_at", "sample_of", "search"]

MOST_ROWS = 5_000  # that restarts see
CANDIDATES = 4  # random frames for each start, of which the best is taken
GUIDE_STEPS, GUIDE_TOL = 100, 1e-4  # of the ascent to a maximum of the guide
STREAMS = 1 << 20  # of random numbers, for each search
SAMPLE_STREAM = 1 << 40


@dataclass(frozen=True)
class PursuitOptions:
    """How frames are searched for."""

    index: ProjectionIndex
    n_components: int
    n_init: int
    max_iter: int
    tol: float
    deflation: str  # "structure_removal" or "orthogonal"
    seed: int
    threads: int
    task: str = "projection pursuit"

    @property
    def at_once(self) -> int:
        """The columns of a frame that are searched for together: all of them, or one."""
        most = self.index.dimensions
        return self.n_components if most is None or self.n_components <= most else 1


@dataclass(frozen=True)
class Found:
    """The best frame of a search."""

    frame: Array  # (r, k)
    value: float  # of the index, on all rows
    sample_value: float  # of the index, on the rows that the restarts saw
    paths: list[Array]  # of each restart
    best: Array  # the path of the best restart, with what followed on all rows
    converged: bool


def pursue(Y: Array | RowPasses, codes: Codes, options: PursuitOptions) -> list[Found]:
    """One search for all columns of the frame, or one for each with the structure of those before removed."""
    k = options.n_components
    if options.at_once == k:
        return [search(Y, codes, k, options, 0)]
    found: list[Found] = []
    basis: Array | None = None  # of the space that is searched, unless it is all
    for i in range(k):
        one = search(_on(Y, basis), codes, 1, options, i)
        a = one.frame if basis is None else basis @ one.frame
        found.append(replace(one, frame=a))
        if options.deflation == "orthogonal":
            basis = _complement(np.hstack([f.frame for f in found]))
        else:
            Y = remove_structure(Y, a[:, 0])
    return found


def search(Y: Array | RowPasses, codes: Codes, k: int, options: PursuitOptions, stage: int) -> Found:
    """The best of n_init ascents: from the frames of extreme kurtosis, and from random ones."""
    sample = sample_of(len(Y), options.seed)
    rows, classes = rows_at(Y, sample), codes if codes is None or sample is None else codes[sample]
    objective = options.index.objective(rows, classes)
    guide = None if options.index.guide is None else options.index.guide.objective(rows, classes)
    known = kurtosis_frames(rows, k)[: options.n_init // 2]

    def run(i: int) -> Ascent:
        stream = stage * STREAMS + i
        if i < len(known):
            start = known[i]
        elif guide is not None and i % 3:  # two of three: what the guide does not see is left to the third
            start = _best_random_frame(guide, (Y.shape[1], k), options.seed, stream)
            start = maximize(guide, start, GUIDE_STEPS, GUIDE_TOL, options.seed + stream, lambda value: None).frame
        else:
            start = _best_random_frame(objective, (Y.shape[1], k), options.seed, stream)
        return maximize(objective, start, options.max_iter, options.tol, options.seed + stream, _telling(options, i))

    ascents = []
    for ascent in ordered_map(run, range(options.n_init), options.threads):
        ascents.append(ascent)
        report(options.task, len(ascents), options.n_init)
    winner = max(ascents, key=lambda ascent: ascent.value)  # the first of equal ones
    paths = [ascent.path for ascent in ascents]
    if sample is None:
        return Found(winner.frame, winner.value, winner.value, paths, winner.path, winner.converged)
    objective = options.index.objective(Y, codes)
    tell = _telling(options, options.n_init)
    last = maximize(objective, winner.frame, options.max_iter, options.tol, options.seed, tell)
    whole = np.concatenate([winner.path, last.path])
    return Found(last.frame, last.value, winner.value, paths, whole, last.converged)


def sample_of(n: int, seed: int) -> NDArray[np.intp] | None:
    """Indices of the rows that restarts see, in order; None if they see all."""
    if n <= MOST_ROWS:
        return None
    return np.sort(np.argsort(normal((n,), seed, SAMPLE_STREAM), kind="stable")[:MOST_ROWS])


def rows_at(Y: Array | RowPasses, sample: NDArray[np.intp] | None) -> Array:
    """The rows that restarts see: a sample, or all."""
    if isinstance(Y, RowPasses):
        return Y.at(np.arange(len(Y)) if sample is None else sample)
    return Y if sample is None else Y[sample]


def remove_structure(Y: Array | RowPasses, a: Array) -> Any:
    """Rows whose scores on the unit vector a are normal, by their ranks, and otherwise as they were (Friedman 1987)."""
    z = times(Y, a[:, None])[:, 0]
    quantiles = scipy.special.ndtri((scipy.stats.rankdata(z) - 0.5) / len(z))
    deviation = float(quantiles.std())
    steps = quantiles / (deviation or 1.0) - z
    return Y.shifted(steps, a) if isinstance(Y, RowPasses) else Y + np.outer(steps, a)


def kurtosis_frames(Y: Array, k: int) -> list[Array]:
    """Frames (r, k) of the directions of least and of largest kurtosis, by the fourth moment E[‖y‖² y yᵀ] (FOBI).

    Groups of similar sizes lower it along the directions that separate them, outliers and small groups raise it
    (invariant coordinate selection: Tyler, Critchley, Dümbgen and Oja 2009).
    """
    axes = eigh((Y * np.einsum("ij,ij->i", Y, Y)[:, None]).T @ Y / len(Y))[1]
    return [np.ascontiguousarray(axes[:, :k]), np.ascontiguousarray(axes[:, ::-1][:, :k])]


def _best_random_frame(objective: Objective, shape: tuple[int, int], seed: int, stream: int) -> Array:
    """The best of a few random frames."""
    starts = [random_frame(*shape, seed, stream * CANDIDATES + j) for j in range(CANDIDATES)]
    return max(starts, key=lambda A: objective(A)[0])


def _telling(options: PursuitOptions, done: int) -> Callable[[float], None]:
    return lambda value: report(options.task, done, options.n_init, index=value)


def _on(Y: Array | RowPasses, basis: Array | None) -> Array | RowPasses:
    """The rows in the coordinates of a basis."""
    if basis is None:
        return Y
    return Y.on(basis) if isinstance(Y, RowPasses) else Y @ basis


def _complement(A: Array) -> Array:
    """An orthonormal basis of the space orthogonal to the columns of A, (r, r - k)."""
    return np.linalg.qr(A, mode="complete")[0][:, A.shape[1] :]
