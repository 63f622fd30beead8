"""A suggestion as what to type: commands of the command line, and lines of Python."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lowdim.advice._evidence import Evidence
from lowdim.advice._settings import Suggestion

__all__ = ["CommandLine", "commands", "python_code"]

SUPERVISED = ("LDA", "SIR", "DirectionalRegression")


@dataclass(frozen=True)
class CommandLine:
    """What the commands of a suggestion are about."""

    data: str = "DATA"
    flags: tuple[str, ...] = ()  # that name columns, as --label species
    target: str | None = None
    label: str | None = None  # the name of the column of labels, given or inferred
    standardizes: bool = True  # whether `lowdim map` would, if nobody says


def commands(choice: Suggestion, e: Evidence, about: CommandLine) -> tuple[str, ...]:
    """One command, or two: principal components into a file, and the map of those."""
    own = [f for name, value in choice.parameters.items() for f in _flag(name, value)]
    method = ["--method", choice.method.lower()]
    target = _target_flags(choice, e, about)
    if choice.components_first is None:
        scale = _scale_flags(choice.standardize, about)
        return (_joined("map", about.data, [*method, *own, *about.flags, *target, *scale]),)
    table = f"{Path(about.data).stem}-components.csv"
    first = ["--n-components", str(choice.components_first), *_em(e), *about.flags]
    if target and "--drop" not in target and "--label" not in about.flags:  # the table carries it along as its label
        first += ["--label", target[1]]
    elif not target and about.label is not None:
        target = ["--label", about.label]
    scale = _scale_flags(choice.standardize, about)
    return (
        _joined("map", about.data, [*first, *scale, "-o", table]),
        _joined("map", table, [*method, *own, "--no-standardize", *target]),
    )


def python_code(choice: Suggestion, e: Evidence) -> str:
    """Python that makes the coordinates Z of the rows X, with the target y where the method takes one."""
    used, rows = [choice.method], "X"
    model = f"{choice.method}({_arguments(choice, e)})"
    if choice.components_first is not None:
        used.append("PCA")
        inner = [str(choice.components_first), *(["standardize=True"] if choice.standardize else [])]
        rows = f"PCA({', '.join([*inner, *_em_argument(e)])}).fit_transform(X)"
    elif choice.standardize and choice.method != "PCA":
        used.append("Standardized")
        model = f"Standardized({model})"
    y = ", y" if _uses_target(choice, e) else ""
    return f"from lowdim import {', '.join(sorted(set(used)))}\n\nZ = {model}.fit_transform({rows}{y})"


def _arguments(choice: Suggestion, e: Evidence) -> str:
    given = dict(choice.parameters)
    first = given.pop("n_components", None)
    words = [] if first is None else [repr(first)]
    if choice.method == "PCA" and choice.standardize:
        given["standardize"] = True
    if choice.method == "UMAP" and e.target == "numbers":
        given["target_metric"] = "numeric"
    return ", ".join([*words, *(f"{name}={value!r}" for name, value in given.items())])


def _flag(name: str, value: Any) -> list[str]:
    if name == "metric":  # the command line says what it does with the columns instead
        return {"gower": ["--encode", "gower"], "precomputed": []}.get(value, ["--metric", str(value)])
    if name in ("missing", "handle_missing"):  # what the command line does by itself
        return []
    return [f"--{name.replace('_', '-')}", str(value)]


def _scale_flags(standardize: bool | None, about: CommandLine) -> list[str]:
    if standardize is None or standardize == about.standardizes:
        return []
    return ["--standardize" if standardize else "--no-standardize"]


def _uses_target(choice: Suggestion, e: Evidence) -> bool:
    return choice.method in SUPERVISED or (choice.method == "UMAP" and e.target is not None)


def _target_flags(choice: Suggestion, e: Evidence, about: CommandLine) -> list[str]:
    if not _uses_target(choice, e):  # but the target is no feature either
        aside = "--drop" if "--label" in about.flags else "--label"
        return [] if about.target is None else [aside, about.target]
    named = about.target or about.label
    target = [] if named is None else ["--target", named]
    return [*target, *(["--target-metric", "numeric"] if choice.method == "UMAP" and e.target == "numbers" else [])]


def _em(e: Evidence) -> list[str]:
    return ["--missing", "em"] if e.missing else []


def _em_argument(e: Evidence) -> list[str]:
    return ["missing='em'"] if e.missing else []


def _joined(command: str, data: str, words: Sequence[str]) -> str:
    return " ".join(["lowdim", command, *map(shlex.quote, [data, *words])])
