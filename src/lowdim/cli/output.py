"""What a command has to say, for people and for programs."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["Answer", "aligned", "number", "printable", "to_json", "wrote"]


@dataclass(frozen=True)
class Answer:
    """The same thing said twice."""

    text: str
    data: Mapping[str, Any]
    remark: bool = False  # tells of what was done; --quiet leaves it out


def aligned(lines: Iterable[tuple[str, str]]) -> str:
    """Lines of a name and a text, the texts below one another."""
    told = list(lines)
    width = max((len(name) for name, _ in told), default=0)
    return "\n".join(f"{name:<{width}}  {text}".rstrip() for name, text in told)


def number(count: int, thing: str) -> str:
    """A count with its noun: 1 row, 1,797 rows."""
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def wrote(paths: Iterable[Path]) -> list[tuple[str, str]]:
    """A line for every file that was written."""
    return [("" if i else "wrote", printable(str(path))) for i, path in enumerate(paths)]


def printable(text: str) -> str:
    """One line without control characters: names in data must not steer a terminal."""
    line = " ".join(text.split())
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in line)


def to_json(data: Mapping[str, Any]) -> str:
    """One line of JSON; numbers that JSON does not know become null."""
    return json.dumps(_plain(data), allow_nan=False)


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):  # NumPy's arrays and numbers
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, str | int | float | bool | None) else str(value)
