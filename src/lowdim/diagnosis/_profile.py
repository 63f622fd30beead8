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
from lowdim.data.ownership import canonical_csr
from lowdim.data.rows import Block, Chunk, Rows
from lowdim.data.validation import overflow_error
from lowdim.errors import BadInput

__all__ = ["Profile", "profile"]

Array = NDArray[np.float64]
Words = NDArray[np.uint64]

# A sample stays sparse if it would have more values than this as a dense one, and if few of them are filled.
DENSE_VALUES, MOST_FILLED = 1 << 22, 0.25


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
    sample: Any  # (s, d) complete rows: an array, or a CSR matrix if they are many and sparse

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
        if sp.issparse(block):
            return _sparse_part(chunk.start, block, size, seed)
        return _part(chunk.start, np.array(block, dtype=np.float64, order="C"), size, seed)

    def merge(a: Profile, b: Profile) -> Profile:
        return _merge(a, b, size)

    out = fold(rows, summarize, merge, threads, "profiling rows")
    if not np.isfinite(out.squares).all():
        raise overflow_error()
    order = np.argsort(out.index)
    out.keys, out.index, out.sample = out.keys[order], out.index[order], out.sample[order]
    if sp.issparse(out.sample):
        values = out.sample.shape[0] * out.sample.shape[1]
        if values <= DENSE_VALUES or out.sample.nnz > MOST_FILLED * values:
            out.sample = out.sample.toarray()
    return out


def _part(start: int, X: Array, size: int, seed: int) -> Profile:
    is_missing = np.isnan(X)
    if np.isinf(X).any():
        row, column = (int(i) for i in np.argwhere(np.isinf(X))[0])
        raise _infinite_error(start + row, column, X[row, column])
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

    return Profile(
        missing,
        int(is_missing.any(axis=1).sum()),
        counts,
        means,
        squares,
        row_hashes(X, 1),
        column_hashes,
        *_drawn(X, np.asarray(~is_missing.any(axis=1)), number, size, seed),
    )


def _sparse_part(start: int, block: Any, size: int, seed: int) -> Profile:
    """As `_part`, without the zeros."""
    X = canonical_csr(block).astype(np.float64)  # a copy
    n, d = X.shape
    values, column, row = X.data, X.indices, np.repeat(np.arange(n), np.diff(X.indptr))
    if np.isinf(values).any():
        at = int(np.argmax(np.isinf(values)))
        raise _infinite_error(start + int(row[at]), int(column[at]), values[at])
    values[np.isnan(values)] = np.nan  # one NaN for all its bit patterns
    known = ~np.isnan(values)
    missing = np.bincount(column[~known], minlength=d)
    counts = n - missing.astype(np.float64)
    zeros = counts - np.bincount(column[known], minlength=d)
    base = np.zeros(d)
    base[column[known]] = values[known]
    base[zeros > 0] = 0  # an observed value, as in `_part`
    means = base + np.bincount(column[known], (values - base[column])[known], d) / np.maximum(counts, 1)
    squares = np.bincount(column[known], ((values - means[column]) ** 2)[known], d) + zeros * means**2

    number = np.arange(start, start + n, dtype=np.uint64)
    odd, of_zero = _mix(number) | np.uint64(1), _mix(np.zeros(1, dtype=np.uint64))
    column_hashes = np.full(d, (of_zero * odd).sum(), dtype=np.uint64)
    np.add.at(column_hashes, column, (_mix(values.view(np.uint64)) - of_zero) * odd[row])

    complete: NDArray[np.bool_] = np.ones(n, dtype=bool)
    complete[row[~known]] = False
    drawn = _drawn(X, complete, number, size, seed)
    return Profile(missing, n - int(complete.sum()), counts, means, squares, row_hashes(X, 1), column_hashes, *drawn)


def _drawn(X: Any, complete: NDArray[np.bool_], number: Words, size: int, seed: int) -> tuple[Words, Any, Any]:
    """Keys, numbers and values of the complete rows that a sample of this size may hold."""
    rows = np.flatnonzero(complete)
    keys = _mix(number[rows] ^ _mix(np.array([seed], dtype=np.uint64)))
    drawn = _smallest(keys, size)
    return keys[drawn], number[rows[drawn]].astype(np.int64), X[rows[drawn]]


def _infinite_error(row: int, column: int, value: float) -> BadInput:
    return BadInput(
        f"Input X contains infinity at row {row}, column {column} ({value}); NaN is taken as missing, infinity is not. "
        "Replace or drop it."
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
        _stacked(a.sample, b.sample)[drawn],
    )


def _stacked(a: Any, b: Any) -> Any:
    return sp.vstack([a, b], format="csr") if sp.issparse(a) else np.concatenate([a, b])


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
