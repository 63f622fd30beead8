"""Is there structure? The index of the best frame against that of noise, searched for alike.

Noise is spherical and normal if the rows were sphered. If they were only standardized, it has their covariance: given
the covariance, the rows of a normal sample are as random as a rotation. For an index of classes, noise is the same rows
with the classes in random order, whatever the density of the rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from lowdim.linalg.dense_eigen import fix_signs
from lowdim.linear.projection_pursuit.indices import Array, Codes
from lowdim.linear.projection_pursuit.row_passes import RowPasses
from lowdim.linear.projection_pursuit.search import STREAMS, PursuitOptions, rows_at, sample_of, search
from lowdim.runtime.progress import report
from lowdim.runtime.random import normal
from lowdim.runtime.threads import ordered_map

__all__ = [
    "CLASSES",
    "CORRELATED",
    "SPHERICAL",
    "Noise",
    "monte_carlo_p_values",
    "noise_like",
    "null_distribution",
    "verdict",
]

NULL_SEED = 0x9E3779B97F4A7C15  # apart from the seeds of the restarts
SIGNIFICANT = 0.05
RANK_FLOOR = 1e-10  # of singular values: smaller ones are rounding

SPHERICAL = "spherical noise of this size"
CORRELATED = "noise of this size and covariance"
CLASSES = "these rows with classes in random order"


@dataclass(frozen=True)
class Noise:
    """Samples without structure."""

    name: str
    draw: Callable[[int], tuple[Array, Codes]]  # the rows and classes of the sample with this seed


def noise_like(Y: Array | RowPasses, codes: Codes, sphered: bool, seed: int) -> Noise:
    """Noise of as many rows as restarts see of Y: all of them, or a sample."""
    sample = sample_of(len(Y), seed)
    seen = rows_at(Y, sample)
    if codes is not None:
        classes = codes if sample is None else codes[sample]
        return Noise(CLASSES, lambda seed: (seen, classes[np.argsort(normal((len(seen),), seed, STREAMS))]))
    root = np.eye(Y.shape[1]) if sphered else _covariance_root(Y)

    def draw(seed: int) -> tuple[Array, Codes]:
        noise = normal((len(seen), len(root)), seed, STREAMS)
        noise = _sphered(noise) if sample is None else noise  # a sample of sphered rows is not quite sphered itself
        return noise if sphered else noise @ root, None

    return Noise(SPHERICAL if sphered else CORRELATED, draw)


def null_distribution(noise: Noise, options: PursuitOptions, n_null: int) -> Array:
    """The best index of samples of noise, each with as many restarts, (n_null,)."""
    alone = replace(options, threads=1, task="noise")

    def best_of_noise(i: int) -> float:
        seed = (options.seed + (i + 1) * NULL_SEED) % 2**64
        rows, classes = noise.draw(seed)
        return search(rows, classes, options.at_once, replace(alone, seed=seed), 0).sample_value

    values = []
    for value in ordered_map(best_of_noise, range(n_null), options.threads):
        values.append(value)
        report("noise", len(values), n_null)
    return np.array(values)


def monte_carlo_p_values(observed: Array, null: Array) -> Array:
    """(1 + how many of the null are at least as large) / (1 + their number), for each observed value."""
    above = (null[None, :] >= observed[:, None]).sum(axis=1)
    return (1.0 + above) / (1.0 + len(null))


def verdict(p_value: float, n_null: int, noise: str) -> str:
    """A p-value in words."""
    if p_value > SIGNIFICANT:
        return f"no more structure than {noise} (p = {p_value:.2g})"
    return f"more structure than in {n_null} samples of {noise} (p = {p_value:.2g})"


def _covariance_root(Y: Array | RowPasses) -> Array:
    """R (m, r) with RᵀR the covariance of the rows, of rank m."""
    P = Y.triangular_root() if isinstance(Y, RowPasses) else Y - Y.mean(axis=0)
    _, sizes, right = np.linalg.svd(P, full_matrices=False)
    m = int((sizes > RANK_FLOOR * sizes[0]).sum())
    return np.asarray(sizes[:m, None] * fix_signs(right[:m].T).T / np.sqrt(len(Y)))


def _sphered(noise: Array) -> Array:
    """Columns of mean 0, variance 1 and correlation 0."""
    return np.asarray(np.linalg.qr(noise - noise.mean(axis=0))[0] * np.sqrt(len(noise)))
