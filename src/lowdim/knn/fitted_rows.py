"""FittedRows: what a fitted model keeps of its rows, and the neighbors of new rows among them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.data.duplicates import RowHashes, find_rows
from lowdim.data.ownership import canonical_csr
from lowdim.data.rows import Chunk, Rows, checked_csr, open_rows
from lowdim.data.validation import not_finite_error, read_rows
from lowdim.distance.metrics import Metric
from lowdim.errors import BadInput
from lowdim.knn.blockwise import nearest_given
from lowdim.knn.index import NeighborIndex, Neighbors
from lowdim.knn.sparse_distances import all_entries
from lowdim.runtime.cached_property import cached_property
from lowdim.runtime.memory import require_memory
from lowdim.runtime.progress import report

__all__ = ["FittedRows", "NeighborSpec", "finite_block"]

Array = NDArray[Any]
Table = Any  # an array, or a canonical CSR matrix

FIRST_RADIUS_K = 32  # neighbors asked for first in a search by radius; four times as many while all are within it


@dataclass(frozen=True)
class NeighborSpec:
    """Which neighbors are asked for: the k nearest, or all within a radius."""

    k: int
    metric: Metric
    seed: int
    threads: int
    radius: float | None = None
    algorithm: str = "auto"

    def index(self, rows: Any) -> NeighborIndex:
        """A neighbor index of rows. A search by radius is always exact."""
        algorithm = self.algorithm if self.radius is None else "exact"
        return NeighborIndex(rows, metric=self.metric, algorithm=algorithm, random_state=self.seed, n_jobs=self.threads)

    def search(self, nearest: Callable[[int], Any], most: int) -> Any:
        """nearest(k) for the k asked for, at most `most`; with a radius, for a k that misses none within it."""
        if self.radius is None:
            return nearest(min(self.k, most))
        k = min(FIRST_RADIUS_K, most)
        while True:
            found = nearest(k)
            if k == most or (found.distances[:, -1] > self.radius).all():
                return found
            k = min(4 * k, most)
            needed = 8 * len(found.distances) * k
            require_memory(needed, f"the neighbors within {self.radius:g}", "Give a smaller radius.")


@dataclass(frozen=True)
class FittedRows:
    """The rows of a fit, and the neighbors of new rows among them.

    Without X (the model was fitted to distances or to a graph), new rows come as distances to all fitted ones. What
    takes long, the neighbor index and the row hashes, is made when it is first needed.
    """

    X: Table | None  # (n, d)
    n: int
    spec: NeighborSpec

    def __post_init__(self) -> None:
        if sp.issparse(self.X):
            checked_csr(self.X)  # an attribute of the estimator, which may have been replaced

    @classmethod
    def cached(cls, owner: Any, X: Table | None, n: int, spec: NeighborSpec) -> Self:
        """Those that an estimator keeps as its `_cache`; made again after loading, or when the spec has changed."""
        kept = getattr(owner, "_cache", None)
        if not isinstance(kept, cls) or kept.X is not X or kept.spec != spec:
            kept = owner._cache = cls(X, n, spec)
        return kept

    @cached_property
    def index(self) -> NeighborIndex:
        """The neighbor index of the fitted rows."""
        return self.spec.index(self.X)

    def neighbors_of(self, owner: Any, X: Any) -> tuple[Neighbors, np.dtype[Any] | None]:
        """Neighbors of new rows as the spec asks for them, and the dtype of these rows.

        X holds rows, or distances to the fitted ones, or it is what `NeighborIndex.query` found (which has no dtype).
        With a radius, rows beyond it may be among the neighbors.
        """
        if isinstance(X, Neighbors):
            return _checked(X, self.n), None
        if self.X is None and not self.spec.metric.precomputed:
            raise BadInput(
                "this model was fitted to a graph and has no rows to compare new ones with. Fit it to the rows, or to "
                "lowdim.neighbors(X, k) by the metric of the model, or give the neighbors that NeighborIndex.query "
                "finds."
            )
        rows = read_rows(owner, X, fitting=False)
        if self.X is None and rows.sparse and self.spec.radius is not None:
            self._require_columns(rows.d)
            return Neighbors(*all_entries(rows.whole())), rows.dtype
        return self.spec.search(lambda k: self.query(rows, k), self.n), rows.dtype

    def query(self, X: Any, k: int) -> Neighbors:
        """The k nearest fitted rows to each row of X."""
        if self.X is not None:
            return self.index.query(X, k)
        rows = open_rows(X)
        self._require_columns(rows.d)
        lists = nearest_given(rows, self.n, k, False, self.spec.threads)
        return Neighbors(lists.indices, lists.distances)

    def equal_to(self, X: Table) -> NDArray[np.int64]:
        """The number of the fitted row that each row of X equals, or -1."""
        if self.X is None:
            return np.full(X.shape[0], -1)
        return find_rows(X, self.X, self._hashes, self.spec.threads)

    def embed(
        self, rows: Rows, positions: NDArray[np.float32], k: int, embed_unseen: Callable[[Neighbors], Array]
    ) -> NDArray[np.float32]:
        """Positions of rows, (m, c), where the fitted rows are at `positions`, (n, c).

        A row that equals a fitted one gets its position; the others get what `embed_unseen` makes of their k nearest.
        """
        out = np.empty((rows.count, positions.shape[1]), dtype=np.float32)
        for chunk in rows.chunks():
            block = finite_block(rows, chunk, self.spec.metric)
            if self.X is not None and rows.sparse:
                block = canonical_csr(block)
            out[chunk.start : chunk.stop] = self._embed(block, positions, min(k, self.n), embed_unseen)
            report("embedding new rows", chunk.stop, rows.count)
        return out

    def _embed(self, block: Table, positions: Array, k: int, embed_unseen: Callable[[Neighbors], Array]) -> Array:
        which = self.equal_to(block)
        out = positions[which]
        unseen = np.flatnonzero(which < 0)
        if len(unseen):
            found = self.query(block if len(unseen) == len(which) else block[unseen], k)
            embedded = embed_unseen(found)
            if self.X is None:  # a fitted row has distance 0 to itself
                same = found.distances[:, 0] == 0
                embedded[same] = positions[found.indices[same, 0]]
            out[unseen] = embedded
        return out

    def _require_columns(self, d: int) -> None:
        if d != self.n:
            raise BadInput(
                f"metric='precomputed' needs the distances of new rows to all {self.n} fitted rows, one column each; "
                f"got {d} columns."
            )

    @cached_property
    def _hashes(self) -> RowHashes:
        return RowHashes.of(self.X, self.spec.threads)


def finite_block(rows: Rows, chunk: Chunk, metric: Metric) -> Any:
    """The block of a chunk, all of whose values are finite, or missing where the metric allows that."""
    block = chunk.load()
    values = block.data if rows.sparse else block
    if not np.isfinite(values).all() and not (metric.missing and not np.isinf(values).any()):
        raise not_finite_error(rows, chunk)
    return block


def _checked(found: Neighbors, n: int) -> Neighbors:
    indices, distances = np.asarray(found.indices), np.asarray(found.distances, dtype=np.float32)
    if indices.ndim != 2 or indices.shape != distances.shape or indices.dtype.kind not in "iu":
        raise BadInput("neighbors of new rows need indices and distances of one shape (m, k).")
    if indices.size and not (indices.min() >= 0 and indices.max() < n):
        raise BadInput(f"the neighbors of new rows must be numbers from 0 to {n - 1}, rows of the fit.")
    if not np.isfinite(distances).all() or (distances < 0).any():
        raise BadInput("the distances of neighbors must be finite and not negative.")
    return Neighbors(indices.astype(np.int32), distances)
