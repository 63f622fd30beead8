"""Every estimator fitted in one dtype takes rows of another: float32 in, float32 out, and nearly the same places."""

from __future__ import annotations

import numpy as np
import pytest

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
