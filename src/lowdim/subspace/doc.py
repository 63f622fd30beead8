"""DOC: projective clusters by a Monte Carlo search."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lowdim.base.estimator import estimator
from lowdim.runtime.param import Integer, param
from lowdim.subspace._frequent_dimensions import DimensionSet, log_quality
from lowdim.subspace._projective import ProjectiveClusterer

__all__ = ["DOC", "discriminating_size"]


@estimator(title="projective clusters by a Monte Carlo search (DOC)", summary="rows")
class DOC(ProjectiveClusterer):
    """DOC: boxes around random rows, whose dimensions are those in which a few other random rows are near too.

    A projective cluster has at least a share `alpha` of the rows, all within `width` of a row in some dimensions. The
    best one has the largest quality, rows · (1 / β)^dimensions. Around each of 2 / α random rows, discriminating sets
    of r = log(2d) / log(1 / 2β) rows are drawn: if all of them are in a cluster, they are near in its dimensions, and
    hardly in any other. The best cluster found is taken out, and so on.

        Procopiuc, Jones, Agarwal and Murali 2002

    Theory asks for (2 / α)^r ln 4 sets per row; `max_sets` limits them. `MineClus` finds the best dimensions around a
    row exactly. A dimension that adds nothing is left out: one in which hardly more rows of the cluster are near than
    if it were independent of the others. A cluster has at least two dimensions. Widths are in the units of the columns:
    use `standardize` where they differ.

    {parameters}

    Attributes
    ----------
    {projective}

    """

    max_sets: int = param(1000, Integer(1), "Most discriminating sets per row.")

    def _dimensions(self, near: NDArray[np.bool_], least: int, rng: np.random.Generator) -> DimensionSet | None:
        n, d = near.shape
        size = discriminating_size(d, self.beta)
        wanted = np.log(4) * (2 / self.alpha) ** size
        draws = rng.integers(n, size=(int(min(self.max_sets, np.ceil(wanted))), size))
        masks = np.unique(near[draws].all(axis=1), axis=0)  # of dimensions
        masks = masks[masks.any(axis=1)]
        best: DimensionSet | None = None
        for mask in masks:
            support = int(near[:, mask].all(axis=1).sum())
            quality = float(log_quality(support, mask.sum(), self.beta)) if support >= least else -np.inf
            if support >= least and (best is None or quality > best.quality):
                best = DimensionSet(tuple(np.flatnonzero(mask).tolist()), support, quality)
        return best


def discriminating_size(d: int, beta: float) -> int:
    """The number of rows in a discriminating set: so many that no other dimension is likely near to all of them."""
    return max(1, int(np.ceil(np.log(2 * d) / np.log(1 / (2 * beta)))))
