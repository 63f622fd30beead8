"""Files larger than the memory that their process may take: fitted and mapped, block by block."""

from __future__ import annotations

import json
import sys

import numpy as np
import pandas as pd
import pytest

import lowdim
from subprocesses import run_python

ROWS, FILES = 224_000, 8  # of 100 columns in float32: 85 MiB

LIMITED = """
import json, resource, sys
from pathlib import Path
import lowdim

folder = Path(sys.argv[1])
lowdim.PCA(2).fit_transform(folder / "0.parquet")  # what is imported, and the allocator of Arrow
with open("/proc/self/statm") as file:
    taken = int(file.read().split()[0]) * resource.getpagesize()
limit = 80 << 20
resource.setrlimit(resource.RLIMIT_AS, (taken + limit, resource.RLIM_INFINITY))
model = lowdim.PCA(2, n_jobs=1).fit(folder)
Z = model.transform(folder)
try:
    bytearray(2 * limit)
    allowed = True
except MemoryError:
    allowed = False
lowdim.save(model, sys.argv[2])
print(json.dumps([len(Z), Z[-1].tolist(), sum(f.stat().st_size for f in folder.iterdir()) > limit, allowed]))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc and RLIMIT_AS")
def test_a_folder_larger_than_the_memory_of_its_process(tmp_path):
    X = np.random.default_rng(0).normal(size=(ROWS // FILES, 100)).astype(np.float32)
    (tmp_path / "rows").mkdir()
    for i in range(FILES):
        frame = pd.DataFrame((i + 1) * X, columns=[f"x{j}" for j in range(100)])
        frame.to_parquet(
            tmp_path / "rows" / f"{i}.parquet", row_group_size=7000, compression=None, use_dictionary=False
        )
    n, last, larger, allowed = json.loads(run_python(LIMITED, str(tmp_path / "rows"), str(tmp_path / "m.lowdim")))
    assert n == ROWS and larger and not allowed
    everything = np.concatenate([(i + 1) * X for i in range(FILES)])
    here = lowdim.PCA(2).fit(pd.DataFrame(everything, columns=[f"x{j}" for j in range(100)]))
    assert np.array_equal(lowdim.load(tmp_path / "m.lowdim").components_, here.components_)
    assert np.array_equal(here.transform(frame[-1:])[0], last)
