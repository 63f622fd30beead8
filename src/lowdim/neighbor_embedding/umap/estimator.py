"""UMAP: a map that keeps neighbours together, laid out from a fuzzy graph."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from lowdim.base.estimator import estimator
from lowdim.data.duplicates import DistinctRows, average_tied
from lowdim.data.validation import read_scores
from lowdim.distance.metrics import MetricLike
from lowdim.errors import BadInput, BadInputType, BadParameter
from lowdim.knn.fitted import FittedNeighbors, FittedRows, NeighborSpec, read_source
from lowdim.knn.graph import Graph, component_labels
from lowdim.neighbor_embedding.base import NeighborMap
from lowdim.neighbor_embedding.initialization import INIT, boxed_start
from lowdim.neighbor_embedding.optimizer_loop import PATH
from lowdim.neighbor_embedding.tsne.affinities import Affinities
from lowdim.neighbor_embedding.umap.densmap import Agreement, Crowding
from lowdim.neighbor_embedding.umap.find_ab import membership_curve
from lowdim.neighbor_embedding.umap.fuzzy_graph import fuzzy_of
from lowdim.neighbor_embedding.umap.optimizer import Epochs, Forces
from lowdim.neighbor_embedding.umap.out_of_sample import Placing, rows_at
from lowdim.neighbor_embedding.umap.supervision import Target
from lowdim.runtime.memory import require_memory
from lowdim.runtime.param import Choice, Flag, Integer, Maybe, Real, SeedLike, param
from lowdim.runtime.random import Seed, seed_of
from lowdim.runtime.threads import single_blas, thread_count

__all__ = ["UMAP"]

Array = NDArray[Any]

MANY_ROWS = 10_000
BYTES_PER_EDGE = 60  # of the graph, the fuzzy graph and the order in which its edges are sampled


@estimator(title="a map that keeps neighbours together, from a fuzzy graph", summary="graph", inverse=True, sparse=True)
class UMAP(NeighborMap):
    """A map that keeps neighbours together, from a fuzzy graph of neighbours.

        min Σ over pairs of the cross entropy between
        w = exp(-max(0, d - ρ) / σ) in the table and v = 1 / (1 + a |z - z'|^2b) in the map

    `fit` takes a table or `lowdim.neighbors(X, k)`. With `y` the map is supervised. Rows that are equal (or, of a table
    of distances, at distance 0) share one place. The same seed gives the same bits for any number of threads; rows in
    another order are as another seed.

    `transform` leaves the map as it is: rows that were fitted come back to their very place, and where a new row
    lands does not depend on the rows beside it. `update` takes new rows into the map.

    The map can be watched while it forms: `with lowdim.watch(look): …` calls look(step) now and then, and
    `step.snapshot()` is the map so far.

    {parameters}

    Attributes
    ----------
    embedding_ : array (n, k)
        The map.
    edges_, weights_ : arrays (e, 2) and (e,)
        The fuzzy graph, each edge once, between rows of the table (of equal ones, the first): lines from
        embedding_[edges_[:, 0]] to embedding_[edges_[:, 1]], as `lowdim.plot.scatter(Z, edges=…)` draws them.
        `graph_` is the same as a sparse matrix.
    n_connected_components_ : int
        Parts of that graph; each is laid out by itself, and where they lie to each other means nothing.
    a_, b_ : float
        The curve 1 / (1 + a d^2b) of the map.
    X_fit_ : array or sparse matrix (m, d)
        The distinct rows of the table; `distinct_` says where each stands in it first, `which_` which of them each
        row is. None for distances and for a graph.
    n_neighbors_, n_epochs_ : int
        What was used: no more neighbours than there are.
    supervised_ : bool
        Whether y was given.

    """

    n_components: int = param(2, Integer(1), "Number of axes of the map.", kw_only=False)
    n_neighbors: int = param(15, Integer(2), "Rows in a neighbourhood, itself included; more see more of the whole.")
    min_dist: float = param(0.1, Real(0), "Distance in the map up to which rows belong wholly together.")
    spread: float = param(1.0, Real(0, open=True), "Scale on which togetherness falls off in the map, above min_dist.")
    metric: Any = param("euclidean", MetricLike(), "How far two rows are apart; 'precomputed' if X holds distances.")
    n_epochs: int | None = param(None, Maybe(Integer(1)), "Rounds of the layout; None: 500, or 200 above 10,000 rows.")
    init: Any = param(
        "spectral",
        INIT,
        "Where rows start: eigenvectors of the graph (each connected part by itself), principal axes, chance or there.",
    )
    learning_rate: float = param(1.0, Real(0, open=True), "How far rows move at first.")
    negative_sample_rate: int = param(5, Integer(0), "Random rows that push, for every neighbour that pulls.")
    repulsion_strength: float = param(1.0, Real(0), "How strongly they push.")
    set_op_mix_ratio: float = param(1.0, Real(0, 1), "1: an edge that one row sees counts; 0: both must see it.")
    local_connectivity: float = param(1.0, Real(0), "Nearest neighbours that belong wholly to a row.")
    densmap: bool = param(False, Flag(), "Keep what is crowded crowded (densMAP).")
    dens_lambda: float = param(2.0, Real(0), "How much that counts.")
    target_metric: str = param("categorical", Choice("categorical", "numeric"), "What y holds; unknown classes are -1.")
    target_weight: float = param(0.5, Real(0, 1), "How much y counts beside X.")
    checkpoint: Any = param(
        None, PATH, "A file that is written every 50 epochs; if it is there, fit goes on from it to the same bits."
    )
    random_state: Seed = param(0, SeedLike(), "Seed of the search, of the start and of the rows that push.")
    n_jobs: int | None = param(None, Maybe(Integer()), "Threads; the result has the same bits for any number.")

    def fit(self, X: Any, y: Any = None) -> Self:
        """Lay out the rows of X, or of a Graph; `y` (classes, or numbers) draws like to like."""
        with self._fitting():
            seed, threads = seed_of(self.random_state), thread_count(self.n_jobs)
            self.a_, self.b_ = membership_curve(self.min_dist, self.spread)
            self.seed_, self.supervised_ = seed, y is not None
            near = self._neighbors(X, seed, threads)
            epochs = self._epochs(near, self._rounds(near), self.learning_rate, y)
            rows, which = near.rows.X, near.distinct.inverse
            start = boxed_start(self.init, epochs.graph, rows, near.distinct, self.n_components, seed, threads)
            positions = epochs.run(start, lambda state: state["map"][which], self.checkpoint)
            if self._by_distances and near.knn_graph is not None:
                average_tied(positions, near.knn_graph.coincident())
            return self._keep(positions, epochs, near)

    def update(self, X: Any) -> Self:
        """Take new rows into the map; those that are there move no more than they must."""
        rows = self._read_new(X)
        if self.supervised_:
            raise BadInput("this map was drawn with y, and update knows none; fit all the rows together with theirs.")
        if self._by_distances:
            raise BadParameter("update needs rows; with metric='precomputed', fit all the distances together.")
        known, distinct, old = self._placer.known, DistinctRows(self.distinct_, self.which_), self.embedding_
        with single_blas():
            places = np.vstack([old, self._placer(rows)])
            near = FittedNeighbors.extended(known, distinct, rows, self.n_neighbors - 1, old.dtype)
            epochs = self._epochs(near, -(-self._rounds(near) // 2), self.learning_rate / 10)
            return self._keep(epochs.run(places[near.distinct.first]), epochs, near)

    def inverse_transform(self, Z: Any) -> Array:
        """Rows for places Z (m, k) of the map, by regression on the nearest fitted ones, each by how much it belongs.

        It belongs by exp(-max(0, d - ρ) / σ), as in the table, with distances in the map. A fitted place gives its row.
        """
        check_is_fitted(self)
        if self.X_fit_ is None:
            raise BadInput("inverse_transform needs the rows that were fitted; this map was made of distances alone.")
        places, threads = self.embedding_[self.distinct_], thread_count(self.n_jobs)
        Z = read_scores(Z, places.shape[1])
        return rows_at(Z, places, self.X_fit_, self.n_neighbors_, self.local_connectivity, threads)

    @property
    def graph_(self) -> sp.csr_array:
        """The fuzzy graph as a symmetric sparse matrix (n, n); of rows that are equal, the first has the edges."""
        check_is_fitted(self)
        n = len(self.embedding_)
        half = sp.coo_array((self.weights_, (self.edges_[:, 0], self.edges_[:, 1])), shape=(n, n))
        return sp.csr_array(half + half.T)

    @property
    def n_connected_components_(self) -> int:
        """Parts of the fuzzy graph."""
        return len(np.unique(component_labels(self.graph_)[self.distinct_]))

    def _neighbors(self, X: Any, seed: int, threads: int) -> FittedNeighbors:
        """The neighbors among the distinct rows of X, of distances or of a Graph; n_neighbors counts the row itself."""
        if isinstance(X, Affinities):
            raise BadInputType(
                "Affinities are for TSNE; a fuzzy graph is made of distances. Give lowdim.neighbors(X, k)."
            )
        source, k = read_source(self, X), self.n_neighbors - 1
        if isinstance(source, Graph):
            k = min(k, source.k)
        else:
            needed = BYTES_PER_EDGE * source.count * min(k + 1, source.count)
            require_memory(needed, "the fuzzy graph", "Use fewer neighbors or fewer rows.")
        return FittedNeighbors.of(source, NeighborSpec(k, self.metric, seed, threads), sparse=True, unique=True)

    def _rounds(self, near: FittedNeighbors) -> int:
        return self.n_epochs or (200 if near.rows.n > MANY_ROWS else 500)

    def _epochs(self, near: FittedNeighbors, rounds: int, rate: float, y: Any = None) -> Epochs:
        """What moves the distinct rows: their fuzzy graph, the forces of the map and, for densMAP, their crowding."""
        threads, target = near.rows.spec.threads, Target(self.target_metric, self.target_weight)
        fuzzy = fuzzy_of(near.knn_graph, self.local_connectivity, self.set_op_mix_ratio, threads)
        fuzzy = target.put_into(fuzzy, y, near.distinct, near.k, threads)
        crowding = Crowding.of(fuzzy, self.dens_lambda) if self.densmap and fuzzy.n > 1 else None
        return Epochs(fuzzy, self._forces(rate), rounds, threads, crowding)

    def _forces(self, rate: float) -> Forces:
        return Forces(self.a_, self.b_, self.repulsion_strength, self.negative_sample_rate, rate, self.seed_)

    def _keep(self, positions: Array, epochs: Epochs, near: FittedNeighbors) -> Self:
        distinct, agreement = near.distinct, None
        if epochs.crowding is not None and near.knn_graph is not None:
            how = self.local_connectivity, epochs.forces, epochs.threads
            agreement = epochs.crowding.for_new_rows(positions, near.knn_graph, *how).to_array()
        ends, self.weights_ = epochs.graph.once()
        self.edges_, self.crowding_ = distinct.first.astype(np.int32)[ends], agreement
        self.embedding_ = positions[distinct.inverse].astype(near.dtype)
        self.distinct_, self.which_, self.X_fit_ = distinct.first, distinct.inverse, near.rows.X
        self.n_neighbors_, self.n_epochs_ = near.k + 1, self._rounds(near)
        self._cache = self._placing(near.rows)
        return self

    def _placing(self, known: FittedRows | None = None) -> Placing:
        if known is None:
            spec = NeighborSpec(self.n_neighbors - 1, self.metric, self.seed_, thread_count(self.n_jobs))
            known = FittedRows(self.X_fit_, len(self.distinct_), spec)
        places = np.ascontiguousarray(self.embedding_[self.distinct_], dtype=np.float32)
        agreement = None if self.crowding_ is None else Agreement(*self.crowding_.tolist())
        forces, rounds = self._forces(self.learning_rate / 4), max(1, self.n_epochs_ // 5)
        return Placing(known, places, max(1, self.n_neighbors_ - 1), self.local_connectivity, forces, rounds, agreement)
