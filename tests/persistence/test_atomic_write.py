"""Writing a model file is all or nothing."""

from __future__ import annotations

import os
import pathlib
import re
import signal
import subprocess
import sys

import numpy as np
import pytest
from safetensors import SafetensorError

from lowdim import PCA, UMAP, plot
from lowdim.data.io.write import write_table
from lowdim.errors import BadInput, BadParameter, MemoryTooSmall, ModelFileError
from lowdim.persistence import container, load, save
from lowdim.runtime.atomic_write import atomic_write, sweep_drafts

ROWS = np.random.default_rng(0).normal(size=(40, 5))


def fails(error):
    def work(*args, **kwargs):
        raise error

    return work


FAILURES = {
    "rename": (os, "replace", OSError("no rename")),
    "flush": (os, "fsync", OSError("no flush")),
    "write": (container, "save_file", SafetensorError("disk full")),
    "Ctrl-C": (os, "fsync", KeyboardInterrupt()),
    "permission": (pathlib.Path, "touch", PermissionError("not yours")),
}


@pytest.mark.parametrize("old", [True, False], ids=["over an old file", "to a new one"])
@pytest.mark.parametrize("failure", FAILURES)
def test_a_failed_save_changes_nothing(failure, old, tmp_path, monkeypatch):
    path = tmp_path / "model.lowdim"
    if old:
        save(PCA(1).fit(ROWS), path)
    before = {name: (tmp_path / name).read_bytes() for name in os.listdir(tmp_path)}
    owner, name, error = FAILURES[failure]
    with monkeypatch.context() as patch:
        patch.setattr(owner, name, fails(error))
        with pytest.raises(KeyboardInterrupt if failure == "Ctrl-C" else ModelFileError):
            save(PCA(2).fit(ROWS), path)
    assert {name: (tmp_path / name).read_bytes() for name in os.listdir(tmp_path)} == before


def test_a_full_disk_changes_nothing(tmp_path):
    """A write that the system itself cuts short."""
    resource = pytest.importorskip("resource")
    path = tmp_path / "model.lowdim"
    save(PCA(1), path)
    before = path.read_bytes()
    wide = PCA(2).fit(np.random.default_rng(0).normal(size=(40, 400)))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
    try:
        with pytest.raises(ModelFileError, match=r"can't write .*model\.lowdim"):
            save(wide, path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert path.read_bytes() == before and os.listdir(tmp_path) == ["model.lowdim"]


def draw(path):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    plot.save(plot.scatter(ROWS[:, :2]), path)


WRITERS = {
    "table.csv": lambda path: write_table(path, np.tile(ROWS, (40, 1))),
    "table.npz": lambda path: write_table(path, np.tile(ROWS, (40, 1))),
    "map.svg": draw,
    "map.html": lambda path: plot.page(ROWS[:, :2], path=path),
    "fit.checkpoint": lambda path: UMAP(500, n_epochs=60, init="random", checkpoint=path).fit(ROWS),
}


@pytest.mark.parametrize("name", WRITERS)
def test_a_full_disk_leaves_every_file_as_it_was(name, tmp_path):
    resource = pytest.importorskip("resource")
    path = tmp_path / name
    if name != "fit.checkpoint":
        path.write_bytes(b"old")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2048, hard))
    try:
        with pytest.raises(BadInput, match=f"can't write .*{name}"):
            WRITERS[name](path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert [(p.name, p.read_bytes()) for p in tmp_path.iterdir()] == [(name, b"old")] * (name != "fit.checkpoint")


def test_places_that_cant_be_written_are_named(tmp_path):
    with pytest.raises(ModelFileError, match="Choose a folder that exists"):
        save(PCA(), tmp_path / "nowhere" / "model.lowdim")
    with pytest.raises(ModelFileError, match="not a regular file"):
        save(PCA(), tmp_path)
    with pytest.raises(ModelFileError, match="can't write"):
        save(PCA(), "nul\0l")
    for wrong in (3, None, object()):
        with pytest.raises(BadParameter, match="path must be"):
            save(PCA(), wrong)
        with pytest.raises(BadParameter, match="path must be"):
            load(wrong)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes are of POSIX")
def test_a_device_or_pipe_is_neither_replaced_nor_waited_for(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(ModelFileError, match="not a regular file"):
        save(PCA(), pipe)
    assert pipe.is_fifo()
    with pytest.raises(ModelFileError, match="regular file"):
        load(pipe)


def test_links_and_permissions_are_kept(tmp_path):
    real, link = tmp_path / "real.lowdim", tmp_path / "link.lowdim"
    (tmp_path / "usual").touch()
    save(PCA(1), real)
    assert real.stat().st_mode == (tmp_path / "usual").stat().st_mode
    real.chmod(0o640)
    link.symlink_to(real)
    save(PCA(2), link)
    assert link.is_symlink() and load(real).n_components == 2
    assert real.stat().st_mode & 0o777 == 0o640


def test_limits_are_held_on_both_sides(tmp_path, monkeypatch):
    path = tmp_path / "model.lowdim"
    save(PCA(1), path)
    with monkeypatch.context() as patch:
        patch.setattr(container, "HEADER_LIMIT", 64)
        with pytest.raises(ModelFileError, match=r"can't write .*header takes \d+ bytes.*64"):
            save(PCA(2), path)
        with pytest.raises(ModelFileError, match=r"header takes \d+ bytes.*64"):
            load(path)
    assert load(path).n_components == 1
    monkeypatch.setattr("lowdim.runtime.memory.available_bytes", lambda: 100)
    with pytest.raises(MemoryTooSmall, match=r"model\.lowdim"):
        load(path)


KILLED_WRITER = """
import os, signal, sys
from lowdim.runtime.atomic_write import atomic_write
with atomic_write(sys.argv[1]) as draft:
    draft.write_bytes(b"half")
    print(draft.name, flush=True)
    if sys.argv[2] == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    sys.stdin.read()
"""


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_the_drafts_of_dead_processes_are_swept_and_those_of_live_ones_kept(tmp_path):
    target = tmp_path / "model.lowdim"
    save(PCA(1), target)
    command = [sys.executable, "-c", KILLED_WRITER]
    killed = subprocess.run([*command, target, "killed"], capture_output=True, text=True)
    dead = tmp_path / killed.stdout.strip()
    assert killed.returncode == -signal.SIGKILL and dead.read_bytes() == b"half"
    assert load(target).n_components == 1
    with subprocess.Popen(
        [*command, target, "waits"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as live:
        draft = tmp_path / live.stdout.readline().strip()
        foreign = [
            dead.with_name(re.sub(r"[0-9a-f]{12}-", "0123456789ab-", dead.name)),  # another machine, or before a boot
            tmp_path / ".model.lowdim.0123abcd.part",
            tmp_path / "model.part",
        ]
        for path in foreign:
            path.touch()
        save(PCA(2), tmp_path / "other.lowdim")
        assert not dead.exists() and draft.exists() and all(path.exists() for path in foreign)
        live.stdin.close()
    assert live.returncode == 0 and target.read_bytes() == b"half"


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="needs the start times of processes")
def test_a_process_id_that_was_used_again_does_not_keep_a_draft(tmp_path):
    with atomic_write(tmp_path / "a") as own:
        pid, start = re.search(r"-([0-9]+)-([0-9]+)-", own.name).groups()
        assert int(pid) == os.getpid()
        former = tmp_path / own.name.replace(f"-{pid}-{start}-", f"-{pid}-{int(start) - 1}-")
        former.touch()
        sweep_drafts(tmp_path)
        assert own.exists() and not former.exists()


@pytest.mark.parametrize(
    "name", ["a" * 255, "\N{CJK UNIFIED IDEOGRAPH-4E00}" * 85, "line\nbreak", os.fsdecode(b"\xff\xfe")]
)
def test_names_of_any_length_and_kind_can_be_written(name, tmp_path):
    try:
        (tmp_path / name).touch()
    except OSError:
        pytest.skip("not a name that this file system allows")
    with atomic_write(tmp_path / name) as draft:
        draft.write_bytes(b"new")
    assert (tmp_path / name).read_bytes() == b"new" and len(list(tmp_path.iterdir())) == 1
