"""Output files: which suffixes there are, and whether the files can be written."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from lowdim.data.io.write import WRITE_EXTENSIONS
from lowdim.errors import BadInput, BadParameter

__all__ = ["DRAWINGS", "FIGURES", "MAPS", "PAGES", "TABLES", "check_outputs", "check_writable", "kind_of"]

FIGURES = (".png", ".svg", ".pdf")
PAGES = (".html",)
DRAWINGS = (*PAGES, *FIGURES)
TABLES = WRITE_EXTENSIONS
MAPS = (*DRAWINGS, *TABLES)


def check_outputs(paths: Sequence[str], suffixes: Sequence[str], inputs: Sequence[str]) -> list[Path]:
    """The absolute paths to write; raises before any work is done if one of them can't be written."""
    checked = []
    for given in paths:
        path = Path(os.path.abspath(given))
        if path.suffix.lower() not in suffixes:
            raise BadParameter(f"-o {given} must end in one of {', '.join(suffixes)}.")
        if any(path.exists() and Path(read).exists() and path.samefile(read) for read in inputs):
            raise BadParameter(f"-o {given} would overwrite the input. Choose another name.")
        check_writable(path)
        checked.append(path)
    return checked


def kind_of(path: Path) -> str:
    """The kind of a file that a map is written to: figure, page or table."""
    kinds = {"figure": FIGURES, "page": PAGES, "table": TABLES}
    return next(kind for kind, suffixes in kinds.items() if path.suffix.lower() in suffixes)


def check_writable(path: Path) -> None:
    """Raise BadInput if a file can't be created there."""
    if not path.parent.is_dir():
        raise BadInput(f"{path} can't be written: there is no folder {path.parent}. Create it first.")
    if path.is_dir():
        raise BadInput(f"{path} can't be written: it is a folder. Give the name of a file.")
    if not os.access(path.parent, os.W_OK):
        raise BadInput(f"{path} can't be written: its folder is not writable. Choose another.")
