"""Results as text and as HTML: names and facts in two columns, tables, counts with their nouns.

Names come from people's files. In text they lose their control characters, in HTML everything is escaped.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

__all__ = ["align", "count", "facts", "grid", "printable", "titled"]

LEFT = 'style="text-align:left"'


def count(number: float, noun: str) -> str:
    """A number with its noun: 1 row, 1,797 rows, 2.5 rows."""
    exact = f"{int(number):,}" if number == int(number) else f"{number:,.6g}"
    return f"{exact} {noun}{'' if number == 1 else 's'}"


def printable(text: str) -> str:
    """One line without control characters, so that names in the data can't control a terminal."""
    line = " ".join(text.split())
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in line)


def align(lines: Iterable[tuple[str, str]]) -> str:
    """Lines of a name and a text, in two columns."""
    pairs = list(lines)
    width = max((len(name) for name, _ in pairs), default=0)
    return "\n".join(f"{name:<{width}}  {text}".rstrip() for name, text in pairs)


def titled(title: str, *parts: str) -> str:
    """A title in bold above parts that are HTML already."""
    return f"<div><b>{_html(title)}</b>{''.join(parts)}</div>"


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
