"""Global flags: every command takes them, anywhere in its arguments."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["GLOBAL_HELP", "GlobalFlags"]

GLOBAL_HELP = (
    ("--json", "Print one JSON object to stdout and nothing else, for scripts."),
    ("-q, --quiet", "Print no progress, warnings or status."),
    ("--debug", "Print the full traceback of an error."),
)
SPELLINGS = {"--json": "json", "--quiet": "quiet", "-q": "quiet", "--debug": "debug"}


@dataclass(frozen=True)
class GlobalFlags:
    """Which of them were given."""

    json: bool = False
    quiet: bool = False
    debug: bool = False

    @classmethod
    def parse(cls, words: list[str]) -> tuple[GlobalFlags, list[str]]:
        """The global flags, and the words without them; words after `--` are left alone."""
        end = words.index("--") if "--" in words else len(words)
        head, tail = words[:end], words[end:]
        given = {SPELLINGS[word]: True for word in head if word in SPELLINGS}
        return cls(**given), [word for word in head if word not in SPELLINGS] + tail
