"""Run command lines, and collect exit code, stdout and stderr."""

from __future__ import annotations

import contextlib
import io
import json
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# Many lines in one process, because importing scikit-learn takes a second: `main` is what the entry point calls.
DRIVER = """
import contextlib, io, json, sys
from lowdim.cli import main
results = []
for line in json.load(sys.stdin):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(line)
    results.append([code, out.getvalue(), err.getvalue()])
json.dump(results, sys.stdout)
"""


@dataclass(frozen=True)
class CommandResult:
    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        return json.loads(self.out)


def run_lines(folder: Path, lines: Iterable[str]) -> dict[str, CommandResult]:
    """The result of each line, all of them run in one process. Words are separated by spaces."""
    lines = list(lines)
    words = json.dumps([line.split() for line in lines])
    done = subprocess.run([sys.executable, "-c", DRIVER], input=words, capture_output=True, text=True, cwd=folder)
    assert done.returncode == 0, done.stderr
    return dict(zip(lines, (CommandResult(*result) for result in json.loads(done.stdout)), strict=True))


def run_here(folder: Path, lines: Iterable[str]) -> dict[str, CommandResult]:
    """The result of each line in this process, which has imported most of what they need."""
    return {line: run_words(folder, line.split()) for line in lines}


def run_words(folder: Path, words: list[str]) -> CommandResult:
    """The result of one line, given as its words, in this process."""
    from lowdim.cli import main

    out, err = io.StringIO(), io.StringIO()
    with contextlib.chdir(folder), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(words)
    return CommandResult(code, out.getvalue(), err.getvalue())
