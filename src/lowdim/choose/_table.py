"""Every rule's answer on one table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lowdim.choose._minka import minka
from lowdim.choose._parallel_analysis import ParallelAnalysis, parallel_analysis
from lowdim.choose._random_matrix import gavish_donoho, marchenko_pastur
from lowdim.choose._recommendation import RecommendedCount, recommend
from lowdim.choose._rules import Rule, Verdict, broken_stick, elbow, kaiser, share
from lowdim.data.rows import is_stream
from lowdim.data.rows.dask import is_dask, open_dask
from lowdim.decomposition.component_count import Spectrum
from lowdim.errors import MissingExtra
from lowdim.linear.pca import PCA
from lowdim.runtime.display import align, count, facts, grid, titled
from lowdim.runtime.random import Seed, seed_of
from lowdim.summaries.moments import Moments, moments

__all__ = ["Choices", "spectrum", "table"]

# Parallel analysis is listed after the first; it needs more than the eigenvalues.
RULES: tuple[Rule, ...] = (
    share(0.95),
    minka(),
    broken_stick(),
    kaiser(),
    gavish_donoho(),
    marchenko_pastur(),
    elbow("chord"),
    elbow("likelihood"),
)

MOST_PERMUTED = 2 << 30  # bytes of a Dask collection


@dataclass(frozen=True, eq=False)
class Choices:
    """A recommended number of components, and every rule's answer on one table."""

    spectrum: Spectrum
    verdicts: tuple[Verdict, ...]
    parallel: ParallelAnalysis

    @property
    def recommendation(self) -> RecommendedCount:
        """The recommended number with its reason, how far the rules agree, and a warning if they do not."""
        return recommend(self.spectrum, self.verdicts, self.parallel)

    @property
    def recommended(self) -> int:
        """The recommended number of components; 0 if none stands out from noise."""
        return self.recommendation.k

    @property
    def reason(self) -> str:
        """Why that number."""
        return self.recommendation.reason

    @property
    def agreement(self) -> str:
        """How far the rules agree that ask how many components stand out from noise."""
        return self.recommendation.agreement

    def to_dict(self) -> dict[str, Any]:
        """Plain lists and numbers, ready for JSON."""
        best = self.recommendation
        return {
            "recommended": best.k,
            "reason": best.reason,
            "agreement": best.agreement,
            "warning": best.warning,
            "n": self.spectrum.n,
            "d": self.spectrum.d,
            "ddof": self.spectrum.ddof,
            "standardized": self.spectrum.standardized,
            "eigenvalues": self.spectrum.values.tolist(),
            "shares": self.spectrum.shares.tolist(),
            "verdicts": [{"rule": v.rule, "k": v.k, "reason": v.reason} for v in self.verdicts],
            "parallel": self.parallel.to_dict(),
        }

    def to_pandas(self) -> Any:
        """One row per rule: its name, number of components, their share of the variance, and the reason."""
        try:
            import pandas as pd
        except ImportError as error:
            raise MissingExtra("a pandas table needs pandas: pip install pandas") from error
        shares = [self._share(v.k) for v in self.verdicts]
        columns = {name: [getattr(v, name) for v in self.verdicts] for name in ("rule", "k", "reason")}
        return pd.DataFrame({"rule": columns["rule"], "k": columns["k"], "share": shares, "reason": columns["reason"]})

    def plot(self, ax: Any = None) -> Any:
        """The scree plot with the null band of parallel analysis and every rule's choice."""
        from importlib import import_module

        return import_module("lowdim.plot").scree(self, ax=ax)

    def _share(self, k: int) -> float:
        return float(self.spectrum.shares[:k].sum())

    def __str__(self) -> str:
        name_width = max(len(v.rule) for v in self.verdicts)
        k_width = max(1, *(len(str(v.k)) for v in self.verdicts))
        lines = [f"{'rule':<{name_width}}  {'k':>{k_width}}  {'share':>6}  why"]
        lines += [
            f"{v.rule:<{name_width}}  {v.k:>{k_width}}  {self._share(v.k):>6.1%}  {v.reason}" for v in self.verdicts
        ]
        return "\n".join([self._title(), "", align(self._advice()), "", *lines])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = [(v.rule, v.k, f"{self._share(v.k):.1%}", v.reason) for v in self.verdicts]
        return titled(self._title(), facts(self._advice()), grid(("rule", "k", "share", "why"), rows))

    def _title(self) -> str:
        kind = "correlation" if self.spectrum.standardized else "covariance"
        size = f"{count(self.spectrum.n, 'row')} × {count(self.spectrum.d, 'column')}"
        return f"How many components? {size}, {kind} matrix"

    def _advice(self) -> list[tuple[str, str]]:
        """The recommendation, line by line."""
        best = self.recommendation
        number = f"{count(best.k, 'component')} ({self._share(best.k):.1%} of the variance)" if best.k else "none"
        lines = [("recommended", number), ("why", best.reason), ("agreement", best.agreement)]
        return lines if best.warning is None else [*lines, ("warning", best.warning)]


def table(
    X: Any,
    *,
    standardize: bool = False,
    replicates: int = 100,
    random_state: Seed = 0,
    n_jobs: int | None = None,
    ddof: int = 1,
) -> Choices:
    """The recommended number of components, and every rule's answer, each with its reason.

    Recommended is what parallel analysis keeps. `agreement` tells how many of the rules that ask the same question
    (which components stand out from noise?) say so too.

    Parameters
    ----------
    X : array, sparse matrix, memory map, dataframe, iterator of chunks, Dask collection, or `lowdim.moments(X)`
        n rows of d columns. Parallel analysis permutes its columns; where the rows can be read only once, and for more
        than 2 GiB of them on a cluster, it draws normal columns of the same variances instead.
    standardize : bool
        Use the correlation matrix: divide every column by its standard deviation.
    replicates : int
        Null tables that parallel analysis compares with.
    random_state : int, generator or None
        Seed of those tables.
    n_jobs : int, optional
        Threads. The result has the same bits for any number of them.
    ddof : 0 or 1
        Variances divide by n - ddof.

    Returns
    -------
    Choices
        `recommended`, `reason`, `agreement`; `verdicts` (rule, k, reason), `spectrum`, `parallel`. It can be printed,
        plotted, and made a dict or dataframe.

    """
    horn = parallel_analysis(replicates, random_state=seed_of(random_state), n_jobs=n_jobs)
    variances = None
    if is_stream(X) or _is_large(X):
        X = moments(X, n_jobs=n_jobs)
    found = spectrum(X, standardize=standardize, ddof=ddof, n_jobs=n_jobs)
    if isinstance(X, Moments):
        horn = replace(horn, form="gaussian")
        variances = np.diagonal(X.covariance(ddof))
    parallel = horn.run(found, variances)
    first, *others = (rule.verdict(found) for rule in RULES)
    return Choices(found, (first, horn.explain(parallel), *others), parallel)


def _is_large(X: Any) -> bool:
    """Whether X is a Dask collection whose columns no worker could permute: all of them at once are needed for it."""
    if not is_dask(X):
        return False
    rows = open_dask(X)
    return rows.count * rows.d * rows.dtype.itemsize > MOST_PERMUTED


def spectrum(X: Any, *, standardize: bool = False, ddof: int = 1, n_jobs: int | None = None) -> Spectrum:
    """All eigenvalues of the covariance (or correlation) matrix of X, as the rules read them."""
    recorder = _SpectrumRecorder()
    asked: dict[str, Any] = {"standardize": standardize, "ddof": ddof, "n_jobs": n_jobs}
    PCA(recorder, **asked).fit(X)
    return recorder.spectra[0]


class _SpectrumRecorder:
    """A rule that records the spectrum it is given."""

    def __init__(self) -> None:
        self.spectra: list[Spectrum] = []

    def __call__(self, spectrum: Spectrum) -> int:
        self.spectra.append(spectrum)
        return 1
