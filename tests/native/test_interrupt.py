"""Ctrl-C: prompt inside native loops, LAPACK and whole fits, and nothing half-fitted is left behind."""

from __future__ import annotations

import gzip
import signal
import sys
import textwrap

import pytest

from subprocesses import run_python

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")

PREAMBLE = """
import os, signal, threading, time, warnings, numpy as np
import lowdim
from lowdim import *
from lowdim import _native
warnings.simplefilter("ignore")
rng = np.random.default_rng(0)

def press(after):
    threading.Timer(after, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    return time.monotonic() + after

def soon(due):
    late = time.monotonic() - due
    return "soon" if late < 5 else f"{late:.1f} seconds late"

def stop(model, X, task=None):
    '''Ctrl-C inside a fit: a second after its start, or a moment after the first report of a task.'''
    few = X[:100, :5]
    fitted = type(model)(2).fit(few)
    model.__dict__.update({name: value for name, value in vars(fitted).items() if name.endswith("_")})
    due = [] if task else [press(1.0)]
    def watcher(step):
        if step.task == task and not due:
            due.append(press(0.1))
    try:
        with lowdim.watch(watcher):
            for _ in range(50):
                model.fit(X)
    except KeyboardInterrupt:
        print(soon(due[0]), [name for name in vars(model) if name.endswith("_")], end=" ")
    print(type(model)(2).fit_transform(few).shape, flush=True)
    os._exit(0)  # what can't be stopped is not waited for
"""


def run(body: str) -> str:
    return run_python(PREAMBLE + textwrap.dedent(body), timeout=60)


@pytest.mark.parametrize("threads", [1, 4])
def test_inside_a_native_loop(threads):
    out = run(f"""
        due = press(0.3)
        try:
            _native.idle(30.0, {threads})
        except KeyboardInterrupt:
            print(soon(due))
    """)
    assert out == "soon"


def test_python_ends_well_while_lapack_runs_on():
    """It used memory that was freed at exit, and the process died of that."""
    out = run("""
        X = rng.standard_normal((1500, 1200))
        press(0.6)
        try:
            while True:
                PCA(2, solver="svd").fit(X)
        except KeyboardInterrupt:
            print("interrupted")
    """)
    assert out == "interrupted"


def test_default_handler_is_left_alone():
    import lowdim

    before = signal.getsignal(signal.SIGINT)
    lowdim.PCA(1).fit([[1.0, 2.0], [2.0, 1.0], [0.0, 0.0]])
    assert signal.getsignal(signal.SIGINT) is before


# Name: the model, its rows and, where Ctrl-C comes when that is first heard of, the task.
FITS = {
    "LAPACK": "PCA(2, solver='svd'), rng.standard_normal((3000, 2500))",
    "FastICA": "ICA(algorithm='fastica', tol=1e-300, max_iter=10**8), rng.standard_normal((200_000, 40)), 'FastICA'",
    "shortest paths": "Isomap(n_neighbors=8), rng.standard_normal((6000, 5))",
    "SGD of UMAP": "UMAP(n_epochs=10**6), rng.standard_normal((400, 5)).astype('f4')",
    "filter of LLE": "LLE(solver='chebyshev', tol=1e-13), rng.standard_normal((12_000, 7)), 'eigenvectors'",
    "filter of LTSA": "LLE(solver='chebyshev', method='ltsa', tol=1e-13), rng.standard_normal((12_000, 7)), "
    "'eigenvectors'",
    "a sparse factorization": "LLE(solver='factor'), rng.standard_normal((5000, 7)), 'sparse factorization'",
    "filter of Laplacian": "LaplacianEigenmaps(8, affinity='binary'), rng.standard_normal((12_000, 7)), 'eigenvectors'",
    "several starts at once": "MDS(n_init=6, n_jobs=2, max_iter=10**8, tol=0.0), rng.standard_normal((700, 8))",
    "SMACOF": "MDS(max_iter=10**8, tol=0.0), rng.standard_normal((5000, 8))",
    "isotonic regression": "NonmetricMDS(n_init=2, n_jobs=2, max_iter=10**8, tol=0.0), rng.standard_normal((400, 8))",
    "SGD of MDS": "MDS(solver='sgd', max_iter=10**7), rng.standard_normal((5000, 60)).astype('f4')",
    "pairwise distances": "ClassicalMDS(metric='manhattan', n_jobs=1), rng.standard_normal((5000, 1800)).astype('f4')",
    "distances by a callable": "ClassicalMDS(metric=lambda x, y: abs(x - y).sum()), rng.standard_normal((5000, 9))",
    "a Gram matrix": "KernelPCA(50, kernel='laplacian', solver='lanczos', tol=1e-300), "
    "rng.standard_normal((5000, 60)).astype('f4')",
}


@pytest.mark.parametrize("what", FITS)
def test_inside_a_fit(what):
    """Also while whole fits run in other threads, which hear no signals."""
    out = run(f"""
        from lowdim.manifold.laplacian import embedding as waves
        waves.TOL = 1e-13
        stop({FITS[what]})
    """)
    assert out == "soon [] (100, 2)"


def test_while_a_file_is_read(tmp_path):
    """The reader is left at once, and the file is read whole the next time."""
    pytest.importorskip("pyarrow")
    out = run(f"""
        import gzip, pathlib, pyarrow as pa, pyarrow.csv, pyarrow.feather, pyarrow.parquet
        X = rng.integers(0, 9, (5000, 5)).astype(float)
        wide = rng.integers(0, 9, (3, 1000)).astype(float)

        def write(path):
            table = pa.table({{f"x{{j}}": column for j, column in enumerate((wide if "wide" in path.name else X).T)}})
            if path.suffix in (".csv", ".gz"):
                with (gzip.open if path.suffix == ".gz" else open)(path, "wb") as stream:
                    pyarrow.csv.write_csv(table, stream)
                    stream.write(b"wrong" if "wrong" in path.name else b"")
            elif path.suffix in (".npy", ".npz"):
                np.save(path, X) if path.suffix == ".npy" else np.savez_compressed(path, X=X)
            elif path.suffix == ".parquet":
                pyarrow.parquet.write_table(table, path)
            else:
                pyarrow.feather.write_feather(table, path)

        def whole(path):
            try:
                return np.array_equal(lowdim.read_table(path).array(), wide if "wide" in path.name else X)
            except lowdim.errors.BadInput as error:
                return "wrong" in path.name and "the first line has 5" in str(error)

        for name in ("x.csv", "wide.csv", "wrong.csv", "x.csv.gz", "x.parquet", "x.feather", "x.npy", "x.npz"):
            path = pathlib.Path({str(tmp_path)!r}) / name
            write(path)
            due = press(0.1)
            try:
                while True:
                    whole(path)
            except KeyboardInterrupt:
                print(name, soon(due), whole(path))
    """)
    assert [line.split()[1:] for line in out.splitlines()] == [["soon", "True"]] * 8, out


def test_python_ends_well_after_a_compressed_file(tmp_path):
    """pyarrow read ahead through a Python object while Python ended, and the process died of that."""
    pytest.importorskip("pyarrow")
    path = tmp_path / "x.csv.gz"
    with gzip.open(path, "wb", 1) as stream:
        stream.write(b"a,b\n" + b"0.123456,7.891234\n" * 1_000_000)
    for _ in range(3):
        out = run(f"""
            press(0.6)
            try:
                while True:
                    lowdim.read_table({str(path)!r})
            except KeyboardInterrupt:
                print("interrupted")
        """)
        assert out == "interrupted"
