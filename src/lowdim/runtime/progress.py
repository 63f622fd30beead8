"""One protocol for progress, callbacks and cancellation.

Long loops call `report`; a `watch` receives what they report:

    with lowdim.watch(lambda step: print(step.task, step.done, step.total)):
        PCA(missing="em").fit(X)

A callback that returns True (or raises StopIteration) asks to stop: the loop raises `Cancelled`, and the
estimator is left unfitted, as it is after Ctrl-C. Watches nest; every one of them is told of every step.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from lowdim.errors import Cancelled

__all__ = ["Bar", "Step", "end_with", "report", "watch", "watched"]


@dataclass(frozen=True)
class Step:
    """One step of a long loop: `done` of `total` (None if unknown), and what the loop measures.

    While an embedding is being optimized, `snapshot()` returns it as it is now, (n, k).
    """

    task: str
    done: int
    total: int | None = None
    info: Mapping[str, float] = field(default_factory=dict)
    snapshot: Callable[[], Any] | None = None


Callback = Callable[[Step], "bool | None"]

_watchers: ContextVar[tuple[Callback, ...]] = ContextVar("lowdim_watchers", default=())
_ends: ContextVar[tuple[threading.Event, ...]] = ContextVar("lowdim_ends", default=())


@contextmanager
def watch(callback: Callback | None = None) -> Iterator[None]:
    """Send the steps of everything inside to `callback`; without one, draw one line of progress."""
    bar = Bar()
    token = _watchers.set((*_watchers.get(), bar.show if callback is None else callback))
    try:
        yield
    finally:
        _watchers.reset(token)
        bar.close()


def end_with(ended: threading.Event) -> None:
    """Let every later report of this context raise `Cancelled` once the event is set: nothing waits for its result."""
    _ends.set((*_ends.get(), ended))


def watched() -> bool:
    """Whether there is a watcher: what is measured for watchers alone is otherwise skipped."""
    return bool(_watchers.get())


def report(
    task: str, done: int, total: int | None = None, *, snapshot: Callable[[], Any] | None = None, **info: float
) -> None:
    """Tell every watcher; raise `Cancelled` if one of them asks to stop, or if the result is no longer needed."""
    if any(ended.is_set() for ended in _ends.get()):
        raise Cancelled(f"{task} was abandoned after {done} steps.")
    watchers = _watchers.get()
    if not watchers:
        return
    step = Step(task, done, total, info, snapshot)
    stops = [_stops(callback, step) for callback in watchers]  # every watcher is told of every step
    if any(stops):
        raise Cancelled(f"{task} was stopped by its callback after {done} steps; the estimator is unfitted.")


def _stops(callback: Callback, step: Step) -> bool:
    """Whether the callback asks to stop, by True or by StopIteration, which loops above would take for their end."""
    try:
        return callback(step) is True
    except StopIteration:
        return True


class Bar:
    """One line of progress, redrawn at most ten times per second: on stderr, or below the cell of a notebook."""

    def __init__(self) -> None:
        self._last = 0.0
        self._task = ""
        self._draw, self._end = _notebook_line() or _terminal_line()

    def show(self, step: Step) -> None:
        """Draw one step; the first and the last of a task always."""
        now = time.monotonic()
        if step.done != step.total and step.task == self._task and now - self._last < 0.1:
            return
        self._last, self._task = now, step.task
        share = f"{100 * step.done / step.total:3.0f}%" if step.total else f"{step.done}"
        info = "  ".join(f"{name} {value:.6g}" for name, value in step.info.items())
        self._draw(f"{step.task}  {share}  {info}".rstrip())

    def close(self) -> None:
        """End the line, if one was drawn."""
        if self._task:
            self._end()


Line = tuple[Callable[[str], None], Callable[[], None]]


def _terminal_line() -> Line:
    def draw(text: str) -> None:
        sys.stderr.write(f"\r\x1b[K{text}")
        sys.stderr.flush()

    return draw, lambda: print(file=sys.stderr)


def _notebook_line() -> Line | None:
    """A display that is updated in place; None outside of a notebook, whose kernel has imported IPython."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is None or not hasattr(shell, "kernel"):
        return None
    handles: list[Any] = []

    def draw(text: str) -> None:
        bundle = {"text/plain": text}
        if handles:
            handles[0].update(bundle, raw=True)
        else:
            handles.append(sys.modules["IPython"].display.display(bundle, raw=True, display_id=True))

    return draw, lambda: None
