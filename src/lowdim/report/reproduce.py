"""How to make a comparison again: the Python code, and the command where there was one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lowdim.base.standardization import inner_estimator
from lowdim.report.fit_maps import named_methods

__all__ = ["Reproduction", "python_code"]

DEFAULTS: dict[str, Any] = {
    "standardize": None,
    "metric": "euclidean",
    "k": 15,
    "baselines": ("random", "pca"),
    "sample": None,
    "title": None,
    "random_state": 0,
    "null": None,
}


@dataclass(frozen=True)
class Reproduction:
    """Code that makes the same maps and the same report; empty where there is none."""

    python: str = ""
    command: str = ""


def python_code(
    methods: Any, options: Mapping[str, Any], reading: Sequence[str] = (), given: Sequence[str] = ()
) -> str:
    """A program that calls `lowdim.compare`.

    `reading` are lines that read the table as X; without them, X is the caller's, as are the arguments that are `given`
    beside it and the coordinates among the methods. Options that have their default are left out.
    """
    classes: set[type] = set()
    own = list(given)
    asked = [] if methods is None else [_methods_text(methods, classes, own)]
    changed = [f"{name}={value!r}" for name, value in options.items() if value != DEFAULTS[name]]
    arguments = ["X", *asked, *(f"{name}={name}" for name in given), *changed]
    lines = ["import lowdim", *sorted(_import(cls) for cls in classes)]
    names = ", ".join(dict.fromkeys(["X", *own]))
    lines += ["", *(reading or [f"# {names}: what lowdim.compare was given"])]
    return "\n".join([*lines, f"result = lowdim.compare({', '.join(arguments)})", 'result.save("compare.html")'])


def _methods_text(methods: Any, classes: set[type], own: list[str]) -> str:
    """The methods as Python writes them; `classes` collects what must be imported, `own` the names of arrays."""
    pairs = list(named_methods(methods))
    texts = [_method_text(name, given, classes, own) for name, given in pairs]
    if isinstance(methods, Mapping):
        return "{" + ", ".join(f"{name!r}: {text}" for (name, _), text in zip(pairs, texts, strict=True)) + "}"
    return f"[{', '.join(texts)}]"


def _method_text(name: str | None, given: Any, classes: set[type], own: list[str]) -> str:
    if isinstance(given, str):
        return repr(given)
    if isinstance(given, np.ndarray):
        own.append("Z" if name is None or not name.isidentifier() else name)
        return own[-1]
    classes |= {type(given), type(inner_estimator(given))}
    text = " ".join(repr(given).split())
    return text.partition("), fitted to")[0] + ")" if "), fitted to" in text else text


def _import(cls: type) -> str:
    """The line that imports a class: from lowdim, if it is one of its own."""
    module = "lowdim" if cls.__module__.startswith("lowdim.") else cls.__module__
    return f"from {module} import {cls.__name__}"
