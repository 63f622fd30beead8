"""t-distributed stochastic neighbour embedding."""

from __future__ import annotations

import os
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from lowdim.check import read_rows
from lowdim.data.rows import ArrayRows, Rows
from lowdim.distances import metric_of
from lowdim.errors import BadInput
from lowdim.estimator import Estimator, estimator
from lowdim.memory import require_memory
from lowdim.param import Choice, Either, Integer, Maybe, Real, SeedLike, Such, param
from lowdim.random import Seed, seed_of
from lowdim.solve.descent import Descent, Recipe
from lowdim.solve.layout import Checkpoint, Layout, fingerprint
from lowdim.solve.placing import Placer, Placing
from lowdim.solve.start import start_map
from lowdim.summaries.affinities import PERPLEXITY, Affinities, feasible, neighbor_count
from lowdim.summaries.distinct import distinct_rows
from lowdim.summaries.graph import Graph, component_labels
from lowdim.summaries.known import table_of
from lowdim.summaries.neighbors import neighbors
from lowdim.threads import thread_count

__all__ = ["TSNE"]

Array = NDArray[Any]

EARLY = 250  # steps with early exaggeration, and at most a third of all


@estimator(title="a map that keeps neighbours together", summary="graph", sparse=True)
class TSNE(Estimator):
    """A map that keeps neighbours together.

        min KL(P ‖ Q),   p_ij Gaussian with a given perplexity,   q_ij ∝ (1 + |z_i - z_j|² / ν)^-(ν+1)/2

    Distances between far groups, sizes and densities of groups mean little in such a map. `fit` takes a
    table, a `Graph` (of at least 3 × perplexity neighbours), or `Affinities`. The same seed gives the same
    bits for any number of threads. Repulsion is the sum over all pairs up to 4,000 rows; above, it comes from a
    mesh in one or two axes and from an octree in three, with a mean error of the force below 2 %.

    Rows that are equal (or, of a table of distances, at distance 0) share one place, and `transform` gives a
    fitted row its place, bit by bit.

    {parameters}

    Attributes
    ----------
    embedding_ : array (n, k)
        The map. It is never changed by `transform`.
    kl_divergence_ : float
        KL(P ‖ Q) of the map; above 4,000 rows with the normaliser of the mesh or the tree (within 0.3 %).
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
    init: str | Array = param(
        "pca",
        Either(Choice("pca", "spectral", "random"), Such("an array", lambda v: isinstance(v, np.ndarray))),
        "Where the map starts: principal components, eigenvectors of the affinities, chance, or places (n, k) "
        "taken as they are.",
    )
    metric: str = param(
        "euclidean",
        Such("the name of a metric or a function of two rows", lambda v: isinstance(v, str) or callable(v)),
        "How far two rows are apart; 'precomputed' if X holds distances.",
    )
    checkpoint: str | None = param(
        None,
        Maybe(Such("the path of a file", lambda v: isinstance(v, str | os.PathLike))),
        "A file that is written every 50 steps; if it is there, fit goes on from it to the same bits.",
    )
    random_state: Seed = param(0, SeedLike(), "Seed of the neighbour search and of chance in the start.")
    n_jobs: int | None = param(None, Maybe(Integer()), "Threads; the result has the same bits for any number.")

    def fit(self, X: Any, y: Any = None) -> Self:
        """Lay out the rows of X."""
        with self._fitting():
            seed, threads = seed_of(self.random_state), thread_count(self.n_jobs)
            rows = None if isinstance(X, Graph | Affinities) else read_rows(self, X, fitting=True, min_rows=2)
            table = None if self._given else rows
            if table is not None:
                require_memory(_copy_bytes(table), "the table that new rows are compared with", "Fit a Graph of it.")
            graph = X if rows is None else self._graph(rows, seed)
            P = self._affinities(graph)
            self.training_ = None if table is None else table_of(table)
            start = start_map(self.init, table, P, self.n_components, seed, threads)
            descent = Descent(P, self._recipe(), threads, self._which(graph, threads))
            layout = self._layout(descent, start).resume().run()
            self.embedding_ = descent.positions(layout.state).astype(np.float32 if rows is None else rows.dtype)
            self.kl_divergence_, self.n_iter_ = descent.divergence(layout.state), layout.done
            self._finder = self._new_placer()
            return self

    def fit_transform(self, X: Any, y: Any = None) -> Array:
        """Lay out the rows of X, (n, k)."""
        return self.fit(X).embedding_.copy()

    def transform(self, X: Any) -> Array:
        """Places of rows on the fitted map, (m, k), each found by itself; the map stays as it is.

        Rows equal to a fitted one get its very place. With metric='precomputed', X holds distances to all fitted rows.
        """
        check_is_fitted(self, "embedding_")
        if self.training_ is None and not self._given:
            raise BadInput("TSNE was fitted to a graph, which has no rows to compare new ones with. Fit it to a table.")
        rows = read_rows(self, X, fitting=False)
        placer = getattr(self, "_finder", None)
        if placer is None or placer.rule != self._placing():
            placer = self._finder = self._new_placer()
        return placer.place(rows).astype(rows.dtype)

    @property
    def _given(self) -> bool:
        return bool(self.metric == "precomputed")

    def _graph(self, rows: Rows, seed: int) -> Graph:
        k = min(rows.count - 1, neighbor_count(feasible(self.perplexity, rows.count)))
        _require_room(rows.count, k)
        return neighbors(rows, k, metric=self.metric, random_state=seed, n_jobs=self.n_jobs)

    def _affinities(self, graph: Graph | Affinities) -> Affinities:
        """P, and the perplexities that it was made with."""
        if isinstance(graph, Affinities):
            require_memory(8 * len(graph.columns), "the affinities in the order of the map", "Use fewer rows.")
            self.perplexity_ = np.array([])
            return graph
        wanted = feasible(self.perplexity, graph.k + 1)
        _require_room(graph.n, min(graph.k, neighbor_count(wanted)))
        self.perplexity_ = np.array(wanted)
        return Affinities.from_graph(graph, self.perplexity, n_jobs=self.n_jobs)

    def _which(self, graph: Graph | Affinities, threads: int) -> NDArray[np.int64] | None:
        """Which distinct row each row is; of a table of distances, rows at distance 0 are one."""
        if self.training_ is not None:
            return distinct_rows(self.training_, threads).which
        return _at_one_place(graph) if self._given and isinstance(graph, Graph) else None

    def _placing(self) -> Placing:
        return Placing(metric_of(self.metric), tuple(self.perplexity_), self.dof, thread_count(self.n_jobs))

    def _new_placer(self) -> Placer:
        return Placer(self.training_, self.embedding_, self._placing())

    def _recipe(self) -> Recipe:
        rate = None if self.learning_rate == "auto" else float(self.learning_rate)
        early = min(EARLY, self.max_iter // 3)
        return Recipe(self.max_iter, early, self.early_exaggeration, self.exaggeration, rate, self.dof)

    def _layout(self, descent: Descent, start: Array) -> Layout:
        recipe, P = descent.recipe, descent.affinities
        kept = None
        if self.checkpoint is not None:
            work = fingerprint(P.starts, P.columns, P.values, descent.which, start, recipe, self.tol)
            kept = Checkpoint(self.checkpoint, work)
        return Layout(
            descent.start(start),
            descent.advance,
            recipe.total,
            task="t-SNE",
            measure=lambda state: {"kl": descent.divergence(state)},
            snapshot=descent.positions,
            settled=(lambda state, done: descent.settled(state, done, self.tol)) if self.tol else None,
            checkpoint=kept,
        )

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._given
        return tags


def _are_perplexities(value: Any) -> bool:
    return isinstance(value, list | tuple) and len(value) > 0 and all(PERPLEXITY.accepts(one) for one in value)


def _require_room(n: int, k: int) -> None:
    """Room for the neighbours, their weights, both sides of them, and a copy in the order of the map."""
    require_memory(50 * n * k, "the affinities", "Use a smaller perplexity or fewer rows.")


def _copy_bytes(rows: Rows) -> int:
    """What rows.whole() takes: nothing for an array that can stay where it is."""
    if isinstance(rows, ArrayRows):
        X = rows.X
        if not isinstance(X, np.memmap) and X.dtype == rows.dtype and X.flags.c_contiguous:
            return 0
    return 0 if rows.sparse else rows.count * rows.d * rows.dtype.itemsize


def _at_one_place(graph: Graph) -> NDArray[np.int64]:
    """Components of the neighbours at distance 0."""
    rows, places = np.nonzero(graph.distances == 0)
    ends = graph.indices[rows, places]
    edges = sp.coo_array((np.ones(len(rows)), (rows, ends)), shape=(graph.n, graph.n))
    return component_labels(sp.csr_array(edges)).astype(np.int64)
