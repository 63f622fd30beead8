"""Beyond memory and beyond one machine: Dask beside dask-ml, files larger than memory."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import textwrap
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import lowdim
from bench.case import Case, Contender, installed, no_worse
from bench.measure import peak_of, resident

SHARED_ROWS, SHARED_COLUMNS, COMPONENTS = 5_000_000, 100, 10
CHUNK = 100_000
LIMIT_MIB = 1000  # of address space beyond what Python and its modules take


@cache
def mapped_rows() -> np.ndarray:
    """5,000,000 × 100 rows of decaying variances in a memory map, float32."""
    path = Path(tempfile.gettempdir()) / f"lowdim-bench-{SHARED_ROWS}x{SHARED_COLUMNS}.npy"
    if not path.exists():
        out = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(SHARED_ROWS, SHARED_COLUMNS))
        axes = np.linalg.qr(np.random.default_rng(0).standard_normal((SHARED_COLUMNS, SHARED_COLUMNS)))[0]
        axes = (axes * 0.95 ** np.arange(SHARED_COLUMNS)).T.astype(np.float32)
        for start in range(0, SHARED_ROWS, CHUNK):
            random = np.random.default_rng([1, start])
            out[start : start + CHUNK] = random.standard_normal((CHUNK, SHARED_COLUMNS), dtype=np.float32) @ axes + 3
        out.flush()
        del out
    return np.load(path, mmap_mode="r")


@cache
def _true_variances() -> np.ndarray:
    """The leading eigenvalues of the covariance, in double precision."""
    X = mapped_rows()
    mean = np.mean([X[s : s + CHUNK].mean(axis=0, dtype=np.float64) for s in range(0, len(X), CHUNK)], axis=0)
    scatter = np.zeros((SHARED_COLUMNS, SHARED_COLUMNS))
    for start in range(0, len(X), CHUNK):
        block = X[start : start + CHUNK] - mean
        scatter += block.T @ block
    return np.linalg.eigvalsh(scatter / (len(X) - 1))[::-1][:COMPONENTS]


def variance_error(data: np.ndarray, model: Any) -> dict[str, float]:
    """The largest relative error of the leading variances."""
    found = np.asarray(model.explained_variance_[:COMPONENTS], dtype=np.float64)
    return {"relative error": float(np.abs(found / _true_variances() - 1).max())}


def variance_error_and_peak(data: np.ndarray, found: tuple[Any, float]) -> dict[str, float]:
    return {**variance_error(data, found[0]), "peak of the run MiB": found[1]}


def dask_array(X: np.ndarray) -> Any:
    import dask.array as da

    return da.from_array(X, chunks=(CHUNK, SHARED_COLUMNS), name=False)


def lowdim_pca(D: Any) -> tuple[Any, float]:
    return peak_of(lambda: lowdim.PCA(COMPONENTS).fit(D))


def dask_ml_pca(D: Any) -> tuple[Any, float]:
    """The solver is its default, which is randomized for so many rows."""
    from dask_ml.decomposition import PCA

    return peak_of(lambda: PCA(COMPONENTS, random_state=0).fit(D))


def dask_peers() -> tuple[Contender, ...]:
    return (Contender("dask-ml", dask_ml_pca, "dask-ml", prepare=dask_array),) if installed("dask_ml") else ()


LIMITED = """
    import json, resource, sys, time
    from pathlib import Path
    import numpy as np, lowdim, pyarrow.parquet
    folder, limit = sys.argv[1], int(sys.argv[2])
    first = sorted(Path(folder).iterdir())[0]
    lowdim.PCA(2).fit(first)  # imports, and starts the allocator of Arrow, which reserves 1 GiB of addresses
    with open("/proc/self/statm") as file:
        size = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + (limit << 20), resource.RLIM_INFINITY))
    start = time.perf_counter()
    model = lowdim.PCA(10).fit(folder)
    fitted = time.perf_counter() - start
    Z = model.transform(folder)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"fit s": fitted, "rows": len(Z), "process peak MiB": peak, "limit MiB": limit}))
"""


@cache
def parquet_folder() -> Path:
    """The same rows as a folder of 50 Parquet files."""
    import pyarrow as pa
    from pyarrow import parquet

    folder, X = Path(tempfile.gettempdir()) / "lowdim-bench-parquet", mapped_rows()
    folder.mkdir(exist_ok=True)
    for start in range(0, len(X), CHUNK):
        path = folder / f"part.{start // CHUNK:03d}.parquet"
        if not path.exists():
            columns = {f"x{j}": np.ascontiguousarray(X[start : start + CHUNK, j]) for j in range(X.shape[1])}
            parquet.write_table(pa.table(columns), path, row_group_size=CHUNK // 4, compression="none")
    return folder


def limited_run(folder: Path) -> dict[str, float]:
    command = [sys.executable, "-c", textwrap.dedent(LIMITED), str(folder), str(LIMIT_MIB)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr)
    found: dict[str, float] = json.loads(done.stdout)
    size = sum(file.stat().st_size for file in folder.iterdir())
    return found | {"files MiB": size / 2**20}


def cluster_run(X: np.ndarray) -> tuple[Any, dict[str, float]]:
    """PCA by two worker processes, the peaks of client and workers, and whether the bits are those of memory."""
    from distributed import Client, LocalCluster

    path = str(X.filename)
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        client.run(lowdim_ready)
        before = client.run(resident, "VmRSS")
        D = _opened(path)
        model, own = peak_of(lambda: lowdim.PCA(COMPONENTS).fit(D))
        peaks = client.run(resident, "VmHWM")
    here = lowdim.PCA(COMPONENTS).fit(X)
    return model, {
        "client MiB": own,
        "worker MiB": max(peaks[w] - before[w] for w in peaks) / 1024,
        "same bits": float(np.array_equal(model.components_, here.components_)),
    }


def _opened(path: str) -> Any:
    """A Dask array whose chunks the workers read from the file."""
    import dask.array as da
    from dask.delayed import delayed

    read = delayed(_chunk, pure=False)
    parts = [read(path, start) for start in range(0, SHARED_ROWS, CHUNK)]
    return da.concatenate([da.from_delayed(part, (CHUNK, SHARED_COLUMNS), np.float32) for part in parts])


def _chunk(path: str, start: int) -> np.ndarray:
    return np.array(np.load(path, mmap_mode="r")[start : start + CHUNK])


def lowdim_ready() -> None:
    """Import lowdim on a worker."""
    lowdim.PCA(1).fit(np.random.default_rng(0).normal(size=(50, 3)))


WIDE_ROWS, WIDE_COLUMNS = 1_000_000, 768  # as embeddings of texts have them


@cache
def wide_files() -> tuple[Path, Path]:
    """1,000,000 × 768 values as a memory map in float16 (1.4 GiB) and as a Parquet file in float32 (2.9 GiB)."""
    import pyarrow as pa
    from pyarrow import parquet

    mapped, file = (Path(tempfile.gettempdir()) / f"lowdim-bench-wide.{kind}" for kind in ("npy", "parquet"))
    if file.exists():
        return mapped, file
    out = np.lib.format.open_memmap(mapped, mode="w+", dtype=np.float16, shape=(WIDE_ROWS, WIDE_COLUMNS))
    schema = pa.schema([(f"x{j}", pa.float32()) for j in range(WIDE_COLUMNS)])
    scales = np.float32(0.99) ** np.arange(WIDE_COLUMNS, dtype=np.float32)
    size = 20_000
    with parquet.ParquetWriter(file, schema, compression="none", use_dictionary=False) as writer:
        for start in range(0, WIDE_ROWS, size):
            X = np.random.default_rng([2, start]).standard_normal((size, WIDE_COLUMNS), dtype=np.float32) * scales
            out[start : start + size] = X
            writer.write_table(pa.table(list(np.ascontiguousarray(X.T)), schema=schema))
    out.flush()
    return mapped, file


def pca_of_map(files: tuple[Path, Path]) -> tuple[Any, float]:
    return peak_of(lambda: lowdim.PCA(50).fit(np.load(files[0], mmap_mode="r")))


def pca_of_parquet(files: tuple[Path, Path]) -> tuple[Any, float]:
    return peak_of(lambda: lowdim.PCA(50).fit(files[1]))


def share_and_peak(data: Any, found: tuple[Any, float]) -> dict[str, float]:
    return {"share of variance": float(found[0].explained_variance_ratio_.sum()), "peak of the run MiB": found[1]}


CASES = [
    Case(
        "dask-pca",
        "PCA of a Dask array, 5,000,000 × 100 rows of a memory map in chunks of 100,000 → 10, float32, threads",
        mapped_rows,
        (Contender("lowdim", lowdim_pca, role="ours", prepare=dask_array), *dask_peers()),
        variance_error_and_peak,
        "`relative error`: the largest error of the ten variances beside the covariance in double precision.",
        bar=1,
        equal=no_worse(**{"relative error": 1.0}),
        repeats=1,
        warm=False,
        memory=False,
    ),
    Case(
        "parquet-limited",
        f"PCA(10): fit and transform of a folder of Parquet files, 5,000,000 × 100 float32, in a process whose address "
        f"space may grow by {LIMIT_MIB} MiB (RLIMIT_AS)",
        parquet_folder,
        (Contender("lowdim", limited_run, role="ours"),),
        lambda data, found: found,
        repeats=1,
        warm=False,
        memory=False,
    ),
    Case(
        "wide-files-1m",
        f"PCA(50) of {WIDE_ROWS:,} × {WIDE_COLUMNS} values in files: a float16 memory map (1.4 GiB), a Parquet file in "
        "float32 (2.9 GiB); in float32 the rows would take 2.9 GiB of memory",
        wide_files,
        (Contender("Parquet", pca_of_parquet, role="ours"), Contender("memory map", pca_of_map, role="source")),
        share_and_peak,
        repeats=1,
        warm=False,
        memory=False,
    ),
    Case(
        "dask-cluster",
        "PCA of the same Dask array → 10 by a LocalCluster of two worker processes with one thread each",
        mapped_rows,
        (Contender("lowdim", cluster_run, role="ours"),),
        lambda data, found: {**variance_error(data, found[0]), **found[1]},
        "The seconds include the start of the cluster and a second fit in memory, whose bits are compared.",
        repeats=1,
        warm=False,
        memory=False,
    ),
]
