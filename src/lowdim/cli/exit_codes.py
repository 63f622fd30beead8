"""How a command ends: exit codes, and errors as one line that says what to do."""

from __future__ import annotations

import sys
import traceback
from typing import Any

from lowdim import errors
from lowdim.cli.output import printable

__all__ = ["EXIT_CODES", "OK", "report_error"]

OK, UNEXPECTED, USAGE, DATA, IMPOSSIBLE, EXTRA, STOPPED = 0, 1, 2, 3, 4, 5, 130

EXIT_CODES = (
    f"Exit codes: {OK} done; {UNEXPECTED} unexpected, please report it; {USAGE} a wrong command, flag or value; "
    f"{DATA} data, a file or a model that can't be used; {IMPOSSIBLE} too little data or memory for what was "
    f"asked, or no convergence; {EXTRA} something is not installed; {STOPPED} stopped by Ctrl-C."
)

# The first that fits counts, so the special come before the general.
CODES: tuple[tuple[type[BaseException], int], ...] = (
    (errors.BadParameter, USAGE),
    (errors.MissingExtra, EXTRA),
    (errors.NotEnoughData, IMPOSSIBLE),
    (errors.NotConverged, IMPOSSIBLE),
    (MemoryError, IMPOSSIBLE),
    (errors.Cancelled, STOPPED),
    (KeyboardInterrupt, STOPPED),
    (errors.LowdimError, DATA),
    (OSError, DATA),
)


def report_error(error: BaseException, debug: bool) -> int:
    """Say on stderr what went wrong, in one line, and give the exit code."""
    code, message = _judge(error)
    if debug:
        traceback.print_exception(error, file=sys.stderr)
    print(f"error: {printable(message)}", file=sys.stderr)
    return code


def _judge(error: BaseException) -> tuple[int, str]:
    told: Any = getattr(error, "format_message", None)  # typer's own errors have it, and no others
    if told is not None:
        return USAGE, f"{_sentence(told())} {_where_to_look(error)}"
    if isinstance(error, KeyboardInterrupt):
        return STOPPED, "stopped. No file was left half-written."
    for kind, code in CODES:
        if isinstance(error, kind):
            return code, str(error) or type(error).__name__
    return UNEXPECTED, (
        f"unexpected {type(error).__name__}: {error}. Run it again with --debug, and report what that prints."
    )


def _sentence(text: str) -> str:
    return text if text.endswith((".", "?", ")")) else f"{text}."


def _where_to_look(error: Any) -> str:
    context = getattr(error, "ctx", None)
    return f"See {context.command_path if context is not None else 'lowdim'} --help."
