"""Available memory, and an error before work that would exceed it."""

from __future__ import annotations

import os

from lowdim.errors import MemoryTooSmall

__all__ = ["available_bytes", "require_memory"]


def available_bytes() -> int | None:
    """Memory that is available without swapping, or None where the system does not tell."""
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


def require_memory(needed: int, what: str, advice: str) -> None:
    """Raise MemoryTooSmall if `needed` bytes exceed what is available."""
    available = available_bytes()
    if available is not None and needed > available:
        raise MemoryTooSmall(
            f"{what} needs about {needed / 2**30:.1f} GiB, and {available / 2**30:.1f} GiB are available. {advice}"
        )
