"""What a model says of a row does not depend on the rows beside it, by whatever kernels BLAS has for the processor.

OpenBLAS sums a row in another order where it stands elsewhere in a tile: on Haswell and Zen even within a batch of one
size. Kernels of another processor are chosen in a process of its own.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import lowdim
from determinism import QUICK, VARIANTS, table_for, target_for
from lowdim import kernels
from subprocesses import run_python

CUTS = [(0, 1), (7, 8), (36, 37), (3, 8), (1, 30)]  # of 37 new rows, which end within a tile
METHODS = ("transform", "inverse_transform", "reconstruction_error", "predict_proba", "decision_function")
KERNELS = {
    "laplacian": kernels.laplacian(),
    "polynomial": kernels.polynomial(),
    "cosine": "cosine",
    "centered": kernels.linear(),
    "ridge": kernels.rational_quadratic(),
}
MODELS = {
    **{method.name: (method.name, {}) for method in lowdim.methods()},
    **VARIANTS,
    **{f"KernelPCA {name}": ("KernelPCA", {"kernel": kernel}) for name, kernel in KERNELS.items()},
}


def changed(name, dtype):
    """The methods of a fitted model that give a row other bits beside other rows."""
    random = np.random.default_rng(0)
    X, new = random.normal(size=(160, 40)).astype(dtype), random.normal(size=(37, 40)).astype(dtype)
    method, options = MODELS[name]
    X, new = table_for(method, X), table_for(method, new)
    model = getattr(lowdim, method)(3, **QUICK.get(method, {}), **options)
    scores = np.asarray(model.fit(X, target_for(method, X)).transform(new))
    return [
        (name, np.dtype(dtype).name, what, cut)
        for what in METHODS
        if hasattr(model, what) and not ((what != "transform" and method in ("Isomap", "MCA")) or "gower" in name)
        for cut in differing(getattr(model, what), scores if what == "inverse_transform" else new)
    ]


def differing(function, rows):
    whole = np.asarray(function(rows))
    return [(a, b) for a, b in CUTS if not np.array_equal(np.asarray(function(rows[a:b])), whole[a:b])]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", MODELS)
def test_a_row_alone_has_the_bits_that_it_has_among_others(name):
    assert not changed(name, np.float32) and not changed(name, np.float64)


OTHER_PROCESSOR = """
import sys, warnings
import numpy as np
sys.path[:0] = sys.argv[1:]
warnings.simplefilter("ignore")
from test_rows_alone import MODELS, changed
names = [name for name in MODELS if name.startswith(("CA", "FAMD", "Isomap", "KernelPCA"))]
print([one for name in names for one in changed(name, np.float32)])
"""


def test_by_the_kernels_of_another_processor():
    """On Haswell, OpenBLAS breaks the promise for products in single precision, whatever the size of a batch."""
    here = Path(__file__).parent
    found = run_python(OTHER_PROCESSOR, str(here), str(here.parent / "helpers"), OPENBLAS_CORETYPE="Haswell")
    assert found.strip() == "[]"
