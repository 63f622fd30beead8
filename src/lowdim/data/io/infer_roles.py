"""Infer the roles of columns that nobody named: numbers are features, text is a label, row names or an annotation.

The first rows of a file decide, so that a file of any size costs one look. What was inferred is said in the table's
`report`, and every guess can be overruled by naming the column.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.data.io.arrow_source import TableSource, is_number, pyarrow, type_name
from lowdim.data.io.column_roles import (
    ColumnSelection,
    Roles,
    assign_roles,
    no_numbers_error,
    not_numeric_error,
)

__all__ = ["infer_roles"]

MOST_LABELS = 30  # different values of a text column that is taken as the label
MOST_ENCODED = 50  # different values of a text column that one-hot encoding takes
FEWEST_COUNTED = 10  # rows from which a first column 1, 2, 3, … is taken for row numbers, whatever its name

NUMBER = re.compile(r"[+-]?(0|[1-9]\d*|\d*\.\d+|\d+\.)([eE][+-]?\d+)?")
ID_NAME = re.compile(
    r"(id|uid|uuid|guid|key|index|idx|obs|no|nr|row|rownames?|row.?(id|number|name|index)|unnamed.*|case|sample|subject|serial|record"
    r"|respondent|participant|patient|person|customer|client|user|household"
    r"|.*[_ .-]id|.*[a-z]Id|.*[a-z]ID)",
)
YEAR_NAME = re.compile(r"(.*[_ .-])?(years?|yr|jahr|ann[eé]e|año|anio|anno|ano|jaar|år|rok|год)", re.IGNORECASE)
DAY = r"(\d{4}([-/.])\d{1,2}\2\d{1,2}|\d{1,2}([-/.])\d{1,2}\3(\d{4}|\d\d))"
TIME = r"\d\d?:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?"
DATE = re.compile(f"{DAY}([ T]{TIME})?")  # 2024-03-31, 31.03.2024 12:30, 3/31/24, 2024-03-31T12:30:00Z
FIRST_YEAR, LAST_YEAR = 1900, 2100


@dataclass(frozen=True)
class _Look:
    """What the first rows of a text column tell."""

    rows: int
    values: int  # different ones
    missing: int
    stray: str | None = None  # a text among what are mostly numbers
    dates: bool = False  # or times

    @property
    def names_rows(self) -> bool:
        """Whether all values differ, and do not only say when a row was made."""
        return self.values == self.rows > 1 and not self.missing and not self.dates

    def recurs(self, most: int | None) -> bool:
        """Whether there are several values, at most so many; without a limit, fewer than rows."""
        return 1 < self.values <= most if most is not None else 1 < self.values < self.rows - self.missing

    @property
    def is_category(self) -> bool:
        """Few values, each of which recurs."""
        return 2 <= self.values <= min(MOST_LABELS, self.rows // 2)


def infer_roles(source: TableSource, selection: ColumnSelection, where: str) -> Roles:
    """The roles that the selection gives, and inferred ones for the columns that it does not name."""
    roles = assign_roles(source.names, selection, where)
    kinds = {name: source.schema.field(name).type for name in roles.numbers}
    other = {name: type_name(kind) for name, kind in kinds.items() if not is_number(kind)}
    if selection.columns is not None:  # the caller knows what to use
        if selection.names_beside and roles.id is None:
            roles = replace(roles, id=_names_beside(source, selection))
        if other and selection.encode == "categories":
            numbers = tuple(name for name in roles.numbers if name not in other)
            return replace(roles, numbers=numbers, categories=tuple(other))
        if other and selection.encode != "gower":
            raise not_numeric_error(other, where, selection)
        kept = tuple(name for name in roles.numbers if name not in other)
        return replace(roles, numbers=kept, encoded=tuple(other))
    numbers = tuple(name for name in roles.numbers if name not in other)
    roles = _with_text(source, replace(roles, numbers=numbers), tuple(other), selection)
    roles = _without_row_numbers(source, roles, selection)
    roles = _with_years(source, roles, selection)
    if not roles.numbers and not roles.encoded and not roles.categories:
        raise no_numbers_error(tuple(other) or source.names, where, selection)
    return roles


def _with_text(source: TableSource, roles: Roles, text: tuple[str, ...], selection: ColumnSelection) -> Roles:
    """Text columns by role: row names, label, encoded, or annotation."""
    if not text or selection.numeric_only:
        return replace(roles, left_out=tuple((name, "not numbers") for name in text))
    looks = _look(source, text)
    mixed = tuple((n, f"numbers mixed with text such as {look.stray!r}") for n, look in looks.items() if look.stray)
    roles = replace(roles, left_out=mixed)
    rest = [name for name in text if not looks[name].stray]
    name = next((n for n in rest if looks[n].names_rows), None)
    if name is not None and (roles.id is None or _counts_rows(source, roles.id)):
        roles = replace(roles, id=name)
        rest.remove(name)
    if selection.encode == "categories":  # of which the label would be one
        kept = tuple(name for name in rest if 1 < looks[name].values <= MOST_ENCODED)
        return replace(roles, categories=kept, annotations=tuple(name for name in rest if name not in kept))
    if roles.label is None and (name := next((n for n in rest if looks[n].is_category), None)) is not None:
        roles = replace(roles, label=name)
        rest.remove(name)
    if selection.encode != "drop":
        most = MOST_ENCODED if selection.encode == "one-hot" else None
        encoded = tuple(name for name in rest if looks[name].recurs(most))
        rest = [name for name in rest if name not in encoded]
        roles = replace(roles, encoded=encoded)
    return replace(roles, annotations=tuple(rest))


def _names_beside(source: TableSource, selection: ColumnSelection) -> str | None:
    """The first column of names of rows among those that are not used."""
    used = {*(selection.columns or ()), *selection.drop, selection.label}
    text = [n for n in source.names if n not in used and not is_number(source.schema.field(n).type)]
    return next((n for n, look in _look(source, tuple(text)).items() if look.names_rows), None) if text else None


def _counts_rows(source: TableSource, id: str) -> bool:
    """Whether an unnamed first column only counts the rows, as R and pandas write them; names say more."""
    return id == "" and is_number(source.schema.field(id).type) and _is_sequence(_first_numbers(source, id))


def _look(source: TableSource, names: tuple[str, ...]) -> dict[str, _Look]:
    import pyarrow.compute as compute

    pa = pyarrow()
    batch = source.first_batch(names)
    if batch is None:
        return dict.fromkeys(names, _Look(0, 0, 0))
    looks = {}
    for name in names:
        column = batch.column(batch.schema.get_field_index(name))
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        cells = column.cast(pa.string())
        filled = compute.if_else(compute.equal(cells, ""), pa.scalar(None, pa.string()), cells).drop_null()
        different = int(compute.count_distinct(filled).as_py())
        texts = filled.to_pylist()
        dates = pa.types.is_temporal(column.type) or (bool(texts) and all(map(DATE.fullmatch, texts)))
        looks[name] = _Look(len(cells), different, len(cells) - len(filled), _stray_text(texts), dates)
    return looks


def _stray_text(cells: list[str]) -> str | None:
    """The first text among cells most of which are numbers with or without decimals, but not codes such as 007."""
    strays = [cell for cell in cells if NUMBER.fullmatch(cell) is None]
    return strays[0][:40] if strays and len(strays) < len(cells) / 2 else None


def _without_row_numbers(source: TableSource, roles: Roles, selection: ColumnSelection) -> Roles:
    """Without columns of row numbers or numeric ids, which measure nothing; ids become row names."""
    first = source.names[0]
    candidates = [name for name in roles.numbers if name == first or ID_NAME.fullmatch(name) or _lower_id(name)]
    others = len(roles.encoded) + len(roles.categories)
    if not candidates or len(roles.numbers) + others < 2:
        return roles
    for name in candidates[:8]:
        named = bool(ID_NAME.fullmatch(name)) or _lower_id(name)
        if not named and not _may_count(source, name):
            continue
        values = _first_numbers(source, name)
        counted = _is_sequence(values) and (named or len(values) >= FEWEST_COUNTED)
        identifies = named and _all_different_integers(values)
        if not (counted or identifies) or len(roles.numbers) + others < 2:
            continue
        keep = selection.spell("columns")
        reason = f"{'row numbers' if counted else 'numeric ids'}; {keep} can name it"
        as_id = roles.id is None and not counted and not selection.numeric_only
        roles = replace(
            roles,
            numbers=tuple(other for other in roles.numbers if other != name),
            id=name if as_id else roles.id,
            left_out=roles.left_out if as_id else (*roles.left_out, (name, reason)),
        )
    return roles


def _with_years(source: TableSource, roles: Roles, selection: ColumnSelection) -> Roles:
    """A column `year` whose years recur says when rows were measured, as dates do; years of birth stay numbers."""
    years = {name: known for name in roles.numbers if (known := _years(source, name)) is not None}
    roles = replace(roles, years=tuple(years))
    if selection.encode == "categories":  # by which years can be told apart
        return roles
    for name, known in years.items():
        others = len(roles.numbers) + len(roles.encoded) + len(roles.categories) - 1
        match = YEAR_NAME.fullmatch(name)
        prefixed = match is not None and match[1] is not None
        if prefixed or others < 2 or len(np.unique(known)) > len(known) / 2:
            continue
        roles = replace(roles, numbers=tuple(other for other in roles.numbers if other != name))
        if selection.numeric_only:
            reason = f"calendar years; {selection.spell('columns')} can name it"
            roles = replace(roles, left_out=(*roles.left_out, (name, reason)))
        else:
            roles = replace(roles, annotations=(*roles.annotations, name))
    return roles


def _years(source: TableSource, name: str) -> NDArray[Any] | None:
    """The values of a column whose name and values are those of calendar years, without gaps."""
    if YEAR_NAME.fullmatch(name) is None:
        return None
    values = _first_numbers(source, name)
    known = values[~np.isnan(values)]
    whole = (known == np.rint(known)) & (known >= FIRST_YEAR) & (known <= LAST_YEAR)
    return known if len(known) and whole.all() else None


def _lower_id(name: str) -> bool:
    return ID_NAME.fullmatch(name.lower()) is not None


def _first_numbers(source: TableSource, name: str) -> NDArray[Any]:
    batch = source.first_batch([name])
    if batch is None:
        return np.empty(0)
    return np.asarray(batch.column(0).cast(pyarrow().float64(), safe=False).to_numpy(zero_copy_only=False))


def _may_count(source: TableSource, name: str) -> bool:
    """Whether a look at the first cells does not rule out that they count the rows."""
    try:
        first = [float(cell) for cell in source.first_cells(name, 2) or ()]
    except ValueError:  # such as decimal commas
        return True
    return len(first) < 2 or (first[0] in (0, 1) and first[1] == first[0] + 1)


def _is_sequence(values: NDArray[Any]) -> bool:
    """Whether they are 0, 1, 2, … or 1, 2, 3, …."""
    if len(values) < 2 or values[0] not in (0, 1):
        return False
    return bool(np.array_equal(values, values[0] + np.arange(len(values))))


def _all_different_integers(values: NDArray[Any]) -> bool:
    finite = np.isfinite(values).all()
    return bool(
        len(values) > 1 and finite and (values == np.rint(values)).all() and len(np.unique(values)) == len(values)
    )
