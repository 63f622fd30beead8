"""Progress on stderr, where somebody may be looking."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from lowdim.runtime.progress import Step, watch

__all__ = ["watched"]

PATIENCE = 0.5  # seconds without a bar: what ends sooner needs none


@contextmanager
def watched(quiet: bool) -> Iterator[None]:
    """Bars for the long loops inside, if stderr is a terminal; they are gone at the end."""
    if quiet or sys.stderr is None or not sys.stderr.isatty():
        yield
        return
    bars = _Bars()
    try:
        with watch(bars.show):
            yield
    finally:
        bars.close()


class _Bars:
    """A bar for each task, drawn by rich, which is imported for the first of them."""

    def __init__(self) -> None:
        self._start = time.monotonic()
        self._lock = threading.Lock()  # steps come from several threads
        self._drawn: Any = None
        self._tasks: dict[str, Any] = {}

    def show(self, step: Step) -> None:
        with self._lock:
            if time.monotonic() - self._start < PATIENCE:
                return
            if self._drawn is None:
                self._drawn = _rich_bars()
                self._drawn.start()
            if step.task not in self._tasks:
                self._tasks[step.task] = self._drawn.add_task(step.task)
            self._drawn.update(self._tasks[step.task], completed=step.done, total=step.total)

    def close(self) -> None:
        if self._drawn is not None:
            self._drawn.stop()


def _rich_bars() -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
    )
    return Progress(*columns, console=Console(stderr=True), transient=True)
