"""Column roles: which columns of a file are features, the label or the ids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from lowdim.errors import BadInput, BadInputType, BadParameter

__all__ = [
    "ColumnSelection",
    "Roles",
    "assign_roles",
    "no_numbers_error",
    "not_numeric_error",
    "require_any_column",
    "require_column",
    "require_unique_names",
]

ENCODINGS = ("drop", "one-hot", "gower", "categories")  # of text that is neither label nor id
MOST_NAMES = 12  # in a message; a file may have thousands


@dataclass(frozen=True)
class ColumnSelection:
    """The columns that the caller selected, and how errors are to spell the arguments."""

    columns: tuple[str, ...] | None
    label: str | None
    id: str | None
    drop: tuple[str, ...]
    flags: bool = False  # spell arguments as command-line flags: --drop x instead of drop=['x']
    encode: str = "drop"  # text that is neither label nor id: drop (kept as annotation), one-hot, gower (codes), or
    # categories (text)
    numeric_only: bool = False  # read numbers alone: no label, ids or annotations unless they are named
    names_beside: bool = False  # look for names of rows beside the columns that are given

    @classmethod
    def of(
        cls,
        columns: str | Sequence[str] | None,
        label: str | None,
        id: str | None,
        drop: str | Sequence[str],
        *,
        flags: bool = False,
        encode: str = "drop",
        numeric_only: bool = False,
    ) -> ColumnSelection:
        """The arguments of `read_table`, where a single name may stand for a list."""
        known = ENCODINGS[:3] if flags else ENCODINGS  # on the command line, MCA and FAMD ask for categories themselves
        if encode not in known:
            spelled = "--encode" if flags else "encode"
            raise BadParameter(f"{spelled} must be one of {', '.join(known)}; got {encode!r}.")
        for name, value in (("label", label), ("id", id)):
            if value is not None and not isinstance(value, str):
                raise BadParameter(f"{name} must be a column name or None; got {value!r}.")
        used = None if columns is None else _names("columns", columns)
        return cls(used, label, id, _names("drop", drop), flags, encode, numeric_only)

    def spell(self, argument: str, column: str | None = None) -> str:
        """An argument as the caller writes it, alone or with a column name."""
        if self.flags:
            return f"--{argument}" if column is None else f"--{argument} {column}"
        if column is None:
            return argument
        return f"{argument}={column!r}" if argument in ("label", "id") else f"{argument}=[{column!r}]"


@dataclass(frozen=True)
class Roles:
    """Column names by role."""

    numbers: tuple[str, ...]  # the features
    label: str | None = None
    id: str | None = None
    annotations: tuple[str, ...] = ()  # text and dates that are kept beside the numbers
    encoded: tuple[str, ...] = ()  # text that becomes columns of 0 and 1, or one of codes
    categories: tuple[str, ...] = ()  # text that is kept as categories
    left_out: tuple[tuple[str, str], ...] = ()  # name and reason
    years: tuple[str, ...] = ()  # among the numbers


def assign_roles(names: Sequence[str], selection: ColumnSelection, where: str) -> Roles:
    """Assign a role to each column; an error for an unknown name suggests similar ones."""
    for argument, columns in (("columns", selection.columns or ()), ("drop", selection.drop)):
        for name in columns:
            require_column(name, names, selection.spell(argument), where)
    for argument, column in (("label", selection.label), ("id", selection.id)):
        if column is not None:
            require_column(column, names, selection.spell(argument), where)
    if selection.columns is not None:
        numbers = tuple(name for name in dict.fromkeys(selection.columns) if name not in selection.drop)
    else:
        excluded = {selection.label, selection.id, *selection.drop}
        numbers = tuple(name for name in names if name not in excluded)
    return Roles(require_any_column(numbers, where), selection.label, selection.id)


def require_column(name: str, names: Sequence[str], argument: str, where: str) -> str:
    """The name, if it is among the names."""
    if name in names:
        return name
    near = get_close_matches(name, names, n=3, cutoff=0.5)
    hint = f"Did you mean {_join(near)}?" if near else f"It has {_join(names)}."
    raise BadInput(f"{argument}: {where} has no column {name!r}. {hint}")


def require_any_column(numbers: tuple[str, ...], where: str) -> tuple[str, ...]:
    """The columns, if there are any."""
    if not numbers:
        raise BadInput(f"{where}: no feature columns are left. Select fewer columns as label, id or drop.")
    return numbers


def no_numbers_error(text: Sequence[str], where: str, selection: ColumnSelection) -> BadInput:
    """The error for a file none of whose columns holds numbers."""
    return BadInputType(
        f"{where} has no column of numbers: {_join(text)} hold text or dates. Encode text by "
        f"{selection.spell('encode')} one-hot or gower."
    )


def require_unique_names(names: Sequence[str], where: str) -> None:
    """Raise BadInput if two columns have the same name."""
    seen: dict[str, int] = {}
    for position, name in enumerate(names, start=1):
        if name in seen:
            raise BadInput(
                f"{where}: columns {seen[name]} and {position} are both named {name!r}. "
                "Rename one of them; columns are selected by name."
            )
        seen[name] = position


def not_numeric_error(columns: Mapping[str, str], where: str, selection: ColumnSelection) -> BadInputType:
    """The error for columns that were named as features and do not hold numbers, each with what it holds."""
    listed = ", ".join(f"{name!r} holds {kind}" for name, kind in columns.items())
    remedy = f"Leave out {'it' if len(columns) == 1 else 'them'}, or encode by {selection.spell('encode')}"
    return BadInputType(f"{where}: column {listed}, not numbers. {remedy} one-hot or gower.")


def _names(argument: str, value: str | Sequence[str]) -> tuple[str, ...]:
    try:
        names = (value,) if isinstance(value, str) else tuple(value)
    except TypeError:
        raise BadParameter(f"{argument} must be a list of column names; got {value!r}.") from None
    for name in names:
        if not isinstance(name, str):
            raise BadParameter(f"{argument} must be a list of column names; it contains {name!r}.")
    return names


def _join(names: Sequence[str]) -> str:
    text = ", ".join(repr(name) for name in names[:MOST_NAMES])
    return text if len(names) <= MOST_NAMES else f"{text}, … ({len(names)} in all)"
