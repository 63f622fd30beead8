"""Rows of Dask collections: arrays, dataframes and lists of delayed tables, which stay in their partitions.

Dask is imported only when a collection of it is given. Whatever scheduler is active computes: a distributed client, or
else threads of this process. Rows come to this process only where a method asks for them (`chunks`, `block`, `whole`);
what is folded over blocks is summarized where the partitions are (`data/partition_fold.py`).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from lowdim.data.rows.base import Array, Block, Chunk, Rows, float_dtype
from lowdim.data.rows.checks import number_kind
from lowdim.data.rows.in_memory import as_frame, frame_rows
from lowdim.data.rows.stream import StreamRows, joined_blocks, open_rows
from lowdim.errors import BadInput, BadInputType
from lowdim.runtime.memory import require_memory
from lowdim.runtime.warning import warn

__all__ = ["DaskRows", "compute", "is_dask", "joined_partitions", "open_dask", "partition_block"]

PACKAGES = ("dask", "dask_expr")  # whose collections are recognized, by name: nothing is imported for it


class DaskRows(Rows):
    """Rows in partitions, which `parts` compute, one delayed table each, of known lengths."""

    partitioned = True

    def __init__(
        self,
        parts: Sequence[Any],
        lengths: Sequence[int],
        d: int,
        dtype: np.dtype[Any],
        *,
        sparse: bool = False,
        feature_names: Sequence[str] | None = None,
    ) -> None:
        self.parts = list(parts)
        self.bounds = np.concatenate([[0], np.cumsum(np.asarray(lengths, dtype=np.int64))])  # (p + 1,) row numbers
        self.n, self.d, self.dtype, self.sparse = int(self.bounds[-1]), d, dtype, sparse
        self.feature_names = None if feature_names is None else tuple(feature_names)

    def __getstate__(self) -> dict[str, Any]:
        """Without the partitions: a worker gets what to do with rows, never the rows of others."""
        return {name: value for name, value in self.__dict__.items() if name != "parts"}

    def chunks(self, size: int | None = None) -> Iterator[Chunk]:
        """Blocks on this machine, a partition at a time."""
        if not self.n:
            return iter(())
        return StreamRows(lambda: (self._computed(i) for i in range(len(self.parts)))).chunks(size or self.chunk_rows)

    def _computed(self, i: int) -> Block:
        return self.block(int(self.bounds[i]), int(self.bounds[i + 1]))

    def block(self, start: int, stop: int) -> Block:
        delayed = _dask().delayed(partition_block, pure=False)
        first = max(int(np.searchsorted(self.bounds, start, side="right")) - 1, 0)
        pieces = []
        for i in range(first, len(self.parts)):
            low, high = max(start, int(self.bounds[i])), min(stop, int(self.bounds[i + 1]))
            if low >= stop:
                break
            if low < high:
                pieces.append(delayed(self.parts[i], low, high, int(self.bounds[i]), self))
        if not pieces:
            return sp.csr_array((0, self.d), dtype=self.dtype) if self.sparse else np.empty((0, self.d), self.dtype)
        return joined_blocks(list(compute(*pieces)))

    def whole(self) -> Block:
        require_memory(
            2 * self.count * self.d * self.dtype.itemsize,
            f"gathering {self.count} rows × {self.d} columns",
            "Use a method that reads Moments, such as PCA, or fit a sample of the rows.",
        )
        return super().whole()

    def take(self, index: Array) -> Block:
        """The rows of these ascending numbers, (m, d)."""
        delayed = _dask().delayed(_taken, pure=False)
        places = np.searchsorted(index, self.bounds)
        cuts = [(i, index[places[i] : places[i + 1]]) for i in range(len(self.parts)) if places[i] < places[i + 1]]
        pieces = (delayed(self.parts[i], some, int(self.bounds[i]), self) for i, some in cuts)
        return joined_blocks(list(compute(*pieces)))


def is_dask(X: Any) -> bool:
    """Whether X is a collection of Dask, or a list of delayed tables."""
    if isinstance(X, list | tuple):
        return len(X) > 0 and all(_is_delayed(part) for part in X)
    return _is_collection(X)


def open_dask(X: Any) -> DaskRows:
    """Rows of a Dask array, dataframe or list of delayed tables; partitions of unknown length are counted first."""
    if _is_delayed(X):
        X = [X]
    if isinstance(X, list | tuple):
        return _delayed_rows(list(X))
    if hasattr(X, "rechunk"):
        return _array_rows(X)
    if hasattr(X, "map_partitions") and hasattr(X, "columns"):
        return _frame_rows(X)
    raise BadInputType(
        f"X is {type(X).__module__}.{type(X).__name__}, which is not a table. Give a Dask array, a Dask "
        "dataframe, or a list of delayed tables."
    )


def partition_block(part: Any, start: int, stop: int, offset: int, rows: DaskRows) -> Block:
    """Rows start…stop, by their number in the whole, of a partition whose first row is number `offset`."""
    own = open_rows(part)
    if own.d != rows.d:
        raise BadInput(f"the partition from row {offset} has {own.d} columns, but the first has {rows.d}.")
    block = own.block(start - offset, stop - offset)
    if block.shape[0] != stop - start:
        raise BadInput(f"the partition from row {offset} has {own.n} rows now, and had more when they were counted.")
    if rows.sparse:
        return sp.csr_array(block, dtype=rows.dtype)
    return np.ascontiguousarray(block.toarray() if sp.issparse(block) else block, dtype=rows.dtype)


def joined_partitions(parts: Sequence[Any], bounds: Array, rows: DaskRows) -> Block:
    """Neighboring partitions, whose rows begin and end at `bounds`, as one block."""
    edges = zip(parts, bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)
    return joined_blocks([partition_block(part, low, high, low, rows) for part, low, high in edges if low < high])


def compute(*delayed: Any) -> tuple[Any, ...]:
    """The results of delayed calls, by whatever scheduler is active."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sending large graph")  # weights and labels of the rows travel with it
        return tuple(_dask().compute(*delayed))


def _array_rows(X: Any) -> DaskRows:
    if X.ndim != 2:
        raise BadInput(f"Expected 2D array, got {X.ndim}D Dask array instead: a table has rows and columns.")
    if np.isnan(X.shape[1]):
        raise BadInput("the number of columns of the Dask array is unknown. Call its compute_chunk_sizes() first.")
    number_kind(np.empty(0, dtype=X.dtype))
    if X.numblocks[1] > 1:
        warn(
            f"the columns of the Dask array are in {X.numblocks[1]} chunks; they are put together, which moves data "
            "between workers. Give chunks of whole rows: X.rechunk({1: -1})."
        )
        X = X.rechunk({1: -1})
    parts = X.to_delayed().ravel().tolist()
    lengths = X.chunks[0] if not any(np.isnan(size) for size in X.chunks[0]) else _lengths(parts)
    dtype = float_dtype(np.dtype(np.float64) if X.dtype.kind == "O" else X.dtype)
    return DaskRows(parts, lengths, int(X.shape[1]), dtype, sparse=sp.issparse(X._meta))


def _frame_rows(X: Any) -> DaskRows:
    shell = frame_rows(as_frame(X._meta))  # the columns, without a row: refuses text
    counted = X[[X.columns[0]]] if len(X.columns) else X  # of a Parquet file, one column is read for it
    texts = all(isinstance(name, str) for name in X.columns)
    return DaskRows(
        X.to_delayed(),
        _lengths(counted.to_delayed()),
        shell.d,
        shell.dtype,
        sparse=shell.sparse,
        feature_names=[str(name) for name in X.columns] if texts else None,
    )


def _delayed_rows(parts: list[Any]) -> DaskRows:
    """Tables of any kind: the first tells the columns and whether rows are sparse; all tell the dtype."""
    described = compute(*(_dask().delayed(_describe, pure=False)(part) for part in parts))
    dtype = np.result_type(*(dtype for _, _, dtype, _, _ in described))
    _, d, _, sparse, names = described[0]
    return DaskRows(parts, [n for n, *_ in described], d, dtype, sparse=sparse, feature_names=names)


def _describe(part: Any) -> tuple[int, int, np.dtype[Any], bool, list[str] | None]:
    rows = open_rows(part)
    names = list(part.columns) if hasattr(part, "columns") else None
    texts = names is not None and all(isinstance(name, str) for name in names)
    return rows.count, rows.d, rows.dtype, rows.sparse, names if texts else None


def _lengths(parts: Sequence[Any]) -> list[int]:
    return list(compute(*(_dask().delayed(_length, pure=False)(part) for part in parts)))


def _length(part: Any) -> int:
    return int(part.shape[0])


def _taken(part: Any, index: Array, offset: int, rows: DaskRows) -> Block:
    whole = partition_block(part, offset, offset + int(part.shape[0]), offset, rows)
    return whole[index - offset]


def _is_collection(X: Any) -> bool:
    return type(X).__module__.partition(".")[0] in PACKAGES and hasattr(X, "__dask_graph__")


def _is_delayed(X: Any) -> bool:
    return type(X).__module__ == "dask.delayed"  # which has any attribute that is asked for


def _dask() -> Any:
    import dask

    return dask
