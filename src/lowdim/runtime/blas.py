"""The thread limit of BLAS and LAPACK: one thread per call while lowdim computes.

They split sums by the number of their threads, so the same product has other bits on another machine. The limit belongs
to the process, not to a thread, so everyone who computes at the same time is counted here: the first one sets it, the
last one restores what was there before. Another library may change it in between (scikit-learn does, for its own
loops); whoever enters sets it again, and `run_single` notices a change during a LAPACK call and repeats the call. Only
a thread that changes the limit over and over can still get at the last bits.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, TypeVar

import scipy.linalg  # noqa: F401  (loads the BLAS that the controller below must find)
from threadpoolctl import ThreadpoolController

from lowdim.runtime.memory import require_thread_memory

__all__ = ["run_single", "single_blas"]

Result = TypeVar("Result")

MOST_REPEATS = 20  # of a call during which another library changed the limit
FORK_PAUSE = 20_000  # microseconds


class _Library:
    """One BLAS library of this process."""

    def __init__(self, controller: Any) -> None:
        self.threads: Callable[[], int | None] = controller.get_num_threads
        # Since version 3.8, threadpoolctl ignores who is not the first thread that ever set a limit of OpenBLAS. That
        # keeps threads from restoring each other's limits; here they are counted instead.
        self.set_threads: Callable[[int], Any] = getattr(
            controller, "_real_set_num_threads", controller.set_num_threads
        )


@cache
def _libraries() -> tuple[_Library, ...]:
    blas = ThreadpoolController().select(user_api="blas")
    return tuple(_Library(controller) for controller in blas.lib_controllers)


class _SingleBlas:
    """Counts who is inside, so that overlapping fits in several threads set and restore the limit once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._before: tuple[int | None, ...] = ()
        self._thread = threading.local()

    def enter(self) -> None:
        with self._lock:
            if self._inside == 0:
                require_thread_memory()
                self._before = tuple(library.threads() for library in _libraries())
            self._inside += 1
            self._thread.depth = self._depth + 1
            self.hold()

    def leave(self) -> None:
        with self._lock:
            self._inside -= 1
            self._thread.depth = self._depth - 1
            if self._inside == 0:
                self._restore()

    def hold(self) -> bool:
        """Set the limit where it is not set; whether it was."""
        lost = [library for library in _libraries() if library.threads() != 1]
        for library in lost:
            library.set_threads(1)
        return not lost

    def before_fork(self) -> None:
        """Let other threads leave their calls of BLAS, while this one holds Python's lock and no further ones begin.

        OpenBLAS does not hold the lock of its buffers during a fork: in a process forked while another thread has it,
        the next call of BLAS never returns (seen once in 1,200 forks beside two threads that fit small tables). Only a
        call that takes longer than the pause is still a risk.
        """
        if self._inside > self._depth:
            _sleep(FORK_PAUSE)

    def after_fork(self) -> None:
        """In a forked process, of all threads inside only the one that forked is left."""
        depth, was_inside = self._depth, self._inside > 0
        self._lock = threading.Lock()
        self._inside = depth
        if was_inside and depth == 0:
            self._restore()

    @property
    def _depth(self) -> int:
        return int(getattr(self._thread, "depth", 0))

    def _restore(self) -> None:
        for library, before in zip(_libraries(), self._before, strict=True):
            if before is not None and before != 1 and library.threads() == 1:  # else another library has set its own
                library.set_threads(before)


_single = _SingleBlas()
if hasattr(os, "register_at_fork"):
    _sleep = ctypes.PyDLL(None).usleep  # of the C library, called without giving up Python's lock
    os.register_at_fork(before=_single.before_fork, after_in_child=_single.after_fork)


@contextmanager
def single_blas() -> Iterator[None]:
    """One thread for every BLAS and LAPACK call inside."""
    _single.enter()
    try:
        yield
    finally:
        _single.leave()


def run_single(work: Callable[[], Result]) -> Result:
    """work(), a function without side effects, with one thread for every BLAS and LAPACK call in it."""
    with single_blas():
        for _ in range(MOST_REPEATS):
            result = work()
            if _single.hold():
                break
        return result
