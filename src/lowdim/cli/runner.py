"""Run one command: from its arguments to its exit code."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from lowdim.cli.exit_codes import SUCCESS, report_error
from lowdim.cli.global_flags import GlobalFlags
from lowdim.cli.output import CommandOutput, print_to_stderr, to_json
from lowdim.cli.progress_bars import show_progress
from lowdim.cli.spelling import as_flags
from lowdim.errors import LowdimWarning, MissingExtra
from lowdim.runtime.memory import announcing_memory, available_bytes

__all__ = ["run"]

LARGE_BYTES = 256 << 20  # a fit that takes more says so first


def run(words: list[str]) -> int:
    """Run a command; print its output to stdout and everything else to stderr."""
    _replace_unencodable()
    flags, words = GlobalFlags.parse(words)
    try:
        with _print_warnings(flags.quiet) as warned, show_progress(flags.quiet), _print_memory(flags.quiet):
            output = _invoke(words or ["--help"])
        _print_output(output, flags, warned)
    except BrokenPipeError:  # the reader has closed the pipe
        _discard(sys.stdout)
    except BaseException as error:
        if _is_exit(error):
            return int(getattr(error, "exit_code", SUCCESS))
        code = report_error(error, flags.debug)
        if isinstance(error, OSError):  # perhaps stdout is on a full disk
            _discard(sys.stdout)
        _discard_broken_stderr()
        return code
    return SUCCESS


def _invoke(words: list[str]) -> CommandOutput | None:
    """The output of the command; typer's standalone mode, which would exit, is not used."""
    try:
        from lowdim.cli.app import make_program
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in ("typer", "click"):
            raise
        raise MissingExtra("the command line needs typer: pip install 'lowdim[app]'.") from error
    program: Any = make_program(words[0])
    with program.make_context("lowdim", words) as context:
        output = program.invoke(context)
    return output if isinstance(output, CommandOutput) else None


def _is_exit(error: BaseException) -> bool:
    """Whether --help or --version ended the command."""
    typer = sys.modules.get("typer")
    return typer is not None and isinstance(error, typer.Exit)


def _print_output(output: CommandOutput | None, flags: GlobalFlags, warned: list[str]) -> None:
    if output is not None and flags.json:
        print(to_json({**output.data, "warnings": warned}))
    elif output is not None and not (flags.quiet and output.is_status):
        print(output.text)
    if sys.stdout is not None:
        sys.stdout.flush()


@contextmanager
def _print_warnings(quiet: bool) -> Iterator[list[str]]:
    """Print lowdim's own warnings to stderr, one line each, once each; ignore those of other packages.

    The list is that of the warnings so far, printed or not.
    """
    warned: list[str] = []

    def show(message: Any, *_: Any, **__: Any) -> None:
        text = as_flags(str(message))
        if text not in warned:
            warned.append(text)
            if not quiet:
                print_to_stderr(f"warning: {text}")

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", LowdimWarning)
        warnings.showwarning = show
        yield warned


@contextmanager
def _print_memory(quiet: bool) -> Iterator[None]:
    """Print, before a fit that takes much memory, how much it will take."""

    def tell(what: str, needed: int) -> None:
        if needed >= LARGE_BYTES and not quiet:
            available = available_bytes()
            free = "" if available is None else f" ({available / 2**30:.1f} GiB are available)"
            print_to_stderr(f"{what} takes about {needed / 2**30:.1f} GiB of memory{free}")

    with announcing_memory(tell):
        yield


def _replace_unencodable() -> None:
    """Characters that a stream can't encode become question marks, not errors."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, ValueError):
            stream.reconfigure(errors="replace")  # type: ignore[union-attr]


def _discard(stream: Any) -> None:
    """Redirect a stream to nowhere, so that Python does not fail again when it flushes at exit."""
    with suppress(OSError, AttributeError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _discard_broken_stderr() -> None:
    try:
        if sys.stderr is not None:
            sys.stderr.flush()
    except (OSError, ValueError):
        _discard(sys.stderr)
