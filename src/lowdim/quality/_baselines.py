"""Baselines: a random map, and PCA with as many components."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadParameter
from lowdim.linear.pca import PCA
from lowdim.quality._distance_source import DistanceSource
from lowdim.runtime.random import normal

__all__ = ["BASELINES", "baseline_maps"]

Array = NDArray[Any]

make_pca: Any = PCA  # its parameters are declared by fields that type checkers do not see

BASELINES = ("random", "pca")
RANDOM_STREAM = 0x51  # of the random map


def baseline_maps(
    original: DistanceSource, names: Sequence[str], columns: int, seed: int, threads: int
) -> tuple[dict[str, Array], list[str]]:
    """The maps of the baselines asked for, by name, and what could not be made, and why."""
    unknown = [name for name in names if name not in BASELINES] if not isinstance(names, str) else [names]
    if unknown:
        raise BadParameter(
            f"baselines must be a sequence of {', '.join(map(repr, BASELINES))}; got {unknown[0]!r:.60}."
        )
    maps: dict[str, Array] = {}
    notes: list[str] = []
    if "random" in names:
        maps["random"] = normal((original.n, columns), seed, RANDOM_STREAM, np.float32, threads)
    if "pca" in names:
        reason = _without_pca(original)
        if reason is None:
            most = min(columns, original.rows.d, original.n - 1)
            maps["pca"] = np.asarray(make_pca(n_components=most, n_jobs=threads).fit_transform(original.rows))
        else:
            notes.append(f"PCA is not among the baselines: {reason}.")
    return maps, notes


def _without_pca(original: DistanceSource) -> str | None:
    """Why there is no PCA, or None."""
    if original.metric.precomputed:
        return "distances were given, and no rows"
    if original.metric.missing:
        return "the rows have categories or missing values"
    return None
