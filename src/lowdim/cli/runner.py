"""One command from its words to its exit code."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from lowdim.cli.exit_codes import OK, report_error
from lowdim.cli.global_flags import Everywhere
from lowdim.cli.output import Answer, printable, to_json
from lowdim.cli.progress_bars import watched
from lowdim.errors import LowdimWarning, MissingExtra

__all__ = ["run"]


def run(words: list[str]) -> int:
    """Do what the words say; print the answer on stdout and everything else on stderr."""
    _make_streams_forgiving()
    wishes, words = Everywhere.taken_from(words)
    try:
        with _told_warnings(wishes.quiet), watched(wishes.quiet):
            answer = _invoke(words or ["--help"])
        _show(answer, wishes)
    except BrokenPipeError:  # whoever reads has had enough
        _let_go_of_stdout()
    except BaseException as error:
        if _is_exit(error):
            return int(getattr(error, "exit_code", OK))
        code = report_error(error, wishes.debug)
        if isinstance(error, OSError):  # perhaps a full disk behind stdout
            _let_go_of_stdout()
        return code
    return OK


def _invoke(words: list[str]) -> Answer | None:
    """The answer of the command; typer's own way of ending the program is not used."""
    try:
        from lowdim.cli.app import command
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in ("typer", "click"):
            raise
        raise MissingExtra("the command line needs typer: pip install 'lowdim[app]'.") from error
    root: Any = command()
    with root.make_context("lowdim", words) as context:
        answer = root.invoke(context)
    return answer if isinstance(answer, Answer) else None


def _is_exit(error: BaseException) -> bool:
    """Whether --help or --version has been answered."""
    typer = sys.modules.get("typer")
    return typer is not None and isinstance(error, typer.Exit)


def _show(answer: Answer | None, wishes: Everywhere) -> None:
    if answer is not None and wishes.json:
        print(to_json(answer.data))
    elif answer is not None and not (wishes.quiet and answer.remark):
        print(answer.text)
    if sys.stdout is not None:
        sys.stdout.flush()


@contextmanager
def _told_warnings(quiet: bool) -> Iterator[None]:
    """Lowdim's own warnings as one line on stderr; those of others are not for this reader."""

    def tell(message: Any, *_: Any, **__: Any) -> None:
        print(f"warning: {printable(str(message))}", file=sys.stderr)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if not quiet:
            warnings.simplefilter("always", LowdimWarning)
        warnings.showwarning = tell
        yield


def _make_streams_forgiving() -> None:
    """A terminal that lacks a character gets a question mark, not a crash."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, ValueError):
            stream.reconfigure(errors="replace")  # type: ignore[union-attr]


def _let_go_of_stdout() -> None:
    """Nothing more can be written there, and Python must not try again when it ends."""
    with suppress(OSError, AttributeError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
