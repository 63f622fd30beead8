"""All filters side by side: rankings, agreement, stability, and the optimism of selecting before cross-validating."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import kendalltau
from sklearn.base import clone

from lowdim.data.validation import FeatureRecord
from lowdim.errors import BadParameter
from lowdim.runtime.blas import single_blas
from lowdim.runtime.param import Integer
from lowdim.runtime.progress import report
from lowdim.runtime.random import Seed, seed_of
from lowdim.runtime.threads import ordered_map, thread_count
from lowdim.select._catalog import FILTERS, find_selector
from lowdim.select._comparison import Comparison, FilterResult
from lowdim.select._selector import Filter, resolve_count
from lowdim.select._stability import stability
from lowdim.select._target import Target, read_labeled_table
from lowdim.select._wrapper import SelectionTask, default_estimator, folds_of

__all__ = ["compare"]

Floats = NDArray[np.float64]

MOST_FEATURES = 10  # selected by default
QUADRATIC_ROWS = 5000  # beyond it, filters that compare all pairs of rows have to be asked for

_Owner = type("compare", (FeatureRecord,), {})  # named in messages


def compare(  # noqa: PLR0913  (one argument per choice)
    X: Any,
    y: Any = None,
    *,
    k: int | float | None = None,
    filters: Sequence[str] | Mapping[str, Any] | None = None,
    estimator: Any = None,
    cv: Any = 5,
    scoring: Any = None,
    n_resamples: int = 20,
    task: str = "auto",
    random_state: Seed = 0,
    n_jobs: int | None = None,
) -> Comparison:
    """Compare filters on one table: rankings, agreement, stability, and honest scores.

    Parameters
    ----------
    X : array, sparse matrix, dataframe, Table or path
        n rows of d columns.
    y : array of n classes or numbers
        The target; a Table or a labeled file brings its own.
    k : int or float, optional
        Features that each filter selects, or a share of them; None takes half, at most 10.
    filters : names, or a mapping of names to filters
        Which filters; None takes all that suit the data. Names: variance, f, fisher, chi2, mutual_information, mrmr,
        relieff, surf, multisurf, laplacian. Beyond 5,000 rows, surf and multisurf have to be asked for.
    estimator : a scikit-learn estimator, optional
        What is scored on the selected features; None takes a linear model on standardized columns.
    cv : int or splitter
        Folds of the cross-validation.
    scoring : str or scorer, optional
        Metric; None takes the estimator's own score.
    n_resamples : int
        Random halves of the rows that the stability is measured on.
    task : "auto", "classification" or "regression"
        What y is.
    random_state : int, generator or None
        Seed of the random halves.
    n_jobs : int, optional
        Threads; the result has the same bits for any number.

    Returns
    -------
    Comparison
        `results` (one per filter), `agreement`, `overlap`, `baseline`; it can be printed, plotted, and made a dict or
        dataframe. Each result has the score with the features selected on all rows before cross-validation
        (`outside`), which is optimistic, and with the selection repeated in each fold (`nested`).

    """
    if not Integer(2).accepts(n_resamples):
        raise BadParameter(f"n_resamples must be {Integer(2).text}; got {n_resamples!r}.")
    with single_blas():  # sums that its threads would split
        owner = _Owner()
        table, target = read_labeled_table(owner, X, y, task)
        d = table.shape[1]
        count = min(MOST_FEATURES, max(1, d // 2)) if k is None else resolve_count(owner, k, d)
        chosen = _filters(filters, table, target, count)
        labels = target.values if target.classes is None else target.classes[target.codes]
        model = default_estimator(target.is_discrete) if estimator is None else estimator
        data = SelectionTask(table, labels, model, folds_of(table, labels, target, cv), scoring)
        halves = _halves(len(table), target, n_resamples, seed_of(random_state))
        results = _results(chosen, data, halves, thread_count(n_jobs))
        baseline = data.scores(np.arange(d))
    names = getattr(owner, "feature_names_in_", None)
    features = tuple(f"column {j}" for j in range(d)) if names is None else tuple(map(str, names))
    tau, overlap = _agreement(results)
    return Comparison(features, count, len(table), target.is_discrete, tuple(results), tau, overlap, baseline)


def _filters(asked: Any, X: NDArray[Any], target: Target, count: int) -> dict[str, Any]:
    """The filters to compare, by name."""
    if isinstance(asked, Mapping):
        wrong = [name for name, model in asked.items() if not isinstance(model, Filter)]
        if wrong or not asked:
            raise BadParameter(f"filters must map names to filters of lowdim.select; {wrong or 'none'} is not one.")
        return {str(name): clone(model) for name, model in asked.items()}
    if asked is not None:
        unknown = [name for name in asked if name not in FILTERS]
        if isinstance(asked, str) or unknown or len(asked) == 0:
            raise BadParameter(f"filters must be a list of {', '.join(FILTERS)}; got {asked!r:.200}.")
        return {name: _make(name, count) for name in asked}
    unsuitable: set[str] = set()
    if not target.is_discrete:
        unsuitable |= {"fisher", "chi2"}
    if X.min() < 0:
        unsuitable.add("chi2")
    if len(X) > QUADRATIC_ROWS:
        unsuitable |= {"surf", "multisurf"}
    return {name: _make(name, count) for name in FILTERS if name not in unsuitable}


def _make(name: str, count: int) -> Any:
    """A filter that selects so many features, without a threshold of its own."""
    return find_selector(name)[0](count, threshold=None)


def _halves(n: int, target: Target, count: int, seed: int) -> list[NDArray[np.intp]]:
    """Random halves of the rows, by class so that each keeps its share; at least two rows of each class."""
    rng = np.random.default_rng(seed)
    codes = target.codes if target.codes is not None else np.zeros(n, dtype=np.int32)
    groups = [np.flatnonzero(codes == label) for label in range(int(codes.max()) + 1)]
    return [
        np.sort(np.concatenate([rng.permutation(group)[: max(2, (len(group) + 1) // 2)] for group in groups]))
        for _ in range(count)
    ]


def _results(
    filters: dict[str, Any], data: SelectionTask, halves: list[NDArray[np.intp]], threads: int
) -> list[FilterResult]:
    """Every filter on all rows, on every half, and on the training rows of every fold."""
    parts = [np.arange(len(data.y)), *halves, *(train for train, _ in data.splits)]

    def fit(item: tuple[str, NDArray[np.intp]]) -> Any:
        name, rows = item
        return clone(filters[name]).set_params(n_jobs=1).fit(data.X[rows], data.y[rows])

    items = [(name, rows) for name in filters for rows in parts]
    fitted: list[Any] = []
    for model in ordered_map(fit, items, threads):
        fitted.append(model)
        report("fitting filters", len(fitted), len(items))
    out = []
    for i, name in enumerate(filters):
        model, *others = fitted[i * len(parts) : (i + 1) * len(parts)]
        supports = [other.support_ for other in others]
        nested = [
            replace(data, splits=[split]).scores(np.flatnonzero(support))[0]
            for split, support in zip(data.splits, supports[len(halves) :], strict=True)
        ]
        outside = data.scores(np.flatnonzero(model.support_))
        stable = stability(supports[: len(halves)])
        out.append(FilterResult(name, model.scores_, model.ranking_, model.support_, stable, outside, np.array(nested)))
        report("scoring selections", i + 1, len(filters))
    return out


def _agreement(results: list[FilterResult]) -> tuple[Floats, Floats]:
    """Kendall's τ between the rankings, and the Jaccard index of the selections, (F, F) each."""
    tau = np.ones((len(results), len(results)))
    overlap = np.ones_like(tau)
    for i, a in enumerate(results):
        for j, b in enumerate(results[:i]):
            if len(a.ranking) > 1:
                tau[i, j] = tau[j, i] = kendalltau(a.ranking, b.ranking).statistic
            overlap[i, j] = overlap[j, i] = (a.support & b.support).sum() / (a.support | b.support).sum()
    return tau, overlap
