"""Texts on plots: on one line, of a bounded length, and of characters that every format can hold."""

from __future__ import annotations

import re
from textwrap import wrap

__all__ = ["drawable", "shorten", "wrapped"]

# Control characters, halves of surrogate pairs and noncharacters: no XML, and so no SVG, may hold them.
FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")


def drawable(text: str) -> str:
    """The text with a replacement character for each that SVG, PDF or HTML can't hold."""
    return FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text)


def shorten(text: str, most: int = 32) -> str:
    """The text on one line, truncated with …."""
    line = drawable(" ".join(text.split()))
    return line if len(line) <= most else line[: most - 1] + "…"


def wrapped(text: str, width: int = 24, lines: int = 2) -> str:
    """The text on at most `lines` lines of `width` characters, truncated with …."""
    line = drawable(" ".join(text.split()))
    return "\n".join(wrap(line, width, max_lines=lines, placeholder="…", break_on_hyphens=False)) or line
