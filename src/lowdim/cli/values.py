"""Words of the command line as values of parameters."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import MISSING, fields
from typing import Any

from lowdim.errors import BadParameter
from lowdim.runtime.param import Domain, Param

__all__ = ["is_boolean", "parse_value"]


def parse_value(flag: str, word: str, declared: Param) -> Any:
    """The first interpretation of the word that the parameter's domain accepts: numbers before text."""
    for value in _interpretations(word, declared):
        if declared.domain.accepts(value):
            return value
    raise BadParameter(f"{flag} must be {declared.domain.text}; got {word!r}. {declared.help}")


def is_boolean(domain: Domain) -> bool:
    """Whether the parameter is True or False, and so a flag without a value."""
    return domain.accepts(True) and domain.accepts(False)


def _interpretations(word: str, declared: Param) -> Iterator[Any]:
    if word.lower() == "none":
        yield None
    for kind in (int, float):
        try:
            yield kind(word)
        except ValueError:
            continue
    if _accepts_named_values(declared.domain):
        yield from _named_values(word)
    yield word  # a name that the parameter knows itself takes precedence over objects of that name
    if _accepts_kernels(declared.domain):
        yield from _by_name(word, _kernels())


def _accepts_named_values(domain: Domain) -> bool:
    from lowdim.distance.metric_params import MetricParams

    return isinstance(domain, MetricParams)


def _named_values(word: str) -> Iterator[dict[str, Any]]:
    """A JSON object, or key=value pairs between semicolons, whose values may be lists: p=3, or categorical=sex,city."""
    if word.lstrip().startswith("{"):
        try:
            yield json.loads(word)
        except ValueError as error:
            raise BadParameter(f"{word[:60]!r} is not a JSON object: {error}.") from error
        return
    pairs = [pair.partition("=") for pair in word.split(";")]
    if all(equals for _, equals, _ in pairs):
        yield {key.strip(): _value_or_list(text) for key, _, text in pairs}


def _value_or_list(text: str) -> Any:
    values = [_number_or_text(part.strip()) for part in text.split(",")]
    return values if len(values) > 1 else values[0]


def _number_or_text(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _by_name(word: str, known: dict[str, type]) -> Iterator[Any]:
    """An instance, with defaults, of the class of that name or of the only name with that prefix."""
    name = word.lower().replace("_", "-")
    matches = [other for other in known if other.startswith(name)]
    if name in known or len(matches) == 1:
        yield known[name if name in known else matches[0]]()


def _accepts_kernels(domain: Domain) -> bool:
    from lowdim.kernels._names import kernel_domain

    return domain is kernel_domain


def _kernels() -> dict[str, type]:
    from lowdim.kernels import Kernel

    return {name: kind for name, kind in _exported_classes("lowdim.kernels").items() if issubclass(kind, Kernel)}


def _exported_classes(module: str) -> dict[str, type]:
    """The rules or kernels of a module that can be made without arguments."""
    from lowdim.persistence.allowlist import rules

    return {
        name.replace("_", "-"): kind
        for name, kind in rules().items()
        if kind.__module__.startswith(module) and kind.__name__ not in ("Rule", "Kernel") and _has_defaults(kind)
    }


def _has_defaults(kind: type) -> bool:
    return all(f.default is not MISSING or f.default_factory is not MISSING for f in fields(kind))
