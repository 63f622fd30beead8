"""Horn's parallel analysis: components whose eigenvalues exceed those of independent columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.choose._null_spectra import gaussian_values, permuted_values
from lowdim.choose._rules import Rule, Verdict, leading, rounding
from lowdim.decomposition.component_count import Spectrum
from lowdim.runtime.param import Choice, Integer, Maybe, Real, param
from lowdim.runtime.progress import report
from lowdim.runtime.random import seed_of
from lowdim.runtime.threads import thread_count

__all__ = ["ParallelAnalysis", "p_text", "parallel_analysis"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ParallelAnalysis:
    """Eigenvalues beside those of independent columns. All arrays have one number per component."""

    values: Array  # of the data
    mean: Array  # over the replicates
    band: Array  # their upper quantile
    p_values: Array  # the share of the replicates that reach the data's value: #/R
    p_values_plus_one: Array  # (1 + #)/(1 + R), which is never zero
    replicates: int
    quantile: float
    alpha: float
    form: str
    keep: str

    @property
    def k(self) -> int:
        """The number of components by the chosen criterion."""
        return self.kept(self.keep)

    @property
    def null_columns(self) -> str:
        """What the columns of the null tables are."""
        return "shuffled" if self.form == "permutation" else "normal"

    def kept(self, by: str) -> int:
        """The components before the first that fails: by "p", "p_plus_one" or "quantile"."""
        if by == "quantile":
            return leading((self.values > self.band) & (self.p_values < 1))
        return leading((self.p_values if by == "p" else self.p_values_plus_one) < self.alpha)

    def to_dict(self) -> dict[str, Any]:
        """Plain lists and numbers."""
        arrays = ("values", "mean", "band", "p_values", "p_values_plus_one")
        scalars = ("replicates", "quantile", "alpha", "form", "keep", "k")
        return {name: getattr(self, name).tolist() for name in arrays} | {n: getattr(self, n) for n in scalars}


@dataclass(frozen=True)
class parallel_analysis(Rule):
    """Horn's parallel analysis: the leading eigenvalues that independent columns rarely reach.

    Each column is permuted independently (lecture 2), or normal columns of the same variances are drawn, which needs
    no rows. A replicate that ties with the data counts as reaching it.
    """

    replicates: int = param(100, Integer(1), "Null tables (independent columns) to compare with.", kw_only=False)
    quantile: float = param(0.95, Real(0, 1, open=True), "Upper quantile of the null eigenvalues.")
    alpha: float = param(0.05, Real(0, 1, open=True), "A component is kept while its p-value is below this.")
    keep: str = param(
        "p",
        Choice("p", "p_plus_one", "quantile"),
        "What a component must pass: its p-value #/R, the p-value (1 + #)/(1 + R), or the upper quantile.",
    )
    form: str = param(
        "permutation",
        Choice("permutation", "gaussian"),
        "Permute the columns, or draw normal columns of their variances.",
    )
    random_state: int | None = param(0, Maybe(Integer(0)), "Seed of the replicates; None draws a new one.")
    n_jobs: int | None = param(None, Maybe(Integer()), "Threads; the result has the same bits for any number.")

    def verdict(self, spectrum: Spectrum) -> Verdict:
        return self.explain(self.run(spectrum))

    def explain(self, found: ParallelAnalysis) -> Verdict:
        """The verdict on a comparison that was already made."""
        k, columns = found.k, f"{found.null_columns} columns"
        if k == len(found.values):
            return self._answer(k, f"every eigenvalue exceeds those of {columns}")
        p, how = found.p_values[k], "not clearly larger" if found.p_values[k] < 0.5 else "no larger"
        told = p_text(p, found.replicates)
        return self._answer(k, f"component {k + 1} is {how} than in {found.replicates} tables of {columns} ({told})")

    def run(self, spectrum: Spectrum, variances: Array | None = None) -> ParallelAnalysis:
        """Compare with the replicates. The variances of the columns may be given where there are no rows."""
        seed, threads = seed_of(self.random_state), thread_count(self.n_jobs)
        if self.form == "permutation":
            draws = permuted_values(spectrum, seed, self.replicates, threads)
        else:
            known = spectrum.variances if variances is None else variances
            draws = gaussian_values(spectrum, known, seed, self.replicates, threads)
        drawn = np.empty((self.replicates, len(spectrum.values)))
        for done, values in enumerate(draws):
            drawn[done] = values
            report("parallel analysis", done + 1, self.replicates)
        # What differs by rounding alone is a tie: one column is the same column, however shuffled.
        reached = (drawn >= spectrum.values - rounding(spectrum)).sum(axis=0)
        return ParallelAnalysis(
            values=spectrum.values,
            mean=drawn.mean(axis=0),
            band=np.quantile(drawn, self.quantile, axis=0),
            p_values=reached / self.replicates,
            p_values_plus_one=(1 + reached) / (1 + self.replicates),
            replicates=self.replicates,
            quantile=self.quantile,
            alpha=self.alpha,
            form=self.form,
            keep=self.keep,
        )


def p_text(p: float, replicates: int) -> str:
    """A p-value of so many replicates: none of them reached the value if it is 0."""
    return f"p < {1 / replicates:.2g}" if p == 0 else f"p ≈ {p:.2g}"
