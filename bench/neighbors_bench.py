"""Neighbour search beside its peers: time, recall, peak memory.

    python bench/neighbors_bench.py mnist.npz            # the table, side by side
    python bench/neighbors_bench.py mnist.npz --growth   # made rows of 50 columns: 10k to 1M

Each measurement runs in a process of its own, twice, and the second time counts: peers that compile have then
done so.
Recall is against exact neighbours of 1,000 rows, a row with the same distance as the k-th counting as found.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path

import numpy as np

K, THREADS, JUDGED = 15, 2, 1000


def mnist(path: str, columns: int) -> np.ndarray:
    X = np.load(path)["X"].reshape(70000, -1).astype(np.float32) / 255
    if columns == X.shape[1]:
        return X
    from lowdim import PCA

    return np.ascontiguousarray(PCA(columns).fit_transform(X), dtype=np.float32)


def mixture(n: int, d: int = 50) -> np.ndarray:
    """A Gaussian mixture whose clusters lie on planes of 8 dimensions."""
    rng = np.random.default_rng(0)
    centres, planes = 5 * rng.normal(size=(100, d)), rng.normal(size=(100, 8, d))
    X = np.empty((n, d), dtype=np.float32)
    for start in range(0, n, 50_000):
        which = rng.integers(0, 100, min(50_000, n - start))
        inner = np.einsum("ij,ijk->ik", rng.normal(size=(len(which), 8)), planes[which])
        X[start : start + len(which)] = centres[which] + inner + 0.3 * rng.normal(size=(len(which), d))
    return X


def lowdim_search(algorithm: str):
    from lowdim.summaries.neighbors import neighbors

    return lambda X: neighbors(X, K, algorithm=algorithm, n_jobs=THREADS).distances


def pynndescent_search():
    import pynndescent

    def run(X):
        # Its lists begin with the row itself.
        return pynndescent.NNDescent(X, n_neighbors=K + 1, n_jobs=THREADS, random_state=0).neighbor_graph[1][
            :, 1:
        ]

    return run


def faiss_search():
    import faiss

    faiss.omp_set_num_threads(THREADS)

    def run(X):
        index = faiss.IndexFlatL2(X.shape[1])
        index.add(X)
        squares = index.search(X, K + 1)[0][:, 1:]
        return np.sqrt(np.maximum(squares, 0))

    return run


SEARCHES = {
    "lowdim exact": lambda: lowdim_search("exact"),
    "lowdim approximate": lambda: lowdim_search("approximate"),
    "pynndescent": pynndescent_search,
    "faiss flat": faiss_search,
}
PEERS = {
    "pynndescent": "pynndescent",
    "faiss flat": "faiss-cpu",
    "lowdim exact": "lowdim",
    "lowdim approximate": "lowdim",
}


def recall(X: np.ndarray, distances: np.ndarray) -> float:
    from lowdim.summaries.neighbors import NeighborIndex

    rows = np.linspace(0, len(X) - 1, JUDGED).astype(int)
    truth = NeighborIndex(X, algorithm="exact", n_jobs=THREADS).query(X[rows], K + 1).distances[:, -1]
    return float((distances[rows] <= truth[:, None] * (1 + 1e-5)).mean())


def most_memory(*, forget: bool = False) -> float:
    """The most memory this process has held, in MB, since the start or since it was last told to forget."""
    # Not ru_maxrss: that one is inherited from the process that started this one.
    if forget:
        Path("/proc/self/clear_refs").write_text("5")
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


def measure(task: dict) -> dict:
    """One search in this process."""
    X = mixture(task["n"]) if "n" in task else np.load(task["data"])
    search = SEARCHES[task["search"]]()
    before = most_memory(forget=True)
    for _ in range(task.get("runs", 2)):
        wall, cpu = time.perf_counter(), time.process_time()
        distances = search(X)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    added = most_memory() - before
    return {
        "wall": wall,
        "cpu": cpu,
        "added MB": added,
        "recall": recall(X, distances),
        "data MB": X.nbytes / 2**20,
    }


def apart(task: dict) -> dict:
    """`measure` in a fresh process."""
    out = subprocess.run(
        [sys.executable, __file__, "--task", json.dumps(task)], capture_output=True, text=True, check=True
    )
    return json.loads(out.stdout.splitlines()[-1])


def show(what: str, name: str, result: dict, mine: dict | None) -> None:
    ratio = (
        ""
        if mine is None
        else f"{result['wall'] / mine['wall']:5.2f}x wall {result['cpu'] / mine['cpu']:5.2f}x cpu"
    )
    print(
        f"{what:<16}{name + ' ' + version(PEERS[name]):<28}"
        f"{result['wall']:8.2f} s {result['cpu']:8.2f} cpu s  "
        f"recall {result['recall']:.4f}  +{result['added MB']:6.0f} MB over {result['data MB']:.0f}  {ratio}",
        flush=True,
    )


def table(path: str) -> None:
    kept = Path("/tmp/lowdim_bench")
    kept.mkdir(exist_ok=True)
    for columns, rivals in (
        (50, ("lowdim exact", "faiss flat")),
        (50, ("lowdim approximate", "pynndescent")),
        (784, ("lowdim approximate", "pynndescent")),
    ):
        file = kept / f"mnist_{columns}.npy"
        np.save(file, mnist(path, columns))
        mine = None
        for name in rivals:
            result = apart({"data": str(file), "search": name})
            show(f"70000 x {columns}", name, result, mine)
            mine = mine or result


def growth() -> None:
    sizes, times = [10_000, 70_000, 300_000, 1_000_000], []
    for n in sizes:
        result = apart({"n": n, "search": "lowdim approximate", "runs": 1})
        times.append(result["cpu"])
        show(f"{n} x 50", "lowdim approximate", result, None)
    slope = np.polyfit(np.log(sizes), np.log(times), 1)[0]
    print(f"cpu seconds grow as n^{slope:.2f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("mnist", nargs="?")
    parser.add_argument("--growth", action="store_true")
    parser.add_argument("--task", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.task:
        print(json.dumps(measure(json.loads(options.task))))
    elif options.growth:
        growth()
    else:
        table(options.mnist)
