"""A diagnosis as printed lines: a name and a text each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lowdim.runtime.display import count, p_value, rounded

if TYPE_CHECKING:
    from lowdim.diagnosis._diagnose import Diagnosis

__all__ = ["lines"]

Line = tuple[str, str]

NAMES_SHOWN = 5
HALF_EMPTY = 0.5  # share of empty cells from which they are worth a line


def lines(found: Diagnosis) -> list[Line]:
    """One line per measure; what could not be measured is left out."""
    return [*_columns(found), *_correlations(found), *_distances(found), *_space(found)]


def _columns(found: Diagnosis) -> Iterator[Line]:
    columns = found.columns
    if columns.missing:
        yield "missing values", f"{columns.missing:.2%}; {count(found.complete, 'complete row')}"
    if found.duplicate_rows:
        yield "duplicate rows", f"{found.duplicate_rows:,}"
    if columns.constant:
        yield "constant columns", _some(columns.constant)
    if columns.are_counts:
        yield "almost always zero", f"{columns.rare:.0%} of the columns"
    elif columns.nearly_constant:
        yield "nearly constant", _some(columns.nearly_constant)
    if columns.duplicates:
        yield "equal columns", _some(tuple(" = ".join(group) for group in columns.duplicates))
    if columns.answers is not None:
        yield "values", f"whole numbers from {columns.answers[0]} to {columns.answers[1]}, as in a questionnaire"
    elif columns.scale_ratio is not None and not columns.are_counts:
        before = " before standardizing" if found.standardized else ""
        yield (
            "scale of columns",
            f"the widest varies {rounded(columns.scale_ratio)} times as much as the narrowest{before}",
        )


def _correlations(found: Diagnosis) -> Iterator[Line]:
    related = found.correlations
    if related is None:
        return
    yield "correlation |r|", f"mean {related.mean_correlation:.2f}; {related.strong:.0%} of pairs above 0.5"
    yield "most correlated", f"{related.pair[0]} and {related.pair[1]} (r = {related.largest:.3f})"
    yield "effective rank", f"{rounded(related.effective_rank)} of {found.axes}"
    if related.kmo is not None:
        yield "KMO", f"{related.kmo:.2f}"
    if related.bartlett_p is not None:
        yield "sphericity", f"p {p_value(related.bartlett_p, '= ')} (Bartlett's test)"


def _distances(found: Diagnosis) -> Iterator[Line]:
    dimension = found.intrinsic
    if dimension is not None and dimension.typical is not None:
        named = [
            ("two-NN", dimension.two_nn),
            ("Levina-Bickel", dimension.levina_bickel),
            ("correlation", dimension.correlation),
        ]
        yield "intrinsic dimension", ", ".join(f"{name} {rounded(value)}" for name, value in named if value is not None)
        normal = found.intrinsic_normal
        if normal is not None and normal.typical is not None:
            yield (
                "of a normal cloud",
                f"{rounded(normal.typical)}, with the same covariance; these rows: {rounded(dimension.typical)}",
            )
    if found.modes is not None and found.modes > 1:
        yield "modes of the density", f"{found.modes}: groups with fewer rows between them"
    here, noise = found.concentration, found.concentration_noise
    if here is not None and noise is not None:
        ratio = f"the farthest row is {rounded(1 + here.relative_contrast)} times as far as the nearest"
        yield (
            "relative contrast",
            f"{rounded(here.relative_contrast)} ({found.noise}: {rounded(noise.relative_contrast)}): {ratio}",
        )
        yield "variation of distances", f"{here.variation:.3f} ({found.noise}: {noise.variation:.3f})"
    hubs, even = found.hubness, found.hubness_noise
    if hubs is not None and even is not None:
        yield "hubness", f"skewness {hubs.skewness:.2f} ({found.noise}: {even.skewness:.2f})"


def _space(found: Diagnosis) -> Iterator[Line]:
    space = found.space
    empty = () if space is None else space.empty[:4]
    if space is None or not empty or empty[-1] < HALF_EMPTY:
        return
    grid = f"a grid of {space.bins} bins over {count(len(empty), 'column')}"
    yield "empty space", f"{empty[-1]:.0%} of the cells of {grid} hold no row: densities need few columns"


def _some(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else ""
    return ", ".join(names[:NAMES_SHOWN]) + more
