"""A word of the command line as a value of a parameter."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lowdim.errors import BadParameter
from lowdim.param import Domain, Param

__all__ = ["is_switch", "read_value", "rule_names", "takes_rules"]


def read_value(flag: str, word: str, declared: Param) -> Any:
    """The first reading of the word that the parameter's domain accepts: a number before text."""
    for value in _readings(word, declared):
        if declared.domain.accepts(value):
            return value
    rules = f" Rules: {', '.join(rule_names())}." if takes_rules(declared) else ""
    raise BadParameter(f"{flag} must be {declared.domain.text}; got {word!r}. {declared.help}{rules}")


def is_switch(domain: Domain) -> bool:
    """Whether the parameter is on or off, and so a flag without a value."""
    return domain.accepts(True) and domain.accepts(False)


def takes_rules(declared: Param) -> bool:
    """Whether a rule of lowdim.choose or a kernel may be given; a metric is a function too, but of two rows."""
    return declared.name != "metric" and declared.domain.accepts(lambda spectrum: 1)


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
    if takes_rules(declared):
        yield from _rule(word)
    yield word


def _rule(word: str) -> Iterator[Any]:
    """The rule of that name or of the only name that begins so, with its defaults."""
    rules, name = _rules(), word.lower().replace("_", "-")
    begun = [known for known in rules if known.startswith(name)]
    if name in rules or len(begun) == 1:
        yield rules[name if name in rules else begun[0]]()


def _rules() -> dict[str, type]:
    from lowdim.models.known import rules

    return {name.replace("_", "-"): rule for name, rule in rules().items() if name != "Rule"}
