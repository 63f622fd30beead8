"""Contenders that run on another instruction set, each a process of its own: it is chosen when a process starts."""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from typing import Any

from bench.case import Contender

LOWER = {"avx512": ("avx2", "baseline"), "avx2": ("baseline",)}  # what LOWDIM_ISA can lower to
LIMITS = {"avx2": 2.2, "baseline": 5.0}  # times the best instruction set: twice and four times its lanes, and some

Task = Callable[[], Any]


class Worker:
    """A process of one instruction set that runs a task whenever it is told to."""

    def __init__(self, task: str, instruction_set: str) -> None:
        command = [sys.executable, "-m", "bench", "--worker", task]
        environment = os.environ | {"LOWDIM_ISA": instruction_set}
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self.process: subprocess.Popen[str] = subprocess.Popen(command, env=environment, **pipes)
        atexit.register(self.process.kill)
        self._answer()  # the data are there

    def run(self) -> None:
        assert self.process.stdin is not None
        print("run", file=self.process.stdin, flush=True)
        self._answer()

    def _answer(self) -> None:
        assert self.process.stdout is not None
        if self.process.stdout.readline() != "done\n":
            raise RuntimeError(f"the worker ended with code {self.process.wait()}")


def work(run: Task) -> None:
    """What a worker does once the data are there: run the task for every line it is sent."""
    warnings.simplefilter("ignore")  # a fixed number of iterations does not converge
    print("done", flush=True)
    for _ in sys.stdin:
        run()
        print("done", flush=True)


def contender(task: str, instruction_set: str, best: str) -> Contender:
    return Contender(
        f"lowdim {instruction_set}",
        Worker.run,
        role="ours" if instruction_set == best else "instruction set",
        bar=LIMITS.get(instruction_set),
        prepare=lambda _: Worker(task, instruction_set),
    )
