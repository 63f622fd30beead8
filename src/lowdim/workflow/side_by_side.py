"""Files written side by side: figures in a forked process, pages and tables in this one.

Matplotlib and Bokeh each take a third of a second to import, and Python's threads share one core. Only the process of a
command forks: it has no threads of a user's that a fork would break.
"""

from __future__ import annotations

import os
import signal
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import Context
from typing import Any

from lowdim.errors import LowdimWarning
from lowdim.runtime.command_process import is_command
from lowdim.runtime.threads import thread_count

__all__ = ["write_side_by_side"]

Writes = Sequence[Callable[[], Any]]


def write_side_by_side(figures: Writes, others: Writes) -> None:
    """Write all of these files; figures at the same time as the others, where a second core and a fork are to be had.

    The forked process says nothing. If it fails or would warn, the figures are drawn again here, so that errors and
    warnings are those of drawing them here.
    """
    if not (is_command() and figures and others and sys.platform == "linux" and thread_count() > 1):
        _write(others)
        _write(figures)
        return
    with _forked(figures) as succeeded:
        _write(others)
    if not succeeded():
        _write(figures)


@contextmanager
def _forked(writes: Writes) -> Iterator[Callable[[], bool]]:
    """A child process that writes while the block runs; afterwards, whether it has written everything."""
    child = os.fork()
    if child == 0:
        _write_and_exit(writes)
    status: list[int] = []
    try:
        yield lambda: status[0] == 0
    except BaseException:
        os.kill(child, signal.SIGINT)  # it takes back its draft
        raise
    finally:
        status.append(os.waitpid(child, 0)[1])


def _write_and_exit(writes: Writes) -> None:
    """Write in a context of its own, in which nobody watches progress; then end, without the parent's clean-up."""
    code = 1
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a command in the background ignores it
        warnings.simplefilter("error", LowdimWarning)
        Context().run(_write, writes)
        code = 0
    finally:
        os._exit(code)  # whatever was raised is raised again by the parent


def _write(writes: Writes) -> None:
    for write in writes:
        write()
