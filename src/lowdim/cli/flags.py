"""Flags of a method, generated from its declared parameters: a new method needs no code here."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from lowdim.errors import BadParameter

if TYPE_CHECKING:
    from lowdim.base.estimator import Method
    from lowdim.runtime.param import Param

__all__ = ["flag_help", "has_unknown_flags", "method_flags", "parse_flags", "peek_flag"]

Flags = Mapping[str, "Param"]


def method_flags(method: Method) -> dict[str, Param]:
    """Every flag of a method, with the parameter that it sets; booleans have two."""
    from lowdim.cli.values import is_boolean
    from lowdim.runtime.param import parameters

    flags: dict[str, Param] = {}
    for name, declared in parameters(method.cls).items():
        flags[_flag(name)] = declared
        if is_boolean(declared.domain):
            flags[_flag(f"no_{name}")] = declared
    return flags


def has_unknown_flags(words: Sequence[str], own: Collection[str]) -> bool:
    """Whether a word looks like a flag that the command itself does not have."""
    return any(_is_unknown(word, own) for word in _before_separator(words))


def parse_flags(
    words: Sequence[str], own: Collection[str], flags: Flags, help: str, method: Method | None = None
) -> tuple[dict[str, Any], list[str]]:
    """The settings that the method's flags make, and the words that are left for the command itself."""
    from lowdim.cli.values import is_boolean, parse_value

    settings: dict[str, Any] = {}
    rest: list[str] = []
    queue = deque(_before_separator(words))
    tail = list(words[len(queue) :])
    while queue:
        word = queue.popleft()
        if not _is_unknown(word, own):
            rest.append(word)
            continue
        spelled, equals, value = word.partition("=")
        flag = spelled.replace("_", "-")
        declared = flags.get(flag)
        if declared is None:
            raise _unknown(flag, [*own, *flags], help, method)
        if is_boolean(declared.domain):
            if equals:
                raise BadParameter(f"option {flag} does not take a value. See {help}.")
            settings[declared.name] = flag == _flag(declared.name)
            continue
        if not equals and not queue:
            raise BadParameter(f"option {flag} requires a value: {declared.domain.text}. {declared.help}")
        settings[declared.name] = parse_value(flag, value if equals else queue.popleft(), declared)
    return settings, rest + tail


def flag_help(method: Method, own: Collection[str] = ()) -> list[tuple[str, str]]:
    """Each flag with its help, domain and default; those that the command has itself are left out."""
    from lowdim.cli.values import is_boolean
    from lowdim.runtime.param import parameters

    lines = []
    for name, declared in parameters(method.cls).items():
        flag = _flag(name)
        if flag in own:
            continue
        if is_boolean(declared.domain):
            default = flag if declared.default else _flag(f"no_{name}")
            lines.append((f"{flag} / {_flag(f'no_{name}')}", f"{declared.help}  [default: {default}]"))
            continue
        default = "none" if declared.default is None else declared.default
        rule = declared.domain.text[:1].upper() + declared.domain.text[1:]
        lines.append((f"{flag} VALUE", f"{declared.help} {rule}.  [default: {default}]"))
    return lines


def peek_flag(flag: str, words: Sequence[str]) -> str | None:
    """The value of a flag, before the words are parsed."""
    found = None
    for word, following in zip(words, [*words, None][1:], strict=True):
        if word == flag:
            found = following
        elif word.startswith(f"{flag}="):
            found = word.partition("=")[2]
    return found


def _unknown(flag: str, known: Sequence[str], help: str, method: Method | None) -> BadParameter:
    from lowdim.base.peer_parameters import peer_hint

    peer = None if method is None else peer_hint(method.cls, flag.lstrip("-").replace("-", "_"), _flag)
    if peer is not None:
        return BadParameter(f"no such option: {flag}; {peer}. See {help}.")
    names = sorted({name for name in known if name.startswith("--")})
    near = get_close_matches(flag, names, n=3, cutoff=0.7)
    hint = f"Did you mean {' or '.join(near)}? " if near else ""
    return BadParameter(f"no such option: {flag}. {hint}See {help}.")


def _before_separator(words: Sequence[str]) -> list[str]:
    """The words before `--`, which ends the flags."""
    return list(words[: words.index("--")] if "--" in words else words)


def _is_unknown(word: str, own: Collection[str]) -> bool:
    return word.startswith("--") and word.partition("=")[0] not in own


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"
