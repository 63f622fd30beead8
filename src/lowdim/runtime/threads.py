"""Threads: how many, and how work is shared so that results have the same bits for any number of them.

BLAS and LAPACK split sums by the number of their own threads, so the same product has other bits on another machine.
lowdim therefore runs them with one thread per call and distributes whole chunks instead: chunks do not depend on the
number of threads, and their results are taken in order.
"""

from __future__ import annotations

import atexit
import contextvars
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from itertools import chain, islice
from typing import Any, TypeVar

import numpy as np

from lowdim.errors import BadParameter
from lowdim.runtime.blas import run_single, single_blas
from lowdim.runtime.memory import require_thread_memory, thread_start_errors
from lowdim.runtime.param import Integer
from lowdim.runtime.progress import end_with

__all__ = ["interruptible", "interruptible_product", "ordered_map", "scratch", "thread_count"]

Item = TypeVar("Item")
Result = TypeVar("Result")

MOST_THREADS = 64  # on any machine
LONG_PRODUCT = 1 << 30  # multiplications that take some 50 ms


def thread_count(n_jobs: int | None = None) -> int:
    """Threads to use: `n_jobs`, else LOWDIM_NUM_THREADS, else OMP_NUM_THREADS, else all processors.

    Negative numbers count from the end, as in scikit-learn: -1 is all, -2 all but one. No more threads are used than
    help: four for each processor, or 64.
    """
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if n_jobs is None:
        wanted = _threads_of_environment() or processors
    elif not Integer().accepts(n_jobs) or n_jobs == 0:
        raise BadParameter(
            f"n_jobs must be None or a whole number other than 0 (-1: all processors); got {n_jobs!r:.60}."
        )
    else:
        wanted = int(n_jobs) if n_jobs > 0 else processors + 1 + int(n_jobs)
    return min(max(wanted, 1), max(4 * processors, MOST_THREADS))


def _threads_of_environment() -> int | None:
    """LOWDIM_NUM_THREADS, which must be right, or OMP_NUM_THREADS, which is for others too; None if neither says."""
    own = os.environ.get("LOWDIM_NUM_THREADS", "").strip()
    if own:
        if (threads := _whole_number(own)) is None:
            raise BadParameter(
                f"the environment variable LOWDIM_NUM_THREADS must be a whole number of at least 1; got {own!r:.60}. "
                "Correct it, or unset it to use all processors."
            )
        return threads
    # OpenMP allows a list, one number for each level of nested loops.
    return _whole_number(os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip())


def _whole_number(word: str) -> int | None:
    if not word.isdecimal():
        return None
    return int(word[-20:]) or None if len(word.lstrip("0")) <= 20 else 10**20  # clamped anyway


def ordered_map(work: Callable[[Item], Result], items: Iterable[Item], threads: int) -> Iterator[Result]:
    """work(item) for every item, several at a time, results in the order of the items.

    At most threads + 1 results are pending. An error or Ctrl-C ends it immediately: running items, which may be inside
    a call that can't be interrupted, are abandoned and end at their next `progress.report` at the latest.
    """
    if threads > 1:
        items = iter(items)
        first = list(islice(items, 2))
        items, threads = chain(first, items), threads if len(first) == 2 else 1  # one item can't be shared
    if threads <= 1:
        with single_blas():
            for item in items:  # not map(): it would take a StopIteration of work() for the end of the items
                yield work(item)
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


def interruptible(work: Callable[[], Result], *, once: bool = False) -> Result:
    """Run work(), a function without side effects, on a thread of its own, with one BLAS thread.

    Ctrl-C returns immediately, although LAPACK can't be interrupted.
    The abandoned call runs to its end, and its result is dropped.
    With `once`, work() may have side effects, such as reading on in a file; the threads of BLAS are left as they are.
    """
    call = work if once else partial(run_single, work)
    if threading.current_thread() is not threading.main_thread():
        return call()
    outcome: Future[Result] = Future()

    def run() -> None:
        try:
            result = call()
        except BaseException as error:
            outcome.set_exception(error)
        else:
            outcome.set_result(result)
        finally:
            _calls.discard(threading.current_thread())

    require_thread_memory()
    thread = threading.Thread(target=run, daemon=True)
    _calls.add(thread)
    with thread_start_errors():
        thread.start()
    return outcome.result()


def interruptible_product(product: Callable[[], Result], size: int) -> Result:
    """product(), which takes `size` multiplications: on a thread of its own if Ctrl-C would have to wait for it."""
    return interruptible(product) if size > LONG_PRODUCT else product()


_calls: set[threading.Thread] = set()  # that run or were abandoned


@atexit.register
def _wait_for_calls() -> None:
    """Before Python ends: an abandoned call still uses memory that would be freed. Ctrl-C once more ends at once."""
    try:
        for thread in [thread for thread in _calls if thread.is_alive()]:
            thread.join()
    except KeyboardInterrupt:
        os._exit(130)
