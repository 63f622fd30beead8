"""Commands as a user types them, and imports: the wall clock of a new process, with warm file caches."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from bench.case import Case, Contender, installed

CLI = "import sys; from lowdim.cli import main; sys.exit(main())"
COMPILED = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def _folder() -> Path:
    """An empty folder but for rows.csv, of 200 rows and 5 columns, and a model of it."""
    folder = Path(tempfile.mkdtemp())
    X = np.random.default_rng(0).standard_normal((200, 5))
    np.savetxt(folder / "rows.csv", X, delimiter=",", header="a,b,c,d,e", comments="")
    _process("-c", CLI, "fit", "rows.csv", "-o", "rows.lowdim")(folder)
    return folder


def _process(*words: str) -> Callable[[Path], int]:
    def run(folder: Path) -> int:
        done = subprocess.run([sys.executable, *words], cwd=folder, env=COMPILED, capture_output=True, check=True)
        return done.returncode

    return run


def _command(line: str, role: str = "other") -> Contender:
    return Contender(f"lowdim {line}", _process("-c", CLI, *line.split()), role=role)


def _import(module: str, package: str) -> Contender:
    ours = package == "lowdim"
    return Contender(f"import {module}", _process("-c", f"import {module}"), package, "other" if ours else "peer")


def _nothing(folder: Any, result: Any) -> dict[str, float]:
    return {}


PEERS = (("sklearn.decomposition", "scikit-learn"), ("umap", "umap-learn"), ("openTSNE", "openTSNE"))

CASES = (
    Case(
        name="cold-start",
        work="Commands and imports in a new process each: Python's own start, imports, work and files, by the wall "
        "clock. `lowdim map digits` reads 1,797 rows, fits PCA, judges the map, and writes a page and a figure; "
        "rows.csv has 200 rows. The peers do no more than be imported.",
        data=_folder,
        contenders=(
            _command("map digits", "ours"),
            _command("map digits -o map.html"),
            _command("map digits -o map.png"),
            _command("map rows.csv -o map.csv"),
            _command("fit rows.csv -o new.lowdim"),
            _command("transform rows.lowdim rows.csv -o z.csv"),
            _command("choose rows.csv"),
            _command("diagnose rows.csv"),
            _command("--help"),
            _command("--version"),
            _command("map --help"),
            _import("lowdim", "lowdim"),
            *(_import(module, package) for module, package in PEERS if installed(module)),
        ),
        quality=_nothing,
        quality_note="Warm file caches and compiled bytecode, as after an ordinary installation.",
        repeats=7,
        memory=False,
    ),
)
