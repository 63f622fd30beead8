"""Every command wherever it may run: closed, broken or full streams, no terminal, an ASCII locale.

One process imports everything; each run is a fork of it, whose streams and environment are then changed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import lowdim
from lowdim import PCA

pytest.importorskip("typer")
pytest.importorskip("pyarrow")
pytestmark = pytest.mark.skipif(not hasattr(os, "fork") or not os.path.exists("/dev/full"), reason="needs Linux")

COMMANDS = {
    "help": "map --help",
    "map": "map data.csv --label kind -o m.csv --save-model m.lowdim",
    "fit": "fit data.csv --label kind -o f.lowdim --n-components 1",
    "transform": "transform model.lowdim data.csv --label kind -o t.csv",
    "inverse": "inverse model.lowdim z.npy -o x.csv",
    "choose": "choose data.csv --label kind --replicates 3",
    "diagnose": "diagnose data.csv --label kind",
    "subspace": "subspace data.csv --label kind --tau 0.1 -o s.csv",
    "methods": "methods pca",
    "datasets": "datasets --json",
    "config": "config",
    "refused": "map n\N{LATIN SMALL LETTER O WITH DIAERESIS}thing.csv",
}
WRITTEN = {
    "map": ["m.csv", "m.lowdim"],
    "fit": ["f.lowdim"],
    "transform": ["t.csv"],
    "inverse": ["x.csv"],
    "subspace": ["s.csv"],
}
STREAMS = ("plain", "closed stderr", "closed all", "broken both", "full", "ascii")

DRIVER = """
import io, json, os, sys, tempfile
from lowdim.cli import main
import importlib, pkgutil
import lowdim, lowdim.choose, lowdim.cli, lowdim.diagnosis, lowdim.workflow, pyarrow.csv

# Each fork would import what its command needs.
for room in (lowdim.cli, lowdim.workflow, lowdim.choose, lowdim.diagnosis, lowdim.subspace):
    for module in pkgutil.iter_modules(room.__path__, room.__name__ + "."):
        importlib.import_module(module.name)
lowdim.methods(), lowdim.load, lowdim.save

def stream(fd, encoding):
    return io.TextIOWrapper(io.FileIO(fd, "w", closefd=False), encoding=encoding, write_through=True)

def arrange(kind, out, err):
    os.dup2(out, 1), os.dup2(err, 2)
    sys.stdin = None
    os.close(0)
    os.open(os.devnull, os.O_RDONLY)  # no terminal
    reading, writing = os.pipe()
    os.close(reading)
    if kind in ("broken pipe", "broken both"):
        os.dup2(writing, 1)
    if kind == "broken both":
        os.dup2(writing, 2)
    if kind == "full":
        os.dup2(os.open("/dev/full", os.O_WRONLY), 1)
    closed = {"closed stdout": [1], "closed stderr": [2], "closed all": [0, 1, 2]}.get(kind, [])
    encoding = "ascii" if kind == "ascii" else "utf-8"
    sys.stdout = None if 1 in closed else stream(1, encoding)
    sys.stderr = None if 2 in closed else stream(2, encoding)
    for fd in closed:
        os.close(fd)

results = []
for folder, kind, words in json.load(sys.stdin):
    out, err = tempfile.TemporaryFile(), tempfile.TemporaryFile()
    pid = os.fork()
    if pid == 0:
        os.chdir(folder)
        arrange(kind, out.fileno(), err.fileno())
        code = 99
        try:
            code = main(words)
            for s in (sys.stdout, sys.stderr):
                if s is not None:
                    s.flush()  # as the interpreter does at exit
        finally:
            os._exit(code)
    status = os.waitpid(pid, 0)[1]
    texts = []
    for file in (out, err):
        file.seek(0)
        texts.append(file.read().decode("utf-8"))
    results.append([os.waitstatus_to_exitcode(status), *texts])
json.dump(results, sys.stdout)
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory) -> dict[tuple[str, str], tuple[int, str, str, Path]]:
    runs = []
    for kind in STREAMS:
        for command, line in COMMANDS.items():
            folder = tmp_path_factory.mktemp("run")
            X = np.random.default_rng(0).normal(size=(12, 3))
            lines = [f"{a},{b},{c},s\N{LATIN SMALL LETTER O WITH DIAERESIS}rt {i % 2}" for i, (a, b, c) in enumerate(X)]
            header = "gr\N{LATIN SMALL LETTER O WITH DIAERESIS}sse,b,c,kind"
            (folder / "data.csv").write_text("\n".join([header, *lines]), encoding="utf-8")
            lowdim.save(PCA(2).fit(X), folder / "model.lowdim")
            np.save(folder / "z.npy", X[:, :2])
            runs.append((str(folder), kind, line.split(), command))
    done = subprocess.run(
        [sys.executable, "-c", DRIVER],
        input=json.dumps([run[:3] for run in runs]),
        capture_output=True,
        text=True,
        env=os.environ | {"MPLBACKEND": "agg", "LOWDIM_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    return {(run[1], run[3]): (*result, Path(run[0])) for run, result in zip(runs, found, strict=True)}


@pytest.mark.parametrize("kind", STREAMS)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_ends_well(results, kind, command):
    """The right exit code, at most one line of error, and files that are whole whoever reads the output."""
    code, out, err, folder = results[kind, command]
    assert code == (3 if command == "refused" or kind == "full" else 0), err
    assert "Traceback" not in err and "unexpected" not in err
    assert err.count("\n") <= 1
    if command != "refused" and kind != "full":
        assert err == ""
        assert bool(out) == (kind in ("plain", "closed stderr", "ascii"))
    if kind in ("closed all", "broken both") or command == "refused":
        assert out == ""
    for name in WRITTEN.get(command, ()):
        whole = (folder / name).read_bytes()
        assert whole == (results["plain", command][3] / name).read_bytes()
    assert not list(folder.glob(".*"))


def test_without_any_environment(tmp_path):
    """No HOME, no LANG, no PATH: the file and the picture are written, and no library complains of a missing folder."""
    np.savetxt(tmp_path / "data.csv", np.random.default_rng(0).normal(size=(12, 3)), delimiter=",")
    words = ["map", "data.csv", "-o", "m.csv", "-o", "m.png"]
    code = "import sys; from lowdim.cli import main; sys.exit(main(sys.argv[1:]))"
    done = subprocess.run(
        [sys.executable, "-c", code, *words], cwd=tmp_path, env={}, stdin=subprocess.DEVNULL, capture_output=True
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert (tmp_path / "m.png").read_bytes()[1:4] == b"PNG" and (tmp_path / "m.csv").stat().st_size
