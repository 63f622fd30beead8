"""Sizes beyond all reason: a finite result or one of lowdim's errors at once, never a hang or the end of memory."""

from __future__ import annotations

import numpy as np
import pytest

import lowdim
from determinism import QUICK
from lowdim.errors import BadParameter, LowdimError, MemoryTooSmall, NotEnoughData
from lowdim.runtime.param import parameters
from targets import table_for, target_for

SIZES = ("n_components", "n_neighbors", "n_landmarks", "n_init", "n_slices", "perplexity", "negative_sample_rate")
CASES = [
    (method.name, size, solver)
    for method in lowdim.methods()
    for size in SIZES
    for solver in (None, "nystrom", "sgd", "krylov")
    if size in parameters(method.cls)
    if solver is None
    or ("solver" in parameters(method.cls) and parameters(method.cls)["solver"].domain.accepts(solver))
]

pytestmark = pytest.mark.filterwarnings("ignore::lowdim.errors.LowdimWarning")


@pytest.fixture
def X():
    return np.random.default_rng(0).normal(size=(30, 4))


@pytest.mark.parametrize("number", [10**5, 10**8, 2**31 - 1])
@pytest.mark.parametrize(("name", "size", "solver"), CASES)
def test_a_huge_size_is_refused_or_does_no_harm(name, size, solver, number, X):
    X = table_for(name, X)
    options = QUICK.get(name, {}) | {size: number} | ({} if solver is None else {"solver": solver})
    try:
        Z = getattr(lowdim, name)(**options).fit_transform(X, target_for(name, X, 3))
    except LowdimError as error:
        assert size in str(error)
        return
    assert size != "n_components"  # more than the rows span
    assert np.isfinite(Z).all()


@pytest.mark.parametrize("name", ["MDS", "NonmetricMDS", "UMAP"])
def test_a_few_dimensions_more_than_rows_may_be_asked_for(name, X):
    model = getattr(lowdim, name)(100, **QUICK[name])
    assert model.fit_transform(X).shape == (30, 100)
    with pytest.raises(NotEnoughData, match="n_components=1001 must be at most the number of rows, 30"):
        model.set_params(n_components=1001).fit(X)


@pytest.mark.parametrize(
    "name", ["MDS", "NonmetricMDS", "UMAP", "ClassicalMDS", "Isomap", "LaplacianEigenmaps", "KernelPCA"]
)
def test_the_embedding_itself_must_fit(name, X, monkeypatch):
    monkeypatch.setattr("lowdim.runtime.memory.available_bytes", lambda: 4 * 8 * 30 * 29 - 1)
    monkeypatch.setattr("lowdim.knn.search_space.require_memory", lambda *_: None)
    with pytest.raises(MemoryTooSmall, match=r"an embedding of 30 rows in 29 dimensions|the fuzzy graph|pairs|table"):
        getattr(lowdim, name)(29).fit(X)


@pytest.mark.parametrize("name", ["MDS", "NonmetricMDS"])
def test_starts_are_bounded(name, X):
    with pytest.raises(BadParameter, match="n_init must be a whole number from 1 to 10000"):
        getattr(lowdim, name)(n_init=10_001).fit(X)
