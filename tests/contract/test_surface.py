"""The public surface: explicit, lazy, documented, and equal to the registry."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import lowdim
from lowdim.runtime.param import parameters

ROOT = Path(__file__).parents[2]


def test_everything_exported_exists():
    for name in lowdim.__all__:
        assert getattr(lowdim, name) is not None
    assert set(lowdim._EXPORTS) == set(lowdim.__all__)
    stub = ast.parse((ROOT / "src/lowdim/__init__.pyi").read_text(encoding="utf-8"))
    imports = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
    assert {name.asname: node.module for node in imports for name in node.names} == lowdim._EXPORTS
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        lowdim.nothing  # noqa: B018


def test_every_method_is_exported_and_in_the_readme():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for method in lowdim.methods():
        assert getattr(lowdim, method.name) is method.cls
        can = (method.inverse, method.streaming, method.sparse, method.weights)
        cells = [f"`{method.name}`", method.title, method.summary, *("yes" if able else "–" for able in can)]
        assert f"| {' | '.join(cells)} |" in readme.splitlines()
    named = set(re.findall(r"^\| `([A-Z]\w+)`", readme, flags=re.MULTILINE))
    assert named == {method.name for method in lowdim.methods()}


def test_import_is_lazy():
    """What may be heavy is not imported before it is used; scikit-learn alone costs a second."""
    code = "import sys, json, lowdim; print(json.dumps(sorted(sys.modules)))"
    loaded = set(json.loads(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout))
    heavy = {
        "sklearn",
        "scipy",
        "scipy.stats",
        "scipy.linalg",
        "pandas",
        "polars",
        "pyarrow",
        "matplotlib",
        "bokeh",
        "typer",
        "rich",
        "narwhals",
    }
    assert not loaded & heavy
    assert "lowdim._native" not in loaded


def test_parameters_are_documented_and_declared_once():
    for method in lowdim.methods():
        declared = parameters(method.cls)
        assert list(declared) == list(method.cls().get_params(deep=False)) or set(declared) == set(
            method.cls().get_params(deep=False)
        )
        for name, parameter in declared.items():
            assert re.search(rf"^{name} : ", method.cls.__doc__, flags=re.MULTILINE)
            assert parameter.help.endswith(".")
            assert parameter.domain.text in method.cls.__doc__


def test_show_config(capsys):
    lowdim.show_config()
    shown = capsys.readouterr().out
    for word in ("lowdim:", "instruction set:", "threads:", "BLAS:", "numpy"):
        assert word in shown


def test_version_is_the_distributions():
    from importlib.metadata import version

    assert lowdim.__version__ == version("lowdim")


def test_the_readmes_code_runs(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib").use("Agg")
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), flags=re.DOTALL)
    assert len(blocks) == 3
    monkeypatch.chdir(tmp_path)
    scope: dict[str, object] = {}
    for block in blocks:  # each goes on where the one before it ended
        exec(block, scope)
    assert scope["Z"].shape == (178, 3)
    written = {path.name for path in tmp_path.iterdir()}
    assert {"wine.lowdim", "umap.part", "tour.html"} <= written
    pytest.importorskip("matplotlib.pyplot").close("all")


def test_a_method_is_found_without_importing_the_others():
    code = (
        "import sys, json; from lowdim.registry import find_method; assert find_method('p-c_a').name == 'PCA'; "
        "print(json.dumps([n for n in sys.modules if n.startswith('lowdim.') and n.endswith('estimator')]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == ["lowdim.base.estimator"]
