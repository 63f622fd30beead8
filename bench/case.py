"""A benchmark case: one task, done by several contenders on the same data."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any


@dataclass(frozen=True)
class Contender:
    """One implementation of the task: `run(prepare(data))` returns what `quality` evaluates; only `run` is timed."""

    name: str
    run: Callable[[Any], Any]
    package: str = "lowdim"
    role: str = (
        "peer"  # "ours", "peer", "floor" (the bare BLAS product that any implementation needs), "instruction set"
    )
    bar: float | None = (
        None  # target speedup over this peer (that of the case if None); most times ours, of an instruction set
    )
    prepare: Callable[[Any], Any] = lambda data: data

    @property
    def label(self) -> str:
        return f"{self.name} {version(self.package)}" if self.role == "peer" else self.name


@dataclass(frozen=True)
class Case:
    """A task, its data, its contenders and its quality measures: one section of BENCHMARKS.md."""

    name: str
    work: str
    data: Callable[[], Any]
    contenders: tuple[Contender, ...]
    quality: Callable[[Any, Any], dict[str, float]]
    quality_note: str = ""
    bar: float | None = None  # target speedup over the best peer
    good: Callable[[dict[str, float]], bool] = field(
        default=lambda quality: True
    )  # whether a result is good enough to be compared
    equal: Callable[[dict[str, float], dict[str, float]], bool] | None = (
        None  # whether our quality equals that of a peer
    )
    repeats: int = 5
    every: bool = False  # evaluate all runs and show the mean, for results that vary at random
    deviations: bool = False  # show their standard deviations too
    warm: bool = True  # one untimed run first; long runs of compiled code do not need it
    memory: bool = True  # measure peak memory too


def no_worse(**tolerances: float) -> Callable[[dict[str, float], dict[str, float]], bool]:
    """Whether our quality equals that of a peer, up to a tolerance per measure.

    Tolerances below 0 are absolute, for measures that should be large; those above 0 are relative, for measures that
    should be small. `no_worse(accuracy=-0.01, stress=0.01)`: accuracy at most 0.01 lower, stress at most 1% higher.
    """

    def compare(ours: dict[str, float], peer: dict[str, float]) -> bool:
        common = {name: by for name, by in tolerances.items() if name in ours and name in peer}
        return all(
            ours[name] >= peer[name] + by if by < 0 else ours[name] <= peer[name] * (1 + by)
            for name, by in common.items()
        )

    return compare


def installed(module: str) -> bool:
    """Whether a peer can be imported; others are left out of the table."""
    try:
        importlib.import_module(module)
    except ImportError:
        return False
    return True
