"""ARCHITECTURE.md is true: every room once, every module of the rooms that it describes module by module."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")


def rows_of(room: str) -> list[str]:
    return [line for line in TEXT.splitlines() if line.startswith(f"| `{room}/`")]


@pytest.mark.parametrize("room", ["solve", "summaries", "kernels"])
def test_every_module_is_named_once(room):
    described = " ".join(row.split("|", 2)[2] for row in rows_of(room))
    named = re.findall(r"`(\w+)`", described)
    modules = {path.stem for path in (ROOT / "src/lowdim" / room).glob("*.py")} - {"__init__"}
    assert modules <= set(named), "modules that the text does not name"
    assert set(named) <= modules, "names that are no module"
    assert len(named) == len(set(named))


def test_every_package_is_a_room():
    rooms = set(re.findall(r"^\| `(\w+)/`", TEXT, flags=re.MULTILINE))
    packages = {path.parent.name for path in (ROOT / "src/lowdim").glob("*/__init__.py")}
    assert packages <= rooms
    first_cells = re.findall(r"^\| (`[^|]*) \|", TEXT, flags=re.MULTILINE)
    assert len(first_cells) == len(set(first_cells))
