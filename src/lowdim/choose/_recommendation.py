"""One number out of many rules: parallel analysis, with its reason and how far rules of the same question agree.

Rules answer three questions. `share` says how many components keep the variance, elbows and Kaiser's rule describe the
scree plot, and five rules ask how many components stand out from noise. Agreement is counted among those five alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lowdim.choose._parallel_analysis import ParallelAnalysis, p_text
from lowdim.choose._rules import Verdict, axes
from lowdim.decomposition.component_count import Spectrum
from lowdim.runtime.display import TextDisplay, count

__all__ = ["NOISE_RULES", "RecommendedCount", "recommend"]

# The rules that ask how many components stand out from noise.
NOISE_RULES = ("parallel_analysis", "minka", "broken_stick", "gavish_donoho", "marchenko_pastur")

NEAR = 0.2  # of the number of components, and at least 1: rules that differ by no more agree


@dataclass(frozen=True, repr=False)
class RecommendedCount(TextDisplay):
    """A number of components (0: none stands out from noise), the reason, and how far the rules agree."""

    k: int
    reason: str
    agreement: str
    warning: str | None = None  # if the rules disagree widely

    def __str__(self) -> str:
        lines = [f"{count(self.k, 'component')}: {self.reason}", f"agreement: {self.agreement}"]
        return "\n".join(lines if self.warning is None else [*lines, f"warning: {self.warning}"])


def recommend(spectrum: Spectrum, verdicts: Sequence[Verdict], parallel: ParallelAnalysis) -> RecommendedCount:
    """The number by parallel analysis, and what the other rules of the same question say of it."""
    k = parallel.k
    if spectrum.values.max(initial=0.0) <= 0:
        return RecommendedCount(0, "the rows do not vary", "no rule has anything to count")
    if spectrum.d == 1:
        return RecommendedCount(1, "there is one column, and so one component", "no rule has anything to compare")
    asked = [verdict for verdict in verdicts if verdict.rule in NOISE_RULES]
    return RecommendedCount(k, _reason(spectrum, parallel), _agreement(k, asked), _warning(k, asked))


def _reason(spectrum: Spectrum, parallel: ParallelAnalysis) -> str:
    k, null = parallel.k, f"{parallel.replicates} tables of {parallel.null_columns} columns"
    if k == 0:
        p = p_text(parallel.p_values[0], parallel.replicates)
        return f"no component stands out from noise: the first is no larger than in {null} ({p})"
    kept = "component 1 is" if k == 1 else f"components 1 to {k} are"
    largest = p_text(float(parallel.p_values[:k].max()), parallel.replicates)
    text = f"{kept} larger than in {null} ({largest})"
    if k >= len(axes(spectrum)):
        return text
    return f"{text}; component {k + 1} is not ({p_text(parallel.p_values[k], parallel.replicates)})"


def _near(k: int, verdict: Verdict) -> bool:
    return abs(verdict.k - k) <= max(1, round(NEAR * k))


def _agreement(k: int, asked: Sequence[Verdict]) -> str:
    """How many of the rules say k, or nearly so, and what the others say."""
    same = sum(verdict.k == k for verdict in asked)
    near = [verdict.k for verdict in asked if _near(k, verdict)]
    whole = f"{len(asked)} rules that tell components from noise"
    if same == len(asked):
        return f"all {whole} say {k}"
    text = f"{same} of the {whole} {'says' if same == 1 else 'say'} {k}"
    if len(near) > same:
        text += f", {len(near)} say {min(near)} to {max(near)}"
    others = [f"{verdict.rule} {verdict.k}" for verdict in asked if not _near(k, verdict)]
    return f"{text}; {', '.join(others)}" if others else text


def _warning(k: int, asked: Sequence[Verdict]) -> str | None:
    """A sentence if fewer than half of the rules are near k, with the numbers to try instead."""
    if 2 * sum(_near(k, verdict) for verdict in asked) > len(asked):
        return None
    counts = sorted(verdict.k for verdict in asked)
    text = f"these rules disagree widely, from {counts[0]} to {counts[-1]}"
    middle = counts[len(counts) // 2]
    if middle <= k:
        return f"{text}; check that your result also holds with {middle} components"
    return (
        f"{text}; parallel analysis is cautious where the first components are large, so check that your result also "
        f"holds with {middle} components"
    )
