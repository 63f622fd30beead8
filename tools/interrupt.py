"""Measure how soon Ctrl-C takes effect: python tools/interrupt.py [--tries 7] [--seed 0] [words of a case's name …].

Each case runs in a process of its own, whole once, and then again for every try; a SIGINT from outside comes at a
random instant of it. What is measured is the time from the signal to the KeyboardInterrupt. The median and the worst of
every case are printed, and how many runs had ended before their signal. Where a try took longer than 100 ms, the lines
that were being run at that time are printed too. "At work" is the most that one thread was on a processor between the
signal and its effect: on a loaded machine, the rest of the delay is due to other programs. The exit code is 1 if the
worst exceeds the limit of 200 ms.
"""

from __future__ import annotations

import argparse
import faulthandler
import multiprocessing
import os
import random
import re
import signal
import statistics
import sys
import tempfile
import time
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

LIMIT = 0.2  # seconds
SLOW = 0.1  # from here on, the running lines are shown
GIVE_UP = 60.0  # an interrupt that takes longer is a hang
LONGEST = 4.0  # of a run: later instants are not tried

# Name: what is prepared; what is interrupted. `normal` gives float64, `curved` a surface in ten dimensions.
CASES = {
    "PCA covariance": ("X = normal(100_000, 300)", "PCA(5, solver='covariance').fit(X)"),
    "PCA svd": ("X = normal(3000, 1200)", "PCA(5, solver='svd').fit(X)"),
    "PCA gram": ("X = normal(2000, 20_000)", "PCA(5, solver='gram').fit(X)"),
    "PCA krylov": ("X = normal(20_000, 1000)", "PCA(20, solver='krylov').fit(X)"),
    "PCA em": ("X = holes(5000, 60)", "PCA(5, missing='em', tol=1e-12).fit(X)"),
    "PCA transform": ("X = normal(300_000, 100); m = PCA(5).fit(X[:1000])", "m.transform(X)"),
    "choose table": ("X = normal(2000, 100)", "choose.table(X)"),
    "diagnose": ("X = normal(5000, 100)", "diagnose(X)"),
    "LDA": ("X = normal(100_000, 300); y = np.arange(len(X)) % 7", "LDA().fit(X, y).transform(X)"),
    "LDA gram": ("X = normal(2000, 8000); y = np.arange(len(X)) % 7", "LDA().fit(X, y)"),
    "ICA": ("X = normal(60_000, 30) ** 3", "ICA(tol=1e-12).fit(X)"),
    "ICA deflation": ("X = normal(60_000, 20) ** 3", "ICA(algorithm='deflation', tol=1e-9).fit(X)"),
    "SIR": ("X = normal(100_000, 200)", "SIR(2).fit(X, X[:, 0])"),
    "SAVE": ("X = normal(50_000, 100)", "SAVE(2).fit(X, X[:, 0])"),
    "DirectionalRegression": ("X = normal(50_000, 100)", "DirectionalRegression(2).fit(X, X[:, 0])"),
    "LSIR": ("X = normal(20_000, 30)", "LSIR(2).fit(X, X[:, 0])"),
    "ProjectionPursuit": ("X = normal(3000, 8)", "ProjectionPursuit(2).fit(X)"),
    "ProjectionPursuit, Friedman-Tukey": ("X = normal(800, 6)", "ProjectionPursuit(1, index='friedman_tukey').fit(X)"),
    "KernelPCA dense": ("X = normal(2500, 30)", "KernelPCA(5, solver='dense').fit(X)"),
    "KernelPCA lanczos": ("X = normal(6000, 30)", "KernelPCA(20, solver='lanczos').fit(X)"),
    "KernelPCA nystrom": ("X = normal(50_000, 30)", "KernelPCA(5, solver='nystrom', n_landmarks=600).fit(X)"),
    "KernelPCA inverse": (
        "X = normal(2000, 30); m = KernelPCA(5).fit(X); Z = m.transform(X)",
        "m.inverse_transform(Z)",
    ),
    "ClassicalMDS manhattan": ("X = normal(4000, 100)", "ClassicalMDS(metric='manhattan').fit(X)"),
    "ClassicalMDS cailliez": ("X = normal(300, 9)", "ClassicalMDS(metric='manhattan', correction='cailliez').fit(X)"),
    "MDS smacof": ("X = normal(3000, 8)", "MDS(solver='smacof', max_iter=100, tol=0.0).fit(X)"),
    "MDS sgd": ("X = normal(6000, 8)", "MDS(solver='sgd').fit(X)"),
    "MDS spline": ("X = normal(1200, 8)", "MDS(transformation='spline', max_iter=60, tol=0.0).fit(X)"),
    "MDS transform": ("X = normal(2000, 8); m = MDS().fit(X[:1000])", "m.transform(X)"),
    "NonmetricMDS": ("X = normal(1200, 8)", "NonmetricMDS(max_iter=60, tol=0.0).fit(X)"),
    "LLE standard": ("X = curved(20_000)", "LLE(method='standard').fit(X)"),
    "LLE modified": ("X = curved(15_000)", "LLE(method='modified').fit(X)"),
    "LLE hessian": ("X = curved(15_000)", "LLE(method='hessian').fit(X)"),
    "LLE ltsa": ("X = curved(15_000)", "LLE(method='ltsa').fit(X)"),
    "LLE factor": ("X = curved(6000)", "LLE(solver='factor').fit(X)"),
    "LLE dense": ("X = curved(2000)", "LLE(solver='dense').fit(X)"),
    "LLE transform": ("X = curved(200_000); m = LLE().fit(X[:5000])", "m.transform(X)"),
    "LaplacianEigenmaps": ("X = curved(40_000)", "LaplacianEigenmaps(5).fit(X)"),
    "LaplacianEigenmaps transform": ("X = curved(200_000); m = LaplacianEigenmaps().fit(X[:5000])", "m.transform(X)"),
    "Isomap": ("X = curved(5000)", "Isomap().fit(X)"),
    "Isomap landmarks": ("X = curved(50_000)", "Isomap(n_landmarks=300).fit(X)"),
    "Isomap joining": ("X = islands(20_000)", "Isomap(n_neighbors=4, n_landmarks=100).fit(X)"),
    "Isomap transform": ("X = curved(50_000); m = Isomap(n_landmarks=300).fit(X[:8000])", "m.transform(X)"),
    "t-SNE exact": ("X = normal(3000, 20)", "TSNE(max_iter=300).fit(X)"),
    "t-SNE Barnes-Hut": ("X = normal(8000, 20)", "TSNE(3, max_iter=60).fit(X)"),
    "t-SNE FFT": ("X = normal(20_000, 20)", "TSNE(max_iter=100).fit(X)"),
    "t-SNE FFT, 1-D": ("X = normal(60_000, 5)", "TSNE(1, max_iter=60).fit(X)"),
    "t-SNE affinities": ("g = neighbors(normal(60_000, 5), 150)", "Affinities.from_graph(g, 50)"),
    "t-SNE affinities given": (
        "g = Affinities.from_graph(neighbors(normal(40_000, 5), 90)).to_sparse()",
        "Affinities.from_matrix(g)",
    ),
    "t-SNE multiscale": ("X = normal(20_000, 20)", "TSNE(perplexity=(30, 100), max_iter=10).fit(X)"),
    "t-SNE transform": ("X = normal(40_000, 20); m = TSNE(max_iter=60).fit(X[:4000])", "m.transform(X)"),
    "UMAP fit": ("X = normal(10_000, 20)", "UMAP().fit(X)"),
    "UMAP large": ("X = normal(60_000, 20)", "UMAP(n_epochs=10).fit(X)"),
    "UMAP densMAP": ("X = normal(8000, 20)", "UMAP(densmap=True).fit(X)"),
    "UMAP supervised": ("X = normal(10_000, 20); y = np.arange(len(X)) % 7", "UMAP().fit(X, y)"),
    "UMAP supervised by numbers": ("X = normal(8000, 20)", "UMAP(target_metric='numeric').fit(X, X[:, 0])"),
    "UMAP in pieces": ("X = islands(20_000)", "UMAP(n_neighbors=5, n_epochs=20).fit(X)"),
    "UMAP transform": ("X = normal(60_000, 20); m = UMAP(n_epochs=50).fit(X[:5000])", "m.transform(X)"),
    "UMAP inverse": (
        "X = normal(4000, 20); m = UMAP(n_epochs=50).fit(X); Z = m.embedding_",
        "m.inverse_transform(Z)",
    ),
    "neighbors exact": ("X = normal(25_000, 100)", "neighbors(X, 15, algorithm='exact')"),
    "neighbors approximate": ("X = normal(80_000, 30)", "neighbors(X, 15, algorithm='approximate')"),
    "neighbors projected": ("X = normal(20_000, 500)", "neighbors(X, 15, algorithm='approximate')"),
    "neighbors of sparse rows": ("X = sparse(6000, 20_000)", "neighbors(X, 15, metric='cosine')"),
    "neighbors of sparse rows, approximate": (
        "X = sparse(2000, 20_000)",
        "neighbors(X, 15, metric='cosine', algorithm='approximate')",
    ),
    "neighbors manhattan": ("X = normal(10_000, 60)", "neighbors(X, 15, metric='manhattan')"),
    "neighbors correlation": ("X = normal(20_000, 60)", "neighbors(X, 15, metric='correlation')"),
    "neighbors by a function": ("X = normal(1500, 9)", "neighbors(X, 9, metric=lambda x, y: abs(x - y).max())"),
    "neighbors of given distances": ("X = distances(5000)", "neighbors(X, 15, metric='precomputed')"),
    "neighbors canberra": ("X = normal(6000, 40)", "neighbors(X, 15, metric='canberra')"),
    "neighbors gower": ("X = holes(6000, 30)", "neighbors(X, 15, metric='gower')"),
    "sparse queries": (
        "X = sparse(6000, 20_000); g = NeighborIndex(X, metric='cosine')",
        "g.query(X, 15)",
    ),
    "CA": ("X = abs(normal(20_000, 400))", "CA(5).fit(X)"),
    "MCA": ("X = np.floor(3 * abs(normal(20_000, 40))) % 5", "MCA(5).fit(X)"),
    "TruncatedSVD": ("X = sparse(20_000, 20_000)", "TruncatedSVD(50).fit(X)"),
    "varimax": ("X = normal(5000, 60)", "varimax(X)"),
    "quality.measure": ("X = normal(5000, 30); Z = normal(5000, 2)", "quality.measure(X, Z)"),
    "quality.measure, sampled": ("X = normal(60_000, 30); Z = normal(60_000, 2)", "quality.measure(X, Z)"),
    "quality.co_ranking": ("X = normal(4000, 30); Z = normal(4000, 2)", "quality.co_ranking(X, Z)"),
    "quality.null": ("X = normal(3000, 20)", "quality.null(UMAP(n_epochs=50), X)"),
    "quality.stability": ("X = normal(2000, 20)", "quality.stability(UMAP(n_epochs=50), X, runs=3)"),
    "quality.singularity": ("m = TSNE(max_iter=60).fit(normal(3000, 20))", "quality.singularity(m)"),
    "compare": ("X = normal(2000, 20)", "compare(X, ['pca', 'isomap', 'tsne', 'umap'])"),
    "recommend": ("X = normal(5000, 60)", "recommend(X)"),
    "select.LaplacianScore": ("X = normal(20_000, 60)", "select.LaplacianScore().fit(X)"),
    "select.SequentialSelection": (
        "X = normal(500, 12); y = np.arange(500) % 2",
        "select.SequentialSelection(6, cv=3).fit(X, y)",
    ),
    "select.RFE": ("X = normal(500, 20); y = np.arange(500) % 2", "select.RFE(cv=3).fit(X, y)"),
    "select.Boruta": ("X = normal(500, 20); y = np.arange(500) % 2", "select.Boruta(max_iter=20).fit(X, y)"),
    "select.compare": ("X = normal(1000, 30); y = np.arange(1000) % 2", "select.compare(X, y)"),
    "select.ReliefF": ("X = normal(6000, 50); y = np.arange(len(X)) % 3", "select.ReliefF().fit(X, y)"),
    "select.MRMR": ("X = normal(5000, 400); y = np.arange(len(X)) % 3", "select.MRMR(50).fit(X, y)"),
    "select.MutualInformation": ("X = normal(5000, 60)", "select.MutualInformation().fit(X, X[:, 0])"),
    "select.HSICLasso": ("X = normal(8000, 200)", "select.HSICLasso(20).fit(X, X[:, 0])"),
    "subspace.CLIQUE": ("X = normal(50_000, 14)", "subspace.CLIQUE(tau=0.01).fit(X)"),
    "subspace.PROCLUS": ("X = normal(20_000, 20)", "subspace.PROCLUS(6).fit(X)"),
    "subspace.SUBCLU": ("X = normal(3000, 6)", "subspace.SUBCLU().fit(X)"),
    "subspace.PCluster": ("X = normal(40, 11)", "subspace.PCluster(delta=1.0).fit(X)"),
    "subspace.DOC": ("X = normal(20_000, 12)", "subspace.DOC(0.01, width=0.5).fit(X)"),
    "subspace.MineClus": ("X = normal(20_000, 30)", "subspace.MineClus(0.02, width=0.5).fit(X)"),
    "read csv": ("p = written('csv', 400_000)", "read_table(p).array()"),
    "read csv, wide": ("p = written('csv', 60, 20_000)", "read_table(p).array()"),
    "read csv with labels": ("p = written('csv', 300_000, text=True)", "read_table(p, label='word').array()"),
    "read csv with an error": ("p = written('csv', 400_000, end='1,x')", "refused(read_table, p)"),
    "read csv.gz": ("p = written('csv.gz', 300_000)", "read_table(p).array()"),
    "read csv.bz2": ("p = written('csv.bz2', 100_000)", "read_table(p).array()"),
    "read csv.zst": ("p = written('csv.zst', 300_000)", "read_table(p).array()"),
    "read parquet": ("p = written('parquet', 1_500_000)", "read_table(p).array()"),
    "read parquet with labels": ("p = written('parquet', 500_000, text=True)", "read_table(p, label='word').array()"),
    "read feather": ("p = written('feather', 1_500_000)", "read_table(p).array()"),
    "read npy": ("p = written('npy', 1_500_000)", "read_table(p).array()"),
    "read npy, mapped": ("p = written('npy', 4_000_000)", "PCA(2).fit(read_table(p).X)"),
    "read npy, some columns": ("p = written('npy', 4_000_000)", "read_table(p, drop=['x1']).array()"),
    "read npz": ("p = written('npz', 1_500_000)", "read_table(p).array()"),
    "read npz, compressed": ("p = written('npz', 1_000_000, small=True)", "read_table(p).array()"),
    "write csv": ("X = normal(200_000, 10); p = folder / 'w.csv'", "write_table(p, X)"),
    "save and load": ("m = KernelPCA().fit(normal(4000, 500)); p = folder / 'm.lowdim'", "save(m, p); load(p)"),
}


def names(folder: Path) -> dict[str, Any]:
    """What the cases are written in."""
    import gzip

    import numpy as np
    import scipy.sparse as sp

    import lowdim

    rng = np.random.default_rng(0)

    def curved(n: int) -> Any:
        t, s = rng.uniform(2, 10, n), rng.uniform(0, 9, n)
        return np.c_[t * np.cos(t), s, t * np.sin(t), 0.05 * rng.standard_normal((n, 7))]

    def islands(n: int) -> Any:
        return rng.standard_normal((n, 5)) + 50 * rng.integers(0, 9, (n, 5))

    def holes(n: int, d: int) -> Any:
        X = rng.standard_normal((n, d))
        return np.where(rng.random(X.shape) < 0.1, np.nan, X)

    def distances(n: int) -> Any:
        x = rng.standard_normal(n)
        return np.abs(x[:, None] - x)

    def written(ending: str, n: int, d: int = 10, *, text: bool = False, end: str = "", small: bool = False) -> Path:
        """A file of n rows and d columns of random numbers."""
        import pyarrow as pa
        import pyarrow.csv
        import pyarrow.feather
        import pyarrow.parquet

        path, X = folder / f"table.{ending}", rng.standard_normal((n, d))
        if ending == "npy":
            np.save(path, X)
        elif ending == "npz":
            (np.savez_compressed if small else np.savez)(path, X=X)
        else:
            table = pa.table({f"x{j}": column for j, column in enumerate(X.T)})
            table = table.append_column("word", pa.array([f"w{i % 999}" for i in range(n)])) if text else table
            if ending == "parquet":
                pyarrow.parquet.write_table(table, path)
            elif ending == "feather":
                pyarrow.feather.write_feather(table, path)
            elif ending in ("csv", "csv.gz"):
                with gzip.open(path, "wb", 1) if ending == "csv.gz" else path.open("wb") as stream:
                    pyarrow.csv.write_csv(table, stream)
                    stream.write(end.encode())
            else:
                with pa.output_stream(str(path), compression={"bz2": "bz2", "zst": "zstd"}[ending[4:]]) as stream:
                    pyarrow.csv.write_csv(table, stream)
        return path

    def refused(read: Any, path: Path) -> None:
        try:
            read(path)
        except lowdim.errors.LowdimError:
            return
        raise AssertionError(f"{path} was read")

    own = {
        "np": np,
        "folder": folder,
        "normal": lambda *shape: rng.standard_normal(shape),
        "sparse": lambda n, d: sp.random_array((n, d), density=0.004, format="csr", rng=rng),
        **{f.__name__: f for f in (curved, islands, holes, distances, written, refused)},
    }
    return own | {name: getattr(lowdim, name) for name in dir(lowdim)}


def run_case(pipe: Any, prepare: str, work: str, folder: str) -> None:
    """In the child: say how long a run takes, and then how each run ends that the parent asks for and interrupts."""
    from lowdim.runtime import threads

    warnings.simplefilter("ignore")
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell lets what runs in the background ignore it
    place = names(Path(folder))
    exec(prepare, place)  # the cases above alone
    code = compile(work, "case", "exec")
    with (Path(folder) / "running").open("w") as running:
        faulthandler.register(signal.SIGUSR1, running, all_threads=False)
        start = time.monotonic()
        exec(code, place)
        pipe.send(time.monotonic() - start)
        while pipe.recv():
            finished = False
            try:
                pipe.send("started")
                exec(code, place)
                finished = True
                time.sleep(GIVE_UP)
            except KeyboardInterrupt:
                caught, after = time.monotonic(), processor_seconds()
            for call in [call for call in threads._calls if call.is_alive()]:  # abandoned, and slow for the next try
                call.join()
            pipe.send((finished, caught, after))


def processor_seconds(process: int | str | None = "self") -> dict[str, float]:
    """Seconds that each thread of a process has spent on a processor, by its id; empty where the system can't tell."""
    found = {}
    for task in Path(f"/proc/{process}/task").glob("*"):
        with suppress(OSError):  # it has just ended
            found[task.name] = int((task / "schedstat").read_text().split()[0]) / 1e9
    return found


Measured = tuple[list[float], list[float], int, dict[float, str]]


def measure(case: str, tries: int, chance: random.Random, folder: Path) -> Measured:
    """The delays, the busiest thread's seconds in them, how many runs had finished, and what ran at the slow ones."""
    pipe, other = multiprocessing.Pipe()
    folder.mkdir()
    process = multiprocessing.get_context("spawn").Process(target=run_case, args=(other, *CASES[case], str(folder)))
    process.start()
    other.close()
    try:
        longest = min(pipe.recv(), LONGEST)
        delays, busy, finished, lines = [], [], 0, {}
        for _ in range(tries):
            pipe.send(True)
            pipe.recv()
            time.sleep(longest * chance.random())
            before, sent = processor_seconds(process.pid), time.monotonic()
            os.kill(process.pid or 0, signal.SIGINT)
            if not pipe.poll(SLOW):
                os.kill(process.pid or 0, signal.SIGUSR1)
                if not pipe.poll(GIVE_UP):
                    raise SystemExit(f"{case}: no answer to Ctrl-C for {GIVE_UP} s\n{stack(folder)}")
            ended, caught, after = pipe.recv()
            finished += ended
            if not ended:
                delays.append(caught - sent)
                busy.append(max((seconds - before.get(task, 0.0) for task, seconds in after.items()), default=0.0))
                if caught - sent > SLOW:
                    lines[caught - sent] = stack(folder)
        pipe.send(False)
        process.join()
        return delays, busy, finished, lines
    finally:
        process.kill()


def stack(folder: Path) -> str:
    """The last lines that faulthandler wrote, innermost first, as module:line."""
    last = (folder / "running").read_text().rpartition("Stack")[2]
    found = re.findall(r'File "(.*?)", line (\d+) in (\S+)', last)
    return " < ".join(f"{'/'.join(file.split('/')[-2:])}:{line} {name}" for file, line, name in found[:6])


def main() -> int:
    """Measure the chosen cases; exit code 1 if one is above the limit."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tries", type=int, default=7)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("words", nargs="*")
    options = parser.parse_args()
    chosen = [case for case in CASES if not options.words or any(word in case for word in options.words)]
    chance, worst, interrupted, ended = random.Random(options.seed), 0.0, 0, 0
    print(f"{'case':40}{'tries':>6}{'ended':>6}{'median':>9}{'worst':>9}{'at work':>9}")
    with tempfile.TemporaryDirectory() as folder:
        for number, case in enumerate(chosen):
            delays, busy, finished, lines = measure(case, options.tries, chance, Path(folder) / str(number))
            middle, top = (1000 * f(delays or [0.0]) for f in (statistics.median, max))
            work = 1000 * max(busy, default=0.0)
            print(f"{case:40}{options.tries:6}{finished:6}{middle:6.0f} ms{top:6.0f} ms{work:6.0f} ms", flush=True)
            for delay, line in sorted(lines.items()):
                print(f"    {1000 * delay:.0f} ms: {line}", flush=True)
            worst, interrupted, ended = max(worst, top), interrupted + len(delays), ended + finished
    print(f"{len(chosen)} cases: {interrupted} interrupted, {ended} had ended, worst {worst:.0f} ms")
    return 1 if worst > 1000 * LIMIT else 0


if __name__ == "__main__":
    sys.exit(main())
