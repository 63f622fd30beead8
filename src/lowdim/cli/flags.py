"""The flags of a method, made from its declared parameters: a new method needs no line here."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from lowdim.errors import BadParameter

if TYPE_CHECKING:
    from lowdim.base.estimator import Method
    from lowdim.runtime.param import Param

__all__ = ["find_method", "flag_lines", "flags_of", "has_strangers", "take_flags", "value_of"]

Flags = Mapping[str, "Param"]


def find_method(name: str) -> Method:
    """The registered method of that name, however it is capitalised."""
    from lowdim.registry import methods

    known = {method.name.lower(): method for method in methods()}
    found = known.get(name.lower().replace("-", "").replace("_", ""))
    if found is None:
        near = get_close_matches(name.lower(), known, n=3, cutoff=0.4)
        hint = f"Did you mean {' or '.join(near)}?" if near else f"There are {', '.join(known)}."
        raise BadParameter(f"there is no method {name!r}. {hint} `lowdim methods` tells about each.")
    return found


def flags_of(method: Method) -> dict[str, Param]:
    """Every flag that the method understands, with the parameter it sets; switches have two."""
    from lowdim.cli.values import is_switch
    from lowdim.runtime.param import parameters

    flags: dict[str, Param] = {}
    for name, declared in parameters(method.cls).items():
        flags[_flag(name)] = declared
        if is_switch(declared.domain):
            flags[_flag(f"no_{name}")] = declared
    return flags


def has_strangers(words: Sequence[str], own: Collection[str]) -> bool:
    """Whether a word looks like a flag that the command itself doesn't have."""
    return any(_is_stranger(word, own) for word in _before_end(words))


def take_flags(words: Sequence[str], own: Collection[str], flags: Flags, help: str) -> tuple[dict[str, Any], list[str]]:
    """The settings that flags of the method make, and the words that are left for the command itself."""
    from lowdim.cli.values import is_switch, read_value

    settings: dict[str, Any] = {}
    left: list[str] = []
    ahead = deque(_before_end(words))
    end = list(words[len(ahead) :])
    while ahead:
        word = ahead.popleft()
        if not _is_stranger(word, own):
            left.append(word)
            continue
        spelled, equals, value = word.partition("=")
        flag = spelled.replace("_", "-")
        declared = flags.get(flag)
        if declared is None:
            raise _unknown(flag, [*own, *flags], help)
        if is_switch(declared.domain):
            if equals:
                raise BadParameter(f"{flag} takes no value; it is {flag} or nothing. See {help}.")
            settings[declared.name] = flag == _flag(declared.name)
            continue
        if not equals and not ahead:
            raise BadParameter(f"{flag} needs a value: {declared.domain.text}. {declared.help}")
        settings[declared.name] = read_value(flag, value if equals else ahead.popleft(), declared)
    return settings, left + end


def flag_lines(method: Method, own: Collection[str] = ()) -> list[tuple[str, str]]:
    """Each flag with its rule, default and help; those that the command has itself are left out."""
    from lowdim.cli.values import is_switch, rule_names, takes_rules
    from lowdim.runtime.param import parameters

    lines = []
    for name, declared in parameters(method.cls).items():
        flag = _flag(name)
        if flag in own:
            continue
        if is_switch(declared.domain):
            default = flag if declared.default else _flag(f"no_{name}")
            lines.append((f"{flag} / {_flag(f'no_{name}')}", f"{declared.help} [{default}]"))
            continue
        rules = f" Rules: {', '.join(rule_names())}." if takes_rules(declared.domain) else ""
        default = "none" if declared.default is None else declared.default
        lines.append((f"{flag} VALUE", f"{declared.help} {_capital(declared.domain.text)}.{rules} [{default}]"))
    return lines


def value_of(flag: str, words: Sequence[str]) -> str | None:
    """What was given for a flag, before the line is parsed."""
    found = None
    for word, following in zip(words, [*words, None][1:], strict=True):
        if word == flag:
            found = following
        elif word.startswith(f"{flag}="):
            found = word.partition("=")[2]
    return found


def _unknown(flag: str, known: Sequence[str], help: str) -> BadParameter:
    names = sorted({name for name in known if name.startswith("--")})
    near = get_close_matches(flag, names, n=3, cutoff=0.7)
    hint = f"Did you mean {' or '.join(near)}? " if near else ""
    return BadParameter(f"there is no flag {flag}. {hint}See {help}.")


def _before_end(words: Sequence[str]) -> list[str]:
    """The words before --, after which all are names of files."""
    return list(words[: words.index("--")] if "--" in words else words)


def _is_stranger(word: str, own: Collection[str]) -> bool:
    return word.startswith("--") and word.partition("=")[0] not in own


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
