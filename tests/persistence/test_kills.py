"""Processes that are killed while they write: whatever is read afterwards is whole, the old file or the new one."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

import lowdim
from lowdim import PCA, UMAP
from lowdim.data.io.write import write_table

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs signals")

KILLS = int(os.environ.get("LOWDIM_KILLS", "6"))  # the suite's short slice; a full count takes minutes

# A fork of one process that has imported everything writes again and again until it is killed, at a random instant.
DRIVER = """
import os, random, signal, sys, time
import numpy as np, lowdim, lowdim.persistence, lowdim.workflow.outputs
from pathlib import Path
from lowdim.cli import main
what, folder, kills = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
X = np.random.default_rng(0).normal(size=(400, 30))
models = [lowdim.PCA(k).fit(X) for k in (2, 20)]
draw = random.Random(what)
os.chdir(folder)

def work():
    while True:
        if what == "save":
            for model in models:
                lowdim.save(model, "model.lowdim")
        elif what == "checkpoint":
            lowdim.UMAP(n_epochs=2000, n_neighbors=5, init="random", checkpoint="fit.checkpoint", n_jobs=1).fit(X[:60])
            os.unlink("fit.checkpoint")
        else:
            sys.stdout = None
            for k in (1, 2):
                main(["map", "rows.npy", "--n-components", str(k), "-o", "map.csv", "--quiet"])

for _ in range(kills):
    pid = os.fork()
    if pid == 0:
        try:
            work()
        finally:
            os._exit(1)
    time.sleep(draw.uniform(0.005, 0.15))
    os.kill(pid, signal.SIGKILL)
    status = os.waitpid(pid, 0)[1]
    assert os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL, status
    if what == "save":
        assert lowdim.load("model.lowdim").n_components in (2, 20)
    elif what == "checkpoint" and os.path.exists("fit.checkpoint"):
        from safetensors import safe_open
        with safe_open("fit.checkpoint", framework="np") as file:
            assert int(file.metadata()["done"]) % 50 == 0
    elif what == "output":
        assert lowdim.read_table("map.csv").array().shape in ((400, 1), (400, 2))
    drafts = [name for name in os.listdir() if name.endswith(".part")]
    assert len(drafts) <= 1, drafts
    print(len(drafts))
"""


@pytest.mark.parametrize("what", ["save", "checkpoint", "output"])
def test_a_killed_process_leaves_whole_files_and_at_most_its_own_draft(what, tmp_path):
    X = np.random.default_rng(0).normal(size=(400, 30))
    np.save(tmp_path / "rows.npy", X)
    lowdim.save(PCA(2).fit(X), tmp_path / "model.lowdim")
    write_table(tmp_path / "map.csv", X[:, :2])
    done = subprocess.run([sys.executable, "-c", DRIVER, what, tmp_path, str(KILLS)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.split()) == KILLS
    lowdim.save(PCA(3), tmp_path / "model.lowdim")  # sweeps what is left
    assert not list(tmp_path.glob(".*.part"))
    if what == "checkpoint" and (tmp_path / "fit.checkpoint").exists():
        options = {"n_epochs": 2000, "n_neighbors": 5, "init": "random"}
        resumed = UMAP(**options, checkpoint=tmp_path / "fit.checkpoint", n_jobs=1).fit(X[:60])
        np.testing.assert_array_equal(resumed.embedding_, UMAP(**options).fit(X[:60]).embedding_)
