"""What is compared: one piece of work, done by several contenders on the same data."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any


@dataclass(frozen=True)
class Contender:
    """A way to do the work: `run(prepare(data))` returns what `quality` judges; only `run` is measured."""

    name: str
    run: Callable[[Any], Any]
    package: str = "lowdim"
    role: str = "peer"  # "ours", "peer", or "floor": the bare product that nobody can do without
    bar: float | None = None  # ours must be so many times faster than this peer; the case's bar if None
    prepare: Callable[[Any], Any] = lambda data: data

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
    equal: Callable[[dict[str, float], dict[str, float]], bool] | None = None  # whether ours is as good as a peer's
    repeats: int = 5
    every: bool = False  # judge all turns and show the mean, for work that depends on chance
    warm: bool = True  # one more turn before, which is not counted; long work of compiled code can do without


def no_worse(**slack: float) -> Callable[[dict[str, float], dict[str, float]], bool]:
    """Whether ours is as good as a peer's, up to so much: below 0 for what should be large, above for the rest.

    `no_worse(accuracy=-0.01, stress=0.01)`: an accuracy at most 0.01 below, a stress at most 1 % above.
    """

    def compare(ours: dict[str, float], peer: dict[str, float]) -> bool:
        common = {name: by for name, by in slack.items() if name in ours and name in peer}
        return all(
            ours[name] >= peer[name] + by if by < 0 else ours[name] <= peer[name] * (1 + by)
            for name, by in common.items()
        )

    return compare


def installed(module: str) -> bool:
    """Whether a peer can be imported; one that can't is left out of the table."""
    try:
        importlib.import_module(module)
    except ImportError:
        return False
    return True
