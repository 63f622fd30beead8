"""In how many places of a map the true neighbors of a point are drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from lowdim.quality._quality import Quality

__all__ = ["neighbor_places"]

GAP = 0.1  # of the map's radius (root mean square distance from its center) that separates two places
CROWD = 2.0  # times the point's own distance to its k-th neighbor in the map, within which nothing is apart
FEWEST = 0.2  # of the neighbors, that make a place


def neighbor_places(quality: Quality, i: int) -> list[int]:
    """How many of point i's true neighbors are drawn in each place, the largest first; single ones are no place.

    Places are single-linkage clusters: two neighbors are in one place if a chain of others connects them, each link of
    which is shorter than a tenth of the map's radius.
    """
    from scipy.cluster.hierarchy import fcluster, linkage

    if quality.true_neighbors is None or quality.map_neighbors is None:
        return []
    Z = np.asarray(quality.embedding, dtype=np.float64)
    radius = float(np.sqrt(((Z - Z.mean(axis=0)) ** 2).sum(axis=1).mean()))
    crowd = float(np.linalg.norm(Z[quality.map_neighbors[i, -1]] - Z[i]))
    near = Z[quality.true_neighbors[i]]
    if len(near) < 2:
        return [len(near)]
    sizes = np.bincount(fcluster(linkage(near, "single"), max(GAP * radius, CROWD * crowd), "distance"))[1:]
    return sorted((int(size) for size in sizes if size >= max(2, FEWEST * len(near))), reverse=True)
