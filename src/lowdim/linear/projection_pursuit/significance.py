"""Is there structure? The index of the best frame against that of spherical normal noise, searched for alike."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lowdim.linear.projection_pursuit.indices import Array, Codes
from lowdim.linear.projection_pursuit.search import STREAMS, PursuitOptions, sample_of, search
from lowdim.runtime.progress import report
from lowdim.runtime.random import normal
from lowdim.runtime.threads import ordered_map

__all__ = ["monte_carlo_p_values", "null_distribution", "verdict"]

NULL_SEED = 0x9E3779B97F4A7C15  # apart from the seeds of the restarts
SIGNIFICANT = 0.05


def null_distribution(n: int, r: int, codes: Codes, options: PursuitOptions, n_null: int) -> Array:
    """The best index of spherical normal samples of n rows and r columns, each with as many restarts, (n_null,).

    Where restarts see a sample of the rows, so they do here. Whole samples are sphered, as the rows were.
    """
    sample = sample_of(n, options.seed)
    size = n if sample is None else len(sample)
    classes = codes if sample is None or codes is None else codes[sample]
    alone = replace(options, threads=1, task="spherical noise")

    def best_of_noise(i: int) -> float:
        seed = (options.seed + (i + 1) * NULL_SEED) % 2**64
        noise = normal((size, r), seed, STREAMS)
        if sample is None:
            noise = _sphered(noise)
        return search(noise, classes, options.at_once, replace(alone, seed=seed), 0).sample_value

    values = []
    for value in ordered_map(best_of_noise, range(n_null), options.threads):
        values.append(value)
        report("spherical noise", len(values), n_null)
    return np.array(values)


def monte_carlo_p_values(observed: Array, null: Array) -> Array:
    """(1 + how many of the null are at least as large) / (1 + their number), for each observed value."""
    above = (null[None, :] >= observed[:, None]).sum(axis=1)
    return (1.0 + above) / (1.0 + len(null))


def verdict(p_value: float, n_null: int) -> str:
    """A p-value in words."""
    if p_value > SIGNIFICANT:
        return f"no more structure than spherical noise of this size (p = {p_value:.2g})"
    return f"more structure than in {n_null} samples of spherical noise of this size (p = {p_value:.2g})"


def _sphered(noise: Array) -> Array:
    """Columns of mean 0, variance 1 and correlation 0."""
    return np.asarray(np.linalg.qr(noise - noise.mean(axis=0))[0] * np.sqrt(len(noise)))
