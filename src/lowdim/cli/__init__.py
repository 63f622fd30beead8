"""The command line.

    lowdim map digits -o map.html

A command is a function that returns a `CommandOutput`; `runner` prints it, as text or as JSON, and turns every error
into one line and an exit code. Nothing heavy is imported before a command needs it, so that `--help` is immediate.
Imports `workflow` and below.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; without arguments those of the process, which is then the command's."""
    from lowdim.cli.runner import run
    from lowdim.runtime.command_process import begin_command

    if arguments is None:
        begin_command()
    return run(list(sys.argv[1:] if arguments is None else arguments))
