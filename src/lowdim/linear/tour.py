"""Tours: smooth sequences of projections of a table, for the eye (Asimov 1985; Buja, Cook, Asimov and Hurley 2005).

    Y = lowdim.sphere(X)
    for F in lowdim.guided_tour(Y, "holes"):
        draw(Y @ F)

A tour is an iterator of orthonormal frames F (d, k). Between target planes it follows geodesics in equal steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import count as endless
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.data.validation import FeatureRecord, read_matrix, read_rows
from lowdim.errors import BadInput, BadParameter
from lowdim.linalg.dense_eigen import eigh_largest
from lowdim.linalg.grassmann import geodesic, polar_frame
from lowdim.linear.projection_pursuit.catalog import SUPERVISED, index_domain, make_index
from lowdim.linear.projection_pursuit.class_indices import read_classes
from lowdim.linear.projection_pursuit.indices import Objective
from lowdim.linear.projection_pursuit.search import CANDIDATES, sample_of
from lowdim.linear.projection_pursuit.sphering import sphere_rows
from lowdim.linear.projection_pursuit.stiefel import ascend, random_frame
from lowdim.runtime.blas import single_blas
from lowdim.runtime.display import count
from lowdim.runtime.memory import require_memory
from lowdim.runtime.param import Integer, Real
from lowdim.runtime.random import Seed, seed_of
from lowdim.runtime.threads import thread_count

__all__ = ["grand_tour", "guided_tour", "interpolate", "local_tour", "sphere"]

Array = NDArray[np.float64]

STEP = 0.05  # radians between two frames
TOL = 1e-6  # of the guided tour's ascent: the gain of a step, as a share of the index
MOST_ASCENT = 4000  # steps, or random trials


def grand_tour(
    n_features: int, n_components: int = 2, *, step: float = STEP, random_state: Seed = 0
) -> Iterator[Array]:
    """A grand tour: frames (d, k) on the way from one random subspace to the next, without end.

    Sooner or later it comes close to every projection. It begins with the first k columns.

    Parameters
    ----------
    n_features, n_components : int
        d and k, with k < d.
    step : float
        The angle between two frames, in radians, at most.
    random_state : int, generator or None
        Seed of the targets.

    """
    d, k = _check_sizes(n_features, n_components)
    seed = seed_of(random_state)
    return interpolate(np.eye(d, k), (random_frame(d, k, seed, i) for i in endless()), step=step)


def local_tour(frame: Any, *, radius: float = 0.4, step: float = STEP / 2, random_state: Seed = 0) -> Iterator[Array]:
    """A local tour: from a frame (d, k) to random ones nearby and back, without end.

    Parameters
    ----------
    frame : array (d, k)
        Orthonormal columns.
    radius : float
        How far it goes: the norm of the principal angles, in radians, at most π/2.
    step, random_state
        As for `grand_tour`.

    """
    start = _check_frame(frame)
    _check("radius", radius, Real(0, np.pi / 2))
    (d, k), seed = start.shape, seed_of(random_state)

    def targets() -> Iterator[Array]:
        for i in endless():
            way = geodesic(start, random_frame(d, k, seed, i))
            yield way.frame(min(1.0, radius / max(way.length, np.finfo(float).tiny)))
            yield start

    return interpolate(start, targets(), step=step)


def guided_tour(
    X: Any,
    index: str | Callable[[Array], float] = "holes",
    y: Any = None,
    *,
    n_components: int = 2,
    restarts: int | None = None,
    step: float = STEP,
    random_state: Seed = 0,
) -> Iterator[Array]:
    """A guided tour: frames (d, k) that climb a projection index, from one local maximum to the next.

    From the best of a few random subspaces it ascends until the index stops growing, and then goes on to others.

    Parameters
    ----------
    X : array (n, d)
        Rows to be projected, X @ F. Indices are meant for sphered ones: `lowdim.sphere(X)`.
    index : str or function
        A projection index, as in `lowdim.ProjectionPursuit`, of its default parameters.
    y : array (n,), optional
        The class of each row, for 'lda' and 'pda'.
    n_components : int
        k, within the dimensions that the index measures.
    restarts : int, optional
        Ends at so many local maxima; None goes on without end.
    step, random_state
        As for `grand_tour`.

    """
    Y = np.asarray(read_matrix(X, "X"), dtype=np.float64)
    k = _check_sizes(Y.shape[1], n_components)[1]
    _check("index", index, index_domain)
    if restarts is not None:
        _check("restarts", restarts, Integer(1))
    measure, seed = make_index(index), seed_of(random_state)
    if measure.dimensions is not None and k > measure.dimensions:
        raise BadParameter(
            f"index {index!r} measures at most {count(measure.dimensions, 'dimension')}; got n_components={k}."
        )
    codes = read_classes(y, len(Y), str(index)) if index in SUPERVISED else None
    sample = sample_of(len(Y), seed)
    if sample is not None:
        Y, codes = Y[sample], None if codes is None else codes[sample]
    basis = _row_space(Y, k)  # the index of a direction without variance would mean nothing
    objective = measure.objective(Y @ basis, codes)

    def targets() -> Iterator[Array]:
        for i in endless() if restarts is None else range(restarts):
            start = _random_start(objective, basis, k, seed, i)
            for A in _apart(ascend(objective, start, TOL, seed + i), step):
                yield basis @ A

    ways = targets()
    return interpolate(next(ways), ways, step=step)


def interpolate(start: Any, targets: Iterable[Any], *, step: float = STEP) -> Iterator[Array]:
    """Frames (d, k) from a start along the geodesics to target subspaces, one after another, in equal steps.

    A frame reaches the subspace of its target, not the target's own axes: turning within the projection shows nothing.
    """
    frame = _check_frame(start)
    _check("step", step, Real(0, open=True))
    return _interpolated(frame, targets, step)


def sphere(X: Any, *, n_jobs: int | None = None) -> Array:
    """Sphered rows, (n, d): of mean 0, unit variance and no correlation, each column as near as possible to its own.

    The standardized rows times the inverse root of their correlation matrix (ZCA-cor; Kessy, Lewin and Strimmer 2018);
    directions without variance stay without.
    """
    record = FeatureRecord()
    with single_blas(), np.errstate(over="ignore", invalid="ignore"):
        sphered = sphere_rows(read_rows(record, X, fitting=True, min_rows=2), None, 0, thread_count(n_jobs))
        axes = sphered.standardized_backward()  # (r, d): √λ times the eigenvectors
        return np.asarray(sphered.rows @ (axes / np.linalg.norm(axes, axis=1, keepdims=True)))


def _interpolated(frame: Array, targets: Iterable[Any], step: float) -> Iterator[Array]:
    yield frame
    for target in targets:
        way = geodesic(frame, _check_frame(target))
        steps = int(np.ceil(way.length / step))
        for i in range(1, steps + 1):
            frame = way.frame(i / steps)
            yield frame


def _apart(steps: Iterator[tuple[Array, float]], step: float) -> Iterator[Array]:
    """Frames of an ascent that are at least a step apart, and its last one."""
    shown = last = None
    for last, _ in islice(steps, MOST_ASCENT):
        if shown is None or geodesic(shown, last).length >= step:
            shown = last
            yield shown
    if last is not shown and last is not None:
        yield last


def _random_start(objective: Objective, basis: Array, k: int, seed: int, restart: int) -> Array:
    """The best of a few random frames (r, k) within the basis (d, r).

    They are drawn among the columns of the rows and projected: the axes of sphered rows are those of rounding.
    """
    drawn = (random_frame(len(basis), k, seed, restart * CANDIDATES + j) for j in range(CANDIDATES))
    return max((polar_frame(basis.T @ F) for F in drawn), key=lambda A: objective(A)[0])


def _row_space(Y: Array, k: int) -> Array:
    """An orthonormal basis (d, r) of what the rows vary in."""
    centered = Y - Y.mean(axis=0)
    found = eigh_largest(centered.T @ centered)
    r = int((found.values > 1e-10 * max(float(found.values[0]), 0.0)).sum())
    if r <= k:  # of k dimensions there is one projection, and nowhere to go
        raise BadInput(f"the rows vary in {count(r, 'dimension')} only; a tour of {k} needs more.")
    return found.vectors[:, :r]


def _check_frame(frame: Any) -> Array:
    A = np.asarray(frame, dtype=np.float64)
    if A.ndim != 2 or A.shape[1] == 0 or A.shape[1] > A.shape[0] or not np.isfinite(A).all():
        raise BadInput(f"a frame must be (d, k) with 1 ≤ k ≤ d, of finite numbers; got shape {A.shape}.")
    if np.abs(A.T @ A - np.eye(A.shape[1])).max() > 1e-6:
        raise BadInput("a frame must have orthonormal columns. Use np.linalg.qr(frame)[0].")
    return A


def _check_sizes(d: int, k: int) -> tuple[int, int]:
    _check("n_features", d, Integer(1, np.iinfo(np.int32).max))  # as every table here
    _check("n_components", k, Integer(1))
    if k >= d:
        raise BadParameter(f"a tour needs more columns than components; got {d} and n_components={k}.")
    frames = 8 * 8 * int(d) * int(k)  # two ends of a way, their QR factors and principal directions, and a frame on it
    require_memory(frames, f"a tour of {d} columns", "Give fewer columns, or project them first.")
    return int(d), int(k)


def _check(name: str, value: Any, domain: Any) -> None:
    if not domain.accepts(value):
        raise BadParameter(f"{name} must be {domain.text}; got {value!r:.60}.")
