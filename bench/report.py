"""The report: one Markdown section per case, printed and written to BENCHMARKS.md."""

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

Written by `make bench`. The contenders run in turn on the same data in one process; the first run of each is a warm-up
and is not counted (unless a run takes minutes), and the table shows the median of the others. `ratio` is the time of
the contender divided by that of lowdim: above 1, lowdim is faster. `floor` is the bare BLAS product that any
implementation needs. The cases isa-… compare instruction sets (`LOWDIM_ISA`), each in a process of its own. Peak memory
is what a contender adds to a new process that already holds the data. Machines differ and timings are noisy: compare
ratios of the same run only.
"""


def section(
    case: Case,
    seconds: dict[str, float],
    quality: dict[str, Any],
    memory: dict[str, float | None],
    deviations: dict[str, dict[str, float]],
) -> str:
    """The Markdown section of a case."""
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
        own = quality[contender.name], deviations.get(contender.name, {})
        measured = [shown(c, *own) for c in columns]
        peak = memory.get(contender.name) or None  # a contender that starts a process adds nothing to this one
        cells = [
            f"**{contender.name}**" if contender.role == "ours" else contender.label,
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


def shown(measure: str, means: dict[str, float], deviations: dict[str, float]) -> str:
    """A quality measure in three digits or, with its standard deviation, to the fourth decimal."""
    if measure not in means:
        return ""
    spread = deviations.get(measure)
    return f"{means[measure]:.3g}" if spread is None else f"{means[measure]:.4f} ± {spread:.4f}"


def verdict(case: Case, seconds: dict[str, float], quality: dict[str, Any]) -> str:
    """Sentences that compare lowdim with the best peer and with the target."""
    ours = next(c.name for c in case.contenders if c.role == "ours")
    peers = {c.name: seconds[c.name] for c in case.contenders if c.role == "peer" and case.good(quality[c.name])}
    sentences = []
    if peers:
        best = min(peers, key=peers.__getitem__)
        sentences.append(
            f"Best peer of sufficient quality: {best}, {peers[best] / seconds[ours]:.2f} × the time of lowdim."
        )
        bars = {c.name: c.bar for c in case.contenders if c.bar is not None and c.name in peers}
        if case.bar is not None and not bars:
            bars = {best: case.bar}
        for name, bar in bars.items():
            reached = peers[name] >= bar * seconds[ours] and case.good(quality[ours])
            against = "" if len(bars) == 1 else f" against {name}"
            sentences.append(f"The target of {bar:g} ×{against} is {'met' if reached else '**not met**'}.")
        if case.equal is not None:
            worse = [name for name in peers if not case.equal(quality[ours], quality[name])]
            below = f"**The quality of lowdim is below that of {' and '.join(worse)}.**"
            sentences.append(below if worse else "The quality of lowdim is not worse.")
    if not case.good(quality[ours]):
        sentences.append("**The result of lowdim is not good enough.**")
    for contender in case.contenders:
        if contender.role == "floor":
            sentences.append(f"lowdim takes {seconds[ours] / seconds[contender.name]:.2f} × the floor.")
        if contender.role == "instruction set" and contender.bar is not None:
            kept = "within" if seconds[contender.name] <= contender.bar * seconds[ours] else "**beyond**"
            times = f"{seconds[contender.name] / seconds[ours]:.2f} × the time of {ours}"
            sentences.append(f"{contender.name} takes {times}, {kept} its limit of {contender.bar:g} ×.")
            if peers:
                sentences.append(
                    f"{best} takes {peers[best] / seconds[contender.name]:.2f} × the time of {contender.name}."
                )
    return " ".join(sentences)


def write(case: Case, text: str) -> None:
    """Replace the section of the case, or append it."""
    page = PATH.read_text(encoding="utf-8") if PATH.exists() else HEAD
    page = HEAD + page[page.index("\n## ") :] if "\n## " in page else HEAD
    pattern = re.compile(rf"^## {re.escape(case.name)}$.*?(?=^## |\Z)", flags=re.MULTILINE | re.DOTALL)
    block = text + "\n\n"
    page = pattern.sub(lambda _: block, page) if pattern.search(page) else page.rstrip("\n") + "\n\n" + block
    PATH.write_text(page.rstrip("\n") + "\n", encoding="utf-8")


def machine() -> str:
    """Threads, instruction set and BLAS."""
    known = lowdim.config()
    blas = " and ".join(dict.fromkeys(known["BLAS"])) or "no BLAS"
    return f"{known['threads']} threads, {known['instruction set']}, {blas}"
