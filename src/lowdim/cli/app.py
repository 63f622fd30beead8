"""The program: all commands under one name."""

from __future__ import annotations

from collections.abc import Callable
from inspect import cleandoc
from typing import Annotated, Any

import typer

import lowdim
from lowdim.cli import (
    commands_compare,
    commands_explore,
    commands_info,
    commands_map,
    commands_models,
    commands_plot,
    commands_select,
    commands_subspace,
    commands_tour,
)
from lowdim.cli.command import ClustererCommand, Command, MethodCommand, SelectorCommand
from lowdim.cli.exit_codes import EXIT_CODES
from lowdim.cli.output import CommandOutput

__all__ = ["make_program"]

START = "Start with `lowdim map digits`; `lowdim datasets` lists more data that need no file."

COMMANDS: dict[str, tuple[type[Command], Callable[..., CommandOutput]]] = {
    "map": (MethodCommand, commands_map.draw_map),
    "compare": (Command, commands_compare.compare),
    "quality": (Command, commands_compare.measure_maps),
    "tour": (Command, commands_tour.draw_tour),
    "recommend": (Command, commands_explore.recommend),
    "choose": (Command, commands_explore.choose),
    "diagnose": (Command, commands_explore.diagnose),
    "subspace": (ClustererCommand, commands_subspace.subspace),
    "select": (SelectorCommand, commands_select.select),
    "fit": (MethodCommand, commands_models.fit),
    "transform": (Command, commands_models.transform),
    "plot": (Command, commands_plot.plot_model),
    "inverse": (Command, commands_models.inverse),
    "methods": (Command, commands_info.methods),
    "datasets": (Command, commands_info.datasets),
    "config": (Command, commands_info.config),
}


def make_program(command: str | None = None) -> Any:
    """The program with all its commands; if one of them is named first, with this one alone, which is quicker."""
    # Plain help: rich takes as long to import as everything else together.
    app = typer.Typer(name="lowdim", add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    app.callback(epilog=f"{START}\n\n{EXIT_CODES}")(_root)
    chosen = {command: COMMANDS[command]} if command in COMMANDS else COMMANDS
    for name, (cls, function) in chosen.items():
        app.command(name, cls=cls, help=_help(function))(function)
    return typer.main.get_command(app)


def _help(function: Callable[..., CommandOutput]) -> str:
    """The docstring; a backspace before the examples keeps click from rewrapping them."""
    return cleandoc(function.__doc__ or "").replace("\n\nExample", "\n\n\b\nExample")


def _print_version(requested: bool) -> None:
    if requested:
        typer.echo(f"lowdim {lowdim.__version__}")
        raise typer.Exit


def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Dimensionality reduction: draw a map of your data, choose the number of dimensions, and fit models."""
