"""The flags that every command takes, wherever they stand in the line."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["EVERYWHERE", "Everywhere"]

EVERYWHERE = (
    ("--json", "One JSON object on stdout and nothing else, for programs."),
    ("-q, --quiet", "No progress, no warnings, no word on what was done."),
    ("--debug", "The whole traceback of an error."),
)


@dataclass(frozen=True)
class Everywhere:
    """Whether they were given."""

    json: bool = False
    quiet: bool = False
    debug: bool = False

    @classmethod
    def taken_from(cls, words: list[str]) -> tuple[Everywhere, list[str]]:
        """These flags, and the words without them; what stands after -- is left alone."""
        end = words.index("--") if "--" in words else len(words)
        front, tail = words[:end], words[end:]
        ours = {"--json": "json", "--quiet": "quiet", "-q": "quiet", "--debug": "debug"}
        given = {ours[word]: True for word in front if word in ours}
        return cls(**given), [word for word in front if word not in ours] + tail
