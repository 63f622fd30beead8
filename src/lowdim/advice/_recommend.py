"""`recommend`: one method to start from, alternatives, and what to type."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from lowdim.advice._code import CommandLine, commands, python_code
from lowdim.advice._evidence import Evidence, gather
from lowdim.advice._findings import findings
from lowdim.advice._rules import AdviceRule, first_rule
from lowdim.advice._settings import Suggestion, is_feasible, suggest
from lowdim.runtime.display import align, count, facts, paragraph, printable, titled
from lowdim.runtime.random import Seed

__all__ = ["Recommendation", "recommend"]

MOST_OTHERS = 3
WHAT = ("rows", "columns", "categories", "kind", "sparse", "counts", "answers", "missing", "standardized")
ASKED = ("target", "labels", "classes")
SHAPE = ("linear", "linear_share", "two_share", "intrinsic", "intrinsic_normal", "curved", "groups", "structured")
SCALED = ("distance_dimensions", "distance_share")


@dataclass(frozen=True)
class Recommendation:
    """A method to start from, with its reason and its settings; alternatives; the evidence, in words and figures."""

    rule: str  # the name of the rule that decided
    reason: str
    first: Suggestion
    others: tuple[Suggestion, ...]
    evidence: Evidence
    about: CommandLine = field(default_factory=CommandLine)

    @property
    def method(self) -> str:
        """The name of the method to start from."""
        return self.first.method

    @property
    def n_components(self) -> Any:
        """How many dimensions: a number, or "auto" where the method decides."""
        return self.first.n_components

    @property
    def findings(self) -> list[tuple[str, str]]:
        """The evidence: a name and a sentence each."""
        return findings(self.evidence)

    @property
    def commands(self) -> tuple[str, ...]:
        """What to type on the command line."""
        return commands(self.first, self.evidence, self.about)

    @property
    def python(self) -> str:
        """What to type in Python, for rows X and, where a target is used, y."""
        return python_code(self.first, self.evidence)

    def code_of(self, choice: Suggestion) -> str:
        """The Python of any of the suggestions."""
        return python_code(choice, self.evidence)

    def commands_of(self, choice: Suggestion) -> tuple[str, ...]:
        """The commands of any of the suggestions."""
        return commands(choice, self.evidence, self.about)

    def to_dict(self) -> dict[str, Any]:
        """Plain lists, numbers and text, ready for JSON."""
        typed = {
            choice: {"commands": list(self.commands_of(choice)), "python": self.code_of(choice)}
            for choice in (self.first, *self.others)
        }
        return {
            **self.first.to_dict(),
            **typed[self.first],
            "rule": self.rule,
            "reason": self.reason,
            "alternatives": [other.to_dict() | typed[other] for other in self.others],
            "evidence": dict(self.findings),
            "figures": _figures(self.evidence),
        }

    def __str__(self) -> str:
        blocks = [
            self._title(),
            align([("start with", _named(self.first)), ("why", printable(self.reason)), *_set(self.first)]),
            "Evidence\n" + _indented(align((name, printable(text)) for name, text in self.findings)),
            "Run\n" + _indented("\n".join([*self.commands, "", *self.python.splitlines()])),
        ]
        for other in self.others:
            lines = [_named(other), f"  {other.when}", *(f"  {line}" for line in self.commands_of(other))]
            blocks.append("Or " + "\n".join(lines))
        return "\n\n".join(blocks)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        start = [("start with", _named(self.first)), ("why", self.reason), *_set(self.first)]
        run = [("command", " ; ".join(self.commands)), ("Python", self.python.replace("\n\n", "; "))]
        others = [(_named(other), other.when) for other in self.others]
        parts = [facts(start), paragraph("Evidence"), facts(self.findings), paragraph("Run"), facts(run)]
        return titled(self._title(), *parts, *([paragraph("Or"), facts(others)] if others else []))

    def _title(self) -> str:
        return f"What to start from: {dict(self.findings)['table']}"


def recommend(
    X: Any,
    labels: Any = None,
    *,
    target: Any = None,
    standardize: bool | None = None,
    random_state: Seed = 0,
    n_jobs: int | None = None,
) -> Recommendation:
    """Which method and how many dimensions to start from, in words, with the evidence and the code to run.

    Parameters
    ----------
    X : array, sparse matrix, dataframe, Table, file, or a square matrix of distances
        n rows. Text columns are categories, NaN is a missing value, and a square symmetric matrix with zeros on its
        diagonal holds distances.
    labels : n labels, optional
        Classes or numbers that you will color by. They do not decide the map, but LDA or SIR becomes an alternative.
    target : n classes or numbers, optional
        What the map should explain: the first choice then uses it.
    standardize : bool, optional
        Whether you will divide the columns by their standard deviations. None does, unless the columns share a scale:
        pixels, counts, or answers from 1 to 5.
    random_state : int, generator or None
        Seed of the sample that is measured and of what it is compared with.
    n_jobs : int, optional
        Threads. The result has the same bits for any number of them.

    Returns
    -------
    Recommendation
        `method`, `n_components`, `reason`, `first` and `others` (with their parameters and reasons), `findings`,
        `commands`, `python`. It can be printed or converted to a dict.

    """
    evidence = gather(X, labels, target, standardize, random_state, n_jobs)
    rule = first_rule(evidence)
    first = replace(suggest(rule.first, evidence), when="")
    others = tuple(suggest(method, evidence) for method in _alternatives(rule, evidence))
    return Recommendation(rule.name, rule.reason(evidence), first, others, evidence)


def _alternatives(rule: AdviceRule, e: Evidence) -> list[str]:
    """Those of the rule, and what the labels and the answers allow; none that so many rows forbid."""
    names = list(rule.others)
    if e.labels is not None and e.columns and not e.categories and not (e.counts or e.sparse):
        names.insert(1, "LDA" if e.labels == "classes" else "SIR")
    if e.answers is not None and not e.missing and not e.sparse:
        names.insert(0, "MCA")
    return [name for name in dict.fromkeys(names) if name != rule.first and is_feasible(name, e)][:MOST_OTHERS]


def _named(choice: Suggestion) -> str:
    """UMAP, 2 dimensions, of 28 principal components."""
    k = choice.n_components
    size = "as many dimensions as a test finds" if k == "auto" else count(k, "dimension")
    before = choice.components_first
    return f"{choice.method}, {size}" + ("" if before is None else f", of {count(before, 'principal component')}")


def _set(choice: Suggestion) -> list[tuple[str, str]]:
    """The settings with their reasons, one line each."""
    lines = [(setting.name, f"{setting.value}: {setting.reason}") for setting in choice.settings]
    if choice.components_first is not None:
        why = "that keep 95% of the variance, 50 at most: neighbors among fewer columns are quicker and less noisy"
        lines.append(("first", f"{count(choice.components_first, 'principal component')}, {why}"))
    if choice.standardize is not None:
        lines.append(("standardize", "yes" if choice.standardize else "no"))
    return lines


def _figures(e: Evidence) -> dict[str, Any]:
    return {name: getattr(e, name) for name in (*WHAT, *ASKED, *SHAPE, *SCALED)}


def _indented(text: str) -> str:
    return "\n".join(f"  {line}".rstrip() for line in text.splitlines())
