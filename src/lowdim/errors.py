"""Every error that lowdim raises on purpose.

LowdimError
├── BadInput (ValueError)             the data can't be used as they are
│   └── BadInputType (TypeError)      not even data
├── BadParameter (ValueError, TypeError)   a parameter breaks its rule
├── NotEnoughData (ValueError)        too few rows or columns for what was asked
├── NotConverged (RuntimeError)       an iteration ended without an answer
├── Cancelled (RuntimeError)          a callback asked to stop
├── MemoryTooSmall (MemoryError)      the work would not fit; nothing was started
├── MissingExtra (ImportError)        an optional dependency is not installed
└── ModelFileError (ValueError)       not a model file, or a damaged one

A message names the thing, states the rule, shows the value, and says what to do.
"""

from __future__ import annotations

__all__ = [
    "BadInput",
    "BadInputType",
    "BadParameter",
    "Cancelled",
    "LowdimError",
    "LowdimWarning",
    "MemoryTooSmall",
    "MissingExtra",
    "ModelFileError",
    "NotConverged",
    "NotEnoughData",
]


class LowdimError(Exception):
    """The root of lowdim's errors."""


class BadInput(LowdimError, ValueError):
    """The data can't be used as they are."""


class BadInputType(BadInput, TypeError):
    """What was given is not a table of numbers."""


class BadParameter(LowdimError, ValueError, TypeError):
    """A parameter breaks its rule."""


class NotEnoughData(LowdimError, ValueError):
    """Too few rows or columns for what was asked."""


class NotConverged(LowdimError, RuntimeError):
    """An iteration ended without an answer."""


class Cancelled(LowdimError, RuntimeError):
    """A callback asked to stop."""


class MemoryTooSmall(LowdimError, MemoryError):
    """The work would not fit in memory; nothing was started."""


class MissingExtra(LowdimError, ImportError):
    """An optional dependency is not installed."""


class ModelFileError(LowdimError, ValueError):
    """Not a model file of lowdim, or a damaged one."""


class LowdimWarning(UserWarning):
    """The result is usable, but something about it should be known."""
