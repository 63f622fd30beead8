"""A sparse table of distances read as neighbor lists: stored entries are neighbors, also those of distance 0."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.distance.matrix_checks import require_lengths, require_zero_diagonal, rounding_of
from lowdim.errors import BadInput, NotEnoughData
from lowdim.runtime.display import count

__all__ = ["all_entries", "nearest_entries", "stored_distances"]

Entries = tuple[NDArray[np.int32], NDArray[np.float32]]


def stored_distances(matrix: Any, own: bool) -> sp.csr_array:
    """The stored distances as a CSR array in float32, in the order of the columns; `own`: without the diagonal."""
    csr = sp.csr_array(matrix).astype(np.float64)  # a copy: sum_duplicates works in place
    csr.sum_duplicates()
    with np.errstate(over="ignore"):
        narrow = csr.data.astype(np.float32)
    row = np.repeat(np.arange(csr.shape[0]), np.diff(csr.indptr))
    lowest = -rounding_of(matrix.dtype) * np.fmax.reduce(narrow, initial=0.0)
    bad = np.flatnonzero(~(np.isfinite(narrow) & (narrow >= lowest)))
    if len(bad):
        place = int(bad[0])
        raise BadInput(
            f"a distance must be from 0 to 3e38; from row {row[place]} to row {csr.indices[place]} it is "
            f"{csr.data[place]}. Correct the distances, or rescale them."
        )
    if own:
        require_zero_diagonal(csr.diagonal(), -lowest)
    kept = csr.indices != row if own else np.ones(csr.nnz, dtype=bool)
    starts = np.concatenate([[0], np.cumsum(kept)])[csr.indptr]
    return sp.csr_array((np.maximum(narrow[kept], 0), csr.indices[kept], starts), shape=csr.shape)


def nearest_entries(matrix: Any, k: int | None, own: bool) -> Entries:
    """Columns and values of the k smallest stored entries of each row, (n, k); equal ones by column.

    `own` says that rows and columns are the same: entries on the diagonal are left out. Without k, as many are
    taken as the row with the fewest has.
    """
    csr = stored_distances(matrix, own)
    if own:
        require_lengths(csr.data)
    counts = np.diff(csr.indptr)
    fewest = int(counts.min(initial=csr.shape[1]))
    wanted = max(fewest, 1) if k is None else k
    if wanted > fewest:
        which = f"row {int(np.argmin(counts))}" if len(counts) else "an empty table"
        raise NotEnoughData(
            f"every row must have {count(wanted, 'stored neighbor')}{' besides itself' if own else ''}; {which} has "
            f"{fewest}. Make the sparse graph with more neighbors, or ask for fewer."
        )
    take = _nearest_first(csr, counts)[csr.indptr[:-1].astype(np.int64)[:, None] + np.arange(wanted)]
    return csr.indices[take].astype(np.int32), csr.data[take]


def all_entries(matrix: Any) -> Entries:
    """Columns and values of all stored entries of each row, nearest first, (n, most); empty places are infinite."""
    csr = stored_distances(matrix, own=False)
    counts = np.diff(csr.indptr)
    if (counts == 0).any():
        raise NotEnoughData(
            f"row {int(np.argmin(counts))} has no stored neighbor, and can't be embedded without one. Drop it."
        )
    shape = (len(counts), int(counts.max(initial=1)))
    indices, distances = np.zeros(shape, dtype=np.int32), np.full(shape, np.inf, dtype=np.float32)
    filled = np.arange(shape[1]) < counts[:, None]  # row by row, from the left
    order = _nearest_first(csr, counts)
    indices[filled], distances[filled] = csr.indices[order], csr.data[order]
    return indices, distances


def _nearest_first(csr: sp.csr_array, counts: NDArray[Any]) -> NDArray[np.int64]:
    return np.lexsort((csr.indices, csr.data, np.repeat(np.arange(len(counts)), counts)))
