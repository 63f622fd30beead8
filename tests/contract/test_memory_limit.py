"""A limit of memory is an error of lowdim's or Python's own, never the end of the process."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

resource = pytest.importorskip("resource")
pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc and RLIMIT_AS")

# Each fit is a fork of one process that has imported everything, with a few MiB left to it.
DRIVER = """
import json, os, resource, sys, warnings
import numpy as np, lowdim
warnings.simplefilter("ignore")
X = np.random.default_rng(0).normal(size=(700, 80))
y = np.arange(700) % 4
tables = {"CA": np.abs(X), "MCA": np.rint(X) % 3}
options = {"TSNE": {"max_iter": 5}, "UMAP": {"n_epochs": 5}, "MDS": {"max_iter": 2}, "NonmetricMDS": {"max_iter": 2}}

def outcome(cls, options, room):
    with open("/proc/self/statm") as file:
        size = int(file.read().split()[0]) * resource.getpagesize()
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (int(size + room * 2**20), hard))
    try:
        table = tables.get(cls.__name__, X)
        cls(**options).fit(table, y if cls._method.supervised else None).transform(table[:9])
        return "fitted"
    except MemoryError:
        return "MemoryError"
    except BaseException as error:
        return f"{type(error).__name__}: {error}"
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (hard, hard))

found = {}
for method in lowdim.methods():
    table = tables.get(method.name, X)
    method.cls(**options.get(method.name, {})).fit(table[:40], y[:40] if method.supervised else None)
    for room in map(float, sys.argv[1:]):
        reading, writing = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.write(writing, outcome(method.cls, options.get(method.name, {}), room).encode()[:1000])
            os._exit(0)
        os.close(writing)
        said = os.read(reading, 1000).decode()
        os.close(reading)
        found.setdefault(method.name, []).append([said, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])])
print(json.dumps(found))
"""
ROOMS = ("0", "55", "100", "115")  # MiB, around what threads and BLAS take


def test_too_little_memory_is_an_error():
    done = subprocess.run([sys.executable, "-c", DRIVER, *ROOMS], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for name, outcomes in json.loads(done.stdout).items():
        assert all(code == 0 for _, code in outcomes), (name, outcomes, done.stderr)
        assert {said for said, _ in outcomes} <= {"fitted", "MemoryError"}, (name, outcomes)
        assert outcomes[0][0] == "MemoryError", name
