"""A diagnosis in a few sentences of advice."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lowdim.diagnosis._diagnose import Diagnosis

__all__ = ["advise"]

MOST_SENTENCES = 6
WORTHWHILE = 0.7  # effective rank, as a share of the axes, below which PCA compresses
ADEQUATE = 0.8  # a KMO that Kaiser called meritorious
ENOUGH_ROWS = 50  # to report an intrinsic dimension


def advise(found: Diagnosis) -> tuple[str, ...]:
    """Two to six sentences, the most serious problem first."""
    said = [*_table(found), *_scale(found), *_correlations(found), *_distances(found)]
    missing = 2 - len(said)
    if missing > 0:
        fact = f"There are {found.complete} complete rows and {found.varying} columns that vary."
        said += [fact, "This is too little to say more; use more rows or other columns."][-missing:]
    return tuple(said[:MOST_SENTENCES])


def _table(found: Diagnosis) -> Iterator[str]:
    columns = found.columns
    if columns.missing:
        yield (
            f"{columns.missing:.1%} of the values are missing, most in column {columns.most_missing}; the rest "
            f"describes the {found.complete} complete rows. Impute them, or use PCA(missing='em')."
        )
    constant = len(columns.constant) + len(columns.nearly_constant)
    duplicate = sum(len(group) - 1 for group in columns.duplicates)
    if constant or duplicate:
        counts = [f"{constant} (nearly) constant"] * bool(constant) + [f"{duplicate} duplicate"] * bool(duplicate)
        yield f"Drop columns that add nothing: {' and '.join(counts)}."
    if found.duplicate_rows > 0.01 * found.rows:
        yield (
            f"{found.duplicate_rows} of {found.rows} rows are duplicates; weight or drop them, "
            "or nearest neighbors will be copies."
        )


def _scale(found: Diagnosis) -> Iterator[str]:
    ratio = found.columns.scale_ratio
    if ratio is not None and ratio > 10:
        yield (
            f"Standardize the columns: {found.columns.widest} varies {ratio:.3g} times as much as "
            f"{found.columns.narrowest} and would dominate every distance and component."
        )


def _correlations(found: Diagnosis) -> Iterator[str]:
    related = found.correlations
    if related is None:
        return
    if related.bartlett_p is not None and related.bartlett_p > 0.05:
        yield "The columns are uncorrelated (Bartlett's test), so PCA has nothing to gain; select columns instead."
        return
    worth = related.effective_rank < WORTHWHILE * found.axes
    rank = f"{related.effective_rank:.2g} of {found.axes} dimensions"
    if worth:
        yield f"Most variation lies in about {rank}, so PCA is worthwhile."
    elif related.kmo is not None and related.kmo > ADEQUATE:
        yield f"The columns are clearly correlated (KMO {related.kmo:.2f}), but no few components dominate."
    else:
        yield f"The variation fills about {rank}: PCA compresses little; try a nonlinear method or select columns."


def _distances(found: Diagnosis) -> Iterator[str]:
    dimension = found.intrinsic.typical if found.intrinsic is not None else None
    if dimension is not None and found.varying > 2 and found.sample >= ENOUGH_ROWS:
        yield f"The intrinsic dimension is about {min(dimension, found.varying):.2g}, in {found.varying} columns."
    here, noise = found.concentration, found.concentration_noise
    if here is None or noise is None:
        return
    if here.median_contrast < 1:
        yield (
            "Distances are concentrated (the farthest row is less than twice as far as the nearest): reduce the "
            "dimension before you trust neighbors or clusters."
        )
    elif here.median_contrast < 1.5 * noise.median_contrast and found.varying > 5:
        yield "Distances are hardly less concentrated than in Gaussian noise of this size."
    else:
        yield "Distances are not concentrated: near rows differ clearly from far ones."
    if found.hubness is not None and found.hubness.skewness > 1.4:
        yield (
            f"There are hubs: row {found.hubness.hub} is a near neighbor of {found.hubness.largest} others, and "
            f"{found.hubness.antihubs:.0%} of rows are nobody's neighbor, so neighbor graphs are uneven."
        )
