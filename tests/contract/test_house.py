"""Laws of the source tree: sizes, names, and a public surface without accidents."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import lowdim
from lowdim.base.estimator import Estimator
from lowdim.base.state import fitted_names
from lowdim.persistence.allowlist import documented_attributes
from subprocesses import run_python
from targets import table_for, target_for

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "src"
MODULES = sorted(path for path in SOURCES.rglob("*.py"))
NATIVE = sorted(path for path in (ROOT / "native").rglob("*") if path.suffix in (".cpp", ".hpp"))

MOST_LINES = 300  # of a file
MOST_FUNCTION_LINES = 50  # without the docstring
LEAST_LINES = 40  # of a module with a single importer

FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)


def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def line_count(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def module_name(path: Path) -> str:
    parts = path.relative_to(SOURCES).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


# ---- the public surface ----


def test_config_works_after_show_config():
    """A module called config would replace the function as soon as it is imported."""
    code = """
        import io, lowdim
        lowdim.show_config(io.StringIO())
        assert lowdim.config()["lowdim"] == lowdim.__version__
        for name in lowdim.__all__:
            getattr(lowdim, name)
        lowdim.show_config(io.StringIO())
        print(all(callable(getattr(lowdim, name)) for name in ("config", "diagnose", "gram", "methods", "moments")))
    """
    assert run_python(code) == "True"


def public_packages() -> list[ModuleType]:
    exported = [getattr(lowdim, name) for name in lowdim.__all__]
    return [lowdim, *(value for value in exported if isinstance(value, ModuleType) and hasattr(value, "__path__"))]


@pytest.mark.parametrize("package", public_packages(), ids=lambda package: package.__name__)
def test_no_module_has_the_name_of_a_public_function(package):
    inside = {path.stem for folder in package.__path__ for path in Path(folder).iterdir()}
    public = {name for name in package.__all__ if not isinstance(getattr(package, name), ModuleType)}
    assert not inside & public


@pytest.mark.parametrize("name", ["kernels", "choose", "plot", "select", "subspace"])
def test_dir_shows_public_names_only(name):
    code = f"import lowdim.{name} as module; print(dir(module) == sorted(module.__all__))"
    assert run_python(code) == "True"


# ---- names ----


def test_no_two_classes_share_a_name():
    found = defaultdict(list)
    for path in MODULES:
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.ClassDef):
                found[node.name].append(module_name(path))
    assert {name: modules for name, modules in found.items() if len(modules) > 1} == {}


# ---- sizes ----


def test_no_file_is_too_long():
    assert MODULES and NATIVE
    long = {path.relative_to(ROOT).as_posix(): line_count(path) for path in [*MODULES, *NATIVE]}
    assert {name: lines for name, lines in long.items() if lines > MOST_LINES} == {}


def test_no_function_is_too_long():
    long = {}
    for path in MODULES:
        for node in ast.walk(tree(path)):
            if not isinstance(node, FUNCTION):
                continue
            first = node.body[0]
            has_docstring = ast.get_docstring(node, clean=False) is not None
            docstring = (first.end_lineno or 0) - first.lineno + 1 if has_docstring else 0
            lines = (node.end_lineno or 0) - node.lineno + 1 - docstring
            if lines > MOST_FUNCTION_LINES:
                long[f"{module_name(path)}.{node.name}"] = lines
    assert long == {}


def imported_names(path: Path) -> set[str]:
    """Everything that a file may import: modules, and names that may be modules."""
    found: set[str] = set()
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def test_small_modules_have_several_importers():
    """A small module with one importer belongs into it, or into a sibling; what a package exports is no such module."""
    importers = defaultdict(set)
    for path in [*MODULES, *SOURCES.rglob("__init__.pyi")]:
        for name in imported_names(path):
            importers[name].add(path.stem if path.stem == "__init__" else module_name(path))
    small = [
        module_name(path)
        for path in MODULES
        if path.stem not in ("__init__", "__main__") and line_count(path) < LEAST_LINES
    ]
    lonely = {name: sorted(importers[name]) for name in small if len(importers[name]) < 2}
    assert {name: by for name, by in lonely.items() if by != ["__init__"]} == {}


# ---- fitted attributes ----


@pytest.mark.parametrize("method", lowdim.methods(), ids=lambda method: method.name)
def test_fitted_attributes_are_documented(method):
    """Public fitted attributes are those of the docstring; everything else is private state."""
    quick = {"TSNE": {"max_iter": 20, "perplexity": 9}, "UMAP": {"n_epochs": 10}, "ProjectionPursuit": {"n_null": 2}}
    options = quick.get(method.name, {})
    X = table_for(method.name, np.random.default_rng(0).normal(size=(40, 4)))
    model = method.cls(**options).fit(X, target_for(method.name, X))
    assert set(fitted_names(model)) <= documented_attributes(method.cls)
    assert method.cls._check_state is not Estimator._check_state
