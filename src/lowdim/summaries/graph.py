"""Graph: the k nearest neighbours of every row, the summary that every neighbour method reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.errors import BadInput, BadParameter, NotEnoughData

__all__ = ["Graph"]

Array = NDArray[Any]


@dataclass(frozen=True)
class Graph:
    """k neighbours of n rows, nearest first, equal distances by index, no row its own neighbour."""

    indices: NDArray[np.int32]  # (n, k)
    distances: NDArray[np.float32]  # (n, k)
    metric: str = "precomputed"
    algorithm_: str = "given"  # exact, approximate or given
    recall_: float = 1.0  # estimated share of the true neighbours
    rows: Any = field(default=None, repr=False, compare=False)  # what it was made of, if known; not saved

    def __post_init__(self) -> None:
        shape = np.shape(self.indices)
        if len(shape) != 2 or shape[1] < 1 or np.shape(self.distances) != shape:
            raise BadInput(
                f"a graph needs indices and distances of one shape (n, k), k ≥ 1; "
                f"got {shape} and {np.shape(self.distances)}."
            )
        indices, distances = np.asarray(self.indices), np.asarray(self.distances)
        if indices.dtype.kind not in "iu" or (indices < 0).any() or (indices >= shape[0]).any():
            raise BadInput(f"the indices of a graph must be whole numbers from 0 to n - 1 = {shape[0] - 1}.")
        if (indices == np.arange(shape[0])[:, None]).any():
            raise BadInput("a row of a graph must not be its own neighbour; leave it out.")
        ordered = np.sort(indices, axis=1)
        if (ordered[:, 1:] == ordered[:, :-1]).any():
            raise BadInput("a row of a graph names the same neighbour twice.")
        with np.errstate(over="ignore"):
            narrow = distances.astype(np.float32)
        if not np.isfinite(narrow).all() or (narrow < 0).any():
            raise BadInput(
                "the distances of a graph must be finite in float32 (up to 3e38) and not negative. Rescale the data."
            )
        object.__setattr__(self, "indices", np.ascontiguousarray(indices, dtype=np.int32))
        object.__setattr__(self, "distances", np.ascontiguousarray(narrow))

    @property
    def n(self) -> int:
        """The number of rows."""
        return int(self.indices.shape[0])

    @property
    def k(self) -> int:
        """The number of neighbours of a row."""
        return int(self.indices.shape[1])

    def nearest(self, k: int) -> Graph:
        """The graph of only the first k neighbours."""
        if not 1 <= k <= self.k:
            raise NotEnoughData(f"k must be from 1 to {self.k}, the neighbours this graph has; got {k}.")
        return Graph(self.indices[:, :k], self.distances[:, :k], self.metric, self.algorithm_, self.recall_, self.rows)

    @classmethod
    def from_sparse(cls, matrix: Any, k: int | None = None, *, metric: str = "precomputed") -> Graph:
        """The graph whose entry (i, j) is the distance from i to its neighbour j.

        Takes what scikit-learn's KNeighborsTransformer and kneighbors_graph(mode="distance") give; entries on
        the diagonal are left out. Without k, each row keeps as many neighbours as the row that has fewest.
        """
        csr = sp.csr_array(matrix).astype(np.float64)
        if csr.shape[0] != csr.shape[1]:
            raise BadInput(f"a graph needs a square matrix of distances; got shape {csr.shape}.")
        csr.sum_duplicates()
        n = csr.shape[0]
        row = np.repeat(np.arange(n), np.diff(csr.indptr))
        off = csr.indices != row
        row, column, value = row[off], csr.indices[off], csr.data[off]
        if not np.isfinite(value).all() or (value < 0).any():
            raise BadInput("the distances of a graph must be finite and not negative.")
        fewest = int(np.bincount(row, minlength=n).min(initial=n)) if n else 0
        wanted = fewest if k is None else k
        if wanted < 1 or wanted > fewest:
            raise NotEnoughData(
                f"every row must have at least {max(wanted, 1)} other(s) as neighbours; one has {fewest}. "
                "Make the sparse graph with more neighbours, or ask for fewer."
            )
        value = value.astype(np.float32)
        order = np.lexsort((column, value, row))
        starts = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=n))])[:-1]
        take = order[starts[:, None] + np.arange(wanted)]
        return cls(column[take].astype(np.int32), value[take], metric)

    def to_sparse(self) -> sp.csr_array:
        """Entry (i, j) is the distance from i to its neighbour j; a distance of 0 is stored too."""
        starts = np.arange(self.n + 1, dtype=np.int64) * self.k
        out = sp.csr_array((self.distances.ravel(), self.indices.ravel(), starts), shape=(self.n, self.n))
        return sp.csr_array(out.sorted_indices())

    def symmetrize(self, how: Literal["union", "mutual", "mean"] = "union") -> sp.csr_array:
        """A symmetric matrix of distances.

        "union" keeps an edge that one of the two rows names, "mutual" one that both name; "mean" keeps the
        union and counts an edge that is not named as 0, as (A + Aᵀ) / 2 does.
        """
        if how not in ("union", "mutual", "mean"):
            raise BadParameter(f"how must be one of 'union', 'mutual', 'mean'; got {how!r}.")
        row = np.repeat(np.arange(self.n, dtype=np.int64), self.k)
        column, value = self.indices.ravel().astype(np.int64), self.distances.ravel()
        # Explicit keys, because sparse sums and maxima drop edges of length 0 (duplicates).
        keys = np.concatenate([row * self.n + column, column * self.n + row])
        edges, first, times = np.unique(keys, return_index=True, return_counts=True)
        lengths = np.concatenate([value, value])[first]
        if how == "mutual":
            edges, lengths = edges[times == 2], lengths[times == 2]
        elif how == "mean":
            lengths = np.where(times == 2, lengths, lengths / 2).astype(np.float32)
        starts = np.searchsorted(edges, np.arange(self.n + 1, dtype=np.int64) * self.n)
        columns = (edges % self.n).astype(np.int32)
        return sp.csr_array((lengths, columns, starts.astype(np.int32)), shape=(self.n, self.n))

    def components(self) -> NDArray[np.int32]:
        """The number of the connected component of every row, counted in the order of the rows, (n,)."""
        return component_labels(self.symmetrize("union"))

    def join(self, X: Any, labels: Array | None = None) -> sp.csr_array:
        """The union graph, with the shortest bridges that make it one piece.

        X are the rows that the graph was made from. Bridges are found by the spanning tree of the components:
        each step joins the component of fewest rows to the row nearest to it in any other.
        """
        from lowdim.summaries.bridges import joined

        union = self.symmetrize("union")
        labels = component_labels(union) if labels is None else np.asarray(labels)
        if labels.shape != (self.n,):
            raise BadInput(f"labels must have one number a row ({self.n}); got shape {labels.shape}.")
        return joined(union, X, labels, self.metric)

    def to_arrays(self) -> dict[str, Array]:
        """Everything as plain arrays, for a model file."""
        return {
            "indices": self.indices,
            "distances": self.distances,
            "recall": np.array(self.recall_),
            "metric": np.frombuffer(self.metric.encode(), dtype=np.uint8),
            "algorithm": np.frombuffer(self.algorithm_.encode(), dtype=np.uint8),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array]) -> Graph:
        """The graph that `to_arrays` wrote."""
        missing = {"indices", "distances", "recall", "metric", "algorithm"} - set(arrays)
        if missing:
            raise BadInput(f"the arrays of a graph lack {', '.join(sorted(missing))}.")
        words = {name: bytes(np.asarray(arrays[name], dtype=np.uint8)).decode() for name in ("metric", "algorithm")}
        recall = float(np.asarray(arrays["recall"]))
        return cls(arrays["indices"], arrays["distances"], words["metric"], words["algorithm"], recall)


def component_labels(symmetric: sp.csr_array) -> NDArray[np.int32]:
    """Connected components of a symmetric graph; edges of length 0 connect too."""
    from scipy.sparse.csgraph import connected_components

    # The lengths play no part here, and a stored 0 must still count as an edge.
    pattern = sp.csr_array(
        (np.ones(symmetric.nnz, dtype=np.float32), symmetric.indices, symmetric.indptr), shape=symmetric.shape
    )
    labels = connected_components(pattern, directed=False)[1]
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first)).astype(np.int32)[inverse]
