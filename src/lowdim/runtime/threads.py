"""Threads: how many, and how work is shared so that results have the same bits for any number of them.

BLAS and LAPACK split sums by the number of their own threads, so the same product has other bits on another machine.
lowdim therefore runs them with one thread per call and distributes whole chunks instead: chunks do not depend on the
number of threads, and their results are taken in order.
"""

from __future__ import annotations

import contextvars
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from typing import Any, TypeVar

import numpy as np
import scipy.linalg  # noqa: F401  (loads the BLAS that the controller below must find)
from threadpoolctl import ThreadpoolController

from lowdim.runtime.memory import require_thread_memory, thread_start_errors
from lowdim.runtime.progress import end_with

__all__ = ["interruptible", "ordered_map", "scratch", "single_blas", "thread_count"]

Item = TypeVar("Item")
Result = TypeVar("Result")


def thread_count(n_jobs: int | None = None) -> int:
    """Threads to use: `n_jobs`, else LOWDIM_NUM_THREADS, else OMP_NUM_THREADS, else all processors.

    Negative numbers count from the end, as in scikit-learn: -1 is all, -2 all but one.
    """
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if n_jobs is None:
        for name in ("LOWDIM_NUM_THREADS", "OMP_NUM_THREADS"):
            word = os.environ.get(name, "")
            if word.isdecimal() and int(word) > 0:
                return int(word)
        return processors
    return n_jobs if n_jobs > 0 else max(1, processors + 1 + n_jobs)


@cache
def _blas() -> ThreadpoolController:
    return ThreadpoolController().select(user_api="blas")


class _SingleBlas:
    """Counts the callers inside, so that overlapping fits in several threads restore the limit once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._limit: Any = None

    def enter(self) -> None:
        with self._lock:
            if self._inside == 0:
                require_thread_memory()
            self._inside += 1
            if self._inside == 1:
                self._limit = _blas().limit(limits=1)

    def leave(self) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._limit.restore_original_limits()


_single = _SingleBlas()


@contextmanager
def single_blas() -> Iterator[None]:
    """One thread for every BLAS and LAPACK call inside."""
    _single.enter()
    try:
        yield
    finally:
        _single.leave()


def ordered_map(work: Callable[[Item], Result], items: Iterable[Item], threads: int) -> Iterator[Result]:
    """work(item) for every item, several at a time, results in the order of the items.

    At most threads + 1 results are pending. An error or Ctrl-C ends it immediately: running items, which may be inside
    a call that can't be interrupted, are abandoned and end at their next `progress.report` at the latest.
    """
    if threads <= 1:
        with single_blas():
            yield from map(work, items)
        return
    require_thread_memory(threads)
    pool, ended = ThreadPoolExecutor(threads), threading.Event()
    waiting: deque[Future[Result]] = deque()

    def run(item: Item) -> Result:
        end_with(ended)  # in this context alone, which is a copy
        with single_blas():  # also while it runs on after it was abandoned
            return work(item)

    with single_blas():
        try:
            for item in items:
                with thread_start_errors():
                    waiting.append(pool.submit(contextvars.copy_context().run, run, item))
                if len(waiting) > threads + 1:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            ended.set()
            pool.shutdown(wait=False, cancel_futures=True)


_local = threading.local()


def scratch(shape: tuple[int, ...], dtype: np.dtype[Any]) -> np.ndarray[Any, np.dtype[Any]]:
    """Uninitialized scratch memory of this thread, valid until its next call; fresh pages cost as much as the work."""
    size = int(np.prod(shape)) * dtype.itemsize
    buffer: np.ndarray[Any, np.dtype[np.uint8]] | None = getattr(_local, "buffer", None)
    if buffer is None or buffer.nbytes < size:
        buffer = _local.buffer = np.empty(size, dtype=np.uint8)
    return buffer[:size].view(dtype).reshape(shape)


def interruptible(work: Callable[[], Result]) -> Result:
    """Run work() on a thread of its own, so that Ctrl-C returns immediately although LAPACK can't be interrupted.

    The abandoned call runs to its end, and its result is dropped.
    """
    if threading.current_thread() is not threading.main_thread():
        with single_blas():
            return work()
    outcome: Future[Result] = Future()

    def run() -> None:
        try:
            with single_blas():
                outcome.set_result(work())
        except BaseException as error:
            outcome.set_exception(error)

    require_thread_memory()
    with thread_start_errors():
        threading.Thread(target=run, daemon=True).start()
    return outcome.result()
