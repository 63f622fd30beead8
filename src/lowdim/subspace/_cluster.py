"""A subspace cluster: rows, and the dimensions in which they belong together. Order and labels of several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput
from lowdim.runtime.display import SummaryDisplay, count

__all__ = ["SubspaceCluster", "first_cluster", "make_cluster", "order_clusters"]

Array = NDArray[Any]
Details = TypeVar("Details")


@dataclass(frozen=True, eq=False, repr=False)
class SubspaceCluster(SummaryDisplay):
    """Rows that form a cluster in some of the dimensions."""

    rows: NDArray[np.int32]  # (size,) ascending
    dimensions: NDArray[np.int32]  # (k,) column indices, ascending
    names: tuple[str, ...] = ()  # of the k dimensions
    description: str = ""  # the region in words, where the method has one

    @property
    def size(self) -> int:
        """The number of rows."""
        return len(self.rows)

    def __str__(self) -> str:
        region = f": {self.description}" if self.description else ""
        return f"{count(self.size, 'row')} in {{{', '.join(self.names)}}}{region}"

    def _summary(self) -> str:
        return str(self)

    def to_dict(self) -> dict[str, Any]:
        """Rows, dimensions and description, for programs."""
        return {
            "size": self.size,
            "dimensions": self.dimensions.tolist(),
            "names": list(self.names),
            "description": self.description,
            "rows": self.rows.tolist(),
        }

    def _validate(self) -> None:
        """What a model file must hold."""
        for name in ("rows", "dimensions"):
            held = getattr(self, name)
            whole = isinstance(held, np.ndarray) and held.dtype == np.int32 and held.ndim == 1 and len(held) > 0
            if not (whole and held[0] >= 0 and (np.diff(held) > 0).all()):
                raise BadInput(f"{name} must be at least one index, ascending")
        texts = isinstance(self.names, tuple) and all(isinstance(name, str) for name in self.names)
        if not (texts and len(self.names) == len(self.dimensions) and isinstance(self.description, str)):
            raise BadInput("a cluster needs one name per dimension, and a description")


def make_cluster(
    rows: Array, dimensions: Sequence[int] | Array, names: Sequence[str], description: str = ""
) -> SubspaceCluster:
    """A cluster of ascending rows and dimensions; `names` are those of all columns."""
    columns = np.asarray(dimensions, dtype=np.int32)
    return SubspaceCluster(np.asarray(rows, dtype=np.int32), columns, tuple(names[j] for j in columns), description)


def order_clusters(
    found: Sequence[tuple[SubspaceCluster, Details]], n: int
) -> tuple[list[SubspaceCluster], list[Details], NDArray[np.int64]]:
    """Clusters and their details in the order of labels, and the label of each row: the first cluster that holds it.

    Clusters of more dimensions come first, then larger ones. Clusters all of whose rows are in clusters before them
    come last, so that the labels of the rows are 0, 1, … without gaps; -1 is a row in no cluster.
    """
    ranked = sorted(found, key=lambda pair: _rank(pair[0]))
    labels = np.full(n, -1, dtype=np.int64)
    for i in reversed(range(len(ranked))):
        labels[ranked[i][0].rows] = i
    owners = np.unique(labels[labels >= 0])
    owns = np.zeros(len(ranked), dtype=bool)
    owns[owners] = True
    order = np.argsort(~owns, kind="stable")
    position = np.empty(len(ranked) + 1, dtype=np.int64)
    position[order], position[-1] = np.arange(len(ranked)), -1
    return [ranked[i][0] for i in order], [ranked[i][1] for i in order], position[labels]


def first_cluster(memberships: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The first cluster that holds each row, from memberships (m, c); -1 for none."""
    if memberships.shape[1] == 0:
        return np.full(len(memberships), -1, dtype=np.int64)
    return np.where(memberships.any(axis=1), memberships.argmax(axis=1), -1).astype(np.int64)


def _rank(cluster: SubspaceCluster) -> tuple[Any, ...]:
    return -len(cluster.dimensions), -cluster.size, tuple(cluster.dimensions.tolist()), cluster.rows.tobytes()
