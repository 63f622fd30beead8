"""Which column of a file is a number, the label or the id: what was asked, checked against what is there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from lowdim.errors import BadInput, BadInputType, BadParameter

__all__ = [
    "ColumnSelection",
    "Roles",
    "assign_roles",
    "not_numeric_error",
    "require_any_column",
    "require_column",
    "require_unique_names",
]

SHOWN = 12  # names in a message; a file may have thousands


@dataclass(frozen=True)
class ColumnSelection:
    """What the caller said about the columns."""

    columns: tuple[str, ...] | None
    label: str | None
    id: str | None
    drop: tuple[str, ...]

    @classmethod
    def of(
        cls,
        columns: str | Sequence[str] | None,
        label: str | None,
        id: str | None,
        drop: str | Sequence[str],
    ) -> ColumnSelection:
        """The arguments of `read_table`, where one name may stand for a list of one."""
        for name, value in (("label", label), ("id", id)):
            if value is not None and not isinstance(value, str):
                raise BadParameter(f"{name} must be the name of a column or None; got {value!r}.")
        return cls(None if columns is None else _names("columns", columns), label, id, _names("drop", drop))


@dataclass(frozen=True)
class Roles:
    """The columns by what they are used for."""

    numbers: tuple[str, ...]
    label: str | None = None
    id: str | None = None


def assign_roles(names: Sequence[str], selection: ColumnSelection, where: str) -> Roles:
    """Roles of the named columns; a name that is not there is an error with the nearest ones."""
    for argument, asked in (("columns", selection.columns or ()), ("drop", selection.drop)):
        for name in asked:
            require_column(name, names, argument, where)
    for argument, one in (("label", selection.label), ("id", selection.id)):
        if one is not None:
            require_column(one, names, argument, where)
    if selection.columns is not None:
        numbers = tuple(name for name in dict.fromkeys(selection.columns) if name not in selection.drop)
    else:
        aside = {selection.label, selection.id, *selection.drop}
        numbers = tuple(name for name in names if name not in aside)
    return Roles(require_any_column(numbers, where), selection.label, selection.id)


def require_column(name: str, names: Sequence[str], argument: str, where: str) -> str:
    """The name, if it is among the names."""
    if name in names:
        return name
    near = get_close_matches(name, names, n=3, cutoff=0.5)
    hint = f"Did you mean {_listed(near)}?" if near else f"It has {_listed(names)}."
    raise BadInput(f"{argument}: {where} has no column {name!r}. {hint}")


def require_any_column(numbers: tuple[str, ...], where: str) -> tuple[str, ...]:
    """The columns, if there are any."""
    if not numbers:
        raise BadInput(f"{where}: no column is left to reduce; name fewer in label, id and drop.")
    return numbers


def require_unique_names(names: Sequence[str], where: str) -> None:
    """Raise BadInput if two columns have the same name."""
    seen: dict[str, int] = {}
    for place, name in enumerate(names, start=1):
        if name in seen:
            raise BadInput(
                f"{where}: columns {seen[name]} and {place} are both named {name!r}. "
                "Rename one of them; a column is chosen by its name."
            )
        seen[name] = place


def not_numeric_error(name: str, kind: str, example: str, where: str) -> BadInputType:
    """The error for a column that can't be used as it is."""
    return BadInputType(
        f"{where}: column {name!r} holds {kind}, not numbers{example}. Leave it out with drop=[{name!r}] "
        f"(--drop {name}), use it as label={name!r} or id={name!r}, or encode it as numbers first "
        "(one column a category, for instance)."
    )


def _names(argument: str, value: str | Sequence[str]) -> tuple[str, ...]:
    listed = (value,) if isinstance(value, str) else value
    try:
        names = tuple(listed)
    except TypeError:
        raise BadParameter(f"{argument} must be a list of column names; got {value!r}.") from None
    for name in names:
        if not isinstance(name, str):
            raise BadParameter(f"{argument} must be a list of column names; got {name!r} in it.")
    return names


def _listed(names: Sequence[str]) -> str:
    text = ", ".join(repr(name) for name in names[:SHOWN])
    return text if len(names) <= SHOWN else f"{text}, … ({len(names)} in all)"
