"""Moments by slice, with the scatter of each slice of its own: what SAVE and directional regression read.

SIR needs no more than the means of the slices and one pooled scatter, which `Moments` holds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.data.fold import fold
from lowdim.data.rows import Block, Chunk, DerivedRows, Rows
from lowdim.data.target import class_labels
from lowdim.data.validation import not_finite_error, overflow_error
from lowdim.errors import BadParameter, NotEnoughData
from lowdim.runtime.display import count
from lowdim.runtime.memory import require_memory
from lowdim.summaries.moments import Moments, block_moments, merge

__all__ = ["RowsOfMoments", "SliceMoments", "SlicedRows", "slice_moments", "without_empty_slices"]

Array = NDArray[Any]
Floats = NDArray[np.float64]


class SlicedRows(DerivedRows):
    """Rows whose chunks carry their slices, if any.

    Arrays, files and streams take this one path, so that sums over them have the same bits.
    """

    def __init__(self, rows: Rows, n: int, codes: NDArray[np.int32] | None) -> None:
        self.source, self.codes = rows, codes
        self.n, self.d, self.dtype, self.sparse = n, rows.d, rows.dtype, rows.sparse
        self.feature_names = getattr(rows, "feature_names", None)

    def derive(self, block: Block) -> Block:
        return block

    def targets(self, chunk: Chunk) -> Array | None:
        return None if self.codes is None else self.codes[chunk.start : chunk.stop]


class RowsOfMoments(Rows):
    """The rows that moments were made of: no longer there."""

    def __init__(self, moments: Moments) -> None:
        self.moments = replace(moments)
        self.n, self.d, self.dtype = moments.rows, moments.d, moments.dtype

    def block(self, start: int, stop: int) -> Block:
        raise BadParameter(
            "Moments do not include the rows, which order_test='weighted_chi2' and 'permutation' and "
            "shrinkage='ledoit-wolf' read again. Use order_test='chi2' or shrinkage='oas', or give the rows."
        )


@dataclass(frozen=True)
class SliceMoments:
    """Moments by slice, and the scatter of each slice about its own mean."""

    moments: Moments
    scatters: Floats  # (H, d, d)

    def covariances(self, ddof: int) -> Floats:
        """Covariances of the slices, dividing by n_h - ddof, (H, d, d)."""
        return self.scatters / (self.moments.counts - ddof)[:, None, None]


def slice_moments(rows: Rows, weights: Floats | None, threads: int) -> SliceMoments:
    """Moments of rows whose chunks carry their slices, in one pass; every slice must have more than one row."""
    codes = rows.codes if isinstance(rows, SlicedRows) else None  # labels of a stream come with its chunks
    slices = 2 if codes is None else int(codes.max()) + 1
    require_memory(
        8 * rows.d**2 * slices * (3 + threads),
        f"{slices} scatter matrices of {rows.d} × {rows.d}",
        "Use SIR, which needs one, or fewer slices or columns.",
    )

    def summarize(chunk: Chunk, block: Block) -> dict[Any, Moments]:
        labels = class_labels(chunk.y, chunk.stop - chunk.start)
        found: dict[Any, Moments] = {}
        for code, label in enumerate(labels.classes.tolist()):
            inside = np.flatnonzero(labels.codes == code)
            weight = None if weights is None else weights[chunk.start + inside]
            part = block_moments(block[inside], None, None, weight)
            if part is None:
                raise not_finite_error(rows, chunk)
            part.within = part.within.astype(np.float64, copy=False)
            found[label] = part
        return found

    def add(a: dict[Any, Moments], b: dict[Any, Moments]) -> dict[Any, Moments]:
        return a | {label: merge(a[label], part) if label in a else part for label, part in b.items()}

    found = fold(rows, summarize, add, threads)
    classes = np.array(sorted(label for label, part in found.items() if part.n > 0))
    parts = [found[label] for label in classes.tolist()]
    scatters = np.stack([part.within for part in parts])
    if not np.isfinite(scatters).all():
        raise overflow_error()
    counts = np.array([part.n for part in parts])
    if (counts <= 1).any():
        few = int(np.argmax(counts <= 1))
        raise NotEnoughData(
            f"slice {classes[few]!r} has {count(float(counts[few]), 'row')} (the sum of their weights), and its "
            "covariance needs at least 2. Use fewer slices, slicing='quantile', or SIR."
        )
    means = np.concatenate([part.means for part in parts])
    total = sum(part.rows for part in parts)
    return SliceMoments(Moments(total, counts, means, scatters.sum(axis=0), classes, rows.dtype), scatters)


def without_empty_slices(moments: Moments) -> Moments:
    """Moments without the slices in which every row has weight 0."""
    there = moments.counts > 0
    if there.all() or moments.classes is None:
        return moments
    return replace(moments, counts=moments.counts[there], means=moments.means[there], classes=moments.classes[there])
