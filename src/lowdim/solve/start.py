"""Where a map starts: principal components, eigenvectors of the affinities, chance, or given places."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.data.rows import Rows
from lowdim.errors import BadInput
from lowdim.random import normal
from lowdim.solve.principal import Plan, principal_axes
from lowdim.solve.umap_start import spectral
from lowdim.summaries.affinities import Affinities
from lowdim.summaries.centred import Centred
from lowdim.summaries.fuzzy import Fuzzy

__all__ = ["start_map"]

Array = NDArray[Any]

SPREAD = 1e-4  # standard deviation of the first axis: points start close, and find their neighbours
FARTHEST = 1e6  # of a place that is given: float32 keeps apart what is there


def start_map(init: str | Array, rows: Rows | None, P: Affinities, k: int, seed: int, threads: int) -> Array:
    """The first map, (n, k) in float32. Without rows, 'pca' stands for 'spectral'."""
    if isinstance(init, np.ndarray):
        return _given(init, P.n, k)
    if init == "random":
        return (SPREAD * normal((P.n, k), seed)).astype(np.float32)
    if init == "pca" and rows is not None:
        axes = principal_scores(rows, k, seed, threads)
    else:
        axes = slow_scores(P, k, seed, threads)
    missing = k - axes.shape[1]
    if missing:  # fewer columns than axes: chance takes their place, unless all rows are equal
        axes = np.hstack([axes, axes.std() * normal((P.n, missing), seed)])
    spread = float(axes[:, 0].std())
    return (axes * (SPREAD / spread) if spread > 0 else np.zeros_like(axes)).astype(np.float32)


def principal_scores(rows: Rows, k: int, seed: int, threads: int) -> Array:
    """Scores on at most k principal components, in float64."""
    axes = principal_axes(rows, None, Plan(min(k, rows.d, rows.count), 0, False, None, 200, seed, threads))
    factors = None if axes.scale is None else 1 / axes.scale
    scores = Centred(rows, axes.mean, factors, None, threads).times(axes.vectors).astype(np.float64)
    largest = float(np.abs(scores).max(initial=0.0))
    return scores / largest if largest > 0 else scores  # squares of them then neither overflow nor vanish


def slow_scores(P: Affinities, k: int, seed: int, threads: int) -> Array:
    """Eigenvectors of the graph of affinities, each part of it beside the others, with a little chance in them."""
    vectors = spectral(Fuzzy(P.starts, P.columns, P.values, lengths=P.values), k, seed, threads)  # no length is read
    sizes = vectors.std(axis=0)
    vectors = vectors / np.where(sizes > 0, sizes, 1)
    return np.asarray(vectors + 0.01 * normal(vectors.shape, seed, stream=1))  # equal entries part


def _given(init: Array, n: int, k: int) -> Array:
    if init.shape != (n, k) or init.dtype.kind not in "fiu":
        raise BadInput(f"init must hold numbers of shape ({n}, {k}), a place for each row; got {init.shape}.")
    if not (np.abs(init) <= FARTHEST).all():  # nor is NaN
        raise BadInput(f"init must hold finite numbers of at most {FARTHEST:g}. Scale it to a span of 1e-4 to 100.")
    return init.astype(np.float32)
