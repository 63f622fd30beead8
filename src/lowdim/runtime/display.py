"""Results as text and as HTML: names and facts in two columns, tables, counts with their nouns.

Names come from people's files. In text they lose their control characters, in HTML everything is escaped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

__all__ = [
    "SummaryDisplay",
    "TextDisplay",
    "align",
    "count",
    "facts",
    "grid",
    "p_value",
    "paragraph",
    "printable",
    "rounded",
    "rows_and_columns",
    "titled",
]

# Notebooks style tables, but other places that show HTML do not.
LEFT, RIGHT = (f'style="text-align:{side};padding:0.1em 0.6em;vertical-align:top"' for side in ("left", "right"))
NUMBER = re.compile(r"[+\-−]?[\d.,]+%?(–[\d.,]+| [\[|].*)?")  # also with its interval


class SummaryDisplay:
    """An object that is shown by one line, at the prompt and in a notebook. It writes `_summary`."""

    def _summary(self) -> str:
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{type(self).__name__}: {printable(self._summary())}"

    def _repr_html_(self) -> str:
        return titled(type(self).__name__, paragraph(self._summary()))


class TextDisplay:
    """A result that is shown as its text, at the prompt and in a notebook. It writes `__str__`."""

    def __repr__(self) -> str:
        return "\n".join(map(printable_line, str(self).splitlines()))

    def _repr_html_(self) -> str:
        return f'<pre style="white-space:pre">{escape(repr(self))}</pre>'


def count(number: float, noun: str, plural: str | None = None) -> str:
    """A number with its noun: 1 row, 1,797 rows, 2.5 rows."""
    exact = f"{int(number):,}" if number == int(number) else f"{number:,.6g}"
    return f"{exact} {noun if number == 1 else plural or f'{noun}s'}"


def rows_and_columns(rows: float, columns: float) -> str:
    """The size of a table that is too small; a single row or column also as scikit-learn calls it, whose checks ask."""
    of_rows = count(rows, "row") + (" (n_samples=1)" if rows == 1 else "")
    return f"{of_rows} and {count(columns, 'column')}" + (" (n_features=1)" if columns == 1 else "")


def rounded(number: float, digits: int = 3) -> str:
    """Some digits as people write them: 0.546, 19.1, 2,220; only of a million and more with an exponent."""
    short = f"{number:.{digits}g}"
    return f"{float(short):,.0f}" if 10**digits <= abs(float(short)) < 1_000_000 else short


def p_value(p: float, relation: str = "") -> str:
    """A p-value in three digits, after `relation` ("= "); none is zero: one that underflows is < 1e-300."""
    return "< 1e-300" if p < 1e-300 else f"{relation}{p:.3g}"


def printable(text: str) -> str:
    """One line without control characters, so that names in the data can't control a terminal."""
    return printable_line(" ".join(text.split()))


def printable_line(line: str) -> str:
    """The line with its blanks, control characters spelled out."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in line)


def align(lines: Iterable[tuple[str, str]]) -> str:
    """Lines of a name and a text, in two columns."""
    pairs = list(lines)
    width = max((len(name) for name, _ in pairs), default=0)
    return "\n".join(f"{name:<{width}}  {text}".rstrip() for name, text in pairs)


def titled(title: str, *parts: str) -> str:
    """A title in bold above parts that are HTML already."""
    return f"<div><b>{_html(title)}</b>{''.join(parts)}</div>"


def paragraph(text: str) -> str:
    """A paragraph, in HTML."""
    return f"<p>{_html(text)}</p>"


def facts(lines: Iterable[tuple[str, str]]) -> str:
    """Names and texts as a table of two columns, in HTML."""
    rows = (f"<tr><th {LEFT}>{_html(name)}</th><td {LEFT}>{_html(text)}</td></tr>" for name, text in lines)
    return f"<table><tbody>{''.join(rows)}</tbody></table>"


def grid(head: Sequence[Any], rows: Iterable[Sequence[Any]]) -> str:
    """A table with a head, in HTML, that scrolls where it is too wide; columns of numbers stand to the right."""
    rows = list(rows)
    sides = [RIGHT if all(map(_is_number, column)) else LEFT for column in zip(*rows, strict=True)] or [LEFT] * len(
        head
    )
    body = "".join(f"<tr>{_cells('td', row, sides)}</tr>" for row in rows)
    table = f"<table><thead><tr>{_cells('th', head, sides)}</tr></thead><tbody>{body}</tbody></table>"
    return f'<div style="overflow-x:auto">{table}</div>'


def _cells(tag: str, values: Sequence[Any], sides: Sequence[str]) -> str:
    cells = zip(values, sides, strict=True)
    return "".join(f"<{tag} {side}>{_html(value)}</{tag}>" for value, side in cells)


def _is_number(value: Any) -> bool:
    return not isinstance(value, str) or not value or NUMBER.fullmatch(value) is not None


def _html(value: Any) -> str:
    return escape(printable(str(value)))
