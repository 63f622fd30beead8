"""MineClus: projective clusters by frequent sets of dimensions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lowdim.base.estimator import estimator
from lowdim.runtime.param import Integer, param
from lowdim.subspace._frequent_dimensions import DimensionSet, best_frequent_set
from lowdim.subspace._projective import ProjectiveClusterer

__all__ = ["MineClus"]


@estimator(title="projective clusters by frequent sets of dimensions (MineClus)", summary="rows")
class MineClus(ProjectiveClusterer):
    """MineClus: the best box around each of some random rows, exactly, by frequent-pattern mining.

    A projective cluster has at least a share `alpha` of the rows, all within `width` of a row in some dimensions. The
    best one has the largest quality, rows · (1 / β)^dimensions. Around a given row, it is a frequent set: rows are
    transactions, and the dimensions in which they are near are items. The best of 2 / α random rows gives a cluster,
    its rows are taken out, and so on. It finds what DOC finds, without its random sets of rows.

        Yiu and Mamoulis 2003

    A dimension that adds nothing is left out: one in which hardly more rows of the cluster are near than if it were
    independent of the others. A cluster has at least two dimensions. Widths are in the units of the columns: use
    `standardize` where they differ.

    {parameters}

    Attributes
    ----------
    {projective}

    """

    max_nodes: int = param(200_000, Integer(1), "Refuse a search that visits more sets of dimensions around one row.")

    def _dimensions(self, near: NDArray[np.bool_], least: int, rng: np.random.Generator) -> DimensionSet | None:
        return best_frequent_set(near, least, self.beta, self.max_nodes)
