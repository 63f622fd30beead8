"""`diagnose`: every measure of the curse of dimensionality, in one object and in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.base.standardization import UNIT_METRICS
from lowdim.data.validation import FeatureRecord, read_rows
from lowdim.diagnosis._advice import advise
from lowdim.diagnosis._columns import Columns, columns
from lowdim.diagnosis._concentration import (
    Concentration,
    Hubness,
    concentration,
    hubness,
    normal_rows,
)
from lowdim.diagnosis._correlation import Correlations, correlations
from lowdim.diagnosis._density_modes import count_modes
from lowdim.diagnosis._empty_space import EmptySpace, empty_space
from lowdim.diagnosis._format import lines
from lowdim.diagnosis._intrinsic_dimension import IntrinsicDimension, correlation_dimension, levina_bickel, two_nn
from lowdim.diagnosis._neighborhoods import EuclideanSpace, Neighborhood, SampleSpace, noise_name, space_of
from lowdim.diagnosis._profile import Profile, profile
from lowdim.diagnosis._sample import Sample, divided
from lowdim.distance.metrics import METRICS, Metric, MetricSpec, metric_of
from lowdim.errors import BadParameter
from lowdim.runtime.blas import single_blas
from lowdim.runtime.display import align, count, facts, printable, titled
from lowdim.runtime.param import Integer
from lowdim.runtime.progress import report
from lowdim.runtime.random import Seed, seed_of
from lowdim.runtime.threads import thread_count

__all__ = ["Diagnosis", "diagnose"]

Array = NDArray[np.float64]

HUB_NEIGHBORS = 10
DIMENSION_NEIGHBORS = 20


@dataclass(frozen=True)
class Diagnosis:
    """The curse of dimensionality, measured. A part is None where the table is too small or does not vary.

    Rows and columns are counted over the whole table. The rest is measured on a sample of its complete rows, and on
    the columns that remain if the advice is followed: without constant and equal ones, standardized if need be.
    `…_noise` is the same measure on Gaussian noise of the same shape (for metrics that are not Euclidean even after a
    map of rows, on the same columns, each shuffled), `…_normal` on normal rows of the same covariance, which have no
    structure but a linear one.
    """

    rows: int
    columns_count: int
    complete: int  # rows without NaN
    sample: int  # rows that were measured
    seed: int
    standardized: bool  # whether the measured columns were
    standardize_advised: bool  # because their scales are unequal, and nobody asked for it
    used_columns: int  # columns that were measured
    duplicate_rows: int  # rows equal to an earlier one
    columns: Columns
    correlations: Correlations | None
    space: EmptySpace | None
    concentration: Concentration | None
    concentration_noise: Concentration | None
    hubness: Hubness | None
    hubness_noise: Hubness | None
    intrinsic: IntrinsicDimension | None
    intrinsic_normal: IntrinsicDimension | None
    modes: int | None  # modes of the density of the rows: groups that are denser than what lies between them
    metric: str = "euclidean"  # distance of concentration, hubness, intrinsic dimension and modes
    noise: str = "noise"  # what they are compared with: noise, or shuffled columns
    verdict: tuple[str, ...] = ()  # advice, one sentence each

    @property
    def axes(self) -> int:
        """The most axes that the sample can span: the columns measured, or rows less one."""
        return min(self.used_columns, max(self.sample - 1, 0))

    def to_dict(self) -> dict[str, Any]:
        """Plain lists, numbers and None, ready for JSON."""
        return {name: _plain(value) for name, value in asdict(self).items()}

    def __str__(self) -> str:
        told = [(name, printable(text)) for name, text in lines(self)]
        return "\n".join([self._title(), "", align(told), "", *map(printable, self.verdict)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        advice = [(f"{i + 1}.", sentence) for i, sentence in enumerate(self.verdict)]
        return titled(self._title(), facts(lines(self)), facts(advice))

    def _title(self) -> str:
        columns = "" if self.used_columns == self.columns_count else f" and {count(self.used_columns, 'column')}"
        scale = ", standardized" if self.standardized else ""
        scale += "" if self.metric == "euclidean" else f", {self.metric} distances"
        size = f"{count(self.rows, 'row')} × {count(self.columns_count, 'column')}{scale}"
        return f"{size}; measured on {count(self.sample, 'row')}{columns} (seed {self.seed})"


def diagnose(
    X: Any,
    *,
    metric: MetricSpec = "euclidean",
    metric_params: Mapping[str, Any] | None = None,
    standardize: bool | None = None,
    sample: int = 2000,
    random_state: Seed = 0,
    n_jobs: int | None = None,
) -> Diagnosis:
    """Measure the curse of dimensionality on a table, and say what to do about it.

    Parameters
    ----------
    X : array, sparse matrix, memory map, dataframe, or iterator of chunks
        n rows of d columns, read once. NaN is a missing value.
    metric : str or function of two rows
        The distance that you will use, as in `lowdim.neighbors`, but not "precomputed": concentration, hubness,
        intrinsic dimension and modes are measured by it. For cosine, correlation and squared distances, the dimension
        is that of the distance of which they are the square.
    metric_params : dict, optional
        Parameters of the metric, such as {"p": 3}.
    standardize : bool, optional
        Whether you will divide the columns by their standard deviations: distances are measured as you will use them.
        None does so if the diagnosis itself advises it, and the metric compares columns in their units.
    sample : int
        The most rows on which distances and correlations are measured; they are drawn at random.
    random_state : int, generator or None
        Seed of the sample and of the noise that it is compared with.
    n_jobs : int, optional
        Threads. The result has the same bits for any number of them.

    Returns
    -------
    Diagnosis
        It can be printed or converted to a dict; its advice is in `verdict`.

    """
    return examine(X, standardize, sample, random_state, n_jobs, _known(metric, metric_params)).diagnosis


@dataclass(frozen=True)
class Examination:
    """A diagnosis, and the rows that it was measured on."""

    diagnosis: Diagnosis
    rows: Sample  # (sample, used_columns) complete rows, in the units that they were measured in


Standardizing = bool | None | Callable[[Columns], bool]


def examine(
    X: Any,
    standardize: Standardizing,
    sample: int,
    random_state: Seed,
    n_jobs: int | None,
    metric: Metric = METRICS["euclidean"],
) -> Examination:
    """As `diagnose`, with the rows that were measured; `standardize` may be decided by what the columns are."""
    if not Integer(3).accepts(sample):
        raise BadParameter(f"sample must be {Integer(3).text}; got {sample!r}. It is the most rows that are measured.")
    owner = FeatureRecord()
    rows = read_rows(owner, X, fitting=True)
    threads, seed = thread_count(n_jobs), seed_of(random_state)
    with single_blas(), np.errstate(over="ignore", invalid="ignore"):
        found = profile(rows, sample, seed, threads)
        names = [str(name) for name in getattr(owner, "feature_names_in_", range(rows.d))]
        told, used = columns(found, names, rows.dtype)
        images = getattr(X, "image_shape", None) is not None  # pixels share one scale
        unequal = told.are_unequal and not images and metric.name in (*UNIT_METRICS, "callable")
        asked = standardize(told) if callable(standardize) else standardize
        standardized = unequal if asked is None else bool(asked)
        unit = found.spreads()[used] if standardized else np.ones(len(used))
        whole = len(used) == found.sample.shape[1]
        measured_rows = divided(found.sample if whole else found.sample[:, used], unit)
        measured = _measure(found, measured_rows, [names[j] for j in used], metric, seed, threads)
        known: dict[str, Any] = {
            "rows": found.rows,
            "columns_count": rows.d,
            "complete": found.rows - found.incomplete,
            "sample": found.sample.shape[0],
            "seed": seed,
            "standardized": standardized,
            "standardize_advised": unequal and asked is not True,
            "used_columns": len(used),
            "duplicate_rows": found.rows - len(np.unique(found.row_hashes)),
            "columns": told,
            "metric": metric.name,
            "noise": noise_name(metric),
        }
    draft = Diagnosis(**known, **measured)
    return Examination(replace(draft, verdict=advise(draft)), measured_rows)


MEASURES = ("correlations", "space", "concentration", "concentration_noise", "hubness", "hubness_noise", "intrinsic")


def _measure(found: Profile, X: Sample, names: list[str], metric: Metric, seed: int, threads: int) -> dict[str, Any]:
    """The measures on the used columns of the sample, in their units, (sample, used)."""
    parts: dict[str, Any] = dict.fromkeys((*MEASURES, "intrinsic_normal", "modes"))
    if 0 in X.shape:
        return parts
    report("diagnosing: columns", 1, 4)
    parts["correlations"] = correlations(X, names, threads)
    parts["space"] = empty_space(X, found.rows)
    _, first = np.unique(found.row_hashes[found.index], return_index=True)
    first = np.sort(first)
    n = len(first)
    if n < 3:  # (almost) all rows are equal: there are no neighbors to measure
        return parts
    rows = space_of(X[first], metric, threads)
    report("diagnosing: neighbors", 2, 4)
    here = rows.neighborhood(min(DIMENSION_NEIGHBORS, n - 1))
    few = min(HUB_NEIGHBORS, max(1, (n - 1) // 2))  # with all others as neighbors there are no hubs
    parts["hubness"] = hubness(here.numbers[:, :few], found.index[first])
    parts["concentration"] = _concentration(rows, here)
    report("diagnosing: dimension", 3, 4)
    parts["intrinsic"] = _intrinsic(here)
    parts["modes"] = count_modes(here.numbers, here.near[:, -1], parts["intrinsic"].typical)
    variances = rows.covariance_values()
    if variances is not None:
        normal = EuclideanSpace(normal_rows(variances, n, seed), metric, threads)
        parts["intrinsic_normal"] = _intrinsic(normal.neighborhood(here.near.shape[1]))
    noise = rows.noise(seed)
    there = noise.neighborhood(few)
    parts["hubness_noise"] = hubness(there.numbers, np.arange(n))
    parts["concentration_noise"] = _concentration(noise, there)
    report("diagnosing: noise", 4, 4)
    return parts


def _intrinsic(found: Neighborhood) -> IntrinsicDimension:
    return IntrinsicDimension(two_nn(found.near), levina_bickel(found.near), correlation_dimension(found.far))


def _concentration(space: SampleSpace, found: Neighborhood) -> Concentration | None:
    return concentration(space.distances(found.far), space.distances(found.nearest))


def _known(metric: MetricSpec, params: Mapping[str, Any] | None) -> Metric:
    """The metric of a name; raises where there is no table to measure."""
    known = metric_of(metric, params)
    if known.precomputed:
        raise BadParameter("diagnose needs rows, not distances: metric='precomputed' is not possible. Give the rows.")
    return known


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    return [_plain(inner) for inner in value] if isinstance(value, list | tuple) else value
