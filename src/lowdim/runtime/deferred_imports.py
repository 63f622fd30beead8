"""Deferred imports: packages that others import, and that most commands never use, are loaded when one does.

scikit-learn imports scipy.stats and pandas whenever it is imported: half of the start of a command. Inside a command's
own process, a package of the list is an empty module until one of its attributes is asked for, as PEP 810 has it for
later Pythons. `import lowdim` in Python changes nothing of this kind.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Collection, Sequence
from importlib import import_module
from importlib.abc import Loader
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

__all__ = ["DEFERRED", "defer_imports"]

# What is imported for a corner of another package. Whoever needs one of them just imports and uses it.
DEFERRED = (
    "asyncio",
    "numpy.f2py",
    "numpy.testing",
    "pandas",
    "pyarrow",
    "scipy.fft",
    "scipy.integrate",
    "scipy.interpolate",
    "scipy.io",
    "scipy.ndimage",
    "scipy.optimize",
    "scipy.spatial",
    "scipy.special",
    "scipy.stats",
)
# Of these, narwhals and Bokeh look into sys.modules, and would load what nobody has used.
HIDDEN = ("pandas", "pyarrow")


def defer_imports(names: Collection[str] = DEFERRED, hidden: Collection[str] = HIDDEN) -> None:
    """Load these packages when they are first used; what is loaded already stays. The hidden ones seem not imported."""
    sys.meta_path.insert(0, _DeferringFinder(frozenset(names), tuple(hidden)))


class _DeferringFinder:
    """Finds the packages of the list as usual, but with a loader that waits."""

    def __init__(self, names: frozenset[str], hidden: Sequence[str]) -> None:
        self._names = names
        self._hidden = hidden

    def find_spec(self, name: str, path: Sequence[str] | None, target: Any = None) -> ModuleSpec | None:
        _hide_unloaded(self._hidden)
        if name not in self._names:
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is None or spec.loader is None:
            return spec
        spec.loader = _DeferringLoader(spec.loader)
        return spec


def _hide_unloaded(names: Sequence[str]) -> None:
    """Take packages that are still deferred out of sys.modules, once their own import is over."""
    for name in names:
        module = sys.modules.get(name)
        if not isinstance(module, _DeferredModule) or getattr(module.__spec__, "_initializing", False):
            continue
        if not vars(module)["_deferred"].running:
            del sys.modules[name]


class _DeferringLoader(Loader):
    """Leaves the module empty, without even a path, so that the first use of anything, or of a submodule, loads it."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        vars(module).pop("__path__", None)
        vars(module)["_deferred"] = _Pending(self._loader)
        module.__class__ = _DeferredModule


class _Pending:
    """The loader of a module, and the lock of the one thread that runs it."""

    def __init__(self, loader: Loader) -> None:
        self.loader = loader
        self.lock = threading.RLock()
        self.running = False


class _DeferredModule(ModuleType):
    """A module that is loaded when an attribute is missing: at first, any."""

    def __getattr__(self, name: str) -> Any:
        pending: _Pending | None = vars(self).get("_deferred")
        if pending is not None:
            with pending.lock:  # other threads wait until the module is whole
                if pending.running:  # the module's own code asks for what it has not defined yet
                    raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
                if "_deferred" in vars(self):
                    pending.running = True
                    try:
                        _load(self, pending.loader)
                    finally:
                        pending.running = False
        return getattr(self, name)  # of a common module by now


def _load(module: ModuleType, loader: Loader) -> None:
    """Run the module, as the import would have done; if it was hidden, another import may have run it since."""
    if sys.modules.setdefault(module.__name__, module) is not module:
        real = import_module(module.__name__)
        getattr(real, "__path__", None)  # loads it, if it is deferred too
        vars(module).update(vars(real))
    else:
        _run(module, loader)
    vars(module).pop("_deferred", None)
    module.__class__ = ModuleType


def _run(module: ModuleType, loader: Loader) -> None:
    spec = module.__spec__
    assert spec is not None
    deferring, spec.loader, module.__loader__ = spec.loader, loader, loader
    if spec.submodule_search_locations is not None:
        module.__path__ = spec.submodule_search_locations
    try:
        loader.exec_module(module)
    except BaseException:
        spec.loader = module.__loader__ = deferring
        vars(module).pop("__path__", None)  # the next use tries again
        raise
