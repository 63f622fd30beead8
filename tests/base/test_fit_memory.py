"""The memory of a fit is estimated before it, near to what it takes, and refused if there is less."""

from __future__ import annotations

import json
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

import lowdim
from lowdim.base import fit_memory
from lowdim.cli import main, runner
from lowdim.data.rows import Rows as BaseRows
from lowdim.errors import MemoryTooSmall
from lowdim.runtime import memory

ESTIMATED = [method for method in lowdim.methods() if method.cls._fit_memory is not None]
LIMITED = {
    "KernelPCA": "nystrom",
    "Isomap": "n_landmarks",
    "LLE": "Isomap",
    "MDS": "sgd",
    "ClassicalMDS": "n_landmarks",
}


class Rows(BaseRows):
    """Rows that nobody may read."""

    def __init__(self, n, d):
        self.n, self.d, self.dtype = n, d, np.dtype(np.float64)

    def block(self, start, stop):
        raise AssertionError("the rows were read")


@pytest.mark.parametrize("method", ESTIMATED, ids=lambda method: method.name)
def test_what_does_not_fit_is_refused_before_a_row_is_read(method, monkeypatch):
    monkeypatch.setattr(memory, "_system_bytes", lambda: 1 << 30)
    model = method.cls()
    many, wide = Rows(20_000_000, 20), Rows(100_000, 20_000)
    rows = wide if method.summary == "moments" else many
    if method.name in ("PCA", "TruncatedSVD"):
        model.set_params(solver="covariance")
    if method.name == "CA":
        model.set_params(n_components=None)
    if method.name == "ClassicalMDS":
        model.set_params(metric="manhattan")
    if method.name == "KernelPCA":
        model.set_params(solver="lanczos")
    if method.name == "MDS":
        model.set_params(solver="smacof")
    y = np.arange(rows.n) % 3 if method.supervised else None
    with pytest.raises(MemoryTooSmall, match=r"needs about .* GiB, and 1.0 GiB are available") as refused:
        model.fit(rows, y)
    assert LIMITED.get(method.name, "") in str(refused.value)
    assert not [name for name in vars(model) if name.endswith("_") and name != "n_features_in_"]


def test_whitened_rows_that_do_not_fit_are_made_again_instead(monkeypatch):
    monkeypatch.setattr(memory, "_system_bytes", lambda: 1 << 30)
    few, many = (lowdim.ICA().estimate_memory(Rows(n, 20)) for n in (1_000_000, 20_000_000))
    assert few > 8 * 1_000_000 * 20 and many < 1 << 27


def test_many_columns_do_not_hinder_an_iterative_solver():
    wide = Rows(100_000, 30_000)
    for name in ("PCA", "TruncatedSVD", "CA"):
        assert getattr(lowdim, name)().estimate_memory(wide) < 1 << 28
    assert lowdim.PCA(solver="covariance").estimate_memory(wide) > 8 * 30_000**2


def test_estimates_grow_with_what_they_should():
    few, many = np.zeros((4000, 30)), np.zeros((8000, 30))
    pairs = lowdim.Isomap().estimate_memory(many) / lowdim.Isomap().estimate_memory(few)
    assert 3 < pairs < 4.1
    assert lowdim.Isomap(n_landmarks=50).estimate_memory(many) < lowdim.Isomap().estimate_memory(many) / 5
    assert lowdim.UMAP(n_neighbors=60).estimate_memory(many) > 1.3 * lowdim.UMAP(n_neighbors=10).estimate_memory(many)
    many.flags.writeable = False  # a model need not copy what nobody can change
    kept = lowdim.UMAP().estimate_memory(many)
    many = many.copy()
    assert lowdim.UMAP().estimate_memory(many) - kept == many.nbytes


def test_the_coefficient_of_a_symmetric_graph_is_that_of_its_arrays():
    graph = lowdim.neighbors(np.random.default_rng(0).normal(size=(20_000, 5)), 10)
    tracemalloc.start()
    try:
        matrix = graph.symmetrize()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    edges, mutual = graph.indices.size, matrix.nnz / graph.indices.size
    held = fit_memory.SYMMETRIZED_EDGE + 40 * (mutual - fit_memory.UNION) - 8  # the neighbors were there before
    assert abs(peak / (held * edges) - 1) < 0.15
    assert 1.2 < mutual < 1.8


MEASURED = """
import json, sys, warnings
import numpy as np, lowdim
warnings.simplefilter("ignore")

def status(field):
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith(field + ":")) * 1024

name, n, d = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
model = getattr(lowdim, name)()
random = np.random.default_rng(0)
X, y = random.normal(size=(n, d)) + random.integers(0, 9, (n, 1)), random.integers(0, 5, n)
getattr(lowdim, name)().fit(X[:200, :10], y[:200] if model._method.supervised else None)
with open("/proc/self/clear_refs", "w") as reset:
    reset.write("5")
before = status("VmRSS")
model.fit(X, y if model._method.supervised else None)
print(json.dumps([model.estimate_memory(X), status("VmHWM") - before]))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc")
@pytest.mark.parametrize(("name", "n", "d"), [("PCA", 3000, 1500), ("KernelPCA", 6000, 20), ("Isomap", 3500, 20)])
def test_estimates_are_near_to_the_peak(name, n, d):
    command = [sys.executable, "-c", MEASURED, name, str(n), str(d)]
    peaks = []
    for _ in range(3):  # on a busy machine the system counts some pages later or twice
        estimate, peak = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        peaks.append(peak)
        if 0.75 < estimate / peak < 1.25:
            return
    pytest.fail(f"estimate {estimate / 2**20:.0f} MiB, peaks {[round(peak / 2**20) for peak in peaks]} MiB")


def test_commands_say_first_how_much_memory_they_take(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(runner, "LARGE_BYTES", 1)
    assert main(["fit", "iris", "--method", "isomap", "-o", str(tmp_path / "m.lowdim")]) == 0
    assert "Isomap of 150 rows × 4 columns takes about 0.0 GiB of memory (" in capsys.readouterr().err
    assert main(["fit", "iris", "--quiet", "-o", str(tmp_path / "m.lowdim")]) == 0
    assert "GiB" not in capsys.readouterr().err


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["Isomap", "LaplacianEigenmaps", "LLE"])
def test_sparse_rows_stay_sparse(name):
    n, d = 300, 100_000
    X = sp.random_array((n, d), density=3e-4, format="csr", rng=np.random.default_rng(0))
    tracemalloc.start()
    try:
        getattr(lowdim, name)().fit(X)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < n * d * 4 / 4  # a dense table has 120 MB in float32
