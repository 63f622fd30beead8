"""t-distributed stochastic neighbor embedding (t-SNE)."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from lowdim.base.estimator import estimator
from lowdim.base.fit_memory import UNION, FitMemory
from lowdim.base.state import StateCheck
from lowdim.errors import BadParameter
from lowdim.knn.fitted import FittedRows, NeighborSpec
from lowdim.neighbor_embedding.base import NeighborEmbedding
from lowdim.neighbor_embedding.initialization import INIT, tsne_init
from lowdim.neighbor_embedding.tsne.affinities import PERPLEXITY, neighbor_count
from lowdim.neighbor_embedding.tsne.gradient_descent import GradientDescent, TsneOptions
from lowdim.neighbor_embedding.tsne.inputs import tsne_inputs
from lowdim.neighbor_embedding.tsne.out_of_sample import TsneOutOfSample
from lowdim.runtime.checkpoint import CHECKPOINT_PATH
from lowdim.runtime.param import Choice, Either, Integer, Maybe, Real, Such, param
from lowdim.runtime.random import seed_of
from lowdim.runtime.threads import thread_count

__all__ = ["TSNE"]

EARLY_STEPS = 250  # with early exaggeration, and at most a third of all
STEPS, EXAGGERATION = Integer(1, 10_000_000), Real(0, open=True)  # of a stage


def _is_perplexities(value: Any) -> bool:
    return isinstance(value, list | tuple) and len(value) > 0 and all(PERPLEXITY.accepts(one) for one in value)


def _is_stages(value: Any) -> bool:
    """Whether these are pairs of a number of steps and an exaggeration."""
    if not isinstance(value, list | tuple) or not value:
        return False
    pairs = all(isinstance(stage, list | tuple) and len(stage) == 2 for stage in value)
    return pairs and all(STEPS.accepts(steps) and EXAGGERATION.accepts(factor) for steps, factor in value)


@estimator(
    title="embedding that minimizes KL(P‖Q) between neighbor probabilities",
    summary="graph",
    sparse=True,
)
class TSNE(NeighborEmbedding):
    """t-distributed stochastic neighbor embedding.

        min KL(P ‖ Q),   p_ij Gaussian, calibrated to a perplexity,   q_ij ∝ (1 + |z_i - z_j|² / ν)^-(ν+1)/2

    The embedding keeps nearest neighbors. Distances between groups, and the sizes and densities of groups, mean
    little. `fit` takes rows, distances, a `Graph` (of at least 3 × perplexity neighbors) or `Affinities`. The same
    seed gives the same bits for any number of threads. Repulsion is exact up to 4,000 rows; above, it is computed by
    FFT in one or two dimensions and by Barnes-Hut in three, with a mean error of the force below 2%.

    Equal rows (with precomputed distances: rows at distance 0) share one position, and `transform` gives a fitted row
    its own position, bit for bit.

    The descent has two stages, with early exaggeration and without; `stages=[(250, 12), (250, 4), (500, 1)]` makes it
    three. A finished embedding is continued by another fit, with other settings, from its positions:

        model = TSNE(perplexity=500).fit(X)
        model = TSNE(init=model.embedding_, stages=[(500, 1)], perplexity=30).fit(X)

    The embedding can be watched: `with lowdim.watch(callback): …` calls callback(step) after every step, and
    `step.snapshot()` is the embedding at that step.

    {parameters}

    Attributes
    ----------
    embedding_ : array (n, k)
        The embedding of the fitted rows. `transform` never changes it.
    kl_divergence_ : float
        KL(P ‖ Q) of the embedding; above 4,000 rows with the normalization of FFT or Barnes-Hut (within 0.3%).
    perplexity_ : array
        The perplexities used: at least 1, at most (n - 1) / 3. Empty after a fit to Affinities without rows.
    n_iter_ : int
        Steps taken.
    metric_params_ : dict
        Parameters of the metric: those given, and what it takes from the fitted rows (variances, ranges, categories).
    X_fit_ : array or sparse matrix (n, d), or None
        The fitted rows; None after a fit to distances, or to a Graph or Affinities that do not know their rows.

    """

    n_components: int = param(2, Integer(1, 3), "Dimensions of the embedding.", kw_only=False)
    perplexity: float | tuple[float, ...] = param(
        30.0,
        Either(PERPLEXITY, Such("a list or tuple of such numbers", _is_perplexities)),
        "Effective number of neighbors; several are averaged, which keeps more of the global structure. "
        "Lowered to (n - 1) / 3 if there are too few rows.",
    )
    early_exaggeration: float = param(12.0, Real(1), "Factor of the attraction in the first steps.")
    early_exaggeration_iter: int | None = param(
        None, Maybe(Integer(0)), "Steps with early exaggeration; None: 250, but at most a third of max_iter."
    )
    exaggeration: float = param(1.0, EXAGGERATION, "Factor of the attraction in the later steps.")
    learning_rate: str | float = param(
        "auto", Either(Choice("auto"), Real(0, open=True)), "Learning rate; 'auto' is n over the exaggeration."
    )
    max_iter: int = param(750, Integer(1), "Maximum number of steps.")
    stages: Any = param(
        None,
        Maybe(Such("a list or tuple of pairs (steps, exaggeration)", _is_stages)),
        "Stages of the descent, each with its steps and its exaggeration, in place of max_iter and the exaggerations.",
    )
    tol: float = param(
        0.0,
        Real(0),
        "Relative tolerance: the loss converged if 50 steps of the last stage lower it by less. 0: never.",
    )
    dof: float = param(1.0, Real(0, open=True), "Degrees of freedom ν of the t-distribution; below 1, finer clusters.")
    init: Any = param(
        "pca",
        INIT,
        "'pca', 'spectral' (eigenvectors of the graph Laplacian of the affinities), 'random', or an (n, k) array.",
    )
    checkpoint: Any = param(
        None,
        CHECKPOINT_PATH,
        "Checkpoint file, written every 50 steps; fit resumes from an existing one, to the same bits.",
    )

    _axis = "t-SNE "

    # Per entry of the affinities: column and value (8), the same in the descent (8), p and log p in float64 (8 + 8).
    # Per row: positions, velocities, gains, forces and orders. Initialization: a covariance matrix, as PCA makes it.
    _fit_memory = FitMemory(scatters=1, keeps=True, search_tables=1, rows=100, edges=32 * UNION)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit to rows X, distances (metric='precomputed'), a Graph or Affinities."""
        with self._fitting():
            seed, threads = seed_of(self.random_state), thread_count(self.n_jobs)
            inputs = tsne_inputs(self, X, self.perplexity, seed, threads)
            start = tsne_init(self.init, inputs.rows, inputs.affinities, self.n_components, seed, threads)
            descent = GradientDescent(inputs.affinities, self._options(), threads, inputs.inverse)
            loop = descent.loop(start, self.checkpoint).resume().run()
            self.embedding_ = descent.positions(loop.state).astype(inputs.dtype)
            self.kl_divergence_, self.n_iter_ = descent.divergence(loop.state), loop.done
            self.perplexity_, self.X_fit_ = np.array(inputs.perplexity), inputs.X_fit
            self._cache = self._make_out_of_sample()
            return self

    def _neighbors_asked(self) -> int:
        return neighbor_count(self.perplexity)

    def _options(self) -> TsneOptions:
        rate = None if self.learning_rate == "auto" else float(self.learning_rate)
        return TsneOptions(self._stages(), rate, self.dof, self.tol)

    def _stages(self) -> tuple[tuple[int, float], ...]:
        """Steps and exaggeration of every stage: as given, or early exaggeration and the rest."""
        if self.stages is not None:
            return tuple((int(steps), float(exaggeration)) for steps, exaggeration in self.stages)
        early = self.early_exaggeration_iter
        if early is None:
            early = min(EARLY_STEPS, self.max_iter // 3)
        if early > self.max_iter:
            raise BadParameter(f"TSNE: early_exaggeration_iter={early} must be at most max_iter={self.max_iter}.")
        return (early, float(self.early_exaggeration)), (self.max_iter - early, float(self.exaggeration))

    def _make_out_of_sample(self) -> TsneOutOfSample:
        perplexity = tuple(self.perplexity_.tolist())
        k = neighbor_count(perplexity) if perplexity else 1
        spec = NeighborSpec(k, self._fitted_metric, 0, thread_count(self.n_jobs), algorithm="exact")
        positions = np.ascontiguousarray(self.embedding_, dtype=np.float32)
        return TsneOutOfSample(FittedRows(self.X_fit_, len(positions), spec), positions, perplexity, self.dof)

    def _check_state(self, check: StateCheck) -> None:
        check.floats("embedding_", "n", "k")
        check.require(self.embedding_.size > 0, "embedding_ must not be empty")
        n, d = check.sizes["n"], check.sizes["d"]  # no columns after a fit to a graph
        check.require(not self._precomputed or d in (0, n), f"n_features_in_ must be {n}, one distance per row")
        check.rows("X_fit_", "n", "d", optional=True)
        perplexity = check.floats("perplexity_", None, low=1.0)
        check.require(perplexity is not None and (perplexity <= n).all(), f"perplexity_ must be at most {n}")
        check.number("kl_divergence_", Real())
        check.number("n_iter_", Integer(1))
