"""A map on its way: a resumable stepper with an explicit state.

The state is a few plain arrays and the number of steps done, and a step is a function of both alone. A
layout can therefore be stopped, written to a file and taken up again, and ends with the same bits.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from lowdim.errors import BadInput
from lowdim.runtime.atomic_write import draft_beside
from lowdim.runtime.memory import require_memory
from lowdim.runtime.param import Maybe, Such
from lowdim.runtime.progress import report, watched

__all__ = ["PATH", "Checkpoint", "OptimizerLoop", "State", "fingerprint"]

Array = NDArray[Any]
State = Mapping[str, Array]

PATH = Maybe(Such("the path of a file", lambda value: isinstance(value, str | os.PathLike)))
KEY = "lowdim-layout"  # of the fingerprint among safetensors' metadata


@dataclass(frozen=True)
class Checkpoint:
    """A file that a layout is written to every so many steps, for the work that `key` stands for."""

    path: str | os.PathLike[str]
    key: str
    every: int = 50

    def read(self) -> tuple[dict[str, Array], int, int] | None:
        """State, steps done and steps in all, or None if there is no file yet."""
        if not os.path.exists(self.path):
            return None
        if os.path.isdir(self.path):
            raise BadInput(f"the checkpoint {str(self.path)!r} is a folder. Give the path of a file in it.")
        require_memory(os.path.getsize(self.path), f"the checkpoint {self.path}", "Use a machine with more memory.")
        try:
            with safe_open(self.path, framework="np") as file:
                metadata = file.metadata() or {}
                state = {name: np.array(file.get_tensor(name)) for name in file.keys()}  # noqa: SIM118
                done, total = int(metadata.get("done", "")), int(metadata.get("total", ""))
        except (SafetensorError, OSError, ValueError) as error:
            raise BadInput(f"{str(self.path)!r} is not a checkpoint of lowdim, or damaged: {error}.") from error
        if metadata.get(KEY) != self.key:
            raise BadInput(
                f"the checkpoint {str(self.path)!r} belongs to other data or other parameters. "
                "Give another path, or delete the file to start anew."
            )
        return state, done, total

    def write(self, state: State, done: int, total: int) -> None:
        """Put the state in the place of the file, whole or not at all."""
        plain = {name: np.ascontiguousarray(value) for name, value in state.items()}
        with draft_beside(self.path) as draft:
            save_file(plain, draft, metadata={KEY: self.key, "done": str(done), "total": str(total)})


@dataclass
class OptimizerLoop:
    """`advance(state, first, last)` gives the state after steps first … last - 1, at most `stride` of them.

    `run` takes the steps that are left, or some of them; how they are cut makes no difference to the bits.
    Watchers hear of every stride, with what `measure` finds every `pace` steps and with the map that `snapshot`
    makes of the state. `settled` is asked at the same pace, and may end the layout early.
    """

    state: State
    advance: Callable[[State, int, int], State]
    total: int
    done: int = 0
    stride: int = 1
    task: str = "layout"
    pace: int = 50
    measure: Callable[[State], dict[str, float]] | None = None
    snapshot: Callable[[State], Array] | None = None
    settled: Callable[[State, int], bool] | None = None
    checkpoint: Checkpoint | None = None
    _info: dict[str, float] = field(default_factory=dict, repr=False)

    def resume(self) -> OptimizerLoop:
        """Go on from the checkpoint; where there is none yet, write it, so that a bad path is known before the work."""
        if self.checkpoint is not None:
            kept = self.checkpoint.read()
            if kept is None:
                self.checkpoint.write(self.state, self.done, self.total)
            else:
                self.state, self.done, self.total = kept
        return self

    def run(self, steps: int | None = None) -> OptimizerLoop:
        """Take `steps` steps, or all that are left."""
        last = self.total if steps is None else self.done + steps
        while self.done < min(last, self.total):
            stop = min(last, self._next_stop())
            self.state = self.advance(self.state, self.done, stop)
            self.done = stop
            if self.settled is not None and self.done % self.pace == 0 and self.settled(self.state, self.done):
                self.total = self.done
            kept = self.checkpoint
            if kept is not None and (self.done % kept.every == 0 or self.done == self.total):
                kept.write(self.state, self.done, self.total)
            self._tell()
        return self

    def _next_stop(self) -> int:
        """The end of the steps that may be taken at once."""
        paces = [self.stride] + ([] if self.checkpoint is None else [self.checkpoint.every])
        return min(self.total, *((self.done // pace + 1) * pace for pace in paces))

    def _tell(self) -> None:
        if not watched():
            return
        if self.measure is not None and (self.done % self.pace == 0 or self.done == self.total):
            self._info = self.measure(self.state)
        state, picture = self.state, self.snapshot
        view = None if picture is None else lambda: picture(state)
        report(self.task, self.done, self.total, snapshot=view, **self._info)


def fingerprint(*parts: Any) -> str:
    """One text for arrays and plain values: the same work has the same."""
    digest = hashlib.sha256()
    for part in parts:
        if isinstance(part, np.ndarray):
            digest.update(f"{part.dtype}{part.shape}".encode())
            digest.update(np.ascontiguousarray(part).reshape(-1).view(np.uint8).data)
        else:
            digest.update(repr(part).encode())
    return digest.hexdigest()
