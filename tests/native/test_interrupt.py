"""Ctrl-C: prompt inside native loops and LAPACK, and nothing half-fitted is left behind."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")

PREAMBLE = """
import os, signal, threading, time, numpy as np
from lowdim import PCA, _native
def press(after):
    threading.Timer(after, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    return time.monotonic() + after
"""


def run(body: str) -> str:
    code = PREAMBLE + textwrap.dedent(body)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("threads", [1, 4])
def test_inside_a_native_loop(threads):
    out = run(f"""
        due = press(0.3)
        try:
            _native.idle(30.0, {threads})
        except KeyboardInterrupt:
            late = time.monotonic() - due
            print("stopped" if late < 5 else late)
    """)
    assert out == "stopped"


def test_inside_lapack():
    """The dense eigensolver can't be stopped, so it is left behind: the caller gets control at once."""
    out = run("""
        rng = np.random.default_rng(0)
        X = rng.standard_normal((3000, 2500))
        model = PCA(2, solver="svd").fit(X[:20, :5])
        press(1.0)
        try:
            for _ in range(50):
                model.fit(X)
        except KeyboardInterrupt:
            print("unfitted" if not hasattr(model, "components_") else "fitted")
            model.fit(X[:20, :5])
            print(model.n_components_, flush=True)
            os._exit(0)
    """)
    assert out.split() == ["unfitted", "2"]


def test_default_handler_is_left_alone():
    import lowdim

    before = signal.getsignal(signal.SIGINT)
    lowdim.PCA(1).fit([[1.0, 2.0], [2.0, 1.0], [0.0, 0.0]])
    assert signal.getsignal(signal.SIGINT) is before


def test_inside_a_layout():
    out = run("""
        from lowdim import UMAP
        X = np.random.default_rng(0).standard_normal((400, 5)).astype(np.float32)
        model = UMAP(n_epochs=5).fit(X)
        model.set_params(n_epochs=10_000_000)
        due = press(1.0)
        try:
            model.fit(X)
        except KeyboardInterrupt:
            late = time.monotonic() - due
            print("unfitted" if not hasattr(model, "embedding_") and late < 5 else late)
        print(len(model.set_params(n_epochs=5).fit(X).embedding_))
    """)
    assert out.split() == ["unfitted", "400"]


SPECTRA = {
    "a polynomial of weights": "LLE(solver='chebyshev', tol=1e-13), X, 'sharpening'",
    "a polynomial of patches": "LLE(solver='chebyshev', method='ltsa', tol=1e-13), X, 'sharpening'",
    "a sparse factor": "LLE(solver='factor'), X[:5000], 'sparse factor'",
    "waves": "LaplacianEigenmaps(8, affinity='binary'), X, 'sharpening'",
}


@pytest.mark.parametrize("name", SPECTRA)
def test_inside_a_spectrum(name):
    """Ctrl-C comes a moment after the first report of the solver."""
    out = run(f"""
        import lowdim
        from lowdim import LLE, LaplacianEigenmaps
        from lowdim.solve import waves
        waves.TOL = 1e-13
        X = np.random.default_rng(0).standard_normal((12_000, 7))
        model, X, task = {SPECTRA[name]}
        model.fit(X[:100])
        due = []
        def watcher(step):
            if step.task == task and not due:
                due.append(press(0.1))
        try:
            with lowdim.watch(watcher):
                for _ in range(20):
                    model.fit(X)
        except KeyboardInterrupt:
            late = time.monotonic() - due[0]
            print("unfitted" if not hasattr(model, "embedding_") and late < 5 else late)
        print(len(model.fit(X[:100]).embedding_), flush=True)
        os._exit(0)
    """)
    assert out.split() == ["unfitted", "100"]


SLOW = {
    "several starts at once": "MDS(n_init=6, n_jobs=2, max_iter=10**8, tol=0.0), X[:700, :8].astype(float)",
    "majorisation": "MDS(max_iter=10**8, tol=0.0), X[:, :8].astype(float)",
    "ranks": "NonmetricMDS(n_init=2, n_jobs=2, max_iter=10**8, tol=0.0), X[:400, :8].astype(float)",
    "meetings": "MDS(solver='sgd', max_iter=10**7), X",
    "measuring": "ClassicalMDS(metric='manhattan', n_jobs=1), np.tile(X, (1, 30))",
    "a function's distances": "ClassicalMDS(metric=lambda x, y: float(abs(x - y).sum())), X",
    "a kernel's matrix": "KernelPCA(50, kernel='laplacian', solver='lanczos', tol=1e-300), X",
}


@pytest.mark.parametrize("what", SLOW)
def test_inside_a_map_of_pairs(what):
    """Within about a second, also while whole fits run in other threads, which hear no signals."""
    out = run(f"""
        import warnings
        from lowdim import MDS, ClassicalMDS, KernelPCA, NonmetricMDS
        warnings.simplefilter("ignore")
        X = np.random.default_rng(0).standard_normal((5000, 60)).astype(np.float32)
        model, rows = {SLOW[what]}
        few = type(model)(2).fit(X[:20])
        model.__dict__.update({{name: value for name, value in vars(few).items() if name.endswith("_")}})
        due = press(1.0)
        try:
            model.fit(rows)
            print("not interrupted")
        except KeyboardInterrupt:
            late = time.monotonic() - due
            fitted = [name for name in vars(model) if name.endswith("_")]
            print(f"stopped {{fitted}}" if late < 5 else late, flush=True)
        os._exit(0)
    """)
    assert out == "stopped []"
