"""Progress bars on stderr, if it is a terminal."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from lowdim.runtime.progress import Step, watch

__all__ = ["show_progress"]

DELAY = 0.5  # seconds before the first bar: shorter tasks need none


@contextmanager
def show_progress(quiet: bool) -> Iterator[None]:
    """Show a bar for every long task inside; the bars disappear at the end."""
    if quiet or sys.stderr is None or not sys.stderr.isatty():
        yield
        return
    bars = _ProgressBars()
    try:
        with watch(bars.show):
            yield
    finally:
        bars.close()


class _ProgressBars:
    """One bar per task, drawn by rich, which is imported for the first of them."""

    def __init__(self) -> None:
        self._start = time.monotonic()
        self._lock = threading.Lock()  # several threads report steps
        self._display: Any = None
        self._tasks: dict[str, Any] = {}

    def show(self, step: Step) -> None:
        with self._lock:
            if time.monotonic() - self._start < DELAY:
                return
            if self._display is None:
                self._display = _rich_display()
                self._display.start()
            if step.task not in self._tasks:
                self._tasks[step.task] = self._display.add_task(step.task)
            self._display.update(self._tasks[step.task], completed=step.done, total=step.total)

    def close(self) -> None:
        if self._display is not None:
            self._display.stop()


def _rich_display() -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
    )
    return Progress(*columns, console=Console(stderr=True), transient=True)
