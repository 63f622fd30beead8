"""Public names that are imported when they are first used, from one table: the package's stub, `__init__.pyi`.

A line `from lowdim.linear.pca import PCA as PCA` of the stub is what type checkers and editors read, and what
`lowdim.PCA` loads at run time; nothing else lists the name.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from typing import Any

__all__ = ["attach", "read_exports"]


def read_exports(stub: str) -> dict[str, str]:
    """Where each name of a stub lives: a module, or (for a submodule) its package."""
    with open(stub, encoding="utf-8") as file:
        return {name: home for home, name in re.findall(r"^from (\S+) import \w+ as (\w+)$", file.read(), re.MULTILINE)}


def attach(package: str, file: str) -> tuple[dict[str, str], Callable[[str], Any], Callable[[], list[str]]]:
    """The table of a package's public names, and its `__getattr__` and `__dir__`."""
    exports = read_exports(file + "i")  # __init__.py has its stub beside it

    def load(name: str) -> Any:
        if name not in exports:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = import_module(exports[name])
        found = vars(home).get(name)
        value = import_module(f"{exports[name]}.{name}") if found is None else found
        vars(import_module(package))[name] = value
        return value

    return exports, load, lambda: sorted(exports)
