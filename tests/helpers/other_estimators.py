"""Selectors and subspace clusterers, found in the tables of public names, with settings that keep fits short."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.neighbors import KNeighborsClassifier

from lowdim import select, subspace
from lowdim.base.state import fitted_names
from lowdim.select._selector import Selector
from lowdim.subspace._base import SubspaceClusterer

__all__ = ["apply", "clusterers", "fitted_arrays", "quick", "savable", "selectors"]

TREES = ExtraTreesClassifier(3, max_depth=2, random_state=0)
QUICK: dict[str, dict[str, Any]] = {
    "SequentialSelection": {"k": 2, "cv": 2, "estimator": KNeighborsClassifier(2), "patience": 1},
    "RFE": {"cv": 2, "step": 0.5, "estimator": TREES},
    "Boruta": {"max_iter": 2, "tentative": True, "estimator": TREES},
    "PROCLUS": {"n_clusters": 2, "n_init": 2},
    "PCluster": {"delta": 0.05, "min_rows": 11},
    "SUBCLU": {"eps": 0.08, "min_samples": 40},
}


def selectors() -> dict[str, type[Any]]:
    """Every public selector, by name."""
    return _classes(select, Selector)


def clusterers() -> dict[str, type[Any]]:
    """Every public subspace clusterer, by name."""
    return _classes(subspace, SubspaceClusterer)


def _classes(package: Any, base: type) -> dict[str, type[Any]]:
    public = {name: getattr(package, name) for name in package.__all__}
    return {name: cls for name, cls in public.items() if isinstance(cls, type) and issubclass(cls, base)}


def quick(name: str, **options: Any) -> Any:
    """A selector or clusterer whose fits are short."""
    return (selectors() | clusterers())[name](**QUICK.get(name, {}) | options)


def savable(model: Any) -> Any:
    """The model without the estimator of another package that it was given, which is not written to a file."""
    foreign = not isinstance(getattr(model, "estimator", ""), str)
    return model.set_params(estimator=None) if foreign else model


def apply(model: Any, X: Any) -> Any:
    """What a fitted selector or clusterer makes of rows."""
    return model.memberships(X) if isinstance(model, SubspaceClusterer) else model.transform(X)


def fitted_arrays(model: Any) -> list[Any]:
    """All numbers that a fit found, in the order of the attributes' names."""
    if isinstance(model, SubspaceClusterer):
        return [model.labels_, *(part for cluster in model.clusters_ for part in (cluster.rows, cluster.dimensions))]
    found = (getattr(model, name) for name in sorted(fitted_names(model)))
    return [value for value in found if isinstance(value, np.ndarray | int | float)]
