"""One protocol for what must not be silent: a result that is usable, but not quite what was asked for.

`warn` is called where lowdim lowers a parameter, joins components, leaves something out, or did not converge. In Python
it is a `LowdimWarning` at the caller's line; the command line prints it as one line, and lists it in its JSON.
"""

from __future__ import annotations

import os
import sys
import warnings

from lowdim.errors import LowdimWarning

__all__ = ["warn"]

_PACKAGES = ("lowdim", "sklearn")  # whose own lines say nothing to the caller


def warn(message: str) -> None:
    """Warn of a limitation of the result; the message says what was done, and what to do about it."""
    warnings.warn(message, LowdimWarning, stacklevel=_caller_level())


def _caller_level() -> int:
    """The stacklevel, counted from `warn`, of the first frame outside lowdim and scikit-learn."""
    level, frame = 2, sys._getframe(2)
    while frame.f_back is not None and _is_inside(frame.f_globals.get("__name__", ""), frame.f_code.co_filename):
        level, frame = level + 1, frame.f_back
    return level


def _is_inside(module: str, filename: str) -> bool:
    package = module.partition(".")[0]
    return package in _PACKAGES or os.path.basename(filename) == "contextlib.py"
