"""`lowdim methods`, `datasets` and `config`: information about lowdim itself."""

from __future__ import annotations

import textwrap
from io import StringIO
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lowdim.cli.output import CommandOutput, align

if TYPE_CHECKING:
    from lowdim.base.estimator import Method

__all__ = ["config", "datasets", "methods"]


def methods(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Show the options of this method.")] = None,
) -> CommandOutput:
    """List the methods, or show the options of one.

    Examples:
      lowdim methods
      lowdim methods umap

    """
    from lowdim.registry import find_method
    from lowdim.registry import methods as registered

    if name is not None:
        return _one_method(find_method(name))
    known = registered()
    data = {"command": "methods", "methods": [_method_data(method) for method in known]}
    return CommandOutput(_method_table(known), data)


def datasets() -> CommandOutput:
    """List the built-in data sets.

    Example:
      lowdim map wine

    """
    from lowdim.data import datasets as built_in

    known = built_in.names()
    return CommandOutput(align(known.items()), {"command": "datasets", "datasets": known})


def config() -> CommandOutput:
    """Show versions and build information, for bug reports."""
    from lowdim._build_info import config as build_info
    from lowdim._build_info import show_config

    text = StringIO()
    show_config(text)
    return CommandOutput(text.getvalue().rstrip(), {"command": "config", **build_info()})


def _method_table(known: list[Method]) -> str:
    """One line per method."""
    rows = [("method", "finds", "from", "supports")]
    rows += [(method.name, method.title, method.summary, _supported(method)) for method in known]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([*lines, "", "`lowdim methods NAME` shows the options of a method."])


def _one_method(method: Method) -> CommandOutput:
    from lowdim.cli.flags import flag_help

    width = min(get_terminal_size().columns, 110)
    lines = [
        f"{method.name}: {method.title}",
        f"Computed from: {method.summary}. Supports: {_supported(method)}.",
    ]
    for flag, help in flag_help(method):
        lines += ["", flag, *textwrap.wrap(help, width - 4, initial_indent="    ", subsequent_indent="    ")]
    return CommandOutput("\n".join(lines), {"command": "methods", **_method_data(method)})


def _supported(method: Method) -> str:
    from lowdim.registry import traits

    return ", ".join(name for name, supported in traits(method).items() if supported) or "-"


def _method_data(method: Method) -> dict[str, Any]:
    from lowdim.registry import traits
    from lowdim.runtime.param import parameters

    declared = [
        {"name": p.name, "default": p.default, "rule": p.domain.text, "help": p.help}
        for p in parameters(method.cls).values()
    ]
    about = {"name": method.name, "title": method.title, "reads": method.summary}
    return about | {"traits": traits(method), "parameters": declared}
