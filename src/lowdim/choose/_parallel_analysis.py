"""Horn's parallel analysis: components that columns without relation to each other don't have."""

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

__all__ = ["Parallel", "parallel_analysis"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Parallel:
    """Eigenvalues beside those of unrelated columns. All arrays have one number a component."""

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
        """The count by the chosen criterion."""
        return self.kept(self.keep)

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
    """Horn's parallel analysis: the leading eigenvalues that unrelated columns rarely reach.

    The columns are made unrelated by shuffling each by itself (lecture 2), or are drawn as normals of the same
    variances, which needs no rows. A replicate that ties with the data counts as reaching it.
    """

    replicates: int = param(100, Integer(1), "Tables of unrelated columns to compare with.", kw_only=False)
    quantile: float = param(0.95, Real(0, 1, open=True), "Upper end of the band of their eigenvalues.")
    alpha: float = param(0.05, Real(0, 1, open=True), "A component is kept while its p-value is below this.")
    keep: str = param(
        "p",
        Choice("p", "p_plus_one", "quantile"),
        "What a component must pass: its p-value #/R, the p-value (1 + #)/(1 + R), or the upper quantile.",
    )
    form: str = param(
        "permutation",
        Choice("permutation", "gaussian"),
        "Shuffle the columns, or draw normals of their variances.",
    )
    random_state: int | None = param(0, Maybe(Integer(0)), "Seed of the replicates; None draws a new one.")
    n_jobs: int | None = param(None, Maybe(Integer()), "Threads; the result has the same bits for any number.")

    def verdict(self, spectrum: Spectrum) -> Verdict:
        return self.explain(self.run(spectrum))

    def explain(self, found: Parallel) -> Verdict:
        """The verdict on a comparison that has been made already."""
        k, how = found.k, "shuffled" if self.form == "permutation" else "normal"
        if k == len(found.values):
            return self._says(k, f"every eigenvalue exceeds those of {how} columns")
        p = found.p_values[k]
        return self._says(k, f"component {k + 1} has p = {p:.3g} against {found.replicates} tables of {how} columns")

    def run(self, spectrum: Spectrum, variances: Array | None = None) -> Parallel:
        """Compare with the replicates. The columns' variances may be given where there are no rows."""
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
        return Parallel(
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
