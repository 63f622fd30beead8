"""Output of a command: text for people, and data for programs."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lowdim.runtime.display import align, printable

__all__ = ["CommandOutput", "align", "print_to_stderr", "printable", "to_json", "written_lines"]


@dataclass(frozen=True)
class CommandOutput:
    """The same result as text and as data."""

    text: str
    data: Mapping[str, Any]
    is_status: bool = False  # reports what was done; --quiet suppresses it


def written_lines(paths: Iterable[Path]) -> list[tuple[str, str]]:
    """One line for every file that was written."""
    return [("" if i else "wrote", printable(str(path))) for i, path in enumerate(paths)]


def print_to_stderr(line: str) -> None:
    """Print one line of status; where stderr is closed, nobody reads it, and the work goes on."""
    if sys.stderr is not None:  # print(file=None) would mean stdout
        with suppress(OSError, ValueError):
            print(printable(line), file=sys.stderr, flush=True)


def to_json(data: Mapping[str, Any]) -> str:
    """One line of JSON; NaN and infinity become null."""
    return json.dumps(_to_plain(data), allow_nan=False)


def _to_plain(value: Any) -> Any:
    if hasattr(value, "tolist"):  # NumPy arrays and scalars
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(key): _to_plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_to_plain(inner) for inner in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, str | int | float | bool | None) else str(value)
