"""The process of a command, which is lowdim's own: it starts quickly, and may do what a library must not."""

from __future__ import annotations

import gc
from contextlib import suppress
from typing import Any

from lowdim.runtime.deferred_imports import defer_imports

__all__ = ["begin_command", "import_without_docstrings", "import_without_signatures", "is_command"]

_begun = False


def begin_command() -> None:
    """Load packages when they are used, and collect garbage when there may be some, not after every import."""
    global _begun  # a fact about the process
    defer_imports()
    gc.set_threshold(50_000, 20, 50)
    _begun = True


def is_command() -> bool:
    """Whether this process runs a command and nothing else: no threads of a user's that a fork would break."""
    return _begun


def import_without_docstrings() -> None:
    """Import matplotlib's artists without the docstrings that it writes for each, a third of its import.

    Only a command may: it shows nobody the documentation of `Artist.set`. A later matplotlib may not write them at all.
    """
    with suppress(ImportError):  # the figure says what to install
        from matplotlib.artist import Artist

        if hasattr(Artist, "_update_set_signature_and_docstring"):
            Artist._update_set_signature_and_docstring = classmethod(lambda _: None)


def import_without_signatures() -> None:
    """Import Bokeh's models without the signature that it writes for each from its properties, almost half its import.

    Only a command may: it shows nobody the signature of `Figure`. Arguments by position are left, as calls need them.
    """
    with suppress(ImportError):  # the page says what to install
        from inspect import Parameter

        from bokeh.model.model import Model as model_class

        Model: Any = model_class

        def by_position(cls: Any) -> list[tuple[Parameter, str, str]]:
            names = getattr(cls, "_args", ())
            return [(Parameter(name, Parameter.POSITIONAL_OR_KEYWORD), "", "") for name in names]

        if hasattr(Model, "parameters"):
            Model.parameters = classmethod(by_position)
