"""The errors that lowdim raises, in one tree.

LowdimError
├── BadInput (ValueError)             the data are invalid
│   └── BadInputType (TypeError)      not a table of numbers
├── BadParameter (ValueError, TypeError)   a parameter breaks its rule
├── NotEnoughData (ValueError)        too few rows or columns for what was asked
├── NotConverged (RuntimeError)       an iteration did not converge
├── Cancelled (RuntimeError)          a callback asked to stop
├── AlreadyFitting (RuntimeError)     one estimator object is fitted twice at a time
├── MemoryTooSmall (MemoryError)      the work would exceed memory; nothing was started
├── SearchTooLarge (RuntimeError)     an exhaustive search exceeds its limit
├── MissingExtra (ImportError)        an optional dependency is not installed
└── ModelFileError (ValueError)       not a model file, or a corrupt one

A message names what is wrong, states the rule, shows the value, and says what to do.
"""

from __future__ import annotations

__all__ = [
    "AlreadyFitting",
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
    "SearchTooLarge",
]


class LowdimError(Exception):
    """Base class of lowdim's errors."""


class BadInput(LowdimError, ValueError):
    """The data are invalid."""


class BadInputType(BadInput, TypeError):
    """What was given is not a table of numbers."""


class BadParameter(LowdimError, ValueError, TypeError):
    """A parameter breaks its rule."""


class NotEnoughData(LowdimError, ValueError):
    """Too few rows or columns for what was asked."""


class NotConverged(LowdimError, RuntimeError):
    """An iteration did not converge to a usable result."""


class Cancelled(LowdimError, RuntimeError):
    """A callback asked to stop."""


class AlreadyFitting(LowdimError, RuntimeError):
    """One estimator object is fitted twice at a time."""


class MemoryTooSmall(LowdimError, MemoryError):
    """The work would exceed the available memory; nothing was started."""


class SearchTooLarge(LowdimError, RuntimeError):
    """An exhaustive search exceeds the limit that a parameter sets."""


class MissingExtra(LowdimError, ImportError):
    """An optional dependency is not installed."""


class ModelFileError(LowdimError, ValueError):
    """Not a model file of lowdim, or a corrupt one."""


class LowdimWarning(UserWarning):
    """The result is usable, but has a limitation that the message names."""
