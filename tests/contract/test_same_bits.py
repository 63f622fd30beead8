"""Same seed, same bits: in worker threads, in fits at once, in forked processes, beside other users of BLAS."""

from __future__ import annotations

import io
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import joblib
import numpy as np
import pytest
from threadpoolctl import threadpool_info

import lowdim
from determinism import QUICK, VARIANTS, digest, estimators, fit_digest, fit_other, others
from lowdim.runtime import blas
from lowdim.runtime.blas import run_single, single_blas
from other_estimators import apply, savable
from subprocesses import run_python
from targets import table_for, target_for

pytestmark = pytest.mark.filterwarnings("ignore:.*did not converge")  # fits are cut short
every_estimator = pytest.mark.parametrize("name", estimators())
alone = cache(fit_digest)  # in the main thread, with nothing beside it
HELPERS = str(Path(__file__).parents[1] / "helpers")


def blas_threads():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


class Beside:
    """Runs work() over and over in another thread, until the block ends."""

    def __init__(self, work):
        self.work, self.stop = work, threading.Event()
        self.thread = threading.Thread(target=self.run)

    def run(self):
        while not self.stop.is_set():
            self.work()

    def __enter__(self):
        self.thread.start()

    def __exit__(self, *error):
        self.stop.set()
        self.thread.join()


@every_estimator
def test_in_a_worker_thread(name):
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(fit_digest, name).result() == alone(name)


def test_several_fits_at_once():
    names = estimators() * 2
    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(fit_digest, names)) == [alone(name) for name in names]


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_in_joblib(backend):
    names = estimators()
    found = joblib.Parallel(n_jobs=2, backend=backend)(joblib.delayed(fit_digest)(name) for name in names)
    assert found == [alone(name) for name in names]


def test_while_another_thread_uses_blas():
    A = np.random.default_rng(0).normal(size=(300, 300))
    with Beside(lambda: np.linalg.eigh(A @ A.T)):
        for name in estimators():
            assert fit_digest(name) == alone(name)


def test_a_lapack_call_is_repeated_if_its_limit_was_lost():
    limits = [2, 1]  # what another library sets during the first call, and during the second
    calls = []

    def work():
        limit = limits[len(calls)]
        for controller in _controllers():
            controller._real_set_num_threads(limit) if hasattr(controller, "_real_set_num_threads") else (
                controller.set_num_threads(limit)
            )
        calls.append(limit)
        return len(calls)

    assert run_single(work) == 2


def _controllers():
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas").lib_controllers


def test_the_limit_of_blas_is_restored_whoever_set_it():
    before = blas_threads()
    inside = []

    def enter():
        with single_blas():
            inside.append(blas_threads())
            fit_digest("KernelPCA")

    with ThreadPoolExecutor(3) as pool:
        for _ in range(6):
            pool.submit(enter)
        with single_blas():
            assert set(blas_threads()) == {1}
    assert all(set(counts) == {1} for counts in inside) and len(inside) == 6
    assert blas_threads() == before


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_fork_waits_for_other_threads_in_blas(monkeypatch):
    pauses, entered, leave = [], threading.Event(), threading.Event()
    monkeypatch.setattr(blas, "_sleep", pauses.append)

    def inside():
        with single_blas():
            entered.set()
            leave.wait()

    with single_blas():
        blas._single.before_fork()  # only this thread is inside
    assert not pauses
    thread = threading.Thread(target=inside)
    thread.start()
    entered.wait()
    blas._single.before_fork()
    leave.set()
    thread.join()
    assert pauses == [blas.FORK_PAUSE]


@every_estimator
def test_after_load(name, tmp_path):
    if name in others():
        model, _, new = fit_other(name, 60)
        lowdim.save(savable(model), tmp_path / "model.lowdim")
        with ThreadPoolExecutor(1) as pool:
            found = pool.submit(apply, lowdim.load(tmp_path / "model.lowdim"), new).result()
        assert digest(found) == digest(apply(model, new))
        return
    rng = np.random.default_rng(0)
    method, options = VARIANTS.get(name, (name, {}))
    X, new = (table_for(method, rng.normal(size=(n, 6))) for n in (100, 9))
    options = options | ({"n_landmarks": 20} if "n_landmarks" in options else {})
    model = getattr(lowdim, method)(2, **QUICK.get(method, {}), **options).fit(X, target_for(method, X))
    lowdim.save(model, tmp_path / "model.lowdim")
    loaded = lowdim.load(tmp_path / "model.lowdim")
    with ThreadPoolExecutor(1) as pool:
        assert digest(pool.submit(loaded.transform, new).result()) == digest(model.transform(new))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_after_a_fork_also_while_another_thread_fits():
    code = """
        import os, sys, threading, warnings
        sys.path.insert(0, sys.argv[1])
        warnings.simplefilter("ignore")  # Python warns of forking a process with threads
        from determinism import estimators, fit_digest

        want = {name: fit_digest(name) for name in estimators()}

        def child_agrees(name):
            child = os.fork()
            if child == 0:
                try:
                    os._exit(0 if fit_digest(name) == want[name] else 1)
                except BaseException:
                    import traceback
                    traceback.print_exc()
                    os._exit(2)
            return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0

        failed = [name for name in want if not child_agrees(name)]
        stop = threading.Event()

        def fit_over_and_over():
            while not stop.is_set():
                for name in ("KernelPCA", "LLE", "ClassicalMDS distances", "UMAP"):
                    fit_digest(name)

        threads = [threading.Thread(target=fit_over_and_over) for _ in range(2)]
        for thread in threads:
            thread.start()
        failed += [name + " beside a fit" for name in want if not child_agrees(name)]
        stop.set()
        for thread in threads:
            thread.join()
        print(failed)
    """
    assert run_python(code, HELPERS, timeout=240) == "[]"


def test_pickled_models_give_the_same_bits_in_another_process():
    model = lowdim.KernelPCA(3).fit(np.random.default_rng(0).normal(size=(420, 24)))
    new = np.random.default_rng(1).normal(size=(30, 24))
    with joblib.parallel_config(backend="loky"):
        found = joblib.Parallel(n_jobs=2)(joblib.delayed(model.transform)(new) for _ in range(3))
    assert {digest(places) for places in found} == {digest(model.transform(new))}
    buffer = io.BytesIO()
    joblib.dump(model, buffer)
    buffer.seek(0)
    assert digest(joblib.load(buffer).transform(new)) == digest(model.transform(new))
