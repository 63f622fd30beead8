"""Available memory, and an error before work that would exceed it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from lowdim.errors import MemoryTooSmall

__all__ = [
    "announce_memory",
    "announcing_memory",
    "available_bytes",
    "require_memory",
    "require_thread_memory",
    "thread_start_errors",
]

THREAD_BYTES = 48 << 20  # what a thread that calls BLAS takes: its stack, and the work buffer of OpenBLAS

Announcement = Callable[[str, int], None]
_announcement: ContextVar[Announcement | None] = ContextVar("lowdim_memory_announcement", default=None)


@contextmanager
def announcing_memory(tell: Announcement) -> Iterator[None]:
    """Call `tell` with what will be done and its bytes, before every fit inside that has an estimate."""
    token = _announcement.set(tell)
    try:
        yield
    finally:
        _announcement.reset(token)


def announce_memory(what: str, needed: int) -> None:
    """Say how much memory is about to be taken, if somebody wants to know."""
    tell = _announcement.get()
    if tell is not None:
        tell(what, needed)


def available_bytes() -> int | None:
    """Memory that is available without swapping, within the limit of this process; None where nothing tells."""
    known = [size for size in (_system_bytes(), _address_space()) if size is not None]
    return min(known, default=None)


def require_memory(needed: int, what: str, advice: str) -> None:
    """Raise MemoryTooSmall if `needed` bytes exceed what is available."""
    available = available_bytes()
    if available is not None and needed > available:
        raise MemoryTooSmall(
            f"{what} needs about {needed / 2**30:.1f} GiB, and {available / 2**30:.1f} GiB are available. {advice}"
        )


def require_thread_memory(threads: int = 1) -> None:
    """Raise MemoryTooSmall if a limit of address space (ulimit -v) is too near for threads that call BLAS.

    OpenBLAS ends the process when it can't allocate its work buffer, and nothing can be caught then.
    """
    left = _address_space()
    if left is not None and left < threads * THREAD_BYTES:
        who, advice = ("a thread needs", "") if threads == 1 else (f"{threads} threads need", ", or use n_jobs=1")
        raise MemoryTooSmall(
            f"{who} {threads * THREAD_BYTES >> 20} MiB, and the limit of this process (ulimit -v) leaves "
            f"{left >> 20} MiB. Raise the limit{advice}."
        )


@contextmanager
def thread_start_errors() -> Iterator[None]:
    """Where Python starts threads: that there is no memory for one more is a RuntimeError there."""
    try:
        yield
    except RuntimeError as error:
        if "can't start new thread" not in str(error):
            raise
        raise MemoryTooSmall(
            "there is no memory, or no permission, for one more thread. Raise the limits, or use n_jobs=1."
        ) from error


def _system_bytes() -> int | None:
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def _address_space() -> int | None:
    """What the limit of address space (RLIMIT_AS) leaves to this process; None without a limit."""
    try:
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        if limit == resource.RLIM_INFINITY:
            return None
        with open("/proc/self/statm", encoding="ascii") as file:
            return max(0, limit - int(file.read().split()[0]) * resource.getpagesize())
    except (ImportError, AttributeError, OSError, ValueError):
        return None
