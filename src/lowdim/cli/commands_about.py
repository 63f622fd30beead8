"""`lowdim methods`, `datasets` and `config`: what there is."""

from __future__ import annotations

import textwrap
from io import StringIO
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lowdim.cli.output import Answer, aligned

if TYPE_CHECKING:
    from lowdim.base.estimator import Method

__all__ = ["config", "datasets", "methods"]


def methods(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Tell everything about this one.")] = None,
) -> Answer:
    """Every method and what it can do; with a name, its flags.

    lowdim methods pca
    """
    from lowdim.cli.flags import find_method
    from lowdim.registry import methods as registered

    if name is not None:
        return _one(find_method(name))
    known = registered()
    return Answer(_table(known), {"command": "methods", "methods": [_described(method) for method in known]})


def datasets() -> Answer:
    """The built-in data sets.

    lowdim map wine
    """
    from lowdim.data import datasets as built_in

    known = built_in.names()
    return Answer(aligned(known.items()), {"command": "datasets", "datasets": known})


def config() -> Answer:
    """What lowdim runs on: paste it into a bug report."""
    from lowdim._build_info import config as known
    from lowdim._build_info import show_config

    shown = StringIO()
    show_config(shown)
    return Answer(shown.getvalue().rstrip(), {"command": "config", **known()})


def _table(known: list[Method]) -> str:
    """One line a method; a column for each trait."""
    from lowdim.workflow.fit import traits

    head = ["method", "finds", "reads", *traits(known[0])]
    body = [[m.name, m.title, m.summary, *("yes" if can else "-" for can in traits(m).values())] for m in known]
    widths = [max(map(len, column)) for column in zip(head, *body, strict=True)]
    lines = ["  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)) for row in (head, *body)]
    return "\n".join([*(line.rstrip() for line in lines), "", "lowdim methods NAME tells the flags of one."])


def _one(method: Method) -> Answer:
    from lowdim.cli.flags import flag_lines
    from lowdim.workflow.fit import traits

    width = min(get_terminal_size().columns, 110)
    can = ", ".join(name for name, able in traits(method).items() if able) or "nothing special"
    lines = [f"{method.name}: {method.title}", f"reads {method.summary}; can do: {can}"]
    for flag, words in flag_lines(method):
        lines += ["", flag, *textwrap.wrap(words, width - 4, initial_indent="    ", subsequent_indent="    ")]
    return Answer("\n".join(lines), {"command": "methods", **_described(method)})


def _described(method: Method) -> dict[str, Any]:
    from lowdim.runtime.param import parameters
    from lowdim.workflow.fit import traits

    declared = [
        {"name": p.name, "default": p.default, "rule": p.domain.text, "help": p.help}
        for p in parameters(method.cls).values()
    ]
    told = {"name": method.name, "title": method.title, "reads": method.summary}
    return told | {"traits": traits(method), "parameters": declared}
