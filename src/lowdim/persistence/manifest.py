"""The manifest: an estimator or summary as JSON and tensors, and back, with a checksum over both."""

from __future__ import annotations

import hashlib
import inspect
import json
import math
import re
from typing import Any

import numpy as np
from sklearn.base import clone

import lowdim
from lowdim.base.estimator import Estimator
from lowdim.base.standardized import Standardized
from lowdim.base.state import check_state, fitted_names
from lowdim.errors import BadParameter, ModelFileError
from lowdim.persistence.allowlist import SUMMARIES, documented_attributes, estimators, find_estimator
from lowdim.persistence.codec import NotSerializable, decode, encode
from lowdim.persistence.container import Tensors
from lowdim.persistence.migrations import migrate
from lowdim.runtime.param import parameters, validate

__all__ = ["describe", "from_text", "restore", "to_text"]

Manifest = dict[str, Any]

FORMAT = "lowdim-model"
SCHEMA = 2
FITTED = re.compile(r"(?!__)[A-Za-z_]\w{0,80}_", re.ASCII)
OUTPUTS = ("default", "pandas", "polars")
STANDARDIZED = "standardized"  # the section with the means and scales of the columns


def describe(model: Any) -> tuple[Manifest, Tensors]:
    """Manifest and tensors of an estimator or a summary."""
    cls: type = type(model)
    if SUMMARIES.get(cls.__name__) is cls:
        return _describe_summary(model)
    tensors: Tensors = {}
    manifest = (_describe_standardized if cls is Standardized else _describe_estimator)(model, tensors)
    manifest["output"] = getattr(model, "_sklearn_output_config", {}).get("transform")
    check_state(model)
    return manifest, tensors


def _describe_estimator(model: Any, tensors: Tensors) -> Manifest:
    cls = type(model)
    if find_estimator(cls.__name__) is not cls:
        raise BadParameter(
            f"model must be an estimator of lowdim ({', '.join(estimators())}) or a {', '.join(SUMMARIES)}, and not a "
            f"subclass; got {cls.__name__}. Save the estimators inside it, each to its own file."
        )
    manifest = {
        **_header(cls.__name__),
        "parameters": {name: _encode_parameter(model, name, tensors) for name in parameters(cls)},
        "fitted": {name: _encode_attribute(model, name, name, tensors) for name in fitted_names(model)},
        "state": _encode_fitted(model, "_state", "state", tensors),
    }
    validate(model)
    return manifest


def _describe_standardized(model: Standardized, tensors: Tensors) -> Manifest:
    """The manifest of the method inside, with the means and scales of the columns in a section of its own."""
    manifest = _describe_estimator(getattr(model, "model_", model.model), tensors)
    own = [name for name in fitted_names(model) if name != "model_"]
    section = {name: _encode_attribute(model, name, f"{STANDARDIZED}.{name}", tensors) for name in own}
    return {**manifest, STANDARDIZED: section}


def _describe_summary(summary: Any) -> tuple[Manifest, Tensors]:
    kind = type(summary).__name__
    tensors: Tensors = {}
    stored = encode(summary, kind.lower(), tensors)
    return {**_header(kind), "fields": stored["fields"]}, tensors


def restore(manifest: Manifest, tensors: Tensors) -> Any:
    """The estimator or summary of a manifest with a correct checksum; consumes the tensors."""
    manifest, tensors = migrate(manifest, tensors)
    kind = manifest.get("class")
    if isinstance(kind, str) and kind in SUMMARIES:
        return _restore_summary(manifest, tensors)
    model = _unfitted(manifest, tensors)
    _set_fitted(model, _section(manifest, "fitted"), "", tensors)
    _set_state(model, manifest, tensors)
    if STANDARDIZED in manifest:
        model = _restore_standardized(model, _section(manifest, STANDARDIZED), tensors)
    _require_consumed(tensors)
    output = manifest.get("output")
    if output is not None:
        if output not in OUTPUTS or not hasattr(model, "set_output"):
            raise ModelFileError(
                f"the output of a method must be one of {', '.join(OUTPUTS)}; the manifest has another."
            )
        model.set_output(transform=output)
    try:
        check_state(model)
    except ModelFileError:
        raise
    except Exception as error:  # a check that stumbles over a value of an unexpected type has found one
        raise ModelFileError(f"the model contradicts itself: {str(error)[:500]}. Fit it again.") from error
    return model


def _unfitted(manifest: Manifest, tensors: Tensors) -> Any:
    """The estimator with its parameters; a parameter that the file lacks has its default."""
    name = manifest.get("class")
    cls = find_estimator(name) if isinstance(name, str) else None
    if cls is None:
        known = ", ".join(estimators())
        raise ModelFileError(f"the class must be one of {known}; the file names {str(name)[:80]!r}.")
    stored = _section(manifest, "parameters")
    unknown = sorted(stored.keys() - parameters(cls).keys())
    if unknown:
        raise ModelFileError(f"{name} has no parameter {unknown[0][:80]!r}. If a newer lowdim has it, upgrade.")
    model = cls(**{key: decode(value, f"parameters.{key}", tensors) for key, value in stored.items()})
    try:
        validate(model)
    except Exception as error:  # a domain's test may also fail on a value of an unexpected type
        raise ModelFileError(f"a stored parameter is invalid: {str(error)[:500]}") from error
    return model


def _set_fitted(model: Any, stored: dict[str, Any], prefix: str, tensors: Tensors) -> None:
    for name, value in stored.items():
        if not _may_be_fitted(type(model), name):
            raise ModelFileError(f"{name[:80]!r} is not a fitted attribute of {type(model).__name__}.")
        setattr(model, name, decode(value, f"{prefix}{name}", tensors))


def _set_state(model: Any, manifest: Manifest, tensors: Tensors) -> None:
    """The private state: a dataclass that the estimator declares, or null."""
    if "state" not in manifest:
        raise ModelFileError("the manifest has no state: damaged.")
    state = decode(manifest["state"], "state", tensors)
    if state is None:
        return
    if type(state) not in type(model)._state_classes:
        raise ModelFileError(f"a {type(state).__name__} can't be the state of {type(model).__name__}.")
    if not fitted_names(model):
        raise ModelFileError(f"the {type(model).__name__} has a state, but no fitted attributes.")
    model._state = state


def _restore_standardized(model: Any, section: dict[str, Any], tensors: Tensors) -> Standardized:
    """The method inside Standardized; an empty section says that it was not fitted."""
    if not section:
        return Standardized(model)
    standardized = Standardized(clone(model))
    _set_fitted(standardized, section, f"{STANDARDIZED}.", tensors)
    standardized.model_ = model
    return standardized


def _restore_summary(manifest: Manifest, tensors: Tensors) -> Any:
    kind = manifest["class"]
    summary = decode({"state": kind, "fields": _section(manifest, "fields")}, kind.lower(), tensors)
    _require_consumed(tensors)
    return summary


def to_text(manifest: Manifest, tensors: Tensors) -> str:
    """The manifest as text, with its checksum."""
    return _canonical({**manifest, "sha256": _checksum(manifest, tensors)})


def from_text(text: str, tensors: Tensors) -> Manifest:
    """Parse a manifest, and verify its format, schema and checksum."""
    try:
        manifest = json.loads(text, object_pairs_hook=_unique_keys, parse_float=_finite, parse_constant=_no_constant)
    except ValueError as error:
        raise ModelFileError(f"the manifest is damaged: {error}.") from error
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise ModelFileError(f"the manifest lacks format {FORMAT!r}: not a lowdim model.")
    schema = manifest.get("schema")
    if type(schema) is not int or schema < 1:
        raise ModelFileError("the manifest has no schema version: damaged.")
    if schema > SCHEMA:
        shown = str(schema) if schema < 1 << 64 else "a huge number"
        raise ModelFileError(
            f"written by a newer lowdim: its schema is {shown}, and lowdim {lowdim.__version__} reads up to {SCHEMA}. "
            "Upgrade lowdim."
        )
    if manifest.pop("sha256", None) != _checksum(manifest, tensors):
        raise ModelFileError("damaged: the checksum does not match. Copy the file again, or save the model again.")
    return manifest


def _header(kind: str) -> Manifest:
    return {"format": FORMAT, "schema": SCHEMA, "lowdim": lowdim.__version__, "class": kind}


def _section(manifest: Manifest, key: str) -> dict[str, Any]:
    section = manifest.get(key)
    if not isinstance(section, dict):
        raise ModelFileError(f"the manifest has no {key}: damaged.")
    return section


def _require_consumed(tensors: Tensors) -> None:
    if tensors:
        raise ModelFileError(f"the tensor {min(tensors)[:80]!r} belongs to nothing in the manifest.")


def _encode_parameter(model: Any, name: str, tensors: Tensors) -> Any:
    value = getattr(model, name)
    if isinstance(value, np.generic):
        value = value.item()  # what a parameter means does not depend on its NumPy type
    try:
        return encode(value, f"parameters.{name}", tensors)
    except NotSerializable as error:
        if name == "random_state":
            remedy = "Set it to an integer first: model.set_params(random_state=0)."
        else:
            remedy = f"Replace it by its value first, such as the number found: model.set_params({name}=...)."
        raise BadParameter(
            f"{type(model).__name__}: {name} must be plain data, a rule of lowdim.choose or a kernel of lowdim.kernels "
            f"to be saved; got {error}. {remedy}"
        ) from None


def _encode_attribute(model: Any, name: str, path: str, tensors: Tensors) -> Any:
    if not _may_be_fitted(type(model), name):
        raise ModelFileError(f"{name} is not a fitted attribute of {type(model).__name__}. Delete it before saving.")
    return _encode_fitted(model, name, path, tensors)


def _encode_fitted(model: Any, name: str, path: str, tensors: Tensors) -> Any:
    try:
        return encode(vars(model).get(name), path, tensors)
    except NotSerializable as error:
        raise ModelFileError(
            f"{type(model).__name__}.{name} must hold numbers, strings or arrays of them to be saved; "
            f"it holds {error}. Fit the model again, or delete the attribute."
        ) from None


def _may_be_fitted(cls: type[Any], name: str) -> bool:
    """Whether a file may set this attribute: one that the class documents, and neither declares nor defines."""
    absent = object()
    if cls._check_state is Estimator._check_state:
        named = FITTED.fullmatch(name) is not None
    else:
        named = name in documented_attributes(cls)
    return named and name not in parameters(cls) and inspect.getattr_static(cls, name, absent) is absent


def _checksum(manifest: Manifest, tensors: Tensors) -> str:
    """SHA-256 of the manifest's canonical text, then of every tensor's bytes, ordered by name."""
    digest = hashlib.sha256(_canonical(manifest).encode("ascii"))
    for name in sorted(tensors):
        tensor = tensors[name]
        little = np.ascontiguousarray(tensor, dtype=tensor.dtype.newbyteorder("<"))
        digest.update(little.reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


def _canonical(manifest: Manifest) -> str:
    """Sorted keys, no spaces, ASCII: one text per manifest."""
    return json.dumps(manifest, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key occurs twice in one object")
    return found


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError("a number overflows")
    return value


def _no_constant(text: str) -> float:
    raise ValueError(f"{text} is not JSON")
