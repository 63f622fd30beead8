"""One pass over all rows: missing values, spreads of the columns, hashes that find duplicates, and a random sample.

The hash of a row is a 64-bit hash of its values; that of a column sums the hashes of its values and positions. Equal
hashes are equal rows or columns, up to collisions (about one in 10¹⁹ per pair). The sample consists of the rows whose
hashed numbers are smallest, so it depends on the seed alone, not on chunks or threads.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.data.duplicates import row_hashes
from lowdim.data.fold import fold
from lowdim.data.rows import Block, Chunk, Rows, chunk_rows
from lowdim.data.validation import overflow_error
from lowdim.errors import BadInput

__all__ = ["Profile", "profile"]

Array = NDArray[np.float64]
Words = NDArray[np.uint64]


@dataclass
class Profile:
    """The result of one pass. Profiles of two parts merge into that of the whole."""

    missing: NDArray[np.int64]  # (d,) NaN in each column
    incomplete: int  # rows with NaN
    counts: Array  # (d,) values that are not missing
    means: Array  # (d,)
    squares: Array  # (d,) sums of squares about the means
    row_hashes: Words  # (n,)
    column_hashes: Words  # (d,)
    keys: Words  # (s,) hash keys of the sample
    index: NDArray[np.int64]  # (s,) its row numbers
    sample: Array  # (s, d) complete rows

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(self.row_hashes)

    def spreads(self) -> Array:
        """Standard deviations (ddof 0) of the values that are not missing; 0 for a column of NaN, (d,)."""
        return np.sqrt(self.squares / np.maximum(self.counts, 1))


def profile(rows: Rows, size: int, seed: int, threads: int) -> Profile:
    """Read all rows once. NaN is a missing value; infinity is an error."""

    def summarize(chunk: Chunk, block: Block) -> Profile:
        step = chunk_rows(rows.d, 8)  # a sparse chunk may hold more rows than fit densely
        parts = (
            _part(chunk.start + start, _dense(block[start : start + step]), size, seed)
            for start in range(0, block.shape[0], step)
        )
        total = next(parts)
        for part in parts:
            total = merge(total, part)
        return total

    def merge(a: Profile, b: Profile) -> Profile:
        return _merge(a, b, size)

    out = fold(rows, summarize, merge, threads, "profiling rows")
    if not np.isfinite(out.squares).all():
        raise overflow_error()
    order = np.argsort(out.index)
    out.keys, out.index, out.sample = out.keys[order], out.index[order], out.sample[order]
    return out


def _dense(block: Block) -> Array:
    dense = block.toarray() if sp.issparse(block) else block
    return np.array(dense, dtype=np.float64, order="C")


def _part(start: int, X: Array, size: int, seed: int) -> Profile:
    is_missing = np.isnan(X)
    if np.isinf(X).any():
        row, column = (int(i) for i in np.argwhere(np.isinf(X))[0])
        raise BadInput(
            f"Input X contains infinity at row {start + row}, column {column} ({X[row, column]}); NaN is taken as "
            "missing, infinity is not. Replace or drop it."
        )
    missing = is_missing.sum(axis=0)
    counts = len(X) - missing.astype(np.float64)
    # Averaging differences from an observed value keeps the mean of equal numbers exact.
    base = X[np.argmax(~is_missing, axis=0), np.arange(X.shape[1])]
    base = np.where(np.isnan(base), 0.0, base)
    means = base + np.where(is_missing, 0.0, X - base).sum(axis=0) / np.maximum(counts, 1)
    squares = (np.where(is_missing, 0.0, X - means) ** 2).sum(axis=0)

    X[is_missing] = np.nan  # one NaN for all its bit patterns
    number = np.arange(start, start + len(X), dtype=np.uint64)
    hashed = _mix((X + 0.0).view(np.uint64))  # adding zero makes -0 the same as 0
    column_hashes = (hashed * (_mix(number) | np.uint64(1))[:, None]).sum(axis=0)

    complete = np.flatnonzero(~is_missing.any(axis=1))
    keys = _mix(number[complete] ^ _mix(np.array([seed], dtype=np.uint64)))
    drawn = _smallest(keys, size)
    kept = complete[drawn]
    return Profile(
        missing,
        len(X) - len(complete),
        counts,
        means,
        squares,
        row_hashes(X, 1),
        column_hashes,
        keys[drawn],
        kept + start,
        X[kept],
    )


def _merge(a: Profile, b: Profile, size: int) -> Profile:
    counts = a.counts + b.counts
    share = b.counts / np.maximum(counts, 1)
    shift = b.means - a.means
    keys = np.concatenate([a.keys, b.keys])
    drawn = _smallest(keys, size)
    return Profile(
        a.missing + b.missing,
        a.incomplete + b.incomplete,
        counts,
        a.means + share * shift,
        a.squares + b.squares + a.counts * share * shift**2,
        np.concatenate([a.row_hashes, b.row_hashes]),
        a.column_hashes + b.column_hashes,
        keys[drawn],
        np.concatenate([a.index, b.index])[drawn],
        np.concatenate([a.sample, b.sample])[drawn],
    )


def _smallest(keys: Words, size: int) -> NDArray[np.intp]:
    return np.argsort(keys, kind="stable")[:size] if len(keys) > size else np.arange(len(keys))


def _mix(words: NDArray[Any]) -> Words:
    """splitmix64: a 64-bit hash in which every input bit flips half of the output bits."""
    x = words.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    x ^= x >> np.uint64(30)
    x *= np.uint64(0xBF58476D1CE4E5B9)
    x ^= x >> np.uint64(27)
    x *= np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
