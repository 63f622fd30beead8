"""The optimizer loop of t-SNE and UMAP: resumable, with an explicit state.

The state is a few plain arrays and the number of steps done; a step is a function of these alone. A run can therefore
be stopped, written to a checkpoint and resumed, and ends with the same bits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from lowdim.runtime.checkpoint import Checkpoint, LoopState
from lowdim.runtime.progress import report, watched

__all__ = ["OptimizerLoop"]


@dataclass
class OptimizerLoop:
    """`advance(state, first, last)` returns the state after steps first … last - 1, at most `stride` of them.

    `run` takes all remaining steps, or some of them; how the run is split does not change the bits. Watchers are told
    after every stride: what `measure` finds every `interval` steps, and the embedding that `snapshot` makes of the
    state. `converged` is asked every `interval` steps as well, and may end the run early.
    """

    state: LoopState
    advance: Callable[[LoopState, int, int], LoopState]
    total: int
    done: int = 0
    stride: int = 1
    task: str = "optimization"
    interval: int = 50
    measure: Callable[[LoopState], dict[str, float]] | None = None
    snapshot: Callable[[LoopState], NDArray[Any]] | None = None
    converged: Callable[[LoopState, int], bool] | None = None
    checkpoint: Checkpoint | None = None
    _info: dict[str, float] = field(default_factory=dict, repr=False)

    def resume(self) -> OptimizerLoop:
        """Continue from the checkpoint; if there is none yet, write it, so that a bad path fails before the work."""
        if self.checkpoint is not None:
            stored = self.checkpoint.read(self.state)
            if stored is None:
                self.checkpoint.write(self.state, self.done, self.total)
            else:
                self.state, self.done, self.total = stored
        return self

    def run(self, steps: int | None = None) -> OptimizerLoop:
        """Take `steps` steps, or all that remain."""
        last = self.total if steps is None else self.done + steps
        while self.done < min(last, self.total):
            stop = min(last, self._next_stop())
            self.state = self.advance(self.state, self.done, stop)
            self.done = stop
            if self.converged is not None and self.done % self.interval == 0 and self.converged(self.state, self.done):
                self.total = self.done
            file = self.checkpoint
            if file is not None and (self.done % file.every == 0 or self.done == self.total):
                file.write(self.state, self.done, self.total)
            self._report()
        return self

    def _next_stop(self) -> int:
        """The end of the steps that `advance` may take in one call."""
        strides = [self.stride] + ([] if self.checkpoint is None else [self.checkpoint.every])
        return min(self.total, *((self.done // stride + 1) * stride for stride in strides))

    def _report(self) -> None:
        if not watched():
            return
        if self.measure is not None and (self.done % self.interval == 0 or self.done == self.total):
            self._info = self.measure(self.state)
        state, snapshot = self.state, self.snapshot
        embedding = None if snapshot is None else lambda: snapshot(state)
        report(self.task, self.done, self.total, snapshot=embedding, **self._info)
