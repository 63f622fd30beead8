"""UMAP: a map that keeps neighbours together, laid out from a fuzzy graph."""

from __future__ import annotations

import dataclasses
import os
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_array, check_is_fitted

from lowdim.check import read_rows
from lowdim.data.rows import Rows
from lowdim.errors import BadInput, BadParameter
from lowdim.estimator import Estimator, estimator
from lowdim.param import Choice, Either, Flag, Integer, Maybe, Real, SeedLike, Such, param
from lowdim.random import Seed, seed_of
from lowdim.solve.crowding import Agreement, Crowding
from lowdim.solve.layout import Checkpoint, fingerprint
from lowdim.solve.membership import membership_curve
from lowdim.solve.umap_layout import Epochs, Forces
from lowdim.solve.umap_place import place, rows_at
from lowdim.solve.umap_start import boxed, by_chance, principal, spectral
from lowdim.summaries import given
from lowdim.summaries.distinct import Distinct, distinct_rows, find_rows, row_marks
from lowdim.summaries.fuzzy import Fuzzy, fuzzy_of
from lowdim.summaries.graph import Graph
from lowdim.summaries.neighbors import Found, NeighborIndex
from lowdim.summaries.target import class_codes, codes_of_distinct, with_classes, with_numbers
from lowdim.threads import thread_count

__all__ = ["UMAP"]

Array = NDArray[Any]

MANY_ROWS = 10_000
FARTHEST = 1e6  # of a start that is given


@estimator(title="a map that keeps neighbours together, from a fuzzy graph", summary="graph", inverse=True)
class UMAP(Estimator):
    """A map that keeps neighbours together, from a fuzzy graph of neighbours.

        min Σ over pairs of the cross entropy between
        w = exp(-max(0, d - ρ) / σ) in the table and v = 1 / (1 + a |z - z'|^2b) in the map

    `fit` takes a table or `lowdim.neighbors(X, k)`. With `y` the map is supervised. Rows that are equal share one
    place. The same seed gives the same bits for any number of threads.

    `transform` leaves the map as it is: rows that were fitted come back to their very place, and where a new row
    lands does not depend on the rows beside it. `update` takes new rows into the map.

    {parameters}

    Attributes
    ----------
    embedding_ : array (n, k)
        The map.
    edges_, weights_ : arrays (e, 2) and (e,)
        The fuzzy graph, each edge once, between distinct rows; `graph_` is the same as a sparse matrix.
    a_, b_ : float
        The curve 1 / (1 + a d^2b) of the map.
    rows_ : array (m, d)
        The distinct rows of the table; `distinct_` says where each stands in it first. None for a fitted graph.
    n_neighbors_, n_epochs_ : int
        What was used: no more neighbours than there are.

    """

    n_components: int = param(2, Integer(1), "Number of axes of the map.", kw_only=False)
    n_neighbors: int = param(15, Integer(2), "Rows in a neighbourhood, itself included; more see more of the whole.")
    min_dist: float = param(0.1, Real(0), "Distance in the map up to which rows belong wholly together.")
    spread: float = param(1.0, Real(0, open=True), "Scale on which togetherness falls off in the map, above min_dist.")
    metric: Any = param(
        "euclidean",
        Such(
            "the name of a metric, 'precomputed', or a function of two rows",
            lambda v: isinstance(v, str) or callable(v),
        ),
        "How far two rows are apart.",
    )
    n_epochs: int | None = param(None, Maybe(Integer(1)), "Rounds of the layout; None: 500, or 200 above 10,000 rows.")
    init: Any = param(
        "spectral",
        Either(Choice("spectral", "pca", "random"), Such("an array (n, k)", lambda v: np.ndim(v) == 2)),
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
        None,
        Maybe(Such("a path", lambda v: isinstance(v, str | os.PathLike))),
        "A file that is written every 50 epochs; if it is there, fit goes on from it to the same bits.",
    )
    random_state: Seed = param(0, SeedLike(), "Seed of the search, of the start and of the rows that push.")
    n_jobs: int | None = param(None, Maybe(Integer()), "Threads; the result has the same bits for any number.")

    def fit(self, X: Any, y: Any = None) -> Self:
        """Lay out the rows of X, or of a Graph; `y` (classes, or numbers) draws like to like."""
        with self._fitting():
            seed, threads = seed_of(self.random_state), thread_count(self.n_jobs)
            graph, table, distinct, dtype = self._neighborhood(X, seed, threads)
            fuzzy = self._fuzzy(graph, y, distinct, threads)
            positions = self._layout(fuzzy, table, distinct, seed, threads)
            return self._keep(positions, fuzzy, table, distinct, dtype, seed)

    def fit_transform(self, X: Any, y: Any = None) -> Array:
        """`fit`, and the map."""
        return self.fit(X, y).embedding_.copy()

    def transform(self, X: Any) -> Array:
        """Places of rows on the map, (m, k). Fitted rows are where they were; nothing fitted changes."""
        check_is_fitted(self)
        threads = thread_count(self.n_jobs)
        places = self.embedding_[self.distinct_]
        if self.metric == "precomputed":
            distances = read_rows(self, X, fitting=False)
            found = self._nearest_given(distances, len(places), threads)
            placed = self._place(found, places.astype(np.float32), threads)
            same = found.distances[:, 0] == 0  # there stands a fitted row
            placed[same] = places[found.indices[same, 0]]
            return placed.astype(distances.dtype)
        table = self._read_new(X)
        known = self._known(table, threads)
        out = np.empty((len(table), places.shape[1]), dtype=table.dtype)
        out[known >= 0] = places[known[known >= 0]]
        new = known < 0
        if new.any():
            found = self._nearest(table[new], threads)
            out[new] = self._place(found, places.astype(np.float32), threads)
        return out

    def update(self, X: Any) -> Self:
        """Take new rows into the map; those that are there move no more than they must."""
        check_is_fitted(self)
        table, threads = self._read_new(X), thread_count(self.n_jobs)
        if self.metric == "precomputed":
            raise BadParameter("update needs rows; with metric='precomputed', fit all the distances together.")
        start = np.vstack([self.embedding_, self.transform(table)])
        old: Array = np.asarray(self.rows_)[self.which_]
        whole = np.vstack([old, table.astype(old.dtype)])
        distinct = distinct_rows(whole, threads)
        seed = self.seed_
        index = self._index_of(whole[distinct.first], seed, threads)
        graph = index.graph(min(self.n_neighbors, index.n) - 1)
        fuzzy = fuzzy_of(graph, self.local_connectivity, self.set_op_mix_ratio, threads)
        begun = np.ascontiguousarray(start[distinct.first], dtype=np.float32)
        forces = self._forces(seed, rate=self.learning_rate / 10)
        run = Epochs(fuzzy, forces, -(-self._epochs(fuzzy.n) // 2), threads, self._crowding(fuzzy))
        state = run.layout(run.start(begun)).run().state
        self._index = index
        return self._keep(state["map"], fuzzy, whole[distinct.first], distinct, old.dtype, seed)

    def inverse_transform(self, Z: Any) -> Array:
        """Rows for places Z (m, k) of the map: the mean of the nearest fitted rows, each by how much it belongs.

        It belongs by exp(-max(0, d - ρ) / σ), as in the table, with distances in the map. A fitted place gives its row.
        """
        check_is_fitted(self)
        if self.rows_ is None or self.metric == "precomputed":
            raise BadInput("inverse_transform needs the rows that were fitted; this map was made of distances alone.")
        Z = check_array(Z, dtype=[np.float64, np.float32], input_name="Z")
        places = self.embedding_[self.distinct_]
        if Z.shape[1] != places.shape[1]:
            raise BadInput(f"Z has {Z.shape[1]} columns and the map {places.shape[1]} axes.")
        threads = thread_count(self.n_jobs)
        return rows_at(Z, places, self.rows_, self.n_neighbors_, self.local_connectivity, threads)

    @property
    def graph_(self) -> sp.csr_array:
        """The fuzzy graph between distinct rows as a symmetric sparse matrix."""
        check_is_fitted(self)
        m = len(self.distinct_)
        half = sp.coo_array((self.weights_, (self.edges_[:, 0], self.edges_[:, 1])), shape=(m, m))
        return sp.csr_array(half + half.T)

    def _neighborhood(
        self, X: Any, seed: int, threads: int
    ) -> tuple[Graph | None, Array | None, Distinct, np.dtype[Any]]:
        """The graph of the distinct rows of X (None of a single one), and these rows."""
        if isinstance(X, Graph):
            everyone = np.arange(X.n)
            return X.nearest(min(self.n_neighbors - 1, X.k)), None, Distinct(everyone, everyone), np.dtype(np.float32)
        rows = read_rows(self, X, fitting=True, min_rows=2)
        if rows.sparse and self.metric == "precomputed":  # what is stored are the neighbours
            everyone = np.arange(rows.count)
            graph = Graph.from_sparse(rows.whole(), min(self.n_neighbors, rows.count) - 1)
            return graph, None, Distinct(everyone, everyone), rows.dtype
        if rows.sparse:
            raise BadInput("UMAP keeps its rows and takes no sparse table. Reduce it first, by PCA(50) for instance.")
        table = rows.whole()
        if self.metric == "precomputed":
            everyone = np.arange(len(table))
            distinct = Distinct(everyone, everyone)
        else:
            distinct = distinct_rows(table, threads)
            table = table if distinct.all_different else table[distinct.first]
        self._index = self._index_of(table, seed, threads)
        if len(table) == 1:
            self._index.query(table, 1)  # looks for values that are not finite
            return None, table, distinct, rows.dtype
        return self._index.graph(min(self.n_neighbors, len(table)) - 1), table, distinct, rows.dtype

    def _fuzzy(self, graph: Graph | None, y: Any, distinct: Distinct, threads: int) -> Fuzzy:
        if graph is None:
            return Fuzzy.alone()
        fuzzy = fuzzy_of(graph, self.local_connectivity, self.set_op_mix_ratio, threads)
        if y is None:
            return fuzzy
        if self.target_metric == "categorical":
            codes = codes_of_distinct(class_codes(y, len(distinct.which)), distinct)
            return with_classes(fuzzy, codes, self.target_weight)
        return with_numbers(fuzzy, y, distinct, self.target_weight, graph.k, threads)

    def _layout(self, fuzzy: Fuzzy, table: Array | None, distinct: Distinct, seed: int, threads: int) -> Array:
        epochs, forces = self._epochs(fuzzy.n), self._forces(seed, self.learning_rate)
        if fuzzy.n == 1:
            return np.zeros((1, self.n_components), dtype=np.float32)
        run = Epochs(fuzzy, forces, epochs, threads, self._crowding(fuzzy))
        start = run.start(self._start(fuzzy, table, distinct, seed, threads))
        kept = None
        if self.checkpoint is not None:
            parts = fuzzy.starts, fuzzy.columns, fuzzy.weights, start["map"]
            kept = Checkpoint(self.checkpoint, fingerprint(*parts, forces, epochs, self.densmap, self.dens_lambda))
        layout = run.layout(start, lambda state: state["map"][distinct.which], kept)
        return layout.resume().run().state["map"]

    def _start(self, fuzzy: Fuzzy, table: Array | None, distinct: Distinct, seed: int, threads: int) -> Array:
        k, rows = self.n_components, None if self.metric == "precomputed" else table
        if not isinstance(self.init, str):
            return _given_start(self.init, len(distinct.which), k)[distinct.first]
        if self.init == "random":
            return boxed(by_chance(fuzzy.n, k, seed, threads), seed, threads)
        if self.init == "pca":
            if rows is None:
                raise BadParameter("init='pca' needs rows, and only distances were given; use 'spectral' or 'random'.")
            return boxed(principal(rows, k, seed, threads), seed, threads)
        return boxed(spectral(fuzzy, k, seed, threads, rows), seed, threads)

    def _forces(self, seed: int, rate: float) -> Forces:
        if self.min_dist > self.spread:
            raise BadParameter(f"UMAP: min_dist must be at most spread={self.spread}; got {self.min_dist}.")
        a, b = membership_curve(self.min_dist, self.spread)
        return Forces(a, b, self.repulsion_strength, self.negative_sample_rate, rate, seed)

    def _epochs(self, n: int) -> int:
        return self.n_epochs or (200 if n > MANY_ROWS else 500)

    def _crowding(self, fuzzy: Fuzzy) -> Crowding | None:
        return Crowding.of(fuzzy, self.dens_lambda) if self.densmap and fuzzy.n > 1 else None

    def _keep(
        self, positions: Array, fuzzy: Fuzzy, table: Array | None, distinct: Distinct, dtype: np.dtype[Any], seed: int
    ) -> Self:
        if not np.isfinite(positions).all():
            raise BadParameter("the layout flew apart; lower learning_rate or repulsion_strength.")
        forces = self._forces(seed, 1.0)
        self.a_, self.b_ = forces.a, forces.b
        crowding = self._crowding(fuzzy)
        self.crowding_ = None
        if crowding is not None:
            agreement = crowding.agreement(positions, fuzzy, forces, thread_count(self.n_jobs))
            self.crowding_ = np.array(dataclasses.astuple(agreement))
        once = fuzzy.rows < fuzzy.columns
        self.edges_ = np.column_stack([fuzzy.rows[once], fuzzy.columns[once]])
        self.weights_ = fuzzy.weights[once]
        self.embedding_ = positions[distinct.which].astype(dtype)
        self.distinct_, self.which_ = distinct.first, distinct.which
        self.rows_ = None if table is None or self.metric == "precomputed" else table
        self.marks_ = None if self.rows_ is None else row_marks(self.rows_, thread_count(self.n_jobs))
        self.n_neighbors_ = min(self.n_neighbors, fuzzy.n)
        self.n_epochs_, self.seed_ = self._epochs(fuzzy.n), seed
        return self

    def _read_new(self, X: Any) -> Array:
        """New rows, as a table."""
        if self.rows_ is None and self.metric != "precomputed":
            raise BadInput("this map was fitted on a Graph, which holds no rows to compare new ones with; fit it on X.")
        rows = read_rows(self, X, fitting=False)
        if rows.sparse:
            raise BadInput("UMAP takes no sparse table; give rows as they were fitted.")
        return np.asarray(rows.whole())

    def _index_of(self, table: Array, seed: int, threads: int) -> NeighborIndex:
        return NeighborIndex(table, metric=self.metric, random_state=seed, n_jobs=threads)

    def _known(self, table: Array, threads: int) -> NDArray[np.int64]:
        """Which fitted row each of these is, or -1."""
        if self.rows_ is None or self.marks_ is None:
            return np.full(len(table), -1)
        return find_rows(table, self.rows_, self.marks_, threads)

    def _nearest(self, table: Array, threads: int) -> Found:
        """The neighbours of new rows among the fitted ones."""
        if getattr(self, "_index", None) is None:
            self._index = self._index_of(np.asarray(self.rows_), self.seed_, threads)
        return self._index.query(table, max(1, self.n_neighbors_ - 1))

    def _nearest_given(self, distances: Rows, n: int, threads: int) -> Found:
        """The same from distances to the fitted rows."""
        if distances.d != n:
            raise BadInput(f"metric='precomputed' needs distances to all {n} fitted rows; got {distances.d} columns.")
        lists = given.chosen(distances, n, max(1, self.n_neighbors_ - 1), False, threads)
        return Found(lists.indices, lists.distances)

    def _place(self, found: Found, places: Array, threads: int) -> Array:
        """New rows: from the mean of their neighbours' places, weighted, some epochs against the map."""
        forces, epochs = self._forces(self.seed_, self.learning_rate / 4), max(1, self.n_epochs_ // 5)
        agreement = None if self.crowding_ is None else Agreement(*self.crowding_.tolist())
        return place(found, places, self.local_connectivity, forces, epochs, threads, agreement)

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])


def _given_start(init: Any, n: int, k: int) -> NDArray[np.float32]:
    start = np.asarray(init, dtype=np.float64)
    if start.shape != (n, k):
        raise BadParameter(f"UMAP: init must be an array of shape {(n, k)}, a place a row; got {start.shape}.")
    if not np.isfinite(start).all() or np.abs(start).max() > FARTHEST:
        raise BadParameter(
            f"UMAP: init must be finite and within {FARTHEST:g} of the origin; scale it to a span of 10."
        )
    return np.ascontiguousarray(start, dtype=np.float32)
