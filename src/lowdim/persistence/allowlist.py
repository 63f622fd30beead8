"""The fixed lists: which classes a model file may name.

A name in a file is looked up here and nowhere else, so a file can't make lowdim import or call
anything that is not on a list.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

from lowdim.knn.graph import Graph
from lowdim.registry import methods
from lowdim.summaries.moments import Moments

__all__ = ["SUMMARIES", "estimators", "rules", "states"]

# Summaries that have a file of their own: they take long to make, and several methods read them.
SUMMARIES: dict[str, type] = {
    "Graph": Graph,
}


# Modules whose exported frozen dataclasses may be parameters.
RULE_HOMES = ("lowdim.choose", "lowdim.kernels")


def estimators() -> dict[str, type]:
    """Every registered estimator class by its name."""
    return {method.name: method.cls for method in methods()}


@cache
def states() -> dict[str, type]:
    """Summaries, and the dataclasses that estimators keep in order to map new rows or to go on fitting."""
    own = {cls.__name__: cls for method in methods() for cls in method.cls._state_classes}
    return {"Moments": Moments, **SUMMARIES, **own}


def rules() -> dict[str, type]:
    """Every frozen dataclass with callable instances that the homes of rules export, by its name."""
    found: dict[str, type] = {}
    for home in RULE_HOMES:
        for name, value in _exported(home).items():
            if isinstance(value, type) and _is_rule(value):
                found[name] = value
    return found


def _exported(home: str) -> dict[str, Any]:
    try:
        module = import_module(home)
    except ModuleNotFoundError as error:
        if error.name != home:  # the home is there, and something that it needs is not
            raise
        return {}
    return {name: getattr(module, name) for name in getattr(module, "__all__", ())}


def _is_rule(cls: type) -> bool:
    settings = getattr(cls, "__dataclass_params__", None)
    return settings is not None and settings.frozen and any("__call__" in vars(base) for base in cls.__mro__)
