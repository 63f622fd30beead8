"""How commands read their line and show their help."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from typer.core import TyperCommand

from lowdim.cli.flags import find_method, flag_lines, flags_of, has_strangers, take_flags, value_of
from lowdim.cli.global_flags import EVERYWHERE

if TYPE_CHECKING:
    from lowdim.base.estimator import Method

__all__ = ["DEFAULT_METHOD", "MethodCommand", "PlainCommand", "Wanted", "wanted"]

DEFAULT_METHOD = "pca"
KEY = "lowdim.wanted"  # in the context's notes


@dataclass(frozen=True)
class Wanted:
    """A method by name, and what its flags say."""

    name: str
    settings: dict[str, Any]

    @property
    def method(self) -> Method:
        return find_method(self.name)


def wanted(context: Any) -> Wanted:
    """What the line said about the method."""
    found: Wanted = context.meta[KEY]
    return found


class PlainCommand(TyperCommand):
    """A command whose flags are all its own."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Refuse flags that are not there, with the nearest ones."""
        if has_strangers(args, self.own_flags()):
            take_flags(args, self.own_flags(), {}, f"{ctx.command_path} --help")
        return super().parse_args(ctx, args)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """The command's own flags, then those of every command."""
        super().format_options(ctx, formatter)
        with formatter.section("Everywhere"):
            formatter.write_dl(list(EVERYWHERE))

    def own_flags(self) -> set[str]:
        """All ways to write the command's own flags."""
        declared: list[Any] = list(self.params)
        return {"--help"} | {flag for option in declared for flag in (*option.opts, *option.secondary_opts)}


class MethodCommand(PlainCommand):
    """A command that passes further flags to a method."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Take the method's flags out of the line; the method is imported only if there are any."""
        own, name = self.own_flags(), value_of("--method", args)
        ctx.meta["lowdim.shown"] = name
        settings: dict[str, Any] = {}
        if has_strangers(args, own):
            method = find_method(name or DEFAULT_METHOD)
            help = f"{ctx.command_path} --method {method.name.lower()} --help"
            settings, args = take_flags(args, own, flags_of(method), help)
        ctx.meta[KEY] = Wanted(name or DEFAULT_METHOD, settings)
        return super().parse_args(ctx, args)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """The method's flags too, if the line names one; importing it takes a second."""
        super().format_options(ctx, formatter)
        name = ctx.meta.get("lowdim.shown")
        if name is None:
            with formatter.section("Flags of the method"):
                formatter.write_text(f"See {ctx.command_path} --method {DEFAULT_METHOD} --help, or lowdim methods.")
            return
        method = find_method(name)
        with formatter.section(f"Flags of {method.name}"):
            formatter.write_dl(flag_lines(method, self.own_flags()))
