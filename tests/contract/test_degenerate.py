"""Every estimator on every kind of bad or odd table: a finite result or an error of lowdim's own."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import lowdim
from lowdim.errors import LowdimError

RNG = np.random.default_rng(0)
PLAIN = RNG.standard_normal((12, 4))

TABLES = {
    "no rows": np.empty((0, 4)),
    "no columns": np.empty((5, 0)),
    "one row": PLAIN[:1],
    "two rows": PLAIN[:2],
    "one column": PLAIN[:, :1],
    "fewer rows than columns": RNG.standard_normal((3, 30)),
    "a constant column": np.column_stack([PLAIN, np.full(12, 0.1)]),
    "all columns constant": np.full((12, 4), 0.1),
    "all rows equal": np.tile(PLAIN[:1], (12, 1)),
    "duplicated rows": np.repeat(PLAIN[:3], 4, axis=0),
    "duplicated columns": PLAIN[:, [0, 0, 1, 1]],
    "huge": PLAIN * 1e150,
    "tiny": PLAIN * 1e-150,
    "beyond huge": PLAIN * 1e300,
    "wild scales": PLAIN * [1e-100, 1, 1e50, 1e100],
    "huge float32": (PLAIN * 1e30).astype(np.float32),
    "tiny float32": (PLAIN * 1e-30).astype(np.float32),
    "subnormal": PLAIN * 1e-310,
    "strided": RNG.standard_normal((24, 8))[::2, ::2],
    "reversed": PLAIN[::-1, ::-1],
    "fortran": np.asfortranarray(PLAIN),
    "big-endian": PLAIN.astype(">f8"),
    "integer": RNG.integers(-9, 9, (12, 4)),
    "unsigned bytes": RNG.integers(0, 255, (12, 4)).astype(np.uint8),
    "bool": PLAIN > 0,
    "sparse": sp.random(12, 4, 0.4, format="csr", random_state=0),
    "sparse, 64-bit indices": sp.csr_array(
        (np.ones(3), np.array([0, 1, 2], dtype=np.int64), np.array([0, 1, 2, 3] + [3] * 9, dtype=np.int64)),
        shape=(12, 4),
    ),
    "empty sparse": sp.csr_array((12, 4)),
    "sparse columns": sp.random(12, 4, 0.4, format="csc", random_state=1),
    "sparse float32": sp.random(12, 4, 0.4, format="coo", random_state=2, dtype=np.float32),
    "sparse with duplicated rows": sp.csr_array(np.repeat(PLAIN[:3] * (PLAIN[:3] > 0), 4, axis=0)),
    "sparse NaN": sp.csr_array(np.where(PLAIN > 1, np.nan, PLAIN)),
    "huge sparse": sp.csr_array(PLAIN * 1e150),
    "NaN": np.where(PLAIN > 1, np.nan, PLAIN),
    "infinite": np.where(PLAIN > 1, np.inf, PLAIN),
    "text": np.array([["a", "b"], ["c", "d"]]),
    "complex": PLAIN + 1j,
    "one-dimensional": PLAIN[0],
    "three-dimensional": np.zeros((3, 3, 3)),
    "nothing": None,
    "a number": 5,
}


def check_new_rows(model, X, Z):
    """Rows of the same table as new ones: finite places in as many columns, or an error that is named."""
    try:
        new = model.transform(X)
    except LowdimError as error:
        assert len(str(error)) > 20
        return
    assert new.shape == Z.shape
    assert np.isfinite(np.asarray(new, dtype=float)).all()


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("method", lowdim.methods(), ids=lambda method: method.name)
def test_finite_or_named_error(method, name):
    X = TABLES[name]
    before = None if X is None or sp.issparse(X) else np.array(X, copy=True)
    for k in (1, 2, 4, 12, None):
        model = clone(method.cls(n_components=k))
        try:
            Z = model.fit_transform(X)
        except LowdimError as error:
            assert len(str(error)) > 20
            assert not hasattr(model, "components_") and not hasattr(model, "embedding_")
            continue
        assert np.isfinite(np.asarray(Z, dtype=float)).all(), name
        places = getattr(model, "embedding_", None)
        assert places is None or (places.shape == Z.shape and np.isfinite(places).all())
        check_new_rows(model, X, Z)
    if before is not None:
        np.testing.assert_array_equal(X, before)


@pytest.mark.parametrize(
    "options",
    [{"solver": s} for s in ("covariance", "gram", "svd", "krylov")]
    + [{"standardize": True}, {"whiten": True}, {"missing": "em"}],
    ids=str,
)
@pytest.mark.parametrize("name", TABLES)
def test_pca_by_every_route(name, options):
    model = lowdim.PCA(2, **options)
    try:
        Z = model.fit_transform(TABLES[name])
    except LowdimError:
        return
    assert np.isfinite(Z).all()
    assert np.isfinite(model.inverse_transform(Z)).all()
    assert (model.explained_variance_ratio_ <= 1 + 1e-6).all()
