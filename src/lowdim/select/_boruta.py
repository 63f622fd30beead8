"""Boruta (Kursa and Rudnicki 2010): every feature that beats the best of shuffled copies more often than by chance."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, bdtrc
from sklearn.base import clone

from lowdim.base.estimator import SeedMixin, ThreadsMixin, estimator
from lowdim.base.state import StateCheck
from lowdim.runtime.checkpoint import CHECKPOINT_PATH
from lowdim.runtime.param import Flag, Integer, Real, param
from lowdim.runtime.progress import report
from lowdim.runtime.random import seed_of
from lowdim.runtime.threads import thread_count
from lowdim.select._checkpoint import ResultLog
from lowdim.select._rfe import importances_of
from lowdim.select._selector import Selector
from lowdim.select._target import Target, TaskMixin, read_labeled_table
from lowdim.select._wrapper import ESTIMATOR, estimator_errors

__all__ = ["Boruta"]

Floats = NDArray[np.float64]

LEAST_SHADOWS = 5  # so that the best of them is not a matter of one shuffle
DROPPED = -1.0  # stands for the importance of a feature that no longer takes part


@estimator(title="all relevant features, by shuffled copies", summary="rows", supervised=True, sparse=True)
class Boruta(SeedMixin, ThreadsMixin, TaskMixin, Selector):
    """Find all features that matter, not a smallest set: those more important than the best shuffled copy.

    In each iteration a forest is fitted to the features and to shuffled copies of them (shadows), and a feature that is
    more important than every shadow scores a hit. A two-sided binomial test with Bonferroni's correction confirms or
    rejects features by their hits; what is left undecided in the end is tentative.

    {parameters}

    Attributes
    ----------
    decision_ : array (d,)
        1 confirmed, 0 tentative, -1 rejected.
    hits_ : array (d,)
        Iterations in which a feature beat all shadows.
    importances_ : array (d,)
        Mean importance over the iterations in which a feature took part.
    shadow_importances_ : array (n_iter_,)
        The largest importance of a shadow in each iteration.
    n_iter_ : int
        Iterations, fewer than `max_iter` if all features were decided.
    support_ : array (d,)
        Whether a feature is selected.

    """

    estimator: Any = param(
        None, ESTIMATOR, "An estimator with feature_importances_ or coef_; None: a random forest of 200 trees."
    )
    max_iter: int = param(100, Integer(1), "Iterations at most; below 15 or so, no hits are enough to decide.")
    alpha: float = param(0.01, Real(0, 1, open=True), "Level of the test, over all features together.")
    tentative: bool = param(False, Flag(), "Select tentative features as well.")
    checkpoint: str | os.PathLike[str] | None = param(
        None, CHECKPOINT_PATH, "File that keeps every iteration; a fit that was stopped resumes from it."
    )

    def fit(self, X: Any, y: Any = None) -> Boruta:
        """Compare the features with their shadows until each is decided."""
        with self._fitting():
            table, target = read_labeled_table(self, X, y, self.task)
            seed, model = seed_of(self.random_state), self._forest(target)
            log = ResultLog(self.checkpoint, "Boruta", table, target.values, repr(model), seed, self.alpha)
            d = table.shape[1]
            self.decision_, self.hits_ = np.zeros(d, dtype=np.int64), np.zeros(d, dtype=np.int64)
            sums, rounds = np.zeros(d), np.zeros(d)
            shadows: list[float] = []
            while (self.decision_ == 0).any() and len(shadows) < self.max_iter:
                columns = np.flatnonzero(self.decision_ >= 0)

                def compare(iteration: int, columns: NDArray[np.intp] = columns) -> Floats:
                    return _with_shadows(model, table, target.values, columns, (seed, iteration))

                ((_, found),) = log.compute([len(shadows)], "iteration {}".format, compare, 1)
                importances, shadow = np.array(found[:-1]), found[-1]
                there = importances != DROPPED
                shadows.append(shadow)
                sums[there] += importances[there]
                rounds += there
                self.hits_ += importances > shadow
                self._decide(len(shadows))
                report("Boruta", len(shadows), self.max_iter, undecided=int((self.decision_ == 0).sum()))
            self.importances_, self.shadow_importances_ = sums / rounds, np.array(shadows)
            self.n_iter_ = len(shadows)
            self.support_ = self.decision_ >= (0 if self.tentative else 1)
        return self

    def _forest(self, target: Target) -> Any:
        if self.estimator is not None:
            return self.estimator
        from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

        forest = RandomForestClassifier if target.is_discrete else RandomForestRegressor
        return forest(200, n_jobs=thread_count(self.n_jobs))

    def _decide(self, rounds: int) -> None:
        """Confirm or reject undecided features whose number of hits is unlikely for a fair coin."""
        level = self.alpha / len(self.hits_)
        open_ = self.decision_ == 0
        confirmed = open_ & (bdtrc(self.hits_ - 1.0, rounds, 0.5) < level)
        rejected = open_ & (bdtr(self.hits_.astype(float), rounds, 0.5) < level)
        self.decision_[confirmed], self.decision_[rejected] = 1, -1

    def _check_state(self, check: StateCheck) -> None:
        super()._check_state(check)
        check.number("n_iter_", Integer(1))
        decision = check.value("decision_")
        kinds = isinstance(decision, np.ndarray) and decision.dtype.kind == "i" and np.isin(decision, (-1, 0, 1)).all()
        check.require(kinds and decision.shape == (check.sizes["d"],), "decision_ must hold 1, 0 or -1 per feature")
        check.indices("hits_", "d", below=self.n_iter_ + 1)
        check.floats("importances_", "d")
        check.floats("shadow_importances_", self.n_iter_)


def _with_shadows(
    model: Any, X: NDArray[Any], y: NDArray[Any], columns: NDArray[np.intp], seed: tuple[int, int]
) -> Floats:
    """Importances of the features that take part, and last that of the best shadow, (d + 1,)."""
    rng = np.random.default_rng(seed)
    copies = -(-max(LEAST_SHADOWS, len(columns)) // len(columns))
    shadows = rng.permuted(np.tile(X[:, columns], copies), axis=0)
    fitted = clone(model)
    if "random_state" in fitted.get_params():
        fitted.set_params(random_state=int(rng.integers(2**31)))
    with estimator_errors(model):
        importances = importances_of(fitted.fit(np.hstack([X[:, columns], shadows]), y))
    out = np.full(X.shape[1] + 1, DROPPED)
    out[columns] = importances[: len(columns)]
    out[-1] = importances[len(columns) :].max()
    return out
