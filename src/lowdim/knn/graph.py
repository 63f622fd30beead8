"""Graph: the k-NN graph of a table, the summary that every neighbor method reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.data.rows import checked_csr
from lowdim.distance.metrics import metric_of
from lowdim.errors import BadInput, BadParameter, NotEnoughData
from lowdim.knn.boruvka import connect_components
from lowdim.knn.sparse_distances import nearest_entries
from lowdim.runtime.display import SummaryDisplay, count
from lowdim.runtime.threads import interruptible
from lowdim.runtime.warning import warn

__all__ = ["Graph"]

Array = NDArray[Any]

ALGORITHMS = ("exact", "approximate", "given")


@dataclass(frozen=True, eq=False, repr=False)
class Graph(SummaryDisplay):
    """k nearest neighbors of n rows, nearest first, equal distances by index, no row its own neighbor.

    Neighbors that are given in another order are put into this one. Rows that are given as their own neighbors, as by
    pynndescent and umap-learn, are left out (and the farthest neighbor of a row that is not). Give `rows` and their
    `metric` if new rows are to be embedded. `lowdim.save` and `lowdim.load` keep a graph, but not its rows.
    """

    indices: NDArray[np.int32]  # (n, k)
    distances: NDArray[np.float32]  # (n, k)
    metric: str = "precomputed"
    algorithm: str = "given"  # exact, approximate or given
    recall: float = 1.0  # estimated share of the true neighbors
    rows: Any = field(default=None, repr=False, compare=False)  # what it was made of, if known; not saved
    measure: Any = field(default=None, repr=False, compare=False)  # the metric with its parameters; not saved

    def _summary(self) -> str:
        recall = f", estimated recall {self.recall:.1%}" if self.algorithm == "approximate" else ""
        found = f"{self.algorithm}{recall}"
        return f"{count(self.n, 'row')}, {count(self.k, 'neighbor')} per row, metric {self.metric}, {found}"

    def __post_init__(self) -> None:
        shape = np.shape(self.indices)
        if len(shape) != 2 or shape[1] < 1 or np.shape(self.distances) != shape:
            raise BadInput(
                f"a graph needs indices and distances of one shape (n, k), k ≥ 1; "
                f"got {shape} and {np.shape(self.distances)}."
            )
        indices, distances = np.asarray(self.indices), np.asarray(self.distances)
        if indices.dtype.kind not in "iu" or (indices < 0).any() or (indices >= shape[0]).any():
            raise BadInput(f"the indices of a graph must be integers from 0 to n - 1 = {shape[0] - 1}.")
        ordered = interruptible(lambda: np.sort(indices, axis=1))
        if (ordered[:, 1:] == ordered[:, :-1]).any():
            raise BadInput("a row of a graph has the same neighbor twice.")
        if distances.dtype.kind not in "fiu":
            raise BadInput(f"the distances of a graph must be real numbers; got {distances.dtype}.")
        indices, distances = _without_self(indices, distances)
        with np.errstate(over="ignore"):
            narrow = distances.astype(np.float32)
        if not np.isfinite(narrow).all() or (narrow < 0).any():
            raise BadInput(
                "the distances of a graph must be finite in float32 (up to 3e38) and not negative. Rescale the data."
            )
        self._check_fields()
        if (narrow[:, 1:] < narrow[:, :-1]).any():
            order = np.lexsort((indices, narrow), axis=1)
            indices, narrow = np.take_along_axis(indices, order, axis=1), np.take_along_axis(narrow, order, axis=1)
        object.__setattr__(self, "indices", np.ascontiguousarray(indices, dtype=np.int32))
        object.__setattr__(self, "distances", np.ascontiguousarray(narrow))
        object.__setattr__(self, "recall", float(self.recall))

    def _check_fields(self) -> None:
        recall = self.recall
        number = isinstance(recall, float | int | np.floating) and 0 <= recall <= 1
        if not isinstance(self.metric, str) or self.algorithm not in ALGORITHMS or not number:
            raise BadInput(
                f"a graph needs the name of a metric, an algorithm ({', '.join(ALGORITHMS)}) and a recall from 0 to 1; "
                f"got {self.metric!r:.60}, {self.algorithm!r:.60} and {recall!r:.60}."
            )

    def __eq__(self, other: object) -> bool:
        """Whether both have the same neighbors at the same distances, found by the same algorithm."""
        if not isinstance(other, Graph):
            return NotImplemented
        return (
            (self.metric, self.algorithm, self.recall) == (other.metric, other.algorithm, other.recall)
            and np.array_equal(self.indices, other.indices)
            and np.array_equal(self.distances, other.distances)
        )

    __hash__ = None  # type: ignore[assignment]  # arrays can't be hashed

    @property
    def n(self) -> int:
        """The number of rows."""
        return int(self.indices.shape[0])

    @property
    def k(self) -> int:
        """Neighbors per row."""
        return int(self.indices.shape[1])

    def nearest(self, k: int) -> Graph:
        """The graph of the first k neighbors alone."""
        if not 1 <= k <= self.k:
            raise NotEnoughData(f"k must be from 1 to {self.k}, the neighbors that this graph has; got {k}.")
        # Copies, checked again: native code reads them, whatever becomes of the arrays that were given.
        parts = self.indices[:, :k].copy(), self.distances[:, :k].copy()
        return Graph(*parts, self.metric, self.algorithm, self.recall, self.rows, self.measure)

    @classmethod
    def from_sparse(cls, matrix: Any, k: int | None = None, *, metric: str = "precomputed") -> Graph:
        """The graph whose entry (i, j) is the distance from i to its neighbor j.

        Takes what scikit-learn's KNeighborsTransformer and kneighbors_graph(mode="distance") give: stored entries
        are neighbors (a stored 0 is one at distance 0), others are not; entries on the diagonal are left out.
        Rows may store different numbers of them: the k nearest of each are taken, and without k as many as
        the row with the fewest has. A row with fewer than k is an error.
        """
        csr = checked_csr(matrix)
        if csr.shape[0] != csr.shape[1]:
            raise BadInput(f"a graph needs a square matrix of distances; got shape {csr.shape}.")
        return cls(*nearest_entries(csr, k, own=True), metric)

    def to_sparse(self) -> sp.csr_array:
        """Entry (i, j) is the distance from i to its neighbor j; a distance of 0 is stored too."""
        starts = np.arange(self.n + 1, dtype=np.int64) * self.k
        out = sp.csr_array((self.distances.ravel(), self.indices.ravel(), starts), shape=(self.n, self.n))
        return sp.csr_array(out.sorted_indices())

    def symmetrize(self, how: Literal["union", "mutual", "mean"] = "union") -> sp.csr_array:
        """A symmetric matrix of distances.

        "union" keeps an edge if one of its two rows has the other as a neighbor, "mutual" if both do; of two
        different distances, the smaller is taken. "mean" is (A + Aᵀ) / 2: it keeps the union, and a missing edge is 0.
        """
        if how not in ("union", "mutual", "mean"):
            raise BadParameter(f"how must be one of 'union', 'mutual', 'mean'; got {how!r}.")
        row = np.repeat(np.arange(self.n, dtype=np.int64), self.k)
        return symmetrized_edges(row, self.indices.ravel(), self.distances.ravel(), self.n, how)

    def components(self) -> NDArray[np.int32]:
        """The label of every row's connected component, numbered in the order of the rows, (n,)."""
        return component_labels(self.symmetrize("union"))

    def coincident(self) -> NDArray[np.int64]:
        """The label of every row's group, rows at distance 0 from one another being one group, (n,)."""
        row, place = np.nonzero(self.distances == 0)
        ends = self.indices[row, place]
        return component_labels(sp.csr_array((np.ones(len(row)), (row, ends)), shape=(self.n, self.n))).astype(np.int64)

    def join(
        self,
        X: Any,
        labels: Array | None = None,
        *,
        metric: Any = None,
        metric_params: Mapping[str, Any] | None = None,
        n_jobs: int | None = None,
    ) -> sp.csr_array:
        """The union graph, with its components connected by their minimum spanning tree (Borůvka's algorithm).

        X holds the rows that the graph was made from (or, for precomputed distances, all of them), and `metric` is
        their distance, with `metric_params`, if it is not the graph's own; a loaded graph has forgotten its parameters.
        Returns a symmetric sparse matrix of lengths, which SciPy's csgraph takes as it is, and so does
        Isomap(metric="precomputed", radius=joined.max()): all its entries are edges then. (Isomap connects the
        components of its own graph by itself.)
        """
        if metric is None:
            metric = self.metric if self.measure is None or metric_params else self.measure
        if isinstance(metric, str) and metric == "callable":
            raise BadParameter("this graph was made with a function of two rows; give it to join as metric=… again.")
        union = self.symmetrize("union")
        labels = component_labels(union) if labels is None else np.asarray(labels)
        if labels.shape != (self.n,):
            raise BadInput(f"labels must have one number per row ({self.n}); got shape {labels.shape}.")
        return connect_components(union, X, labels, metric_of(metric, metric_params), n_jobs)

    def to_arrays(self) -> dict[str, Array]:
        """All fields as plain arrays, for another file format."""
        return {
            "indices": self.indices,
            "distances": self.distances,
            "recall": np.array(self.recall),
            "metric": np.frombuffer(self.metric.encode(), dtype=np.uint8),
            "algorithm": np.frombuffer(self.algorithm.encode(), dtype=np.uint8),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array]) -> Graph:
        """The graph of what `to_arrays` gave."""
        missing = {"indices", "distances", "recall", "metric", "algorithm"} - set(arrays)
        if missing:
            raise BadInput(f"the arrays of a graph lack {', '.join(sorted(missing))}.")
        words = {name: bytes(np.asarray(arrays[name], dtype=np.uint8)).decode() for name in ("metric", "algorithm")}
        recall = float(np.asarray(arrays["recall"]))
        return cls(arrays["indices"], arrays["distances"], words["metric"], words["algorithm"], recall)


def _without_self(indices: Array, distances: Array) -> tuple[Array, Array]:
    """Neighbor lists, (n, k - 1), without the rows themselves; as they are, if no row is its own neighbor.

    Among equal rows a list may lack the row itself: it loses its farthest neighbor then.
    """
    own = indices == np.arange(len(indices))[:, None]
    if not own.any():
        return indices, distances
    k = indices.shape[1]
    if k == 1:
        raise BadInput("a graph needs neighbors other than the row itself; ask for two or more per row.")
    warn(
        f"rows are among their own neighbors, and were left out of them: {k - 1} neighbors per row remain. With a "
        f"UMAP, n_neighbors={k} takes all of them."
    )
    farthest = k - 1 - np.argmax(distances[:, ::-1], axis=1)  # the last of equally far ones
    dropped = np.where(own.any(axis=1), own.argmax(axis=1), farthest)
    kept = np.arange(k) != dropped[:, None]
    return indices[kept].reshape(-1, k - 1), distances[kept].reshape(-1, k - 1)


def component_labels(symmetric: sp.csr_array) -> NDArray[np.int32]:
    """Connected components of a symmetric graph; edges of length 0 connect too."""
    from scipy.sparse.csgraph import connected_components

    # A stored length of 0 is an edge as well.
    pattern = sp.csr_array(
        (np.ones(symmetric.nnz, dtype=np.float32), symmetric.indices, symmetric.indptr), shape=symmetric.shape
    )
    labels = connected_components(pattern, directed=False)[1]
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first)).astype(np.int32)[inverse]


def warn_of_components(components: int, done: str) -> None:
    """Say that a neighbor graph is in several connected components, and what was done with them."""
    if components > 1:
        warn(
            f"the neighbor graph has {components} connected components, which were {done}: the distances between them "
            "mean little. More neighbors would connect them."
        )


def symmetrized_edges(row: Array, column: Array, value: Array, n: int, how: str = "union") -> sp.csr_array:
    """Edges from rows to columns, each given at most once, as a symmetric matrix; see `Graph.symmetrize`."""
    row, column = row.astype(np.int64), column.astype(np.int64)
    # Explicit keys, because sparse sums and maxima drop edges of length 0 (duplicates).
    keys = np.concatenate([row * n + column, column * n + row])
    order = np.argsort(keys, kind="stable")
    keys, lengths = keys[order], np.concatenate([value, value])[order]
    fresh = np.ones(len(keys), dtype=bool)
    fresh[1:] = keys[1:] != keys[:-1]
    first = np.flatnonzero(fresh)
    edges, times = keys[first], np.diff(first, append=len(keys))
    one, other = lengths[first], lengths[first + times - 1]  # the same where the edge is given once
    if how == "mean":
        joint = (one.astype(np.float64) + other) / 2
        lengths = np.where(times == 2, joint, joint / 2).astype(np.float32)
    else:
        lengths = np.minimum(one, other)
    if how == "mutual":
        edges, lengths = edges[times == 2], lengths[times == 2]
    starts = np.searchsorted(edges, np.arange(n + 1, dtype=np.int64) * n)
    return sp.csr_array((lengths, (edges % n).astype(np.int32), starts.astype(np.int32)), shape=(n, n))
