"""UMAP: a map that keeps neighbours together, laid out from a fuzzy graph."""

from __future__ import annotations

import os
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from lowdim.check import read_rows, read_scores
from lowdim.data.rows import Rows
from lowdim.errors import BadInput, BadParameter
from lowdim.estimator import Estimator, estimator
from lowdim.param import Choice, Either, Flag, Integer, Maybe, Real, SeedLike, Such, param
from lowdim.random import Seed, seed_of
from lowdim.solve.crowding import Agreement, Crowding
from lowdim.solve.membership import membership_curve
from lowdim.solve.umap_layout import Epochs, Forces
from lowdim.solve.umap_place import Placing, rows_at
from lowdim.solve.umap_start import start_map
from lowdim.summaries.distinct import Distinct
from lowdim.summaries.fuzzy import Fuzzy, fuzzy_of
from lowdim.summaries.known import Known, Neighborhood, neighborhood_of, table_of, with_rows
from lowdim.summaries.target import Target
from lowdim.threads import single_blas, thread_count

__all__ = ["UMAP"]

Array = NDArray[Any]

MANY_ROWS = 10_000


@estimator(title="a map that keeps neighbours together, from a fuzzy graph", summary="graph", inverse=True, sparse=True)
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
        The fuzzy graph, each edge once, between rows of the table (of equal ones, the first): lines from
        embedding_[edges_[:, 0]] to embedding_[edges_[:, 1]]. `graph_` is the same as a sparse matrix.
    a_, b_ : float
        The curve 1 / (1 + a d^2b) of the map.
    rows_ : array or sparse matrix (m, d)
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
        Either(Choice("spectral", "pca", "random"), Such("an array (n, k)", lambda v: _is_table(v))),
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
            near = neighborhood_of(self, X, self.n_neighbors, self.metric, seed, threads)
            fuzzy = self._fuzzy(near, y)
            forces = self._forces(seed, self.learning_rate)
            if fuzzy.n == 1:
                positions = np.zeros((1, self.n_components), dtype=np.float32)
            else:
                start = start_map(self.init, fuzzy, near.known.rows, near.distinct, self.n_components, seed, threads)
                run = Epochs(fuzzy, forces, self._epochs(fuzzy.n), threads, self._crowding(fuzzy))
                positions = run.run(start, lambda state: state["map"][near.distinct.which], self.checkpoint)
            self.supervised_ = y is not None
            return self._keep(positions, fuzzy, near)

    def fit_transform(self, X: Any, y: Any = None) -> Array:
        """`fit`, and the map."""
        return self.fit(X, y).embedding_.copy()

    def transform(self, X: Any) -> Array:
        """Places of rows on the map, (m, k). Fitted rows are where they were; nothing fitted changes."""
        check_is_fitted(self)
        rows = self._read_new(X)
        given = self.metric == "precomputed"  # a stored distance of 0 counts
        return self._placing()(rows.whole() if given else table_of(rows)).astype(rows.dtype)

    def update(self, X: Any) -> Self:
        """Take new rows into the map; those that are there move no more than they must."""
        check_is_fitted(self)
        if self.supervised_:
            raise BadInput("this map was drawn with y, and update knows none; fit all the rows together with theirs.")
        if self.metric == "precomputed":
            raise BadParameter("update needs rows; with metric='precomputed', fit all the distances together.")
        table, old, placing = table_of(self._read_new(X)), self.embedding_, self._placing()
        with single_blas():
            near = with_rows(placing.known, Distinct(self.distinct_, self.which_), table, self.n_neighbors, old.dtype)
            fuzzy = self._fuzzy(near)
            start = np.vstack([old, placing(table)])[near.distinct.first]
            forces, epochs = self._forces(self.seed_, self.learning_rate / 10), -(-self._epochs(fuzzy.n) // 2)
            run = Epochs(fuzzy, forces, epochs, near.known.threads, self._crowding(fuzzy))
            return self._keep(run.run(start), fuzzy, near)

    def inverse_transform(self, Z: Any) -> Array:
        """Rows for places Z (m, k) of the map, by regression on the nearest fitted ones, each by how much it belongs.

        It belongs by exp(-max(0, d - ρ) / σ), as in the table, with distances in the map. A fitted place gives its row.
        """
        check_is_fitted(self)
        if self.rows_ is None:
            raise BadInput("inverse_transform needs the rows that were fitted; this map was made of distances alone.")
        places, threads = self.embedding_[self.distinct_], thread_count(self.n_jobs)
        Z = read_scores(Z, places.shape[1])
        return rows_at(Z, places, self.rows_, self.n_neighbors_, self.local_connectivity, threads)

    @property
    def graph_(self) -> sp.csr_array:
        """The fuzzy graph as a symmetric sparse matrix (n, n); of rows that are equal, the first has the edges."""
        check_is_fitted(self)
        n = len(self.embedding_)
        half = sp.coo_array((self.weights_, (self.edges_[:, 0], self.edges_[:, 1])), shape=(n, n))
        return sp.csr_array(half + half.T)

    def _fuzzy(self, near: Neighborhood, y: Any = None) -> Fuzzy:
        if near.graph is None:
            return Fuzzy.alone()
        fuzzy = fuzzy_of(near.graph, self.local_connectivity, self.set_op_mix_ratio, near.known.threads)
        target = Target(self.target_metric, self.target_weight)
        return fuzzy if y is None else target.put_into(fuzzy, y, near.distinct, near.graph.k, near.known.threads)

    def _forces(self, seed: int, rate: float) -> Forces:
        if self.min_dist > self.spread:
            raise BadParameter(f"UMAP: min_dist must be at most spread={self.spread}; got {self.min_dist}.")
        a, b = membership_curve(self.min_dist, self.spread)
        return Forces(a, b, self.repulsion_strength, self.negative_sample_rate, rate, seed)

    def _epochs(self, n: int) -> int:
        return self.n_epochs or (200 if n > MANY_ROWS else 500)

    def _crowding(self, fuzzy: Fuzzy) -> Crowding | None:
        return Crowding.of(fuzzy, self.dens_lambda) if self.densmap and fuzzy.n > 1 else None

    def _keep(self, positions: Array, fuzzy: Fuzzy, near: Neighborhood) -> Self:
        if not np.isfinite(positions).all():
            raise BadParameter("the layout flew apart; lower learning_rate or repulsion_strength.")
        graph, known, distinct = near.graph, near.known, near.distinct
        forces, crowding, agreement = self._forces(known.seed, 1.0), self._crowding(fuzzy), None
        if crowding is not None and graph is not None:
            how = self.local_connectivity, forces, known.threads
            agreement = crowding.for_new_rows(positions, graph, *how).to_array()
        once = fuzzy.rows < fuzzy.columns
        self.edges_ = distinct.first.astype(np.int32)[np.column_stack([fuzzy.rows[once], fuzzy.columns[once]])]
        self.weights_, self.crowding_ = fuzzy.weights[once], agreement
        self.embedding_ = positions[distinct.which].astype(near.dtype)
        self.distinct_, self.which_, self.rows_ = distinct.first, distinct.which, known.rows
        self.a_, self.b_, self.seed_ = forces.a, forces.b, known.seed
        self.n_neighbors_, self.n_epochs_ = 1 if graph is None else graph.k + 1, self._epochs(fuzzy.n)
        self._finder = known
        return self

    def _read_new(self, X: Any) -> Rows:
        if self.rows_ is None and self.metric != "precomputed":
            raise BadInput("this map was fitted on a Graph, which holds no rows to compare new ones with; fit it on X.")
        return read_rows(self, X, fitting=False)

    def _placing(self) -> Placing:
        """What new rows are compared with and moved by; the search is made anew after loading."""
        if getattr(self, "_finder", None) is None:
            self._finder = Known(self.rows_, len(self.distinct_), self.metric, self.seed_, thread_count(self.n_jobs))
        agreement = None if self.crowding_ is None else Agreement(*self.crowding_.tolist())
        places = np.ascontiguousarray(self.embedding_[self.distinct_], dtype=np.float32)
        rule = self.local_connectivity, self._forces(self.seed_, self.learning_rate / 4)
        return Placing(
            self._finder, places, max(1, self.n_neighbors_ - 1), *rule, max(1, self.n_epochs_ // 5), agreement
        )

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == "precomputed"
        return tags


def _is_table(value: Any) -> bool:
    return np.ndim(value) == 2 and not sp.issparse(value)
