"""Fit several methods to one table: standardized once, with one neighbor graph, each by itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import get_tags

from lowdim.base.estimator import Estimator
from lowdim.base.standardization import build_estimator, inner_estimator
from lowdim.base.standardized import Standardized
from lowdim.data.rows import Rows, open_rows
from lowdim.data.table import Table
from lowdim.errors import BadInput, BadParameter, Cancelled, LowdimError
from lowdim.registry import find_method
from lowdim.report.shared_neighbors import SharedNeighbors, neighbors_read
from lowdim.runtime.param import parameters
from lowdim.runtime.progress import report

__all__ = ["DEFAULT_METHODS", "ComparedRows", "FittedMaps", "MapSpec", "fit_maps", "named_methods", "read_methods"]

Array = NDArray[Any]

DEFAULT_METHODS = ("pca", "isomap", "tsne", "umap")
OF_DISTANCES = ("classicalmds", "isomap", "tsne", "umap")  # the default where there are distances, or Gower's
MOST_ROWS = {"isomap": 10_000}  # of defaults that compare all rows with all


@dataclass(frozen=True)
class MapSpec:
    """One map that was asked for: an estimator that is not fitted yet, or coordinates made elsewhere."""

    name: str
    model: Any = None
    embedding: Array | None = None  # (n, k)

    @property
    def estimator(self) -> Any:
        """The method itself, without what standardizes for it."""
        return inner_estimator(self.model)


@dataclass(frozen=True)
class ComparedRows:
    """The rows that all methods see, and how distances between them are measured."""

    table: Table
    metric: str
    standardized: bool | None  # None: there are no columns, but distances
    scaler: Standardized | None  # holds the means and standard deviations
    rows: Rows  # (n, d), standardized if the columns are; or (n, n) distances

    @classmethod
    def of(cls, table: Table, metric: str, standardized: bool | None) -> ComparedRows:
        """Standardize the rows once, for all methods and for the measures of quality."""
        if not standardized:
            return cls(table, metric, standardized, None, table.rows())
        scaler = Standardized(find_method("pca").cls())
        return cls(table, metric, True, scaler, open_rows(scaler._fit_scale(table.rows())))


@dataclass
class FittedMaps:
    """The maps that were made, and those that were not, with the reason."""

    maps: dict[str, Array] = field(default_factory=dict)  # name to (n, k)
    models: dict[str, Any] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    neighbors: SharedNeighbors | None = None


def read_methods(
    methods: Any, table: Table, metric: str, standardized: bool | None, settings: Mapping[str, Any]
) -> tuple[list[MapSpec], dict[str, str]]:
    """What to fit, and which defaults are left out because of their size limits, with the reason.

    `settings` (random_state, n_jobs) are those of methods that are given by name.
    """
    left_out: dict[str, str] = {}
    if methods is None:
        distances = table.kind == "distances" or metric in ("precomputed", "gower")
        methods = OF_DISTANCES if distances else DEFAULT_METHODS
        for name, most in MOST_ROWS.items():
            if name in methods and table.rows().count > most:
                methods = [other for other in methods if other != name]
                left_out[find_method(name).name] = (
                    f"it compares all rows with all, and is a default up to {most:,} rows only; name it to have it."
                )
    specs: list[MapSpec] = []
    for called, given in named_methods(methods):
        spec = _spec(given, metric, standardized, settings)
        specs.append(MapSpec(_unused(called or spec.name, specs), spec.model, spec.embedding))
    if not specs:
        raise BadParameter("methods must name one method at least, such as ['pca', 'umap']; got none.")
    return specs, left_out


def named_methods(methods: Any) -> Iterator[tuple[str | None, Any]]:
    """Pairs of a name, if the caller gave one, and a method."""
    if isinstance(methods, str):
        methods = [part.strip() for part in methods.split(",") if part.strip()]
    if isinstance(methods, Mapping):
        yield from ((str(name), given) for name, given in methods.items())
    elif isinstance(methods, list | tuple):
        yield from ((None, given) for given in methods)
    else:
        raise BadParameter(
            "methods must be names or estimators, in a list, or by name in a dict; "
            f"got {type(methods).__name__}. Try methods=['pca', 'umap']."
        )


def _unused(name: str, specs: Sequence[MapSpec]) -> str:
    """The name, or the name with a number if another map has it."""
    used, number, free = {spec.name for spec in specs}, 2, name
    while free in used:
        free, number = f"{name} {number}", number + 1
    return free


def _spec(given: Any, metric: str, standardized: bool | None, settings: Mapping[str, Any]) -> MapSpec:
    if isinstance(given, str):
        method = find_method(given)
        known = parameters(method.cls)
        asked = {"n_components": 2, **settings, **({} if metric == "euclidean" else {"metric": metric})}
        if "metric" in asked and "metric" not in known:
            raise BadParameter(
                f"{method.name} does not compare rows by a metric, and metric={metric!r} asks for it. Leave it out of "
                "the methods."
            )
        own = {name: value for name, value in asked.items() if name in known}
        return MapSpec(method.name, build_estimator(method, own, None if method.own_scale else standardized))
    if isinstance(given, np.ndarray):
        return MapSpec("map", embedding=given)
    if not hasattr(given, "fit_transform") or isinstance(given, type):
        raise BadParameter(f"a method must be a name, an estimator or coordinates (n, k); got {given!r:.80}.")
    model = clone(given)
    if isinstance(model, Estimator) and not isinstance(model, Standardized) and standardized:
        if "standardize" in parameters(type(model)):
            model.set_params(standardize=True)
        elif not (model._method is not None and model._method.own_scale) and not get_tags(model).input_tags.pairwise:
            model = Standardized(model)
    return MapSpec(type(inner_estimator(model)).__name__, model)


def fit_maps(specs: Sequence[MapSpec], rows: ComparedRows, y: Any, k: int, settings: Mapping[str, Any]) -> FittedMaps:
    """Fit them one after another; one that fails is left out with its error, unless all fail."""
    out, n = FittedMaps(), rows.rows.count
    wanted = [neighbors_read(spec.model, n) or 0 for spec in specs if spec.model is not None]
    start = perf_counter()
    if rows.metric != "gower":
        most = max([min(k, n - 1), *wanted])
        out.neighbors = SharedNeighbors.search(
            rows.rows, most, rows.metric, settings["random_state"], settings["n_jobs"]
        )
        out.seconds["neighbor graph"] = perf_counter() - start
    first: LowdimError | None = None
    for i, spec in enumerate(specs):
        report("comparing methods", i, len(specs))
        start = perf_counter()
        try:
            model, Z = _fit(spec, rows, out.neighbors, y)
        except Cancelled:
            raise
        except LowdimError as error:
            first, out.left_out[spec.name] = first or error, str(error)
            continue
        out.maps[spec.name], out.seconds[spec.name] = Z, perf_counter() - start
        if model is not None:
            out.models[spec.name] = model
    report("comparing methods", len(specs), len(specs))
    if first is not None and not out.maps:
        raise first
    return out


def _fit(spec: MapSpec, rows: ComparedRows, shared: SharedNeighbors | None, y: Any) -> tuple[Any, Array]:
    """The fitted model, None for coordinates made elsewhere, and its map (n, k)."""
    n = rows.rows.count
    if spec.embedding is not None:
        Z = np.array(spec.embedding)
        if Z.ndim != 2 or len(Z) != n:
            raise BadInput(f"the coordinates {spec.name!r} must have shape ({n}, k); got {Z.shape}.")
        return None, Z
    model, target = spec.model, y if _uses(spec.estimator, y) else None
    if not isinstance(spec.estimator, Estimator):  # of another package
        return _foreign(model, rows, target)
    served = shared is not None and shared.serves(model)
    if isinstance(model, Standardized) and rows.scaler is not None:
        summary = shared.of(model) if shared is not None and served else rows.rows
        model._fit_with_scale_of(rows.scaler, summary, target)
    elif shared is not None and served:
        model.fit(shared.of(model), target)
    else:
        X: Any = rows.table if getattr(type(spec.estimator)._method, "categories", False) else rows.table.rows()
        model.fit(X) if target is None else model.fit(X, target)
    found = getattr(inner_estimator(model), "embedding_", None)
    return model, np.array(model.transform(rows.table.rows()) if found is None else found)


def _foreign(model: Any, rows: ComparedRows, y: Any) -> tuple[Any, Array]:
    """An estimator of another package, on the same rows as an array; its errors are reported by their names."""
    X = rows.rows.whole()
    try:
        Z = np.asarray(model.fit_transform(X) if y is None else model.fit_transform(X, y))
    except (ValueError, TypeError, RuntimeError, MemoryError) as error:
        raise BadInput(f"{type(error).__name__}: {error}") from error
    return model, Z


def _uses(estimator: Any, y: Any) -> bool:
    """Whether the method uses the target: it needs one, or takes one that was given."""
    method = getattr(estimator, "_method", None)
    if y is None or method is None:
        return False
    return bool(method.supervised or (method.accepts_target and getattr(estimator, "_is_supervised", lambda: True)()))
