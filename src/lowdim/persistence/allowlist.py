"""The allowlists: which classes and attributes a model file may name.

A name in a file is looked up here and nowhere else, so a file can't make lowdim import, call or overwrite anything that
is not on a list.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterable
from importlib import import_module
from typing import Any

from lowdim.knn.graph import Graph
from lowdim.registry import exported_method, methods

__all__ = ["SUMMARIES", "documented_attributes", "estimators", "find_estimator", "find_state", "rules", "states"]

# Summaries that have files of their own: they are expensive, and several methods read them.
SUMMARIES: dict[str, type] = {"Graph": Graph}

# Modules whose exported frozen dataclasses may be parameters.
RULE_MODULES = ("lowdim.choose", "lowdim.kernels")

# Set by scikit-learn's validation on every estimator.
SKLEARN_ATTRIBUTES = ("n_features_in_", "feature_names_in_")


# Modules that export estimators which are no methods: they map nothing, but they are saved.
ESTIMATOR_MODULES = ("lowdim.select", "lowdim.subspace")


def estimators() -> dict[str, type[Any]]:
    """Every estimator class that a file may hold, by name."""
    exported = {name: value for module in ESTIMATOR_MODULES for name, value in _exported(module).items()}
    others = {name: value for name, value in exported.items() if getattr(value, "_method", None) is not None}
    return {method.name: method.cls for method in methods()} | others


def find_estimator(name: str) -> type[Any] | None:
    """The class of this name in `estimators()`; only where it is exported under that name it alone is imported."""
    method = exported_method(name)
    for module in ESTIMATOR_MODULES:
        package = import_module(module)
        if method is None and name in package.__all__:
            method = getattr(getattr(package, name), "_method", None)
    return estimators().get(name) if method is None or method.name != name else method.cls


def find_state(name: str) -> type | None:
    """The class of this name in `states()`: of the estimators that are imported, or if need be of all."""
    homes = [pair for package in ("lowdim", *ESTIMATOR_MODULES) for pair in import_module(package)._EXPORTS.items()]
    imported: list[Any] = [vars(sys.modules[home]).get(each) for each, home in homes if home in sys.modules]
    found = _states_of(cls for cls in imported if getattr(cls, "_method", None) is not None)
    return found[name] if name in found else states().get(name)


def states() -> dict[str, type]:
    """Every state class by name: summaries, and the `_state_classes` of all estimators."""
    return _states_of(estimators().values())


def _states_of(known: Iterable[Any]) -> dict[str, type]:
    found: dict[str, type] = {}
    for cls in (*SUMMARIES.values(), *(state for each in known for state in each._state_classes)):
        if found.setdefault(cls.__name__, cls) is not cls:
            raise TypeError(f"two state classes share the name {cls.__name__}: {found[cls.__name__]} and {cls}")
    return found


def rules() -> dict[str, type]:
    """Every rule and kernel by name: the frozen dataclasses with callable instances that RULE_MODULES export."""
    exported = {name: value for module in RULE_MODULES for name, value in _exported(module).items()}
    return {name: value for name, value in exported.items() if isinstance(value, type) and _is_rule(value)}


def documented_attributes(cls: type) -> frozenset[str]:
    """The fitted attributes that users may rely on: the Attributes section of the class docstring."""
    lines = iter(inspect.cleandoc(cls.__doc__ or "").splitlines())
    names: set[str] = set(SKLEARN_ATTRIBUTES)
    for line in lines:
        if line == "Attributes":
            next(lines, None)  # the underline
            break
    for line in lines:
        if line and set(line) == {"-"}:  # the underline of a section that follows
            break
        if line and not line.startswith(" "):
            names.update(name.strip() for name in line.partition(":")[0].split(","))
    return frozenset(name for name in names if name.endswith("_") and name.isidentifier())


def _exported(name: str) -> dict[str, Any]:
    module = import_module(name)
    return {name: getattr(module, name) for name in module.__all__}


def _is_rule(cls: type) -> bool:
    settings = getattr(cls, "__dataclass_params__", None)
    return settings is not None and settings.frozen and any("__call__" in vars(base) for base in cls.__mro__)
