"""ARCHITECTURE.md is true: the drawing is what import-linter holds, and every file that it names exists."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
SOURCES = ROOT / "src/lowdim"


def drawing() -> list[set[str]]:
    """The stories, from the top: the names before the first run of blanks."""
    block = re.search(r"```\n(.*?)```", TEXT, flags=re.DOTALL).group(1)
    return [set(re.split(r"\s{2,}", line)[0].split(" | ")) for line in block.splitlines()]


def test_the_drawing_is_what_import_linter_holds():
    layers = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"][0]["layers"]
    assert drawing() == [{name.strip().removeprefix("lowdim.") for name in layer.split("|")} for layer in layers]


def test_every_package_and_module_is_a_room():
    rooms = set().union(*drawing())
    inside = {path.stem if path.is_file() else path.name for path in SOURCES.iterdir()}
    there = {name for name in inside if not name.startswith("_") and name != "py"}
    assert there == rooms


def test_a_rooms_docstring_says_what_it_may_import():
    for room in set().union(*drawing()) - {"errors", "registry"}:
        said = ast.get_docstring(ast.parse((SOURCES / room / "__init__.py").read_text(encoding="utf-8")))
        assert said is not None and "mports" in said, room


def test_every_file_that_is_named_exists():
    named = re.findall(r"`((?:native|tests|src)?[\w/]*\w+\.(?:py|pyi|hpp|toml|md))`", TEXT)
    assert len(named) > 60
    everywhere = [path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*.*") if ".venv" not in path.parts]
    absent = [name for name in named if not any(f"/{path}".endswith(f"/{name}") for path in everywhere)]
    assert not absent
