"""A diagnosis in a few plain sentences."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lowdim.diagnosis._diagnose import Diagnosis

__all__ = ["advise"]

MOST_SENTENCES = 6
WORTH_WHILE = 0.7  # share of the axes below which PCA saves something
ENOUGH_ROWS = 50  # to speak of the dimension that they fill


def advise(found: Diagnosis) -> tuple[str, ...]:
    """Two to six sentences, what hurts most first."""
    said = [*_table(found), *_scale(found), *_relation(found), *_distances(found)]
    missing = 2 - len(said)
    if missing > 0:
        fact = f"There are {found.complete} complete rows and {found.varying} columns that vary."
        said += [fact, "This is too little to say more; give more rows or other columns."][-missing:]
    return tuple(said[:MOST_SENTENCES])


def _table(found: Diagnosis) -> Iterator[str]:
    columns = found.columns
    if columns.missing:
        yield (
            f"{columns.missing:.1%} of the values are missing, most in column {columns.most_missing}; what follows "
            f"is about the {found.complete} complete rows. Fill the gaps, or use PCA(missing='em')."
        )
    idle = len(columns.constant) + len(columns.nearly_constant)
    doubled = sum(len(group) - 1 for group in columns.duplicates)
    if idle or doubled:
        counts = [f"{idle} (nearly) constant"] * bool(idle) + [f"{doubled} duplicate"] * bool(doubled)
        yield f"Drop columns that add nothing: {' and '.join(counts)}."
    if found.duplicate_rows > 0.01 * found.rows:
        yield (
            f"{found.duplicate_rows} of {found.rows} rows repeat earlier ones; weigh or drop them, "
            "or neighbours will be copies."
        )


def _scale(found: Diagnosis) -> Iterator[str]:
    ratio = found.columns.scale_ratio
    if ratio is not None and ratio > 10:
        yield (
            f"Standardise the columns: {found.columns.widest} varies {ratio:.3g} times as much as "
            f"{found.columns.narrowest} and would decide every distance and axis."
        )


def _relation(found: Diagnosis) -> Iterator[str]:
    related = found.relation
    if related is None:
        return
    if related.bartlett_p is not None and related.bartlett_p > 0.05:
        yield "The columns are not related beyond chance, so PCA has nothing to gain; select columns instead."
        return
    worth = related.effective_rank < WORTH_WHILE * found.axes
    yield (
        f"The rows vary as if along {related.effective_rank:.3g} equal axes of {found.axes} possible ones: "
        + ("PCA is worth while." if worth else "PCA will save little; try a nonlinear map or select columns.")
    )


def _distances(found: Diagnosis) -> Iterator[str]:
    dimension = found.intrinsic.typical if found.intrinsic is not None else None
    if dimension is not None and found.varying > 2 and found.sample >= ENOUGH_ROWS:
        yield f"The rows seem to fill about {min(dimension, found.varying):.2g} dimensions of {found.varying}."
    here, noise = found.concentration, found.concentration_noise
    if here is None or noise is None:
        return
    if here.median_contrast < 1:
        yield (
            "Distances are nearly all alike (the farthest row is less than twice as far as the nearest): reduce "
            "the dimension before you trust neighbours or clusters."
        )
    elif here.median_contrast < 1.5 * noise.median_contrast and found.varying > 5:
        yield "Distances tell rows apart hardly better than in pure noise of this size."
    else:
        yield "Distances still tell near rows from far ones."
    if found.hubness is not None and found.hubness.skewness > 1.4:
        yield (
            f"A few rows are neighbours of very many (row {found.hubness.hub} of {found.hubness.largest}; "
            f"{found.hubness.antihubs:.0%} of the rows of none): graphs of neighbours will be uneven."
        )
