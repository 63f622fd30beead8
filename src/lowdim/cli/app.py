"""All commands in one program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import typer

import lowdim
from lowdim.cli import commands_about, commands_look, commands_map, commands_models
from lowdim.cli.command import MethodCommand, PlainCommand
from lowdim.cli.exit_codes import EXIT_CODES
from lowdim.cli.output import Answer

__all__ = ["command"]

START = "lowdim map digits is a good start; lowdim datasets lists what else needs no file. "

COMMANDS: dict[str, tuple[type[PlainCommand], Callable[..., Answer]]] = {
    "map": (MethodCommand, commands_map.draw_map),
    "choose": (PlainCommand, commands_look.choose),
    "diagnose": (PlainCommand, commands_look.diagnose),
    "fit": (MethodCommand, commands_models.fit),
    "transform": (PlainCommand, commands_models.transform),
    "inverse": (PlainCommand, commands_models.inverse),
    "methods": (PlainCommand, commands_about.methods),
    "datasets": (PlainCommand, commands_about.datasets),
    "config": (PlainCommand, commands_about.config),
}


def command() -> Any:
    """The program, made when it is needed."""
    # Plain help: rich takes as long to import as the rest together.
    app = typer.Typer(name="lowdim", add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    app.callback(epilog=START + EXIT_CODES)(_root)
    for name, (kind, work) in COMMANDS.items():
        app.command(name, cls=kind, epilog=EXIT_CODES)(work)
    return typer.main.get_command(app)


def _say_version(asked: bool) -> None:
    if asked:
        typer.echo(f"lowdim {lowdim.__version__}")
        raise typer.Exit


def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_say_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Fewer dimensions: which picture, how many, and how far to trust it."""
