"""Uniform manifold approximation and projection (UMAP)."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from lowdim.base.estimator import estimator
from lowdim.base.fit_memory import FitMemory
from lowdim.base.state import StateCheck
from lowdim.data.duplicates import DistinctRows, average_tied, distinct_rows
from lowdim.data.validation import read_scores
from lowdim.errors import BadInput, BadInputType, BadParameter
from lowdim.knn.fitted import FittedNeighbors, FittedRows, NeighborSpec, read_source
from lowdim.knn.graph import Graph, component_labels
from lowdim.neighbor_embedding.base import NeighborEmbedding
from lowdim.neighbor_embedding.initialization import INIT
from lowdim.neighbor_embedding.tsne.affinities import Affinities
from lowdim.neighbor_embedding.umap.densmap import DensityCorrelation, DensityTarget, embedded_radii
from lowdim.neighbor_embedding.umap.find_ab import membership_curve
from lowdim.neighbor_embedding.umap.fitted_state import EPOCHS, UmapState, check_umap_state
from lowdim.neighbor_embedding.umap.fuzzy_graph import FuzzyGraph, fuzzy_simplicial_set, nearest_distinct_rows
from lowdim.neighbor_embedding.umap.inverse import inverse_rows
from lowdim.neighbor_embedding.umap.optimizer import UmapOptimizer, UmapParams
from lowdim.neighbor_embedding.umap.out_of_sample import UmapOutOfSample
from lowdim.neighbor_embedding.umap.output_space import OUTPUT_METRICS, OutputSpace
from lowdim.neighbor_embedding.umap.supervision import supervise
from lowdim.runtime.blas import single_blas
from lowdim.runtime.checkpoint import CHECKPOINT_PATH
from lowdim.runtime.param import Choice, Flag, Integer, Maybe, Real, param
from lowdim.runtime.random import seed_of
from lowdim.runtime.threads import thread_count

__all__ = ["UMAP"]

Array = NDArray[Any]

LARGE = 10_000  # rows, above which fewer epochs suffice


@estimator(
    title="embedding that minimizes the fuzzy-set cross-entropy to a neighbor graph",
    summary="graph",
    inverse=True,
    sparse=True,
    accepts_target=True,
)
class UMAP(NeighborEmbedding):
    """Uniform manifold approximation and projection.

        min Σ over pairs of the cross-entropy between the membership strengths
        w = exp(-max(0, d - ρ) / σ) in the original space and v = 1 / (1 + a |z - z'|^2b) in the embedding

    `fit` takes rows, distances or `lowdim.neighbors(X, k)`. With `y` the embedding is supervised. Equal rows (with
    precomputed distances: rows at distance 0) share one position. The same seed gives the same bits for any number of
    threads; another order of the rows acts like another seed.

    `transform` leaves the embedding as it is: fitted rows get their own positions, bit for bit, and the position of a
    new row does not depend on the other new rows. `update` adds new rows to the embedding.

    The embedding can be watched: `with lowdim.watch(callback): …` calls callback(step) now and then, and
    `step.snapshot()` is the embedding at that epoch.

    {parameters}

    Attributes
    ----------
    embedding_ : array (n, k)
        The embedding of the fitted rows. With output_metric='haversine', longitudes lie between -π and π; with
        'hyperboloid', x / (1 + √(1 + |x|²)) is a point's place in the Poincaré disk.
    edges_, weights_ : arrays (e, 2) and (e,)
        The fuzzy graph, each edge once, between fitted rows (of equal ones, the first): lines from
        embedding_[edges_[:, 0]] to embedding_[edges_[:, 1]], as `lowdim.plot.scatter(Z, edges=…)` draws them.
    graph_ : sparse matrix (n, n)
        The same as a symmetric matrix.
    n_connected_components_ : int
        Connected components of the fuzzy graph. Positions of components relative to each other mean nothing.
    a_, b_ : float
        Parameters of the membership curve 1 / (1 + a d^2b) of the embedding.
    metric_params_ : dict
        Parameters of the metric: those given, and what it takes from the fitted rows (variances, ranges, categories).
    X_fit_ : array or sparse matrix (m, d), or None
        The distinct fitted rows, in order of first occurrence, or all those that a Graph knows; None after a fit to
        distances or to a Graph without rows.
    rad_orig_, rad_emb_ : array (n,), or None
        With densmap=True: local radii (logarithms of mean squared distances to neighbors, by their membership
        strengths) of the fitted rows in the original space and in the embedding.
    n_neighbors_, n_epochs_ : int
        Those used: no more neighbors than there are rows.
    supervised_ : bool
        Whether y was given.

    """

    # The search frees its table before edges are made symmetric: twice as many, with strengths, epochs and their order.
    _fit_memory = FitMemory(keeps=True, search_tables=1, edges=110)
    _state_classes = (UmapState, DistinctRows, DensityCorrelation)

    n_components: int = param(2, Integer(1), "Dimensions of the embedding.", kw_only=False)
    n_neighbors: int = param(
        15,
        Integer(2),
        "Size of the neighborhoods, the row itself included; larger ones keep more global structure. A given graph is "
        "cut to it.",
    )
    min_dist: float = param(0.1, Real(0), "Distance in the embedding up to which membership strengths are 1.")
    spread: float = param(1.0, Real(0, open=True), "Scale on which membership strengths decay beyond min_dist.")
    a: float | None = param(
        None, Maybe(Real(0, open=True)), "a of the membership curve 1 / (1 + a d^2b); None: by min_dist and spread."
    )
    b: float | None = param(None, Maybe(Real(0, open=True)), "b of the membership curve; give a and b, or neither.")
    n_epochs: int | None = param(None, Maybe(EPOCHS), "Epochs; None: 500, or 200 above 10,000 rows.")
    init: Any = param(
        "spectral",
        INIT,
        "'spectral' (eigenvectors of the graph Laplacian, for each connected component), 'pca', 'random', or an "
        "(n, k) array.",
    )
    learning_rate: float = param(1.0, Real(0, open=True), "Initial learning rate.")
    negative_sample_rate: int = param(5, Integer(0, 10_000), "Negative samples per positive edge.")
    repulsion_strength: float = param(1.0, Real(0), "Weight of the negative samples.")
    set_op_mix_ratio: float = param(1.0, Real(0, 1), "1: fuzzy union; 0: fuzzy intersection.")
    local_connectivity: float = param(1.0, Real(0), "Number of nearest neighbors with membership strength 1.")
    disconnection_distance: float | None = param(
        None,
        Maybe(Real(0, open=True)),
        "Rows at this distance or farther are not connected; the strengths of the other edges stay as they are.",
    )
    output_metric: str = param(
        "euclidean",
        Choice(*OUTPUT_METRICS),
        "Distances in the embedding: 'euclidean', 'manhattan', 'haversine' (on the unit sphere: embedding_ holds "
        "latitudes and longitudes in radians) or 'hyperboloid' (hyperbolic: coordinates x of (√(1 + |x|²), x)).",
    )
    densmap: bool = param(False, Flag(), "Keep local densities (densMAP).")
    dens_lambda: float = param(2.0, Real(0), "Weight of the density term of densMAP.")
    target_metric: str = param(
        "categorical", Choice("categorical", "numeric"), "What y holds; -1 marks an unknown class."
    )
    target_weight: float = param(0.5, Real(0, 1), "Weight of y; 0: X alone, 1: y alone.")
    checkpoint: Any = param(
        None,
        CHECKPOINT_PATH,
        "Checkpoint file, written every 50 epochs; fit resumes from an existing one, to the same bits.",
    )

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit to rows X, distances (metric='precomputed') or a Graph; `y` (classes or numbers) supervises."""
        with self._fitting():
            seed, threads = seed_of(self.random_state), thread_count(self.n_jobs)
            self.a_, self.b_ = membership_curve(self.a, self.b, self.min_dist, self.spread)
            space = self._space()
            fitted = self._neighbors(X, seed, threads)
            self._check_dimensions(fitted.n, spare=True)
            graph = self._fuzzy_graph(fitted, y)
            table = None if self._mixed else fitted.rows.X  # no axes of rows with categories and gaps
            start = space.start(self.init, graph, table, fitted.distinct, seed, threads)
            optimizer = self._optimizer(graph, fitted, self._epochs(fitted), self.learning_rate)
            positions = optimizer.run(start, lambda Z: space.coordinates(Z)[fitted.distinct.inverse], self.checkpoint)
            if self._precomputed and fitted.knn_graph is not None:
                average_tied(positions, fitted.knn_graph.coincident())
            elif isinstance(X, Graph) and fitted.rows.X is not None:
                average_tied(positions, distinct_rows(fitted.rows.X, threads).inverse)
            self.supervised_ = y is not None
            return self._keep(space.coordinates(space.projected(positions)), optimizer, fitted)

    def update(self, X: Any) -> Self:
        """Add new rows to the embedding; the fitted rows move little."""
        rows = self._read_new(X)
        if self.supervised_:
            raise BadInput("update() is not available after a supervised fit; refit with y.")
        if self._precomputed:
            raise BadParameter("update() needs rows; with metric='precomputed', refit with all distances.")
        old, fitted_rows = self.embedding_, self._out_of_sample.fitted_rows
        with self._alone(), single_blas():
            start = np.vstack([old, self._out_of_sample(rows)])
            k = self.n_neighbors - 1
            fitted = FittedNeighbors.extended(fitted_rows, self._state.distinct, rows, k, old.dtype)
            graph, n_epochs = self._fuzzy_graph(fitted), -(-self._epochs(fitted) // 2)
            optimizer = self._optimizer(graph, fitted, n_epochs, self.learning_rate / 10)
            positions = optimizer.run(self._space().points(start[fitted.distinct.first]))
            return self._keep(self._space().coordinates(positions), optimizer, fitted)

    def inverse_transform(self, Z: Any) -> Array:
        """Rows for points Z (m, k) of the embedding, by local linear regression on the nearest fitted rows.

        Neighbors are weighted by their membership strengths in the embedding. The position of a fitted row gives that
        row.
        """
        check_is_fitted(self)
        if self.X_fit_ is None:
            raise BadInput("inverse_transform needs the fitted rows; this UMAP was fitted to distances or a graph.")
        if self._mixed:
            raise BadInput("inverse_transform averages rows, which categories and gaps (metric='gower') do not allow.")
        positions, threads = self.embedding_[self._state.distinct.first], thread_count(self.n_jobs)
        Z = read_scores(Z, positions.shape[1])
        points, fitted = (self._space().flat(scores, "inverse_transform") for scores in (Z, positions))
        return self._finite(
            inverse_rows(points, fitted, self.X_fit_, self.n_neighbors_, self.local_connectivity, threads)
        )

    @property
    def graph_(self) -> sp.csr_array:
        """The fuzzy graph as a symmetric sparse matrix, (n, n); of equal rows, the first has the edges."""
        check_is_fitted(self)
        n = len(self.embedding_)
        half = sp.coo_array((self.weights_, (self.edges_[:, 0], self.edges_[:, 1])), shape=(n, n))
        return sp.csr_array(half + half.T)

    @property
    def n_connected_components_(self) -> int:
        """Connected components of the fuzzy graph."""
        return len(np.unique(component_labels(self.graph_)[self._state.distinct.first]))

    def _neighbors(self, X: Any, seed: int, threads: int) -> FittedNeighbors:
        """The nearest neighbors among the distinct rows; n_neighbors counts the row itself."""
        if isinstance(X, Affinities):
            raise BadInputType(
                "Affinities are for TSNE; a fuzzy graph is made of distances. Give lowdim.neighbors(X, k)."
            )
        source = read_source(self, X)
        return nearest_distinct_rows(source, NeighborSpec(self.n_neighbors - 1, self._fitted_metric, seed, threads))

    def _fuzzy_graph(self, fitted: FittedNeighbors, y: Any = None) -> FuzzyGraph:
        threads = fitted.rows.spec.threads
        graph = fuzzy_simplicial_set(fitted.knn_graph, self.local_connectivity, self.set_op_mix_ratio, threads)
        if self.disconnection_distance is not None:
            graph = graph.without_edges_from(self.disconnection_distance)
        if y is None:
            return graph
        return supervise(graph, y, self.target_metric, self.target_weight, fitted.distinct, fitted.k, threads)

    def _epochs(self, fitted: FittedNeighbors) -> int:
        return self.n_epochs or (200 if fitted.n > LARGE else 500)

    def _optimizer(self, graph: FuzzyGraph, fitted: FittedNeighbors, n_epochs: int, rate: float) -> UmapOptimizer:
        density = DensityTarget.of(graph, self.dens_lambda) if self.densmap and graph.n > 1 else None
        spec = fitted.rows.spec
        return UmapOptimizer(graph, self._params(rate, spec.seed), n_epochs, spec.threads, density)

    def _params(self, rate: float, seed: int) -> UmapParams:
        forces = self.a_, self.b_, self.repulsion_strength, self.negative_sample_rate
        return UmapParams(*forces, rate, seed, self._space())

    def _space(self) -> OutputSpace:
        return OutputSpace.of(self.output_metric, self.n_components, self.densmap)

    def _keep(self, positions: Array, optimizer: UmapOptimizer, fitted: FittedNeighbors) -> Self:
        distinct, density = fitted.distinct, None
        self.rad_orig_ = self.rad_emb_ = None
        if optimizer.density is not None and fitted.knn_graph is not None:
            curve = self.local_connectivity, self.a_, self.b_, optimizer.threads
            density = optimizer.density.for_new_rows(positions, fitted.knn_graph, *curve)
            radii = embedded_radii(positions, fitted.k, self.local_connectivity, optimizer.threads)
            self.rad_orig_, self.rad_emb_ = optimizer.density.radii[distinct.inverse], radii[distinct.inverse]
        endpoints, self.weights_ = optimizer.graph.unique_edges()
        self.edges_ = distinct.first.astype(np.int32)[endpoints]
        self.embedding_ = positions[distinct.inverse].astype(fitted.dtype)
        self.n_neighbors_, self.n_epochs_ = fitted.k + 1, self._epochs(fitted)
        self.X_fit_, self._state = fitted.rows.X, UmapState(optimizer.params.seed, distinct, density)
        self._cache = self._make_out_of_sample(fitted.rows)
        return self

    def _make_out_of_sample(self, rows: FittedRows | None = None) -> UmapOutOfSample:
        state = self._state
        if rows is None:
            spec = NeighborSpec(self.n_neighbors - 1, self._fitted_metric, state.seed, thread_count(self.n_jobs))
            rows = FittedRows(self.X_fit_, len(state.distinct.first), spec)
        positions = np.ascontiguousarray(self.embedding_[state.distinct.first], dtype=np.float32)
        return UmapOutOfSample(
            rows,
            positions,
            max(1, self.n_neighbors_ - 1),
            self.local_connectivity,
            self._params(self.learning_rate / 4, state.seed),
            max(1, self.n_epochs_ // 5),
            self._space(),
            state.density,
            self.disconnection_distance,
        )

    def _fitted_numbers(self) -> NDArray[np.int64]:
        return np.asarray(self._state.distinct.first)

    def _check_state(self, check: StateCheck) -> None:
        check_umap_state(check, self._precomputed, self._space)
