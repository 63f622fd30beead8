"""The process of a command, which is lowdim's own: it starts quickly, and may do what a library must not."""

from __future__ import annotations

import gc

from lowdim.runtime.deferred_imports import defer_imports

__all__ = ["begin_command", "is_command"]

_begun = False


def begin_command() -> None:
    """Load packages when they are used, and collect garbage when there may be some, not after every import."""
    global _begun  # a fact about the process
    defer_imports()
    gc.set_threshold(50_000, 20, 50)
    _begun = True


def is_command() -> bool:
    """Whether this process runs a command and nothing else: no threads of a user's that a fork would break."""
    return _begun
