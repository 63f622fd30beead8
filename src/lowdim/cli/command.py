"""Commands: how they parse their arguments and format their help."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from typer.core import TyperCommand

from lowdim.cli.flags import flag_help, has_unknown_flags, method_flags, parse_flags, peek_flag
from lowdim.cli.global_flags import GLOBAL_HELP

if TYPE_CHECKING:
    from lowdim.base.estimator import Method

__all__ = [
    "DEFAULT_CLUSTERER",
    "DEFAULT_METHOD",
    "ClustererCommand",
    "Command",
    "MethodChoice",
    "MethodCommand",
    "SelectorCommand",
    "method_choice",
]

DEFAULT_METHOD, DEFAULT_CLUSTERER = "pca", "clique"
CHOICE, NAMED = "lowdim.method_choice", "lowdim.method_named"  # keys of the context's meta


@dataclass(frozen=True)
class MethodChoice:
    """A method, a selector or a clusterer by name, and the settings that its flags make."""

    name: str
    settings: dict[str, Any]
    find: Callable[[str], Method]
    named: bool = True  # by the caller; else it is the default

    @property
    def method(self) -> Method:
        """What the class says of itself; importing it takes a second."""
        return self.find(self.name)


def method_choice(context: Any) -> MethodChoice:
    """The method and settings of the command that is being run."""
    choice: MethodChoice = context.meta[CHOICE]
    return choice


def _readable(text: str) -> str:
    """A name or a help without what only Python calls so: no <str>, and ranges and defaults as one would say them."""
    text = re.sub(r" <(?:list\[)?str\]?>$", "", text)
    text = re.sub(r"\[default: \((.*)\)(; .*|)\]$", r"[default: \1\2]", text)
    text = re.sub(r"\b(\d+)<=x<=(\d+)\]$", r"\1 to \2]", text)
    return re.sub(r"\bx>=(\d+)\]$", r"at least \1]", text)


class Command(TyperCommand):
    """A command with a fixed set of flags."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Reject unknown flags, with suggestions."""
        if has_unknown_flags(args, self.own_flags()):
            parse_flags(args, self.own_flags(), {}, f"{ctx.command_path} --help")
        return super().parse_args(ctx, args)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Required arguments without braces, and a repeated one with one ellipsis, as in most manuals."""
        plain = (piece.replace("{", "").replace("}", "") for piece in super().collect_usage_pieces(ctx))
        return [piece.replace("......", "...") for piece in plain]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """The command's own flags, then the global ones."""
        write = formatter.write_dl
        formatter.write_dl = lambda rows, *spacing: write([tuple(map(_readable, row)) for row in rows], *spacing)
        super().format_options(ctx, formatter)
        with formatter.section("Global options"):
            formatter.write_dl(list(GLOBAL_HELP))

    def own_flags(self) -> set[str]:
        """All spellings of the command's own flags."""
        declared: list[Any] = list(self.params)
        return {"--help"} | {flag for option in declared for flag in (*option.opts, *option.secondary_opts)}


class MethodCommand(Command):
    """A command that passes further flags to a method."""

    default = DEFAULT_METHOD
    further_help = ", or `lowdim methods NAME`"

    @staticmethod
    def find(name: str) -> Method:
        """The method of this name."""
        from lowdim.registry import find_method

        return find_method(name)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Take the method's flags out of the arguments; the method is imported only if there are any."""
        own, name = self.own_flags(), peek_flag("--method", args)
        ctx.meta[NAMED] = name
        choice = MethodChoice(name or self.default, {}, self.find, name is not None)
        if choice.name and has_unknown_flags(args, own):
            help = f"{ctx.command_path} --method {choice.method.name.lower()} --help"
            settings, args = parse_flags(args, own, method_flags(choice.method), help, choice.method)
            choice = replace(choice, settings=settings, named=True)
        ctx.meta[CHOICE] = choice
        return super().parse_args(ctx, args)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """The method's flags as well, if the arguments name a method."""
        super().format_options(ctx, formatter)
        name = ctx.meta.get(NAMED)
        if name is None:
            with formatter.section("Method options"):
                formatter.write_text(f"See `{ctx.command_path} --method NAME --help`{self.further_help}.")
            return
        method = self.find(name)
        with formatter.section(f"Options of {method.name}"):
            formatter.write_dl(flag_help(method, self.own_flags()))


class ClustererCommand(MethodCommand):
    """A command that passes further flags to a subspace clusterer."""

    default, further_help = DEFAULT_CLUSTERER, ""

    @staticmethod
    def find(name: str) -> Method:
        """The clusterer of this name."""
        from lowdim.workflow.cluster import find_clusterer

        return find_clusterer(name)


class SelectorCommand(MethodCommand):
    """A command that passes further flags to a selector; without one, all filters are compared."""

    default, further_help = "", ""

    @staticmethod
    def find(name: str) -> Method:
        """What the selector of this name says of itself."""
        from lowdim.select._catalog import find_selector

        method: Method = find_selector(name)[0]._method
        return method
