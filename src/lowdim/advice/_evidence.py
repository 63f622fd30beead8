"""Evidence for a recommendation: what the table holds, and the figures of `diagnose` and `choose` on it."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.choose._parallel_analysis import parallel_analysis
from lowdim.choose._rules import share
from lowdim.choose._table import spectrum
from lowdim.data.categories import CategoricalRows
from lowdim.data.mixed import MixedTable, read_mixed
from lowdim.data.rows import Rows, as_frame
from lowdim.data.table import Table, is_distance_matrix
from lowdim.data.target import target_array
from lowdim.data.validation import FeatureRecord
from lowdim.diagnosis._columns import Columns
from lowdim.diagnosis._diagnose import Diagnosis, examine
from lowdim.distance.matrix_checks import checked_distances
from lowdim.errors import BadInput
from lowdim.mds.classical import ClassicalMDS
from lowdim.runtime.random import Seed, seed_of
from lowdim.select._target import Target, read_target

__all__ = ["Evidence", "gather"]

Array = NDArray[Any]

MOST_ROWS, MOST_VALUES = 2000, 20_000_000  # of the sample that is measured
SPECTRUM_SIDE = 600  # the shorter side of the sample that parallel analysis shuffles
CHEAP = 2e7  # operations of one shuffled table, up to which there are 100 of them, else 20
CURVED = 0.75  # intrinsic dimension of many rows, as a share of that of a normal cloud, below which they are not linear
UNCORRELATED = 0.01  # Bartlett's p-value above which one component that stands out is taken for chance
FEWEST_ROWS = 30  # from which intrinsic dimension and modes are told
MOST_SCALED = 2000  # rows of a distance matrix that is scaled to see how well dimensions represent it
FITTING = 0.9  # share of the distances' inner products that is well represented


@dataclass(frozen=True)
class Evidence:
    """What is known about a table. Figures are None where they could not be measured."""

    rows: int
    columns: int  # of numbers
    categories: int = 0  # columns of text or categories
    blanks: bool = False  # whether categories are missing
    kind: str = "rows"  # or distances
    sparse: bool = False
    images: bool = False
    standardized: bool = False
    classes: int | None = None  # of the labels or the target, if they are classes
    target: str | None = None  # classes or numbers: what is to be explained
    labels: str | None = None  # classes or numbers: what the rows are colored by
    linear: int | None = None  # components that parallel analysis keeps
    linear_share: float | None = None  # their share of the variance
    two_share: float | None = None  # that of the first two components
    most_variance: int | None = None  # components for 95% of the variance
    replicates: int = 0  # shuffled tables that components were compared with
    distance_dimensions: int | None = None  # that represent 90% of given distances
    distance_share: float | None = None  # of two dimensions of classical scaling
    diagnosis: Diagnosis | None = None

    @property
    def told_columns(self) -> Columns | None:
        """What is known about each column of numbers."""
        return None if self.diagnosis is None else self.diagnosis.columns

    @property
    def counts(self) -> bool:
        """Whether the columns are counts or term weights: most of them almost always zero."""
        return self.told_columns is not None and self.told_columns.are_counts

    @property
    def answers(self) -> tuple[int, int] | None:
        """The range of the answers, if all columns are answers on one scale."""
        return None if self.told_columns is None else self.told_columns.answers

    @property
    def missing(self) -> float:
        """The share of the numbers that are missing."""
        return 0.0 if self.told_columns is None else self.told_columns.missing

    @property
    def intrinsic(self) -> float | None:
        """The intrinsic dimension, the median of three estimates."""
        found = self.diagnosis
        if found is None or found.intrinsic is None or found.sample < FEWEST_ROWS:
            return None
        return found.intrinsic.typical

    @property
    def intrinsic_normal(self) -> float | None:
        """That of normal rows with the same covariance."""
        found = self.diagnosis
        return None if found is None or found.intrinsic_normal is None else found.intrinsic_normal.typical

    @property
    def curved(self) -> bool:
        """Whether rows lie in clearly fewer dimensions than a normal cloud of the same covariance would."""
        here, normal = self.intrinsic, self.intrinsic_normal
        return here is not None and normal is not None and here < self.curved_below * normal

    @property
    def curved_below(self) -> float:
        """The share of the normal cloud's dimension below which rows are not linear: few rows must fall further."""
        return CURVED if self.diagnosis is None else CURVED - 1 / math.sqrt(self.diagnosis.sample)

    @property
    def groups(self) -> int:
        """Modes of the density; 1 where they could not be counted."""
        return (None if self.diagnosis is None else self.diagnosis.modes) or 1

    @property
    def uncorrelated(self) -> float | None:
        """The p-value of Bartlett's test, if it finds no correlation; one component in twenty stands out by chance."""
        related = None if self.diagnosis is None else self.diagnosis.correlations
        p = None if related is None else related.bartlett_p
        return p if p is not None and p > UNCORRELATED else None

    @property
    def structured(self) -> bool:
        """Whether anything but noise was found: components, curvature or groups."""
        components = self.linear is None or (self.linear > 0 and self.uncorrelated is None)
        return bool(components or self.curved or self.groups > 1)

    @property
    def most_components(self) -> int:
        """The most axes that the rows span."""
        return max(1, min(self.columns, self.rows - 1))


def gather(
    X: Any, labels: Any, target: Any, standardize: bool | None, random_state: Seed, n_jobs: int | None
) -> Evidence:
    """Look at the table once, and measure what the rules ask for."""
    if isinstance(X, str | os.PathLike):
        from lowdim.data.io.read import read_table  # may import pyarrow

        X = read_table(X, encode="categories")
    images = getattr(X, "image_shape", None) is not None
    if isinstance(X, Table):
        labels = X.labels if labels is None and X.labels is not None and X.labels.ndim == 1 else labels
        known = _of_table(X)
    else:
        known = _of_table(Table(X, ())) if isinstance(X, Rows) else _of_object(X)
    told = replace(known.evidence, images=images)
    told = replace(told, **_supervision(labels, target, told.rows))
    if known.distances is not None:
        return replace(told, **_scaled(known.distances))
    if known.numbers is None:
        return told
    return _measured(known.numbers, told, standardize, seed_of(random_state), n_jobs)


@dataclass(frozen=True)
class _Known:
    """What kind of table it is, and what there is to measure."""

    evidence: Evidence
    numbers: Any = None  # rows of numbers
    distances: Array | None = None


def _of_table(table: Table) -> _Known:
    if table.kind == "distances":
        return _distances(table.array())
    rows = table.rows()
    coded = sum(c is not None for c in rows.categories) if isinstance(rows, CategoricalRows) else 0
    n, categories = rows.n, len(table.categories) + coded
    blanks = any((values == "").any() for values in table.categories.values())
    told = Evidence(n if n is not None else 0, rows.d - coded, categories, blanks, sparse=rows.sparse)
    if told.columns == 0:
        return _Known(told)
    if coded:
        numeric = np.array([c is None for c in rows.categories])  # type: ignore[attr-defined]
        return _Known(told, np.asarray(rows.whole())[:, numeric])
    return _Known(told, table)


def _of_object(X: Any) -> _Known:
    """An array, a sparse matrix, a dataframe or anything that `diagnose` takes."""
    if sp.issparse(X):
        return _Known(Evidence(X.shape[0], X.shape[1], sparse=True), X)
    frame = as_frame(X)
    if isinstance(frame, nw.DataFrame):
        if all(dtype.is_numeric() or dtype == nw.Boolean for dtype in frame.schema.values()):
            return _Known(Evidence(len(frame), len(frame.columns)), X)
        return _mixed(read_mixed(FeatureRecord(), X, fitting=True))
    if isinstance(X, list | tuple | np.ndarray) and _dimensions(X) == 2:
        A = np.asarray(X)
        if A.dtype.kind in "USO":
            return _mixed(read_mixed(FeatureRecord(), X, fitting=True))
        if A.dtype.kind in "fiu" and is_distance_matrix(A):
            return _distances(A)
        return _Known(Evidence(*A.shape), A)
    return _Known(Evidence(0, 0), X)  # a stream, a file or AnnData: the diagnosis counts its rows


def _dimensions(X: Any) -> int:
    """Those of an array or of lists; 0 for lists of different lengths, which the diagnosis refuses by name."""
    try:
        return np.ndim(X)
    except ValueError:
        return 0


def _mixed(table: MixedTable) -> _Known:
    numbers = [column for j, column in enumerate(table.columns) if table.is_number(j)]
    texts = [column for j, column in enumerate(table.columns) if not table.is_number(j)]
    told = Evidence(table.n, len(numbers), len(texts), any((column == None).any() for column in texts))  # noqa: E711
    return _Known(told, np.column_stack(numbers) if numbers else None)


def _distances(D: Array) -> _Known:
    return _Known(Evidence(len(D), 0, kind="distances"), distances=D)


def _scaled(D: Array) -> dict[str, Any]:
    """How well classical scaling represents the distances, on at most 2,000 rows."""
    D = np.asarray(checked_distances(D[:MOST_SCALED, :MOST_SCALED]), dtype=np.float64)
    if len(D) < 3:
        return {}
    options: dict[str, Any] = {"n_components": len(D) - 1, "metric": "precomputed"}
    model = ClassicalMDS(**options).fit(D)
    values = np.maximum(np.asarray(model.eigenvalues_, dtype=np.float64), 0)
    if not values.any():
        return {}
    shares = np.cumsum(values) / values.sum()
    return {
        "distance_dimensions": int(np.argmax(shares >= FITTING)) + 1,
        "distance_share": float(shares[min(1, len(shares) - 1)]),
    }


def _supervision(labels: Any, target: Any, n: int) -> dict[str, Any]:
    """What the labels and the target are; labels that can't be read are no evidence, a target must be readable."""
    if target is not None:
        found = read_target(target, n or None, "auto")
        return {"target": _kind(found), "classes": None if found.classes is None else len(found.classes)}
    if labels is None:
        return {}
    values = target_array(labels)
    if values.ndim != 1 or (n and len(values) != n):
        raise BadInput(f"labels must have one label per row ({n}); got shape {values.shape}.")
    try:
        found = read_target(labels, n or None, "auto")
    except ValueError:  # missing, constant or mixed labels
        return {}
    return {"labels": _kind(found), "classes": None if found.classes is None else len(found.classes)}


def _kind(target: Target) -> str:
    return "classes" if target.is_discrete else "numbers"


def _measured(X: Any, told: Evidence, standardize: bool | None, seed: int, n_jobs: int | None) -> Evidence:
    """The diagnosis, and parallel analysis of the rows that it measured."""

    def default(columns: Columns) -> bool:
        """Columns in units of their own are standardized; pixels, counts and answers share a scale."""
        shared = told.images or told.sparse or columns.are_counts or columns.answers is not None
        return not shared if standardize is None else standardize

    d = max(told.columns, 1)
    size = int(np.clip(MOST_VALUES // d, 50, MOST_ROWS))
    found = examine(X, default, size, seed, n_jobs)
    seen = found.diagnosis
    told = replace(told, rows=seen.rows, columns=seen.columns_count, standardized=seen.standardized, diagnosis=seen)
    if told.sparse or told.counts or seen.used_columns < 2 or seen.sample < 5:
        return told
    return replace(told, **_linear(found.rows, seed, n_jobs))


def _linear(X: NDArray[np.float64], seed: int, n_jobs: int | None) -> dict[str, Any]:
    """The components that stand out from shuffled columns, and what they keep."""
    if X.shape[1] > SPECTRUM_SIDE:
        X = X[:SPECTRUM_SIDE]
    n, d = X.shape
    values = spectrum(X, n_jobs=n_jobs)
    if values.values.max(initial=0.0) <= 0:
        return {}
    replicates = 100 if n * d * min(n, d) <= CHEAP else 20
    kept = parallel_analysis(replicates, random_state=seed, n_jobs=n_jobs).run(values).k
    return {
        "linear": kept,
        "linear_share": float(values.shares[:kept].sum()),
        "two_share": float(values.shares[:2].sum()),
        "most_variance": share(0.95).verdict(values).k,
        "replicates": replicates,
    }
