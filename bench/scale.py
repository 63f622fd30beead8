"""Beyond memory and beyond one machine: Dask beside dask-ml, files larger than memory, millions of rows."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.spatial.distance import cdist

import lowdim
from bench.case import Case, Contender, installed, no_worse
from bench.data import mixture
from bench.judge import neighbor_recall, sampled_trustworthiness
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


@cache
def documents(n: int = 1_000_000, d: int = 30_000, words: int = 40) -> sp.csr_matrix:
    """TF-IDF weights of documents drawn from 60 topics, each of unit length: n × d, float32."""
    from sklearn.feature_extraction.text import TfidfTransformer

    random = np.random.default_rng(0)
    sums = np.cumsum(random.gamma(0.05, size=(60, d)), axis=1)
    topics, drawn = random.integers(0, 60, n), np.empty((n, words), dtype=np.int32)
    for topic in range(60):
        rows = np.flatnonzero(topics == topic)
        found = np.searchsorted(sums[topic], random.random((len(rows), words)) * sums[topic, -1])
        drawn[rows] = np.minimum(found, d - 1)
    counts = sp.csr_matrix(
        (np.ones(drawn.size, dtype=np.float32), drawn.ravel(), np.arange(0, drawn.size + 1, words)), shape=(n, d)
    )
    counts.sum_duplicates()
    return TfidfTransformer().fit_transform(counts)


def growth(name: str, work: str, n: int, run: Callable[[np.ndarray], Any], quality: Any) -> Case:
    """One run of many rows, whose peak is measured in it: a second process would take as long again."""

    def measured(X: np.ndarray) -> tuple[Any, float]:
        gc.collect()
        return peak_of(lambda: run(X))

    def judged(X: np.ndarray, found: tuple[Any, float]) -> dict[str, float]:
        return {**quality(X, found[0]), "peak of the run MiB": found[1]}

    contenders = (Contender("lowdim", measured, role="ours"),)
    return Case(name, work, lambda: mixture(n), contenders, judged, repeats=1, warm=False, memory=False)


def share(X: np.ndarray, model: Any) -> dict[str, float]:
    return {"share of variance": float(model.explained_variance_ratio_.sum())}


@cache
def _true_neighbors(n: int) -> tuple[np.ndarray, np.ndarray]:
    """200 rows of the mixture and their 15 true neighbors, in double precision."""
    X = mixture(n)
    sample = np.random.default_rng(0).choice(n, 200, replace=False)
    squares, indices = np.full((200, 16), np.inf), np.zeros((200, 16), dtype=np.int64)
    for start in range(0, n, CHUNK):
        found = cdist(X[sample].astype(np.float64), X[start : start + CHUNK].astype(np.float64), "sqeuclidean")
        near = np.argpartition(found, 16, axis=1)[:, :16]
        squares = np.hstack([squares, np.take_along_axis(found, near, axis=1)])
        indices = np.hstack([indices, near + start])
        best = np.argsort(squares, axis=1, kind="stable")[:, :16]
        squares, indices = np.take_along_axis(squares, best, axis=1), np.take_along_axis(indices, best, axis=1)
    return sample, indices[:, 1:]  # the first is the row itself


def recall(X: np.ndarray, indices: np.ndarray) -> dict[str, float]:
    sample, true = _true_neighbors(len(X))
    return {"recall": neighbor_recall(indices[sample], true)}


def umap_of(X: Any) -> np.ndarray:
    return lowdim.UMAP().fit_transform(X)


def tsne_of(X: np.ndarray) -> np.ndarray:
    return lowdim.TSNE().fit_transform(X)


def neighbors_of(X: np.ndarray) -> np.ndarray:
    return lowdim.neighbors(X, 15).indices


def pca_of(X: np.ndarray) -> Any:
    return lowdim.PCA(10).fit(X)


def sparse_run(model: Callable[[], Any]) -> Callable[[Any], tuple[Any, float]]:
    return lambda X: peak_of(lambda: model().fit(X))


def sparse_quality(X: Any, found: tuple[Any, float]) -> dict[str, float]:
    return {"share of variance": float(found[0].explained_variance_ratio_.sum()), "peak of the run MiB": found[1]}


def sparse_case(name: str, what: str, model: Callable[[], Any]) -> Case:
    return Case(
        name,
        f"{what} of a sparse 1,000,000 × 30,000 TF-IDF matrix (made documents of 40 words), float32",
        documents,
        (Contender("lowdim", sparse_run(model), role="ours"),),
        sparse_quality,
        "A dense copy would take 111 GiB.",
        repeats=1,
        warm=False,
        memory=False,
    )


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
    growth("pca-1m", "PCA of 1,000,000 × 50 made rows → 10: scaling", 1_000_000, pca_of, share),
    growth("pca-10m", "PCA of 10,000,000 × 50 made rows → 10: scaling", 10_000_000, pca_of, share),
    growth("neighbors-1m", "15 neighbors of 1,000,000 × 50 made rows: scaling", 1_000_000, neighbors_of, recall),
    growth("neighbors-10m", "15 neighbors of 10,000,000 × 50 made rows: scaling", 10_000_000, neighbors_of, recall),
    growth("umap-1m", "UMAP of 1,000,000 × 50 made rows: scaling", 1_000_000, umap_of, sampled_trustworthiness),
    growth("tsne-1m", "t-SNE of 1,000,000 × 50 made rows: scaling", 1_000_000, tsne_of, sampled_trustworthiness),
    sparse_case("sparse-svd-1m", "TruncatedSVD(50)", lambda: lowdim.TruncatedSVD(50)),
    sparse_case("sparse-pca-1m", "PCA(50)", lambda: lowdim.PCA(50)),
]
