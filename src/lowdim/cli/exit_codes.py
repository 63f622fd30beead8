"""Exit codes, and errors as one line that says what to do."""

from __future__ import annotations

import sys
import traceback
from contextlib import suppress
from typing import Any

from lowdim import errors
from lowdim.cli.output import print_to_stderr
from lowdim.cli.spelling import as_flags

__all__ = ["EXIT_CODES", "SUCCESS", "report_error"]

SUCCESS, UNEXPECTED, USAGE, DATA, IMPOSSIBLE, EXTRA, INTERRUPTED = 0, 1, 2, 3, 4, 5, 130

EXIT_CODES = (
    f"Exit codes: {SUCCESS} success; {UNEXPECTED} unexpected error, please report it; {USAGE} invalid command, option "
    f"or value; {DATA} unusable data, file or model; {IMPOSSIBLE} too little data or memory, or no convergence; "
    f"{EXTRA} missing dependency; {INTERRUPTED} interrupted by Ctrl-C."
)

# The first match counts, so subclasses come before their bases.
CODES: tuple[tuple[type[BaseException], int], ...] = (
    (errors.BadParameter, USAGE),
    (errors.MissingExtra, EXTRA),
    (errors.NotEnoughData, IMPOSSIBLE),
    (errors.NotConverged, IMPOSSIBLE),
    (errors.SearchTooLarge, IMPOSSIBLE),
    (MemoryError, IMPOSSIBLE),
    (errors.Cancelled, INTERRUPTED),
    (KeyboardInterrupt, INTERRUPTED),
    (errors.LowdimError, DATA),
    (OSError, DATA),
)


def report_error(error: BaseException, debug: bool) -> int:
    """Print the error to stderr, in one line, and return the exit code."""
    code, message = _classify(error)
    if debug:
        with suppress(OSError, ValueError):  # stderr is closed
            traceback.print_exception(error, file=sys.stderr)
    print_to_stderr(f"error: {message}")
    return code


def _classify(error: BaseException) -> tuple[int, str]:
    usage_message: Any = getattr(error, "format_message", None)  # only click's own errors have it
    if usage_message is not None:
        return USAGE, f"{_end_sentence(usage_message())} {_see_help(error)}"
    if isinstance(error, KeyboardInterrupt):
        return INTERRUPTED, "interrupted; no file was left incomplete."
    for kind, code in CODES:
        if isinstance(error, kind):
            text = as_flags(str(error)) if isinstance(error, errors.LowdimError) else str(error)
            return code, text or type(error).__name__
    return UNEXPECTED, (
        f"unexpected {type(error).__name__}: {error}. Please run the command again with --debug, and report the output."
    )


def _end_sentence(text: str) -> str:
    return text if text.endswith((".", "?")) else f"{text}."


def _see_help(error: Any) -> str:
    context = getattr(error, "ctx", None)
    return f"See {context.command_path if context is not None else 'lowdim'} --help."
