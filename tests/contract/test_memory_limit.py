"""A limit of memory is an error of lowdim's or Python's own, never the end of the process."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import lowdim

resource = pytest.importorskip("resource")
pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc and RLIMIT_AS")

# Each fit is a fork of one process that has imported everything, with a few MiB left to it.
DRIVER = """
import json, os, resource, sys, warnings
import numpy as np, lowdim
warnings.simplefilter("ignore")
name, rooms = sys.argv[1], [float(word) for word in sys.argv[2:]]
cls, X = getattr(lowdim, name), np.random.default_rng(0).normal(size=(1200, 100))
options = {"TSNE": {"max_iter": 5}, "UMAP": {"n_epochs": 5}, "MDS": {"max_iter": 2}, "NonmetricMDS": {"max_iter": 2}}
cls(**options.get(name, {})).fit(X[:40])
found = []
for room in rooms:
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        with open("/proc/self/statm") as file:
            size = int(file.read().split()[0]) * resource.getpagesize()
        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        resource.setrlimit(resource.RLIMIT_AS, (int(size + room * 2**20), hard))
        try:
            cls(**options.get(name, {})).fit(X).transform(X[:9])
            outcome = "fitted"
        except MemoryError as error:
            outcome = "MemoryError"
        except BaseException as error:
            outcome = f"{type(error).__name__}: {error}"
        resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
        os.write(writing, outcome.encode()[:1000])
        os._exit(0)
    os.close(writing)
    said = os.read(reading, 1000).decode()
    os.close(reading)
    found.append([said, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])])
print(json.dumps(found))
"""
ROOMS = ("0", "20", "55", "98", "110", "125")  # MiB, around what threads and BLAS take


@pytest.mark.parametrize("name", [method.name for method in lowdim.methods()])
def test_too_little_memory_is_an_error(name):
    done = subprocess.run([sys.executable, "-c", DRIVER, name, *ROOMS], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert all(code == 0 for _, code in found), (found, done.stderr)
    assert {said for said, _ in found} <= {"fitted", "MemoryError"}
    assert found[0][0] == "MemoryError"
