"""Deferred imports: a package is loaded by its first use, once, whole for every thread, and under one identity."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import threading
from pathlib import Path
from types import ModuleType

import pytest

from lowdim.runtime import deferred_imports
from lowdim.runtime.deferred_imports import defer_imports

INIT = """
import builtins, time
builtins.deferred_test_runs = getattr(builtins, "deferred_test_runs", 0) + 1
from slow_package.inner import answer
time.sleep(0.05)
last = "whole"

def __getattr__(name):
    if name == "made":
        return "made to order"
    raise AttributeError(name)
"""


@pytest.fixture
def slow_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    import builtins

    folder = tmp_path / "slow_package"
    folder.mkdir()
    (folder / "__init__.py").write_text(INIT)
    (folder / "inner.py").write_text("answer = 42\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    monkeypatch.setattr(builtins, "deferred_test_runs", 0, raising=False)
    defer_imports(["slow_package"], hidden=[])
    yield lambda: builtins.deferred_test_runs
    for name in ("slow_package", "slow_package.inner"):
        sys.modules.pop(name, None)


@pytest.fixture
def hide(slow_package):
    """Any other import hides a package that nothing has used yet, from narwhals for example."""
    defer_imports([], hidden=["slow_package"])

    def import_something_else() -> None:
        with pytest.raises(ModuleNotFoundError):
            importlib.import_module("something_else")

    return import_something_else


def test_a_package_is_loaded_by_its_first_use(slow_package) -> None:
    package = importlib.import_module("slow_package")
    assert importlib.import_module("slow_package") is package  # a second import is no use
    assert importlib.util.find_spec("slow_package") is package.__spec__ and slow_package() == 0
    assert package.answer == 42 and slow_package() == 1
    assert type(package) is ModuleType and package.made == "made to order" and slow_package() == 1
    with pytest.raises(AttributeError):
        _ = package.missing


def test_a_submodule_loads_its_package_first(slow_package) -> None:
    package = importlib.import_module("slow_package")
    inner = importlib.import_module("slow_package.inner")
    assert slow_package() == 1 and package.inner is inner


def test_other_threads_see_the_package_whole(slow_package) -> None:
    package, seen = importlib.import_module("slow_package"), []
    threads = [threading.Thread(target=lambda: seen.append(package.last)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == ["whole"] * 8 and slow_package() == 1


def test_a_package_that_fails_says_so_every_time(slow_package, tmp_path) -> None:
    (tmp_path / "slow_package" / "__init__.py").write_text("raise RuntimeError('broken')\n")
    package = importlib.import_module("slow_package")
    for _ in range(2):
        with pytest.raises(RuntimeError, match="broken"):
            _ = package.answer


def test_a_hidden_package_is_the_one_that_is_imported_later(slow_package, hide) -> None:
    held = importlib.import_module("slow_package")
    hide()
    assert "slow_package" not in sys.modules
    later = importlib.import_module("slow_package")
    assert later.answer == 42 and held.answer is later.answer and slow_package() == 1


def test_a_hidden_package_loads_the_one_that_was_imported_later(slow_package, hide) -> None:
    held = importlib.import_module("slow_package")
    hide()
    later = importlib.import_module("slow_package")
    assert held.answer == 42 and slow_package() == 1
    assert later.inner is held.inner and type(later) is type(held) is ModuleType


def test_a_hidden_package_can_be_used_by_who_held_it(slow_package, hide) -> None:
    held = importlib.import_module("slow_package")
    hide()
    assert held.answer == 42 and sys.modules["slow_package"] is held
    hide()  # it is loaded: it stays
    assert sys.modules["slow_package"] is held and slow_package() == 1


def test_a_missing_package_is_missing(monkeypatch) -> None:
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    defer_imports(["no_such_package"])
    with pytest.raises(ModuleNotFoundError, match="no_such_package"):
        importlib.import_module("no_such_package")


def test_the_library_defers_nothing() -> None:
    assert not any(isinstance(finder, deferred_imports._DeferringFinder) for finder in sys.meta_path)


BOKEH = """
import inspect, sys
from lowdim.runtime.command_process import import_without_signatures
if sys.argv[1:]:
    import_without_signatures()
from bokeh.document import Document
from bokeh.models import Segment
from bokeh.plotting import figure
made = figure()
made.segment("x0", "y0", "x1", "y1", line_color="red")
document = Document()
document.add_root(made)
print(document.to_json())
print(len(inspect.signature(Segment.__init__).parameters), file=sys.stderr)
"""


def test_bokeh_without_signatures_makes_the_same_models() -> None:
    numbered = os.environ | {"BOKEH_SIMPLE_IDS": "yes", "PYTHONHASHSEED": "0"}
    whole, bare = (
        subprocess.run([sys.executable, "-c", BOKEH, *words], capture_output=True, text=True, env=numbered)
        for words in ([], ["bare"])
    )
    assert whole.returncode == bare.returncode == 0, whole.stderr + bare.stderr
    assert "Segment" in whole.stdout and whole.stdout == bare.stdout and int(bare.stderr) < int(whole.stderr)
