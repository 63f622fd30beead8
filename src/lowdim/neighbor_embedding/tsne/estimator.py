"""t-distributed stochastic neighbour embedding."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lowdim.base.estimator import estimator
from lowdim.distance.metrics import MetricLike
from lowdim.knn.fitted import FittedRows, NeighborSpec
from lowdim.neighbor_embedding.base import NeighborMap
from lowdim.neighbor_embedding.initialization import INIT, close_start
from lowdim.neighbor_embedding.optimizer_loop import PATH
from lowdim.neighbor_embedding.tsne.affinities import PERPLEXITY, neighbor_count
from lowdim.neighbor_embedding.tsne.gradient_descent import Descent, Recipe
from lowdim.neighbor_embedding.tsne.inputs import likeness_of
from lowdim.neighbor_embedding.tsne.out_of_sample import Placing
from lowdim.runtime.param import Choice, Either, Integer, Maybe, Real, SeedLike, Such, param
from lowdim.runtime.random import Seed, seed_of
from lowdim.runtime.threads import thread_count

__all__ = ["TSNE"]

Array = NDArray[Any]

EARLY = 250  # steps with early exaggeration, and at most a third of all


@estimator(title="a map that keeps neighbours together", summary="graph", sparse=True)
class TSNE(NeighborMap):
    """A map that keeps neighbours together.

        min KL(P ‖ Q),   p_ij Gaussian with a given perplexity,   q_ij ∝ (1 + |z_i - z_j|² / ν)^-(ν+1)/2

    Distances between far groups, sizes and densities of groups mean little in such a map. `fit` takes a
    table, a `Graph` (of at least 3 × perplexity neighbours), or `Affinities`. The same seed gives the same
    bits for any number of threads. Repulsion is the sum over all pairs up to 4,000 rows; above, it comes from a
    mesh in one or two axes and from an octree in three, with a mean error of the force below 2 %.

    Rows that are equal (or, of a table of distances, at distance 0) share one place, and `transform` gives a
    fitted row its place, bit by bit.

    The map can be watched while it forms: `with lowdim.watch(look): …` calls look(step) at every step, and
    `step.snapshot()` is the map so far.

    {parameters}

    Attributes
    ----------
    embedding_ : array (n, k)
        The map. It is never changed by `transform`.
    kl_divergence_ : float
        KL(P ‖ Q) of the map; above 4,000 rows with the normaliser of the mesh or the tree (within 0.3 %).
    X_fit_ : array or sparse matrix (n, d), or None
        The fitted rows; None for distances, a graph and affinities.
    perplexity_ : array
        The perplexities used: from 1 to (n - 1) / 3.
    n_iter_ : int
        Steps taken.

    """

    n_components: int = param(2, Integer(1, 3), "Axes of the map.", kw_only=False)
    perplexity: float | tuple[float, ...] = param(
        30.0,
        Either(PERPLEXITY, Such("several of them", lambda v: _are_perplexities(v))),
        "How many neighbours count, about; several are averaged, and so keep more of the large shape. "
        "Lowered to (n - 1) / 3 where there are too few rows.",
    )
    early_exaggeration: float = param(
        12.0, Real(1), "Factor of the attraction in the first 250 steps (at most a third of all)."
    )
    exaggeration: float = param(1.0, Real(0, open=True), "The same in the later steps; above 1, groups are tighter.")
    learning_rate: str | float = param(
        "auto", Either(Choice("auto"), Real(0, open=True)), "Step size; 'auto' is n over the exaggeration."
    )
    max_iter: int = param(750, Integer(1), "Steps in all.")
    tol: float = param(
        0.0, Real(0), "After the early steps, stop when 50 steps lower the divergence by less than this share of it."
    )
    dof: float = param(1.0, Real(0, open=True), "Degrees of freedom ν; below 1, groups fall into finer ones.")
    init: Any = param(
        "pca",
        INIT,
        "Where the map starts: principal components, eigenvectors of the affinities, chance, or places (n, k) "
        "taken as they are.",
    )
    metric: Any = param("euclidean", MetricLike(), "How far two rows are apart; 'precomputed' if X holds distances.")
    checkpoint: Any = param(
        None, PATH, "A file that is written every 50 steps; if it is there, fit goes on from it to the same bits."
    )
    random_state: Seed = param(0, SeedLike(), "Seed of the neighbour search and of chance in the start.")
    n_jobs: int | None = param(None, Maybe(Integer()), "Threads; the result has the same bits for any number.")

    def fit(self, X: Any, y: Any = None) -> Self:
        """Lay out the rows of X."""
        with self._fitting():
            seed, threads = seed_of(self.random_state), thread_count(self.n_jobs)
            alike = likeness_of(self, X, self.perplexity, self.metric, seed, threads)
            start = close_start(self.init, alike.rows, alike.affinities, self.n_components, seed, threads)
            descent = Descent(alike.affinities, self._recipe(), threads, alike.which)
            layout = descent.layout(start, self.checkpoint).resume().run()
            self.embedding_ = descent.positions(layout.state).astype(alike.dtype)
            self.kl_divergence_, self.n_iter_ = descent.divergence(layout.state), layout.done
            self.perplexity_, self.X_fit_ = np.array(alike.perplexity), alike.table
            self._cache = self._placing()
            return self

    def _recipe(self) -> Recipe:
        rate = None if self.learning_rate == "auto" else float(self.learning_rate)
        early = min(EARLY, self.max_iter // 3)
        return Recipe(self.max_iter, early, self.early_exaggeration, self.exaggeration, rate, self.dof, self.tol)

    def _placing(self) -> Placing:
        threads, n = thread_count(self.n_jobs), len(self.embedding_)
        spec = NeighborSpec(
            neighbor_count(self.perplexity_.tolist() or 1.0), self.metric, 0, threads, algorithm="exact"
        )
        known = FittedRows(self.X_fit_, n, spec)
        places = np.ascontiguousarray(self.embedding_, dtype=np.float32)
        return Placing(known, places, tuple(self.perplexity_), self.dof)


def _are_perplexities(value: Any) -> bool:
    return isinstance(value, list | tuple) and len(value) > 0 and all(PERPLEXITY.accepts(one) for one in value)
