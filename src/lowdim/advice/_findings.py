"""Evidence in words: a name and a sentence with its figures each; what could not be measured is left out."""

from __future__ import annotations

from collections.abc import Iterator

from lowdim.advice._evidence import Evidence
from lowdim.diagnosis._diagnose import Diagnosis
from lowdim.runtime.display import count, rounded

__all__ = ["findings"]

Finding = tuple[str, str]

HUBS = 1.4  # skewness of the number of rows that a row is a neighbor of
REPEATED = 0.01  # share of duplicate rows from which they are told
ALIKE = 2.0  # ratio of standard deviations below which units do not show


def findings(e: Evidence) -> list[Finding]:
    """All sentences, what the table is first, then the shape of the cloud, then what is in the way."""
    measured = [] if e.diagnosis is None else [*_cloud(e), *_obstacles(e, e.diagnosis)]
    return [("table", _table(e)), *_values(e), *_supervision(e), *_distances(e), *measured]


def _table(e: Evidence) -> str:
    if e.kind == "distances":
        return f"distances between {count(e.rows, 'row')}"
    parts = [count(e.columns, "column")] if e.columns or not e.categories else []
    if e.categories:
        parts.append(f"{count(e.categories, 'column')} of categories")
    size = f"{count(e.rows, 'row')} × {' and '.join(parts)}"
    wide = ", more columns than rows: components are at most as many as rows" if e.columns > e.rows else ""
    return size + wide


def _values(e: Evidence) -> Iterator[Finding]:
    columns = e.told_columns
    if e.images:
        yield "values", "rows are images, whose pixels share a scale: not standardized"
    elif e.counts and columns is not None:
        yield "values", f"{columns.rare:.0%} of the columns are almost always zero, as in counts: not standardized"
    elif e.sparse:
        yield "values", "a sparse table: not centered, not standardized"
    elif e.answers is not None:
        yield "values", f"answers from {e.answers[0]} to {e.answers[1]} on one scale: not standardized"
    elif e.standardized and columns is not None and columns.scale_ratio is not None:
        ratio = f"one varies {rounded(columns.scale_ratio)} times as much as another"
        alike = columns.scale_ratio < ALIKE
        said = f"columns vary about alike ({ratio} at most)" if alike else f"columns have units of their own ({ratio})"
        yield "values", f"{said}: standardized"
    if e.missing and e.diagnosis is not None:
        rows = count(e.diagnosis.complete, "complete row")
        yield "missing", f"{e.missing:.1%} of the numbers; {rows}, on which the rest was measured"


def _supervision(e: Evidence) -> Iterator[Finding]:
    for name, kind in (("target", e.target), ("labels", e.labels)):
        if kind is not None:
            what = f"{e.classes} classes" if kind == "classes" else "numbers"
            yield name, f"{what}{'' if name == 'target' else ', to color by; they do not decide the map'}"


def _distances(e: Evidence) -> Iterator[Finding]:
    if e.distance_dimensions is not None:
        share = f"two represent {e.distance_share:.0%} of their inner products"
        yield "dimensions", f"{share}; {e.distance_dimensions} are needed for 90%"


def _cloud(e: Evidence) -> Iterator[Finding]:
    if e.linear is not None:
        null = f"in {e.replicates} tables of shuffled columns"
        if e.linear:
            kept = f"{count(e.linear, 'component')} {'is' if e.linear == 1 else 'are'} larger than {null}"
            yield "linear", f"{kept}: {e.linear_share:.0%} of the variance, {e.two_share:.0%} in the first two"
        else:
            yield "linear", f"no component is larger than {null}: no structure beyond noise in the correlations"
        if e.uncorrelated is not None:
            yield "correlations", f"none beyond noise (Bartlett's test, p = {e.uncorrelated:.2g})"
    if e.intrinsic is not None and e.intrinsic_normal is not None:
        share = e.intrinsic / e.intrinsic_normal
        told = "curved, or in groups" if e.curved else f"not below {e.curved_below:.0%} of it, so no curvature shows"
        normal = rounded(e.intrinsic_normal, 2)
        figures = f"about {rounded(e.intrinsic, 2)}; a normal cloud of the same covariance has {normal}"
        yield "intrinsic dimension", f"{figures} ({share:.0%}): {told}"
    if e.diagnosis is not None and e.diagnosis.modes is not None:
        modes = e.diagnosis.modes
        told = "one group, as far as its density tells" if modes < 2 else f"{modes} groups with fewer rows between them"
        yield "density", told


def _obstacles(e: Evidence, found: Diagnosis) -> Iterator[Finding]:
    here, noise = found.concentration, found.concentration_noise
    if here is not None and noise is not None and here.relative_contrast < 1:
        figures = f"the farthest row is {rounded(1 + here.relative_contrast, 2)} times as far as the nearest"
        yield "distances", f"concentrated ({figures}): reduce the columns before you trust neighbors"
    if found.hubness is not None and found.hubness.skewness > HUBS:
        hub = f"one row is a near neighbor of {found.hubness.largest:,} others"
        yield "hubs", f"{hub}, {found.hubness.antihubs:.0%} of rows are nobody's: neighbor graphs are uneven"
    if found.duplicate_rows > REPEATED * e.rows:
        yield "duplicates", f"{found.duplicate_rows:,} rows repeat another; nearest neighbors may be copies"
    if found.sample < found.complete:
        yield "sample", f"figures of the cloud are those of {found.sample:,} rows, drawn at random"
