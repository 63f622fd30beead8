"""Where a row is mapped does not depend on the rows beside it: alone, in another order, among others, the same bits."""

from __future__ import annotations

import numpy as np
import pytest

import lowdim
from determinism import QUICK, VARIANTS, fit_other, others
from other_estimators import apply
from targets import table_for, target_for

pytestmark = pytest.mark.filterwarnings("ignore:.*did not converge")  # fits are cut short
MORE = VARIANTS | {
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
# Categories have no mean; Isomap's is the error of the fit.
NOT_THERE = [("UMAP gower", "inverse_transform"), ("Isomap", "reconstruction_error")]
WAYS = ("transform", "inverse_transform", "reconstruction_error", "predict_proba", "decision_function")


def assert_independent(work, rows):
    """work(rows) has the same bits, row by row, for parts of the rows, in any order and memory layout."""
    whole = work(rows)
    parts = [(slice(None, None, -1), rows[::-1]), (slice(10, 47), rows[10:47])]
    parts += [(slice(i, i + 1), rows[i : i + 1]) for i in (0, 7, 18, 60)]
    for cut, part in parts:
        np.testing.assert_array_equal(work(part), whole[cut])
    np.testing.assert_array_equal(work(np.asfortranarray(rows)), whole)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", [*(method.name for method in lowdim.methods()), *MORE])
def test_a_method_maps_rows_one_by_one(name, dtype):
    rng = np.random.default_rng(0)
    method, options = MORE.get(name, (name, {}))
    sizes = np.geomspace(0.1, 10, 61)[:, None]  # also far rows, whose unit another row might set
    X, new = (rng.normal(size=(n, 20)).astype(dtype) for n in (160, 61))
    X, new = table_for(method, X), table_for(method, (new * sizes).astype(dtype))
    options = options | ({"n_landmarks": 40} if "n_landmarks" in options else {})
    model = getattr(lowdim, method)(2, **QUICK.get(method, {}), **options).fit(X, target_for(method, X))
    for way in WAYS:
        if not hasattr(model, way) or (method, way) in NOT_THERE or (name, way) in NOT_THERE:
            continue
        rows = np.array(model.transform(new)) if way == "inverse_transform" else new
        assert_independent(getattr(model, way), rows)


@pytest.mark.parametrize("name", others())
def test_a_selector_or_clusterer_treats_rows_one_by_one(name):
    model, _, new = fit_other(name, 60)
    rows = np.concatenate([new, new, new[:1]])
    assert_independent(lambda part: apply(model, part), rows)
