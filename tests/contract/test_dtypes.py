"""Every estimator fitted in one dtype takes rows of another: float32 in, float32 out, and nearly the same places."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import lowdim
from lowdim.data.rows import float_dtype
from targets import table_for, target_for

RNG = np.random.default_rng(0)
FITTED, NEW = (RNG.integers(-40, 40, (n, 5)) for n in (90, 12))  # whole numbers, which every dtype holds exactly
NEW = np.concatenate([NEW, FITTED[:5]])
QUICK = {
    "TSNE": {"max_iter": 60, "perplexity": 8},
    "UMAP": {"n_epochs": 60},
    "MDS": {"tol": 1e-3},
    "NonmetricMDS": {"tol": 1e-3},
}


@pytest.mark.parametrize("fitted", [np.float32, np.float64])
@pytest.mark.parametrize("method", [m for m in lowdim.methods() if hasattr(m.cls, "transform")], ids=lambda m: m.name)
def test_new_rows_of_another_dtype(method, fitted):
    X, new = table_for(method.name, FITTED), table_for(method.name, NEW)
    model = method.cls(2, **QUICK.get(method.name, {})).fit(X.astype(fitted), target_for(method.name, X))
    want = model.transform(new.astype(fitted))
    assert want.dtype == fitted
    for kind in (np.float16, np.float32, np.float64, np.int32):
        found = model.transform(new.astype(kind))
        assert found.dtype == float_dtype(np.dtype(kind))
        np.testing.assert_allclose(found, want, atol=1e-3 * np.abs(want).max())


def misaligned(array):
    """The same numbers, one byte further than numbers of their size usually begin."""
    raw = np.zeros(array.nbytes + 1, dtype=np.uint8)
    out = raw[1:].view(array.dtype).reshape(array.shape)
    out[:] = array
    assert not out.flags.aligned
    return out


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("method", [m for m in lowdim.methods() if hasattr(m.cls, "transform")], ids=lambda m: m.name)
def test_misaligned_rows(method, sparse):
    """Rows in a buffer behind a header of odd length, or in a message between processes."""
    X, new = (table_for(method.name, rows).astype(np.float64) for rows in (FITTED, NEW))
    y = target_for(method.name, X)
    if sparse and not method.sparse:
        pytest.skip("takes no sparse rows")

    def places(rows_of):
        model = method.cls(2, **QUICK.get(method.name, {})).fit(rows_of(X), y)
        return model.transform(rows_of(new))

    np.testing.assert_array_equal(
        places(shifted_csr if sparse else misaligned), places(sp.csr_array if sparse else np.array)
    )


def shifted_csr(X):
    out = sp.csr_array(X)
    out.data, out.indices, out.indptr = (misaligned(part) for part in (out.data, out.indices, out.indptr))
    return out


def test_misaligned_arguments():
    X = FITTED.astype(np.float64)
    Z, D = X[:, :2], np.linalg.norm(X[:, None] - X, axis=2)
    weights = np.arange(1.0, len(X) + 1)
    graph = lowdim.neighbors(X, 5)
    pairs = [
        (
            lowdim.PCA(2).fit(X, sample_weight=misaligned(weights)).components_,
            lowdim.PCA(2).fit(X, sample_weight=weights).components_,
        ),
        (
            lowdim.MDS(2, metric="precomputed", tol=1e-3).fit_transform(misaligned(D)),
            lowdim.MDS(2, metric="precomputed", tol=1e-3).fit_transform(D),
        ),
        (lowdim.PCA(2).fit(X).inverse_transform(misaligned(Z)), lowdim.PCA(2).fit(X).inverse_transform(Z)),
        (
            lowdim.UMAP(init=misaligned(Z), n_epochs=5).fit_transform(X),
            lowdim.UMAP(init=Z, n_epochs=5).fit_transform(X),
        ),
        (
            lowdim.UMAP(n_neighbors=6, n_epochs=5).fit_transform(
                lowdim.Graph(misaligned(graph.indices), misaligned(graph.distances))
            ),
            lowdim.UMAP(n_neighbors=6, n_epochs=5).fit_transform(lowdim.Graph(graph.indices, graph.distances)),
        ),
    ]
    for found, want in pairs:
        np.testing.assert_array_equal(found, want)
    quality = [lowdim.quality.measure(X, z, k=5)["trustworthiness"].value for z in (Z, misaligned(Z))]
    assert quality[0] == quality[1]
