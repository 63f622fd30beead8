"""python -m bench [case …]: run benchmark cases and write BENCHMARKS.md."""

from __future__ import annotations

import argparse
from functools import partial

from bench import (
    cold_start,
    fit_memory,
    growth,
    ica,
    instruction_sets,
    kernels,
    lda,
    lle,
    manifold,
    mds,
    neighbors,
    new_rows,
    pca,
    quality,
    scale,
    select,
    sparse_neighbors,
    subspace,
    tsne,
    umap,
)
from bench.instruction_sets import TASKS
from bench.measure import (
    mean_quality,
    peak_memory,
    peak_memory_here,
    quality_deviations,
    quality_of_runs,
    times,
)
from bench.report import section, write
from bench.worker import Task, work

FAMILIES = (
    pca, lda, ica, neighbors, sparse_neighbors, manifold, lle, tsne, umap, new_rows, kernels, mds, select, subspace,
    quality, scale, growth, fit_memory, cold_start, instruction_sets,
)  # fmt: skip
CASES = {case.name: case for family in FAMILIES for case in family.CASES}


def task_of(name: str) -> Task:
    """What a worker of another instruction set does for a case: its task, or what lowdim does in it."""
    if name in TASKS:
        return TASKS[name][1]()
    case = CASES[name]
    return partial(next(one for one in case.contenders if one.role == "ours").run, case.data())


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("cases", nargs="*", metavar="case", help=f"one of {', '.join(CASES)}; all by default")
    parser.add_argument("--memory", nargs=2, metavar=("CASE", "CONTENDER"), help=argparse.SUPPRESS)
    parser.add_argument("--worker", metavar="CASE", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        work(task_of(options.worker))
        return
    if options.memory:
        case = CASES[options.memory[0]]
        print(peak_memory_here(case, next(c for c in case.contenders if c.name == options.memory[1])))
        return
    unknown = set(options.cases) - set(CASES)
    if unknown:
        parser.error(f"unknown case: {', '.join(sorted(unknown))}; available: {', '.join(CASES)}")
    for case in (CASES[name] for name in options.cases or CASES):
        print(f"\n{case.name}: {case.work}")
        data = case.data()
        seconds, results = times(case, data)
        of_runs = {name: quality_of_runs(case, data, runs) for name, runs in results.items()}
        quality = {name: mean_quality(runs) for name, runs in of_runs.items()}
        deviations = {name: quality_deviations(runs) for name, runs in of_runs.items() if case.deviations}
        measured = [one for one in case.contenders if case.memory and one.role != "instruction set"]
        memory = {contender.name: peak_memory(case, contender) for contender in measured}
        text = section(case, seconds, quality, memory, deviations)
        print(text)
        write(case, text)


if __name__ == "__main__":
    main()
