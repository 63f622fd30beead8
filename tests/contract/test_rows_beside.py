"""Where a row is mapped does not depend on the rows beside it: alone, in another order, among others, the same bits.

OpenBLAS sums a row in another order where it stands elsewhere in a tile: on Haswell and Zen even within a batch of one
size. So kernels of another processor are tried, too, in a process of its own.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import lowdim
from determinism import QUICK, VARIANTS, fit_other, others
from other_estimators import apply
from subprocesses import run_python
from targets import table_for, target_for

pytestmark = pytest.mark.filterwarnings("ignore:.*did not converge")  # fits are cut short
MODELS = {
    **{method.name: (method.name, {}) for method in lowdim.methods()},
    **VARIANTS,
    "PCA em": ("PCA", {"missing": "em"}),
    "PCA whitened": ("PCA", {"whiten": True, "standardize": True}),
    "KernelPCA linear": ("KernelPCA", {"kernel": "linear"}),
    "KernelPCA polynomial": ("KernelPCA", {"kernel": "polynomial"}),
    "KernelPCA cosine": ("KernelPCA", {"kernel": "cosine"}),
    "KernelPCA laplacian": ("KernelPCA", {"kernel": "laplacian"}),
    "KernelPCA ridge": ("KernelPCA", {"pre_image": "ridge"}),
    "Isomap landmarks": ("Isomap", {"n_landmarks": 40}),
    "LLE hessian": ("LLE", {"method": "hessian", "n_neighbors": 12}),
    "LLE ltsa": ("LLE", {"method": "ltsa"}),
    "MDS manhattan": ("MDS", {"metric": "manhattan"}),
    "MDS spline": ("MDS", {"transformation": "spline"}),
    "TSNE cosine": ("TSNE", {"metric": "cosine"}),
    "UMAP densMAP": ("UMAP", {"densmap": True}),
    "UMAP canberra": ("UMAP", {"metric": "canberra"}),
}
BY_BLAS = [name for name in MODELS if name.startswith(("CA", "FAMD", "Isomap", "KernelPCA", "ClassicalMDS"))]
WAYS = ("transform", "inverse_transform", "reconstruction_error", "predict_proba", "decision_function")
# Categories have no mean; Isomap's is the error of the fit.
NOT_THERE = [("UMAP gower", "inverse_transform"), ("Isomap", "reconstruction_error")]


def changed(work, rows):
    """The parts of the rows for which work(rows) has other bits, row by row: parts, in any order and memory layout."""
    whole = np.asarray(work(rows))
    n = len(rows)
    cuts = [slice(None, None, -1), slice(10, 47), *(slice(i, i + 1) for i in (0, 7, n // 3, n - 1))]
    found = [cut for cut in cuts if not np.array_equal(work(rows[cut]), whole[cut])]
    return found if np.array_equal(work(np.asfortranarray(rows)), whole) else [*found, "Fortran order"]


def changes_of_method(name, dtype):
    rng = np.random.default_rng(0)
    method, options = MODELS[name]
    sizes = np.geomspace(0.1, 10, 61)[:, None]  # also far rows, whose unit another row might set
    X, new = (rng.normal(size=(n, 20)).astype(dtype) for n in (160, 61))
    X, new = table_for(method, X), table_for(method, (new * sizes).astype(dtype))
    options = options | ({"n_landmarks": 40} if "n_landmarks" in options else {})
    model = getattr(lowdim, method)(2, **QUICK.get(method, {}), **options).fit(X, target_for(method, X))
    ways = [way for way in WAYS if hasattr(model, way) and not {(method, way), (name, way)} & set(NOT_THERE)]
    scores = np.array(model.transform(new))
    found = ((way, changed(getattr(model, way), scores if way == "inverse_transform" else new)) for way in ways)
    return [(name, np.dtype(dtype).name, way, cuts) for way, cuts in found if cuts]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", MODELS)
def test_a_method_maps_rows_one_by_one(name, dtype):
    assert changes_of_method(name, dtype) == []


@pytest.mark.parametrize("name", others())
def test_a_selector_or_clusterer_treats_rows_one_by_one(name):
    model, _, new = fit_other(name, 60)
    rows = np.concatenate([new, new, new[:1]])
    assert changed(lambda part: apply(model, part), rows) == []


OTHER_PROCESSOR = """
import sys, warnings
import numpy as np
sys.path[:0] = sys.argv[1:]
warnings.simplefilter("ignore")
from test_rows_beside import BY_BLAS, changes_of_method
print([one for name in BY_BLAS for one in changes_of_method(name, np.float32)])
"""


@pytest.mark.parametrize("processor", ["Haswell", "Prescott"])
def test_by_the_kernels_of_another_processor(processor):
    """On Haswell, OpenBLAS breaks the promise for products in single precision, whatever the size of a batch."""
    here = Path(__file__).parent
    found = run_python(OTHER_PROCESSOR, str(here), str(here.parent / "helpers"), OPENBLAS_CORETYPE=processor)
    assert found.strip() == "[]"
