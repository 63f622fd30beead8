"""A word of the command line as a value of a parameter."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import MISSING, fields
from typing import Any

from lowdim.errors import BadParameter
from lowdim.runtime.param import Domain, Param

__all__ = ["is_switch", "read_value", "rule_names", "takes_rules"]


def read_value(flag: str, word: str, declared: Param) -> Any:
    """The first reading of the word that the parameter's domain accepts: a number before text."""
    for value in _readings(word, declared):
        if declared.domain.accepts(value):
            return value
    rules = f" Rules: {', '.join(rule_names())}." if takes_rules(declared.domain) else ""
    raise BadParameter(f"{flag} must be {declared.domain.text}; got {word!r}. {declared.help}{rules}")


def is_switch(domain: Domain) -> bool:
    """Whether the parameter is on or off, and so a flag without a value."""
    return domain.accepts(True) and domain.accepts(False)


def takes_rules(domain: Domain) -> bool:
    """Whether a rule of lowdim.choose may be given: where a count may be, and a function that finds it."""
    return domain.accepts(1) and domain.accepts(lambda spectrum: 1)


def rule_names() -> list[str]:
    """The rules by the names they have on the command line."""
    return sorted(_rules())


def _readings(word: str, declared: Param) -> Iterator[Any]:
    if word.lower() == "none":
        yield None
    for kind in (int, float):
        try:
            yield kind(word)
        except ValueError:
            continue
    yield word  # a name that the parameter knows by itself comes before objects that are called so
    if takes_rules(declared.domain):
        yield from _named(word, _rules())
    elif _takes_kernels(declared.domain):
        yield from _named(word, _kernels())


def _named(word: str, known: dict[str, type]) -> Iterator[Any]:
    """The object of that name or of the only name that begins so, with its defaults."""
    name = word.lower().replace("_", "-")
    begun = [other for other in known if other.startswith(name)]
    if name in known or len(begun) == 1:
        yield known[name if name in known else begun[0]]()


def _rules() -> dict[str, type]:
    return _home("lowdim.choose")


def _takes_kernels(domain: Domain) -> bool:
    from lowdim.kernels._names import kernel_domain

    return domain is kernel_domain


def _kernels() -> dict[str, type]:
    from lowdim.kernels import Kernel

    return {name: kind for name, kind in _home("lowdim.kernels").items() if issubclass(kind, Kernel)}


def _home(module: str) -> dict[str, type]:
    """What a model file may name of a module, and can be made without arguments."""
    from lowdim.persistence.allowlist import rules

    return {
        name.replace("_", "-"): kind
        for name, kind in rules().items()
        if kind.__module__.startswith(module) and kind.__name__ not in ("Rule", "Kernel") and _needs_nothing(kind)
    }


def _needs_nothing(kind: type) -> bool:
    return all(f.default is not MISSING or f.default_factory is not MISSING for f in fields(kind))
