"""Version, build and dependencies of lowdim: `lowdim.config()` and `lowdim.show_config()`."""

from __future__ import annotations

import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from typing import Any, TextIO

import threadpoolctl

from lowdim import _native
from lowdim.runtime.threads import thread_count

__all__ = ["config", "show_config"]

DEPENDENCIES = ("numpy", "scipy", "scikit-learn", "narwhals", "safetensors", "pyarrow", "matplotlib", "bokeh")


def config() -> dict[str, Any]:
    """Version, instruction set, threads, BLAS and dependencies, as a dictionary."""
    return {
        "lowdim": _version("lowdim"),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "instruction set": _native.instruction_set(),
        "threads": thread_count(),
        "BLAS": [
            f"{pool['internal_api']} {pool['version']} ({pool.get('architecture', 'unknown')})"
            for pool in threadpoolctl.threadpool_info()
            if pool["user_api"] == "blas"
        ],
        "dependencies": {name: _version(name) for name in DEPENDENCIES},
    }


def show_config(file: TextIO | None = None) -> None:
    """Print `config()`, for bug reports."""
    out = file or sys.stdout
    for name, value in config().items():
        if isinstance(value, dict):
            value = ", ".join(f"{key} {number or '(not installed)'}" for key, number in value.items())
        elif isinstance(value, list):
            value = ", ".join(dict.fromkeys(value)) or "none found"
        print(f"{name + ':':<17}{value}", file=out)


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
