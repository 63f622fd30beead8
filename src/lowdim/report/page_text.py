"""Texts and numbers of the report as HTML."""

from __future__ import annotations

from html import escape

from lowdim.plot._text import drawable

__all__ = ["page_number", "page_text"]


def page_number(value: float | None, digits: int = 3) -> str:
    """With a true minus sign, and never minus zero."""
    return "–" if value is None else f"{round(float(value), digits) + 0.0:.{digits}f}".replace("-", "−")


def page_text(text: str, keep_lines: bool = False) -> str:
    """Escaped, without characters that can't be drawn, in one line unless its lines are kept."""
    return escape(drawable(text if keep_lines else " ".join(text.split())))
