"""A diagnosis in a few sentences of advice."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lowdim.base.standardization import UNIT_METRICS
from lowdim.runtime.display import count, rounded

if TYPE_CHECKING:
    from lowdim.diagnosis._diagnose import Diagnosis

__all__ = ["advise"]

MOST_SENTENCES = 6
WORTHWHILE = 0.7  # effective rank, as a share of the axes, below which PCA compresses
ADEQUATE = 0.8  # a KMO that Kaiser called meritorious
ENOUGH_ROWS = 50  # to report an intrinsic dimension
FEWEST_ROWS = 20  # below which every row is far from every other
FEW_COLUMNS = 5  # in which noise itself is not concentrated

# Metrics that compare columns in their units, and not directions or sets.
COLUMN_METRICS = (*UNIT_METRICS, "seuclidean", "mahalanobis")

# What to do, in Python and on the command line.
REMEDIES = {
    "missing": ("PCA(missing='em')", "--missing em"),
    "cosine": ("metric='cosine'", "--metric cosine"),
}


def advise(found: Diagnosis, flags: bool = False) -> tuple[str, ...]:
    """Two to six sentences, the most serious problem first; remedies are arguments, or flags of the command line."""
    remedies = {name: pair[flags] for name, pair in REMEDIES.items()}
    said = [*_table(found, remedies), *_scale(found, remedies), *_correlations(found), *_distances(found)]
    missing = 2 - len(said)
    if missing > 0:
        rows, columns = count(found.complete, "complete row"), count(found.used_columns, "column")
        fact = f"There {'is' if found.complete == 1 else 'are'} {rows} and {columns} to measure."
        said += [fact, "This is too little to say more; use more rows or other columns."][-missing:]
    return tuple(said[:MOST_SENTENCES])


def _table(found: Diagnosis, remedies: dict[str, str]) -> Iterator[str]:
    columns = found.columns
    if columns.missing:
        cells = count(round(columns.missing * found.rows * found.columns_count), "value")
        rows = count(found.rows - found.complete, "row")
        yield (
            f"{cells} in {rows} are missing ({columns.missing:.1%}), most in column {columns.most_missing}; the rest "
            f"describes the {found.complete:,} complete rows. Impute them, or use {remedies['missing']}."
        )
    if columns.are_counts:
        keep = "keep them"
        if found.metric in COLUMN_METRICS:
            keep += f", and compare rows by direction ({remedies['cosine']})"
        yield f"{columns.rare:.0%} of columns are almost always zero, as usual for counts and text: {keep}."
    constant = len(columns.constant) + (0 if columns.are_counts else len(columns.nearly_constant))
    duplicate = 0 if columns.are_counts else sum(len(group) - 1 for group in columns.duplicates)
    if constant or duplicate:
        kind = "constant" if columns.are_counts else "(nearly) constant"
        counts = [f"{constant:,} {kind}"] * bool(constant) + [f"{duplicate:,} duplicate"] * bool(duplicate)
        yield f"Drop columns that add nothing: {' and '.join(counts)}."
    if found.duplicate_rows > 0.01 * found.rows:
        yield (
            f"{found.duplicate_rows:,} of {found.rows:,} rows are duplicates; weight or drop them, "
            "or nearest neighbors will be copies."
        )


def _scale(found: Diagnosis, remedies: dict[str, str]) -> Iterator[str]:
    columns = found.columns
    if found.standardize_advised and columns.scale_ratio is not None:
        done = ", as these figures do" if found.standardized else ""
        yield (
            f"Standardize the columns{done}: {columns.widest} varies {rounded(columns.scale_ratio)} times as much as "
            f"{columns.narrowest} and would dominate every distance and component."
        )
    elif found.standardized and columns.are_counts:
        yield f"Don't standardize counts: rare columns would dominate. Use {remedies['cosine']} on them as they are."
    elif columns.answers is not None:
        low, high = columns.answers
        yield f"All columns are answers from {low} to {high} on one scale, so standardizing them is a matter of choice."


def _correlations(found: Diagnosis) -> Iterator[str]:
    related = found.correlations
    if related is None:
        return
    if related.bartlett_p is not None and related.bartlett_p > 0.05:
        yield "The columns are uncorrelated (Bartlett's test), so PCA has nothing to gain; select columns instead."
        return
    rank = f"{rounded(related.effective_rank, 2)} of {found.axes} dimensions"
    if related.effective_rank < WORTHWHILE * found.axes:
        yield f"Most variation lies in about {rank}, so PCA is worthwhile."
    elif related.kmo is not None and related.kmo > ADEQUATE:
        yield f"Columns are clearly related (KMO {related.kmo:.2f}), but no few components dominate."
    else:
        yield f"The variation fills about {rank}: PCA compresses little; try a nonlinear method or select columns."


def _distances(found: Diagnosis) -> Iterator[str]:
    dimension = found.intrinsic.typical if found.intrinsic is not None else None
    used = found.used_columns
    if dimension is not None and used > 2 and found.sample >= ENOUGH_ROWS:
        yield f"The intrinsic dimension is about {rounded(min(dimension, used), 2)}, in {count(used, 'column')}."
    here, noise = found.concentration, found.concentration_noise
    if here is None or noise is None or found.sample < FEWEST_ROWS:
        return
    if here.relative_contrast < 1:
        yield (
            "Distances are concentrated (the farthest row is less than twice as far as the nearest): reduce the "
            "dimension before you trust neighbors or clusters."
        )
    elif here.relative_contrast < 1.5 * noise.relative_contrast and used > FEW_COLUMNS:
        null = "Gaussian noise of this size" if found.noise == "noise" else "the same columns, shuffled"
        yield f"Distances are hardly less concentrated than in {null}."
    else:
        yield "Distances are not concentrated: near rows differ clearly from far ones."
    if found.hubness is not None and found.hubness.skewness > 1.4:
        yield (
            f"There are hubs: row {found.hubness.hub} is a near neighbor of {found.hubness.largest:,} others, and "
            f"{found.hubness.antihubs:.0%} of rows are nobody's neighbor, so neighbor graphs are uneven."
        )
