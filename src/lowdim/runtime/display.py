"""Results as text and as HTML: names and facts in two columns, tables, counts with their nouns.

Names come from people's files. In text they lose their control characters, in HTML everything is escaped.
"""

from __future__ import annotations

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
    "titled",
]

LEFT = 'style="text-align:left"'


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
    """A table with a head, in HTML; numbers stand to the right."""
    body = "".join(f"<tr>{''.join(_cell(value) for value in row)}</tr>" for row in rows)
    names = "".join(f"<th {LEFT}>{_html(name)}</th>" for name in head)
    return f"<table><thead><tr>{names}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value: Any) -> str:
    text = _html(value)
    return f"<td {LEFT}>{text}</td>" if isinstance(value, str) else f"<td>{text}</td>"


def _html(value: Any) -> str:
    return escape(printable(str(value)))
