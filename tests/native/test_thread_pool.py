"""The pool of threads: in forked processes, and used by several threads at once."""

from __future__ import annotations

import os
import threading

import numpy as np
import pytest

from determinism import digest
from lowdim import neighbors
from subprocesses import run_python


def work(threads: int) -> str:
    X = np.random.default_rng(0).standard_normal((2000, 10)).astype(np.float32)
    return digest(neighbors(X, 10, n_jobs=threads).indices)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_process_has_threads_of_its_own():
    code = """
        import os, warnings
        import numpy as np
        from lowdim import neighbors
        warnings.simplefilter("ignore")  # Python warns of forking a process with threads

        def work():
            X = np.random.default_rng(0).standard_normal((2000, 10)).astype(np.float32)
            return neighbors(X, 10, n_jobs=3).indices.tobytes()

        before = work()
        child = os.fork()
        if child == 0:
            os._exit(0 if work() == before else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert work() == before
        print("same")
    """
    assert run_python(code, timeout=60) == "same"


def test_several_threads_may_use_it_at_once():
    alone, found = work(1), []
    users = [threading.Thread(target=lambda: found.append(work(4))) for _ in range(5)]
    for user in users:
        user.start()
    for user in users:
        user.join()
    assert set(found) == {alone} and len(found) == 5
