"""Lines of the command line, and what they say."""

from __future__ import annotations

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
said = []
for line in json.load(sys.stdin):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(line)
    said.append([code, out.getvalue(), err.getvalue()])
json.dump(said, sys.stdout)
"""


@dataclass(frozen=True)
class Said:
    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        return json.loads(self.out)


def talk(folder: Path, lines: Iterable[str]) -> dict[str, Said]:
    """What each line says, all of them in one process. Words are separated by spaces."""
    lines = list(lines)
    words = json.dumps([line.split() for line in lines])
    done = subprocess.run([sys.executable, "-c", DRIVER], input=words, capture_output=True, text=True, cwd=folder)
    assert done.returncode == 0, done.stderr
    return dict(zip(lines, (Said(*said) for said in json.loads(done.stdout)), strict=True))
