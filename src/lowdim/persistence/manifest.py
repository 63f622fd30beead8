"""The manifest: an estimator as JSON and tensors, and back, with a checksum over both."""

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
from lowdim.persistence.allowlist import SUMMARIES, estimators
from lowdim.persistence.codec import Unstorable, decode, encode
from lowdim.persistence.container import Tensors
from lowdim.persistence.state_checks import check_sound
from lowdim.runtime.param import parameters, validate

__all__ = ["describe", "from_text", "restore", "to_text"]

Manifest = dict[str, Any]

FORMAT = "lowdim-model"
SCHEMA = 1
FITTED = re.compile(r"(?!__)[A-Za-z_]\w{0,80}_", re.ASCII)  # scikit-learn's mark of what fitting found
OUTPUTS = ("default", "pandas", "polars")
STANDARDIZED = "standardized"  # the section with the scale of the columns, for a method on standardised ones


def describe(model: Any) -> tuple[Manifest, Tensors]:
    """Manifest and tensors of an estimator or a summary."""
    cls: type = type(model)
    if SUMMARIES.get(cls.__name__) is cls:
        return _describe_summary(model)
    tensors: Tensors = {}
    manifest = (_describe_standardized if cls is Standardized else _describe_method)(model, tensors)
    manifest["output"] = getattr(model, "_sklearn_output_config", {}).get("transform")
    _check(model)
    return manifest, tensors


def _check(model: Any) -> None:
    method = getattr(model, "model_", model)
    if type(method)._check_state is Estimator._check_state:
        check_sound(model)
    else:
        check_state(model)


def _describe_method(model: Any, tensors: Tensors) -> Manifest:
    cls, known = type(model), estimators()
    if known.get(cls.__name__) is not cls:
        raise BadParameter(
            f"model must be an estimator of lowdim ({', '.join(known)}) or a {', '.join(SUMMARIES)}, and none of "
            f"their subclasses; got {cls.__name__}. Save the estimators inside it, each to its own file."
        )
    manifest = {
        **_head(cls.__name__),
        "parameters": {name: _parameter(model, name, tensors) for name in parameters(cls)},
        "fitted": {name: _attribute(model, name, name, tensors) for name in fitted_names(model)},
        "state": encode(vars(model).get("_state"), "state", tensors),
    }
    validate(model)
    return manifest


def _describe_standardized(model: Standardized, tensors: Tensors) -> Manifest:
    """The manifest of the method, with the scale of its columns in a section of its own."""
    manifest = _describe_method(getattr(model, "model_", model.model), tensors)
    own = [name for name in fitted_names(model) if name != "model_"]
    scale = {name: _attribute(model, name, f"{STANDARDIZED}.{name}", tensors) for name in own}
    return {**manifest, STANDARDIZED: scale}


def restore(manifest: Manifest, tensors: Tensors) -> Any:
    """The estimator or summary of a manifest whose checksum is right; uses up the tensors."""
    kind = manifest.get("class")
    if isinstance(kind, str) and kind in SUMMARIES:
        return _restore_summary(manifest, tensors)
    model = _unfitted(manifest, tensors)
    _set_fitted(model, _section(manifest, "fitted"), "", tensors)
    _set_state(model, manifest.get("state"), tensors)
    if STANDARDIZED in manifest:
        model = _restore_standardized(model, _section(manifest, STANDARDIZED), tensors)
    _require_used_up(tensors)
    output = manifest.get("output")
    if output is not None:
        if output not in OUTPUTS:
            raise ModelFileError(f"the output must be one of {', '.join(OUTPUTS)}; the manifest has another.")
        model.set_output(transform=output)
    _check(model)
    return model


def _restore_standardized(model: Any, scale: dict[str, Any], tensors: Tensors) -> Standardized:
    """The method on standardised columns; one without a scale has not been fitted."""
    if not scale:
        return Standardized(model)
    whole = Standardized(clone(model))
    _set_fitted(whole, scale, f"{STANDARDIZED}.", tensors)
    whole.model_ = model
    return whole


def _set_fitted(model: Any, stored: dict[str, Any], place: str, tensors: Tensors) -> None:
    for name, value in stored.items():
        if not _is_fitted(type(model), name):
            raise ModelFileError(f"{name[:80]!r} can't be a fitted attribute of {type(model).__name__}.")
        setattr(model, name, decode(value, f"{place}{name}", tensors))


def _set_state(model: Any, stored: Any, tensors: Tensors) -> None:
    """The private state, which must be one of the classes that the estimator names."""
    state = decode(stored, "state", tensors)
    if state is not None and type(state) not in type(model)._state_classes:
        raise ModelFileError(f"a {type(state).__name__} can't be the state of {type(model).__name__}.")
    if state is not None:
        model._state = state


def _describe_summary(summary: Any) -> tuple[Manifest, Tensors]:
    kind = type(summary).__name__
    tensors: Tensors = {}
    stored = encode(summary, kind.lower(), tensors)
    return {**_head(kind), "fields": stored["fields"]}, tensors


def _restore_summary(manifest: Manifest, tensors: Tensors) -> Any:
    kind = manifest["class"]
    summary = decode({"state": kind, "fields": _section(manifest, "fields")}, kind.lower(), tensors)
    _require_used_up(tensors)
    return summary


def to_text(manifest: Manifest, tensors: Tensors) -> str:
    """The manifest as text, with its checksum."""
    return _canonical({**manifest, "sha256": _checksum(manifest, tensors)})


def from_text(text: str, tensors: Tensors) -> Manifest:
    """The manifest of a text, if its format and schema are known and its checksum fits."""
    try:
        manifest = json.loads(text, object_pairs_hook=_no_twins, parse_float=_finite, parse_constant=_no_constant)
    except ValueError as error:
        raise ModelFileError(f"the manifest is damaged: {error}.") from error
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise ModelFileError(f"the manifest does not say format {FORMAT!r}: not a model of lowdim.")
    schema = manifest.get("schema")
    if type(schema) is not int or schema < 1:
        raise ModelFileError("the manifest has no schema version: damaged.")
    if schema > SCHEMA:
        raise ModelFileError(
            f"made by a newer lowdim: its schema is {_digits(schema)}, and lowdim {lowdim.__version__} reads "
            f"up to {SCHEMA}. Upgrade lowdim."
        )
    if manifest.pop("sha256", None) != _checksum(manifest, tensors):
        raise ModelFileError("damaged: its checksum does not fit. Copy it again, or save the model again.")
    return manifest


def _head(kind: str) -> Manifest:
    return {"format": FORMAT, "schema": SCHEMA, "lowdim": lowdim.__version__, "class": kind}


def _require_used_up(tensors: Tensors) -> None:
    if tensors:
        raise ModelFileError(f"the tensor {min(tensors)[:80]!r} belongs to nothing in the manifest.")


def _parameter(model: Any, name: str, tensors: Tensors) -> Any:
    value = getattr(model, name)
    if isinstance(value, np.generic):
        value = value.item()  # what a parameter means does not depend on its NumPy type
    try:
        return encode(value, f"parameters.{name}", tensors)
    except Unstorable as error:
        raise BadParameter(
            f"{type(model).__name__}: {name} must be plain data or a rule of lowdim.choose for a model file; "
            f"got {error}. {_advice(name)}"
        ) from None


def _advice(name: str) -> str:
    if name == "random_state":
        return "Set it to a whole number first: model.set_params(random_state=0)."
    return f"Set it to what it stands for first, such as the number found: model.set_params({name}=...)."


def _attribute(model: Any, name: str, place: str, tensors: Tensors) -> Any:
    if not _is_fitted(type(model), name):
        raise ModelFileError(f"{name} hides what {type(model).__name__} defines; delete it before saving.")
    try:
        return encode(getattr(model, name), place, tensors)
    except Unstorable as error:
        raise ModelFileError(
            f"{type(model).__name__}.{name} must hold numbers, texts or arrays of them to be saved; "
            f"it holds {error}. Fit the model again, or delete the attribute."
        ) from None


def _is_fitted(cls: type, name: str) -> bool:
    """Whether fitting may have set this on an instance: never a parameter, nor what the class defines."""
    absent = object()
    return (
        FITTED.fullmatch(name) is not None
        and name not in parameters(cls)
        and inspect.getattr_static(cls, name, absent) is absent
    )


def _unfitted(manifest: Manifest, tensors: Tensors) -> Any:
    """The estimator with its parameters; one that the class got since the file was written has its default."""
    name, known = manifest.get("class"), estimators()
    if not isinstance(name, str) or name not in known:
        raise ModelFileError(f"the class must be one of {', '.join(known)}; the file names {str(name)[:80]!r}.")
    cls, stored = known[name], _section(manifest, "parameters")
    foreign = sorted(stored.keys() - parameters(cls).keys())
    if foreign:
        raise ModelFileError(f"{name} has no parameter {foreign[0][:80]!r}; perhaps a newer lowdim has: upgrade.")
    model = cls(**{key: decode(value, f"parameters.{key}", tensors) for key, value in stored.items()})
    try:
        validate(model)
    except Exception as error:  # a test of a domain may also stumble over a value of a strange type
        raise ModelFileError(f"a stored parameter breaks its rule: {str(error)[:500]}") from error
    return model


def _section(manifest: Manifest, key: str) -> dict[str, Any]:
    section = manifest.get(key)
    if not isinstance(section, dict):
        raise ModelFileError(f"the manifest has no {key}: damaged.")
    return section


def _checksum(manifest: Manifest, tensors: Tensors) -> str:
    """SHA-256 of the manifest's canonical text, then of every tensor's bytes in the order of their names."""
    digest = hashlib.sha256(_canonical(manifest).encode("ascii"))
    for name in sorted(tensors):
        tensor = tensors[name]
        little = np.ascontiguousarray(tensor, dtype=tensor.dtype.newbyteorder("<"))
        digest.update(little.reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


def _canonical(manifest: Manifest) -> str:
    """Keys sorted, no spaces, ASCII: one text for one manifest."""
    return json.dumps(manifest, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def _no_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice in one object")
    return found


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError("a number overflows")
    return value


def _no_constant(text: str) -> float:
    raise ValueError(f"{text} is not JSON")


def _digits(number: int) -> str:
    return str(number) if number < 1 << 64 else "a huge number"
