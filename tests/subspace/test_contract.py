"""What every subspace clusterer promises: scikit-learn's contract, bits, dtypes, model files, degenerate tables."""

from __future__ import annotations

import pickle
import re

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

import lowdim
from determinism import assert_same_bits
from lowdim.base.state import fitted_names
from lowdim.errors import BadInput, BadParameter, Cancelled, LowdimError, ModelFileError, NotEnoughData
from lowdim.persistence.allowlist import documented_attributes
from lowdim.runtime.param import parameters
from lowdim.subspace import CLIQUE, DOC, PROCLUS, SUBCLU, MineClus, PCluster, planted_clusters

MODELS = {
    "CLIQUE": CLIQUE(8, 0.03),
    "CLIQUE adaptive": CLIQUE(grid="adaptive"),
    "CLIQUE mdl": CLIQUE(8, 0.03, mdl=True, redundancy=1.0),
    "PROCLUS": PROCLUS(3, n_init=3),
    "PCluster": PCluster(0.05, min_rows=11),
    "PROCLUS standardized": PROCLUS(3, n_init=2, standardize=True),
    "SUBCLU": SUBCLU(0.08, 40),
    "SUBCLU standardized": SUBCLU(0.28, 40, standardize=True),
    "DOC": DOC(max_sets=200),
    "MineClus": MineClus(),
    "MineClus standardized": MineClus(width=0.35, standardize=True),
}
every_model = pytest.mark.parametrize("name", MODELS)


@pytest.fixture(scope="module")
def X():
    return planted_clusters(300, 6, 3, 3, width=0.12).X


@pytest.fixture(scope="module")
def fitted(X):
    return {name: clone(model).fit(X) for name, model in MODELS.items()}


@pytest.mark.filterwarnings("ignore")  # the checks provoke warnings of scikit-learn's own
@parametrize_with_checks(
    [CLIQUE(), CLIQUE(grid="adaptive"), PROCLUS(3, n_init=2), PCluster(), SUBCLU(0.3, 6), DOC(max_sets=50), MineClus()]
)
def test_estimator_check(estimator, check):
    check(estimator)


@every_model
def test_attributes_are_documented_and_parameters_declared(fitted, name):
    model = fitted[name]
    assert set(fitted_names(model)) <= documented_attributes(type(model))
    for parameter, declared in parameters(type(model)).items():
        assert re.search(rf"^{parameter} : ", type(model).__doc__, flags=re.MULTILINE)
        assert declared.help.endswith(".")


@every_model
def test_labels_are_the_first_cluster_of_each_row(fitted, name, X):
    model = fitted[name]
    assert len(model.clusters_) >= 2
    holds = np.array([np.isin(np.arange(len(X)), cluster.rows) for cluster in model.clusters_]).T
    expected = np.where(holds.any(axis=1), holds.argmax(axis=1), -1)
    np.testing.assert_array_equal(model.labels_, expected)
    found = np.unique(model.labels_)
    np.testing.assert_array_equal(found, np.arange(found[0], found[-1] + 1))  # no gaps


@every_model
def test_fitted_rows_are_predicted_as_they_were_fitted(fitted, name, X):
    model = fitted[name]
    memberships = model.memberships(X)
    for c, cluster in enumerate(model.clusters_):
        np.testing.assert_array_equal(np.flatnonzero(memberships[:, c]), cluster.rows)
    np.testing.assert_array_equal(model.predict(X), model.labels_)


@every_model
def test_a_row_does_not_depend_on_the_rows_beside_it(fitted, name, X):
    model, rng = fitted[name], np.random.default_rng(5)
    new = np.vstack([X[:20] + rng.normal(scale=0.005, size=(20, X.shape[1])), rng.uniform(-1, 2, (20, X.shape[1]))])
    together = model.memberships(new)
    alone = np.vstack([model.memberships(row[None]) for row in new])
    np.testing.assert_array_equal(together, alone)
    assert together.any()


@every_model
def test_same_bits_for_any_number_of_threads(name, X):
    def fit(threads):
        model = clone(MODELS[name])
        if "n_jobs" in model.get_params():
            model.set_params(n_jobs=threads)
        model.fit(X)
        return [model.labels_, *(part for c in model.clusters_ for part in (c.rows, c.dimensions))]

    assert_same_bits(fit, (1, 3))


@every_model
def test_float32_and_frames(name, X, fitted):
    import pandas as pd

    narrow = clone(MODELS[name]).fit(X.astype(np.float32))
    assert len(narrow.clusters_) >= 1
    np.testing.assert_array_equal(narrow.predict(X.astype(np.float32)), narrow.labels_)
    frame = pd.DataFrame(X, columns=list("abcdef"))
    named = clone(MODELS[name]).fit(frame)
    np.testing.assert_array_equal(named.labels_, fitted[name].labels_)
    cluster = named.clusters_[0]
    assert cluster.names == tuple("abcdef"[j] for j in cluster.dimensions)


@every_model
def test_x_is_neither_changed_nor_kept(name, X):
    given = X.copy()
    model = clone(MODELS[name]).fit(given)
    np.testing.assert_array_equal(given, X)
    given[:] = 0  # a change after the fit changes no model
    np.testing.assert_array_equal(model.predict(X), model.labels_)


@every_model
def test_model_files_and_pickles(fitted, name, X, tmp_path):
    model = fitted[name]
    lowdim.save(model, tmp_path / "model.lowdim")
    new = np.random.default_rng(1).uniform(size=(50, X.shape[1]))
    for copy in (lowdim.load(tmp_path / "model.lowdim"), pickle.loads(pickle.dumps(model))):
        assert type(copy) is type(model)
        np.testing.assert_array_equal(copy.memberships(new), model.memberships(new))
        np.testing.assert_array_equal(copy.labels_, model.labels_)
        assert [str(cluster) for cluster in copy.clusters_] == [str(cluster) for cluster in model.clusters_]
    lowdim.save(clone(model), tmp_path / "unfitted.lowdim")
    with pytest.raises(NotFittedError):
        lowdim.load(tmp_path / "unfitted.lowdim").predict(X)


@every_model
def test_a_contradictory_state_is_refused(fitted, name, X, tmp_path):
    def refused(change):
        model = pickle.loads(pickle.dumps(fitted[name]))
        change(model)
        with pytest.raises(ModelFileError):
            lowdim.save(model, tmp_path / "wrong.lowdim")

    def set_state(model, **fields):
        for field, value in fields.items():
            object.__setattr__(model._state, field, value)

    refused(lambda model: setattr(model, "labels_", model.labels_ + len(model.clusters_)))
    refused(lambda model: setattr(model, "labels_", model.labels_[:5]))
    refused(lambda model: setattr(model, "clusters_", model.clusters_[:1]))
    refused(lambda model: object.__setattr__(model.clusters_[0], "rows", model.clusters_[0].rows[::-1].copy()))
    refused(lambda model: object.__setattr__(model.clusters_[0], "dimensions", np.array([0, 99], dtype=np.int32)))
    if name.startswith("CLIQUE"):
        refused(lambda model: set_state(model, boxes=model._state.boxes[1:]))
        refused(lambda model: object.__setattr__(model._state.grid, "edges", model._state.grid.edges[1:]))
    elif name.startswith("PROCLUS"):
        refused(lambda model: set_state(model, spheres=-model._state.spheres))
        refused(lambda model: set_state(model, dimensions=~np.ones_like(model._state.dimensions)))
        refused(lambda model: set_state(model, cluster_of=model._state.cluster_of + 5))
    elif name.startswith(("DOC", "MineClus")):
        refused(lambda model: set_state(model, lower=model._state.lower[1:]))
        refused(lambda model: set_state(model, upper=model._state.upper * np.nan))
        refused(lambda model: set_state(model, found=model._state.found + 1))
        refused(lambda model: set_state(model, lower=np.roll(model._state.lower, 1, axis=1)))
    else:
        refused(lambda model: set_state(model, X=model._state.X[:, 1:]))
    if name.startswith("SUBCLU"):
        refused(lambda model: set_state(model, scales=-model._state.scales))
        refused(lambda model: set_state(model, cores=model._state.cores[1:]))


@pytest.mark.parametrize("name", [name for name in MODELS if "standardized" in name])
def test_standardized_columns_have_no_units(fitted, name, X):
    other = clone(MODELS[name]).fit(X * 2.0 ** np.arange(X.shape[1]))  # powers of two: nothing is rounded
    np.testing.assert_array_equal(other.labels_, fitted[name].labels_)


@every_model
def test_cancelled_by_a_callback(name, X):
    model = clone(MODELS[name])
    with pytest.raises(Cancelled), lowdim.watch(lambda step: True):
        model.fit(X)
    assert not fitted_names(model)


DEGENERATE = {
    "constant": np.ones((20, 3)),
    "one column varies": np.column_stack([np.ones(20), np.arange(20.0)]),
    "two values": np.repeat([[0.0, 0.0], [1.0, 1.0]], 10, axis=0),
    "one column": np.linspace(0, 1, 20)[:, None],
    "neighbors in floating point": np.column_stack([np.repeat([1.0, np.nextafter(1, 2)], 10), np.arange(20.0)]),
    "tiny": 1e-300 * np.random.default_rng(0).uniform(size=(20, 3)),
    "few rows": np.random.default_rng(0).uniform(size=(3, 3)),
    "integers": np.arange(60).reshape(20, 3) % 7,
    "booleans": np.arange(60).reshape(20, 3) % 2 == 0,
}


@pytest.mark.parametrize("table", DEGENERATE)
@every_model
def test_degenerate_tables(name, table):
    """A result that holds together, and not an error."""
    X = DEGENERATE[table]
    model = clone(MODELS[name]).fit(X)
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    for cluster in model.clusters_:
        assert cluster.size >= 1 and len(cluster.dimensions) >= 1


@every_model
def test_refusals_name_what_is_wrong(name, X):
    model = clone(MODELS[name])
    with pytest.raises(BadInput, match="row 3, column 1"):
        model.fit(np.where(np.arange(300)[:, None] * 10 + np.arange(6) == 31, np.nan, X))
    with pytest.raises(BadInput, match="so large"):
        model.fit(X * 1.7e308 * np.array([1, -1] * 150)[:, None])
    with pytest.raises(NotEnoughData, match="a minimum of"):
        model.fit(X[:1])
    with pytest.raises(BadInput, match="sparse"):
        import scipy.sparse as sp

        model.fit(sp.csr_array(X))
    model.fit(X)
    with pytest.raises(LowdimError, match="features"):
        model.predict(X[:, :3])


@pytest.mark.parametrize(
    ("model", "text"),
    [
        (CLIQUE(0), "xi must be a whole number from 1"),
        (CLIQUE(tau=2), "tau must be a number between 0 and 1"),
        (CLIQUE(grid="square"), "grid must be one of"),
        (PROCLUS(0), "n_clusters must be"),
        (PROCLUS(2, 50), "n_dimensions=50 must be at most the number of columns, 6"),
        (PCluster(-1), "delta must be"),
        (PCluster(min_rows=1), "min_rows must be"),
        (SUBCLU(0), "eps must be a number above 0"),
        (DOC(beta=0.5), "beta must be"),
        (MineClus(width=0), "width must be"),
        (MineClus(alpha=1.5), "alpha must be"),
    ],
)
def test_bad_parameters(model, text, X):
    with pytest.raises(BadParameter, match=text):
        model.fit(X)
