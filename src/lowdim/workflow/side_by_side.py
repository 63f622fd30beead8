"""Files written side by side: pages and figures in processes of their own, which start before the data are read.

Bokeh takes a quarter of a second to import, Matplotlib as much with a first figure, and Python's threads share one
core. So a command that will write a page or a figure forks at its start: the forked process imports what that takes
while this one reads and fits, and is then told what to write. Only the process of a command forks: it has no threads
of a user's that a fork would break.
"""

from __future__ import annotations

import gc
import os
import pickle
import signal
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import Context
from typing import Any, NoReturn

import lowdim.data.rows  # noqa: F401  (pictures and methods both take it: it is imported once, before the fork)
from lowdim.errors import LowdimWarning
from lowdim.runtime.command_process import is_command
from lowdim.runtime.threads import thread_count
from lowdim.workflow.picture_files import PREPARATIONS

__all__ = ["Write", "Writers", "writers_beside"]

Write = Callable[[], Any]
Writes = Sequence[Write]


@contextmanager
def writers_beside(kinds: Iterable[str]) -> Iterator[Writers]:
    """A process for each kind of file that one can prepare for, where a second core and a fork are to be had.

    Those that are not done when the block ends, because of an error or Ctrl-C, are stopped, and take back their drafts.
    """
    writers, kinds = Writers(), set(kinds)
    try:
        if is_command() and sys.platform == "linux" and thread_count() > 1:
            for kind, prepare in PREPARATIONS.items():
                if kind in kinds:
                    writers.start(kind, prepare)
        yield writers
    finally:
        writers.stop()


class Writers:
    """The processes that write, by the kind of file, and what they write."""

    def __init__(self) -> None:
        self._processes: dict[str, _WriterProcess] = {}
        self._elsewhere: list[tuple[_WriterProcess, Writes]] = []
        self._here: list[Writes] = []

    def start(self, kind: str, prepare: Callable[[], None]) -> None:
        """A process for files of a kind, if one is to be had."""
        with suppress(OSError):
            self._processes[kind] = _WriterProcess(prepare)

    def begin(self, writes: Mapping[str, Writes]) -> None:
        """Have files written, by kind; what has no process, or can't be pickled, waits for `finish`."""
        for kind, each in writes.items():
            process = self._processes.get(kind)
            if process is not None and process.begin(each):
                self._elsewhere.append((process, each))
            else:
                self._here.append(each)

    def finish(self) -> None:
        """Write what has no process, and wait for the others.

        They say nothing. If one fails or would warn, its files are written again here, so that errors and warnings are
        those of writing them here.
        """
        for writes in self._here:
            _write(writes)
        for process, writes in self._elsewhere:
            if not process.succeeded():
                _write(writes)

    def stop(self) -> None:
        """End the processes that have not ended."""
        for process in self._processes.values():
            process.stop()


class _WriterProcess:
    """A forked process, which prepares, waits until it is told what to write, writes it, and ends."""

    def __init__(self, prepare: Callable[[], None]) -> None:
        self._memory = os.memfd_create("lowdim")
        begun, self._begin = os.pipe()
        try:
            child = os.fork()
            if child == 0:
                os.close(self._begin)
                _serve_and_exit(prepare, begun, self._memory)
            self._child: int | None = child
        except OSError:
            os.close(self._begin)
            os.close(self._memory)
            raise
        finally:
            os.close(begun)

    def begin(self, writes: Writes) -> bool:
        """Tell it what to write; False if that can't be told, or nobody listens."""
        try:
            with open(self._memory, "wb", closefd=False) as file:
                pickle.dump(writes, file, protocol=pickle.HIGHEST_PROTOCOL)
            os.write(self._begin, b"!")
        except Exception:
            return False
        return True

    def succeeded(self) -> bool:
        """Whether it has written everything, once it has ended."""
        assert self._child is not None
        status = os.waitpid(self._child, 0)[1]
        self._child = None
        return status == 0

    def stop(self) -> None:
        """End it, if it has not ended: by Ctrl-C, after which it leaves neither drafts nor locks of caches."""
        os.close(self._begin)
        os.close(self._memory)
        if self._child is not None:
            os.kill(self._child, signal.SIGINT)
            os.waitpid(self._child, 0)


def _serve_and_exit(prepare: Callable[[], None], begun: int, memory: int) -> NoReturn:
    """Write in a context of its own, in which nobody watches progress; then end, without the parent's clean-up."""
    code = 1
    try:
        signal.signal(signal.SIGINT, _interrupt_once)  # which a command in the background ignores
        warnings.simplefilter("error", LowdimWarning)
        gc.disable()  # the process is too short for it to pay
        prepare()
        if os.read(begun, 1):  # nothing, if the parent has ended
            with open(memory, "rb") as file:
                file.seek(0)  # both processes share the position
                writes = pickle.load(file)
            Context().run(_write, writes)
            code = 0
    finally:
        os._exit(code)  # whatever was raised is raised again by the parent


def _interrupt_once(*_: Any) -> NoReturn:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second one would interrupt the cleaning up
    raise KeyboardInterrupt


def _write(writes: Writes) -> None:
    for write in writes:
        write()
