"""Measuring time and peak memory: contenders run in turn, and memory is measured in separate processes."""

from __future__ import annotations

import gc
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

from bench.case import Case, Contender

REST = 0.3  # seconds between runs: BLAS threads spin for a while after the last call


def times(case: Case, data: Any) -> tuple[dict[str, float], dict[str, list[Any]]]:
    """Median seconds of each contender, run in turn, and the results to evaluate; a warm-up run is not counted."""
    seconds: dict[str, list[float]] = {contender.name: [] for contender in case.contenders}
    results: dict[str, list[Any]] = {contender.name: [] for contender in case.contenders}
    ready = {contender.name: contender.prepare(data) for contender in case.contenders}
    for repeat in range(1 - case.warm, case.repeats + 1):
        for contender in case.contenders:
            gc.collect()
            time.sleep(REST)
            if not case.every:
                results[contender.name].clear()
            start = time.perf_counter()
            result = contender.run(ready[contender.name])
            if repeat:
                seconds[contender.name].append(time.perf_counter() - start)
            results[contender.name].append(result)
            print(".", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return {name: statistics.median(values) for name, values in seconds.items()}, results


def quality_of_runs(case: Case, data: Any, results: list[Any]) -> list[dict[str, float]]:
    """The quality measures of each result."""
    return [case.quality(data, result) for result in results if result is not None]


def mean_quality(measured: list[dict[str, float]]) -> dict[str, float]:
    """The quality measures, each averaged over the results."""
    return {name: statistics.fmean(one[name] for one in measured) for name in (measured[0] if measured else {})}


def quality_deviations(measured: list[dict[str, float]]) -> dict[str, float]:
    """Their standard deviations, where there are several results."""
    return {name: statistics.stdev(one[name] for one in measured) for name in measured[0]} if measured[1:] else {}


def peak_memory(case: Case, contender: Contender) -> float | None:
    """Peak MiB that a contender adds to a process that already holds the data."""
    command = [sys.executable, "-m", "bench", "--memory", case.name, contender.name]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return float(json.loads(done.stdout)) if done.returncode == 0 and done.stdout.strip() else None


def peak_memory_here(case: Case, contender: Contender) -> float:
    """The same for this process; Linux only."""
    ready = contender.prepare(case.data())
    gc.collect()
    return peak_of(lambda: contender.run(ready))[1]


def peak_of(run: Callable[[], Any]) -> tuple[Any, float]:
    """What a function returns, and the peak MiB that it adds to this process; Linux only."""
    with open("/proc/self/clear_refs", "w", encoding="ascii") as reset:
        reset.write("5")  # resets the peak
    before = resident("VmRSS")
    result = run()
    return result, (resident("VmHWM") - before) / 1024


def resident(field: str) -> int:
    """VmRSS or VmHWM of this process, in KiB."""
    with open("/proc/self/status", encoding="ascii") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith(field + ":"))
