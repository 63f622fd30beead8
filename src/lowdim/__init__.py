"""Dimensionality reduction: which picture, how many dimensions, and how far to trust it.

    from lowdim import PCA
    Z = PCA(2).fit_transform(X)

Everything is imported when it is first used, so `import lowdim` costs little more than NumPy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lowdim.config import config, show_config
    from lowdim.estimator import methods
    from lowdim.method.pca import PCA
    from lowdim.models import load, save
    from lowdim.progress import Step, watch
    from lowdim.summaries.moments import Moments, moments

_HOMES = {
    "PCA": "lowdim.method.pca",
    "Moments": "lowdim.summaries.moments",
    "Step": "lowdim.progress",
    "config": "lowdim.config",
    "load": "lowdim.models",
    "methods": "lowdim.estimator",
    "moments": "lowdim.summaries.moments",
    "save": "lowdim.models",
    "show_config": "lowdim.config",
    "watch": "lowdim.progress",
}

__version__ = "0.1.0"
__all__ = ["PCA", "Moments", "Step", "config", "errors", "load", "methods", "moments", "save", "show_config", "watch"]

from lowdim import errors  # noqa: E402  (a tree of names, nothing heavy)


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'lowdim' has no attribute {name!r}")
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
