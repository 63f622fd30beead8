"""`lowdim.compare`: several methods on one table, measured side by side, and what came out of it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.base.standardization import should_standardize
from lowdim.choose import Choices
from lowdim.choose import table as choose_table
from lowdim.data.table import Table
from lowdim.errors import BadParameter, LowdimError
from lowdim.quality import QualityTable
from lowdim.quality import table as quality_table
from lowdim.report.compared_table import class_labels, complete_rows, data_facts, read_compared
from lowdim.report.fit_maps import ComparedRows, FittedMaps, fit_maps, read_methods
from lowdim.report.null_maps import MOST_SHUFFLED, beside_shuffled
from lowdim.report.reproduce import Reproduction, python_code
from lowdim.runtime.display import align, count, facts, paragraph, printable, titled
from lowdim.runtime.random import Seed, seed_of

__all__ = ["CompareOptions", "MethodComparison", "compare", "compare_table"]

Array = NDArray[Any]

MOST_CHOSEN = 2_000_000  # values of the table that the rules for the number of components read


@dataclass(frozen=True)
class CompareOptions:
    """What `compare` takes beside a table and methods."""

    standardize: bool | None = None
    metric: str = "euclidean"
    k: int = 15
    baselines: Sequence[str] = ("random", "pca")
    sample: int | None = None
    title: str | None = None
    random_state: Seed = 0
    n_jobs: int | None = None
    null: bool | None = None  # None: up to `MOST_SHUFFLED` rows

    def __post_init__(self) -> None:
        if isinstance(self.k, bool) or not isinstance(self.k, int | np.integer) or self.k < 1:
            raise BadParameter(f"k must be a whole number of at least 1; got {self.k!r:.60}.")
        if not isinstance(self.metric, str):
            raise BadParameter(f"metric must be the name of a metric; got {self.metric!r:.60}.")


@dataclass(frozen=True, eq=False, repr=False)
class MethodComparison:
    """Maps of one table by several methods, how far each can be trusted, and the report about them.

    Attributes
    ----------
    maps : dict from name to array (n, k)
        The embeddings.
    models : dict from name to estimator
        The fitted models, which map new rows. Coordinates that were made elsewhere have none.
    table : QualityTable
        The measures of every map, with intervals and baselines; `table["UMAP"]` is the `Quality` of one.
    choices : Choices or None
        How many components PCA should keep, by all rules of `lowdim.choose`; None without columns of numbers.
    left_out : dict from name to text
        Methods that made no map of this table, and why.
    seconds : dict from name to float
        What took how long.
    standardized : bool or None
        Whether columns were divided by their standard deviations; None if there are no columns.

    """

    maps: Mapping[str, Array]
    models: Mapping[str, Any]
    table: QualityTable
    choices: Choices | None
    left_out: Mapping[str, str]
    seconds: Mapping[str, float]
    standardized: bool | None
    rows: ComparedRows
    done: Sequence[tuple[str, str]]  # what was done to the data: names and texts
    title: str
    again: Reproduction = field(default_factory=Reproduction)
    colors: Array | None = None  # (n,) what the page colors by first
    color_name: str | None = None

    def words(self) -> list[str]:
        """What the figures say about every map: how near neighbors are kept, and whether far distances can be read."""
        return self.table.words()

    def to_dict(self) -> dict[str, Any]:
        """Plain lists and numbers, ready for JSON."""
        return {
            "title": self.title,
            "rows": self.rows.rows.count,
            "columns": list(self.rows.table.names),
            "standardized": self.standardized,
            "metric": self.rows.metric,
            "maps": {name: Z.tolist() for name, Z in self.maps.items()},
            "quality": self.table.to_dict(),
            "choices": None if self.choices is None else self.choices.to_dict(),
            "left_out": dict(self.left_out),
            "seconds": dict(self.seconds),
        }

    def save(self, path: str | os.PathLike[str] = "compare.html") -> Path:
        """Write the report, one HTML page that works offline, and return its path."""
        from lowdim.report.page import write_page

        return write_page(self, path)

    def __str__(self) -> str:
        missing = [(name, f"left out: {printable(why)}") for name, why in self.left_out.items()]
        return "\n\n".join([str(self.table), *([align(missing)] if missing else [])])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        said = [*self.words(), *(f"{name} was left out: {why}" for name, why in self.left_out.items())]
        return titled(self.title, facts(self.done), self.table._repr_html_(), *map(paragraph, said))


def compare(  # noqa: PLR0913  (one argument per thing that can be said about a table)
    X: Any,
    methods: Any = None,
    *,
    y: Any = None,
    labels: Any = None,
    label_name: str | None = None,
    ids: Any = None,
    standardize: bool | None = None,
    metric: str = "euclidean",
    k: int = 15,
    baselines: Sequence[str] = ("random", "pca"),
    sample: int | None = None,
    null: bool | None = None,
    title: str | None = None,
    random_state: Seed = 0,
    n_jobs: int | None = None,
) -> MethodComparison:
    """Fit several methods to one table, and measure how far each of their maps can be trusted.

        result = lowdim.compare(X, ["pca", "isomap", "tsne", "umap"], labels=species)
        print(result)                    # the table of figures, with intervals and baselines, and the words
        result.save("report.html")       # one page, offline: maps side by side, linked

    The rows are standardized once, and one neighbor search serves all methods that read a graph, and the measures. A
    method that fails on this table is left out, and `left_out` says why; only if all fail, there is an error.

    Parameters
    ----------
    X : table (n, d), path of a file, or distances (n, n) with metric="precomputed"
        Missing values are estimated by EM, with a warning, unless metric="gower".
    methods : names, estimators, or a dict from name to either, optional
        Names are those of `lowdim.methods()`, in a list or between commas. Estimators are cloned; also those of other
        packages, with `fit_transform`. An array (n, k) is a map made elsewhere. None takes PCA, Isomap (up to 10,000
        rows), t-SNE and UMAP; of distances, classical scaling instead of PCA.
    y : n classes or numbers, optional
        The target of methods that need or take one.
    labels : n labels, optional
        Colors, and what the measures of groups compare; those of a `Table` are taken by themselves, and else y.
    label_name : str, optional
        What the labels are called.
    ids : n names of rows, optional
        Shown for the row under the pointer.
    standardize : bool, optional
        Divide every column by its standard deviation. None does so, unless rows are images or the metric ignores
        units: the rule of `lowdim map`.
    metric : str
        Of all methods that have one, and of the measures.
    k : int
        Neighbors that the measures of neighborhoods compare.
    baselines : names
        Maps that every figure stands beside: "random", "pca".
    sample : int, optional
        Rows that are measured against all; None takes all of up to 10,000 rows.
    null : bool, optional
        Fit every method to shuffled columns too: its figures there are one more baseline, and every point is compared
        with those of that map. None does so up to 5,000 rows.
    title : str, optional
        Of the report.
    random_state : int, generator or None
        Seed of the methods that are given by name, and of samples.
    n_jobs : int, optional
        Threads. The result has the same bits for any number of them.

    """
    options = CompareOptions(standardize, metric, k, baselines, sample, title, random_state, n_jobs, null)
    own = [("y", y), ("labels", labels), ("label_name", label_name), ("ids", ids)]
    asked = {name: value for name, value in vars(options).items() if name != "n_jobs"}
    again = Reproduction(python_code(methods, asked, given=[name for name, value in own if value is not None]))
    table = read_compared(X, labels, label_name, ids, metric)
    if table.labels is None and y is not None:
        table = read_compared(table, y, label_name, None, metric)
    return compare_table(table, methods, options, y=y, again=again)


def compare_table(
    table: Table,
    methods: Any,
    options: CompareOptions,
    *,
    y: Any = None,
    again: Reproduction,
    done: Sequence[tuple[str, str]] = (),
    colors: Array | None = None,
    color_name: str | None = None,
) -> MethodComparison:
    """`compare` for a `Table`; `done` says what was done to it before, `colors` (n,) is what to color by first."""
    metric = "precomputed" if table.kind == "distances" else options.metric
    settings: dict[str, Any] = {"random_state": seed_of(options.random_state), "n_jobs": options.n_jobs}
    table, missing = complete_rows(table, metric, options.n_jobs)
    standardized = should_standardize({"metric": metric}, table, options.standardize)
    specs, too_large = read_methods(methods, table, metric, standardized, settings)
    rows = ComparedRows.of(table, metric, standardized)
    fitted = fit_maps(specs, rows, y, options.k, settings)
    quality = _measure(rows, fitted, metric, options, settings)
    start = perf_counter()
    choices, sampled = _choices(rows, settings)
    fitted.seconds["number of components"] = perf_counter() - start
    return MethodComparison(
        fitted.maps,
        fitted.models,
        quality,
        choices,
        too_large | fitted.left_out,
        fitted.seconds,
        standardized,
        rows,
        [*data_facts(table, standardized, metric), *missing, *done, *sampled],
        options.title or f"{count(len(fitted.maps), 'map')} of {count(rows.rows.count, 'row')}",
        again,
        colors,
        color_name,
    )


def _measure(
    rows: ComparedRows, fitted: FittedMaps, metric: str, options: CompareOptions, settings: dict[str, Any]
) -> QualityTable:
    """How far each map can be trusted, beside the baselines and, where that is asked for, shuffled columns."""
    labels = class_labels(rows.table)
    start = perf_counter()
    quality = quality_table(
        rows.rows,
        fitted.maps,
        labels=labels,
        k=min(options.k, rows.rows.count - 2),
        metric=metric,
        graph=None if fitted.neighbors is None else fitted.neighbors.graph,
        baselines=[name for name in options.baselines if name != "pca" or not _without_columns(rows)],
        sample=options.sample,
        **settings,
    )
    fitted.seconds["quality"] = perf_counter() - start
    if options.null or (options.null is None and rows.rows.count <= MOST_SHUFFLED):
        start = perf_counter()
        quality = beside_shuffled(quality, fitted, rows, labels, options.sample, settings)
        fitted.seconds["shuffled columns"] = perf_counter() - start
    return quality


def _without_columns(rows: ComparedRows) -> bool:
    return rows.metric in ("precomputed", "gower") or rows.table.kind == "distances"


def _choices(rows: ComparedRows, settings: Mapping[str, Any]) -> tuple[Choices | None, list[tuple[str, str]]]:
    """Every rule for the number of components, of evenly spaced rows where there are many; None without columns."""
    table, n = rows.table, rows.rows.count
    if _without_columns(rows) or table.rows().sparse or len(table.names) < 2:
        return None, []
    most = max(MOST_CHOSEN // len(table.names), 1000)
    said = []
    if n > most:
        table = table.select_rows(np.linspace(0, n - 1, most).round().astype(np.intp))
        said = [("number of components", f"judged by {count(most, 'evenly spaced row')}")]
    try:
        return choose_table(table, standardize=bool(rows.standardized), **settings), said
    except LowdimError as error:
        return None, [("number of components", f"not judged: {error}")]
