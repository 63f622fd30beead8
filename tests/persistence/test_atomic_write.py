"""Writing a model file is all or nothing."""

from __future__ import annotations

import os
import pathlib

import numpy as np
import pytest
from safetensors import SafetensorError

from lowdim import PCA
from lowdim.errors import BadParameter, MemoryTooSmall, ModelFileError
from lowdim.persistence import container, load, save

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
