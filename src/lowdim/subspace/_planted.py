"""Planted subspace clusters: data whose clusters, rows and dimensions, are known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.data.datasets.synthetic import draw_subspaces
from lowdim.data.table import default_names
from lowdim.errors import BadParameter
from lowdim.runtime.param import Integer, Real
from lowdim.runtime.random import Seed
from lowdim.subspace._cluster import SubspaceCluster, make_cluster

__all__ = ["PlantedClusters", "planted_clusters"]

RULES = {
    "n": Integer(2, 10_000_000),
    "d": Integer(2, 10_000),
    "n_clusters": Integer(1, 1000),
    "n_dimensions": Integer(1, 10_000),
    "width": Real(0, 1, open=True),
    "noise": Real(0, 1),
}


@dataclass(frozen=True, eq=False)
class PlantedClusters:
    """Rows, and the subspace clusters that were planted in them."""

    X: NDArray[np.float64]  # (n, d) values in 0 … 1
    clusters: list[SubspaceCluster]
    labels: NDArray[np.int64]  # (n,) -1 for noise


def planted_clusters(
    n: int = 1000,
    d: int = 10,
    n_clusters: int = 3,
    n_dimensions: int = 4,
    *,
    width: float = 0.1,
    noise: float = 0.1,
    random_state: Seed = 0,
) -> PlantedClusters:
    """Plant clusters in random subspaces of uniform data.

    Every cluster has its own `n_dimensions` columns, in which its rows are uniform in a box of side `width`. In all
    other columns, and if they belong to no cluster, rows are uniform from 0 to 1.

    Parameters
    ----------
    n, d : int
        Rows and columns.
    n_clusters, n_dimensions : int
        Clusters, of equal size, and the dimensions of each.
    width : float
        Side of the box that a cluster fills; the columns have range 1.
    noise : float
        Share of rows that are in no cluster.
    random_state : seed
        The same seed gives the same bits.

    """
    given = {"n": n, "d": d, "n_clusters": n_clusters, "n_dimensions": n_dimensions, "width": width, "noise": noise}
    _check(given)
    X, labels, dimensions = draw_subspaces(n, d, n_clusters, n_dimensions, width, noise, random_state)
    names = default_names(d)
    planted = [(np.flatnonzero(labels == c), own) for c, own in enumerate(dimensions)]
    clusters = [make_cluster(rows, own, names) for rows, own in planted if len(rows)]
    return PlantedClusters(X, clusters, labels)


def _check(given: dict[str, Any]) -> None:
    for name, value in given.items():
        if not RULES[name].accepts(value):
            raise BadParameter(f"planted_clusters: {name} must be {RULES[name].text}; got {value!r:.60}.")
    if given["n_dimensions"] > given["d"]:
        raise BadParameter(f"planted_clusters: n_dimensions={given['n_dimensions']} must be at most d={given['d']}.")
