"""Every estimator on every kind of bad or odd table: a finite result or an error of lowdim's own."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import lowdim
from lowdim.errors import LowdimError
from targets import target_for

pytestmark = pytest.mark.filterwarnings("ignore::lowdim.errors.LowdimWarning")  # they are about these tables

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


COUNTS = (1, 2, 4, 12, None)  # of components, asked for in this order

# What each method does with each table, one sign per number of components: + fits, - refuses with a named error.
# The columns are the methods in alphabetical order.
METHODS = [
    "CA",
    "ClassicalMDS",
    "DirectionalRegression",
    "FAMD",
    "ICA",
    "Isomap",
    "KernelPCA",
    "LDA",
    "LLE",
    "LSIR",
    "LaplacianEigenmaps",
    "MCA",
    "MDS",
    "NonmetricMDS",
    "PCA",
    "PHD",
    "ProjectionPursuit",
    "SAVE",
    "SIR",
    "TSNE",
    "TruncatedSVD",
    "UMAP",
]
OUTCOMES = """
no rows                     ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- -----
no columns                  ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- -----
one row                     ----- +---+ ----- ----- ----- ----- +---+ ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- +---+ -----
two rows                    ----- ++--+ ----- +---+ +---+ ++--- ++--+ ----- +---- ----- +---- +---+ ++++- ++++- ++--+ +++-+ +---- ----- ----- ++--- ++--+ ++++-
one column                  ----- +++++ +---+ +---+ +---+ ++++- +++++ +---+ +++-- +---+ +++-- +++-+ ++++- ++++- +---+ +---+ +---- +---+ +---+ ++--- +---+ ++++-
fewer rows than columns     ----- ++--+ ----- ++--+ ++--+ ++--- ++--+ ----- ++--- ----- ++--- ++--+ ++++- ++++- ++--+ +++++ ++--- ----- ----- ++--- ++--+ ++++-
a constant column           ----- +++++ +++-+ +++-+ +++-+ ++++- +++++ ++--+ +++-- +++-+ +++-- +++-+ ++++- ++++- +++-+ +++-+ +++-- +++-+ ++--+ ++--- +++-+ ++++-
all columns constant        +++-+ +++++ ----- +++-+ ----- ++++- +++++ ----- +++-- ----- +++-- ----- ++++- ++++- +++-+ ----- ----- ----- ----- ++--- +++-+ ++++-
all rows equal              ----- +++++ ----- +++-+ ----- ++++- +++++ ----- +++-- ----- +++-- ----- ++++- ++++- +++-+ ----- ----- ----- ----- ++--- +++-+ ++++-
duplicated rows             ----- +++++ +++-+ +++-+ ++--+ ++++- +++++ ++--+ +++-- +++-+ +++-- +++-+ ++++- ++++- +++-+ +++-+ ++--- +++-+ ++--+ ++--- +++-+ ++++-
duplicated columns          ----- +++++ +++-+ +++-+ ++--+ ++++- +++++ ++--+ +++-- +++-+ +++-- +++-+ ++++- ++++- +++-+ +++-+ ++--- +++-+ ++--+ ++--- +++-+ ++++-
huge                        ----- +++++ +++-+ +++-+ +++-+ ----- +++++ ++--+ ----- +++-+ ----- +++-+ ++++- ++++- +++-+ +++-+ +++-- +++-+ ++--+ ----- +++-+ -----
tiny                        ----- +++++ +++-+ +++-+ ----- ----- +++++ ----- ----- +++-+ ----- +++-+ ++++- ++++- ----- +++-+ +++-- +++-+ ++--+ ----- ----- -----
beyond huge                 ----- ----- ----- +++-+ ----- ----- ----- ----- ----- ----- ----- +++-+ ----- ----- ----- ----- ----- ----- ----- ----- ----- -----
wild scales                 ----- +++++ +++-+ +++-+ +---+ ----- +++++ ++--+ ----- +++-+ ----- +++-+ ++++- ++++- +++-+ +++-+ +++-- +++-+ ++--+ ----- +++-+ -----
huge float32                ----- ----- ----- +++-+ ----- ----- ----- ----- ----- ----- ----- +++-+ ++++- ++++- ----- ----- ----- ----- ----- ----- ----- -----
tiny float32                ----- +++++ ----- +++-+ ----- ++++- ----- ----- +++-- ----- +++-- +++-+ ++++- ++++- ----- ----- +++-- ----- ----- ++--- ----- ++++-
subnormal                   ----- +++++ ----- +++-+ ----- ----- ----- ----- ----- ----- ----- +++-+ ++++- ++++- ----- ----- ----- ----- ----- ----- ----- -----
strided                     ----- +++++ +++-+ +++-+ +++-+ ++++- +++++ ++--+ +++-- +++-+ +++-- +++-+ ++++- ++++- +++-+ +++-+ +++-- +++-+ ++--+ ++--- +++-+ ++++-
reversed                    ----- +++++ +++-+ +++-+ +++-+ ++++- +++++ ++--+ +++-- +++-+ +++-- +++-+ ++++- ++++- +++-+ +++-+ +++-- +++-+ ++--+ ++--- +++-+ ++++-
fortran                     ----- +++++ +++-+ +++-+ +++-+ ++++- +++++ ++--+ +++-- +++-+ +++-- +++-+ ++++- ++++- +++-+ +++-+ +++-- +++-+ ++--+ ++--- +++-+ ++++-
big-endian                  ----- +++++ +++-+ +++-+ +++-+ ++++- +++++ ++--+ +++-- +++-+ +++-- +++-+ ++++- ++++- +++-+ +++-+ +++-- +++-+ ++--+ ++--- +++-+ ++++-
integer                     ----- +++++ +++-+ +++-+ +++-+ ++++- +++++ ++--+ +++-- +++-+ +++-- +++-+ ++++- ++++- +++-+ +++-+ +++-- +++-+ ++--+ ++--- +++-+ ++++-
unsigned bytes              +++-+ +++++ +++-+ +++-+ +++-+ ++++- +++++ ++--+ +++-- +++-+ +++-- +++-+ ++++- ++++- +++-+ +++-+ +++-- +++-+ ++--+ ++--- +++-+ ++++-
bool                        +++-+ +++++ +++-+ +++-+ +++-+ ++++- +++++ ++--+ +++-- +++-+ +++-- +++-+ ++++- ++++- +++-+ +++-+ +++-- +++-+ ++--+ ++--- +++-+ ++++-
sparse                      +++-+ +++++ +++-+ ----- +++-+ ++++- +++++ ++--+ +++-- +++-+ +++-- ----- ++++- ++++- +++-+ +++-+ +++-- +++-+ ++--+ ++--- +++-+ ++++-
sparse, 64-bit indices      ++--+ +++++ ++--+ ----- ++--+ ++++- +++++ ++--+ +++-- ++--+ +++-- ----- ++++- ++++- +++-+ ++--+ ++--- ++--+ ++--+ ++--- +++-+ ++++-
empty sparse                ----- +++++ ----- ----- ----- ++++- +++++ ----- +++-- ----- +++-- ----- ++++- ++++- +++-+ ----- ----- ----- ----- ++--- +++-+ ++++-
sparse columns              +++-+ +++++ +++-+ ----- +++-+ ++++- +++++ ++--+ +++-- +++-+ +++-- ----- ++++- ++++- +++-+ +++-+ +++-- +++-+ ++--+ ++--- +++-+ ++++-
sparse float32              +++-+ +++++ +++-+ ----- +++-+ ++++- +++++ ++--+ +++-- +++-+ +++-- ----- ++++- ++++- +++-+ +++-+ +++-- +++-+ ++--+ ++--- +++-+ ++++-
sparse with duplicated rows +++-+ +++++ +++-+ ----- ++--+ ++++- +++++ ++--+ +++-- +++-+ +++-- ----- ++++- ++++- +++-+ +++-+ ++--- +++-+ ++--+ ++--- +++-+ ++++-
sparse NaN                  ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- -----
huge sparse                 ----- +++++ +++-+ ----- +++-+ ----- +++++ ++--+ ----- +++-+ ----- ----- ++++- ++++- +++-+ +++-+ +++-- +++-+ ++--+ ----- +++-+ -----
NaN                         ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- -----
infinite                    ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- -----
text                        ----- ----- ----- +---+ ----- ----- ----- ----- ----- ----- ----- +---+ ----- ----- ----- ----- ----- ----- ----- ----- ----- -----
complex                     ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- -----
one-dimensional             ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- -----
three-dimensional           ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- -----
nothing                     ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- -----
a number                    ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- ----- -----
"""  # noqa: E501
EXPECTED = {
    line[:28].strip(): dict(zip(METHODS, line[28:].split(), strict=True)) for line in OUTCOMES.strip().splitlines()
}


def outcome_of(fit, model, X):
    """+ and the scores, or - after an error of lowdim's own that left nothing half-fitted behind."""
    try:
        return "+", fit(X)
    except LowdimError as error:
        assert len(str(error)) > 20
        assert not [name for name in vars(model) if name.endswith("_") and not name.startswith("_")]
        return "-", None


def test_every_method_and_table_has_its_outcomes():
    assert [method.name for method in lowdim.methods()] == METHODS
    assert list(TABLES) == list(EXPECTED)


@pytest.mark.filterwarnings("ignore:.*LDA leaves out:lowdim.errors.LowdimWarning")
@pytest.mark.filterwarnings("ignore:.*shrinkage='oas' was used:lowdim.errors.LowdimWarning")
@pytest.mark.filterwarnings("ignore:.*show no curvature:lowdim.errors.LowdimWarning")
@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("method", lowdim.methods(), ids=lambda method: method.name)
def test_finite_or_named_error(method, name):
    X = TABLES[name]
    before = None if X is None or sp.issparse(X) else np.array(X, copy=True)
    found = ""
    for k in COUNTS:
        model = clone(method.cls(n_components=k))
        y = target_for(method.name, X, 3)
        sign, Z = outcome_of(lambda X, y=y, model=model: model.fit_transform(X, y), model, X)
        found += sign
        if Z is None:
            continue
        assert np.isfinite(np.asarray(Z, dtype=float)).all(), name
        embedding = getattr(model, "embedding_", None)
        assert embedding is None or (embedding.shape == Z.shape and np.isfinite(embedding).all())
        new = model.transform(X)  # what could be fitted can be transformed
        assert new.shape == Z.shape
        assert np.isfinite(np.asarray(new, dtype=float)).all()
    assert found == EXPECTED[name][method.name]
    if before is not None:
        np.testing.assert_array_equal(X, before)


VANISHING = ("tiny", "tiny float32", "subnormal")  # squares underflow, unless columns are standardized first,
SUBNORMAL = "subnormal"  # and the inverse of so small a standard deviation overflows
USELESS = """no rows, no columns, one row, one column, beyond huge, huge float32, sparse NaN, infinite, text, complex,
one-dimensional, three-dimensional, nothing, a number""".replace("\n", " ").split(", ")


@pytest.mark.parametrize(
    "options",
    [{"solver": s} for s in ("covariance", "gram", "svd", "krylov")]
    + [{"standardize": True}, {"whiten": True}, {"missing": "em"}],
    ids=str,
)
@pytest.mark.parametrize("name", TABLES)
def test_pca_by_every_solver(name, options):
    model = lowdim.PCA(2, **options)
    sign, Z = outcome_of(model.fit_transform, model, TABLES[name])
    refused = (
        name in USELESS
        or (name in VANISHING and ("standardize" not in options or name == SUBNORMAL))
        or (name == "NaN" and "missing" not in options)
    )
    assert sign == ("-" if refused else "+")
    if Z is not None:
        assert np.isfinite(Z).all()
        assert np.isfinite(model.inverse_transform(Z)).all()
        assert (model.explained_variance_ratio_ <= 1 + 1e-6).all()


# What classical scaling and a search for one neighbor do with each table, by metric.
METRICS = [
    "minkowski",
    "seuclidean",
    "mahalanobis",
    "canberra",
    "braycurtis",
    "haversine",
    "hellinger",
    "hamming",
    "gower",
    "dice",
    "yule",
]
METRIC_OUTCOMES = """
no rows                     -- -- -- -- -- -- -- -- -- -- --
no columns                  -- -- -- -- -- -- -- -- -- -- --
one row                     -- -- -- -- -- -- -- -- -- -- --
two rows                    ++ ++ -- ++ ++ -- -- ++ ++ -- --
one column                  ++ ++ ++ ++ ++ -- -- ++ ++ -- --
fewer rows than columns     ++ ++ -- ++ ++ -- -- ++ ++ -- --
a constant column           ++ -- -- ++ ++ -- -- ++ ++ -- --
all columns constant        ++ -- -- ++ ++ -- ++ ++ ++ -- --
all rows equal              ++ -- -- ++ ++ -- -- ++ ++ -- --
duplicated rows             ++ ++ -- ++ ++ -- -- ++ ++ -- --
duplicated columns          ++ ++ -- ++ ++ -- -- ++ ++ -- --
huge                        +- ++ ++ ++ ++ -- -- ++ ++ -- --
tiny                        ++ ++ ++ ++ ++ -- -- ++ ++ -- --
beyond huge                 -- -- -- ++ ++ -- -- ++ ++ -- --
wild scales                 +- ++ -- ++ ++ -- -- ++ ++ -- --
huge float32                -+ ++ ++ ++ ++ -- -- ++ ++ -- --
tiny float32                ++ ++ ++ ++ ++ -- -- ++ ++ -- --
subnormal                   ++ -- -- ++ ++ -- -- ++ ++ -- --
strided                     ++ ++ ++ ++ ++ -- -- ++ ++ -- --
reversed                    ++ ++ ++ ++ ++ -- -- ++ ++ -- --
fortran                     ++ ++ ++ ++ ++ -- -- ++ ++ -- --
big-endian                  ++ ++ ++ ++ ++ -- -- ++ ++ -- --
integer                     ++ ++ ++ ++ ++ -- -- ++ ++ -- --
unsigned bytes              ++ ++ ++ ++ ++ -- ++ ++ ++ -- --
bool                        ++ ++ ++ ++ ++ -- ++ ++ ++ ++ ++
sparse                      ++ ++ ++ ++ ++ -- ++ ++ -- -- --
sparse, 64-bit indices      ++ -- -- ++ ++ -- ++ ++ -- ++ -+
empty sparse                ++ -- -- ++ ++ -- ++ ++ -- ++ ++
sparse columns              ++ ++ ++ ++ ++ -- ++ ++ -- -- --
sparse float32              ++ ++ ++ ++ ++ -- ++ ++ -- -- --
sparse with duplicated rows ++ ++ -- ++ ++ -- ++ ++ -- -- --
sparse NaN                  -- -- -- -- -- -- -- -- -- -- --
huge sparse                 +- ++ ++ ++ ++ -- -- ++ -- -- --
NaN                         -- -- -- -- -- -- -- -- ++ -- --
infinite                    -- -- -- -- -- -- -- -- -- -- --
text                        -- -- -- -- -- -- -- -- ++ -- --
complex                     -- -- -- -- -- -- -- -- -- -- --
one-dimensional             -- -- -- -- -- -- -- -- -- -- --
three-dimensional           -- -- -- -- -- -- -- -- -- -- --
nothing                     -- -- -- -- -- -- -- -- -- -- --
a number                    -- -- -- -- -- -- -- -- -- -- --
"""
EXPECTED_BY_METRIC = {
    line[:28].strip(): dict(zip(METRICS, line[28:].split(), strict=True))
    for line in METRIC_OUTCOMES.strip().splitlines()
}


@pytest.mark.parametrize("metric", METRICS)
def test_every_metric_is_finite_or_named(metric):
    given = {"metric": metric, "metric_params": {"p": 3} if metric == "minkowski" else None}
    found = {}
    for name, X in TABLES.items():
        model = lowdim.ClassicalMDS(2, **given)
        sign, Z = outcome_of(model.fit_transform, model, X)
        searched, distances = outcome_of(lambda X: lowdim.neighbors(X, 1, **given).distances, lowdim.PCA(), X)
        found[name] = sign + searched
        assert all(part is None or np.isfinite(part).all() for part in (Z, distances))
    assert found == {name: outcomes[metric] for name, outcomes in EXPECTED_BY_METRIC.items()}
