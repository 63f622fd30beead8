"""Fuzz lowdim for a bounded time: python tools/fuzz.py [--seconds 300] [--first 0] [target …].

Attempts are made in processes of their own: one that dies is counted as a crash, one that does not answer as a hang.
The counts are printed per target, and every attempt that ended otherwise than finite or named with the number that
repeats it: python tools/fuzz.py --only TARGET NUMBER.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "helpers"))

HANG_SECONDS = 60
BATCH = 20


def work(pipe: Any) -> None:
    """Make the attempts that the parent asks for, and say how each ended."""
    from fuzzing import attempt

    pipe.send("ready")
    while True:
        target, number = pipe.recv()
        pipe.send(attempt(target, number))


class Worker:
    """A process that makes attempts, and is replaced when it dies or does not answer."""

    def __init__(self) -> None:
        self.start()

    def start(self) -> None:
        self.pipe, other = multiprocessing.Pipe()
        self.process = multiprocessing.get_context("spawn").Process(target=work, args=(other,), daemon=True)
        self.process.start()
        other.close()
        self.pipe.recv()  # imports are done: on a loaded machine they would count as a hang of the first attempt

    def attempt(self, target: str, number: int) -> tuple[str, str]:
        self.pipe.send((target, number))
        try:
            if self.pipe.poll(HANG_SECONDS):
                return self.pipe.recv()
            ending = "hang"
        except (EOFError, ConnectionResetError):
            self.process.join()
            ending = f"crash: exit code {self.process.exitcode}"
        self.process.kill()
        self.start()
        return ending, ""


def main() -> int:
    """Share the time among the targets; exit code 1 if anything ended otherwise than finite or named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--first", type=int, default=0, help="number of the first attempt")
    parser.add_argument("--only", nargs=2, metavar=("TARGET", "NUMBER"))
    parser.add_argument("targets", nargs="*")
    options = parser.parse_args()
    from fuzzing import TARGETS, attempt

    if options.only:
        print(*attempt(options.only[0], int(options.only[1])), sep="\n")
        return 0
    targets = options.targets or list(TARGETS)
    counts: dict[str, Counter[str]] = {target: Counter() for target in targets}
    failed = False
    numbers = dict.fromkeys(targets, options.first)
    worker, end = Worker(), time.monotonic() + options.seconds
    while time.monotonic() < end:
        for target in targets:
            for _ in range(BATCH):
                ending, story = worker.attempt(target, numbers[target])
                counts[target][ending.split(":")[0]] += 1
                if ending not in ("finite", "named"):
                    failed = True
                    print(f"{target} {numbers[target]}: {ending}\n    {story:.200}", flush=True)
                numbers[target] += 1
    print(f"{'target':12}" + "".join(f"{word:>9}" for word in ("attempts", "finite", "named", "raw", "crash", "hang")))
    for target, found in counts.items():
        row = [sum(found.values()), *(found[word] for word in ("finite", "named", "raw", "crash", "hang"))]
        print(f"{target:12}" + "".join(f"{number:9}" for number in row))
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
