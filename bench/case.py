"""What is compared: one piece of work, done by several contenders on the same data."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any


@dataclass(frozen=True)
class Contender:
    """A way to do the work: `run(data)` returns what `quality` judges."""

    name: str
    run: Callable[[Any], Any]
    package: str = "lowdim"
    role: str = "peer"  # "ours", "peer", or "floor": the bare product that nobody can do without

    @property
    def label(self) -> str:
        return f"{self.name} {version(self.package)}" if self.role == "peer" else self.name


@dataclass(frozen=True)
class Case:
    """A row group of the table."""

    name: str
    work: str
    data: Callable[[], Any]
    contenders: tuple[Contender, ...]
    quality: Callable[[Any, Any], dict[str, float]]
    quality_note: str = ""
    bar: float | None = None  # ours must be so many times faster than the best peer
    good: Callable[[dict[str, float]], bool] = field(default=lambda quality: True)  # fit to be compared with
    repeats: int = 5


def installed(module: str) -> bool:
    """Whether a peer can be imported; one that can't is left out of the table."""
    try:
        importlib.import_module(module)
    except ImportError:
        return False
    return True
