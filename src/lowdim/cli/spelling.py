"""Messages of the library in the words of the command line: parameters are spelled as flags."""

from __future__ import annotations

import re
from functools import cache

__all__ = ["as_flags"]

VALUE = r"'([^']*)'|\"([^\"]*)\"|([\w.+-]*\w)"


def as_flags(message: str) -> str:
    """A message with n_components=3, metric='cosine' and max_iter as --n-components 3, --metric cosine and --max-iter.

    Only parameters of estimators are spelled so, and of them without a value only those that can't be another word.
    """
    if "=" not in message and "_" not in message:
        return message
    names = "|".join(sorted(_parameters(), key=len, reverse=True))
    given = re.sub(rf"(?<![\w'\"-])({names})=(?:{VALUE})", _flag_with_value, message)
    plain = re.sub(r"\b[A-Z]\w*\((--[^()]*)\)", r"\1", given)  # PCA(--missing em)
    bare = "|".join(name for name in _parameters() if "_" in name)
    return re.sub(rf"(?<![\w'\"-])({bare})(?![\w'\"=(])", lambda found: _flag(found[1]), plain)


def _flag_with_value(found: re.Match[str]) -> str:
    value = next((part for part in found.groups()[1:] if part is not None), "")
    if value in ("True", "False"):
        return _flag(found[1] if value == "True" else f"no_{found[1]}")
    return f"{_flag(found[1])} {value}"


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


@cache
def _parameters() -> frozenset[str]:
    """The parameters of all methods, clusterers and selectors; an error is told slowly, as it imports them."""
    from lowdim.persistence.allowlist import estimators
    from lowdim.runtime.param import parameters

    return frozenset(name for cls in estimators().values() for name in parameters(cls))
