"""The table, on the screen and in BENCHMARKS.md, where each case has a section of its own."""

from __future__ import annotations

import datetime
import platform
import re
from pathlib import Path
from typing import Any

import lowdim
from bench.case import Case

PATH = Path(__file__).parents[1] / "BENCHMARKS.md"

HEAD = """# Benchmarks

Written by `make bench`, which runs the contenders side by side: they take turns on the same data in one process, a
first turn is not counted (but where one turn takes minutes), and the median of the rest is shown. `ratio` is the
contender's time over lowdim's: above 1, lowdim is faster. `floor` is the bare BLAS product that the method can't do
without. Memory is what a fresh process that holds the data adds at its peak. Machines differ and are noisy: only
ratios taken in one run count.
"""


def section(case: Case, seconds: dict[str, float], quality: dict[str, Any], memory: dict[str, float | None]) -> str:
    """One case as Markdown."""
    ours = next(c.name for c in case.contenders if c.role == "ours")
    columns = list(dict.fromkeys(key for values in quality.values() for key in values))
    lines = [
        f"## {case.name}",
        "",
        f"{case.work}",
        "",
        "| " + " | ".join(["contender", "seconds", "ratio", *columns, "peak MiB"]) + " |",
        "|---|---|---|" + "---|" * (len(columns) + 1),
    ]
    for contender in case.contenders:
        measured = [f"{quality[contender.name][c]:.3g}" if c in quality[contender.name] else "" for c in columns]
        peak = memory.get(contender.name) or None  # a process of its own adds nothing to this one
        cells = [
            "**lowdim**" if contender.role == "ours" else contender.label,
            f"{seconds[contender.name]:.3f}",
            f"{seconds[contender.name] / seconds[ours]:.2f}",
            *measured,
            "" if peak is None else f"{peak:.0f}",
        ]
        lines.append("| " + " | ".join(cells) + " |")
    lines += ["", verdict(case, seconds, quality)]
    if case.quality_note:
        lines.append(case.quality_note)
    stamp = datetime.date.today().isoformat()
    lines.append(f"{stamp}, lowdim {lowdim.__version__}, Python {platform.python_version()}, {machine()}.")
    return "\n".join(lines)


def verdict(case: Case, seconds: dict[str, float], quality: dict[str, Any]) -> str:
    """The sentence that says how far the aim was reached."""
    ours = next(c.name for c in case.contenders if c.role == "ours")
    peers = {c.name: seconds[c.name] for c in case.contenders if c.role == "peer" and case.good(quality[c.name])}
    words = []
    if peers:
        best = min(peers, key=peers.__getitem__)
        words.append(f"Best peer of equal quality: {best}, {peers[best] / seconds[ours]:.2f} times lowdim's time.")
        bars = {c.name: c.bar for c in case.contenders if c.bar is not None and c.name in peers}
        if case.bar is not None and not bars:
            bars = {best: case.bar}
        for name, bar in bars.items():
            reached = peers[name] >= bar * seconds[ours] and case.good(quality[ours])
            against = "" if len(bars) == 1 else f" against {name}"
            words.append(f"The bar of {bar:g}{against} is {'reached' if reached else '**not reached**'}.")
        if case.equal is not None:
            worse = [name for name in peers if not case.equal(quality[ours], quality[name])]
            below = f"**Its quality is below that of {' and '.join(worse)}.**"
            words.append(below if worse else "Its quality is no worse.")
    if not case.good(quality[ours]):
        words.append("**lowdim's own result is not good enough to count.**")
    for contender in case.contenders:
        if contender.role == "floor":
            words.append(f"lowdim takes {seconds[ours] / seconds[contender.name]:.2f} times the floor.")
    return " ".join(words)


def write(case: Case, text: str) -> None:
    """Replace the case's section, or add it at the end."""
    page = PATH.read_text(encoding="utf-8") if PATH.exists() else HEAD
    page = HEAD + page[page.index("\n## ") :] if "\n## " in page else HEAD
    mark = re.compile(rf"^## {re.escape(case.name)}$.*?(?=^## |\Z)", flags=re.MULTILINE | re.DOTALL)
    block = text + "\n\n"
    page = mark.sub(lambda _: block, page) if mark.search(page) else page.rstrip("\n") + "\n\n" + block
    PATH.write_text(page.rstrip("\n") + "\n", encoding="utf-8")


def machine() -> str:
    """Cores, instruction set, BLAS."""
    known = lowdim.config()
    blas = " and ".join(dict.fromkeys(known["BLAS"])) or "no BLAS"
    return f"{known['threads']} threads, {known['instruction set']}, {blas}"
