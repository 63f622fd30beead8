"""Migrations: the manifest of an earlier schema in the layout of the present one, so that old files keep loading.

| schema | layout                                                                                                |
|--------|-------------------------------------------------------------------------------------------------------|
| 1      | everything fitted is an attribute of the estimator, private state too                                 |
| 2      | documented attributes, and what else `transform` needs in one dataclass, the state of the estimator   |

A migration moves JSON and renames tensors, and computes nothing: what the present layout makes of it is validated like
any other file. One table per class says where each attribute went.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lowdim.persistence.codec import encode
from lowdim.persistence.container import Tensors

__all__ = ["migrate"]

Manifest = dict[str, Any]


@dataclass(frozen=True)
class _From:
    """The value of the first of these former attributes (or fields of them) that the file has, else `default`."""

    names: tuple[str, ...]
    default: Any = None
    transposed: tuple[str, ...] = ()  # those of them that are now stored in columns instead of rows


@dataclass(frozen=True)
class _Elements:
    """A dataclass whose fields were the elements of one array; None where the array was None."""

    name: str
    attribute: str
    fields: tuple[str, ...]


@dataclass(frozen=True)
class _Dataclass:
    """A dataclass of a fitted state, each field from its own source."""

    name: str
    fields: Mapping[str, _From | _Elements | _Dataclass]


@dataclass(frozen=True)
class _Layout:
    """Where the attributes of a class in schema 1 are now."""

    renamed: Mapping[str, str] = field(default_factory=dict)  # from the former name to the present one
    added: Mapping[str, Any] = field(default_factory=dict)  # attributes that a file may lack, with their JSON
    values: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # texts that have changed, by attribute
    parameters: Mapping[str, str] = field(default_factory=dict)  # attributes that had no name beside their parameter
    state: _Dataclass | None = None


def _attribute(*names: str, default: Any = None, transposed: tuple[str, ...] = ()) -> _From:
    return _From(names, default, transposed)


DENSITY = (
    "original_mean",
    "original_std",
    "embedding_mean",
    "embedding_std",
    "covariance",
    "strength",
    "original_min",
    "original_max",
)

MDS_SOLVERS = {"solver_": {"descent": "lbfgs"}}

SCHEMA_1: dict[str, _Layout] = {
    "PCA": _Layout(state=_Dataclass("PCAState", {"moments": _attribute("moments_")})),
    "KernelPCA": _Layout(
        renamed={"rows_": "X_fit_"},
        state=_Dataclass(
            "KernelPCAState",
            {
                "kernel_means": _attribute("kernel_means_"),
                "mean_weights": _attribute("mean_weights_"),
                "scores": _attribute("scores_"),
            },
        ),
    ),
    "ClassicalMDS": _Layout(
        renamed={"rows_": "X_fit_"},
        added={"X_fit_": None},
        state=_Dataclass(
            "ClassicalMDSState",
            {
                "means": _attribute("mean_", "kernel_means_"),
                "axes": _attribute("components_", "alphas_", transposed=("components_",)),
                "unit": _attribute("unit_", default=1.0),
                "constant": _attribute("constant_", default=0.0),
            },
        ),
    ),
    "MDS": _Layout(values=MDS_SOLVERS),
    "NonmetricMDS": _Layout(values=MDS_SOLVERS),
    "Isomap": _Layout(
        renamed={"rows_": "X_fit_"},
        parameters={"n_neighbors_": "n_neighbors"},
        state=_Dataclass(
            "IsomapState",
            {
                "graph": _Dataclass(
                    "GeodesicGraph",
                    {
                        "starts": _attribute("roads_.starts"),
                        "columns": _attribute("roads_.columns"),
                        "lengths": _attribute("roads_.lengths"),
                        "order": _attribute("roads_.names"),
                    },
                ),
                "projection": _Dataclass(
                    "GowerProjection",
                    {name: _attribute(f"scaling_.{name}") for name in ("values", "axes", "means", "shift")},
                ),
                "unit": _attribute("unit_"),
                "mean_neighbor_distances": _attribute("reaches_"),
                "landmark_geodesics": _attribute("landmark_ways_"),
                "gram_norm_squared": _attribute("gram_square_"),
                "seed": _attribute("seed_"),
            },
        ),
    ),
    "LaplacianEigenmaps": _Layout(
        renamed={"rows_": "X_fit_", "components_of_rows_": "component_labels_"},
        added={"n_neighbors_": None},
        parameters={"n_neighbors_": "n_neighbors"},
        state=_Dataclass(
            "LaplacianState",
            {
                "sigma": _attribute("sigma_"),
                "density": _attribute("densities_"),
                "degrees": _attribute("degrees_"),
                "offsets": _attribute("offsets_"),
                "seed": _attribute("seed_"),
            },
        ),
    ),
    "LLE": _Layout(renamed={"rows_": "X_fit_", "components_of_rows_": "component_labels_"}),
    "TSNE": _Layout(renamed={"training_": "X_fit_"}),
    "UMAP": _Layout(
        renamed={"rows_": "X_fit_"},
        state=_Dataclass(
            "UmapState",
            {
                "seed": _attribute("seed_"),
                "distinct": _Dataclass(
                    "DistinctRows", {"first": _attribute("distinct_"), "inverse": _attribute("which_")}
                ),
                "density": _Elements("DensityCorrelation", "crowding_", DENSITY),
            },
        ),
    ),
}
SCHEMA_1_FIELDS = {"Graph": {"algorithm_": "algorithm", "recall_": "recall"}}


def migrate(manifest: Manifest, tensors: Tensors) -> tuple[Manifest, Tensors]:
    """Manifest and tensors in the present layout; those of the present schema, and of unknown classes, unchanged."""
    kind = manifest.get("class")
    if manifest.get("schema") != 1 or not isinstance(kind, str) or "state" in manifest:
        return manifest, tensors
    if kind in SCHEMA_1_FIELDS and isinstance(manifest.get("fields"), dict):
        renamed = SCHEMA_1_FIELDS[kind]
        return {**manifest, "fields": {renamed.get(k, k): v for k, v in manifest["fields"].items()}}, tensors
    if kind not in SCHEMA_1 or not isinstance(manifest.get("fitted"), dict):
        return manifest, tensors
    return _Migration(SCHEMA_1[kind], manifest["fitted"], tensors).manifest(manifest)


class _Migration:
    """The fitted attributes of one file on their way to the present layout."""

    def __init__(self, layout: _Layout, fitted: dict[str, Any], tensors: Tensors) -> None:
        self.layout, self.fitted, self.tensors = layout, dict(fitted), dict(tensors)
        self.taken: set[str] = set()

    def manifest(self, former: Manifest) -> tuple[Manifest, Tensors]:
        """The whole manifest, and its tensors under their present names."""
        layout = self.layout
        state = self._dataclass(layout.state, "state") if self.fitted and layout.state is not None else None
        left = {name: value for name, value in self.fitted.items() if name not in self.taken}
        fitted = dict(layout.added) if self.fitted else {}
        for name, value in left.items():
            present = layout.renamed.get(name, name)
            self._rename(name, present)
            known = layout.values.get(name, {})
            fitted[present] = known.get(value, value) if isinstance(value, str) else value
        parameters = former.get("parameters")
        if fitted and isinstance(parameters, dict) and parameters.get("affinity") != "precomputed":
            fitted |= {name: parameters.get(parameter) for name, parameter in layout.parameters.items()}
        return {**former, "fitted": fitted, "state": state}, self.tensors

    def _dataclass(self, made: _Dataclass, path: str) -> Any:
        return {"state": made.name, "fields": {k: self._field(v, f"{path}.{k}") for k, v in made.fields.items()}}

    def _field(self, source: _From | _Elements | _Dataclass, path: str) -> Any:
        if isinstance(source, _Dataclass):
            return self._dataclass(source, path)
        return self._elements(source, path) if isinstance(source, _Elements) else self._value(source, path)

    def _elements(self, source: _Elements, path: str) -> Any:
        value = self._value(_From((source.attribute,)), path)
        array = self.tensors.get(path)
        if value is None or array is None or array.shape != (len(source.fields),):
            return value  # None, or damaged, as decoding will find
        numbers = self.tensors.pop(path).tolist()
        return {
            "state": source.name,
            "fields": {k: encode(v, k, {}) for k, v in zip(source.fields, numbers, strict=True)},
        }

    def _value(self, source: _From, path: str) -> Any:
        for name in source.names:
            attribute, _, part = name.partition(".")
            if attribute not in self.fitted:
                continue
            self.taken.add(attribute)
            value = self.fitted[attribute]
            if part:
                fields = value.get("fields") if isinstance(value, dict) else None
                value = fields.get(part) if isinstance(fields, dict) else None
            self._rename(name, path)
            return self._transposed(value, path) if name in source.transposed else value
        return source.default

    def _rename(self, former: str, present: str) -> None:
        """Rename the tensors of a value, whose names begin with its path."""
        for name in [name for name in self.tensors if name == former or name.startswith(f"{former}.")]:
            self.tensors[present + name[len(former) :]] = self.tensors.pop(name)

    def _transposed(self, value: Any, path: str) -> Any:
        shape = value.get("shape") if isinstance(value, dict) else None
        if not isinstance(shape, list) or path not in self.tensors:
            return value  # damaged, as decoding will find
        self.tensors[path] = np.ascontiguousarray(self.tensors[path].T)
        return {**value, "shape": shape[::-1]}
